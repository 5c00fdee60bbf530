// navigate.ts - moving the eye: the gestures of Webots, Blender and CAD programs and those of one who walks as rows of a table, touch, fit,
// axis views, and following a solid in Webots' three ways and from behind.
import { Box3, MathUtils, Quaternion, Vector3 } from 'three';
import type { ViewpointMeta } from './source';
import type { View } from './view';
import type { World } from './world';

export type Act = 'orbit' | 'look' | 'pan' | 'zoom';
export type Style = 'webots' | 'blender' | 'cad' | 'walk';
export type Follow = 'none' | 'tracking' | 'mounted' | 'pan-tilt' | 'behind';

interface Gesture { button: number; shift?: boolean; ctrl?: boolean; alt?: boolean; act: Act }

// Buttons: 0 left, 1 middle, 2 right. Shift and Alt with the left and right button belong to handling where a solid is under them.
export const STYLES: Record<Style, { words: string; gestures: Gesture[] }> = {
  webots: { words: 'Webots', gestures: [{ button: 0, act: 'orbit' }, { button: 2, act: 'pan' }, { button: 1, act: 'zoom' }] },
  blender: { words: 'Blender', gestures: [{ button: 1, act: 'orbit' }, { button: 1, shift: true, act: 'pan' }, { button: 1, ctrl: true, act: 'zoom' },
                                          { button: 0, alt: true, act: 'orbit' }, { button: 0, act: 'orbit' }, { button: 2, act: 'pan' }] },
  cad: { words: 'CAD', gestures: [{ button: 2, act: 'orbit' }, { button: 1, act: 'pan' }, { button: 1, shift: true, act: 'orbit' },
                                  { button: 0, act: 'orbit' }, { button: 0, ctrl: true, act: 'pan' }] },
  walk: { words: 'First person', gestures: [{ button: 0, act: 'look' }, { button: 2, act: 'pan' }, { button: 1, act: 'zoom' }] },
};

// Keys of one who walks, as they lie on the keyboard: right, up, ahead.
export const STEPS: Record<string, [number, number, number]> = { KeyW: [0, 0, 1], KeyS: [0, 0, -1], KeyA: [-1, 0, 0], KeyD: [1, 0, 0], KeyE: [0, 1, 0], KeyQ: [0, -1, 0],
  ArrowUp: [0, 0, 1], ArrowDown: [0, 0, -1], ArrowLeft: [-1, 0, 0], ArrowRight: [1, 0, 0] };

export const FOLLOWS: Record<Follow, string> = { 'none': 'Do not follow', 'tracking': 'Tracking shot', 'mounted': 'Mounted shot', 'pan-tilt': 'Pan and tilt shot', 'behind': 'From behind, level' };

const ORBIT = 0.01;       // rad a pixel
const BACKGROUND = -1 / 8;  // of it, about the eye, where nothing is under the pointer
const TWEEN_MS = 260;
const WALK_SPEED = 0.6, RUN = 4;  // parts of the distance to what is looked at, a second; times as fast with Shift

interface Pose { position: Vector3; rotation: Quaternion }

// What of a turn is about the axis.
function twistAbout(turn: Quaternion, axis: Vector3): void {
  const along = turn.x * axis.x + turn.y * axis.y + turn.z * axis.z;
  turn.set(axis.x * along, axis.y * along, axis.z * along, turn.w);
  if (turn.lengthSq() < 1e-12)
    turn.identity();
  turn.normalize();
}

export class Navigator {
  style: Style = 'webots';
  followMode: Follow = 'none';
  followed = -1;
  smoothness = 0.5;
  hasMotion = true;  // false where less motion is wanted
  readonly pivot = new Vector3();
  private start: Pose & { fov: number } | null = null;  // as the world says
  private tween: { from: Pose; to: Pose; began: number } | null = null;
  private followPose: Pose | null = null;  // of the solid, at the frame before
  private readonly lag = new Vector3();      // how far the eye is behind its place
  private readonly lagSpeed = new Vector3();
  private followTime = 0;

  constructor(private readonly view: View, private readonly world: World) {}

  actOf(event: { button: number; shiftKey: boolean; ctrlKey: boolean; altKey: boolean }): Act | null {
    const match = STYLES[this.style].gestures.find((gesture) => gesture.button === event.button && (gesture.shift ?? false) === event.shiftKey &&
      (gesture.ctrl ?? false) === event.ctrlKey && (gesture.alt ?? false) === event.altKey);
    return match?.act ?? null;
  }

