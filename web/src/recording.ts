// recording.ts - reads a .talus file: blocks of frames, scenes, clips and facts, each compressed by itself. A file that was cut is
// read up to its first damaged block. The layout is that of src/record/.
import { decodeFrame, findSection, tagOf, type Frame } from './frame';
import type { Meta } from './source';

const FILE_HEAD = 16, BLOCK_HEAD = 40;
const KEPT_BLOCKS = 12;  // of frames, unpacked at a time

const POSE_BYTES = 17, FRAME_HEAD = 52, FRAME_KEY = 1;

export interface Block { type: string; at: number; stored: number; raw: number; crc: number; filter: number; first: number; last: number }

const crcTable = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++)
    n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes)
    crc = crcTable[(crc ^ byte) & 255] ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// The frames of a block whose poses stand apart, as src/record/pose_filter.h has them. History of a solid: how many were told, the largest
// part of the last turn, then of the last two place and turn, three numbers each.
function unfilterPoses(bytes: Uint8Array): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), rest = view.getUint32(0, true);
  const total = (bytes.byteLength - 4 - rest) / POSE_BYTES, columns = 4 + rest, out = new Uint8Array(bytes.byteLength - 4);
  const histories = new Map<number, Int32Array>(), now = new Int32Array(6);
  let n = 0, to = 0;
  const column = (k: number) => bytes[columns + k * total + n];
  const putPose = () => {
    const solid = column(0) | column(1) << 8;
    let told = histories.get(solid);
    if (!told)
      histories.set(solid, told = new Int32Array(14));
    for (let c = 0; c < 6; c++) {
      const isPlace = c < 3, k = isPlace ? 2 + 3 * c : 11 + 2 * (c - 3), mask = isPlace ? 0xffffff : 0x7fff;
      const packed = column(k) | column(k + 1) << 8 | (isPlace ? column(k + 2) << 16 : 0), folded = packed & mask;
      if (c === 3 || c === 4)
        told[1] ^= (packed >> 15 & 1) << (c - 3);
      const expected = told[0] === 0 ? 0 : told[0] === 1 ? told[2 + c] : 2 * told[2 + c] - told[8 + c];
      now[c] = ((folded >> 1 ^ -(folded & 1)) + expected) & mask;
    }
    out[to] = solid;
    out[to + 1] = solid >> 8;
    for (let i = 0; i < 9; i++)
      out[to + 2 + i] = now[Math.floor(i / 3)] >> 8 * (i % 3);
    const low = told[1] | now[3] << 2 | now[4] << 17, high = now[5];  // 2, 15, 15 bits; then 15
    for (let i = 0; i < 4; i++)
      out[to + 11 + i] = low >>> 8 * i;
    out[to + 15] = high;
    out[to + 16] = high >> 8;
    told.copyWithin(8, 2, 8);
    told.set(now, 2);
    told[0] = Math.min(told[0] + 1, 2);
    to += POSE_BYTES;
    n++;
  };
  for (let at = 4; at < columns;) {
    const length = view.getUint32(at, true), frame = at + 4, isWhole = length < FRAME_HEAD || (bytes[frame + 5] & FRAME_KEY) !== 0;
    const count = isWhole ? 0 : view.getUint32(frame + 32, true), head = count > 0 ? FRAME_HEAD : length;
    out.set(bytes.subarray(at, frame + head), to);
    to += 4 + head;
    for (let i = 0; i < count; i++)
      putPose();
    const tail = length - head - count * POSE_BYTES;
    if (tail < 0 || n > total)
      throw new Error('the recording is damaged here');
    out.set(bytes.subarray(frame + head, frame + head + tail), to);
    to += tail;
    at = frame + head + tail;
  }
  return out;
}

// The blocks of the file up to its end or its first damage.
export function listBlocks(bytes: Uint8Array): Block[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < FILE_HEAD || tagOf(view, 0) + tagOf(view, 4) !== 'TALUSREC')
    throw new Error('this is not a recording of Talus');
  if (view.getUint32(8, true) > 2)
    throw new Error(`a recording of version ${view.getUint32(8, true)}, this page reads up to 2`);
  const blocks: Block[] = [];
  for (let at = FILE_HEAD; at + BLOCK_HEAD <= bytes.byteLength && tagOf(view, at) === 'BLCK';) {
    const block: Block = { type: tagOf(view, at + 4), at: at + BLOCK_HEAD, stored: view.getUint32(at + 8, true), raw: view.getUint32(at + 12, true),
      crc: view.getUint32(at + 16, true), filter: view.getUint32(at + 20, true), first: view.getFloat64(at + 24, true), last: view.getFloat64(at + 32, true) };
    if (block.at + block.stored > bytes.byteLength)
      break;
    blocks.push(block);
    at = block.at + block.stored;
  }
  return blocks;
}

