// page.mjs - what watching costs, as one table with the bars of docs/viewer.md: first what it costs the run (viewer_bench), then the page in a
// headless browser: weight, draw calls, JavaScript a frame for moving bodies, time to the first picture.
// The time to the first picture is that of the clock; beside it stands the processor time of the page's process and of the one that draws, which
// holds on a busy machine too.
// usage: scripts/bench viewer, or TALUS_BUILD_DIR=$PWD/build node bench/page.mjs [bodies…]   (headless Chromium: the drawing itself is done
// without a GPU)
import { execFileSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { countedFrames, countFrames, launch, makeGlb, MockSim, openPage, shown } from '../tests/web/mock.mjs';

const FRAMES = 60, TICK_MS = 10, LOADS = 7;
const table = [];  // what, measured, bar, whether it is met
const note = (what, measured, unit, bar, more = '') => table.push([what, `${measured} ${unit}${more}`, bar === undefined ? '–' : `${bar} ${unit}`, bar === undefined ? '' : Number(measured) <= bar ? 'met' : 'MISSED']);
const middle = (list) => list.slice().sort((a, b) => a - b)[list.length >> 1];

// The rows of viewer_bench: bodies, moving, clients, us a step; or us a moment, best, us a snapshot, bytes a frame, MB/s.
function measureServer() {
  const text = execFileSync(join(process.env.TALUS_BUILD_DIR, 'bench/viewer_bench'), { encoding: 'utf8' });
  console.log(text);
  for (const line of text.split('\n')) {
    const [, moving, clients, step, moment, best, , , rate] = line.trim().split(/\s+/);
    if (clients === '0')
      note('a step, nobody there', step, 'µs');
    else if (Number(clients) > 0 && moving === '1000')
      note(`a published moment on the run's thread, ${clients} client${clients === '1' ? '' : 's'}`, moment, 'µs', 20, ` (best ${best})`);
    if (clients === '1')
      note(`${moving} of 1000 moving, 60 Hz`, rate, 'MB/s', moving === '1000' ? 1.1 : 0.12);
  }
  const late = text.match(/ 0: (\d+)/);
  note('of 200 forces in force in the next step', late?.[1] ?? '0', '');
}
measureServer();
// Processor time in ms of all processes below this one whose command line has these words.
function processorTime(words) {
  const parent = new Map(), used = new Map();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    try {
      const numbers = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop().split(' ');
      parent.set(Number(pid), Number(numbers[1]));
      if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(words))
        used.set(Number(pid), TICK_MS * (Number(numbers[11]) + Number(numbers[12])));
    } catch {
      continue;  // it has ended
    }
  const isOurs = (pid) => pid === process.pid || (parent.has(pid) && isOurs(parent.get(pid)));
  return [...used].filter(([pid]) => isOurs(pid)).reduce((sum, [, time]) => sum + time, 0);
}
const weight = ['index.html', 'page.js', 'page.css'].reduce((sum, name) => sum + gzipSync(readFileSync(join(process.env.TALUS_BUILD_DIR, 'web', name)), { level: 9 }).length, 0);
console.log(`page weight        ${Math.round(weight / 1000)} KB gzipped`);
note('page weight, gzipped', Math.round(weight / 1000), 'KB', 250);
const counts = process.argv.slice(2).map(Number);
const browser = await launch();
for (const count of counts.length ? counts : [200, 1000, 10000]) {
  const pile = Array.from({ length: count }, (_, i) => ({ name: `body ${i}`, size: [0.05 + i % 7 * 0.01, 0.06, 0.05 + i % 3 * 0.02], color: [i % 5 / 5, i % 3 / 3, 0.4],
    position: [i % 25 * 0.12, Math.floor(i / 25) % 20 * 0.12, Math.floor(i / 500) * 0.12] }));
  const sim = await new MockSim({ glb: makeGlb(pile), poses: pile.map(({ position }, i) => [i, position, [0, 0, 0, 1]]) }).start();
  const firsts = [];
  for (let load = 1; load < (count === 200 ? LOADS : 1); load++) {
    const before = await openPage(browser);
    await before.goto(sim.url);
    await before.waitForFunction(() => Number.isFinite(window.talus?.view.firstPicture) && window.talus.view.firstPicture > 0);
    firsts.push(await before.evaluate(() => window.talus.view.firstPicture));
    await before.context().close();
  }
  const page = await openPage(browser), session = await page.context().newCDPSession(page), drawing = processorTime('--type=gpu-process');
  await session.send('Performance.enable');
  await page.goto(sim.url);
  await page.waitForFunction(() => Number.isFinite(window.talus?.view.firstPicture) && window.talus.view.firstPicture > 0);
  const drawn = processorTime('--type=gpu-process') - drawing, { metrics } = await session.send('Performance.getMetrics');
  await shown(page);
  const first = await page.evaluate(() => window.talus.view.firstPicture), own = 1000 * metrics.find((one) => one.name === 'ProcessTime').value;
  const cost = await page.evaluate(async ([n, frames]) => {
    const ids = Uint32Array.from({ length: n }, (_, i) => i), poses = new Float32Array(7 * n), apply = [], draw = [];
    for (let step = 1; step <= frames; step++) {
      for (let i = 0; i < n; i++)
        poses.set([i % 25 * 0.12, Math.floor(i / 25) % 20 * 0.12, Math.floor(i / 500) * 0.12 + 0.001 * step, 0, 0, 0, 1], 7 * i);
      const before = performance.now();
      window.talus.frame({ isKey: false, revision: 1, step, time: step / 60, speed: 1, count: n, ids, poses, sections: new Map() });
      apply.push(performance.now() - before);
      window.talus.view.draw();
      draw.push(window.talus.view.jsMilliseconds);
      await new Promise((done) => requestAnimationFrame(done));
    }
    const best = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 10)];
    return { apply: best(apply), draw: best(draw), calls: window.talus.view.renderer.info.render.calls };
  }, [count, FRAMES]);
  firsts.push(first);
  if (count === 200)
    note(`first picture, 200 bodies, median of ${LOADS}`, (middle(firsts) / 1000).toFixed(2), 's', 0.7, ` (best ${(Math.min(...firsts) / 1000).toFixed(2)})`);
  else {
    note(`JavaScript a frame, ${count} moving`, (cost.apply + cost.draw).toFixed(2), 'ms', count === 1000 ? 1 : undefined);
    note(`draw calls, ${count} bodies`, cost.calls, '', count === 1000 ? 30 : undefined);
  }
  console.log(`${String(count).padStart(6)} bodies      poses ${cost.apply.toFixed(2)} ms, draw ${cost.draw.toFixed(2)} ms of JavaScript a frame, ${cost.calls} draw calls; first picture after ${(first / 1000).toFixed(2)} s (processor: page ${own.toFixed(0)} ms, drawing ${drawn} ms)`);
  await page.context().close();
  sim.stop();
}

