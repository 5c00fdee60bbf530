// robots.mjs - the page against a world whose robot has a program: keys reach it, what it prints, shows and measures is seen, its joint
// has a slider. argv: the world.
import assert from 'node:assert/strict';
import { drawn } from './mock.mjs';
import { becomes, countPixels, openView } from './view.mjs';

const view = await openView(process.argv[2]), { page, steps, shot } = view;
const settled = () => page.evaluate(() => talus.ask({ do: 'ping' }));
const printed = (words) => page.locator('.console-lines').getByText(words).first().waitFor();
const deviceOf = (name) => page.evaluate((wanted) => talus.worldMeta.devices.find((one) => one.name === wanted), name);
// How many pixels have changed since the last look, to a colour that fits.
const newPixels = (fits) => page.evaluate((text) => {
  talus.view.dirty();
  talus.view.draw();
  const test = { any: () => true, violet: (r, g, b) => r - g > 50 && b > 180, orange: (r, g, b) => r > 200 && r - g > 20 && g - b > 40,
    cyan: (r, g, b) => r < 90 && g > 180 && b > 180, red: (r, g, b) => r > 200 && g < 90 && b < 80 }[text];
  const copy = Object.assign(document.createElement('canvas'), { width: talus.canvas.width, height: talus.canvas.height }), paint = copy.getContext('2d');
  paint.drawImage(talus.canvas, 0, 0);
  const data = paint.getImageData(0, 0, copy.width, copy.height).data, last = window.lastLook ?? data;
  let count = 0;
  for (let i = 0; i < data.length; i += 4)
    count += Math.abs(data[i] - last[i]) + Math.abs(data[i + 1] - last[i + 1]) + Math.abs(data[i + 2] - last[i + 2]) > 60 && test(data[i], data[i + 1], data[i + 2]) ? 1 : 0;
  window.lastLook = data;
  return count;
}, fits);
const only = async (id, on) => { await page.evaluate(([one, is]) => talus.rendering(one, is), [id, on]); await settled(); };

