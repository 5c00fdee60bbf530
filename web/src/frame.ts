// frame.ts - reads the binary frames that the server sends and recordings hold: poses of what moved, then tagged sections.
// The layout is that of src/record/frame.h; everything is little-endian and unaligned.

export interface Frame {
  isKey: boolean;
  revision: number;  // of the scene that the poses belong to
  step: number;
  time: number;      // s
  speed: number;     // simulated by real time; 0 in files
  count: number;
  ids: Uint32Array;       // of solids, `count` of them
  poses: Float32Array;    // 7 a solid: x y z, qx qy qz qw
  sections: Map<string, DataView>;
}

export interface Contact {
  a: number;  // solids; -1 for none
  b: number;
  point: [number, number, number];
  normal: [number, number, number];
  force: [number, number, number];  // N, on a
}

const HEAD = 52;
const KEY_POSE = 32;
const SMALL_POSE = 17;
const NO_SOLID = 65535;

export function tagOf(view: DataView, at: number): string {
  return String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3));
}

function int24(view: DataView, at: number): number {
  return (view.getUint16(at, true) | (view.getInt8(at + 2) << 16));
}

// Three of four components in 15 bits each; the largest, whose place the low two bits name, follows from the length 1.
export function unpackQuaternion(view: DataView, at: number, out: Float32Array, to: number): void {
  const low = view.getUint32(at, true), high = view.getUint16(at + 4, true);
  const largest = low & 3;
  const small = [(low >>> 2) & 0x7fff, (low >>> 17) & 0x7fff, high & 0x7fff];
  let sum = 0;
  for (let i = 0, k = 0; i < 4; i++) {
    if (i === largest)
      continue;
    const value = (small[k++] / 32767 * 2 - 1) * Math.SQRT1_2;
    out[to + i] = value;
    sum += value * value;
  }
  out[to + largest] = Math.sqrt(Math.max(0, 1 - sum));
}

function readKeyPoses(view: DataView, frame: Frame): void {
  for (let i = 0, at = HEAD; i < frame.count; i++, at += KEY_POSE) {
    frame.ids[i] = view.getUint32(at, true);
    for (let k = 0; k < 7; k++)
      frame.poses[7 * i + k] = view.getFloat32(at + 4 + 4 * k, true);
  }
}

function readSmallPoses(view: DataView, frame: Frame): void {
  const origin = [view.getFloat32(36, true), view.getFloat32(40, true), view.getFloat32(44, true)];
  const unit = view.getFloat32(48, true);
  for (let i = 0, at = HEAD; i < frame.count; i++, at += SMALL_POSE) {
    frame.ids[i] = view.getUint16(at, true);
    for (let k = 0; k < 3; k++)
      frame.poses[7 * i + k] = origin[k] + unit * int24(view, at + 2 + 3 * k);
    unpackQuaternion(view, at + 11, frame.poses, 7 * i + 3);
  }
}

// The frame in those bytes; an Error says what is wrong with them.
export function decodeFrame(bytes: Uint8Array): Frame {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < HEAD || tagOf(view, 0) !== 'TFRM')
    throw new Error('not a frame');
  if (view.getUint8(4) !== 1)
    throw new Error(`frame of version ${view.getUint8(4)}, this page reads 1`);
  const isKey = (view.getUint8(5) & 1) !== 0;
  const count = view.getUint32(32, true);
  let at = HEAD + count * (isKey ? KEY_POSE : SMALL_POSE);
  if (at > bytes.byteLength)
    throw new Error('frame is cut');
  const frame: Frame = { isKey, revision: view.getUint32(8, true), step: Number(view.getBigUint64(12, true)), time: view.getFloat64(20, true),
    speed: view.getFloat32(28, true), count, ids: new Uint32Array(count), poses: new Float32Array(7 * count), sections: new Map() };
  (isKey ? readKeyPoses : readSmallPoses)(view, frame);
  for (let left = view.getUint16(6, true); left > 0; left--) {
    if (at + 8 > bytes.byteLength)
      throw new Error('frame is cut');
    const size = view.getUint32(at + 4, true);
    if (at + 8 + size > bytes.byteLength)
      throw new Error('frame is cut');
    frame.sections.set(tagOf(view, at), new DataView(bytes.buffer, bytes.byteOffset + at + 8, size));
    at += 8 + size;
  }
  return frame;
}

