// replay.mjs - recordings in a headless browser: one that a server has, and one inside a single HTML file opened from disk. The last
// is a real run of the program, with poses compared to those the program exports.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drawn, glowSection, keyFrame, launch, makeGlb, MockSim, openPage, recordingBytes, screenSection, shown } from './mock.mjs';

const build = process.env.TALUS_BUILD_DIR, folder = mkdtempSync(join(tmpdir(), 'talus-replay-'));
const boxes = [{ name: 'floor', size: [4, 4, 0.1], color: [0.5, 0.5, 0.5], position: [0, 0, -0.05] }, { name: 'ball', size: [0.4, 0.4, 0.4], color: [0.9, 0.1, 0.1], position: [0, 0, 0.2] }];
const meta = { title: 'slide', timestep: 0.1, solids: [{ name: 'floor' }, { name: 'ball' }] };
const json = (value) => Buffer.from(JSON.stringify(value));
const Q = [0, 0, 0, 1];

// Three seconds in blocks of one; the ball moves a metre a second along x; a label from 1 s on.
const blocks = [0, 1, 2].map((second) => Array.from({ length: 10 }, (_, i) => {
  const time = second + i / 10, events = time === 1 ? [['EVTS', json([{ is: 'label', id: 0, text: 'past one', x: 0.1, y: 0.1, size: 0.1, color: '#ffffffff' }])]] : [];
  return { time, bytes: keyFrame({ step: Math.round(time * 10), time, speed: 0, sections: events, poses: [[0, boxes[0].position, Q], [1, [time, 0, 0.2], Q]] }) };
}));
const recording = recordingBytes(meta, makeGlb(boxes), blocks);
const htmlOf = (bytes) => Buffer.concat([readFileSync(join(build, 'web/replay-head')), Buffer.from(bytes.toString('base64')), readFileSync(join(build, 'web/replay-tail'))]);
const browser = await launch();

const waitAt = (page, x) => page.waitForFunction((wanted) => Math.abs(talus.world.positions[3] - wanted) < 1e-3, x);
const scrub = (page, time) => page.locator('.scrubber').evaluate((slider, value) => { slider.value = String(value); slider.dispatchEvent(new Event('input')); }, time);

async function steer(page) {
  await shown(page);
  await page.waitForFunction(() => talus.timeline.slider.max === '2.9' && talus.source.hasLabels);
  await scrub(page, 1.55);
  await waitAt(page, 1.5);
  assert.equal(await page.locator('.label').textContent(), 'past one', 'a label set earlier in the block stands');
  await scrub(page, 0.2);
  await waitAt(page, 0.2);
  assert.equal(await page.locator('.label').count(), 0, 'before it was set it does not');
  await page.locator('canvas.picture').focus();
  await page.keyboard.press('.');
  await waitAt(page, 0.3);
  for (const x of [0.2, 0.1, 0])
    await page.keyboard.press(',').then(() => waitAt(page, x));
  await scrub(page, 2.7);
  await waitAt(page, 2.7);
  assert.equal(await page.locator('.label').textContent(), 'past one', 'a label of an earlier block stands');
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await waitAt(page, 2.9);
  await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
  assert.equal(await page.locator('.tools').isVisible(), false, 'nothing can be moved in a recording');
}

// Where the red of a picture lies, in shares of its size: the mean place of what is clearly more red than green and blue.
async function redPlace(png) {
  const page = await browser.newPage();
  const place = await page.evaluate(async (source) => {
    const image = new Image();
    image.src = source;
    await image.decode();
    const canvas = document.createElement('canvas'), paint = canvas.getContext('2d');
    canvas.width = image.width;
    canvas.height = image.height;
    paint.drawImage(image, 0, 0);
    const bytes = paint.getImageData(0, 0, image.width, image.height).data;
    let count = 0, x = 0, y = 0;
    for (let i = 0; i < bytes.length; i += 4)
      if (bytes[i] > 60 && bytes[i] > 1.8 * bytes[i + 1] && bytes[i] > 1.8 * bytes[i + 2]) {
        count++;
        x += (i / 4) % image.width;
        y += Math.floor(i / 4 / image.width);
      }
    return { count, x: x / count, y: y / count };
  }, `data:image/png;base64,${png.toString('base64')}`);
  await page.close();
  return place;
}

