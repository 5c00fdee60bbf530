// embed.mjs - the page in a frame of another page, in a headless browser: only where the program allows it, steered by TalusFrame.js and by
// messages alone; a page on disk in a page on disk.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launch, openPage } from './mock.mjs';
import { runTests, startView } from './view.mjs';

const folder = mkdtempSync(join(tmpdir(), 'talus-embed-')), world = join(folder, 'slide.wbt');
writeFileSync(world, `#VRML_SIM R2025a utf8
WorldInfo { gravity 0 basicTimeStep 20 title "slide" }
Viewpoint { position 0 -9 1 orientation 0 0 1 1.5708 }
Solid { name "box" linearVelocity 1 0 0 physics Physics { } boundingObject Box { size 0.5 0.5 0.5 }
  children [ Shape { appearance PBRAppearance { baseColor 1 0 0 metalness 0 } geometry Box { size 0.5 0.5 0.5 } } ] }
`);
// The pages around: one that imports the class, one that sends messages itself. `link` is in the fragment, so the server need not know it.
const around = (script) => `<!doctype html><meta charset="utf-8"><title>around</title><iframe id="frame" width="700" height="400"></iframe><script type="module">${script}</script>`;
const PAGES = {
  '/module': around(`
    const link = decodeURIComponent(location.hash.slice(1)), frame = document.getElementById('frame');
    frame.src = link;
    const { default: TalusFrame } = await import(new URL('TalusFrame.js', link));
    window.times = []; window.states = [];
    window.frameOf = new TalusFrame(frame);
    frameOf.addEventListener('time', (event) => times.push(event.detail.time));
    frameOf.addEventListener('state', (event) => states.push(event.detail.running));
    window.first = await frameOf.ready;`),
  '/plain': around(`
    window.heard = [];
    addEventListener('message', (event) => heard.push(event.data));
    document.getElementById('frame').src = decodeURIComponent(location.hash.slice(1));`),
};
const serve = () => new Promise((done) => {
  const server = createServer((request, answer) => answer.writeHead(200, { 'content-type': 'text/html' }).end(PAGES[request.url] ?? ''));
  server.listen(0, '127.0.0.1', () => done(server));
});
const [allowed, other] = [await serve(), await serve()], originOf = (server) => `http://127.0.0.1:${server.address().port}`;
const { program, links } = await startView(world, ['--embed', originOf(allowed)]);
const browser = await launch(), page = await openPage(browser, { viewport: { width: 800, height: 500 }, reducedMotion: 'reduce' });
const inside = () => page.frames()[1];

