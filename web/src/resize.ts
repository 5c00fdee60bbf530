// resize.ts - what of the selected solid can be resized, which of it has the handles, and how a pull at a handle becomes a new size.
// The list comes from the server (`sizes`), every change goes there (`resize`).
import { Matrix4, Quaternion, Vector3, type Object3D } from 'three';
import { button, h } from './dom';
import type { Answer, Request, Vec } from './source';
import type { World } from './world';

interface Sized {
  node: number; type: string; for: 'seen' | 'bounding' | 'both'; handles: 'xyz' | 'xy' | 'round' | 'all'; size: Vec; position: Vec; rotation: [number, number, number, number];
}

const KEY_FACTOR = 1.1, MIN_FACTOR = 0.01;
const WORDS = { seen: 'seen', bounding: 'bounding object', both: 'seen, bounding object' };
const rounded = (x: number): number => Number(x.toPrecision(5));
const scaled = (size: Vec, by: Vec): Vec => [rounded(size[0] * by[0]), rounded(size[1] * by[1]), rounded(size[2] * by[2])];

export class Resizer {
  readonly choice = h('select', { 'aria-label': 'What is resized', onchange: () => this.prefer(this.sizes[this.choice.selectedIndex]?.node ?? 0) });
  readonly numbers = h('output', { 'aria-label': 'Its size' });
  readonly element = h('div', { class: 'resizer', role: 'group', 'aria-label': 'Resize', hidden: true }, this.choice, this.numbers,
    button('minus', 'Smaller', () => this.nudge(1 / KEY_FACTOR)), button('plus', 'Larger', () => this.nudge(KEY_FACTOR)));
  onChosen: () => void = () => undefined;
  private solid = -1;
  private sizes: Sized[] = [];
  private at = 0;
  private wanted = 0;     // node that was chosen last, here or in the tree
  private asked = 0;      // of answers the last one counts
  private changes = 0;    // sent so far
  private grabbed: Vec = [1, 1, 1];

  constructor(private readonly world: World, private readonly ask: (message: Request) => Promise<Answer>) {}

  get current(): Sized | null {
    return this.sizes[this.at] ?? null;
  }

  // Of the solid with that node; none where it is undefined. An answer that was on its way while a change was sent is older than that.
  async load(solid: number, node: number | undefined): Promise<void> {
    const number = ++this.asked;
    this.element.hidden = node === undefined;
    let answer: Answer | null = null, changes = -1;
    while (node !== undefined && changes !== this.changes) {
      changes = this.changes;
      answer = await this.ask({ do: 'sizes', node });
      if (number !== this.asked)
        return;
    }
    this.solid = solid;
    this.sizes = answer?.ok ? answer.sizes as Sized[] : [];
    this.choice.replaceChildren(...this.sizes.map((one) => h('option', {}, `${one.type} (${WORDS[one.for]})`)));
    this.choice.disabled = this.sizes.length === 0;
    if (this.sizes.length === 0)
      this.choice.append(h('option', {}, 'Nothing of it can be resized'));
    this.choose(Math.max(this.sizes.findIndex((one) => one.node === this.wanted), 0));
  }

  prefer(node: number): void {
    this.wanted = node;
    const place = this.sizes.findIndex((one) => one.node === node);
    if (place >= 0)
      this.choose(place);
  }

  private choose(place: number): void {
    this.at = place;
    this.choice.selectedIndex = place;
    this.show();
    this.onChosen();
  }

  private show(): void {
    this.numbers.value = this.words();
  }

  words(): string {
    const one = this.current;
    if (!one)
      return '';
    const numbers = one.handles === 'all' ? [one.size[0]] : one.handles === 'round' ? [one.size[0], one.size[2]] : one.handles === 'xy' ? one.size.slice(0, 2) : one.size;
    return `${one.handles === 'all' || one.handles === 'round' ? '⌀ ' : ''}${numbers.join(' × ')}${one.type === 'Transform' ? '' : ' m'}`;
  }

  // Puts the object of the handles where the thing stands.
  place(proxy: Object3D): boolean {
    const one = this.current;
    if (!one || this.solid < 0 || this.solid >= this.world.solidCount)
      return false;
    const pose = this.world.pose(this.solid, new Matrix4()).multiply(new Matrix4().compose(new Vector3(...one.position), new Quaternion(...one.rotation), new Vector3(1, 1, 1)));
    pose.decompose(proxy.position, proxy.quaternion, new Vector3());
    proxy.scale.set(1, 1, 1);
    return true;
  }

  grab(): void {
    this.grabbed = this.current?.size ?? [1, 1, 1];
  }

  // The act that a pull at the handles asks for: so many times as large as it was when they were grabbed.
  pulled(scale: Vector3, isUniform: boolean): Request | null {
    const one = this.current;
    if (!one)
      return null;
    const by = scale.toArray().map((x) => Math.max(Math.abs(x), MIN_FACTOR)) as Vec;
    const most = by.reduce((far, x) => Math.abs(Math.log(x)) > Math.abs(Math.log(far)) ? x : far, 1);
    const round = Math.abs(Math.log(by[0])) > Math.abs(Math.log(by[1])) ? by[0] : by[1];
    const factors: Vec = isUniform || one.handles === 'all' ? [most, most, most] : one.handles === 'round' ? [round, round, by[2]] : by;
    one.size = scaled(this.grabbed, factors);
    if (one.type === 'Capsule' && one.size[2] <= one.size[0])  // its caps take all of the height
      one.size[2] = rounded(one.size[0] * 1.001);
    this.show();
    this.changes++;
    return { do: 'resize', node: one.node, size: one.size, hold: true };
  }

  // By keys and buttons: all sides alike, one step of undo.
  nudge(factor: number): void {
    const one = this.current;
    if (!one)
      return;
    one.size = scaled(one.size, [factor, factor, factor]);
    this.show();
    this.changes++;
    void this.ask({ do: 'resize', node: one.node, size: one.size });
  }
}
