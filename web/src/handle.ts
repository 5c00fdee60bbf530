// handle.ts - the pointer on the picture: choosing, moving, lifting, turning, pushing, twisting and pulling solids, and the eye's
// gestures where none of these is meant. Shift and Alt as in Webots, or a tool for pens and fingers. Every act goes to the source.
import { Object3D, Plane, Quaternion, Vector3 } from 'three';
import { TransformControls } from 'three/addons/controls/TransformControls.js';
import type { Drawings } from './drawings';
import type { Act, Navigator } from './navigate';
import type { Overlays } from './overlays';
import type { Resizer } from './resize';
import type { Request, Source } from './source';
import type { View } from './view';
import type { Hit, World } from './world';

export type Tool = 'select' | 'translate' | 'rotate' | 'resize' | 'move' | 'force' | 'torque' | 'pull';
type Deed = 'move' | 'lift' | 'turn' | 'force' | 'torque' | 'pull';

const CLICK_PIXELS = 20, LONG_PRESS_MS = 550, WHEEL_PART = 0.1;
// Modifier and button to what is done to a solid; the first row that fits.
const DEEDS: { shift: boolean; alt: boolean; button: number; deed: Deed }[] = [
  { shift: true, alt: true, button: 0, deed: 'pull' }, { shift: true, alt: false, button: 0, deed: 'move' }, { shift: true, alt: false, button: 1, deed: 'lift' },
  { shift: true, alt: false, button: 2, deed: 'turn' }, { shift: false, alt: true, button: 0, deed: 'force' }, { shift: false, alt: true, button: 2, deed: 'torque' },
];
export const GESTURES: [string, string][] = [
  ['Select', 'click; again for the part'], ['Turn the view', 'left drag, one finger'], ['Pan the view', 'right drag, two fingers'], ['Zoom', 'wheel, middle drag, pinch'],
  ['Move a solid', 'Shift + left drag'], ['Lift a solid', 'Shift + middle drag or wheel'], ['Turn a solid', 'Shift + right drag'], ['Push with a force', 'Alt + left drag'],
  ['Twist with a torque', 'Alt + right drag'], ['Pull by an elastic', 'Alt + Shift + left drag'], ['Press a bumper', 'left button on it'], ['Resize by handles', 'Ctrl; Shift: all sides'], ['Menu', 'right click, long press'],
];

interface Drag {
  deed: Deed | null; act: Act | null; hit: Hit | null; solid: number; x: number; y: number; startX: number; startY: number;
  plane: Plane; start: Vector3; rotation: Quaternion; local: Vector3; moved: boolean; lastRequest: Request | null; button: number;
  isTouching: boolean;  // a bumper
}

export class Handle {
  tool: Tool = 'select';
  selected = -1;
  isFrozen = false;  // a spectator or a recording: nothing can be moved
  onSelect: (solid: number) => void = () => undefined;
  onHandles: () => void = () => undefined;  // they do something else now
  onMenu: (x: number, y: number, solid: number) => void = () => undefined;
  gizmo: TransformControls | null = null;  // made when it is first wanted: its parts take a while
  private readonly proxy = new Object3D();
  private readonly grabbed = new Object3D();  // where the proxy was when its handle was taken
  private drag: Drag | null = null;
  private pulled: Request | null = null;  // the newest of what the handles want
  private grips = 0;                      // times that something was taken, by handles or without
  private refused = -1;                   // the last of them that the server refused
  private lifted: { solid: number; position: Vector3; waiting: number } | null = null;  // by the wheel, as far as no answer came
  private isUniform = false;              // Shift is down: all sides alike
  private isCtrl = false;                 // the handles of a tool are those that resize while it is down, as in Webots
  private readonly touches = new Map<number, { x: number; y: number }>();
  private longPress = 0;