  private get eye(): Pose {
    return { position: this.view.camera.position, rotation: this.view.camera.quaternion };
  }

  axis(x: number, y: number, z: number): Vector3 {
    return new Vector3(x, y, z).applyQuaternion(this.view.camera.quaternion);
  }

  // What the pointer grabs: the point under it, or null for the sky.
  grab(point: Vector3 | null): void {
    this.tween = null;
    if (!point)
      return;
    this.pivot.copy(point);
    this.view.focusDistance = Math.max(this.view.camera.position.distanceTo(point), 0.001);
  }

  // Turns the head: the eye stays where it is.
  look(dx: number, dy: number): void {
    this.turn(dx, dy, -0.5, this.view.camera.position.clone());
    this.pivot.copy(this.view.camera.position).add(this.axis(0, 0, -this.view.focusDistance));
  }

  orbit(dx: number, dy: number, isBackground: boolean): void {
    const factor = isBackground && this.style === 'webots' ? BACKGROUND : 1;
    this.turn(dx, dy, factor, factor < 0 ? this.view.camera.position.clone() : this.pivot);
  }

  private turn(dx: number, dy: number, factor: number, center: Vector3): void {
    const { position, rotation } = this.eye;
    const turn = new Quaternion().setFromAxisAngle(this.view.up, -ORBIT * factor * dx);
    let pitch = -ORBIT * factor * dy;
    const height = Math.asin(MathUtils.clamp(this.axis(0, 0, -1).dot(this.view.up), -1, 1));
    pitch = MathUtils.clamp(height + pitch, -1.5533, 1.5533) - height;  // 89 degrees: the horizon stays level
    turn.multiply(new Quaternion().setFromAxisAngle(this.axis(1, 0, 0), pitch));
    position.sub(center).applyQuaternion(turn).add(center);
    rotation.premultiply(turn).normalize();
    this.view.dirty();
  }

  private get metresPerPixel(): number {
    if (this.view.isParallel)
      return this.view.parallelHeight / this.view.height;
    return this.view.focusDistance * 2 * Math.tan(this.view.perspective.fov * Math.PI / 360) / this.view.height;
  }

  pan(dx: number, dy: number): void {
    const by = this.axis(-1, 0, 0).multiplyScalar(dx * this.metresPerPixel).add(this.axis(0, 1, 0).multiplyScalar(dy * this.metresPerPixel));
    this.view.camera.position.add(by);
    this.pivot.add(by);
    this.view.dirty();
  }

  // Towards the pivot by that part of the distance to it.
  zoom(part: number): void {
    this.tween = null;
    if (this.view.isParallel) {
      this.view.parallelHeight = Math.max(this.view.parallelHeight * (1 - part), 1e-3);
    } else {
      const towards = this.pivot.clone().sub(this.view.camera.position);
      if (towards.dot(this.axis(0, 0, -1)) <= 0)  // behind the eye: straight on
        towards.copy(this.axis(0, 0, -1)).multiplyScalar(this.view.focusDistance);
      this.view.camera.position.addScaledVector(towards, part);
      this.view.focusDistance = Math.max(this.view.focusDistance * (1 - part), 1e-3);
    }
    this.view.dirty();
  }

  roll(angle: number): void {
    this.view.camera.quaternion.multiply(new Quaternion().setFromAxisAngle(new Vector3(0, 0, 1), angle));
    this.view.dirty();
  }

  // Keys that are down in the style of one who walks, by their codes.
  readonly steps = new Set<string>();
  isRunning = false;
  private walkedAt = 0;

  // Ahead is where one looks, but level: who looks at the floor does not sink into it.
  private walk(now: number): void {
    const seconds = Math.min((now - this.walkedAt) / 1000, 0.1);
    this.walkedAt = now;
    if (this.steps.size === 0 || this.style !== 'walk')
      return;
    const way = new Vector3(), ahead = this.axis(0, 0, -1).projectOnPlane(this.view.up), aside = this.axis(1, 0, 0);
    if (ahead.lengthSq() < 1e-6)
      ahead.copy(this.axis(0, 1, 0));
    ahead.normalize();
    for (const key of this.steps) {
      const [right, up, forward] = STEPS[key] ?? [0, 0, 0];
      way.addScaledVector(aside, right).addScaledVector(this.view.up, up).addScaledVector(ahead, forward);
    }
    way.multiplyScalar(WALK_SPEED * (this.isRunning ? RUN : 1) * Math.max(this.view.focusDistance, 0.5) * seconds);
    this.tween = null;
    this.view.camera.position.add(way);
    this.pivot.add(way);
    this.view.dirty();
  }