// From the hand to the message: in which animation frame after the pointer's motion it goes out, and after how long.
async function latency() {
  const box = [{ name: 'box', size: [1, 1, 1], color: [0.8, 0.1, 0.1], position: [0, 0, 0.5] }];
  const sim = await new MockSim({ meta: { solids: [{ name: 'box', mass: 1, node: 1 }] }, glb: makeGlb(box), poses: [[0, box[0].position, [0, 0, 0, 1]]] }).start();
  const page = await openPage(browser);
  await page.goto(sim.url);
  await shown(page);
  await countFrames(page);
  const [x, y] = await page.evaluate(() => {
    const { canvas, view, world, navigator } = window.talus, rect = canvas.getBoundingClientRect(), at = view.project(world.position(0, navigator.pivot.clone()));
    return [at[0] + rect.left, at[1] + rect.top];
  });
  await page.keyboard.down('Alt');
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let i = 1; i <= FRAMES; i++) {
    await page.mouse.move(x + 2 * i, y);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
  }
  const { frames, times } = await countedFrames(page);
  times.sort((a, b) => a - b);
  console.log(`pointer to message  ${frames.length} messages, each in animation frame ${[...new Set(frames)].join(' or ')} after the motion; median ${times[times.length >> 1].toFixed(1)} ms`);
  note('animation frame after a pointer\'s motion that sends it', [...new Set(frames)].join(' or '), '', 1);
  await page.context().close();
  sim.stop();
}
await latency();
await browser.close();
console.log(['', '| what | measured | bar | |', '| --- | --- | --- | --- |', ...table.map((row) => `| ${row.map((cell) => String(cell).trim()).join(' | ')} |`)].join('\n'));
process.exit(0);
