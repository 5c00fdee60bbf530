// drawings.ts - optional renderings over the picture: contacts with their forces, joint axes, centres of mass, frusta, frames, names,
// support polygon. All lines of a frame go into one draw call. What is on, and what the server is asked for, is a table.
import { Matrix4, Quaternion, Vector3 } from 'three';
import { DeviceDrawings } from './devices';
import type { Contact, readImmersions } from './frame';
import { LinePad, PointPad } from './lines';
import type { Outlines } from './outlines';
import { boundingSphere, buoyancyCenters, inertiaBoxes, islands, jointLimits, normals, skeletons } from './mechanics';
import { PluginDrawing } from './plugin';
import type { Meta } from './source';
import type { View } from './view';
import type { World } from './world';

export interface Rendering { id: string; words: string; help: string; key?: string; watch?: string[] }

// The menu of optional renderings; `watch` is what the source must be asked for while it is on.
export const RENDERINGS: Rendering[] = [
  { id: 'coordinates', words: 'Coordinate system', help: 'axes at the origin: x red, y green, z blue' },
  { id: 'grid', words: 'Ground grid', help: 'a metre a square' },
  { id: 'bounding', words: 'Bounding objects', help: 'white; pink with long dashes while colliding; blue dots while asleep', watch: ['states'] },
  { id: 'contacts', words: 'Contact points', help: 'a cross at each point, with its normal', watch: ['contacts'] },
  { id: 'forces', words: 'Contact forces', help: 'normal part green, friction part orange', watch: ['contacts'] },
  { id: 'joints', words: 'Joint axes', help: 'the axis of each joint, at its anchor' },
  { id: 'limits', words: 'Joint limits', help: 'the way that each joint has between its stops, and where it stands', watch: ['joints'] },
  { id: 'mass', words: 'Centres of mass', help: 'one mark a solid' },
  { id: 'buoyancy', words: 'Centres of buoyancy', help: 'purple: the middle of what is immersed of each solid', watch: ['buoyancy'] },
  { id: 'inertia', words: 'Inertia', help: 'a box of equal mass and inertia for each body' },
  { id: 'islands', words: 'Physics clusters', help: 'bodies that push each other have one colour; dim while asleep', watch: ['contacts', 'states'] },
  { id: 'support', words: 'Support polygon', help: 'of the selected robot; the projected centre of mass is green inside, red outside', watch: ['contacts'] },
  { id: 'frames', words: 'Frames of solids', help: 'the axes of every solid' },
  { id: 'names', words: 'Names of solids', help: 'beside each solid' },
  { id: 'cameras', words: 'Camera frusta', help: 'magenta; range finders yellow, radars blue, lidars cyan' },
  { id: 'distance', words: 'Distance sensor rays', help: 'red up to what is measured, green beyond; grey while it is off' },
  { id: 'lidar', words: 'Lidar rays', help: 'cyan; of lidars with few points' },
  { id: 'cloud', words: 'Lidar points', help: 'top layer blue, bottom layer red' },
  { id: 'lightrays', words: 'Light sensor rays', help: 'yellow, to each light' },
  { id: 'lights', words: 'Lights', help: 'where they stand and shine' },
  { id: 'connectors', words: 'Connector axes', help: 'x red where it docks, and the rotations that fit' },
  { id: 'pens', words: 'Pen rays', help: 'violet' },
  { id: 'skeleton', words: 'Skeletons of skins', help: 'bones that solids or programs move' },
  { id: 'normals', words: 'Normals', help: 'of the surfaces that are drawn' },
  { id: 'sphere', words: 'Bounding sphere', help: 'of the selected solid' },
  { id: 'sleep', words: 'Asleep solids', help: 'a blue mark over each', watch: ['states'] },
  { id: 'transparent', words: 'Transparent solids', help: 'to see inside' },
  { id: 'wireframe', words: 'Wireframe', help: 'edges of all triangles' },
  { id: 'shadows', words: 'Shadows', help: 'of the sun' },
  { id: 'labels', words: 'Labels', help: 'texts of supervisors' },
  { id: 'plugin', words: 'Drawings of the plugin', help: 'what the physics plugin draws', watch: ['drawing'] },
];

const FRUSTUM_COLORS: Record<string, number[]> = { Camera: [1, 0, 1], RangeFinder: [1, 0.9, 0] };
const X = [0.9, 0.2, 0.2], Y = [0.2, 0.75, 0.2], Z = [0.25, 0.45, 1];