  constructor(private readonly view: View, private readonly world: World, private readonly navigator: Navigator, private readonly drawings: Drawings,
              private readonly overlays: Overlays, private readonly resizer: Resizer, private readonly source: () => Source) {
    const canvas = view.canvas;
    canvas.addEventListener('pointerdown', (event) => this.down(event));
    canvas.addEventListener('pointermove', (event) => this.move(event));
    canvas.addEventListener('pointerup', (event) => this.up(event));
    canvas.addEventListener('pointercancel', (event) => this.up(event));
    canvas.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    canvas.addEventListener('contextmenu', (event) => event.preventDefault());
    for (const type of ['keydown', 'keyup', 'blur'] as const)
      window.addEventListener(type, (event) => this.modified(event), true);
    view.scene.add(this.proxy);
    resizer.onChosen = () => { this.placeGizmo(); view.dirty(); };
    view.beforeDraw.push(() => this.placeGizmo());
  }

  setTool(tool: Tool): void {
    this.tool = tool;
    this.placeGizmo();
    this.view.dirty();
  }

  // What the handles do: the tool's own, or resizing.
  get handles(): 'translate' | 'rotate' | 'scale' | null {
    const has = this.tool === 'translate' || this.tool === 'rotate' ? this.tool : null;
    return this.tool === 'resize' || (has && this.isCtrl) ? 'scale' : has;
  }

  private modified(event: Event): void {
    const { ctrlKey = false, shiftKey = false } = event as Partial<KeyboardEvent>, was = this.handles;
    this.isUniform = shiftKey;
    if (this.gizmo?.dragging)
      return;
    this.isCtrl = ctrlKey;
    if (this.handles !== was) {
      this.onHandles();
      this.placeGizmo();
      this.view.dirty();
    }
  }

  select(solid: number): void {
    this.selected = solid;
    this.drawings.selected = solid;
    this.placeGizmo();
    this.view.dirty();
    this.onSelect(solid);
  }

  private makeGizmo(): TransformControls {
    const gizmo = new TransformControls(this.view.perspective, this.view.canvas);
    gizmo.setSize(0.8);
    gizmo.addEventListener('change', () => this.view.dirty());
    gizmo.addEventListener('objectChange', () => this.gizmoMoved());
    gizmo.addEventListener('mouseDown', () => {
      this.grips++;
      this.grabbed.position.copy(this.proxy.position);
      this.grabbed.quaternion.copy(this.proxy.quaternion);
      this.resizer.grab();
    });
    gizmo.addEventListener('mouseUp', () => {
      this.overlays.setTip('', 0, 0);
      this.sendPulled();
      void this.send({ do: 'release' });
      this.onHandles();
    });
    this.view.scene.add(gizmo.getHelper());
    return gizmo;
  }

  private placeGizmo(): void {
    const mode = this.handles;
    if (this.selected < 0 || this.selected >= this.world.solidCount || !mode || this.isFrozen) {
      if (this.gizmo?.object)
        this.gizmo.detach();
      return;
    }
    this.gizmo ??= this.makeGizmo();
    if (this.gizmo.mode !== mode)
      this.gizmo.setMode(mode);
    this.gizmo.showZ = mode !== 'scale' || this.resizer.current?.handles !== 'xy';
    this.gizmo.camera = this.view.camera;
    if (!this.gizmo.dragging && mode === 'scale') {
      if (!this.resizer.place(this.proxy)) {
        this.gizmo.detach();
        return;
      }
    } else if (!this.gizmo.dragging) {
      this.proxy.scale.set(1, 1, 1);
      const solid = this.drawings.topOf(this.selected);
      this.world.position(solid, this.proxy.position);
      this.world.rotation(solid, this.proxy.quaternion);
    }
    if (!this.gizmo.object)
      this.gizmo.attach(this.proxy);
  }

  private gizmoMoved(): void {
    const isSize = this.gizmo?.mode === 'scale';
    if (this.refused === this.grips)
      return;
    this.pulled = isSize ? this.resizer.pulled(this.proxy.scale, this.isUniform)
      : this.moveTo(this.drawings.topOf(this.selected), this.proxy.position, this.proxy.quaternion);
    const way = this.proxy.position.distanceTo(this.grabbed.position), angle = this.proxy.quaternion.angleTo(this.grabbed.quaternion) * 180 / Math.PI;
    const at = this.view.project(this.proxy.position);
    if (at)
      this.overlays.setTip(isSize ? this.resizer.words() : this.gizmo?.mode === 'rotate' ? `${angle.toFixed(1)}°` : `${way.toFixed(3)} m`, ...at);
  }

