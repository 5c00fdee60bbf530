// mock.mjs - a simulation in JavaScript for tests of the page alone: serves build/web into a headless browser, answers its socket with
// the messages of the viewer's server, and makes frames, scenes and recordings byte by byte.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync, crc32 as nodeCrc } from 'node:zlib';

const build = process.env.TALUS_BUILD_DIR;
const require = createRequire(join(build, 'web/package.json'));
export const { chromium } = require('playwright-core');

// ---- frames

export function keyFrame({ revision = 1, step = 0, time = 0, speed = 1, poses, sections = [] }) {
  return frameBytes({ revision, step, time, speed, flags: 1, count: poses.length, sections, poseBytes: Buffer.concat(poses.map(([id, p, q]) => {
    const bytes = Buffer.alloc(32);
    bytes.writeUInt32LE(id, 0);
    [...p, ...q].forEach((value, i) => bytes.writeFloatLE(value, 4 + 4 * i));
    return bytes;
  })) });
}

function frameBytes({ revision, step, time, speed, flags, count, sections, poseBytes }) {
  const head = Buffer.alloc(52);
  head.write('TFRM', 0);
  head.writeUInt8(1, 4);
  head.writeUInt8(flags, 5);
  head.writeUInt16LE(sections.length, 6);
  head.writeUInt32LE(revision, 8);
  head.writeBigUInt64LE(BigInt(step), 12);
  head.writeDoubleLE(time, 20);
  head.writeFloatLE(speed, 28);
  head.writeUInt32LE(count, 32);
  const parts = sections.flatMap(([tag, payload]) => {
    const bytes = Buffer.alloc(8);
    bytes.write(tag, 0);
    bytes.writeUInt32LE(payload.length, 4);
    return [bytes, payload];
  });
  return Buffer.concat([head, poseBytes, ...parts]);
}

export function contactSection(contacts) {
  return Buffer.concat(contacts.map(({ a, b, point, normal, force }) => {
    const bytes = Buffer.alloc(40);
    bytes.writeUInt16LE(a, 0);
    bytes.writeUInt16LE(b < 0 ? 65535 : b, 2);
    [...point, ...normal, ...force].forEach((value, i) => bytes.writeFloatLE(value, 4 + 4 * i));
    return bytes;
  }));
}

// What LEDs light up: node and linear light.
export function glowSection(glows) {
  return Buffer.concat(glows.map(([node, light]) => {
    const bytes = Buffer.alloc(16);
    bytes.writeUInt32LE(node, 0);
    light.forEach((value, i) => bytes.writeFloatLE(value, 4 + 4 * i));
    return bytes;
  }));
}

// Pictures of displays: node, width, height, red, green, blue of each pixel.
export function screenSection(screens) {
  return Buffer.concat(screens.flatMap(([node, width, height, rgb]) => {
    const head = Buffer.alloc(8);
    head.writeUInt32LE(node, 0);
    head.writeUInt16LE(width, 4);
    head.writeUInt16LE(height, 6);
    return [head, Buffer.from(rgb)];
  }));
}

export function stateSection(states) {
  return Buffer.concat(states.map(([id, state]) => {
    const bytes = Buffer.alloc(3);
    bytes.writeUInt16LE(id, 0);
    bytes.writeUInt8(state, 2);
    return bytes;
  }));
}

// ---- scenes: boxes of given sizes and colours, as src/record/glb.c lays them out

const CORNERS = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]];

function boxMesh([sx, sy, sz]) {
  const positions = [], normals = [], indices = [];
  for (const n of CORNERS) {
    const u = [n[1], n[2], n[0]], v = [n[1] * u[2] - n[2] * u[1], n[2] * u[0] - n[0] * u[2], n[0] * u[1] - n[1] * u[0]], first = positions.length / 3;
    for (const [a, b] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) {
      positions.push(...[sx, sy, sz].map((size, i) => size / 2 * (n[i] + a * u[i] + b * v[i])));
      normals.push(...n);
    }
    indices.push(first, first + 1, first + 2, first, first + 2, first + 3);
  }
  return { positions, normals, indices };
}

