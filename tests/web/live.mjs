// live.mjs - the page in a headless browser against `talus view` itself: steps, history, hands, edits, saving, two readers.
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drawn, openPage, shown } from './mock.mjs';
import { openView, said, startView } from './view.mjs';

const folder = mkdtempSync(join(tmpdir(), 'talus-live-'));
copyFileSync('drop.wbt', join(folder, 'drop.wbt'));
const view = await openView(join(folder, 'drop.wbt'), { viewport: { width: 1010, height: 460 } }), { page, steps, reset, place } = view;
const [ball, pillar] = [await view.solidOf('BALL'), await view.solidOf('PILLAR')];
const pixelOf = (solid) => page.evaluate((i) => {
  const box = talus.canvas.getBoundingClientRect(), at = talus.view.project(talus.world.position(i, talus.navigator.pivot.clone()));
  return [at[0] + box.left, at[1] + box.top];
}, solid);
const drag = async (solid, [dx, dy], modifier, whileDown = async () => undefined) => {
  const [x, y] = await pixelOf(solid);
  await page.keyboard.down(modifier);
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let i = 1; i <= 3; i++) {
    await page.mouse.move(x + dx * i / 3, y + dy * i / 3);
    await drawn(page);
  }
  await whileDown();
  await page.mouse.up();
  await page.keyboard.up(modifier);
  await drawn(page);
};
const untilTime = (time) => page.waitForFunction((wanted) => Math.abs(talus.time - wanted) < 1e-6, time);
const untilMoved = (solid, axis, from) => page.waitForFunction(([i, k, x]) => Math.abs(talus.world.positions[3 * i + k] - x) > 0.02, [solid, axis, from]);