const tests = {
  async 'a page that is allowed steers it by the class'() {
    await page.goto(`${originOf(allowed)}/module#${encodeURIComponent(`${links[0]}&ui=none`)}`);
    await page.waitForFunction(() => window.first);
    const first = await page.evaluate(() => first);
    assert.deepEqual([first.kind, first.title, first.running, first.role], ['live', 'slide', false, 'controller']);
    await inside().waitForFunction(() => talus.frames > 0 && talus.view.isFresh);
    assert.equal(await inside().locator('.bar').isVisible(), false, 'ui=none: the picture alone');
    await page.evaluate(() => frameOf.step(10));
    await page.waitForFunction(() => times.some((time) => Math.abs(time - 0.2) < 1e-6));
    await page.evaluate(() => frameOf.play());
    await page.waitForFunction(() => states.at(-1) === true);
    await page.evaluate(() => frameOf.pause());
    await page.waitForFunction(() => states.at(-1) === false);
    await page.evaluate(() => frameOf.seek(0.2));
    await inside().waitForFunction(() => Math.abs(talus.time - 0.2) < 1e-6);
    const camera = await page.evaluate(() => frameOf.camera({ position: [0, -3, 0], target: [0, 0, 0] }));
    assert.deepEqual(camera.position.map(Math.round), [0, -3, 0]);
    const png = await page.evaluate(() => frameOf.screenshot());
    assert.match(png, /^data:image\/png;base64,/);
    const red = await page.evaluate(async (source) => {
      const image = Object.assign(new Image(), { src: source });
      await image.decode();
      const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height }), paint = canvas.getContext('2d');
      paint.drawImage(image, 0, 0);
      const data = paint.getImageData(0, 0, image.width, image.height).data;
      let count = 0;
      for (let i = 0; i < data.length; i += 4)
        count += data[i] > data[i + 1] + 60 && data[i] > data[i + 2] + 60 ? 1 : 0;
      return count;
    }, png);
    assert.ok(red > 500, `${red} red pixels of the box`);
    const error = await page.evaluate(() => frameOf.ask('delete', { node: 5 }).then(() => '', (problem) => problem.message));
    assert.match(error, /there is no 'delete'/, 'no more than is offered');
    if (process.env.TALUS_SHOTS)
      await page.screenshot({ path: join(process.env.TALUS_SHOTS, 'embed.png') });
  },

  async 'nothing is told to a page that did not ask, nor taken from other windows'() {
    await page.goto(`${originOf(allowed)}/plain#${encodeURIComponent(links[1])}`);
    await inside().waitForFunction(() => window.talus?.frames > 0);
    assert.deepEqual(await page.evaluate(() => heard), []);
    await inside().evaluate(() => window.postMessage({ talus: 1, id: 1, do: 'state' }, '*'));  // from itself: not from above
    await page.evaluate(() => document.getElementById('frame').contentWindow.postMessage({ talus: 1, id: 2, do: 'play' }, '*'));
    await page.waitForFunction(() => heard.length > 0);
    const [answer] = await page.evaluate(() => heard);
    assert.deepEqual([answer.re, answer.ok], [2, false], 'the link that only looks cannot play');
    assert.match(answer.error, /looking only/);
  },

  async 'a page that is not allowed shows nothing'() {
    const refusal = page.waitForEvent('console', { predicate: (message) => message.text().includes('frame-ancestors') });
    await page.goto(`${originOf(other)}/plain#${encodeURIComponent(links[0])}`);
    await refusal;
    assert.equal(await inside().evaluate(() => Boolean(window.talus)).catch(() => false), false);
    page.problems.length = 0;  // the browser's own words about it
  },

  async 'a page of a recording can be shown by a page on disk'() {
    const html = join(folder, 'slide.html'), outside = join(folder, 'around.html');
    execFileSync(process.env.TALUS_PROGRAM, ['run', world, '--until', '1', '--record', html, '--quiet']);
    writeFileSync(outside, PAGES['/plain']);
    await page.goto(`${pathToFileURL(outside).href}#${encodeURIComponent(pathToFileURL(html).href)}`);
    await inside().waitForFunction(() => window.talus?.frames > 0);
    const ask = (message) => page.evaluate((one) => document.getElementById('frame').contentWindow.postMessage({ talus: 1, ...one }, '*'), message);
    await ask({ id: 1, do: 'seek', time: 0.5 });
    await page.waitForFunction(() => heard.some((one) => one.re === 1 && one.ok));
    await ask({ id: 2, do: 'state' });
    await page.waitForFunction(() => heard.some((one) => one.re === 2));
    const state = await page.evaluate(() => heard.find((one) => one.re === 2));
    assert.equal(state.kind, 'file');
    assert.ok(Math.abs(state.time - 0.5) < 0.03, `${state.time}`);
  },

  async 'origins that are none are refused in words'() {
    for (const origin of ['*', 'http://', "http://a'", 'http://a/b', 'http://a b', 'ftp://a', 'http://a,', 'http://a;script-src'])
      assert.throws(() => execFileSync(process.env.TALUS_PROGRAM, ['view', world, '--embed', origin], { stdio: 'pipe' }), /--embed wants origins/, origin);
  },
};
await runTests('embed', tests, { page, finish: async () => { await browser.close(); program.kill(); allowed.close(); other.close(); rmSync(folder, { recursive: true }); } });