  go(position: Vector3, rotation: Quaternion, isSudden = false): void {
    if (isSudden || !this.hasMotion) {
      this.view.camera.position.copy(position);
      this.view.camera.quaternion.copy(rotation).normalize();
      this.tween = null;
    } else {
      this.tween = { from: { position: this.view.camera.position.clone(), rotation: this.view.camera.quaternion.clone() },
        to: { position: position.clone(), rotation: rotation.clone().normalize() }, began: performance.now() };
    }
    this.view.dirty();
  }

  lookingAt(from: Vector3, to: Vector3): Quaternion {
    const back = from.clone().sub(to).normalize();
    let right = new Vector3().crossVectors(this.view.up, back);
    if (right.lengthSq() < 1e-9)
      right = this.view.up.z ? new Vector3(0, -1, 0) : new Vector3(1, 0, 0);
    right.normalize();
    const up = new Vector3().crossVectors(back, right);
    return new Quaternion().setFromRotationMatrix(this.basis(right, up, back));
  }

  private basis(x: Vector3, y: Vector3, z: Vector3) {
    return this.view.camera.matrix.clone().makeBasis(x, y, z);
  }

  // Brings the box into view, seen from a direction (from the box towards the eye) or as one looks now.
  fit(box: Box3, direction: Vector3 | null = null, isSudden = false): void {
    if (box.isEmpty())
      return;
    const center = box.getCenter(new Vector3()), radius = Math.max(box.getSize(new Vector3()).length() / 2, 0.01);
    const tangent = Math.tan(this.view.perspective.fov * Math.PI / 360) * Math.min(1, this.view.width / this.view.height);
    const distance = radius / Math.sin(Math.atan(tangent)) * 1.05;
    const back = (direction ?? this.axis(0, 0, 1)).clone().normalize();
    const eye = center.clone().addScaledVector(back, distance);
    this.pivot.copy(center);
    this.view.focusDistance = distance;
    this.view.parallelHeight = 2.1 * radius;
    this.go(eye, direction ? this.lookingAt(eye, center) : this.view.camera.quaternion.clone(), isSudden);
  }

  // The viewpoint of the world. Its eye looks along its x axis with z up, also in worlds whose axes are those of old ones: the reader turns
  // what their files say. Ours looks along -z with y up.
  viewpoint(viewpoint: ViewpointMeta, isSudden: boolean): void {
    const [x, y, z, angle] = viewpoint.orientation ?? [0, 0, 1, 0];
    const turn = new Quaternion().setFromAxisAngle(new Vector3(x, y, z).normalize(), angle);
    turn.multiply(new Quaternion(0.5, -0.5, -0.5, 0.5));
    const position = new Vector3(...(viewpoint.position ?? [0, 0, 1]));
    this.view.perspective.fov = this.verticalAngle(viewpoint.fov ?? Math.PI / 4);
    const ahead = new Vector3(0, 0, -1).applyQuaternion(turn);
    const bounds = this.world.bounds();
    const center = bounds.isEmpty() ? new Vector3() : bounds.getCenter(new Vector3());
    this.view.focusDistance = Math.max(center.sub(position).dot(ahead), 0.3);
    this.view.parallelHeight = 2 * this.view.focusDistance * Math.tan(this.view.perspective.fov * Math.PI / 360);
    this.pivot.copy(position).addScaledVector(ahead, this.view.focusDistance);
    this.go(position, turn, isSudden);
    this.start ??= { position, rotation: turn, fov: this.view.perspective.fov };
  }

  // A Webots field of view is that of the larger side of the picture.
  private verticalAngle(fov: number): number {
    const aspect = this.view.width / this.view.height;
    return MathUtils.radToDeg(aspect > 1 ? 2 * Math.atan(Math.tan(fov / 2) / aspect) : fov);
  }

  home(): void {
    if (!this.start)
      this.fit(this.world.bounds(), this.defaultDirection());
    else
      this.go(this.start.position, this.start.rotation);
  }

  defaultDirection(): Vector3 {
    return this.view.up.z ? new Vector3(1, -1.2, 0.75) : new Vector3(1, 0.75, 1.2);
  }

