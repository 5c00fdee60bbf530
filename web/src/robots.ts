// robots.ts - what the reader's mouse and gamepad do, for the controllers of the robots (wb_mouse_*, wb_joystick_*), while the switch
// sends input to them.
import type { Request } from './source';
import type { View } from './view';
import type { World } from './world';

const FULL = 32767;  // of an axis

export class RobotInput {
  isOn = false;
  private mouse: Request | null = null;
  private lastPad = '';

  constructor(private readonly view: View, private readonly world: World, private readonly send: (message: Request) => void) {
    for (const type of ['pointermove', 'pointerdown', 'pointerup'] as const)
      view.canvas.addEventListener(type, (event) => { if (this.isOn) this.point(event); });
  }

  private point(event: PointerEvent): void {
    const box = this.view.canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    const hit = this.world.pick(this.view.ray(x, y));
    this.mouse = { do: 'mouse', left: (event.buttons & 1) !== 0, right: (event.buttons & 2) !== 0, middle: (event.buttons & 4) !== 0,
      window: [x / this.view.width, y / this.view.height], ...(hit ? { point: hit.point.toArray() } : {}) };
  }

  // Once a display frame: the newest of each, when it changed.
  tick(): void {
    if (!this.isOn)
      return;
    if (this.mouse)
      this.send(this.mouse);
    this.mouse = null;
    const pad = window.navigator.getGamepads?.().find((one) => one !== null);
    if (!pad)
      return;
    const message: Request = { do: 'joystick', connected: pad.connected, model: pad.id, axes: pad.axes.map((value) => Math.round(FULL * value)), buttons: pad.buttons.map((one) => Number(one.pressed)) };
    const text = JSON.stringify(message);
    if (text !== this.lastPad)
      this.send(message);
    this.lastPad = text;
  }
}
