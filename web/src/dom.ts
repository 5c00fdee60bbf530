// dom.ts - making elements. Text goes in as text alone: a name out of a world can never become markup.

type Child = Node | string | null | undefined | false;
type Props = Record<string, unknown>;

// h('button', { class: 'x', 'aria-label': '…', onclick: f }, 'words'): attributes, except on… which are listeners.
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name.startsWith('on'))
      element.addEventListener(name.slice(2), value as EventListener);
    else if (value === true)
      element.setAttribute(name, '');
    else if (value !== false && value !== undefined && value !== null)
      element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child): child is Node | string => child !== null && child !== undefined && child !== false));
  return element;
}

// Strokes in a box of 24 units.
const ICONS: Record<string, string> = {
  play: 'M7 4.5v15l12-7.5z', pause: 'M8 5v14M16 5v14', step: 'M6 5v14l9-7zM19 5v14', back: 'M18 5v14l-9-7zM5 5v14',
  reset: 'M5 5v5h5M5.5 10a7.5 7.5 0 1 1-1 5', reload: 'M20 5v5h-5M19.5 10A8 8 0 1 0 20 14', undo: 'M8 5 4 9l4 4M4 9h10a5 5 0 0 1 0 10H9',
  redo: 'm16 5 4 4-4 4M20 9H10a5 5 0 0 0 0 10h5', tree: 'M5 4v14h6M5 9h6M14 7h6v4h-6zM14 16h6v4h-6z', sliders: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4',
  terminal: 'm5 7 5 5-5 5M13 17h6', chart: 'M4 20V4M4 20h16M7 15l4-5 3 3 5-7', camera: 'M4 7h11v10H4zM15 11l5-3v8l-5-3', eye: 'M3 12s3.500-6 9-6 9 6 9 6-3.500 6-9 6-9-6-9-6zM12 9.500a2.500 2.500 0 1 0 .01 0',
  help: 'M9 9a3 3 0 1 1 4 2.800c-.7.3-1 .8-1 1.700M12 17h.01M12 3a9 9 0 1 0 .01 0', theme: 'M12 3v18M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18', sound: 'M5 9v6h4l5 4V5L9 9zM17 9a4 4 0 0 1 0 6M19.500 6.500a8 8 0 0 1 0 11',
  mute: 'M5 9v6h4l5 4V5L9 9zM17.500 9.500l4 5M21.500 9.500l-4 5', fit: 'M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5M10 10h4v4h-4z', link: 'M10 14a4 4 0 0 0 6 0l3-3a4.200 4.200 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4.200 4.200 0 0 0 6 6l1-1',
  keyboard: 'M3 7h18v10H3zM7 11h.01M11 11h.01M15 11h.01M18 11h.01M8 14h8', cursor: 'm6 4 5 15 2.500-6.500L20 10z', move: 'M12 3v18M3 12h18M12 3 9.500 5.500M12 3l2.500 2.500M12 21l-2.500-2.500M12 21l2.500-2.500M3 12l2.500-2.500M3 12l2.500 2.500M21 12l-2.500-2.500M21 12l-2.500 2.500',
  rotate: 'M20 12a8 8 0 1 1-3-6.200M20 3v4h-4', force: 'M5 19 18 6M18 6h-7M18 6v7', torque: 'M5 13a7 7 0 1 1 3 6M8 19v-4M8 19l-4 .500', pull: 'M4 12h2l1.500-3 3 6 3-6 3 6 1.500-3h2',
  window: 'M4 5h16v14H4zM4 9h16M7 7h.01', plus: 'M12 5v14M5 12h14', minus: 'M5 12h14', resize: 'M4 4h9v9H4zM16 16l4 4M20 15v5h-5M16 4h4v4', copy: 'M8 8h11v11H8zM5 15V5h10',
  ghost: 'M5 20V11a7 7 0 0 1 14 0v9l-3.500-2.500L12 20l-3.500-2.500zM9.500 11h.01M14.500 11h.01', close: 'M6 6l12 12M18 6 6 18', more: 'M6 12h.01M12 12h.01M18 12h.01', picture: 'M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4', save: 'M5 4h11l3 3v13H5zM8 4v5h7V4M8 20v-6h8v6', now: 'M6 5l8 7-8 7zM18 5v14',
};

export function icon(name: string): SVGSVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  for (const [key, value] of Object.entries({ viewBox: '0 0 24 24', class: 'icon', 'aria-hidden': 'true' }))
    svg.setAttribute(key, value);
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', ICONS[name] ?? '');
  svg.append(path);
  return svg;
}

export function button(name: string, words: string, act: (event: MouseEvent) => void, props: Props = {}): HTMLButtonElement {
  return h('button', { type: 'button', class: 'icon-button', title: words, 'aria-label': words, onclick: act, ...props }, icon(name));
}

export function setIcon(element: HTMLElement, name: string, words: string): void {
  if (element.dataset.icon === name)
    return;
  element.dataset.icon = name;
  element.replaceChildren(icon(name));
  element.title = words;
  element.setAttribute('aria-label', words);
}

export function toggle(element: HTMLElement, on: boolean): void {
  element.setAttribute('aria-pressed', String(on));
}

// Saves a text as a file of the reader's.
export function download(name: string, content: BlobPart, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// Settings kept by the browser; where it keeps none, those of now.
const memory: Record<string, string> = {};
export function setting(name: string, preset: string): string {
  try {
    return localStorage.getItem(`talus.${name}`) ?? preset;
  } catch {
    return memory[name] ?? preset;
  }
}

export function keep(name: string, value: string): void {
  memory[name] = value;
  try {
    localStorage.setItem(`talus.${name}`, value);
  } catch {
    // a page from disk may keep nothing
  }
}
