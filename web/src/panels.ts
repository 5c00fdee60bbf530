// panels.ts - what is known of a world, beside the picture: scene tree, inspector, console. All read through the source's requests.
import { button, h } from './dom';
import type { Answer, Diagnostic, FieldRow, PrintEvent, Request, TreeNode } from './source';

type Ask = (message: Request) => Promise<Answer>;

// The scene tree. Children are asked for when a row is opened; arrow keys walk as in every tree.
export class Tree {
  readonly element = h('div', { class: 'tree', role: 'tree', 'aria-label': 'Scene tree', tabindex: 0 });
  onSelect: (node: TreeNode) => void = () => undefined;
  private rows = new Map<number, HTMLElement>();
  private solidRows = new Map<number, HTMLElement>();
  private current: HTMLElement | null = null;

  constructor(private readonly ask: Ask) {
    this.element.addEventListener('keydown', (event) => this.walk(event));
  }

  async load(): Promise<void> {
    const answer = await this.ask({ do: 'children', node: 0 });
    this.rows.clear();
    this.solidRows.clear();
    this.current = null;
    this.element.replaceChildren(...(answer.ok ? this.makeRows((answer.nodes ?? []) as TreeNode[], 1) : [h('p', { class: 'quiet' }, answer.error ?? 'no tree')]));
    const first = this.element.querySelector<HTMLElement>('[role=treeitem]');
    if (first)
      this.element.tabIndex = -1;
    if (first)
      first.tabIndex = 0;
  }

  private makeRows(nodes: TreeNode[], level: number): HTMLElement[] {
    return nodes.map((node) => {
      const words = node.def ? `DEF ${node.def} ${node.type}` : node.type;
      const row = h('div', { class: 'tree-row' }, h('span', { class: 'tree-arrow', 'aria-hidden': 'true' }),
        node.field && node.field !== 'children' ? h('span', { class: 'tree-field' }, node.field) : null,
        h('span', { class: 'tree-type' }, words), node.name && node.name !== node.def ? h('span', { class: 'tree-name' }, node.name) : null);
      const item = h('div', { role: 'treeitem', tabindex: -1, 'aria-level': level, 'aria-selected': 'false', 'aria-label': `${words} ${node.name ?? ''}`.trim(),
        'aria-expanded': (node.count ?? 0) > 0 ? 'false' : undefined, 'data-node': node.node }, row);
      row.style.paddingLeft = `${8 + 14 * (level - 1)}px`;
      row.addEventListener('click', (event) => {
        const isArrow = (event.target as HTMLElement).classList.contains('tree-arrow');
        if (!isArrow)
          this.choose(item, node);
        if (isArrow || item.getAttribute('aria-selected') !== 'true')
          void this.expand(item, node, item.getAttribute('aria-expanded') === 'false');
      });
      row.addEventListener('dblclick', () => void this.expand(item, node, item.getAttribute('aria-expanded') === 'false'));
      (item as HTMLElement & { treeNode?: TreeNode }).treeNode = node;
      this.rows.set(node.node, item);
      if (node.solid !== undefined && node.solid >= 0 && !this.solidRows.has(node.solid))
        this.solidRows.set(node.solid, item);
      return item;
    });
  }

  private choose(item: HTMLElement, node: TreeNode, isTold = true): void {
    this.current?.setAttribute('aria-selected', 'false');
    if (this.current)
      this.current.tabIndex = -1;
    this.current = item;
    item.setAttribute('aria-selected', 'true');
    item.tabIndex = 0;
    if (isTold) {
      item.focus({ preventScroll: true });
      this.onSelect(node);
    }
    item.firstElementChild?.scrollIntoView({ block: 'nearest' });
  }

  async expand(item: HTMLElement, node: TreeNode, on: boolean): Promise<void> {
    if (item.getAttribute('aria-expanded') === null)
      return;
    item.setAttribute('aria-expanded', String(on));
    item.querySelector(':scope > [role=group]')?.remove();
    if (!on)
      return;
    const answer = await this.ask({ do: 'children', node: node.node });
    if (answer.ok && item.getAttribute('aria-expanded') === 'true' && !item.querySelector(':scope > [role=group]'))
      item.append(h('div', { role: 'group' }, ...this.makeRows((answer.nodes ?? []) as TreeNode[], Number(item.getAttribute('aria-level')) + 1)));
  }

  // Nothing is chosen.
  clear(): void {
    this.current?.setAttribute('aria-selected', 'false');
  }

  // Shows the row of a solid, or of the nearest above it whose row is there.
  showSolid(solid: number, parentOf: (solid: number) => number): void {
    while (solid >= 0 && !this.solidRows.get(solid)?.isConnected)
      solid = parentOf(solid);
    const item = this.solidRows.get(solid) as (HTMLElement & { treeNode?: TreeNode }) | undefined;
    if (item?.treeNode)
      this.choose(item, item.treeNode, false);
  }

  // Shows the node that was chosen elsewhere, where its row is there already.
  show(node: number): boolean {
    const item = this.rows.get(node) as (HTMLElement & { treeNode?: TreeNode }) | undefined;
    if (!item?.treeNode)
      return false;
    this.choose(item, item.treeNode, false);
    return true;
  }

