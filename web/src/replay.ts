// replay.ts - a recording as a source: plays, pauses, steps, seeks. Frames hold what changed, so a jump starts at the key frame of
// its block and goes forward from there.
import { readJson, type Frame } from './frame';
import type { Recording } from './recording';
import { dispatchEvent, emptyState, type Answer, type Listener, type Meta, type Request, type Source, type State } from './source';

const MAX_BLEND_S = 0.25;  // frames further apart are shown as they are

export class FileSource implements Source {
  readonly kind = 'file';
  state: State = { ...emptyState(), role: 'replay' };
  private listener!: Listener;
  private block = -1;       // where we stand: the block and frame shown last
  private frame = -1;
  private scene = -1;
  private lastTick = 0;
  private isBusy = false;
  private wanted: number | null = null;  // a time asked for while another was on its way
  private meta: Meta = {};
  hasLabels = false;  // all labels of the file are known

  constructor(private readonly recording: Recording, private readonly firstTime: number | null) {}

  start(listener: Listener): void {
    this.listener = listener;
    void this.open().catch((error: unknown) => listener.status(error instanceof Error ? error.message : String(error), true));
  }

  private async open(): Promise<void> {
    this.state.history = this.recording.span;
    for (const block of this.recording.clipBlocks) {
      const bytes = await this.recording.payload(block);
      const end = bytes.indexOf(10);
      const head = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end))) as { name?: string };
      this.listener.clip(String(head.name ?? ''), bytes.slice(end + 1).buffer as ArrayBuffer);
    }
    if (this.recording.frameBlocks.length === 0)
      throw new Error('the recording holds no frame');
    await this.show(this.firstTime ?? this.state.history[0]);
    this.listener.state(this.state);
    await this.recording.scanLabels();
    this.hasLabels = true;
  }

  private async showScene(revision: number, time: number): Promise<void> {
    const scenes = this.recording.sceneBlocks;
    let found = -1;
    for (let i = 0; i < scenes.length; i++)
      if (scenes[i].first <= time + 1e-9 || found < 0)
        found = i;
    if (found === this.scene || found < 0)
      return;
    this.scene = found;
    this.meta = await this.recording.meta(found);
    this.listener.meta(this.meta);
    const bytes = await this.recording.payload(scenes[found]);
    this.listener.scene(revision, bytes.slice(4).buffer as ArrayBuffer);
  }

  // Shows the last frame at or before the time. Calls while one is on its way are answered by the last of them.
  private async show(time: number): Promise<void> {
    if (this.isBusy) {
      this.wanted = time;
      return;
    }
    this.isBusy = true;
    try {
      await this.showNow(time);
    } catch (error) {
      this.state.running = false;
      this.listener.status(error instanceof Error ? error.message : String(error), true);
    }
    this.isBusy = false;
    if (this.wanted !== null) {
      const next = this.wanted;
      this.wanted = null;
      await this.show(next);
    }
  }

  private async showNow(time: number): Promise<void> {
    const [first, last] = this.state.history;
    time = Math.min(Math.max(time, first), last);
    const block = this.recording.blockAt(time);
    const frames = await this.recording.frames(block);
    if (block + 1 < this.recording.frameBlocks.length)
      void this.recording.frames(block + 1).catch(() => undefined);  // unpacked before it is needed; its damage is told when it is shown
    let target = 0;
    while (target + 1 < frames.length && frames[target + 1].time <= time + 1e-9)
      target++;
    const isNext = block === this.block + 1 && this.frame >= 0 && this.state.running;
    const goesOn = (block === this.block && target >= this.frame) || isNext;
    const from = block === this.block && goesOn ? this.frame + 1 : 0;
    if (!goesOn) {
      this.listener.scrubbed();
      for (const event of this.recording.labelsUntil(frames[0].time))
        dispatchEvent(event, this.listener);
    }
    await this.showScene(frames[0].revision, time);
    for (let i = from; i <= target; i++)
      this.pass(frames[i], goesOn || i === 0);
    this.block = block;
    this.frame = target;
    this.state.time = time;
    const next = frames[target + 1];
    if (this.state.running && next && next.revision === frames[target].revision && next.time - frames[target].time < MAX_BLEND_S)
      this.listener.blend(next, (time - frames[target].time) / (next.time - frames[target].time), time);
  }

  private pass(frame: Frame, withEvents: boolean): void {
    this.listener.frame(frame);
    const events = frame.sections.get('EVTS');
    if (events)
      for (const event of (readJson(events) ?? []) as Record<string, unknown>[])
        if (withEvents || event.is === 'label')
          dispatchEvent(event, this.listener);
  }

  drawn(): void {}

  tick(now: number): void {
    const dt = Math.min((now - this.lastTick) / 1000, 0.1);
    this.lastTick = now;
    if (!this.state.running || this.isBusy)
      return;
    const next = this.state.time + dt * (this.state.factor || 1);
    if (next >= this.state.history[1]) {
      this.state.running = false;
      this.listener.state(this.state);
    }
    void this.show(next);
  }

  private async stepBy(count: number): Promise<void> {
    this.state.running = false;
    if (this.block < 0)
      return;
    let block = this.block, frame = this.frame + count;
    if (frame < 0 && block > 0) {
      block--;
      frame += (await this.recording.frames(block)).length;
    }
    let frames = await this.recording.frames(block);
    if (frame >= frames.length && block + 1 < this.recording.frameBlocks.length) {
      frame -= frames.length;
      frames = await this.recording.frames(++block);
    }
    await this.show(frames[Math.min(Math.max(frame, 0), frames.length - 1)].time);
  }

  async request(message: Request): Promise<Answer> {
    const acts: Record<string, () => void | Promise<void>> = {
      play: () => {
        if (this.state.time >= this.state.history[1] - 1e-9)
          this.state.time = this.state.history[0];
        this.state.running = true;
      },
      pause: () => { this.state.running = false; },
      step: () => this.stepBy(Number(message.n ?? 1)),
      stepback: () => this.stepBy(-1),
      speed: () => { this.state.factor = Number(message.factor) || 1; },
      reset: () => this.show(this.state.history[0]),
      seek: () => this.show(Number(message.time)),
      watch: () => undefined,
    };
    const act = acts[message.do];
    if (!act)
      return this.know(message);
    await act();
    this.listener.state(this.state);
    return { ok: true };
  }

  // The tree and the rows of a recording: what META says about its solids.
  private know(message: Request): Answer {
    const solids = this.meta.solids ?? [];
    if (message.do === 'children') {
      const parent = Number(message.node ?? 0) - 1;
      const isRow = (i: number): boolean => (solids[i].parent ?? -1) === parent;
      const count = (i: number): number => solids.filter((solid) => (solid.parent ?? -1) === i).length;
      return { ok: true, nodes: solids.map((solid, i) => ({ node: i + 1, solid: i, type: solid.type ?? 'Solid', def: solid.def, name: solid.name, count: 0 }))
        .filter((_, i) => isRow(i)).map((row) => ({ ...row, count: count(row.solid) })) };
    }
    if (message.do === 'fields') {
      const solid = solids[Number(message.node) - 1] ?? {};
      return { ok: true, rows: Object.entries(solid).filter(([key]) => key !== 'parent' && key !== 'node')
        .map(([key, value]) => ({ field: key, text: typeof value === 'string' ? value : JSON.stringify(value), live: false })) };
    }
    return { ok: false, error: 'a recording cannot be changed' };
  }
}
