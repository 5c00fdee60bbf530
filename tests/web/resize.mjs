// resize.mjs - handles that resize, in a headless browser against `talus view`: a pull at a handle, all sides with Shift, what is seen and
// what collides, undo, keys and buttons, what is locked or nothing. argv: the world.
import assert from 'node:assert/strict';
import { drawn } from './mock.mjs';
import { becomes, countPixels, openView, said } from './view.mjs';

const view = await openView(process.argv[2]), { page, shot } = view;
const [box, post, ball, nailed] = [await view.solidOf('BOX'), await view.solidOf('POST'), await view.solidOf('BALL'), await view.solidOf('NAILED')];
const RED = 'r > 120 && g < 70 && b < 70', BLUE = 'b > 120 && r < 80';
const size = () => page.evaluate(() => talus.resizer.current?.size);
const choice = page.getByRole('combobox', { name: 'What is resized' });
const resizing = async (solid) => {
  await page.evaluate((i) => { talus.handle.select(i); talus.setTool('resize'); }, solid);
  await page.waitForFunction((i) => talus.resizer.solid === i && talus.resizer.current, solid);
  await drawn(page);
};
// From a handle along its axis and as far again; `whileDown` before it is let go.
const pull = async (axis, whileDown = async () => undefined, expect = axis) => {
  const [from, to] = await page.evaluate((name) => {
    const { view, handle } = talus, rect = view.canvas.getBoundingClientRect(), at = handle.proxy.position.clone();
    const reach = at.distanceTo(view.camera.position) * Math.min(1.9 * Math.tan(Math.PI * view.perspective.fov / 360), 7) * handle.gizmo.size / 4;
    const way = at.clone().set(Number(name === 'X'), Number(name === 'Y'), Number(name === 'Z')).applyQuaternion(handle.proxy.quaternion);
    return [0.5, 1].map((part) => { const [x, y] = view.project(at.clone().addScaledVector(way, part * reach)); return [x + rect.left, y + rect.top]; });
  }, axis);
  await page.mouse.move(...from);
  await page.waitForFunction((name) => talus.handle.gizmo.axis === name, expect);
  await page.mouse.down();
  await page.mouse.move(...to, { steps: 4 });
  await whileDown();
  await page.mouse.up();
  await drawn(page);
};
// The last change is taken back: the form has the size of before again.
const undone = async (solid, before) => {
  await page.evaluate(() => talus.act({ do: 'undo' }));
  await resizing(solid);
  await page.waitForFunction((wanted) => String(talus.resizer.current?.size) === wanted, String(before));
};
const wider = (from) => page.waitForFunction((x) => talus.resizer.current?.size[1] > 1.5 * x, from);
const shapeOf = (solid) => page.evaluate((i) => talus.worldMeta.shapes.find((one) => one[1] === i).slice(2, 5), solid);

await page.evaluate(() => { talus.panel('left', false); talus.panel('right', false); });  // the picture has all the room
await drawn(page);

