// TalusFrame.ts - the class that pages import which show Talus in a frame: `new TalusFrame(iframe)`. A page of Talus in the frame answers;
// embed.ts is the other end.
type Answer = { ok: boolean; error?: string } & Record<string, unknown>;

const ASK_AGAIN_MS = 200;  // while the page in the frame is still loading

export default class TalusFrame extends EventTarget {
  readonly ready: Promise<Record<string, unknown>>;  // its first state
  private readonly origin: string;
  private readonly waiting = new Map<number, (answer: Answer) => void>();
  private lastId = 0;

  constructor(readonly frame: HTMLIFrameElement) {
    super();
    const { origin, protocol } = new URL(frame.src, location.href);
    this.origin = protocol === 'file:' ? '*' : origin;
    window.addEventListener('message', (event) => { if (event.source === this.frame.contentWindow) this.heard(event.data); });
    this.ready = new Promise((done) => {
      const ask = setInterval(() => void this.ask('subscribe').then((state) => { clearInterval(ask); done(state); }), ASK_AGAIN_MS);
    });
  }

  private heard(message: { talus?: unknown; re?: number; is?: string } & Answer): void {
    if (message?.talus !== 1)
      return;
    if (typeof message.re === 'number') {
      this.waiting.get(message.re)?.(message);
      this.waiting.delete(message.re);
    } else if (message.is) {
      this.dispatchEvent(new CustomEvent(message.is, { detail: message }));  // state, time
    }
  }

  ask(what: string, more: Record<string, unknown> = {}): Promise<Answer> {
    const id = ++this.lastId;
    this.frame.contentWindow?.postMessage({ talus: 1, id, do: what, ...more }, this.origin);
    return new Promise((done, fail) => this.waiting.set(id, (answer) => (answer.ok ? done(answer) : fail(new Error(answer.error)))));
  }

  play(): Promise<Answer> { return this.ask('play'); }
  pause(): Promise<Answer> { return this.ask('pause'); }
  step(n = 1): Promise<Answer> { return this.ask('step', { n }); }
  reset(): Promise<Answer> { return this.ask('reset'); }
  seek(time: number): Promise<Answer> { return this.ask('seek', { time }); }
  speed(factor: number): Promise<Answer> { return this.ask('speed', { factor }); }
  state(): Promise<Answer> { return this.ask('state'); }
  camera(where: Record<string, unknown> = {}): Promise<Answer> { return this.ask('camera', where); }
  async screenshot(): Promise<string> { return String((await this.ask('screenshot')).png); }
}
