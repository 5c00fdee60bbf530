// mechanics.ts - drawings of what physics computes with: stops of joints, inertia, clusters of bodies that push each other; and of surfaces.
import { Box3, Matrix4, Quaternion, Sphere, Vector3 } from 'three';
import type { Contact } from './frame';
import type { LinePad } from './lines';
import type { Meta, SolidMeta } from './source';
import type { World } from './world';

const WAY = [1, 0.6, 0.1], HERE = [0.1, 0.9, 0.9], INERTIA = [0.85, 0.3, 0.85], BONE = [0.95, 0.9, 0.55];

function edges(box: Box3, place: Matrix4, color: number[], pad: LinePad): void {
  const corner = (i: number): Vector3 => new Vector3(i & 1 ? box.max.x : box.min.x, i & 2 ? box.max.y : box.min.y, i & 4 ? box.max.z : box.min.z).applyMatrix4(place);
  for (let i = 0; i < 8; i++)
    for (const bit of [1, 2, 4])
      if (!(i & bit))
        pad.line(corner(i), corner(i | bit), color);
}

// Arcs of hinges and ways of sliders between their stops. Axis and anchor stand still in the frame of the end point, so the stops turn.
export function jointLimits(meta: Meta, world: World, positions: Map<number, number>, size: number, pad: LinePad): void {
  let at = 0;
  for (const joint of meta.joints ?? []) {
    const position = positions.get(at);
    at += joint.axes ?? 1;
    if (joint.solid === undefined || joint.solid < 0 || joint.solid >= world.solidCount || !joint.axis || joint.min === undefined || joint.max === undefined || position === undefined)
      continue;
    const pose = world.pose(joint.solid, new Matrix4()), axis = new Vector3(...joint.axis), anchor = new Vector3(...(joint.anchor ?? [0, 0, 0]));
    const low = joint.min - position, high = joint.max - position;
    if (joint.type === 'slider') {
      pad.line(anchor.clone().addScaledVector(axis, low).applyMatrix4(pose), anchor.clone().addScaledVector(axis, high).applyMatrix4(pose), WAY);
      continue;
    }
    const side = new Vector3(Math.abs(axis.x) < 0.9 ? 1 : 0, Math.abs(axis.x) < 0.9 ? 0 : 1, 0).cross(axis).normalize().multiplyScalar(size);
    const rim = (angle: number): Vector3 => side.clone().applyAxisAngle(axis, angle).add(anchor).applyMatrix4(pose);
    const center = anchor.clone().applyMatrix4(pose), count = Math.min(48, Math.max(4, Math.ceil((high - low) / 0.15)));
    for (let i = 0; i < count; i++)
      pad.line(rim(low + (high - low) * i / count), rim(low + (high - low) * (i + 1) / count), WAY);
    for (const [angle, color] of [[low, WAY], [high, WAY], [0, HERE]] as const)
      pad.line(center, rim(angle), color);
  }
}

// Axes and moments of a symmetric matrix xx, yy, zz, xy, xz, yz by Jacobi's rotations.
export function principal(m: number[]): { moments: number[]; axes: Vector3[] } {
  const a = [[m[0], m[3], m[4]], [m[3], m[1], m[5]], [m[4], m[5], m[2]]], v = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  for (let sweep = 0; sweep < 12; sweep++)
    for (const [p, q] of [[0, 1], [0, 2], [1, 2]]) {
      if (Math.abs(a[p][q]) < 1e-15 * (Math.abs(a[p][p]) + Math.abs(a[q][q])))
        continue;
      const angle = 0.5 * Math.atan2(2 * a[p][q], a[q][q] - a[p][p]), c = Math.cos(angle), s = Math.sin(angle);
      for (let k = 0; k < 3; k++)
        [a[k][p], a[k][q]] = [c * a[k][p] - s * a[k][q], s * a[k][p] + c * a[k][q]];
      for (let k = 0; k < 3; k++)
        [a[p][k], a[q][k]] = [c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]];
      for (let k = 0; k < 3; k++)
        [v[k][p], v[k][q]] = [c * v[k][p] - s * v[k][q], s * v[k][p] + c * v[k][q]];
    }
  return { moments: [a[0][0], a[1][1], a[2][2]], axes: [0, 1, 2].map((i) => new Vector3(v[0][i], v[1][i], v[2][i])) };
}

export function inertiaBoxes(meta: Meta, world: World, pad: LinePad): void {
  (meta.solids ?? []).forEach((solid, i) => {
    if (!solid.inertia || i >= world.solidCount || !world.isThere[i])
      return;
    const [mass, x, y, z, ...tensor] = solid.inertia, { moments: [a, b, c], axes } = principal(tensor);
    const half = [b + c - a, a + c - b, a + b - c].map((sum) => 0.5 * Math.sqrt(Math.max(0, 6 * sum / mass)));
    if (axes[0].clone().cross(axes[1]).dot(axes[2]) < 0)
      axes[2].negate();
    const place = new Matrix4().makeBasis(axes[0], axes[1], axes[2]).setPosition(x, y, z).premultiply(world.pose(i, new Matrix4()));
    edges(new Box3(new Vector3(-half[0], -half[1], -half[2]), new Vector3(half[0], half[1], half[2])), place, INERTIA, pad);
  });
}