const tests = {
  async 'what the robot prints and its label'() {
    await page.evaluate(() => talus.panel('console', true));
    await steps(5);
    await printed('started');
    await page.getByText('hello <b>world</b>').waitFor();
    await page.evaluate(() => talus.panel('console', false));
  },

  async 'keys reach the program while the switch is on'() {
    await page.getByRole('button', { name: 'Send keys, mouse and gamepad to the robots' }).click();
    await page.locator('canvas.picture').focus();
    await page.keyboard.down('a');
    await settled();
    await steps(12);
    await page.evaluate(() => talus.panel('console', true));
    await printed(/key 65 after/);
    await page.keyboard.up('a');
    await page.keyboard.press('Shift+Escape');
    await page.waitForFunction(() => !talus.keys.toRobot);
    await page.evaluate(() => talus.panel('console', false));
  },

  async 'a display and a lidar have pictures'() {
    await page.getByRole('button', { name: 'Views and cameras' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Picture of screen' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Picture of lidar' }).click();
    await page.keyboard.press('Escape');
    await steps(2);
    await page.waitForFunction(() => {
      const canvas = document.querySelector('canvas[aria-label="Picture of screen"]');
      return canvas.width === 8 && canvas.getContext('2d').getImageData(3, 2, 1, 1).data.join() === '0,255,0,255';
    });
    await page.waitForFunction(() => document.querySelector('canvas[aria-label="Picture of lidar"]').width === 32);
    await shot('robots-pictures');
    await page.getByRole('button', { name: 'Close screen' }).click();
    await page.getByRole('button', { name: 'Close lidar' }).click();
    assert.deepEqual(await page.evaluate(() => [...talus.watched]), []);
  },

  async 'the screen shows on its shape what the program drew'() {
    const GREEN = 'g > 120 && r < 0.6 * g && b < 0.6 * g';
    await page.evaluate(() => talus.overlays.clearLabels());
    await becomes(page, () => countPixels(page, GREEN), (count) => count > 100, 'the shape has green pixels');
  },

  async 'the centre of buoyancy and the bones of a skin'() {
    await page.evaluate(() => { talus.rendering('buoyancy', true); talus.rendering('skeleton', true); });
    await page.waitForFunction(() => talus.drawings.immersions.length === 1);
    const [float, [solid, center, mass]] = [await view.solidOf('FLOAT'), await page.evaluate(() => talus.drawings.immersions[0])];
    const bottom = (await view.place(float))[2] - 0.2;
    assert.equal(solid, float);
    assert.ok(Math.abs(center[2] - (bottom - 0.5) / 2) < 0.01, `half way from its bottom ${bottom} to the surface: ${center}`);
    assert.ok(Math.abs(mass - 160 * (-0.5 - bottom)) < 1, `${mass} kg of water`);
    assert.deepEqual((await deviceOf('skin')).bones, [await view.solidOf('ROBOT'), await view.solidOf('WHEEL')]);
    await page.evaluate((i) => { talus.navigator.axisView('corner'); talus.navigator.fit(talus.world.bounds(i)); }, float);
    assert.ok(await countPixels(page, 'r > 110 && b > 140 && g < 100') > 10, 'a purple cross');
    await shot('robots-buoyancy');
    await page.evaluate((i) => talus.navigator.fit(talus.world.bounds(i)), await view.solidOf('WHEEL'));
    assert.ok(await countPixels(page, 'r > 230 && g > 220 && b > 140 && b < 230 && r - b > 40') > 10, 'bones');
    await shot('robots-bones');
    await page.evaluate(() => { talus.rendering('buoyancy', false); talus.rendering('skeleton', false); talus.run('home'); });
    await steps(1);
    assert.equal(await page.evaluate(() => talus.drawings.immersions.length), 0);
  },

  async 'rays, points, limits and pens are drawn, and asked for while they are'() {
    const eye = await deviceOf('eye');
    await page.evaluate(() => { talus.navigator.axisView('corner'); talus.overlays.clearLabels(); });
    await drawn(page);
    for (const [id, color] of [['distance', 'red'], ['lidar', 'cyan'], ['pens', 'violet'], ['limits', 'orange']]) {
      await newPixels('any');
      await only(id, true);
      await steps(2);
      if (id === 'distance')
        await page.waitForFunction((node) => talus.drawings.devices.values.has(node), eye.node);
      if (id === 'lidar')
        await page.waitForFunction(() => talus.drawings.devices.pictures.size > 0);
      if (id === 'limits')
        await page.waitForFunction(() => talus.drawings.joints.size > 0);
      const count = await newPixels(color);
      assert.ok(count > 10, `${id}: ${count} pixels became ${color}`);
      await shot(`robots-${id}`);
      await only(id, false);
    }
    for (const id of ['cloud', 'lights', 'lightrays', 'connectors', 'inertia', 'islands', 'normals', 'cameras', 'joints', 'mass'])
      await only(id, true);
    await steps(2);
    await page.waitForFunction(() => talus.drawings.contacts !== null);
    await newPixels('any');
    await shot('robots-all');
    for (const id of ['cloud', 'lights', 'lightrays', 'connectors', 'inertia', 'islands', 'normals', 'cameras', 'joints', 'mass'])
      await only(id, false);
  },

  async 'a bumper is pressed by the mouse, and tapped by a key'() {
    const bumper = await view.solidOf('BUMPER');
    await page.evaluate(() => talus.panel('console', true));
    await page.waitForFunction(() => talus.view.height === talus.canvas.parentElement.clientHeight);
    await page.evaluate((i) => talus.navigator.fit(talus.world.bounds(i), talus.navigator.pivot.clone().set(-1, 0, 0.2), true), bumper);
    await drawn(page);
    const [x, y, under] = await page.evaluate((i) => {
      const box = talus.canvas.getBoundingClientRect(), at = talus.view.project(talus.world.position(i, talus.navigator.pivot.clone()));
      return [at[0] + box.left, at[1] + box.top, talus.handle.pick(...at)?.solid];
    }, bumper);
    assert.equal(under, bumper, 'it is in sight');
    await page.mouse.move(x, y);
    await page.mouse.down();
    await settled();
    await steps(4);
    await printed(/bumper 1 after/);
    await page.mouse.up();
    await settled();
    await steps(4);
    await printed(/bumper 0 after/);
    await page.evaluate((i) => talus.handle.select(i), bumper);
    await page.locator('canvas.picture').focus();
    await page.keyboard.press('Enter');
    await settled();
    await steps(4);
    await page.waitForFunction(() => document.querySelector('.console-lines').textContent.match(/bumper 1 after/g)?.length === 2);
    await page.evaluate(() => { talus.panel('console', false); talus.handle.select(-1); });
  },

  async 'what a sensor measures is plotted, and asked for while it is'() {
    const eye = await deviceOf('eye');
    await page.evaluate((node) => { talus.panel('right', true); return talus.inspector.show({ node, type: 'DistanceSensor', name: 'eye' }); }, eye.node);
    await page.getByRole('button', { name: 'Plot what it measures' }).click();
    await steps(2);
    await page.locator('.plot', { hasText: 'Reading of eye' }).locator('.plot-legend').getByText(/value \d/).waitFor();
    assert.deepEqual(await page.evaluate(() => [...talus.watched]), [`device:${eye.node}`]);
    await page.getByRole('button', { name: 'Close the plot of Reading of eye' }).click();
    assert.deepEqual(await page.evaluate(() => [...talus.watched]), []);
  },

  async 'Escape closes the help and leaves what is selected'() {
    await page.evaluate((i) => { talus.handle.select(i); talus.run('help'); }, await view.solidOf('WHEEL'));
    await page.getByRole('dialog', { name: 'Help' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Help' }).waitFor({ state: 'detached' });
    assert.equal(await page.evaluate(() => talus.handle.selected), await view.solidOf('WHEEL'));
    await page.locator('canvas.picture').focus();
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => talus.handle.selected === -1 && !document.querySelector('[role=treeitem][aria-selected=true]'));
  },

  async 'a slider puts the joint, undo takes it back'() {
    await page.evaluate(() => talus.panel('right', true));
    await page.getByRole('tab', { name: 'Joints' }).click();
    const slider = page.getByRole('slider', { name: 'WHEEL' });
    await page.waitForFunction(() => talus.drawings.joints.size > 0);
    await slider.evaluate((one) => { one.value = '1.5'; one.dispatchEvent(new Event('input')); one.dispatchEvent(new Event('change')); });
    await page.waitForFunction(() => Math.abs(talus.drawings.joints.get(0) - 1.5) < 0.01);
    await shot('robots-joints');
    await page.evaluate(() => talus.act({ do: 'undo' }));
    await page.waitForFunction(() => Math.abs(talus.drawings.joints.get(0) - 1.5) > 0.1);
    await page.evaluate(() => talus.panel('right', false));
  },
};

await view.run('robots', tests);