function splitFrames(bytes: Uint8Array): Frame[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const frames: Frame[] = [];
  for (let at = 0; at + 4 <= bytes.byteLength;) {
    const length = view.getUint32(at, true);
    if (at + 4 + length > bytes.byteLength)
      throw new Error('a frame is cut');
    frames.push(decodeFrame(bytes.subarray(at + 4, at + 4 + length)));
    at += 4 + length;
  }
  return frames;
}

// Events of one block whose JSON has the word, without reading its poses.
function eventsWith(bytes: Uint8Array, word: string): Record<string, unknown>[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), found: Record<string, unknown>[] = [];
  for (let at = 0; at + 4 <= bytes.byteLength; at += 4 + view.getUint32(at, true)) {
    const section = findSection(bytes.subarray(at + 4, at + 4 + view.getUint32(at, true)), 'EVTS');
    const text = section ? new TextDecoder().decode(section) : '';
    if (!text.includes(word))
      continue;
    const time = view.getFloat64(at + 4 + 20, true);
    for (const event of JSON.parse(text) as Record<string, unknown>[])
      found.push({ ...event, t: time });
  }
  return found;
}

export class Recording {
  private labelled: Record<string, unknown>[] = [];  // label events of the file, in order, up to what has been scanned
  readonly frameBlocks: Block[];
  readonly sceneBlocks: Block[];
  readonly metaBlocks: Block[];
  readonly clipBlocks: Block[];
  private readonly blocks: Block[];
  private readonly unpacked = new Map<Block, Promise<Frame[]>>();

  constructor(private readonly bytes: Uint8Array<ArrayBuffer>) {
    this.blocks = listBlocks(bytes);
    this.frameBlocks = this.blocks.filter((block) => block.type === 'FRMS');
    this.sceneBlocks = this.blocks.filter((block) => block.type === 'SCNE');
    this.metaBlocks = this.blocks.filter((block) => block.type === 'META');
    this.clipBlocks = this.blocks.filter((block) => block.type === 'CLIP');
  }

  get span(): [number, number] {
    return this.frameBlocks.length === 0 ? [0, 0] : [this.frameBlocks[0].first, this.frameBlocks[this.frameBlocks.length - 1].last];
  }

  async payload(block: Block): Promise<Uint8Array> {
    const stored = this.bytes.subarray(block.at, block.at + block.stored);
    if (crc32(stored) !== block.crc)
      throw new Error('the recording is damaged here');
    const raw = block.stored === block.raw ? stored : await inflate(stored);
    return block.filter === 1 ? unfilterPoses(raw) : raw;
  }

  // The facts that hold for a scene: the last that stand before it in the file.
  async meta(scene: number): Promise<Meta> {
    const at = this.sceneBlocks[scene]?.at ?? Infinity;
    const block = this.metaBlocks.filter((one) => one.at < at).pop() ?? this.metaBlocks[0];
    return block ? JSON.parse(new TextDecoder().decode(await this.payload(block))) as Meta : {};
  }

  // Finds all labels, one block after the other, so that a jump knows which stand.
  async scanLabels(): Promise<void> {
    for (const block of this.frameBlocks)
      this.labelled.push(...eventsWith(await this.payload(block), '"label"').filter((event) => event.is === 'label'));
  }

  labelsUntil(time: number): Record<string, unknown>[] {
    return this.labelled.filter((event) => Number(event.t) <= time + 1e-9);
  }

  // The block of frames that covers the time, or the nearest before it.
  blockAt(time: number): number {
    let index = 0;
    while (index + 1 < this.frameBlocks.length && this.frameBlocks[index + 1].first <= time)
      index++;
    return index;
  }

  frames(index: number): Promise<Frame[]> {
    const block = this.frameBlocks[index];
    let frames = this.unpacked.get(block);
    if (!frames) {
      frames = this.payload(block).then(splitFrames);
      this.unpacked.set(block, frames);
      if (this.unpacked.size > KEPT_BLOCKS)
        this.unpacked.delete(this.unpacked.keys().next().value!);
    }
    return frames;
  }
}