// The solid that leads the body of this one; -1: it has none.
function leader(solids: SolidMeta[], solid: number): number {
  for (; solid >= 0 && solids[solid]; solid = solids[solid].parent ?? -1) {
    if (solids[solid].inertia)
      return solid;
    if (!(solids[solid].mass! > 0))
      return -1;
  }
  return -1;
}

// Which bodies hang together by contacts and joints: the number of its cluster for each solid that leads a body, else -1.
export function clusters(meta: Meta, contacts: Contact[]): number[] {
  const solids = meta.solids ?? [], above = solids.map((_, i) => i);
  const top = (i: number): number => { while (above[i] !== i) i = above[i] = above[above[i]]; return i; };
  const join = (a: number, b: number): void => {
    const [first, second] = [leader(solids, a), leader(solids, b)];
    if (first >= 0 && second >= 0)
      above[top(Math.max(first, second))] = top(Math.min(first, second));
  };
  contacts.forEach((contact) => join(contact.a, contact.b));
  (meta.joints ?? []).forEach((joint) => join(joint.solid ?? -1, joint.parent ?? -1));
  return solids.map((solid, i) => solid.inertia ? top(i) : -1);
}

export function islands(meta: Meta, world: World, contacts: Contact[], states: Uint8Array, pad: LinePad): void {
  clusters(meta, contacts).forEach((cluster, i) => {
    if (cluster < 0 || i >= world.solidCount || !world.isThere[i])
      return;
    const hue = cluster * 0.618034 % 1, bright = states[i] & 2 ? 0.45 : 1;
    const color = [0, 1 / 3, 2 / 3].map((shift) => bright * Math.min(1, Math.max(0.1, Math.abs((hue + shift) % 1 * 6 - 3) - 1)));
    const box = world.localBox(i);
    if (!box.isEmpty())
      edges(box, world.pose(i, new Matrix4()), color, pad);
  });
}

export function normals(world: World, size: number, pad: LinePad): void {
  const to = new Vector3();
  world.eachNormal((at, normal) => pad.line(at, to.copy(at).addScaledVector(normal, size), HERE));
}

export function boundingSphere(world: World, solid: number, pad: LinePad): void {
  const box = world.localBox(solid);
  if (box.isEmpty())
    return;
  const ball = box.getBoundingSphere(new Sphere()), pose = world.pose(solid, new Matrix4());
  for (const turn of [new Quaternion(), new Quaternion().setFromAxisAngle(new Vector3(1, 0, 0), Math.PI / 2), new Quaternion().setFromAxisAngle(new Vector3(0, 1, 0), Math.PI / 2)]) {
    const rim = (i: number): Vector3 => new Vector3(Math.cos(i * Math.PI / 24), Math.sin(i * Math.PI / 24), 0).multiplyScalar(ball.radius).applyQuaternion(turn).add(ball.center).applyMatrix4(pose);
    for (let i = 0; i < 48; i++)
      pad.line(rim(i), rim(i + 1), [0.9, 0.9, 0.9]);
  }
}

// One centre for each solid: the middle of the fluid that its parts are in the place of.
export function buoyancyCenters(immersions: [number, [number, number, number], number][]): Vector3[] {
  const sums = new Map<number, { sum: Vector3; mass: number }>();
  for (const [solid, center, mass] of immersions) {
    const one = sums.get(solid) ?? { sum: new Vector3(), mass: 0 };
    one.sum.addScaledVector(new Vector3(...center), mass);
    one.mass += mass;
    sums.set(solid, one);
  }
  return [...sums.values()].filter((one) => one.mass > 0).map(({ sum, mass }) => sum.divideScalar(mass));
}

// Bones of skins: a line from each to the nearest one above it, and a cross where it begins.
export function skeletons(meta: Meta, world: World, size: number, pad: LinePad): void {
  const cross = (at: Vector3): void => {
    for (const axis of [new Vector3(size, 0, 0), new Vector3(0, size, 0), new Vector3(0, 0, size)])
      pad.line(at.clone().sub(axis), at.clone().add(axis), BONE);
  };
  world.skins.eachBone((from, to) => {
    cross(to);
    if (from)
      pad.line(from, to, BONE);
  });
  for (const { bones } of meta.devices ?? []) {
    const known = new Set((bones ?? []).filter((bone) => bone >= 0 && bone < world.solidCount && world.isThere[bone]));
    for (const bone of known) {
      const at = world.position(bone, new Vector3());
      cross(at);
      let above = meta.solids?.[bone]?.parent ?? -1;
      while (above >= 0 && !known.has(above))
        above = meta.solids?.[above]?.parent ?? -1;
      if (above >= 0)
        pad.line(world.position(above, new Vector3()), at, BONE);
    }
  }
}
