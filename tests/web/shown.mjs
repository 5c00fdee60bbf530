// shown.mjs - what devices leave to be seen, in a headless browser: ink of Pens on a plane and on a face of a box, the light of an LED on the
// floor beside it; live, for those who come later, after a reset, and in the page of a recording. argv: the world, where that page goes.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { openPage, shown } from './mock.mjs';
import { becomes, openView } from './view.mjs';

const [world, replay] = process.argv.slice(2);
const view = await openView(world), { page, steps, shot } = view;
// Colours of what is seen from above at places of the world, and how red it is beside the lamp.
const look = (of) => of.evaluate(() => {
  const { view, canvas, navigator } = talus, at = (x, y, z) => navigator.pivot.clone().set(x, y, z);
  navigator.go(at(0, -0.01, 6), navigator.lookingAt(at(0, -0.01, 6), at(0, 0, 0)), true);
  talus.rendering('shadows', false);
  view.dirty();
  view.draw();
  const copy = Object.assign(document.createElement('canvas'), { width: canvas.width, height: canvas.height }), paint = copy.getContext('2d');
  paint.drawImage(canvas, 0, 0);
  const color = (...place) => {
    const [x, y] = view.project(at(...place));
    return [...paint.getImageData(x * canvas.width / view.width, y * canvas.height / view.height, 1, 1).data].slice(0, 3);
  };
  const name = ([r, g, b]) => (b > r + 40 && b > g + 40 ? 'blue' : g > r + 40 && g > b + 40 ? 'green' : 'plain');
  const [r, , b] = color(-1.4, -0.2, 0);
  return { plane: name(color(-0.2, -0.8, 0)), ahead: name(color(0.8, -0.8, 0)), box: name(color(-0.2, 0.8, 0.5)), isLit: r > b + 30 };
});
const CLEAN = { plane: 'plain', ahead: 'plain', box: 'plain', isLit: false }, WRITTEN = { plane: 'blue', ahead: 'plain', box: 'green', isLit: true };
// What was written comes by itself, a moment after its step.
const arrives = (of, wanted, words) => becomes(of, () => look(of), (seen) => isDeepStrictEqual(seen, wanted), `${words}, not ${JSON.stringify(wanted)}`);

const tests = {
  async 'nothing is written and the lamp is dark'() {
    await steps(5);
    assert.deepEqual(await look(page), CLEAN);
  },

  async 'pens write and the lamp lights the floor'() {
    await steps(45);
    await arrives(page, WRITTEN, 'live');
    await shot('shown-ink');
  },

  async 'who comes later sees it alike, and so does a new scene'() {
    const other = await openPage(view.browser, { viewport: { width: 700, height: 500 }, reducedMotion: 'reduce' });
    await other.goto(view.links[1]);
    await shown(other);
    await arrives(other, WRITTEN, 'a second window');
    assert.deepEqual(other.problems, []);
    await other.context().close();
    const { revision } = await page.evaluate(() => talus.world);
    await page.evaluate(() => talus.ask({ do: 'insert', node: 0, field: 'children', index: -1, text: 'Solid { translation 0 0 -9 name "far" children [ Shape { geometry Box { } } ] }' }));
    await page.waitForFunction((before) => talus.world.revision > before, revision);
    await arrives(page, WRITTEN, 'after a new scene');
  },

  async 'a reset wipes the ink off and puts the lamp out'() {
    await view.reset();
    await arrives(page, CLEAN, 'after a reset');
  },

  async 'the page of a recording shows them too'() {
    const run = spawnSync(process.env.TALUS_PROGRAM, ['run', world, '--until', '2.5', '--record', replay, '--quiet'], { encoding: 'utf8' });
    assert.equal(run.status, 0, run.stdout + run.stderr);
    const other = await openPage(view.browser, { viewport: { width: 700, height: 500 }, reducedMotion: 'reduce' });
    await other.goto(pathToFileURL(replay).href);
    await shown(other);
    for (const [time, wanted] of [[0.9, WRITTEN], [0.1, CLEAN], [2.4, WRITTEN]]) {
      await other.evaluate((t) => talus.timeline.seek(t), time);
      await other.waitForFunction((t) => Math.abs(talus.time - t) < 0.04, time);
      await arrives(other, wanted, `at ${time} s`);
    }
    assert.deepEqual(other.problems, []);
  },
};

await view.run('shown', tests);