  private walk(event: KeyboardEvent): void {
    const items = [...this.element.querySelectorAll<HTMLElement & { treeNode?: TreeNode }>('[role=treeitem]')];
    const item = document.activeElement as HTMLElement & { treeNode?: TreeNode };
    const at = items.indexOf(item);
    if (at < 0 || !item.treeNode)
      return;
    const isOpen = item.getAttribute('aria-expanded');
    const focus = (to: HTMLElement | null | undefined): void => { if (to) { item.tabIndex = -1; to.tabIndex = 0; to.focus(); } };
    const acts: Record<string, () => void> = {
      ArrowDown: () => focus(items[at + 1]), ArrowUp: () => focus(items[at - 1]), Home: () => focus(items[0]), End: () => focus(items[items.length - 1]),
      ArrowRight: () => isOpen === 'false' ? void this.expand(item, item.treeNode!, true) : focus(item.querySelector<HTMLElement>(':scope > [role=group] > [role=treeitem]')),
      ArrowLeft: () => isOpen === 'true' ? void this.expand(item, item.treeNode!, false) : focus(item.parentElement?.closest<HTMLElement>('[role=treeitem]')),
      Enter: () => this.choose(item, item.treeNode!), ' ': () => this.choose(item, item.treeNode!),
    };
    if (event.key in acts) {
      event.preventDefault();
      acts[event.key]();
    }
  }
}

const LIVE_MS = 400;
// Devices whose readings are numbers that a plot can show.
const MEASURES = new Set(['Accelerometer', 'Altimeter', 'Compass', 'DistanceSensor', 'GPS', 'Gyro', 'InertialUnit', 'LightSensor', 'PositionSensor', 'TouchSensor']);

// Numbers with more digits than one wants to read, shortened; whole while they are edited.
const shorten = (text: string): string => text.replace(/-?\d+\.\d{5,}(e[-+]?\d+)?/gi, (number) => String(Number(Number(number).toPrecision(5))));

// The fields of one node: rows of the schema with their values, editable.
export class Inspector {
  readonly element = h('div', { class: 'inspector' });
  onPlot: (node: number, field: string) => void = () => undefined;
  onPlotReading: (node: TreeNode) => void = () => undefined;
  onChanged: () => void = () => undefined;
  canEdit = true;
  node: TreeNode | null = null;
  private inputs = new Map<string, HTMLInputElement>();
  private lastAsk = 0;
  private changes = 0;  // sent so far: an answer that was on its way meanwhile is older

  constructor(private readonly ask: Ask, private readonly tell: (words: string, isError: boolean) => void) {
    this.clear();
  }

  clear(): void {
    this.node = null;
    this.element.replaceChildren(h('p', { class: 'quiet' }, 'Select a solid in the picture or a node in the tree.'));
  }

  async show(node: TreeNode): Promise<void> {
    this.node = node;
    const answer = await this.ask({ do: 'fields', node: node.node });
    if (this.node !== node)
      return;
    const rows = answer.ok ? (answer.rows ?? []) as FieldRow[] : [];
    this.inputs.clear();
    this.element.replaceChildren(
      h('header', { class: 'inspector-head' }, h('div', {}, h('strong', {}, node.def ? `DEF ${node.def}` : node.name || node.type), h('span', { class: 'quiet' }, node.type)),
        MEASURES.has(node.type) ? h('button', { type: 'button', class: 'plot-button', title: 'Plot what it measures', 'aria-label': 'Plot what it measures', onclick: () => this.onPlotReading(node) }, '∿') : null,
        this.canEdit ? button('plus', 'Add a node to this one', () => this.insert(node), { 'data-act': 'insert' }) : null,
        this.canEdit ? button('copy', 'Duplicate this node', () => void this.change({ do: 'duplicate', node: node.node }), { 'data-act': 'duplicate' }) : null,
        this.canEdit ? button('close', 'Delete this node', () => void this.change({ do: 'delete', node: node.node }), { 'data-act': 'delete' }) : null),
      ...(answer.ok ? [] : [h('p', { class: 'error' }, answer.error ?? '')]), ...rows.map((row) => this.makeRow(node, row)));
  }

  private insert(node: TreeNode): void {
    const text = window.prompt('The new node as it would stand in a file, for example: Solid { }', '');
    if (text)
      void this.change({ do: 'insert', node: node.node, field: 'children', index: -1, text });
  }

  private async change(message: Request): Promise<void> {
    const answer = await this.ask(message);
    this.tell(answer.ok ? `${message.do} done` : answer.error ?? 'refused', !answer.ok);
    if (answer.ok)
      this.onChanged();
  }

