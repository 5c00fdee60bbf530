// page.mjs - the live page in a headless browser against a mock simulation: what is asked, shown and drawn. No times are judged.
import assert from 'node:assert/strict';
import { contactSection, countedFrames, countFrames, drawn, launch, makeGlb, MockSim, openPage, shown, stateSection } from './mock.mjs';
import { said } from './view.mjs';

const HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
const boxes = [
  { name: 'floor', size: [4, 4, 0.1], color: [0.5, 0.5, 0.5], position: [0, 0, -0.05] },
  { name: 'RED', size: [0.5, 0.5, 0.5], color: [0.8, 0.05, 0.05], position: [0, 0, 0.25] },
  { name: 'part', size: [0.2, 0.2, 0.2], color: [0.1, 0.8, 0.1], position: [0, 0, 0.6] },
  { name: HOSTILE, size: [0.3, 0.3, 0.3], color: [0.1, 0.2, 0.9], position: [1, 0.6, 0.15] },
];
const Q = [0, 0, 0, 1];
const posesOf = (list) => list.map(({ position }, i) => [i, position, Q]);
const meta = { title: `world ${HOSTILE}`, timestep: 0.016, scales: { force: 30, torque: 5, line: 0.1 },
  solids: [{ name: 'floor', node: 10, mass: 0 }, { name: 'RED', node: 11, mass: 2 }, { name: 'part', node: 12, parent: 1, mass: 0.1 }, { name: HOSTILE, node: 13, mass: 1 }],
  viewpoint: { position: [-3, 0, 1.2], orientation: [0, 1, 0, 0.3], fov: 0.785 } };
const answers = {
  children: ({ node }) => ({ nodes: node === 0 ? meta.solids.map((solid, i) => ({ node: solid.node, type: 'Solid', name: solid.name, count: i === 1 ? 1 : 0, solid: i })) : [{ node: 50, type: 'Box', field: 'boundingObject', count: 0 }] }),
  fields: { rows: [{ field: 'translation', type: 'SFVec3f', text: '0 0 0.25', default: '0 0 0', unit: 'm', help: 'place', file: 'w.wbt', line: 7 }, { field: 'name', type: 'SFString', text: HOSTILE }] },
  set: ({ text }) => text === 'nonsense' ? { ok: false, error: 'translation wants three numbers' } : { text },
  move: ({ solid }) => solid === 3 ? { ok: false, error: 'solid 3 is locked' } : {},
};

const browser = await launch();
const sim = await new MockSim({ meta, glb: makeGlb(boxes), poses: posesOf(boxes), answers }).start();
const page = await openPage(browser);
await page.goto(`${sim.url}#token=secret`);
await shown(page);
await drawn(page);
const settled = async () => { await page.waitForFunction(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))); };
const pixelOf = (solid) => page.evaluate((i) => {
  const box = talus.canvas.getBoundingClientRect(), at = talus.view.project(talus.world.position(i, talus.navigator.pivot.clone()));
  return [at[0] + box.left, at[1] + box.top];
}, solid);
const drag = async ([x, y], [dx, dy], button = 'left') => {
  await page.mouse.move(x, y);
  await page.mouse.down({ button });
  for (let i = 1; i <= 4; i++) {
    await page.mouse.move(x + dx * i / 4, y + dy * i / 4);
    await drawn(page);
  }
  await page.mouse.up({ button });
  await settled();
};
const answered = () => page.evaluate(() => talus.ask({ do: 'ping' }));  // whatever was asked before
const selected = (solid) => page.waitForFunction((wanted) => talus.handle.selected === wanted, solid);
const eye = () => page.evaluate(() => [...talus.view.camera.position.toArray(), ...talus.view.camera.quaternion.toArray()]);
// How many pixels of the picture come near a colour (0 to 255).
const countPixels = (color, tolerance) => page.evaluate(([[r, g, b], near]) => {
  talus.view.dirty();
  talus.view.draw();
  const copy = Object.assign(document.createElement('canvas'), { width: talus.canvas.width, height: talus.canvas.height }), paint = copy.getContext('2d');
  paint.drawImage(talus.canvas, 0, 0);
  const pixels = paint.getImageData(0, 0, copy.width, copy.height).data;
  let count = 0;
  for (let i = 0; i < pixels.length; i += 4)
    count += Math.abs(pixels[i] - r) < near && Math.abs(pixels[i + 1] - g) < near && Math.abs(pixels[i + 2] - b) < near ? 1 : 0;
  return count;
}, [color, tolerance]);

