// windows.ts - robot windows: pages of a project beside the picture, each in a frame of another origin without rights, and the words between
// them and the robots' programs. What comes out of a frame is text for its own robot or its title, and nothing else.
import { button, h } from './dom';
import type { Item } from './menu';
import type { Answer, Request } from './source';

const TEXT_MAX = 200_000;  // the server ends a connection that sends more than 256 kB at once

interface WindowMeta { node: number; solid: number; name: string; page: string }
interface OpenWindow { meta: WindowMeta; url: string; box: HTMLElement; frame: HTMLIFrameElement; title: HTMLElement; hasComplained: boolean }

export class RobotWindows {
  readonly element = h('div', { class: 'windows' });
  readonly opened = new Map<number, OpenWindow>();
  onList: () => void = () => undefined;
  private list: WindowMeta[] = [];
  private place = '';  // of all pages

  constructor(private readonly ask: (message: Request) => Promise<Answer>, private readonly complain: (words: string) => void) {
    window.addEventListener('message', (event) => this.heard(event));
  }

  get isEmpty(): boolean {
    return this.list.length === 0;
  }

  of(solid: number): WindowMeta | undefined {
    return this.list.find((one) => one.solid === solid);
  }

  // Which robots have a window now; those that are open and gone are closed.
  async load(): Promise<void> {
    const answer = await this.ask({ do: 'windows' });
    this.list = answer.ok ? (answer.windows ?? []) as WindowMeta[] : [];
    this.place = `http://${location.hostname}:${Number(answer.port)}/${String(answer.token)}`;
    for (const [node, one] of this.opened)
      if (!this.list.some((meta) => meta.node === node && this.urlOf(meta) === one.url))
        this.close(node);
    this.onList();
  }

  items(): Item[] {
    return this.list.map((meta) => ({ words: `Window of ${meta.name}`, isOn: this.opened.has(meta.node), act: () => this.toggle(meta) }));
  }

  toggle(meta: WindowMeta): void {
    if (this.opened.has(meta.node))
      this.close(meta.node);
    else
      this.open(meta);
  }

  private urlOf(meta: WindowMeta): string {
    return `${this.place}/${meta.node}/${encodeURIComponent(meta.page)}?name=${encodeURIComponent(meta.name)}`;
  }

  private open(meta: WindowMeta): void {
    const url = this.urlOf(meta), title = h('span', {}, meta.name);
    const frame = h('iframe', { sandbox: 'allow-scripts allow-forms allow-popups', referrerpolicy: 'no-referrer', title: `Window of ${meta.name}` });
    const box = h('figure', { class: 'robot-window' }, h('figcaption', {}, title, button('close', `Close the window of ${meta.name}`, () => this.close(meta.node))), frame);
    this.opened.set(meta.node, { meta, url, box, frame, title, hasComplained: false });
    void this.ask({ do: 'watch', what: `window:${meta.node}`, on: true });  // before the page says its first words
    frame.src = url;
    this.element.append(box);
  }

  private close(node: number): void {
    this.opened.get(node)?.box.remove();
    this.opened.delete(node);
    void this.ask({ do: 'watch', what: `window:${node}`, on: false });
  }

  // A frame without rights has the origin "null", so who speaks is known by the frame alone.
  private heard(event: MessageEvent): void {
    const one = [...this.opened.values()].find((each) => each.frame.contentWindow === event.source);
    const message = event.data as { is?: unknown; text?: unknown } | null;
    if (!one || event.origin !== 'null' || typeof message?.text !== 'string')
      return;
    if (message.is === 'title')
      one.title.textContent = message.text.slice(0, 200);
    else if (message.is === 'say')
      void this.say(one, message.text);
  }

  private async say(one: OpenWindow, text: string): Promise<void> {
    const request = { do: 'window', node: one.meta.node, text };
    const isLong = text.length > TEXT_MAX || new TextEncoder().encode(JSON.stringify(request)).length > TEXT_MAX;
    const answer = isLong ? { ok: false, error: 'it sent more than 200 kB at once' } : await this.ask(request);
    if (answer.ok || one.hasComplained)
      return;
    one.hasComplained = true;
    this.complain(`Words of the window of ${one.meta.name} do not reach its program: ${answer.error ?? 'they were refused'}`);
  }

  // What a program says. The frame may show but pages of the windows' own port: the policy of this page sees to it.
  receive(node: number, text: string): void {
    this.opened.get(node)?.frame.contentWindow?.postMessage({ text }, '*');
  }
}
