// skins.mjs - Skins in a headless browser: a worm whose bones a program moves and one whose bones are solids, bent and straight, seen by
// those who come later too, and in the page of a recording. argv: the world, where the page of a recording goes.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { drawn, openPage, shown } from './mock.mjs';
import { becomes, openView } from './view.mjs';

const [world, replay] = process.argv.slice(2);
const view = await openView(world), { page, steps, shot } = view;
const SKY = 'blue';
// The colour of what is seen 1.2 m ahead of the robot, as far to the left and as high above the ground.
const seen = (of, places) => of.evaluate((list) => {
  const { view, canvas, navigator } = talus;
  navigator.go(navigator.pivot.clone().set(-4, 0, 0.6), navigator.lookingAt(navigator.pivot.clone().set(-4, 0, 0.6), navigator.pivot.clone().set(1.2, 0, 0.6)), true);
  view.dirty();
  view.draw();
  const copy = Object.assign(document.createElement('canvas'), { width: canvas.width, height: canvas.height }), paint = copy.getContext('2d');
  paint.drawImage(canvas, 0, 0);
  return list.map(([left, height]) => {
    const [x, y] = view.project(navigator.pivot.clone().set(1.2, left, height)), [r, g, b] = paint.getImageData(x * canvas.width / view.width, y * canvas.height / view.height, 1, 1).data;
    return r > 160 && g > 160 && b < 180 ? 'yellow' : r > 160 && g < 100 ? 'red' : g > 160 && r < 200 && b < 160 ? 'green' : 'blue';
  });
}, places);
const PLACES = [[0.4, 0.2], [0.4, 1.1], [1.0, 0.4], [-0.4, 0.2], [-0.4, 1.1], [-1.0, 0.4]];
const STRAIGHT = ['red', 'red', SKY, 'green', 'yellow', SKY], BENT = ['red', SKY, 'red', 'green', SKY, 'yellow'], HALF = ['red', 'red', SKY, 'green', SKY, 'yellow'];
// The worms come to stand so.
const stand = (of, wanted, words) => becomes(of, () => seen(of, PLACES), (colors) => isDeepStrictEqual(colors, wanted), `${words}, not ${wanted}`);

const tests = {
  async 'both worms stand'() {
    await steps(1);
    assert.equal(await page.evaluate(() => talus.world.skins.count), 3, 'one part of the first, two of the other');
    await stand(page, STRAIGHT, 'at first');
  },

  async 'one is bent by its program, the other by a joint'() {
    await steps(29);
    await stand(page, BENT, 'after 30 steps');
    await shot('skins-bent');
    await page.evaluate(() => talus.rendering('skeleton', true));
    await drawn(page);
    await shot('skins-bones');
    await page.evaluate(() => talus.rendering('skeleton', false));
    const hit = await page.evaluate(() => {
      const [x, y] = talus.view.project(talus.navigator.pivot.clone().set(1.2, 1.0, 0.4));
      return talus.handle.pick(x, y)?.solid;
    });
    assert.equal(hit, 0, 'a bent worm is pointed at where it is seen');
  },

  async 'who comes later sees it alike'() {
    await page.evaluate(() => talus.ask({ do: 'fields', node: talus.worldMeta.solids[0].node }));  // the tree says now where all is
    await page.evaluate(() => talus.ask({ do: 'set', node: 1, field: 'title', text: '"worms"' }));
    const other = await openPage(view.browser, { viewport: { width: 700, height: 500 }, reducedMotion: 'reduce' });
    await other.goto(view.links[1]);
    await shown(other);
    await stand(other, BENT, 'a second window');
    assert.deepEqual(other.problems, []);
    await other.context().close();
    const { revision } = await page.evaluate(() => talus.world);
    await page.evaluate(() => talus.ask({ do: 'insert', node: 0, field: 'children', index: -1, text: 'Solid { translation 0 0 -9 name "far" children [ Shape { geometry Box { } } ] }' }));
    await page.waitForFunction((before) => talus.world.revision > before, revision);
    await stand(page, BENT, 'a new scene');
  },

  // Skins and solids belong together as the file has them, whenever the first picture is asked for: here after the tree was read, which writes
  // poses of the moment into it.
  async 'a camera that is opened late sees them bent'() {
    const picture = await page.evaluate(async () => {
      const { node } = talus.worldMeta.cameras[0];
      const came = new Promise((done) => { talus.picture = (one) => done({ width: one.width, height: one.height, bytes: [...one.bytes] }); });
      await talus.act({ do: 'watch', what: `device:${node}`, on: true });
      return came;
    });
    const at = ([left, height]) => {  // of what is 1.2 m ahead of the eye, which is 0.6 m high and sees 90 degrees
      const x = Math.round(picture.width * (0.5 - left / 2.4)), y = Math.round(picture.height * (0.5 - (height - 0.6) / 2.4));
      const [r, g, b] = picture.bytes.slice(4 * (y * picture.width + x));
      return r > 160 && g > 160 && b < 180 ? 'yellow' : r > 160 && g < 100 ? 'red' : g > 160 && r < 200 && b < 160 ? 'green' : 'blue';
    };
    assert.deepEqual(PLACES.map(at), BENT);
  },

  async 'the first is straight again, and both after a reset'() {
    await steps(15);
    await stand(page, HALF, 'after 45 steps');
    await view.reset();
    await stand(page, STRAIGHT, 'after a reset');
  },

  async 'the page of a recording bends them too'() {
    const run = spawnSync(process.env.TALUS_PROGRAM, ['run', world, '--until', '1.92', '--record', replay, '--quiet'], { encoding: 'utf8' });
    assert.equal(run.status, 0, run.stdout + run.stderr);
    const other = await openPage(view.browser, { viewport: { width: 700, height: 500 }, reducedMotion: 'reduce' });
    await other.goto(pathToFileURL(replay).href);
    await shown(other);
    for (const [time, wanted] of [[0.96, BENT], [0.03, STRAIGHT], [1.7, HALF], [1.0, BENT]]) {
      await other.evaluate((t) => talus.timeline.seek(t), time);
      await other.waitForFunction((t) => Math.abs(talus.time - t) < 0.04, time);
      await stand(other, wanted, `at ${time} s`);
    }
    assert.deepEqual(other.problems, []);
  },
};

await view.run('skins', tests);