const tests = {
  async 'a hello with the token, then a picture of few draw calls'() {
    assert.deepEqual(sim.wasAsked('hello')[0], { do: 'hello', token: 'secret', protocol: 1 });
    await sim.until(() => sim.acks >= 1);  // the frame drawn is acknowledged
    const calls = await page.evaluate(() => talus.view.renderer.info.render.calls);
    assert.ok(calls > 0 && calls <= 30, `${calls} draw calls`);
    assert.equal(await page.evaluate(() => talus.world.batchCount), 1, 'boxes of any size and colour are instances of one');
    assert.ok(await countPixels([200, 30, 30], 70) > 200, 'the red box is seen');
  },

  async 'names out of a world are text'() {
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.equal(await page.locator('img').count(), 0);
    assert.ok((await page.locator('.title').textContent()).includes(HOSTILE));
    await page.waitForFunction((name) => document.querySelector('[role=tree]').textContent.includes(name), HOSTILE);
  },

  async 'dragging a solid turns the view about it'() {
    const before = await eye();
    await drag(await pixelOf(1), [80, 20]);
    const after = await eye();
    assert.notDeepEqual(after.slice(0, 3), before.slice(0, 3));
    const distance = ([x, y, z]) => Math.hypot(x, y, z - 0.25);
    assert.ok(Math.abs(distance(after) - distance(before)) < 0.6);
    assert.ok(Math.abs(after[2]) < 10);
  },

  async 'wheel zooms, keys choose views and projection'() {
    const before = await eye(), [x, y] = await pixelOf(1);
    await page.mouse.move(x, y);
    await page.mouse.wheel(0, -100);
    await page.waitForFunction((far) => talus.view.camera.position.length() < far, Math.hypot(...before.slice(0, 3)));
    await page.keyboard.press('5');
    await page.waitForFunction(() => talus.view.camera.quaternion.angleTo(talus.navigator.lookingAt(talus.view.camera.position, talus.navigator.pivot)) < 1e-3 && talus.navigator.axis(0, 0, -1).z < -0.999);
    await page.keyboard.press('o');
    assert.equal(await page.evaluate(() => talus.view.isParallel), true);
    await page.keyboard.press('o');
    await page.keyboard.press('h');
    await page.waitForFunction(() => Math.abs(talus.view.camera.position.x + 3) < 1e-3);
  },

  async 'a click selects the robot, a second one its part'() {
    await page.mouse.click(...await pixelOf(2));
    await selected(1);
    await settled();
    await page.mouse.click(...await pixelOf(2));
    await selected(2);
    await page.keyboard.press('Escape');
    await selected(-1);
    await settled();
  },

  async 'run: step, play, pause, scrub, go on from there'() {
    await page.locator('canvas.picture').focus();
    await page.keyboard.press('.');
    await page.waitForFunction(() => document.querySelector('.time').textContent === '0.016 s');
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
    await page.locator('.scrubber').evaluate((slider) => { slider.value = '0.008'; slider.dispatchEvent(new Event('input')); });
    await page.getByRole('button', { name: 'Go on from here' }).click();
    await page.getByRole('button', { name: 'Go on from here' }).waitFor({ state: 'hidden' });
    for (const what of ['step', 'play', 'pause', 'seek', 'resume'])
      assert.equal(sim.wasAsked(what).length, 1, what);
    await page.getByLabel('Speed').selectOption('4');
    await sim.until(() => sim.wasAsked('speed').length > 0);
    assert.equal(sim.wasAsked('speed')[0].factor, 4);
  },

  async 'tree: opened by keys, a field edited, a refusal shown'() {
    const row = page.getByRole('treeitem', { name: 'Solid RED' });
    await row.click();
    await row.focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('treeitem', { name: 'Box' }).waitFor();
    const input = page.locator('[data-field=translation]');
    await input.fill('1 2 3');
    await input.press('Enter');
    await page.waitForFunction(() => document.querySelector('[data-field=translation]').dataset.shown === '1 2 3');
    assert.deepEqual(sim.wasAsked('set').map(({ node, field, text }) => [node, field, text]), [[11, 'translation', '1 2 3']]);
    await input.fill('nonsense');
    await input.press('Enter');
    await page.getByText('translation wants three numbers').waitFor();
    await page.keyboard.press('Escape');
    await page.evaluate(() => { talus.panel('right', false); talus.handle.select(-1); });
    await settled();
  },

  async 'outlines: white, pink while colliding, blue while asleep'() {
    await page.evaluate(() => { talus.rendering('bounding', true); talus.rendering('shadows', false); });
    await sim.until(() => sim.wasAsked('watch').some(({ what, on }) => what === 'states' && on));
    const pink = [255, 150, 210], blue = [160, 195, 255];
    const expected = [[0, 'none'], [1, 'pink'], [2, 'blue']];
    for (const [state, name] of expected) {
      sim.advance([['STAT', stateSection([[1, state], [3, state]])]]);
      await page.waitForFunction((step) => Math.round(talus.time / 0.016) === step, sim.step);
      await drawn(page);
      const pixels = await page.evaluate(() => {
        talus.view.dirty();
        talus.view.draw();
        const copy = Object.assign(document.createElement('canvas'), { width: talus.canvas.width, height: talus.canvas.height }), paint = copy.getContext('2d');
        paint.drawImage(talus.canvas, 0, 0);
        const data = paint.getImageData(0, 0, copy.width, copy.height).data, count = { pink: 0, blue: 0 };
        for (let i = 0; i < data.length; i += 4) {
          if (data[i] > 240 && data[i + 1] < 190 && data[i + 2] > 160 && data[i + 2] < 235) count.pink++;
          if (data[i] < 190 && data[i + 2] > 240 && data[i + 1] > 130 && data[i + 1] < 210) count.blue++;
        }
        return count;
      });
      assert.equal(pixels.pink > 60, name === 'pink', `${name}: ${JSON.stringify(pixels)} ${pink}`);
      assert.equal(pixels.blue > 30, name === 'blue', `${name}: ${JSON.stringify(pixels)} ${blue}`);
    }
    await page.evaluate(() => { talus.rendering('bounding', false); talus.rendering('shadows', true); });
  },

  async 'contacts and their forces are drawn'() {
    await page.evaluate(() => { talus.rendering('contacts', true); talus.rendering('forces', true); });
    const before = await countPixels([40, 235, 90], 60);
    sim.advance([['CONT', contactSection([{ a: 1, b: 0, point: [0, 0, 0.3], normal: [0, 0, 1], force: [0, 0, 20] }])]]);
    await page.waitForFunction(() => talus.drawings.contacts.length === 1);
    assert.ok(await countPixels([40, 235, 90], 60) > before + 5, 'a green arrow');
    await page.evaluate(() => { talus.rendering('contacts', false); talus.rendering('forces', false); });
  },

  async 'Shift drags move, a locked solid says so'() {
    await page.keyboard.down('Shift');
    await drag(await pixelOf(1), [60, 0]);
    await page.keyboard.up('Shift');
    await sim.until(() => sim.wasAsked('release').length === 1);
    const moves = sim.wasAsked('move');
    assert.ok(moves.length > 0 && moves.every((move) => move.solid === 1 && move.hold === true));
    assert.ok(Math.hypot(moves.at(-1).position[0], moves.at(-1).position[1]) > 0.05);
    assert.ok(Math.abs(moves.at(-1).position[2] - 0.25) < 1e-6, 'in the plane of the ground');
    await page.keyboard.down('Shift');
    await drag(await pixelOf(3), [40, 0]);
    await page.keyboard.up('Shift');
    await said(page, 'solid 3 is locked');
  },

  async 'Alt drags push with a force that is told in newtons'() {
    await page.keyboard.down('Alt');
    const at = await pixelOf(1);
    await page.mouse.move(...at);
    await page.mouse.down();
    for (let i = 1; i <= 4; i++) {
      await page.mouse.move(at[0] + 30 * i, at[1]);
      await drawn(page);
    }
    assert.match(await page.locator('.drag-tip').textContent(), /N$/);
    await page.mouse.up();
    await page.keyboard.up('Alt');
    await settled();
    await sim.until(() => sim.wasAsked('force').length > 0);
    const forces = sim.wasAsked('force');
    assert.ok(forces.length > 0 && forces[0].solid === 1 && forces[0].at.length === 3 && forces[0].to.length === 3);
  },

  async 'answers that come late: a refusal is told once, and ends nothing that was begun meanwhile'() {
    const told = () => page.locator('.console-lines').getByText('solid 3 is locked').count(), before = await told();
    const moves = (solid) => sim.wasAsked('move').filter((move) => move.solid === solid).length, had = moves(3);
    sim.hold();
    await page.keyboard.down('Shift');
    await drag(await pixelOf(3), [40, 0]);
    const [x, y] = await pixelOf(1);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 20, y);
    await drawn(page);
    await sim.until(() => moves(3) > had + 1);
    sim.letGo();
    await answered();
    assert.equal(await told(), before + 1);
    const count = moves(1);
    await page.mouse.move(x + 60, y);
    await sim.until(() => moves(1) > count);
    await page.mouse.up();
    await page.keyboard.up('Shift');
  },

  async 'answers that come late: turns of the wheel add up'() {
    const had = sim.wasAsked('move').length;
    sim.hold();
    await page.keyboard.down('Shift');
    await page.mouse.move(...await pixelOf(1));
    for (let i = 0; i < 3; i++)
      await page.mouse.wheel(0, -100);
    await sim.until(() => sim.wasAsked('move').length === had + 3);
    sim.letGo();
    await page.keyboard.up('Shift');
    const [x, y, z] = sim.wasAsked('move').at(-1).position;
    assert.ok(Math.hypot(x, y) < 1e-6 && Math.abs(z - 0.55) < 1e-6, `0.1 m each from 0.25 m on, not to ${z}`);
    await answered();
  },

  async 'answers that come late: what was on its way before does not bring the old back'() {
    const speed = page.getByLabel('Speed');
    sim.hold();
    await speed.selectOption('2');
    await page.locator('.scrubber').evaluate((slider) => { for (const time of ['0.004', '0.008']) { slider.value = time; slider.dispatchEvent(new Event('input')); } });
    sim.sendState({ pace: 1, live: true, clients: 7 });
    await page.waitForFunction(() => talus.source.state.clients === 7);
    assert.equal(await speed.inputValue(), '2');
    await page.getByRole('button', { name: 'Now', exact: true }).click();
    await sim.until(() => sim.wasAsked('live').length === 1);
    sim.sendState({ live: false, clients: 8 });
    await page.waitForFunction(() => talus.source.state.clients === 8);
    assert.equal(await page.evaluate(() => talus.timeline.isPast), false);
    sim.letGo();
    await answered();
    assert.ok(sim.asked.findLastIndex((one) => one.do === 'seek') < sim.asked.findLastIndex((one) => one.do === 'live'), 'now is now');
    await page.evaluate(() => { talus.rendering('contacts', true); talus.rendering('contacts', false); });
    sim.advance([['CONT', contactSection([{ a: 1, b: 0, point: [0, 0, 0.3], normal: [0, 0, 1], force: [0, 0, 20] }])]]);  // as it was asked for
    await page.waitForFunction((step) => talus.step === step, sim.step);
    assert.equal(await page.evaluate(() => talus.drawings.contacts.length), 0);
  },

  async 'what a pointer does is sent in the animation frame that follows, the newest of it alone'() {
    const [x, y] = await pixelOf(1);
    await countFrames(page);
    await page.keyboard.down('Alt');
    await page.mouse.move(x, y);
    await page.mouse.down();
    for (let i = 1; i <= 12; i++)
      await page.mouse.move(x + 10 * i, y);
    await drawn(page);
    await settled();
    const log = await countedFrames(page);
    await page.mouse.up();
    await page.keyboard.up('Alt');
    assert.ok(log.frames.length > 0 && log.frames.every((count) => count === 1), `frames from motion to message: ${log.frames}`);
    assert.equal(new Set(log.perFrame).size, log.perFrame.length, 'one message a frame at most');
  },

  async 'one finger turns the view, two zoom it'() {
    const touch = await page.context().newCDPSession(page), [x, y] = await pixelOf(1);
    // A finger that rests opens a menu, and on a busy machine every finger rests: not here.
    const LONG_PRESS_MS = 550;
    await page.evaluate((long) => { const { setTimeout } = window; window.setTimeout = (act, ms) => ms === long ? 0 : setTimeout(act, ms); window.withLongPress = () => { window.setTimeout = setTimeout; }; }, LONG_PRESS_MS);
    const send = (type, points) => touch.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([px, py], id) => ({ x: px, y: py, id })) });
    const before = await eye();
    await send('touchStart', [[x, y]]);
    await send('touchMove', [[x + 30, y]]);
    await send('touchMove', [[x + 60, y]]);
    await send('touchEnd', []);
    await page.waitForFunction((was) => Math.abs(talus.view.camera.position.y - was) > 0.05, before[1]);
    const distance = await page.evaluate(() => talus.view.focusDistance);
    await send('touchStart', [[x - 20, y], [x + 20, y]]);
    await send('touchMove', [[x - 60, y], [x + 60, y]]);
    await send('touchEnd', []);
    await page.waitForFunction((was) => talus.view.focusDistance < 0.7 * was, distance);
    await page.evaluate(() => { window.withLongPress(); talus.navigator.home(); });
    await page.waitForFunction(() => Math.abs(talus.view.camera.position.x + 3) < 1e-3);
  },

  async 'one who walks has keys of his own, and turns his head'() {
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitemradio', { name: /First person/ }).click();
    await page.locator('canvas.picture').focus();
    const before = await eye();
    await page.keyboard.down('w');
    await page.waitForFunction((x) => talus.view.camera.position.x > x + 0.2, before[0]);
    await page.keyboard.up('w');
    await settled();
    const after = await eye();
    assert.ok(Math.abs(after[2] - before[2]) < 1e-6, 'level, though one looks down');
    assert.deepEqual(after.slice(3), before.slice(3), 'in the same direction');
    assert.equal(await page.evaluate(() => talus.drawings.on.has('wireframe')), false, 'the key is for nobody else');
    await drag([400, 200], [60, 0]);  // wherever he has come to by now
    const turned = await eye();
    assert.deepEqual(turned.slice(0, 3), after.slice(0, 3), 'the head alone turns');
    assert.notDeepEqual(turned.slice(3), after.slice(3));
    await page.evaluate(() => { talus.navigator.style = 'webots'; talus.navigator.home(); });
    await drawn(page);
  },

  async 'from behind: the eye follows the heading, and stays level'() {
    const seen = await page.evaluate(() => {
      const { navigator, world, view } = talus, put = (q) => { world.setPose(1, [0, 0, 0.25], 0, q, 0); navigator.followStep(talus.time); };
      navigator.follow('behind', 1);
      put([0, 0, 0, 1]);
      const from = view.camera.position.clone();
      put([0.1830127, 0.1830127, 0.6830127, 0.6830127]);  // a quarter turn, and 30 degrees of roll
      const right = navigator.axis(1, 0, 0), at = view.camera.position.clone();
      navigator.follow('none', -1);
      put([0, 0, 0, 1]);
      navigator.home();
      return { from: from.toArray(), at: at.toArray(), tilt: right.z };
    });
    assert.ok(Math.abs(seen.tilt) < 1e-6, `level: ${seen.tilt}`);
    assert.ok(Math.abs(seen.at[0] + seen.from[1]) < 0.02 && Math.abs(seen.at[1] - seen.from[0]) < 0.02 && Math.abs(seen.at[2] - seen.from[2]) < 1e-5, `a quarter around: ${seen.from} to ${seen.at}`);
    await drawn(page);
  },

  async 'undo, redo and keys to the robots'() {
    await page.locator('canvas.picture').focus();
    await page.keyboard.press('Control+z');
    await page.keyboard.press('Control+y');
    await page.getByRole('button', { name: 'Send keys, mouse and gamepad to the robots' }).click();
    await page.keyboard.down('ArrowUp');
    await page.keyboard.down('a');
    await page.keyboard.up('a');
    await page.keyboard.up('ArrowUp');
    await page.keyboard.press('Shift+Escape');
    await page.waitForFunction(() => !talus.keys.toRobot);
    await sim.until(() => sim.wasAsked('key').length === 4);
    assert.deepEqual(sim.wasAsked('key').map(({ codes }) => codes), [[315], [315, 65], [315], []]);
    await sim.until(() => sim.wasAsked('undo').length + sim.wasAsked('redo').length === 2);
  },

  async 'labels, console, diagnostics that lead to their node, plots as CSV'() {
    sim.socket.send(JSON.stringify({ is: 'label', id: 1, text: `score ${HOSTILE}`, x: 0.1, y: 0.1, size: 0.1, color: '#ff0000ff' }));
    sim.socket.send(JSON.stringify({ is: 'print', from: 'robot', text: `hi ${HOSTILE}\n` }));
    sim.socket.send(JSON.stringify({ is: 'diagnostic', severity: 'warning', file: 'w.wbt', line: 3, text: 'mass is odd', node: 11 }));
    await page.locator('.label').waitFor();
    assert.equal(await page.locator('.label').textContent(), `score ${HOSTILE}`);
    await page.getByRole('button', { name: 'Console', exact: true }).click();
    await page.getByText('mass is odd').click();
    await selected(1);
    await page.evaluate(() => talus.plotSolid(1));
    sim.poses[1] = [1, [0.5, 0, 0.25], Q];
    sim.advance();
    await page.waitForFunction(() => talus.world.positions[3] > 0.49);
    const csv = await page.evaluate(() => talus.plots.plots[0].plot.csv());
    assert.match(csv, /^time,"x","y","z"\n/);
    assert.ok(csv.trim().endsWith(',0.5,0,0.25'), csv);
    await page.evaluate(() => talus.panel('console', false));
  },

  async 'help shows the keys and gives a command another'() {
    await page.locator('canvas.picture').focus();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Help' }).waitFor();
    await page.getByRole('button', { name: /^Key for One step:/ }).click();
    await page.keyboard.press('y');
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    const before = sim.wasAsked('step').length;
    await page.locator('canvas.picture').focus();
    await page.keyboard.press('y');
    await sim.until(() => sim.wasAsked('step').length === before + 1);
  },

  async 'a lost connection comes back by itself'() {
    sim.socket.drop();
    await page.waitForFunction(() => talus.scenes >= 2 && document.querySelector('.status').hidden);
    assert.equal(sim.wasAsked('hello').length, 2);
    await sim.until(() => sim.asked.slice(sim.asked.lastIndexOf(sim.wasAsked('hello')[1])).some((message) => message.do === 'watch'));
  },

  async 'ten thousand bodies take few draw calls'() {
    const pile = Array.from({ length: 10000 }, (_, i) => ({ name: `b${i}`, size: [0.05 + i % 7 * 0.01, 0.06, 0.05 + i % 3 * 0.02], color: [i % 5 / 5, i % 3 / 3, 0.4],
      position: [i % 25 * 0.12, Math.floor(i / 25) % 20 * 0.12, Math.floor(i / 500) * 0.12] }));
    sim.glb = makeGlb(pile);
    sim.poses = posesOf(pile);
    sim.meta = { title: 'pile' };
    sim.answers = {};
    await page.evaluate(() => talus.rendering('shadows', false));
    sim.socket.drop();
    await page.waitForFunction(() => talus.scenes >= 3 && talus.world.solidCount === 10000);
    await drawn(page);
    const calls = await page.evaluate(() => talus.view.renderer.info.render.calls);
    assert.ok(calls <= 30, `${calls} draw calls`);
    sim.poses[9999] = [9999, [1, 2, 3], Q];
    sim.advance();
    await page.waitForFunction(() => Math.abs(talus.world.positions[3 * 9999 + 2] - 3) < 1e-6);
  },
};

let failures = 0;
const only = process.argv[2];
for (const [name, test] of Object.entries(tests)) {
  if (only && !name.includes(only))
    continue;
  try {
    await test();
    console.log(`ok ${name}`);
  } catch (error) {
    failures++;
    console.log(`FAILED ${name}\n${error.stack ?? error}`);
    if (process.env.TALUS_SHOTS)
      await page.screenshot({ path: `${process.env.TALUS_SHOTS}/failed-${failures}.png` });
  }
}
if (page.problems.length > 0) {
  failures++;
  console.log(`the page complained: ${page.problems.join('\n')}`);
}
await browser.close();
sim.stop();
process.exit(failures > 0 ? 1 : 0);
