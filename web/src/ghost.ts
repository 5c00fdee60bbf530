// ghost.ts - a second run beside the one that is looked at: a recording, drawn translucent at the same moment of time, and how far apart the
// two are. Where both agree nothing of it is seen.
import { Vector3 } from 'three';
import type { Frame } from './frame';
import { Recording } from './recording';
import { FileSource } from './replay';
import type { Listener, Meta } from './source';
import { World } from './world';

// A source that nobody listens to but for the world.
const deaf = { state() {}, label() {}, sound() {}, clip() {}, print() {}, diagnostic() {}, value() {}, picture() {}, ink() {}, windowed() {}, scrubbed() {} };

// Solids by the names of all above them, so that two worlds can be laid over each other that differ a little.
function pathsOf(meta: Meta): string[] {
  const paths: string[] = [], solids = meta.solids ?? [];
  solids.forEach((solid, i) => { paths[i] = `${solid.parent !== undefined && solid.parent >= 0 ? paths[solid.parent] ?? '' : ''}/${solid.name ?? ''}`; });
  return paths;
}

export class Ghost {
  readonly world = new World();
  name = '';  // of the file; empty: there is none
  trouble = '';
  private source: FileSource | null = null;
  private meta: Meta = {};
  private pairs: [number, number][] = [];  // solids of the run and of the ghost
  private last = -Infinity;
  private readonly here = new Vector3();
  private readonly there = new Vector3();

  constructor(private readonly onShown: () => void) {
    this.world.isGhost = true;
    this.world.root.visible = false;
  }

  // An Error says what is wrong with the bytes. `main` is what the run looked at says of itself.
  open(bytes: Uint8Array<ArrayBuffer>, name: string, main: Meta, time: number): void {
    const source = new FileSource(new Recording(bytes), time);
    let load: Promise<void> = Promise.resolve();
    const listener: Listener = { ...deaf,
      meta: (meta) => { this.meta = meta; this.pair(main); },
      scene: (revision, glb) => { load = load.then(() => this.world.load(revision, glb)).then(this.onShown); },
      frame: (frame: Frame) => { this.world.apply(frame); this.onShown(); },
      blend: (next, part) => { this.world.blend(next, part); this.onShown(); },
      status: (words) => { this.trouble = words; this.onShown(); } };
    this.close();
    this.source = source;
    this.name = name;
    this.world.root.visible = true;
    source.state.running = true;  // so that it is placed between two frames of its own
    source.start(listener);
  }

  close(): void {
    this.source = null;
    this.name = '';
    this.last = -Infinity;
    this.world.root.visible = false;
    this.onShown();
  }

  get isShown(): boolean {
    return this.source !== null && this.world.root.visible;
  }

  show(on: boolean): void {
    this.world.root.visible = on && this.source !== null;
    this.onShown();
  }

  // Lays its solids over those of the run.
  pair(main: Meta): void {
    const own = new Map(pathsOf(this.meta).map((path, i) => [path, i]));
    this.pairs = pathsOf(main).map((path, i): [number, number] => [i, own.get(path) ?? -1]).filter(([, ghost]) => ghost >= 0);
  }

  follow(time: number): void {
    if (!this.source || Math.abs(time - this.last) < 1e-9)
      return;
    this.last = time;
    void this.source.request({ do: 'seek', time });
  }

  // m from a solid of the run to its like, or of the two that are furthest apart; NaN: there is none.
  apart(run: World, solid: number): number {
    let most = NaN;
    for (const [one, other] of this.pairs)
      if ((solid < 0 || one === solid) && run.isThere[one] && this.world.isThere[other]) {
        const distance = run.position(one, this.here).distanceTo(this.world.position(other, this.there));
        most = distance > most ? distance : Number.isNaN(most) ? distance : most;
      }
    return most;
  }
}

// The recording in a file that somebody chose: itself, or the page that holds it.
export async function recordingIn(file: File): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (bytes[0] !== 0x3c)  // <
    return bytes;
  const inside = new DOMParser().parseFromString(new TextDecoder().decode(bytes), 'text/html').getElementById('talus-recording');
  if (!inside)
    throw new Error('this page holds no recording');
  return decodeBase64(inside.textContent ?? '');
}

export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replace(/\s+/g, '')), bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++)
    bytes[i] = binary.charCodeAt(i);
  return bytes;
}
