// page.mjs - what the browser page costs: weight, draw calls, JavaScript a frame for moving bodies, time to the first picture.
// usage: TALUS_BUILD_DIR=$PWD/build node bench/page.mjs [bodies…]   (headless Chromium: the drawing itself is done without a GPU)
import { gzipSync } from 'node:zlib';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawn, launch, makeGlb, MockSim, openPage, shown } from '../tests/web/mock.mjs';

const FRAMES = 60;
const weight = ['index.html', 'page.js', 'page.css'].reduce((sum, name) => sum + gzipSync(readFileSync(join(process.env.TALUS_BUILD_DIR, 'web', name)), { level: 9 }).length, 0);
console.log(`page weight        ${Math.round(weight / 1000)} KB gzipped`);
const counts = process.argv.slice(2).map(Number);
const browser = await launch();
for (const count of counts.length ? counts : [200, 1000, 10000]) {
  const pile = Array.from({ length: count }, (_, i) => ({ name: `body ${i}`, size: [0.05 + i % 7 * 0.01, 0.06, 0.05 + i % 3 * 0.02], color: [i % 5 / 5, i % 3 / 3, 0.4],
    position: [i % 25 * 0.12, Math.floor(i / 25) % 20 * 0.12, Math.floor(i / 500) * 0.12] }));
  const sim = await new MockSim({ glb: makeGlb(pile), poses: pile.map(({ position }, i) => [i, position, [0, 0, 0, 1]]) }).start();
  const page = await openPage(browser), start = performance.now();
  await page.goto(sim.url);
  await shown(page);
  await drawn(page);
  const first = performance.now() - start;
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
  console.log(`${String(count).padStart(6)} bodies      poses ${cost.apply.toFixed(2)} ms, draw ${cost.draw.toFixed(2)} ms of JavaScript a frame, ${cost.calls} draw calls; first picture after ${(first / 1000).toFixed(2)} s`);
  await page.context().close();
  sim.stop();
}
await browser.close();
process.exit(0);
