// firefox.mjs - the page in Firefox against `talus view`: it loads, shows the world, turns, plays, pauses and steps, and does what a click
// and a drag ask for. Firefox is driven by WebDriver BiDi over its own socket; no other package is needed. argv: the browser, the world.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { slowness, WAIT_MS } from './mock.mjs';
import { startView } from './view.mjs';

const PREFERENCES = { 'app.update.auto': false, 'browser.shell.checkDefaultBrowser': false, 'browser.startup.homepage': 'about:blank', 'datareporting.policy.dataSubmissionEnabled': false,
  'toolkit.telemetry.enabled': false, 'webgl.force-enabled': true, 'gfx.webrender.software': true };

// ---- the protocol: JSON over a WebSocket, each command with a number

async function connect(url) {
  const { hostname, port, pathname } = new URL(url);
  const stream = await new Promise((done, fail) => {
    const asked = request({ hostname, port, path: pathname, headers: { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': 13, 'Sec-WebSocket-Key': randomBytes(16).toString('base64') } });
    asked.on('upgrade', (_, socket, head) => { socket.unshift(head); done(socket); });
    asked.on('response', (answer) => fail(new Error(`Firefox answers ${answer.statusCode}`)));
    asked.on('error', fail);
    asked.end();
  });
  let kept = Buffer.alloc(0), parts = [];
  const waiting = new Map();
  stream.on('data', (data) => {
    kept = Buffer.concat([kept, data]);
    for (;;) {
      const short = kept.length >= 2 ? kept[1] & 127 : 0, head = short === 126 ? 4 : short === 127 ? 10 : 2;
      if (kept.length < head)
        return;
      const length = short === 126 ? kept.readUInt16BE(2) : short === 127 ? Number(kept.readBigUInt64BE(2)) : short;
      if (kept.length < head + length)
        return;
      const [first, body] = [kept[0], kept.subarray(head, head + length)];
      kept = kept.subarray(head + length);
      if ((first & 15) > 2)
        continue;  // closing, pings
      parts.push(body);
      if (!(first & 128))
        continue;
      const message = JSON.parse(Buffer.concat(parts).toString('utf8'));
      parts = [];
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    }
  });
  let next = 1;
  const send = (method, params = {}) => new Promise((done, fail) => {
    const id = next++, body = Buffer.from(JSON.stringify({ id, method, params })), mask = randomBytes(4);
    waiting.set(id, (answer) => answer.type === 'error' ? fail(new Error(`${method}: ${answer.error} ${answer.message}`)) : done(answer.result));
    const head = body.length < 126 ? Buffer.from([0x81, 0x80 | body.length]) : Buffer.from([0x81, 0x80 | 126, body.length >> 8, body.length & 255]);
    assert.ok(body.length < 65536);
    for (let i = 0; i < body.length; i++)
      body[i] ^= mask[i & 3];
    stream.write(Buffer.concat([head, mask, body]));
  });
  return send;
}

// ---- the browser

const profile = mkdtempSync(join(tmpdir(), 'talus-firefox-'));
writeFileSync(join(profile, 'user.js'), Object.entries(PREFERENCES).map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});`).join('\n'));
// Firefox finds Mesa's OpenGL through a display alone, also when it has no window.
const screen = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1100x700x24', '-nolisten', 'tcp'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
const display = await new Promise((done, fail) => {
  let text = '';
  screen.stdio[3].on('data', (data) => {
    text += data;
    if (text.includes('\n'))
      done(`:${text.trim()}`);
  });
  screen.on('error', fail);
  screen.on('exit', (code) => fail(new Error(`Xvfb ended (${code})`)));
});
const firefox = spawn(process.argv[2], ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0', '--width', '1000', '--height', '600'],
  { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, HOME: profile, DISPLAY: display } });
const address = await new Promise((done, fail) => {
  let text = '';
  const read = (data) => {
    text += data;
    const found = /WebDriver BiDi listening on (ws:\/\/\S+)\s/.exec(text);
    if (found)
      done(found[1]);
  };
  firefox.stderr.on('data', read);
  firefox.stdout.on('data', read);
  firefox.on('exit', (code) => fail(new Error(`Firefox ended (${code}): ${text}`)));
});
const { program, links } = await startView(process.argv[3]);
const send = await connect(`${address}/session`);
await send('session.new', { capabilities: {} });
if (slowness)
  await send('script.addPreloadScript', { functionDeclaration: `() => { ${slowness} }` });
const { contexts: [{ context }] } = await send('browsingContext.getTree');

async function evaluate(script, ...values) {
  const { result, exceptionDetails } = await send('script.callFunction', { functionDeclaration: `async (...values) => JSON.stringify(await (${script})(...values.map((one) => JSON.parse(one))))`, awaitPromise: true,
    target: { context }, arguments: values.map((value) => ({ type: 'string', value: JSON.stringify(value) })) });
  if (exceptionDetails)
    throw new Error(exceptionDetails.text);
  return result.value === undefined ? undefined : JSON.parse(result.value);
}
// Waits inside the page, frame by frame, until it is so.
const until = (test, ...values) => Promise.race([new Promise((_, fail) => { setTimeout(() => fail(new Error(`it never was so: ${test}`)), WAIT_MS).unref(); }), evaluate(`(...all) => new Promise((done) => { const look = () => (${test})(...all) ? done(true) : requestAnimationFrame(look); look(); })`, ...values)]);
const pointer = (actions, parameters = {}) => send('input.performActions', { context, actions: [{ type: 'pointer', id: 'mouse', parameters, actions }] });
const keys = (...values) => send('input.performActions', { context, actions: [{ type: 'key', id: 'keys', actions: values.flatMap((value) => [{ type: 'keyDown', value }, { type: 'keyUp', value }]) }] });
const center = (script) => evaluate(`() => { const box = (${script})().getBoundingClientRect(); return [Math.round(box.left + box.width / 2), Math.round(box.top + box.height / 2)]; }`);
const click = async (script) => { const [x, y] = await center(script); await pointer([{ type: 'pointerMove', x, y }, { type: 'pointerDown', button: 0 }, { type: 'pointerUp', button: 0 }]); };
const button = (name) => `() => document.querySelector('button[aria-label="${name}"]')`;

const tests = {
  async 'the world is shown'() {
    await send('browsingContext.navigate', { context, url: links[0], wait: 'complete' });
    await until('() => window.talus?.scenes > 0 && talus.frames > 0 && talus.view.isWhole');
    const colors = await evaluate(`() => {
      talus.view.dirty();
      talus.view.draw();
      const copy = Object.assign(document.createElement('canvas'), { width: talus.canvas.width, height: talus.canvas.height }), paint = copy.getContext('2d');
      paint.drawImage(talus.canvas, 0, 0);
      const data = paint.getImageData(0, 0, copy.width, copy.height).data, seen = new Set();
      for (let i = 0; i < data.length; i += 4)
        seen.add((data[i] >> 4) << 8 | (data[i + 1] >> 4) << 4 | data[i + 2] >> 4);
      return seen.size;
    }`);
    assert.ok(colors > 10, `${colors} colours`);
  },

  async 'a drag turns the view'() {
    const before = await evaluate('() => talus.view.camera.quaternion.toArray()'), [x, y] = await center('() => talus.canvas');
    await pointer([{ type: 'pointerMove', x, y }, { type: 'pointerDown', button: 0 }, { type: 'pointerMove', x: x + 80, y: y + 10, duration: 50 }, { type: 'pointerUp', button: 0 }]);
    await until('(from) => Math.hypot(...talus.view.camera.quaternion.toArray().map((value, i) => value - from[i])) > 0.02', before);
  },

  async 'a step by its key, play and pause by their button'() {
    await evaluate('() => talus.canvas.focus()');
    await keys('.');
    await until('() => talus.step === 1');
    await click(button('Play'));
    await until('() => talus.step > 5 && talus.source.state.running');
    await click(button('Pause'));
    await until('() => !talus.source.state.running');
    await evaluate("() => talus.act({ do: 'reset' }).then(() => 0)");
    await until('() => talus.step === 0');
  },

  async 'a click selects, Shift and a drag move'() {
    const ball = await evaluate("() => talus.worldMeta.solids.findIndex((one) => one.def === 'BALL')");
    await evaluate('(i) => { talus.navigator.hasMotion = false; talus.navigator.fit(talus.world.bounds(i)); return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0)))); }', ball);
    const [x, y] = (await evaluate(`(i) => {
      const box = talus.canvas.getBoundingClientRect(), at = talus.view.project(talus.world.position(i, talus.navigator.pivot.clone()));
      return [at[0] + box.left, at[1] + box.top];
    }`, ball)).map(Math.round);
    await pointer([{ type: 'pointerMove', x, y }, { type: 'pointerDown', button: 0 }, { type: 'pointerUp', button: 0 }]);
    await until('(i) => talus.handle.selected === i', ball);
    const place = await evaluate('(i) => Array.from(talus.world.positions.slice(3 * i, 3 * i + 3))', ball);
    await send('input.performActions', { context, actions: [{ type: 'key', id: 'keys', actions: [{ type: 'keyDown', value: '\uE008' }] }] });
    await pointer([{ type: 'pointerMove', x, y }, { type: 'pointerDown', button: 0 }, { type: 'pointerMove', x: x + 60, y, duration: 50 }, { type: 'pointerUp', button: 0 }]);
    await send('input.releaseActions', { context });
    await until('(i, from) => Math.hypot(...from.map((value, k) => value - talus.world.positions[3 * i + k])) > 0.05', ball, place);
  },
};

let failures = 0;
for (const [name, test] of Object.entries(tests))
  try {
    await test();
    console.log(`ok ${name}`);
  } catch (error) {
    failures++;
    console.log(`FAILED ${name}\n${error.stack ?? error}`);
  }
if (process.env.TALUS_SHOTS)
  writeFileSync(join(process.env.TALUS_SHOTS, 'firefox.png'), Buffer.from((await send('browsingContext.captureScreenshot', { context })).data, 'base64'));
program.kill();
await Promise.all([new Promise((done) => { firefox.removeAllListeners('exit').on('exit', done); }), send('browser.close').catch(() => firefox.kill())]);
screen.removeAllListeners('exit').kill();
rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
process.exit(failures > 0 ? 1 : 0);