// The payload of the first section of that tag, without reading the poses; null where there is none.
export function findSection(bytes: Uint8Array, tag: string): DataView | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < HEAD)
    return null;
  let at = HEAD + view.getUint32(32, true) * (view.getUint8(5) & 1 ? KEY_POSE : SMALL_POSE);
  for (let left = view.getUint16(6, true); left > 0 && at + 8 <= bytes.byteLength; left--) {
    const size = view.getUint32(at + 4, true);
    if (tagOf(view, at) === tag && at + 8 + size <= bytes.byteLength)
      return new DataView(bytes.buffer, bytes.byteOffset + at + 8, size);
    at += 8 + size;
  }
  return null;
}

export function readContacts(view: DataView): Contact[] {
  const contacts: Contact[] = [];
  for (let at = 0; at + 40 <= view.byteLength; at += 40) {
    const vector = (from: number): [number, number, number] =>
      [view.getFloat32(from, true), view.getFloat32(from + 4, true), view.getFloat32(from + 8, true)];
    const solid = (from: number): number => { const id = view.getUint16(from, true); return id === NO_SOLID ? -1 : id; };
    contacts.push({ a: solid(at), b: solid(at + 2), point: vector(at + 4), normal: vector(at + 16), force: vector(at + 28) });
  }
  return contacts;
}

export function readStates(view: DataView, states: Uint8Array): void {
  for (let at = 0; at + 3 <= view.byteLength; at += 3) {
    const id = view.getUint16(at, true);
    if (id < states.length)
      states[id] = view.getUint8(at + 2);
  }
}

export function readJoints(view: DataView, positions: Map<number, number>): void {
  const first = view.getUint16(0, true), count = view.getUint16(2, true);
  for (let i = 0; i < count && 8 + 4 * i <= view.byteLength; i++)
    positions.set(first + i, view.getFloat32(4 + 4 * i, true));
}

// What of solids is immersed in fluids: solid, centre of that part, kg of fluid in its place.
export function readImmersions(view: DataView): [number, [number, number, number], number][] {
  const found: [number, [number, number, number], number][] = [];
  for (let at = 0; at + 18 <= view.byteLength; at += 18)
    found.push([view.getUint16(at, true), [view.getFloat32(at + 2, true), view.getFloat32(at + 6, true), view.getFloat32(at + 10, true)], view.getFloat32(at + 14, true)]);
  return found;
}

// What LEDs light up: the node that says how it glows, and its linear light.
export function readGlows(view: DataView): [number, [number, number, number]][] {
  const glows: [number, [number, number, number]][] = [];
  for (let at = 0; at + 16 <= view.byteLength; at += 16)
    glows.push([view.getUint32(at, true), [view.getFloat32(at + 4, true), view.getFloat32(at + 8, true), view.getFloat32(at + 12, true)]]);
  return glows;
}

export interface Bones { node: number; poses: Float32Array }  // 7 a bone; none: as the file has them

// Bones of Skins that programs move, in the frames of their meshes.
export function readBones(view: DataView): Bones[] {
  const found: Bones[] = [];
  for (let at = 0; at + 8 <= view.byteLength;) {
    const count = view.getUint32(at + 4, true);
    if (at + 8 + 28 * count > view.byteLength)
      break;
    const poses = new Float32Array(7 * count);
    for (let i = 0; i < 7 * count; i++)
      poses[i] = view.getFloat32(at + 8 + 4 * i, true);
    found.push({ node: view.getUint32(at, true), poses });
    at += 8 + 28 * count;
  }
  return found;
}

export interface Screen { node: number; width: number; height: number; rgb: Uint8Array }

// Pictures of displays, row by row from the top; without pixels while nothing was drawn.
export function readScreens(view: DataView): Screen[] {
  const screens: Screen[] = [];
  for (let at = 0; at + 8 <= view.byteLength;) {
    const width = view.getUint16(at + 4, true), height = view.getUint16(at + 6, true), size = 3 * width * height;
    if (at + 8 + size > view.byteLength)
      break;
    screens.push({ node: view.getUint32(at, true), width, height, rgb: new Uint8Array(view.buffer, view.byteOffset + at + 8, size) });
    at += 8 + size;
  }
  return screens;
}

export function readJson(view: DataView): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(view));
  } catch {
    return null;
  }
}
