// live.ts - a running simulation behind a WebSocket. One frame is in flight: the next comes after the last was drawn. A lost
// connection is tried again by itself, slower each time.
import { decodeFrame, readJson, tagOf } from './frame';
import { dispatchEvent, emptyState, type Answer, type Listener, type Meta, type Request, type Source, type State } from './source';

const FIRST_WAIT_MS = 250, MAX_WAIT_MS = 5000;

export class LiveSource implements Source {
  readonly kind = 'live';
  state: State = emptyState();
  private listener!: Listener;
  private socket: WebSocket | null = null;
  private waiting = new Map<number, (answer: Answer) => void>();
  private watched = new Map<string, Request>();  // asked again after a reconnection
  private nextId = 1;
  private wait = FIRST_WAIT_MS;
  private isRefused = false;

  constructor(private readonly url: string, private readonly token: string) {}

  start(listener: Listener): void {
    this.listener = listener;
    this.connect();
  }

  private connect(): void {
    this.listener.status('connecting…', false);
    const socket = new WebSocket(this.url, 'talus');
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => socket.send(JSON.stringify({ do: 'hello', token: this.token, protocol: 1 }));
    socket.onmessage = (message) => {
      if (typeof message.data === 'string')
        this.readText(message.data);
      else
        this.readBinary(message.data as ArrayBuffer);
    };
    socket.onclose = () => this.lost();
    this.socket = socket;
  }

  private lost(): void {
    for (const answer of this.waiting.values())
      answer({ ok: false, error: 'the connection was lost' });
    this.waiting.clear();
    this.socket = null;
    if (this.isRefused)
      return;
    this.listener.status('connection lost; trying again…', true);
    setTimeout(() => this.connect(), this.wait);
    this.wait = Math.min(2 * this.wait, MAX_WAIT_MS);
  }

  private readText(text: string): void {
    let message: Record<string, unknown>;
    try {
      message = JSON.parse(text) as Record<string, unknown>;
    } catch {
      this.listener.status('the server sent text that is not JSON', true);
      return;
    }
    if (typeof message.re === 'number') {
      this.waiting.get(message.re)?.(message as Answer);
      this.waiting.delete(message.re);
    } else if (message.is === 'welcome') {
      this.welcome(message);
    } else if (message.is === 'state') {
      this.state = { ...this.state, ...(message as unknown as Partial<State>) };
      this.listener.state(this.state);
    } else if (message.is === 'scene') {
      if (message.meta)
        this.listener.meta(message.meta as Meta);
    } else if (message.is === 'bye') {
      this.isRefused = message.again !== true;
      this.listener.status(String(message.text ?? 'the server said goodbye'), true);
    } else {
      dispatchEvent(message, this.listener);
    }
  }

  private welcome(message: Record<string, unknown>): void {
    this.wait = FIRST_WAIT_MS;
    this.state = { ...this.state, role: String(message.role ?? 'spectator') };
    this.listener.status('', false);
    this.listener.meta((message.meta ?? {}) as Meta);
    this.listener.state(this.state);
    for (const request of this.watched.values())
      void this.request(request);
  }

  private readBinary(data: ArrayBuffer): void {
    const view = new DataView(data);
    const tag = data.byteLength >= 4 ? tagOf(view, 0) : '';
    try {
      if (tag === 'TFRM')
        this.readFrame(new Uint8Array(data));
      else if (tag === 'SCNE')
        this.listener.scene(view.getUint32(4, true), data.slice(8));
      else if (tag === 'INKS')
        this.listener.ink(new DataView(data, 4));
      else if (tag === 'PICT')
        this.listener.picture({ node: view.getUint32(4, true), width: view.getUint16(8, true), height: view.getUint16(10, true),
          kind: view.getUint8(12), bytes: new Uint8Array(data, 13) });
    } catch (error) {
      this.listener.status(`a message could not be read: ${error instanceof Error ? error.message : String(error)}`, true);
    }
  }

  private readFrame(bytes: Uint8Array): void {
    const frame = decodeFrame(bytes);
    this.state.time = frame.time;
    this.listener.frame(frame);
    const events = frame.sections.get('EVTS');
    if (events)
      for (const event of (readJson(events) ?? []) as Record<string, unknown>[])
        dispatchEvent(event, this.listener);
  }

  drawn(step: number): void {
    this.send({ do: 'ack', step });
  }

  tick(): void {}

  private send(message: Record<string, unknown>): boolean {
    if (this.socket?.readyState !== WebSocket.OPEN)
      return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  request(message: Request): Promise<Answer> {
    if (message.do === 'watch') {
      if (message.on)
        this.watched.set(String(message.what), message);
      else
        this.watched.delete(String(message.what));
    }
    const id = this.nextId++;
    if (!this.send({ ...message, id }))
      return Promise.resolve({ ok: false, error: 'not connected' });
    return new Promise((resolve) => this.waiting.set(id, resolve));
  }
}