export class Drawings {
  readonly on = new Set<string>(['shadows', 'labels', 'plugin']);
  contacts: Contact[] = [];
  immersions: ReturnType<typeof readImmersions> = [];
  states = new Uint8Array(0);
  joints = new Map<number, number>();
  meta: Meta = {};
  selected = -1;
  forceScale = 0;  // m a newton; 0 fits the largest into the view
  drag: { from: Vector3; to: Vector3; color: number[] } | null = null;
  private readonly top = new LinePad(true);
  private readonly deep = new LinePad(false);
  private readonly points = new PointPad();
  readonly devices = new DeviceDrawings();
  readonly plugin = new PluginDrawing();

  constructor(private readonly view: View, private readonly world: World, private readonly outlines: Outlines) {
    view.scene.add(this.top.object, this.deep.object, this.points.object, this.plugin.group, outlines.group);
    view.beforeDraw.push(() => this.draw());
  }

  set(id: string, on: boolean): void {
    if (on)
      this.on.add(id);
    else
      this.on.delete(id);
    this.outlines.isOn = this.on.has('bounding');
    if (id === 'wireframe')
      this.world.setWireframe(on);
    if (id === 'transparent')
      this.world.setTransparent(on);
    if (id === 'shadows')
      this.view.setShadows(on);
    this.view.dirty();
  }

  // After a new scene: what hangs on its materials.
  restore(): void {
    for (const id of ['wireframe', 'transparent'])
      if (this.on.has(id))
        this.set(id, true);
  }

  private draw(): void {
    this.outlines.update(this.states);
    this.top.begin();
    this.deep.begin();
    this.points.begin();
    this.mechanics();
    this.devices.draw({ on: this.on, meta: this.meta, world: this.world, top: this.top, deep: this.deep, points: this.points, unit: (part) => this.unit(part) });
    const parts: [string, () => void][] = [['grid', () => this.grid()], ['coordinates', () => this.axes(new Matrix4(), this.unit(0.2), this.top)],
      ['contacts', () => this.contactPoints()], ['forces', () => this.contactForces()], ['joints', () => this.jointAxes()], ['mass', () => this.masses()],
      ['buoyancy', () => buoyancyCenters(this.immersions).forEach((at) => this.cross(at, this.unit(0.012), [0.3, 0.02, 0.45]))],
      ['frames', () => this.frames()], ['cameras', () => this.frusta()], ['sleep', () => this.sleepers()], ['support', () => this.support()]];
    for (const [id, part] of parts)
      if (this.on.has(id))
        part();
    if (this.selected >= 0)
      this.selection();
    if (this.drag)
      this.arrow(this.drag.from, this.drag.to, this.drag.color);
    this.top.end();
    this.deep.end();
    this.points.end();
  }

  private mechanics(): void {
    const { on, meta, world, top, deep } = this;
    if (on.has('limits'))
      jointLimits(meta, world, this.joints, this.unit(0.05), top);
    if (on.has('inertia'))
      inertiaBoxes(meta, world, top);
    if (on.has('islands'))
      islands(meta, world, this.contacts, this.states, top);
    if (on.has('skeleton'))
      skeletons(meta, world, this.unit(0.008), top);
    if (on.has('normals'))
      normals(world, this.unit(0.015), deep);
    if (on.has('sphere') && this.selected >= 0)
      boundingSphere(world, this.selected, top);
  }

  // A length that looks alike however far the eye is.
  private unit(part: number): number {
    return (this.view.isParallel ? this.view.parallelHeight : this.view.focusDistance) * part;
  }

  private axes(pose: Matrix4, size: number, pad: LinePad): void {
    const origin = new Vector3().setFromMatrixPosition(pose);
    [X, Y, Z].forEach((color, i) =>
      pad.line(origin, new Vector3().setFromMatrixColumn(pose, i).multiplyScalar(size).add(origin), color));
  }

  private arrow(from: Vector3, to: Vector3, color: number[]): void {
    const along = to.clone().sub(from), length = along.length();
    if (length < 1e-9)
      return;
    along.divideScalar(length);
    this.top.line(from, to, color);
    const side = new Vector3().crossVectors(along, this.view.camera.position.clone().sub(to)).normalize();
    const head = Math.min(length * 0.25, this.unit(0.03));
    for (const sign of [-1, 1])
      this.top.line(to, to.clone().addScaledVector(along, -head).addScaledVector(side, sign * head * 0.5), color);
  }

  private cross(at: Vector3, size: number, color: number[], pad = this.top): void {
    for (const axis of [new Vector3(size, 0, 0), new Vector3(0, size, 0), new Vector3(0, 0, size)])
      pad.line(at.clone().sub(axis), at.clone().add(axis), color);
  }