  // Axis views in the words of Webots: east looks from +x and so on.
  axisView(name: string): void {
    const z = this.view.up.z > 0;
    const table: Record<string, Vector3> = { east: new Vector3(1, 0, 0), west: new Vector3(-1, 0, 0), north: z ? new Vector3(0, 1, 0) : new Vector3(0, 0, -1),
      south: z ? new Vector3(0, -1, 0) : new Vector3(0, 0, 1), top: this.view.up.clone(), bottom: this.view.up.clone().negate(), corner: this.defaultDirection() };
    const distance = this.view.focusDistance, eye = this.pivot.clone().addScaledVector(table[name].normalize(), distance);
    this.go(eye, this.lookingAt(eye, this.pivot));
  }

  follow(mode: Follow, solid: number): void {
    this.followMode = solid < 0 ? 'none' : mode;
    this.followed = solid;
    this.followPose = null;
    this.lag.set(0, 0, 0);
    this.lagSpeed.set(0, 0, 0);
  }

  // Called after poses changed, with the time of the simulation.
  followStep(time: number): void {
    if (this.followMode === 'none' || this.followed < 0 || this.followed >= this.world.solidCount)
      return;
    const pose: Pose = { position: this.world.position(this.followed, new Vector3()), rotation: this.world.rotation(this.followed, new Quaternion()) };
    const last = this.followPose;
    const dt = time - this.followTime;
    this.followPose = pose;
    this.followTime = time;
    if (!last)
      return;
    const eye = this.view.camera;
    if (this.followMode === 'tracking') {
      const by = this.smoothed(pose.position.clone().sub(last.position), dt);
      eye.position.add(by);
      this.pivot.add(by);
      this.shiftTween(by);
    } else if (this.followMode === 'mounted' || this.followMode === 'behind') {
      const turn = pose.rotation.clone().multiply(last.rotation.clone().invert());
      if (this.followMode === 'behind')  // its heading alone: the horizon stays level
        twistAbout(turn, this.view.up);
      for (const point of [eye.position, this.pivot])
        point.sub(last.position).applyQuaternion(turn).add(pose.position);
      eye.quaternion.premultiply(turn).normalize();
    } else {
      this.pivot.copy(pose.position);
      eye.quaternion.copy(this.lookingAt(eye.position, pose.position));
    }
    this.view.dirty();
  }

  private shiftTween(by: Vector3): void {
    this.tween?.from.position.add(by);
    this.tween?.to.position.add(by);
  }

  // A mass on a spring lags behind the solid; below a smoothness of 0.05, at jumps and where less motion is wanted, it is rigid.
  private smoothed(moved: Vector3, dt: number): Vector3 {
    this.lag.add(moved);
    const mass = this.smoothness;
    if (mass < 0.05 || dt <= 0 || dt > 0.5 || !this.hasMotion) {
      this.lagSpeed.set(0, 0, 0);
      return this.takeLag(this.lag.clone());
    }
    const speed = moved.clone().divideScalar(dt);
    this.lagSpeed.addScaledVector(this.lag, dt / mass);
    const direction = this.lagSpeed.clone().normalize(), along = speed.dot(direction), excess = this.lagSpeed.length() - Math.max(along, 0);
    if (excess > 0)
      this.lagSpeed.addScaledVector(direction, -excess * Math.min(0.05 / mass, 1));
    return this.takeLag(this.lagSpeed.clone().multiplyScalar(dt));
  }

  private takeLag(by: Vector3): Vector3 {
    this.lag.sub(by);
    return by;
  }

  // Once a display frame: the camera's own motion.
  tick(now: number): void {
    this.walk(now);
    if (!this.tween)
      return;
    const part = MathUtils.clamp((now - this.tween.began) / TWEEN_MS, 0, 1), eased = part * part * (3 - 2 * part);
    this.view.camera.position.lerpVectors(this.tween.from.position, this.tween.to.position, eased);
    this.view.camera.quaternion.slerpQuaternions(this.tween.from.rotation, this.tween.to.rotation, eased);
    if (part >= 1)
      this.tween = null;
    this.view.dirty();
  }

  // The eye as text for a link, and back.
  toText(): string {
    const { position, rotation } = this.eye;
    return [...position.toArray(), ...rotation.toArray()].map((x) => Number(x.toFixed(4))).join(',');
  }

  fromText(text: string): boolean {
    const numbers = text.split(',').map(Number);
    if (numbers.length !== 7 || numbers.some((x) => !Number.isFinite(x)))
      return false;
    const [x, y, z, ...q] = numbers;
    this.go(new Vector3(x, y, z), new Quaternion(...q), true);
    this.pivot.copy(this.view.camera.position).add(this.axis(0, 0, -this.view.focusDistance));
    return true;
  }
}