const tests = {
  async 'a recording that the server has'() {
    const sim = await new MockSim({ recording }).start(), page = await openPage(browser);
    await page.goto(`${sim.url}#token=x`);
    await steer(page);
    assert.equal(sim.sockets.length, 0);
    sim.stop();
    return page;
  },

  async 'one HTML file from disk, with a link to a moment and an eye'() {
    const file = join(folder, 'replay.html');
    writeFileSync(file, htmlOf(recording));
    const page = await openPage(browser), asked = [];
    page.on('request', (request) => { if (!/^(file|data|blob):/.test(request.url())) asked.push(request.url()); });
    await page.goto(`file://${file}#t=1.2&cam=3,0,1,0.5,0.5,0.5,0.5`);
    await shown(page);
    await waitAt(page, 1.2);
    assert.deepEqual((await page.evaluate(() => talus.view.camera.position.toArray())).map((x) => Number(x.toFixed(3))), [3, 0, 1]);
    await steer(page);
    assert.deepEqual(asked, [], 'no network');
    return page;
  },

  async 'a recording that was cut shows what is there'() {
    const file = join(folder, 'cut.html');
    writeFileSync(file, htmlOf(recording.subarray(0, recording.length - 40)));
    const page = await openPage(browser);
    await page.goto(`file://${file}`);
    await shown(page);
    await page.waitForFunction(() => talus.timeline.slider.max === '1.9');
    return page;
  },

  async 'bytes that are no recording are told'() {
    const file = join(folder, 'bad.html');
    writeFileSync(file, htmlOf(Buffer.from('nonsense of some length')));
    const page = await openPage(browser);
    await page.goto(`file://${file}`);
    await page.getByText('this is not a recording of Talus').waitFor();
    return page;
  },

  async 'lamps that look alike are lit apart, also after a jump'() {
    const size = [0.4, 0.4, 0.4], color = [0.2, 0.2, 0.2], lamps = [7, 9].map((glow, i) => ({ name: `lamp ${glow}`, size, color, position: [i, 0, 0], glow }));
    const plain = { name: 'plain', size, color, position: [2, 0, 0] };
    // The first is lit at 1.3 s, the second at 2.5 s; every block begins with both.
    const off = [0, 0, 0], red = [1, 0, 0], blue = [0, 0, 0.5];
    const lit = (time) => [[7, time >= 1.29 ? red : off], [9, time >= 2.49 ? blue : off]];
    const frames = [0, 1, 2].map((second) => Array.from({ length: 10 }, (_, i) => {
      const time = second + i / 10, told = lit(time).filter(([node], k) => i === 0 || lit(time - 0.1)[k][1] !== lit(time)[k][1]);
      return { time, bytes: keyFrame({ step: Math.round(time * 10), time, speed: 0, sections: told.length > 0 ? [['GLOW', glowSection(told)]] : [],
        poses: [...lamps, plain].map(({ position }, k) => [k, [position[0], time, 0], Q]) }) };
    }));
    const file = join(folder, 'lamps.html');
    writeFileSync(file, htmlOf(recordingBytes({ title: 'lamps', solids: [{}, {}, {}] }, makeGlb([...lamps, plain]), frames)));
    const page = await openPage(browser);
    await page.goto(`file://${file}`);
    await shown(page);
    const glows = () => page.evaluate(() => [0, 1, 2].map((i) => talus.world.instances[i][0].batch.mesh.material.emissive.toArray()));
    for (const [time, wanted] of [[1.2, [off, off, off]], [1.4, [red, off, off]], [2.2, [red, off, off]], [2.9, [red, blue, off]], [0.5, [off, off, off]], [2.6, [red, blue, off]]]) {
      await scrub(page, time + 1e-6);
      await page.waitForFunction((y) => Math.abs(talus.world.positions[1] - y) < 1e-3, time);
      assert.deepEqual(await glows(), wanted, `at ${time} s`);
    }
    return page;
  },

  async 'displays show what was drawn, and nothing before it was'() {
    const display = { name: 'display', size: [0.4, 0.4, 0.4], color: [1, 1, 1], position: [0, 0, 0], screen: 5 };
    const pixels = [255, 0, 0, 0, 0, 9], none = [5, 0, 0, []], drawn = [5, 2, 1, pixels];
    const frames = [0, 1].map((second) => Array.from({ length: 10 }, (_, i) => {
      const time = second + i / 10, told = i === 0 ? [second === 0 ? none : drawn] : time === 0.5 ? [drawn] : [];
      return { time, bytes: keyFrame({ step: Math.round(time * 10), time, speed: 0, sections: told.length > 0 ? [['SCRN', screenSection(told)]] : [], poses: [[0, [0, time, 0], Q]] }) };
    }));
    const file = join(folder, 'display.html');
    writeFileSync(file, htmlOf(recordingBytes({ title: 'display', solids: [{}] }, makeGlb([display]), frames)));
    const page = await openPage(browser);
    await page.goto(`file://${file}`);
    await shown(page);
    const seen = () => page.evaluate(() => { const map = talus.world.instances[0][0].batch.mesh.material.map; return map && [map.image.width, map.image.height, ...map.image.data]; });
    const picture = [2, 1, 255, 0, 0, 255, 0, 0, 9, 255];
    for (const [time, wanted] of [[0.4, null], [0.6, picture], [1.4, picture], [0.2, null], [1.1, picture]]) {
      await scrub(page, time + 1e-6);
      await page.waitForFunction((y) => Math.abs(talus.world.positions[1] - y) < 1e-3, time);
      assert.deepEqual(await seen(), wanted, `at ${time} s`);
    }
    return page;
  },

  async 'a run of the program, exported, stands where the program says'() {
    const program = process.env.TALUS_PROGRAM, world = join(import.meta.dirname ?? '.', 'drop.wbt');
    const run = join(folder, 'run.talus'), html = join(folder, 'run.html'), csv = join(folder, 'run.csv');
    execFileSync(program, ['run', world, '--steps', '60', '--record', run], { stdio: 'pipe' });
    execFileSync(program, ['export', run, html], { stdio: 'pipe' });
    execFileSync(program, ['export', run, csv], { stdio: 'pipe' });
    const page = await openPage(browser);
    await page.goto(`file://${html}`);
    await shown(page);
    const [head, ...rows] = readFileSync(csv, 'utf8').trim().split('\n').map((line) => line.split(','));
    const column = head.findIndex((name) => /BALL.*[. ]z$/i.test(name) || /BALL.*z/i.test(name));
    assert.ok(column > 0, head.join(' '));
    const solid = await page.evaluate(() => talus.worldMeta.solids.findIndex((one) => one.def === 'BALL'));
    for (const row of [rows[Math.floor(rows.length / 3)], rows[rows.length - 1]]) {
      await scrub(page, Number(row[0]) + 1e-6);
      await page.waitForFunction(([i, z]) => Math.abs(talus.world.positions[3 * i + 2] - z) < 1e-4, [solid, Number(row[column])]);
    }
    await drawn(page);
    const pixel = await page.evaluate((i) => talus.view.project(talus.world.position(i, talus.navigator.pivot.clone())), solid);
    const hit = await page.evaluate(([x, y]) => talus.handle.pick(x, y)?.solid, pixel);
    assert.equal(hit, solid, 'the ball is under its own pixel');
    // The picture of `talus render` of that moment has it in the same place, and so has the page's own.
    const picture = join(folder, 'run.png'), box = await page.locator('canvas.picture').boundingBox();
    const size = `${Math.round(box.width)}x${Math.round(box.height)}`;
    execFileSync(program, ['render', world, picture, '--at', rows[rows.length - 1][0], '--size', size], { stdio: 'pipe' });
    const traced = await redPlace(readFileSync(picture)), seen = await redPlace(await page.screenshot({ clip: box }));
    assert.ok(traced.count > 100 && seen.count > 100, `red pixels: ${traced.count} rendered, ${seen.count} on the page`);
    const apart = Math.hypot(traced.x - seen.x, traced.y - seen.y), off = Math.hypot(traced.x - pixel[0], traced.y - pixel[1]);
    assert.ok(apart < 3 && off < 4, `the ball lies at ${JSON.stringify(traced)} rendered, ${JSON.stringify(seen)} on the page, ${pixel} by its pose`);
    await page.getByRole('button', { name: 'Sound on' }).click();
    await page.getByRole('button', { name: 'Sound off' }).waitFor();
    await scrub(page, 0);
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await page.waitForFunction(() => talus.sounds.startedCount > 0);  // the ball bumps into the floor
    return page;
  },
};

let failures = 0;
const only = process.argv[2];
for (const [name, test] of Object.entries(tests)) {
  if (only && !name.includes(only))
    continue;
  try {
    const page = await test();
    if (page.problems.length > 0)
      throw new Error(`the page complained: ${page.problems.join('\n')}`);
    await page.context().close();
    console.log(`ok ${name}`);
  } catch (error) {
    failures++;
    console.log(`FAILED ${name}\n${error.stack ?? error}`);
  }
}
await browser.close();
rmSync(folder, { recursive: true });
process.exit(failures > 0 ? 1 : 0);
