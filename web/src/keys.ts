// keys.ts - commands and their keys: one table that the keyboard, the menus and the help overlay read. A reader may give a command
// another key; the browser's own keys are never the only way.
import { h, keep, setting } from './dom';

export interface Command { id: string; words: string; group: string; keys: string[]; act: () => void }

const ROBOT_KEYS: Record<string, number> = {  // codes of wb_keyboard_get_key
  End: 312, Home: 313, ArrowLeft: 314, ArrowUp: 315, ArrowRight: 316, ArrowDown: 317, PageUp: 366, PageDown: 367, Enter: 4, Backspace: 8, Tab: 9, Escape: 27, ' ': 32,
  NumpadEnd: 375, NumpadHome: 376,
};
const SHIFT = 0x10000, CONTROL = 0x20000, ALT = 0x40000;

// 'Ctrl+Shift+A' for an event; letters in capitals.
export function chord(event: KeyboardEvent): string {
  const key = event.key === ' ' ? 'Space' : event.key.length === 1 ? event.key.toUpperCase() : event.key;
  const isShifted = event.shiftKey && (event.key.length > 1 || /^[a-z]$/i.test(event.key));
  return `${event.ctrlKey || event.metaKey ? 'Ctrl+' : ''}${event.altKey ? 'Alt+' : ''}${isShifted ? 'Shift+' : ''}${key}`;
}

// The code that Webots' Keyboard gives for a key; 0 for those it has none for.
export function robotKey(event: KeyboardEvent): number {
  let code = ROBOT_KEYS[event.key] ?? 0;
  if (code === 0 && event.key.length === 1 && event.key.charCodeAt(0) < 128)
    code = event.key.toUpperCase().charCodeAt(0);
  if (code === 0)
    return 0;
  return code | (event.shiftKey ? SHIFT : 0) | (event.ctrlKey ? CONTROL : 0) | (event.altKey ? ALT : 0);
}

export class Keys {
  toRobot = false;
  isLetterFree = setting('letters', 'on') === 'on';  // single letters may be switched off
  onRobotKeys: (codes: number[]) => void = () => undefined;
  onRobotSwitch: (on: boolean) => void = () => undefined;
  private readonly down = new Map<string, number>();
  private overlay: HTMLElement | null = null;

  constructor(readonly commands: Command[]) {
    const own = JSON.parse(setting('keys', '{}')) as Record<string, string[]>;
    for (const command of commands)
      command.keys = own[command.id] ?? command.keys;
    window.addEventListener('keydown', (event) => this.press(event));
    window.addEventListener('keyup', (event) => this.release(event));
    window.addEventListener('blur', () => this.releaseAll());
  }

  setToRobot(on: boolean): void {
    this.toRobot = on;
    this.releaseAll();
    this.onRobotSwitch(on);
  }

  keysOf(id: string): string {
    return this.commands.find((command) => command.id === id)?.keys[0] ?? '';
  }

  run(id: string): void {
    this.commands.find((command) => command.id === id)?.act();
  }

  private press(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (target.matches?.('input, textarea, select, [contenteditable]'))
      return;
    if (this.toRobot) {
      this.pressRobot(event);
      return;
    }
    const pressed = chord(event);
    if ((pressed === 'Space' || pressed === 'Enter') && target.matches?.('button, [role=treeitem], [role=tab], a'))
      return;
    if (!this.isLetterFree && /^[A-Z.,]$/.test(pressed))
      return;
    if (target.closest?.('[role=tree]') && /^(Arrow|Home|End)/.test(event.key))
      return;
    const command = this.commands.find((one) => one.keys.includes(pressed));
    if (!command)
      return;
    event.preventDefault();
    command.act();
  }

  private pressRobot(event: KeyboardEvent): void {
    if (event.key === 'Escape' && event.shiftKey) {  // the way out, said beside the switch
      this.setToRobot(false);
      return;
    }
    const code = robotKey(event);
    if (code === 0 || event.repeat)
      return;
    event.preventDefault();
    this.down.set(event.code, code);
    this.onRobotKeys([...this.down.values()]);
  }

  private release(event: KeyboardEvent): void {
    if (this.down.delete(event.code))
      this.onRobotKeys([...this.down.values()]);
  }

  private releaseAll(): void {
    if (this.down.size === 0)
      return;
    this.down.clear();
    this.onRobotKeys([]);
  }

  private remap(command: Command, keys: string[]): void {
    for (const other of this.commands)
      if (other !== command)
        other.keys = other.keys.filter((key) => !keys.includes(key));
    command.keys = keys;
    keep('keys', JSON.stringify(Object.fromEntries(this.commands.map((one) => [one.id, one.keys]))));
  }

  // The row of a command: click its keys, then press another.
  private helpRow(command: Command): HTMLElement {
    const field = h('button', { type: 'button', class: 'key-field', 'aria-label': `Key for ${command.words}: ${command.keys.join(' or ') || 'none'}; press to change` });
    const show = (): void => field.replaceChildren(...(command.keys.length ? command.keys.map((key) => h('kbd', {}, key)) : ['none']));
    show();
    field.addEventListener('click', () => {
      field.replaceChildren('press a key…');
      const take = (event: KeyboardEvent): void => {
        if (['Shift', 'Control', 'Alt', 'Meta'].includes(event.key))
          return;
        event.preventDefault();
        event.stopPropagation();
        window.removeEventListener('keydown', take, true);
        if (event.key !== 'Escape')
          this.remap(command, event.key === 'Delete' ? [] : [chord(event)]);
        show();
      };
      window.addEventListener('keydown', take, true);
    });
    return h('div', { class: 'help-row' }, h('span', {}, command.words), field);
  }

  help(gestures: [string, string][]): void {
    if (this.overlay) {
      this.closeHelp();
      return;
    }
    const groups = [...new Set(this.commands.map((command) => command.group))];
    const letters = h('input', { type: 'checkbox', id: 'letters', checked: this.isLetterFree, onchange: () => {
      this.isLetterFree = letters.checked;
      keep('letters', letters.checked ? 'on' : 'off');
    } });
    this.overlay = h('div', { class: 'help', role: 'dialog', 'aria-modal': 'true', 'aria-label': 'Help',
        onkeydown: (event: KeyboardEvent) => {
          if (event.key !== 'Escape')
            return;
          event.stopPropagation();  // what is selected stays
          this.closeHelp();
        },
        onclick: (event: MouseEvent) => { if (event.target === this.overlay) this.closeHelp(); } },
      h('div', { class: 'help-card' },
        h('div', { class: 'help-title' }, h('h2', {}, 'Keys and gestures'),
          h('label', { for: 'letters' }, letters, ' single-letter keys'),
          h('button', { type: 'button', class: 'text-button', onclick: () => { keep('keys', '{}'); location.reload(); } }, 'Default keys'),
          h('button', { type: 'button', class: 'text-button', autofocus: true, onclick: () => this.closeHelp() }, 'Close')),
        h('div', { class: 'help-columns' },
          h('section', {}, h('h3', {}, 'Mouse and touch'), ...gestures.map(([what, how]) => h('div', { class: 'help-row' }, h('span', {}, what), h('em', {}, how)))),
          ...groups.map((group) => h('section', {}, h('h3', {}, group), ...this.commands.filter((one) => one.group === group).map((one) => this.helpRow(one)))))));
    document.body.append(this.overlay);
    this.overlay.querySelector<HTMLElement>('[autofocus]')?.focus();
  }

  closeHelp(): void {
    this.overlay?.remove();
    this.overlay = null;
  }
}