// boxes: { name, size, color, position }; those of one size and colour share a mesh, as in a file of the program.
export function makeGlb(boxes) {
  const chunks = [], views = [], accessors = [], meshes = [], materials = [], solids = [], visuals = [], known = new Map();
  let at = 0;
  const add = (array, target, type, componentType, extra = {}) => {
    const bytes = Buffer.from(array.buffer);
    views.push({ buffer: 0, byteOffset: at, byteLength: bytes.length, target });
    const padded = Buffer.concat([bytes, Buffer.alloc((4 - bytes.length % 4) % 4)]);
    chunks.push(padded);
    at += padded.length;
    accessors.push({ bufferView: views.length - 1, componentType, count: type === 'VEC3' ? array.length / 3 : array.length, type, ...extra });
    return accessors.length - 1;
  };
  boxes.forEach(({ name, size, color, position, ...extras }, i) => {
    const key = `${size} ${color}`;
    solids.push({ name, translation: position, extras: { solid: i }, children: [1 + boxes.length + i] });
    visuals.push({ mesh: known.get(key) ?? meshes.length, extras });
    if (known.has(key))
      return;
    known.set(key, meshes.length);
    const mesh = boxMesh(size), half = size.map((x) => x / 2);
    const attributes = { POSITION: add(Float32Array.from(mesh.positions), 34962, 'VEC3', 5126, { min: half.map((x) => -x), max: half }), NORMAL: add(Float32Array.from(mesh.normals), 34962, 'VEC3', 5126) };
    materials.push({ pbrMetallicRoughness: { baseColorFactor: [...color, 1], metallicFactor: 0, roughnessFactor: 0.6 } });
    meshes.push({ primitives: [{ attributes, indices: add(Uint16Array.from(mesh.indices), 34963, 'SCALAR', 5123), material: materials.length - 1 }] });
  });
  const root = { name: 'talus', rotation: [-Math.SQRT1_2, 0, 0, Math.SQRT1_2], children: solids.map((_, i) => 1 + i) };
  const json = { asset: { version: '2.0' }, scene: 0, scenes: [{ nodes: [0] }], nodes: [root, ...solids, ...visuals], meshes, materials, accessors, bufferViews: views, buffers: [{ byteLength: at }] };
  let text = Buffer.from(JSON.stringify(json));
  text = Buffer.concat([text, Buffer.alloc((4 - text.length % 4) % 4, 32)]);
  const head = Buffer.alloc(20), binary = Buffer.alloc(8);
  head.write('glTF', 0);
  head.writeUInt32LE(2, 4);
  head.writeUInt32LE(28 + text.length + at, 8);
  head.writeUInt32LE(text.length, 12);
  head.write('JSON', 16);
  binary.writeUInt32LE(at, 0);
  binary.writeUInt32LE(0x004e4942, 4);
  return Buffer.concat([head, text, binary, ...chunks]);
}

export function sceneMessage(revision, glb) {
  const head = Buffer.alloc(8);
  head.write('SCNE', 0);
  head.writeUInt32LE(revision, 4);
  return Buffer.concat([head, glb]);
}

// ---- recordings

function crc32(bytes) {
  if (nodeCrc)
    return nodeCrc(bytes);
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let k = 0; k < 8; k++)
      crc = crc & 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1;
  }
  return ~crc >>> 0;
}

function block(type, raw, first = 0, last = 0) {
  const stored = deflateSync(raw), head = Buffer.alloc(40);
  head.write('BLCK', 0);
  head.write(type, 4);
  head.writeUInt32LE(stored.length, 8);
  head.writeUInt32LE(raw.length, 12);
  head.writeUInt32LE(crc32(stored), 16);
  head.writeDoubleLE(first, 24);
  head.writeDoubleLE(last, 32);
  return Buffer.concat([head, stored]);
}

// blocksOfFrames: [[{ time, bytes }…]…], the first of each a key frame.
export function recordingBytes(meta, glb, blocksOfFrames) {
  const head = Buffer.alloc(16), revision = Buffer.alloc(4);
  head.write('TALUSREC', 0);
  head.writeUInt32LE(1, 8);
  revision.writeUInt32LE(1, 0);
  return Buffer.concat([head, block('META', Buffer.from(JSON.stringify(meta))), block('SCNE', Buffer.concat([revision, glb])), ...blocksOfFrames.map((frames) =>
    block('FRMS', Buffer.concat(frames.flatMap(({ bytes }) => {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(bytes.length, 0);
      return [length, bytes];
    })), frames[0].time, frames[frames.length - 1].time))]);
}

// ---- the browser

// A wait that is as long as this has failed: nothing but a fault takes so long, also where every processor is taken thirty times.
export const WAIT_MS = Number(process.env.TALUS_WAIT_MS ?? 600000);

// TALUS_TEST_LAG=milliseconds[:seed] makes the link between page and server slow: see slowLink.
const [LAG_MS, LAG_SEED] = (process.env.TALUS_TEST_LAG ?? '0').split(':').map(Number);

