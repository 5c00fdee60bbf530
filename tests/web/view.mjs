// view.mjs - what tests of the page against `talus view` share: the program, a browser at its link, hands and eyes, and the tests one by
// one. Every wait is for something to be so, never for a time.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { drawn, launch, openPage, shown, WAIT_MS } from './mock.mjs';

// The links that the program prints: to handle the world, and to look at it only.
export async function startView(world, more = []) {
  const program = spawn(process.env.TALUS_PROGRAM, ['view', world, ...more], { stdio: ['ignore', 'pipe', 'pipe'] });
  const links = await new Promise((done, fail) => {
    let text = '';
    const read = (data) => {
      text += data;
      const found = text.match(/http:\/\/\S+(?=\s)/g) ?? [];
      if (found.length >= 2)
        done(found);
    };
    program.stdout.on('data', read);
    program.stderr.on('data', read);
    program.on('exit', () => fail(new Error(`talus view ended: ${text}`)));
  });
  return { program, links };
}

// The page said so: what went wrong stays in the console, its toast does not.
export const said = (page, words) => page.locator('.console-lines').getByText(words).first().waitFor({ state: 'attached' });

// What is looked at becomes so: looked at again and again, each time after what has come meanwhile was drawn. Gives what was seen at last.
export async function becomes(page, look, isSo, words) {
  for (const end = Date.now() + WAIT_MS; ;) {
    const seen = await look();
    if (isSo(seen))
      return seen;
    if (Date.now() > end)
      assert.fail(`${words}: ${JSON.stringify(seen)}`);
    await drawn(page);
  }
}

// How many pixels of the picture, drawn anew, have a colour for which `test` (a function's text, of red, green, blue) is true.
export const countPixels = (page, test) => page.evaluate((text) => {
  const fits = new Function('r', 'g', 'b', `return ${text}`);
  talus.view.dirty();
  talus.view.draw();
  const copy = Object.assign(document.createElement('canvas'), { width: talus.canvas.width, height: talus.canvas.height }), paint = copy.getContext('2d');
  paint.drawImage(talus.canvas, 0, 0);
  const data = paint.getImageData(0, 0, copy.width, copy.height).data;
  let count = 0;
  for (let i = 0; i < data.length; i += 4)
    count += fits(data[i], data[i + 1], data[i + 2]) ? 1 : 0;
  return count;
}, test);

// Runs the tests in their order, says how they went, ends with their verdict.
export async function runTests(name, tests, { page, finish }) {
  const shot = async (of) => { if (process.env.TALUS_SHOTS) await page.screenshot({ path: join(process.env.TALUS_SHOTS, `${of}.png`) }); };
  let failures = 0;
  for (const [words, test] of Object.entries(tests)) {
    try {
      await test();
      console.log(`ok ${words}`);
    } catch (error) {
      failures++;
      console.log(`FAILED ${words}\n${error.stack ?? error}`);
      await shot(`${name}-failed-${failures}`);
    }
  }
  if (page.problems.length > 0) {
    failures++;
    console.log(`the page complained: ${page.problems.join('\n')}`);
  }
  await finish();
  process.exit(failures > 0 ? 1 : 0);
}

export async function openView(world, { viewport = { width: 1100, height: 560 }, more = [] } = {}) {
  const { program, links } = await startView(world, more);
  const browser = await launch(), page = await openPage(browser, { viewport, reducedMotion: 'reduce' });
  await page.goto(links[0]);
  await shown(page);
  await drawn(page);
  // A step more, and its frame is there.
  const steps = (count) => page.evaluate(async (n) => {
    const from = talus.step, answer = await talus.act({ do: 'step', n });
    if (!answer.ok)
      throw new Error(answer.error);
    return from;
  }, count).then((from) => page.waitForFunction((wanted) => talus.step >= wanted, from + count));
  // Step 0 is that of the reset, not one that was shown before it.
  const reset = async () => {
    if (await page.evaluate(() => talus.step === 0))
      await steps(1);
    await page.evaluate(() => talus.act({ do: 'reset' }));
    await page.waitForFunction(() => talus.step === 0);
  };
  const solidOf = (name) => page.evaluate((wanted) => talus.worldMeta.solids.findIndex((one) => one.def === wanted || one.name === wanted), name);
  const place = (solid) => page.evaluate((i) => Array.from(talus.world.positions.slice(3 * i, 3 * i + 3)), solid);
  const shot = async (name) => { if (process.env.TALUS_SHOTS) await page.screenshot({ path: join(process.env.TALUS_SHOTS, `${name}.png`) }); };
  const finish = async () => { await browser.close(); program.kill(); };
  return { program, links, browser, page, steps, reset, solidOf, place, shot, run: (name, tests, after = () => undefined) => runTests(name, tests, { page, finish: async () => { await finish(); after(); } }) };
}
