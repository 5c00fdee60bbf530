// drawing.mjs - what a physics plugin draws with OpenGL is seen in the browser, from wherever one looks, and costs nothing while nobody
// asks for it. argv: the world of examples/physics_drawing.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { countPixels, openView } from './view.mjs';

const view = await openView(process.argv[2]), { page, steps } = view;
const RED = 'r > 230 && g < 30 && b < 30';  // the colour of the line; the ball is duller
const corners = () => page.evaluate(() => talus.drawings.plugin.group.children.reduce((sum, one) => sum + 2 * (one.geometry.instanceCount ?? 0), 0));
const rendering = (id, on) => page.evaluate(([one, is]) => talus.rendering(one, is), [id, on]);

const tests = {
  async 'the way of the ball is drawn as it flies'() {
    await steps(40);
    const few = await corners();
    await steps(40);
    assert.ok(await corners() >= few + 60, `${few} corners, then ${await corners()}`);
    assert.ok(await countPixels(page, RED) > 200, `${await countPixels(page, RED)} pixels are red`);
    await view.shot('drawing');
  },

  async 'its corners are where the ball was'() {
    const [last, ball] = await page.evaluate(() => {
      const line = talus.drawings.plugin.group.children[0].geometry.getAttribute('instanceEnd'), i = line.count - 1;
      return [[line.getX(i), line.getY(i), line.getZ(i)], Array.from(talus.world.positions.slice(3, 6))];
    });
    const distance = Math.hypot(...last.map((x, i) => x - ball[i]));
    assert.ok(distance < 0.06, `the line ends ${distance} m from the ball: one step`);
  },

  async 'it stays in the world when one looks from elsewhere'() {
    const before = await countPixels(page, RED);
    await page.evaluate(() => talus.navigator.axisView('east'));  // along the line: it is a stroke now
    const along = await countPixels(page, RED);
    await view.shot('drawing-east');
    await page.evaluate(() => talus.navigator.axisView('south'));
    const across = await countPixels(page, RED);
    assert.ok(along > 0 && along < before && across > 2 * along, `${before}, ${along} along it, ${across} across`);
  },

  async 'it goes when it is switched off, and comes back while the world stands'() {
    await rendering('plugin', false);
    assert.equal(await countPixels(page, RED), 0);
    await steps(1);
    assert.equal(await corners(), 0);
    await rendering('plugin', true);
    await page.waitForFunction(() => talus.drawings.plugin.group.children.length > 0);
    assert.ok(await countPixels(page, RED) > 200);
  },

  async 'the past has no drawing, now has it again'() {
    await page.locator('.scrubber').evaluate((slider) => { slider.value = '0.1'; slider.dispatchEvent(new Event('input')); });
    await page.waitForFunction(() => talus.timeline.isPast && talus.time < 0.2 && talus.drawings.plugin.group.children.length === 0);
    await page.getByRole('button', { name: 'Now', exact: true }).click();
    await page.waitForFunction(() => !talus.timeline.isPast && talus.drawings.plugin.group.children.length > 0);
  },

  async 'drawing changed nothing of the run'() {
    const time = await page.evaluate(() => talus.time);
    const saved = process.argv[2].replace(/\.wbt$/, '_seen.wbt');
    const answer = await page.evaluate((path) => talus.ask({ do: 'save', path }), saved.split('/').pop());
    assert.ok(answer.ok, answer.error);
    const plain = spawnSync(process.env.TALUS_PROGRAM, ['run', process.argv[2], '--until', String(time), '--save', saved.replace('_seen', '_plain')], { encoding: 'utf8' });
    assert.equal(plain.status, 0, plain.stderr);
    const { readFileSync } = await import('node:fs');
    assert.equal(readFileSync(saved, 'utf8'), readFileSync(saved.replace('_seen', '_plain'), 'utf8'));
  },
};
await view.run('drawing', tests);