// Runs in the page before anything else. What a socket says comes late in both directions, each message by a random time of its own below
// `most` milliseconds, all of them in order; so does what is fetched. An answer and the news that belong to it then come apart, as they do
// on a busy machine.
function slowLink(most, seed) {
  let state = seed;
  const random = () => {  // mulberry32
    state = state + 0x6d2b79f5 | 0;
    let mixed = Math.imul(state ^ state >>> 15, 1 | state);
    mixed = mixed + Math.imul(mixed ^ mixed >>> 7, 61 | mixed) ^ mixed;
    return ((mixed ^ mixed >>> 14) >>> 0) / 2 ** 32;
  };
  const line = () => {
    const queue = [];
    let last = 0;
    return (act) => {
      const now = performance.now();
      last = Math.max(last, now + most * random());
      queue.push(act);
      setTimeout(() => queue.shift()(), last - now);
    };
  };
  const { fetch } = window, again = { open: () => new Event('open'), message: ({ data }) => new MessageEvent('message', { data }), close: ({ code, reason, wasClean }) => new CloseEvent('close', { code, reason, wasClean }) };
  window.WebSocket = class extends WebSocket {
    #away = line();

    constructor(...values) {
      super(...values);
      const home = line();
      for (const [type, copy] of Object.entries(again))
        this.addEventListener(type, (event) => {  // the first listener: what it stops nobody else has heard
          if (!event.isTrusted)
            return;
          event.stopImmediatePropagation();
          home(() => this.dispatchEvent(copy(event)));
        });
    }

    send(data) {
      this.#away(() => { if (this.readyState === WebSocket.OPEN) super.send(data); });
    }

    close(...values) {
      this.#away(() => super.close(...values));
    }
  };
  window.fetch = async (...values) => {
    const answer = await fetch(...values);
    return new Promise((done) => { setTimeout(() => done(answer), most * random()); });
  };
}
// The text of a function that makes the link of a page slow, or nothing where it is to be as it is.
export const slowness = LAG_MS > 0 ? `(${slowLink})(${LAG_MS}, ${LAG_SEED || 1});` : '';

export async function launch() {
  const found = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => { try { readFileSync(path); return true; } catch { return false; } });
  return chromium.launch({ executablePath: process.env.TALUS_CHROMIUM ?? found, timeout: WAIT_MS, args: ['--enable-unsafe-swiftshader', '--no-sandbox', '--disable-dev-shm-usage'] });
}

const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self' blob: ws://127.0.0.1:*; font-src 'self'; media-src 'self' blob:; base-uri 'none'; form-action 'none'";

// A page whose complaints are kept in `problems`.
export async function openPage(browser, { viewport = { width: 1010, height: 460 }, ...options } = {}) {
  const context = await browser.newContext({ viewport, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  if (slowness)
    await page.addInitScript(slowness);
  page.problems = [];
  page.on('pageerror', (error) => page.problems.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/404|WebSocket connection/.test(message.text()))
      page.problems.push(message.text());
  });
  return page;
}

// One side of a WebSocket (RFC 6455): whole messages, below 64 KB from the page, of any size to it.
class Socket {
  constructor(stream, onText) {
    this.stream = stream;
    let kept = Buffer.alloc(0);
    stream.on('error', () => undefined);
    stream.on('data', (data) => {
      kept = Buffer.concat([kept, data]);
      for (;;) {
        if (kept.length < 6)
          return;
        const short = kept[1] & 127, head = short === 126 ? 4 : 2, length = short === 126 ? kept.readUInt16BE(2) : short;
        if (kept.length < head + 4 + length)
          return;
        const mask = kept.subarray(head, head + 4), body = Buffer.from(kept.subarray(head + 4, head + 4 + length));
        for (let i = 0; i < body.length; i++)
          body[i] ^= mask[i & 3];
        const code = kept[0] & 15;
        kept = kept.subarray(head + 4 + length);
        if (code === 1)
          onText(body.toString('utf8'));
        else if (code === 8)
          stream.end();
      }
    });
  }

  send(message) {
    const body = Buffer.from(message), code = 0x80 | (typeof message === 'string' ? 1 : 2);
    const head = body.length < 126 ? Buffer.from([code, body.length]) : body.length < 65536 ? Buffer.alloc(4) : Buffer.alloc(10);
    if (head.length > 2)
      head.set([code, head.length === 4 ? 126 : 127]);
    if (head.length === 4)
      head.writeUInt16BE(body.length, 2);
    else if (head.length === 10)
      head.writeBigUInt64BE(BigInt(body.length), 2);
    this.stream.write(Buffer.concat([head, body]));
  }

  drop() {
    this.stream.destroy();
  }
}

