// menu.ts - a popup menu: opened below a button or at a point, walked by arrow keys, closed by Escape or a click elsewhere.
import { h } from './dom';

export interface Item {
  words: string;
  help?: string;
  keys?: string;
  isOn?: boolean;       // for those that can be on or off
  isRadio?: boolean;
  isHead?: boolean;     // a heading
  act?: () => void;
}

let open: { element: HTMLElement; back: HTMLElement | null } | null = null;

export function closeMenu(): void {
  open?.element.remove();
  open?.back?.setAttribute('aria-expanded', 'false');
  open?.back?.focus();
  open = null;
}

function makeRow(item: Item): HTMLElement {
  if (item.isHead)
    return h('div', { class: 'menu-head', role: 'presentation' }, item.words);
  const role = item.isOn === undefined ? 'menuitem' : item.isRadio ? 'menuitemradio' : 'menuitemcheckbox';
  const row = h('button', { type: 'button', class: 'menu-row', role, tabindex: -1, title: item.help, 'aria-checked': item.isOn === undefined ? undefined : String(item.isOn),
    onclick: () => {
      const staysOpen = role === 'menuitemcheckbox';
      if (staysOpen)
        row.setAttribute('aria-checked', String(row.getAttribute('aria-checked') !== 'true'));
      else
        closeMenu();
      item.act?.();
    } }, h('span', { class: 'menu-mark' }), h('span', { class: 'menu-words' }, item.words), item.keys ? h('kbd', {}, item.keys) : null);
  return row;
}

function walk(event: KeyboardEvent, menu: HTMLElement): void {
  const rows = [...menu.querySelectorAll<HTMLElement>('.menu-row')], at = rows.indexOf(document.activeElement as HTMLElement);
  const to: Record<string, number> = { ArrowDown: (at + 1) % rows.length, ArrowUp: (at - 1 + rows.length) % rows.length, Home: 0, End: rows.length - 1 };
  event.stopPropagation();
  if (event.key in to) {
    event.preventDefault();
    rows[to[event.key]]?.focus();
  } else if (event.key === 'Escape' || event.key === 'Tab') {
    event.preventDefault();
    closeMenu();
  }
}

export function openMenu(items: Item[], x: number, y: number, back: HTMLElement | null, label: string): void {
  closeMenu();
  const menu = h('div', { class: 'menu', role: 'menu', 'aria-label': label, onkeydown: (event: KeyboardEvent) => walk(event, menu) }, ...items.map(makeRow));
  document.body.append(menu);
  const box = menu.getBoundingClientRect();
  menu.style.left = `${Math.max(4, Math.min(x, window.innerWidth - box.width - 4))}px`;
  menu.style.top = `${Math.max(4, Math.min(y, window.innerHeight - box.height - 4))}px`;
  open = { element: menu, back };
  back?.setAttribute('aria-expanded', 'true');
  menu.querySelector<HTMLElement>('.menu-row')?.focus();
}

export function menuButton(element: HTMLElement, label: string, items: () => Item[]): HTMLElement {
  element.setAttribute('aria-haspopup', 'menu');
  element.setAttribute('aria-expanded', 'false');
  element.addEventListener('click', (event) => {
    event.stopPropagation();
    if (open?.back === element) {
      closeMenu();
      return;
    }
    const box = element.getBoundingClientRect();
    openMenu(items(), box.left, box.bottom + 4, element, label);
  });
  return element;
}

window.addEventListener('pointerdown', (event) => {
  if (open && !open.element.contains(event.target as Node) && !open.back?.contains(event.target as Node))
    closeMenu();
}, true);