const tests = {
  async 'a pull at a handle makes the box wider, where it is seen and where it collides'() {
    const red = await countPixels(page, RED), shape = await shapeOf(box);
    await resizing(box);
    assert.deepEqual(await size(), [0.4, 0.4, 0.4]);
    assert.equal(await choice.inputValue(), 'Box (seen, bounding object)');
    await pull('Y', async () => {
      await page.locator('.drag-tip').getByText(/^0\.4 × [\d.]+ × 0\.4 m$/).waitFor();
      await shot('resize-pull');
    });
    await wider(0.4);
    const [x, y, z] = await size();
    assert.ok(x === 0.4 && z === 0.4 && y > 0.6, `${x} ${y} ${z}`);
    await page.waitForFunction(([i, width]) => talus.worldMeta.shapes.find((one) => one[1] === i)[3] > 1.5 * width, [box, shape[1]]);
    await page.waitForFunction(([i, width]) => { const { min, max } = talus.world.localBox(i); return Math.abs(max.y - min.y - width) < 1e-3; }, [box, y]);
    await becomes(page, () => countPixels(page, RED), (count) => count > 1.3 * red, `more than ${red} red pixels are seen`);
    await undone(box, [0.4, 0.4, 0.4]);
    await page.waitForFunction((i) => { const { min, max } = talus.world.localBox(i); return Math.abs(max.y - min.y - 0.4) < 1e-3; }, box);
  },

  async 'with Shift all sides grow alike'() {
    await resizing(box);
    await page.keyboard.down('Shift');
    await pull('Y');
    await page.keyboard.up('Shift');
    await wider(0.4);
    const [x, y, z] = await size();
    assert.ok(x === y && y === z && x > 0.6, `${x} ${y} ${z}`);
    await undone(box, [0.4, 0.4, 0.4]);
  },

  async 'what is seen and what collides have their own handles, a cylinder stays round'() {
    const blue = await countPixels(page, BLUE);
    await resizing(post);
    assert.deepEqual(await choice.locator('option').allTextContents(), ['Cylinder (seen)', 'Capsule (bounding object)']);
    await pull('Y');
    await wider(0.3);
    let [x, y, z] = await size();
    assert.ok(x === y && z === 1, `${x} ${y} ${z}`);
    await becomes(page, () => countPixels(page, BLUE), (count) => count > 1.2 * blue, `more than ${blue} blue pixels are seen`);
    assert.deepEqual((await shapeOf(post)).slice(0, 1), [0.15], 'what collides is as it was');
    await undone(post, [0.3, 0.3, 1]);
    await choice.selectOption({ index: 1 });
    await drawn(page);
    const bound = await size();
    await pull('Z');
    await page.waitForFunction(() => talus.resizer.current.size[2] > 1.3);
    [x, y, z] = await size();
    assert.ok(x === 0.3 && y === 0.3, `${x} ${y} ${z}`);
    await shot('resize-bounding');
    await undone(post, bound);
  },

  async 'a sphere grows on all sides, a Transform stretches what is in it'() {
    await resizing(ball);
    await pull('Y');
    await wider(0.4);
    const [x, y, z] = await size();
    assert.ok(x === y && y === z, `${x} ${y} ${z}`);
    await undone(ball, [0.4, 0.4, 0.4]);
    await choice.selectOption({ index: 1 });
    await drawn(page);
    assert.deepEqual(await size(), [1, 2, 1]);
    await pull('Y');
    await wider(2);
    await undone(ball, [1, 2, 1]);
  },

  async 'keys and buttons do it too'() {
    await resizing(box);
    await page.locator('canvas.picture').focus();
    await page.keyboard.press('Control+ArrowUp');
    await page.waitForFunction(() => talus.resizer.current.size[0] === 0.44);
    await page.getByRole('button', { name: 'Smaller' }).click();
    await page.getByRole('group', { name: 'Resize' }).getByText('0.4 × 0.4 × 0.4 m').waitFor();
    await page.getByRole('button', { name: 'Larger' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => talus.resizer.current.size[0] === 0.44);
    await page.locator('canvas.picture').focus();
    await page.keyboard.press('Control+z');
    await page.waitForFunction(() => talus.resizer.current?.size[0] === 0.4);
  },

  async 'an answer that is older than the last change does not take it back'() {
    await resizing(box);
    const after = await page.evaluate(async () => {
      const { resizer } = talus, { ask } = resizer, frame = () => new Promise(requestAnimationFrame);
      let goOn;  // lets the first answer through
      resizer.ask = (message) => {
        resizer.ask = ask;
        return ask(message).then((answer) => new Promise((done) => { goOn = () => done(answer); }));
      };
      const load = resizer.load(resizer.solid, talus.worldMeta.solids[resizer.solid].node);
      resizer.nudge(1.1);
      while (!goOn)
        await frame();
      goOn();
      await load;
      return resizer.current.size;
    });
    assert.deepEqual(after, [0.44, 0.44, 0.44]);
    await undone(box, [0.4, 0.4, 0.4]);
  },

  async 'Ctrl turns the handles of another tool into these'() {
    await page.evaluate((i) => { talus.setTool('translate'); talus.handle.select(i); }, box);
    await drawn(page);
    assert.equal(await page.evaluate(() => talus.handle.gizmo.mode), 'translate');
    assert.ok(await page.getByRole('group', { name: 'Resize' }).isHidden());
    await page.keyboard.down('Control');
    await page.waitForFunction(() => talus.handle.gizmo.mode === 'scale' && talus.resizer.current);
    await page.keyboard.up('Control');
    await page.waitForFunction(() => talus.handle.gizmo.mode === 'translate');
  },

  async 'a choice outlives an answer that was on its way'() {
    await resizing(post);
    const chosen = await page.evaluate(async () => {
      const { resizer } = talus, { ask } = resizer;
      let goOn;
      resizer.ask = (message) => {
        resizer.ask = ask;
        return new Promise((done) => { goOn = () => done(ask(message)); });
      };
      const load = resizer.load(resizer.solid, talus.worldMeta.solids[resizer.solid].node);
      resizer.choice.selectedIndex = 1;
      resizer.choice.dispatchEvent(new Event('change'));
      goOn();
      await load;
      return resizer.current.type;
    });
    assert.equal(chosen, 'Capsule');
    assert.equal(await choice.inputValue(), 'Capsule (bounding object)');
  },

  async 'what is locked stays, and is told once'() {
    await resizing(nailed);
    await pull('Y');
    await said(page, "'NAILED' is locked");
    await page.waitForFunction(() => talus.resizer.current?.size[1] === 0.2);
    await page.evaluate(() => talus.ask({ do: 'children', node: 0 }));  // whatever the pull asked for is answered before this
    assert.equal(await page.locator('.console-lines').getByText('is locked').count(), 1);
  },

  async 'the tree chooses which form'() {
    await resizing(ball);
    const hat = await page.evaluate(async () => {
      const { sizes } = await talus.ask({ do: 'sizes', node: talus.worldMeta.solids[talus.handle.selected].node });
      talus.chosen({ node: sizes[2].node, type: 'Cone' });
      return sizes[2].node;
    });
    await page.waitForFunction((node) => talus.resizer.current?.node === node, hat);
    assert.equal(await choice.inputValue(), 'Cone (seen)');
    await shot('resize-cone');
  },
};

await view.run('resize', tests);