// A simulation and its server on a loopback port. `answers` maps what is asked to an answer, or a function that gives one.
export class MockSim {
  constructor({ meta = {}, glb, poses = [], answers = {}, recording = null }) {
    Object.assign(this, { meta, glb, poses, answers, recording, asked: [], waiting: [], sockets: [], step: 0, time: 0, running: false, acks: 0, held: null });
  }

  async start() {
    const types = { html: 'text/html', js: 'text/javascript', css: 'text/css' };
    this.server = createServer((request, response) => {
      const name = request.url.slice(1) || 'index.html';
      const body = name === 'recording' ? this.recording : ['index.html', 'page.js', 'page.css'].includes(name) ? readFileSync(join(build, 'web', name)) : null;
      response.writeHead(body ? 200 : 404, { 'Content-Type': types[name.split('.').pop()] ?? 'application/octet-stream', 'Content-Length': body?.length ?? 0, 'Content-Security-Policy': CSP });
      response.end(request.method === 'HEAD' ? undefined : body ?? undefined);
    });
    this.server.on('upgrade', (request, stream) => {
      const accept = createHash('sha1').update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
      stream.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: talus\r\n\r\n`);
      const socket = new Socket(stream, (text) => this.read(socket, JSON.parse(text)));
      this.sockets.push(socket);
    });
    await new Promise((done) => this.server.listen(0, '127.0.0.1', done));
    this.url = `http://127.0.0.1:${this.server.address().port}/`;
    return this;
  }

  stop() {
    for (const socket of this.sockets)
      socket.drop();
    this.server.close();
  }

  get socket() {
    return this.sockets[this.sockets.length - 1];
  }

  // Waits until what the page has asked so far fulfils the check.
  async until(check) {
    while (!check())
      await new Promise((done) => this.waiting.push(done));
  }

  read(socket, message) {
    this.asked.push(message);
    this.waiting.splice(0).forEach((done) => setImmediate(done));
    if (message.do === 'hello') {
      socket.send(JSON.stringify({ is: 'welcome', role: 'controller', meta: this.meta }));
      socket.send(sceneMessage(1, this.glb));
      this.sendFrame();
      this.sendState();
      return;
    }
    if (message.do === 'ack') {
      this.acks++;
      return;
    }
    const acts = { play: () => { this.running = true; }, pause: () => { this.running = false; }, step: () => this.advance() };
    acts[message.do]?.();
    const reply = () => {
      const answer = this.answers[message.do];
      socket.send(JSON.stringify({ re: message.id, ok: true, ...(typeof answer === 'function' ? answer(message) : answer) }));
      if (message.do in acts)
        this.sendState();
    };
    if (this.held)
      this.held.push(reply);
    else
      reply();
  }

  // Nothing is answered from here on, until all is let go.
  hold() {
    this.held = [];
  }

  letGo() {
    const replies = this.held;
    this.held = null;
    replies.forEach((reply) => reply());
  }

  advance(sections = []) {
    this.step++;
    this.time = this.step * 0.016;
    this.sendFrame(sections);
  }

  sendFrame(sections = []) {
    this.socket.send(keyFrame({ step: this.step, time: this.time, poses: this.poses, sections }));
  }

  sendState(more = {}) {
    this.socket.send(JSON.stringify({ is: 'state', running: this.running, time: this.time, factor: 1, history: [0, this.time], role: 'controller', clients: 1, ...more }));
  }

  wasAsked(what) {
    return this.asked.filter((message) => message.do === what);
  }
}

export const shown = (page) => page.waitForFunction(() => window.talus?.scenes > 0 && window.talus.frames > 0 && window.talus.view.isWhole);
// Two display frames later everything that was asked for is drawn.
export const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

// From here on counts animation frames between the motion of the pointer and the force that it sends; read and undone by countedFrames.
export const countFrames = (page) => page.evaluate(() => {
  const { handle, canvas } = window.talus, tick = handle.tick.bind(handle), send = WebSocket.prototype.send;
  const log = { ticks: 0, moved: -1, at: 0, frames: [], perFrame: [], times: [] };
  handle.tick = () => { log.ticks++; tick(); };
  canvas.addEventListener('pointermove', (event) => { log.moved = log.ticks; log.at = event.timeStamp; }, true);
  WebSocket.prototype.send = function (text) {
    if (String(text).includes('"force"')) {
      log.frames.push(log.ticks - log.moved);
      log.perFrame.push(log.ticks);
      log.times.push(performance.now() - log.at);
    }
    return send.call(this, text);
  };
  window.countedFrames = () => { WebSocket.prototype.send = send; delete handle.tick; return log; };
});
export const countedFrames = (page) => page.evaluate(() => window.countedFrames());