  private grid(): void {
    const isZUp = this.view.up.z > 0, half = 20, color = [0.5, 0.52, 0.55];
    const point = (a: number, b: number): Vector3 => isZUp ? new Vector3(a, b, 0.001) : new Vector3(a, 0.001, b);
    for (let i = -half; i <= half; i++) {
      this.deep.line(point(i, -half), point(i, half), color);
      this.deep.line(point(-half, i), point(half, i), color);
    }
  }

  private contactPoints(): void {
    for (const contact of this.contacts) {
      const at = new Vector3(...contact.point);
      this.cross(at, this.unit(0.006), [1, 0.85, 0.1]);
      this.top.line(at, at.clone().addScaledVector(new Vector3(...contact.normal), this.pushes(contact) * this.unit(0.03)), [1, 0.85, 0.1]);
    }
  }

  private contactForces(): void {
    let largest = 0;
    for (const contact of this.contacts)
      largest = Math.max(largest, Math.hypot(...contact.force));
    const scale = this.forceScale || (largest > 0 ? this.unit(0.2) / largest : 0);
    for (const contact of this.contacts) {
      const at = new Vector3(...contact.point), force = new Vector3(...contact.force), normal = new Vector3(...contact.normal);
      force.multiplyScalar(this.pushes(contact));
      const pressing = normal.clone().multiplyScalar(force.dot(normal)), friction = force.clone().sub(pressing);
      this.arrow(at, at.clone().addScaledVector(pressing, scale), [0.2, 0.9, 0.35]);
      this.arrow(at, at.clone().addScaledVector(friction, scale), [1, 0.55, 0.1]);
    }
  }

  // Arrows point the way that the solid is pushed which can move.
  private pushes(contact: Contact): number {
    return !this.hasMass(contact.a) && this.hasMass(contact.b) ? -1 : 1;
  }

  private hasMass(solid: number): boolean {
    return solid >= 0 && (this.meta.solids?.[solid]?.mass ?? 0) > 0;
  }

  private jointAxes(): void {
    const pose = new Matrix4(), color = this.view.scene.userData.isDark ? [0.95, 0.95, 0.95] : [0.05, 0.05, 0.05];
    (this.meta.joints ?? []).forEach((joint) => {
      if (joint.solid === undefined || joint.solid < 0 || joint.solid >= this.world.solidCount || !joint.axis)
        return;
      this.world.pose(joint.solid, pose);
      const at = new Vector3(...(joint.anchor ?? [0, 0, 0])).applyMatrix4(pose);
      const axis = new Vector3(...joint.axis).transformDirection(pose), size = this.unit(0.05);
      this.top.line(at.clone().addScaledVector(axis, -size), at.clone().addScaledVector(axis, size), color);
    });
  }

  private masses(): void {
    const pose = new Matrix4();
    (this.meta.solids ?? []).forEach((solid, i) => {
      if (i < this.world.solidCount && this.world.isThere[i] && solid.com && (solid.mass ?? 1) > 0)
        this.cross(new Vector3(...solid.com).applyMatrix4(this.world.pose(i, pose)), this.unit(0.012), [0.15, 0.2, 0.75]);
    });
  }

  private frames(): void {
    const pose = new Matrix4();
    for (let i = 0; i < this.world.solidCount; i++)
      if (this.world.isThere[i])
        this.axes(this.world.pose(i, pose), this.unit(0.04), this.top);
  }

  private sleepers(): void {
    const at = new Vector3();
    for (let i = 0; i < this.world.solidCount; i++)
      if (this.states[i] & 2)
        this.cross(this.world.position(i, at), this.unit(0.008), [0.35, 0.55, 1]);
  }

  // Devices look along their x axis, whatever is up in the world.
  private frusta(): void {
    for (const camera of this.meta.cameras ?? []) {
      if (camera.solid === undefined || camera.solid < 0 || camera.solid >= this.world.solidCount)
        continue;
      const color = FRUSTUM_COLORS[camera.type ?? 'Camera'] ?? FRUSTUM_COLORS.Camera;
      const local = new Matrix4();
      if (camera.position || camera.orientation) {
        const [x, y, z, angle] = camera.orientation ?? [0, 0, 1, 0];
        local.makeRotationFromQuaternion(new Quaternion().setFromAxisAngle(new Vector3(x, y, z), angle)).setPosition(...(camera.position ?? [0, 0, 0]));
      }
      const place = this.world.pose(camera.solid, new Matrix4()).multiply(local);
      const far = Math.min(camera.far ?? Infinity, this.unit(0.12)), wide = far * Math.tan((camera.fov ?? 0.8) / 2), high = wide * (camera.height ?? 3) / (camera.width ?? 4);
      const corner = (u: number, v: number): Vector3 =>
        new Vector3(far, u * wide, v * high).applyMatrix4(place);
      const eye = new Vector3().setFromMatrixPosition(place), corners = [corner(1, 1), corner(-1, 1), corner(-1, -1), corner(1, -1)];
      corners.forEach((point, i) => {
        this.top.line(eye, point, color);
        this.top.line(point, corners[(i + 1) % 4], color);
      });
    }
  }