const tests = {
  async 'one step, then more: the ball falls as it must'() {
    await page.locator('canvas.picture').focus();
    await page.keyboard.press('.');
    await untilTime(0.016);
    await steps(19);
    await untilTime(0.32);
    assert.ok(Math.abs((await place(ball))[2] - (1.5 - 0.5 * 9.81 * 0.32 ** 2)) < 0.05);
  },

  async 'the past is looked at, and gone on from'() {
    await page.locator('.scrubber').evaluate((slider) => { slider.value = '0.1'; slider.dispatchEvent(new Event('input')); });
    await page.waitForFunction(() => talus.time < 0.2);
    await page.getByRole('button', { name: 'Now', exact: true }).click();
    await untilTime(0.32);
    await page.locator('.scrubber').evaluate((slider) => { slider.value = '0'; slider.dispatchEvent(new Event('input')); });
    await page.waitForFunction(() => talus.time < 0.1);
    await page.getByRole('button', { name: 'Go on from here' }).click();
    await page.waitForFunction(() => talus.timeline.isPast === false && talus.time < 0.2);
    await reset();
  },

  async 'Shift moves the ball, undo brings it back, a locked solid stays'() {
    const before = await place(ball);
    await drag(ball, [60, 0], 'Shift');
    await untilMoved(ball, 1, before[1]);
    assert.ok(Math.abs((await place(ball))[2] - before[2]) < 1e-3, 'in the plane of the ground');
    await page.keyboard.press('Control+z');
    await page.waitForFunction(([i, y]) => Math.abs(talus.world.positions[3 * i + 1] - y) < 1e-4, [ball, before[1]]);
    const stood = await place(pillar);
    await drag(pillar, [60, 0], 'Shift');
    await said(page, 'locked');
    assert.deepEqual(await place(pillar), stood);
  },

  async 'a handle moves the ball along its axis and says how far'() {
    await reset();
    await page.evaluate((i) => { talus.handle.select(i); talus.run('tool-translate'); }, ball);
    await drawn(page);
    const before = await place(ball), [from, to] = await page.evaluate((i) => {
      const { view, handle, world } = talus, box = view.canvas.getBoundingClientRect(), at = world.position(i, talus.navigator.pivot.clone());
      const size = at.distanceTo(view.camera.position) * Math.min(1.9 * Math.tan(Math.PI * view.perspective.fov / 360), 7) * handle.gizmo.size / 4;
      return [0, 1].map(() => { at.y += 0.4 * size; const [x, y] = view.project(at); return [x + box.left, y + box.top]; });
    }, ball);
    await page.mouse.move(...from);
    await page.waitForFunction(() => talus.handle.gizmo.axis === 'Y');
    await page.mouse.down();
    await page.mouse.move(...to, { steps: 4 });
    await page.locator('.drag-tip').getByText(/^\d\.\d{3} m$/).waitFor();
    await page.mouse.up();
    await untilMoved(ball, 1, before[1]);
    const after = await place(ball);
    assert.ok(Math.abs(after[0] - before[0]) < 1e-4 && Math.abs(after[2] - before[2]) < 1e-4, `along y alone: ${before} to ${after}`);
    await view.shot('live-handle');
    await page.evaluate(() => talus.run('tool-select'));
    await page.evaluate(() => talus.handle.select(-1));
    await reset();
  },

  async 'Alt pushes the ball with a force'() {
    const before = await place(ball);
    await drag(ball, [90, 0], 'Alt', async () => { await steps(30); });
    await untilMoved(ball, 1, before[1]);
    await reset();
  },

  async 'contacts and states come while they are watched'() {
    await page.evaluate(() => { talus.rendering('contacts', true); talus.rendering('bounding', true); });
    await steps(60);
    await page.waitForFunction(() => talus.drawings.contacts.length > 0);
    await page.waitForFunction((i) => (talus.drawings.states[i] & 1) === 1, pillar);  // it touches the floor
    await page.evaluate(() => { talus.rendering('contacts', false); talus.rendering('bounding', false); });
    await reset();
  },

  async 'a field is edited in the inspector, nonsense is refused in words'() {
    await page.getByRole('treeitem', { name: 'DEF BALL Solid' }).click();
    const input = page.locator('[data-field=translation]');
    await input.fill('0 0.5 1.2');
    await input.press('Enter');
    await page.waitForFunction((i) => Math.abs(talus.world.positions[3 * i + 1] - 0.5) < 1e-5, ball);
    await input.fill('up');
    await input.press('Enter');
    await page.locator('.field [role=alert]:not(:empty)').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('canvas.picture').focus();
  },

  async 'the world is saved with the change'() {
    const answer = await page.evaluate(() => talus.ask({ do: 'save', path: 'saved.wbt' }));
    assert.ok(answer.ok, answer.error);
    assert.match(readFileSync(join(folder, 'saved.wbt'), 'utf8'), /translation 0 0\.5 1\.2/);
  },

  async 'a second reader by the other link watches'() {
    const other = await openPage(view.browser);
    await other.goto(view.links[1]);
    await shown(other);
    await other.getByText('Watching').waitFor();
    assert.equal(await other.locator('.tools').isVisible(), false);
    await steps(1);
    await other.waitForFunction(() => talus.time > 0.01);
    assert.deepEqual(other.problems, []);
    await other.context().close();
  },

  // Their eyes look along -z in files of old: what they look at has to be in the middle, and up is where it is up.
  async 'the viewpoint of an old world, whose y is up'() {
    const old = join(folder, 'old.wbt');
    writeFileSync(old, `#VRML_SIM V6.0 utf8
WorldInfo { }
Viewpoint { position 0 1 6 orientation 1 0 0 0 }
Solid { translation 0 1 0 name "ahead" children [ Shape { geometry Box { size 1 1 1 } } ] }
Solid { translation 0 2 0 name "above" children [ Shape { geometry Box { size 0.2 0.2 0.2 } } ] }
`);
    const { program, links } = await startView(old), other = await openPage(view.browser, { viewport: { width: 700, height: 500 }, reducedMotion: 'reduce' });
    await other.goto(links[0]);
    await shown(other);
    const [ahead, above] = await other.evaluate(() => ['ahead', 'above'].map((name) => {
      const [x, y] = talus.view.project(talus.world.position(talus.worldMeta.solids.findIndex((one) => one.name === name), talus.navigator.pivot.clone()));
      return [x / talus.view.width, y / talus.view.height];
    }));
    assert.ok(Math.abs(ahead[0] - 0.5) < 0.01 && Math.abs(ahead[1] - 0.5) < 0.01, `in the middle, not at ${ahead}`);
    assert.ok(Math.abs(above[0] - 0.5) < 0.01 && above[1] < 0.4, `above it, not at ${above}`);
    assert.deepEqual(other.problems, []);
    program.kill();
    await other.context().close();
  },

  async 'forms of one kind are drawn at once, however they are stretched'() {
    const forest = join(folder, 'forest.wbt'), sizes = [[1, 2], [0.5, 4], [2, 1], [0.3, 0.3]];
    writeFileSync(forest, `#VRML_SIM R2025a utf8\nWorldInfo { }\nViewpoint { position -20 0 5 }\n${sizes.map(([radius, height], i) =>
      `Solid { translation 0 ${4 * i - 6} 0 name "${i}" children [ Shape { appearance PBRAppearance { baseColor 0 ${0.2 + 0.2 * i} 0 metalness 0 } geometry Cone { bottomRadius ${radius} height ${height} } } ] }`).join('\n')}\n`);
    const { program, links } = await startView(forest), other = await openPage(view.browser, { viewport: { width: 700, height: 500 }, reducedMotion: 'reduce' });
    await other.goto(links[0]);
    await shown(other);
    assert.equal(await other.evaluate(() => talus.world.batchCount), 1);
    const boxes = await other.evaluate((count) => Array.from({ length: count }, (_, i) => talus.world.localBox(i).max.toArray()), sizes.length);
    boxes.forEach((max, i) => assert.ok(Math.abs(max[0] - sizes[i][0]) < 0.05 * sizes[i][0] && Math.abs(max[2] - sizes[i][1] / 2) < 1e-3, `${max} of ${sizes[i]}`));
    program.kill();
    await other.context().close();
  },
};

await view.run('live', tests, () => rmSync(folder, { recursive: true }));