  private moveTo(solid: number, position: Vector3, rotation: Quaternion): Request {
    return { do: 'move', solid, position: position.toArray(), rotation: rotation.toArray(), hold: true };
  }

  private sendPulled(): void {
    if (this.pulled)
      void this.send(this.pulled);
    this.pulled = null;
  }

  // Whether it is a TouchSensor that a finger presses.
  isBumper(solid: number): boolean {
    return this.source().kind === 'live' && (this.drawings.meta.devices ?? []).some((one) => one.kind === 'TouchSensor' && one.solid === solid && one.type === 'bumper');
  }

  // Presses and lets go at once: it counts as touched in the next step.
  touch(solid: number): void {
    this.grips++;
    void this.send({ do: 'touch', solid });
    void this.send({ do: 'release' });
  }

  // What is refused is told once for each time that something was taken, however much of it was on its way, and ends nothing that came later.
  private async send(message: Request): Promise<void> {
    const grip = this.grips, answer = await this.source().request(message);
    if (answer.ok || message.do === 'release' || this.refused >= grip)
      return;
    this.refused = grip;
    this.overlays.toast(answer.error ?? 'refused', true);
    if (grip === this.grips)
      this.drag = this.drag && { ...this.drag, deed: null };
  }

  private at(event: MouseEvent): [number, number] {
    const box = this.view.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  pick(x: number, y: number): Hit | null {
    return this.world.pick(this.view.ray(x, y));
  }

  private deedOf(event: PointerEvent, hit: Hit | null): Deed | null {
    if (!hit || hit.solid < 0 || this.isFrozen)
      return null;
    const match = DEEDS.find((row) => row.shift === event.shiftKey && row.alt === event.altKey && row.button === event.button && !event.ctrlKey);
    if (match)
      return this.navigator.style === 'blender' && event.button === 1 ? null : match.deed;
    const isTool = this.tool === 'move' || this.tool === 'force' || this.tool === 'torque' || this.tool === 'pull';
    return isTool && event.button === 0 && !event.shiftKey && !event.altKey && !event.ctrlKey ? this.tool as Deed : null;
  }

  private down(event: PointerEvent): void {
    this.view.canvas.focus({ preventScroll: true });
    if (event.isTrusted)
      this.view.canvas.setPointerCapture(event.pointerId);
    const [x, y] = this.at(event);
    if (event.pointerType === 'touch') {
      this.touches.set(event.pointerId, { x, y });
      if (this.touches.size === 2) {
        clearTimeout(this.longPress);
        this.finish();
        this.navigator.grab(this.pick(...this.middle())?.point ?? null);
        return;
      }
      this.longPress = window.setTimeout(() => {
        const hit = this.drag && !this.drag.moved ? this.drag.hit : null;
        this.drag = null;
        this.onMenu(event.clientX, event.clientY, hit?.solid ?? -1);
      }, LONG_PRESS_MS);
    }
    if (this.gizmo?.dragging || this.gizmo?.axis || this.drag)
      return;
    const hit = this.pick(x, y), deed = this.deedOf(event, hit);
    this.grips++;
    this.navigator.grab(hit?.point ?? null);
    const solid = !hit ? -1 : deed === 'move' || deed === 'lift' || deed === 'turn' ? this.drawings.topOf(hit.solid) : hit.solid;
    this.drag = { deed, act: deed ? null : this.navigator.actOf(event), hit, solid, x, y, startX: x, startY: y, plane: new Plane(), start: new Vector3(),
      rotation: new Quaternion(), local: new Vector3(), moved: false, lastRequest: null, button: event.button,
      isTouching: !deed && !this.isFrozen && event.button === 0 && !event.shiftKey && !event.altKey && !event.ctrlKey && this.isBumper(solid) };
    if (this.drag.isTouching)
      void this.send({ do: 'touch', solid });
    if (deed && hit)
      this.beginDeed(this.drag, hit);
  }

  private beginDeed(drag: Drag, hit: Hit): void {
    this.world.position(drag.solid, drag.start);
    this.world.rotation(drag.solid, drag.rotation);
    drag.local.copy(hit.point).sub(drag.start).applyQuaternion(drag.rotation.clone().invert());
    const normal = drag.deed === 'move' ? this.view.up : this.navigator.axis(0, 0, 1);
    drag.plane.setFromNormalAndCoplanarPoint(normal, hit.point);
  }

  private middle(): [number, number] {
    const points = [...this.touches.values()];
    return [(points[0].x + points[1].x) / 2, (points[0].y + points[1].y) / 2];
  }

  private moveTouches(event: PointerEvent, x: number, y: number): void {
    const before = [...this.touches.values()].map((point) => ({ ...point }));
    this.touches.set(event.pointerId, { x, y });
    const after = [...this.touches.values()];
    const span = (points: { x: number; y: number }[]): number => Math.hypot(points[0].x - points[1].x, points[0].y - points[1].y);
    this.navigator.pan((after[0].x + after[1].x - before[0].x - before[1].x) / 2, (after[0].y + after[1].y - before[0].y - before[1].y) / 2);
    if (span(before) > 0)
      this.navigator.zoom(1 - span(before) / Math.max(span(after), 1));
  }

  private move(event: PointerEvent): void {
    const [x, y] = this.at(event);
    if (event.pointerType === 'touch' && this.touches.size === 2) {
      this.moveTouches(event, x, y);
      return;
    }
    const drag = this.drag;
    if (!drag || this.gizmo?.dragging)
      return;
    const dx = x - drag.x, dy = y - drag.y;
    if (Math.abs(x - drag.startX) + Math.abs(y - drag.startY) > 4) {
      drag.moved = true;
      clearTimeout(this.longPress);
    }
    if (!drag.moved)
      return;
    const both = (event.buttons & 3) === 3;  // left and right together are the middle
    const act = both && !drag.deed ? 'zoom' : drag.act;
    if (drag.deed)
      this.moveSolid(drag, both && drag.deed === 'move' ? 'lift' : drag.deed, x, y);
    else if (act === 'orbit')
      this.navigator.orbit(dx, dy, drag.hit === null);
    else if (act === 'look')
      this.navigator.look(dx, dy);
    else if (act === 'pan')
      this.navigator.pan(dx, dy);
    else if (act === 'zoom') {
      this.navigator.zoom(-dy * 0.005);
      if (this.navigator.style === 'webots')
        this.navigator.roll(dx * 0.01);
    }
    drag.x = x;
    drag.y = y;
  }

  private moveSolid(drag: Drag, deed: Deed, x: number, y: number): void {
    const point = this.view.ray(x, y).ray.intersectPlane(drag.plane, new Vector3());
    const pixels = [x - drag.startX, y - drag.startY];
    const scale = this.view.focusDistance * 2 * Math.tan(this.view.perspective.fov * Math.PI / 360) / this.view.height;
    const position = drag.start.clone(), rotation = drag.rotation.clone();
    if (deed === 'turn')
      rotation.premultiply(new Quaternion().setFromAxisAngle(this.view.up, 0.01 * pixels[0]));
    else if (deed === 'lift')
      position.addScaledVector(this.view.up, -pixels[1] * scale);
    else if (deed === 'move' && point)
      position.add(point.clone().sub(drag.hit!.point));
    if (deed === 'turn' || deed === 'lift' || deed === 'move')
      drag.lastRequest = this.moveTo(drag.solid, position, rotation);
    else if (point)
      this.moveForce(drag, deed, point, x, y);
  }

  private moveForce(drag: Drag, deed: 'force' | 'torque' | 'pull', point: Vector3, x: number, y: number): void {
    const from = this.world.pose(drag.solid, this.proxy.matrix.clone());
    const grip = drag.local.clone().applyMatrix4(from);
    const meta = this.drawings.meta.solids?.[drag.solid], scales = this.drawings.meta.scales ?? {};
    const length = point.distanceTo(grip), mass = meta?.mass ?? 0;
    this.drawings.drag = { from: grip, to: point, color: deed === 'torque' ? [0.75, 0.45, 1] : deed === 'pull' ? [0.2, 0.85, 0.85] : [1, 0.35, 0.2] };
    this.view.dirty();
    if (deed === 'torque')
      drag.lastRequest = { do: 'torque', solid: drag.solid, vector: point.clone().sub(grip).toArray() };
    else
      drag.lastRequest = { do: deed, solid: drag.solid, at: drag.local.toArray(), to: point.toArray() };
    if (mass > 0 && deed !== 'pull') {
      const size = (deed === 'force' ? scales.force ?? 30 : scales.torque ?? 5) * mass * length ** 3;
      this.overlays.setTip(`${size.toPrecision(3)} ${deed === 'force' ? 'N' : 'Nm'}`, x, y);
    }
  }

  private finish(): void {
    if (this.drag?.isTouching || (this.drag?.deed && this.drag.moved))
      void this.send({ do: 'release' });
    this.drag = null;
    this.drawings.drag = null;
    this.overlays.setTip('', 0, 0);
    this.view.dirty();
  }

  private up(event: PointerEvent): void {
    clearTimeout(this.longPress);
    this.touches.delete(event.pointerId);
    const drag = this.drag;
    if (!drag || drag.button !== event.button)
      return;
    const [x, y] = this.at(event);
    const isClick = !drag.moved || (Math.abs(x - drag.startX) + Math.abs(y - drag.startY) < CLICK_PIXELS && !drag.moved);
    this.tick();
    this.finish();
    if (!isClick || event.type === 'pointercancel')
      return;
    if (event.button === 0)
      this.click(drag.hit, event.altKey);
    else if (event.button === 2 && !event.shiftKey && !event.altKey)
      this.onMenu(event.clientX, event.clientY, drag.hit?.solid ?? -1);
  }

  // The whole robot first, its part at the second click.
  private click(hit: Hit | null, isPart: boolean): void {
    if (!hit || hit.solid < 0) {
      this.select(-1);
      return;
    }
    const top = this.drawings.topOf(hit.solid);
    const wantsPart = isPart || (this.selected === top && hit.solid !== top);
    this.select(wantsPart ? hit.solid : top);
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const [x, y] = this.at(event), hit = this.pick(x, y);
    if (event.shiftKey && hit && hit.solid >= 0 && !this.isFrozen) {
      void this.lift(this.drawings.topOf(hit.solid), -Math.sign(event.deltaY || event.deltaX) * (this.drawings.meta.scales?.line ?? 0.1));
      return;
    }
    this.navigator.grab(hit?.point ?? null);
    this.navigator.zoom(-Math.sign(event.deltaY) * WHEEL_PART * Math.min(1, Math.abs(event.deltaY) / 40));
  }

  // From where it is seen, or from where the turns of the wheel that no answer came for have put it.
  private async lift(solid: number, step: number): Promise<void> {
    if (this.lifted?.solid !== solid)
      this.lifted = { solid, position: this.world.position(solid, new Vector3()), waiting: 0 };
    const { lifted } = this;
    this.grips++;
    lifted.waiting++;
    lifted.position.addScaledVector(this.view.up, step);
    const answer = this.send(this.moveTo(solid, lifted.position, this.world.rotation(solid, new Quaternion())));
    void this.send({ do: 'release' });
    await answer;
    if (--lifted.waiting === 0 && this.lifted === lifted)
      this.lifted = null;
  }

  // Once a display frame: the newest of what a drag wants.
  tick(): void {
    this.sendPulled();
    if (this.drag?.lastRequest && this.drag.deed) {
      void this.send(this.drag.lastRequest);
      this.drag.lastRequest = null;
    }
  }
}
