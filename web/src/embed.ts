// embed.ts - the page inside another one: what the page around it may ask for, and what it is told. Who may be around is the server's to say
// (frame-ancestors; `--embed`); here only the window directly above is listened to, and told nothing before it has asked.
// TalusFrame.ts is the other end.
import { Vector3 } from 'three';
import type { Navigator } from './navigate';
import type { Answer, Request, Source, Vec } from './source';
import type { View } from './view';

const TIME_MS = 100;  // between two times that are told
const ACTS = new Set(['play', 'pause', 'step', 'stepback', 'reset', 'speed']);

// What of the page is steered from outside.
export interface Steered {
  readonly view: View;
  readonly navigator: Navigator;
  readonly canvas: HTMLCanvasElement;
  readonly source: Source;
  readonly time: number;
  readonly step: number;
  ask(message: Request): Promise<Answer>;
  act(message: Request): Promise<Answer>;  // likewise, and says in the page what went wrong
  title(): string;
}

export class Embedding {
  private begin: () => void = () => undefined;
  private readonly begun = new Promise<void>((done) => { this.begin = done; });  // the first frame is there
  private listener: string | null = null;  // origin of the page around, once it has asked to be told
  private told = '';
  private toldTime = NaN;        // s, of the run
  private toldAt = -Infinity;    // ms, on the clock

  constructor(private readonly page: Steered) {
    if (window.parent !== window)
      window.addEventListener('message', (event) => { if (event.source === window.parent) void this.heard(event); });
  }

  private send(origin: string, message: Record<string, unknown>): void {
    window.parent.postMessage({ talus: 1, ...message }, origin === 'null' ? '*' : origin);  // a page from disk has no origin to name
  }

  private async heard(event: MessageEvent): Promise<void> {
    const message = event.data as (Request & { talus?: unknown; id?: unknown }) | null;
    if (typeof message !== 'object' || message?.talus !== 1 || typeof message.do !== 'string')
      return;
    let answer: Answer;
    try {
      answer = await this.act(message, event.origin);
    } catch (error) {
      answer = { ok: false, error: error instanceof Error ? error.message : String(error) };
    }
    this.send(event.origin, { ...answer, re: message.id });
  }

  private async act(message: Request, origin: string): Promise<Answer> {
    if (message.do === 'subscribe') {
      await this.begun;
      this.listener = origin;
      this.told = '';
      return { ok: true, ...this.state() };
    }
    if (message.do === 'state')
      return { ok: true, ...this.state() };
    if (message.do === 'seek')
      return this.page.ask({ do: 'seek', time: Number(message.time) });
    if (message.do === 'live')
      return this.page.ask({ do: 'live' });
    if (message.do === 'camera')
      return this.camera(message);
    if (message.do === 'screenshot')
      return this.screenshot();
    if (!ACTS.has(message.do))
      return { ok: false, error: `there is no '${message.do}'` };
    const { do: name, n, factor } = message;
    return this.page.act({ do: name, ...(n === undefined ? {} : { n }), ...(factor === undefined ? {} : { factor }) });
  }

  private state(): Record<string, unknown> {
    const { source, time, step } = this.page, { running, factor, history, role } = source.state;
    return { kind: source.kind, title: this.page.title(), running, time, step, factor, history, role };
  }

  // Where the eye goes: named, as a link has it, or by a place and what it looks at. Answers where it is then.
  private camera(message: Request): Answer {
    const { navigator, view } = this.page, vector = (value: unknown): Vector3 | null =>
      Array.isArray(value) && value.length === 3 && value.every(Number.isFinite) ? new Vector3(...value as Vec) : null;
    const position = vector(message.position), target = vector(message.target);
    if (message.position !== undefined && (!position || !target))
      return { ok: false, error: 'camera wants position and target, three numbers each' };
    if (position && target)
      navigator.go(position, navigator.lookingAt(position, target), true);
    if (typeof message.view === 'string')
      navigator.axisView(message.view);
    if (typeof message.link === 'string' && !navigator.fromText(message.link))
      return { ok: false, error: 'this is no camera of a link' };
    view.dirty();
    return { ok: true, position: view.camera.position.toArray(), link: navigator.toText() };
  }

  private screenshot(): Answer {
    this.page.view.dirty();
    this.page.view.draw();
    return { ok: true, png: this.page.canvas.toDataURL('image/png') };
  }

  // Once a display frame: changes at once, the time now and then.
  tick(now: number): void {
    if (this.page.step >= 0)
      this.begin();
    if (this.listener === null)
      return;
    const state = this.state(), { time, step, history, ...rest } = state, key = JSON.stringify(rest);
    if (key !== this.told)
      this.send(this.listener, { is: 'state', ...state });
    this.told = key;
    if (time === this.toldTime || now - this.toldAt < TIME_MS)
      return;
    this.toldAt = now;
    this.toldTime = Number(time);
    this.send(this.listener, { is: 'time', time, step, history });
  }
}
