// joints.ts - a slider for every axis of the joints of the selected robot (of all, when nothing is selected): shows where it stands and
// puts it elsewhere. For bodies without a program, and to try a pose.
import { h } from './dom';
import type { Answer, JointMeta, Meta, Request } from './source';

const MAX_ROWS = 200, FREE = Math.PI;  // a joint without stops is offered one turn, or so many metres

interface Row {
  at: number; slider: HTMLInputElement; number: HTMLOutputElement; isHeld: boolean;
  waiting: number;  // requests without an answer
  since: number;    // frames at the last answer: those that come after it know of the change
}

export class Joints {
  readonly element = h('div', { class: 'joints' });
  canEdit = true;
  private rows: Row[] = [];

  constructor(private readonly act: (message: Request) => Promise<Answer>, private readonly frames: () => number) {
    this.show({}, () => true);
  }

  show(meta: Meta, isShown: (joint: JointMeta) => boolean): void {
    this.rows = [];
    const elements: HTMLElement[] = [];
    let at = 0;
    for (const joint of meta.joints ?? []) {
      const first = at;
      at += joint.axes ?? 1;
      if (joint.node === undefined || !isShown(joint))
        continue;
      for (let axis = 0; axis < (joint.axes ?? 1) && this.rows.length < MAX_ROWS; axis++)
        elements.push(this.makeRow(joint, axis, first + axis));
    }
    this.element.replaceChildren(...(elements.length > 0 ? elements : [h('p', { class: 'quiet' }, 'No joints here.')]));
  }

  private makeRow(joint: JointMeta, axis: number, at: number): HTMLElement {
    const words = `${joint.name || joint.type || 'joint'}${(joint.axes ?? 1) > 1 ? ` ${axis + 1}` : ''}`;
    const low = axis === 0 && joint.min !== undefined ? joint.min : -FREE, high = axis === 0 && joint.max !== undefined ? joint.max : FREE;
    const number = h('output', { class: 'joint-number' }), slider = h('input', { type: 'range', min: low, max: high, step: (high - low) / 1000, 'aria-label': words, disabled: !this.canEdit });
    const row: Row = { at, slider, number, isHeld: false, waiting: 0, since: -1 };
    slider.addEventListener('input', () => {
      row.waiting++;
      void this.act({ do: 'joint', node: joint.node, axis, position: Number(slider.value), hold: row.isHeld }).then((answer) => {
        row.waiting--;
        row.since = answer.ok ? this.frames() : -1;
      });
      row.isHeld = true;
      number.textContent = Number(slider.value).toFixed(3);
    });
    slider.addEventListener('change', () => { row.isHeld = false; });
    this.rows.push(row);
    return h('label', { class: 'joint' }, h('span', { class: 'joint-name' }, words), slider, number);
  }

  // Where the joints stand, but for one that is being moved, or was and no frame has it yet.
  refresh(positions: Map<number, number>): void {
    for (const row of this.rows) {
      const position = positions.get(row.at);
      if (position === undefined || row.isHeld || row.waiting > 0 || this.frames() === row.since)
        continue;
      row.slider.value = String(position);
      row.number.textContent = position.toFixed(3);
    }
  }

  get isShown(): boolean {
    return this.element.offsetParent !== null && this.rows.length > 0;
  }
}