  private makeRow(node: TreeNode, row: FieldRow): HTMLElement {
    const id = `field-${row.field}`;
    const error = h('div', { class: 'error', role: 'alert' });
    const input = h('input', { id, class: 'field-input', value: shorten(row.text), spellcheck: 'false', autocomplete: 'off', readonly: !this.canEdit || row.editable === false, 'data-field': row.field });
    const isOwn = row.given ?? (row.default !== undefined && row.text !== row.default);
    const commit = async (): Promise<void> => {
      if (input.value === input.dataset.shown || input.value === shorten(input.dataset.shown ?? ''))
        return;
      this.changes++;
      const answer = await this.ask({ do: 'set', node: node.node, field: row.field, text: input.value });
      error.textContent = answer.ok ? '' : answer.error ?? 'refused';
      input.setAttribute('aria-invalid', String(!answer.ok));
      if (answer.ok) {
        input.value = input.dataset.shown = typeof answer.text === 'string' ? answer.text : input.value;
        this.onChanged();
      }
    };
    input.dataset.shown = row.text;
    input.addEventListener('focus', () => { if (input.value === shorten(input.dataset.shown ?? '')) input.value = input.dataset.shown ?? ''; });
    input.addEventListener('blur', () => { if (input.value === input.dataset.shown) input.value = shorten(input.value); });
    input.addEventListener('change', () => void commit());
    input.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') {
        input.value = input.dataset.shown ?? '';
        input.blur();
      }
    });
    this.inputs.set(row.field, input);
    const place = row.file ? `${row.file}:${row.line ?? 0}` : '';
    const words = [row.help, row.type && `type ${row.type}`, row.default !== undefined && `default ${row.default}`, place].filter(Boolean).join('\n');
    return h('div', { class: `field${isOwn ? ' own' : ''}`, title: words },
      h('label', { for: id }, row.field, row.unit ? h('span', { class: 'unit' }, row.unit) : null), input,
      h('button', { type: 'button', class: 'plot-button', title: `Plot ${row.field}`, 'aria-label': `Plot ${row.field}`, onclick: () => this.onPlot(node.node, row.field) }, '∿'),
      error);
  }

  // Values of now, while they are looked at and not being typed over.
  async refresh(now: number): Promise<void> {
    if (!this.node || now - this.lastAsk < LIVE_MS || this.element.offsetParent === null)
      return;
    this.lastAsk = now;
    const { node, changes } = this, answer = await this.ask({ do: 'fields', node: node.node });
    if (!answer.ok || this.node !== node || this.changes !== changes)
      return;
    for (const row of (answer.rows ?? []) as FieldRow[]) {
      const input = this.inputs.get(row.field);
      if (!input || input === document.activeElement || input.getAttribute('aria-invalid') === 'true' || input.dataset.shown === row.text)
        continue;
      input.dataset.shown = row.text;
      input.value = shorten(row.text);
    }
  }
}

const MAX_LINES = 2000;

// What controllers print and what the reader and the run complain about.
export class Console {
  readonly lines = h('div', { class: 'console-lines', role: 'log', 'aria-label': 'Console', tabindex: 0 });
  readonly element = h('div', { class: 'console' });
  warningCount = 0;
  onJump: (node: number | string) => void = () => undefined;
  private filter = '';

  constructor() {
    const search = h('input', { type: 'search', class: 'console-filter', placeholder: 'Filter', 'aria-label': 'Filter the console', oninput: () => {
      this.filter = search.value.toLowerCase();
      for (const line of this.lines.children)
        this.hide(line as HTMLElement);
    } });
    this.element.append(h('div', { class: 'console-bar' }, h('strong', {}, 'Console'), search,
      h('button', { type: 'button', class: 'text-button', onclick: () => this.clear() }, 'Clear')), this.lines);
  }

  clear(): void {
    this.lines.replaceChildren();
  }

  private hide(line: HTMLElement): void {
    line.hidden = this.filter !== '' && !(line.textContent ?? '').toLowerCase().includes(this.filter);
  }

  private add(line: HTMLElement): void {
    const isAtEnd = this.lines.scrollTop + this.lines.clientHeight >= this.lines.scrollHeight - 8;
    this.hide(line);
    this.lines.append(line);
    while (this.lines.childElementCount > MAX_LINES)
      this.lines.firstElementChild!.remove();
    if (isAtEnd)
      this.lines.scrollTop = this.lines.scrollHeight;
  }

  print(event: PrintEvent): void {
    for (const text of String(event.text ?? '').replace(/\n$/, '').split('\n'))
      this.add(h('div', { class: event.error ? 'line error' : 'line' }, event.from ? h('span', { class: 'line-from' }, event.from) : null, text));
  }

  diagnostic(event: Diagnostic): void {
    const severity = event.severity ?? 'note';
    if (severity !== 'note')
      this.warningCount++;
    const place = event.file ? `${event.file}:${event.line ?? 0}` : '';
    const line = h('div', { class: `line ${severity}` }, place ? h('span', { class: 'line-from' }, place) : null, `${severity}: ${event.text}${event.hint ? ` (${event.hint})` : ''}`);
    if (event.node !== undefined && event.node !== null) {
      line.tabIndex = 0;
      line.setAttribute('role', 'button');
      line.title = 'Go to the node';
      line.addEventListener('click', () => this.onJump(event.node!));
      line.addEventListener('keydown', (key) => { if (key.key === 'Enter') this.onJump(event.node!); });
    }
    this.add(line);
  }
}