  topOf(solid: number): number {
    const solids = this.meta.solids ?? [];
    while (solids[solid] && (solids[solid].parent ?? -1) >= 0)
      solid = solids[solid].parent!;
    return solid;
  }

  // Hull of the contact points of the selected robot with others, on the ground plane at the lowest of them.
  private support(): void {
    if (this.selected < 0)
      return;
    const top = this.topOf(this.selected), isZUp = this.view.up.z > 0, height = isZUp ? 'z' : 'y', second = isZUp ? 'y' : 'z';
    const points = this.contacts.filter((contact) => (contact.a >= 0 && this.topOf(contact.a) === top) !== (contact.b >= 0 && this.topOf(contact.b) === top))
      .map((contact) => new Vector3(...contact.point));
    if (points.length === 0)
      return;
    const low = Math.min(...points.map((point) => point[height]));
    const hull = convexHull(points, second);
    for (const point of hull)
      point[height] = low;
    hull.forEach((point, i) => this.top.line(point, hull[(i + 1) % hull.length], [0.9, 0.9, 0.2]));
    const center = this.centerOfMass(top);
    if (!center)
      return;
    center[height] = low;
    const isInside = hull.length > 2 && hull.every((a, i) => {
      const b = hull[(i + 1) % hull.length];
      return (b.x - a.x) * (center[second] - a[second]) - (b[second] - a[second]) * (center.x - a.x) >= 0;
    });
    this.cross(center, this.unit(0.02), isInside ? [0.2, 0.9, 0.3] : [1, 0.2, 0.2]);
  }

  private centerOfMass(top: number): Vector3 | null {
    const sum = new Vector3(), pose = new Matrix4();
    let mass = 0;
    (this.meta.solids ?? []).forEach((solid, i) => {
      if (i >= this.world.solidCount || this.topOf(i) !== top || !(solid.mass! > 0))
        return;
      sum.addScaledVector(new Vector3(...(solid.com ?? [0, 0, 0])).applyMatrix4(this.world.pose(i, pose)), solid.mass!);
      mass += solid.mass!;
    });
    return mass > 0 ? sum.divideScalar(mass) : null;
  }

  // Corners of the box of the selected solid.
  private selection(): void {
    const box = this.world.localBox(this.selected);
    if (box.isEmpty() || !this.world.isThere[this.selected])
      return;
    const pose = this.world.pose(this.selected, new Matrix4()), size = box.getSize(new Vector3()), color = [0.16, 0.63, 1];
    for (let corner = 0; corner < 8; corner++) {
      const at = new Vector3(corner & 1 ? box.max.x : box.min.x, corner & 2 ? box.max.y : box.min.y, corner & 4 ? box.max.z : box.min.z);
      const along = [new Vector3(corner & 1 ? -size.x : size.x, 0, 0), new Vector3(0, corner & 2 ? -size.y : size.y, 0), new Vector3(0, 0, corner & 4 ? -size.z : size.z)];
      for (const edge of along)
        this.top.line(at.clone().applyMatrix4(pose), at.clone().addScaledVector(edge, 0.25).applyMatrix4(pose), color);
    }
  }
}

// Corners of the hull in order (the plane of x and `second`), left turns; Andrew's monotone chain.
export function convexHull(points: Vector3[], second: 'y' | 'z'): Vector3[] {
  const sorted = points.slice().sort((a, b) => a.x - b.x || a[second] - b[second]);
  const turn = (o: Vector3, a: Vector3, b: Vector3): number => (a.x - o.x) * (b[second] - o[second]) - (a[second] - o[second]) * (b.x - o.x);
  const chain = (list: Vector3[]): Vector3[] => {
    const out: Vector3[] = [];
    for (const point of list) {
      while (out.length >= 2 && turn(out[out.length - 2], out[out.length - 1], point) <= 0)
        out.pop();
      out.push(point);
    }
    return out.slice(0, -1);
  };
  return sorted.length < 3 ? sorted : [...chain(sorted), ...chain(sorted.slice().reverse())];
}
