// ghost.mjs - two runs in one picture, in a headless browser: a replay with --ghost, a page on disk that holds both, a running world with a
// recording that somebody chose. The same box slides at 1 m/s in one and at 2 m/s in the other.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { drawn, launch, openPage, shown } from './mock.mjs';
import { countPixels, runTests, startView } from './view.mjs';

const folder = mkdtempSync(join(tmpdir(), 'talus-ghost-')), talus = process.env.TALUS_PROGRAM;
const files = {};
for (const [name, speed] of [['slow', 1], ['fast', 2]]) {
  files[name] = join(folder, `${name}.talus`);
  files[`${name} world`] = join(folder, `${name}.wbt`);
  writeFileSync(files[`${name} world`], `#VRML_SIM R2025a utf8
WorldInfo { gravity 0 basicTimeStep 20 }
Viewpoint { position 0 -9 1 orientation 0 0 1 1.5708 }
Background { skyColor [ 1 1 1 ] }
Solid { name "wall" translation 0 1 0 children [ Shape { appearance PBRAppearance { baseColor 1 1 1 metalness 0 } geometry Box { size 8 0.1 4 } } ] }
Solid { name "box" translation -2 0 0 linearVelocity ${speed} 0 0 physics Physics { } boundingObject Box { size 0.5 0.5 0.5 }
  children [ Shape { appearance PBRAppearance { baseColor 1 0 0 metalness 0 } geometry Box { size 0.5 0.5 0.5 } } ] }
`);
  execFileSync(talus, ['run', files[`${name} world`], '--until', '1', '--record', files[name], '--quiet']);
}
const browser = await launch(), page = await openPage(browser, { viewport: { width: 900, height: 500 }, reducedMotion: 'reduce' });
const BLUE = 'b > r + 40 && b > g + 20';
const goTo = async (of, time) => {
  await of.evaluate((t) => talus.timeline.seek(t), time);
  await of.waitForFunction((t) => Math.abs(talus.time - t) < 0.011 && Math.abs(talus.ghost.apart(talus.world, 1) - t) < 0.03, time);
  await drawn(of);
};

// At a second the second run is a metre ahead; at the start nothing of it is seen.
async function compare(of) {
  await shown(of);
  await of.waitForFunction(() => talus.ghost.isShown && talus.ghost.world.batchCount > 0);
  await goTo(of, 0.98);
  const ahead = await countPixels(of, BLUE);
  assert.ok(ahead > 500, `a ghost of ${ahead} pixels`);
  await of.waitForFunction(() => /^9\d\d mm apart$|^0\.9\d m apart$/.test(document.querySelector('.apart').textContent));
  await goTo(of, 0.02);
  await of.waitForFunction(() => /^(20|1\d)\.\d mm apart$/.test(document.querySelector('.apart').textContent));
  assert.ok(await countPixels(of, BLUE) < ahead / 3, 'where both agree it is hidden');
  await goTo(of, 0.98);
  await of.locator('canvas.picture').focus();
  await of.keyboard.press('Shift+G');
  assert.equal(await countPixels(of, BLUE), 0, 'it can be put away');
  await of.keyboard.press('Shift+G');
  assert.ok(await countPixels(of, BLUE) > 500);
}

const tests = {
  async 'talus replay --ghost'() {
    const program = spawn(talus, ['replay', files.slow, '--ghost', files.fast], { stdio: ['ignore', 'pipe', 'inherit'] });
    const link = await new Promise((done) => { let text = ''; program.stdout.on('data', (data) => { text += data; const found = text.match(/http:\/\/\S+/); if (found) done(found[0]); }); });
    await page.goto(link);
    await compare(page);
    if (process.env.TALUS_SHOTS)
      await page.screenshot({ path: join(process.env.TALUS_SHOTS, 'ghost.png') });
    program.kill();
  },

  async 'a page on disk that holds both'() {
    const html = join(folder, 'both.html');
    execFileSync(talus, ['export', files.slow, html, '--ghost', files.fast]);
    await page.goto(pathToFileURL(html).href);
    await compare(page);
  },

  async 'a running world, and a recording that somebody chose'() {
    const { program, links } = await startView(files['slow world']);
    await page.goto(links[0]);
    await shown(page);
    await page.getByRole('button', { name: 'More', exact: true }).click();
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByText('Compare with a recording…').click()]);
    await chooser.setFiles(files.fast);
    await page.waitForFunction(() => talus.ghost.isShown && talus.ghost.world.batchCount > 0);
    await page.evaluate(() => talus.act({ do: 'step', n: 40 }));
    await page.waitForFunction(() => talus.step >= 40 && Math.abs(talus.ghost.apart(talus.world, 1) - 0.8) < 0.03);
    assert.ok(await countPixels(page, BLUE) > 500);
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByText('Compare no more').click();
    assert.equal(await countPixels(page, BLUE), 0);
    program.kill();
  },

  async 'a file that is none is refused in words'() {
    const run = (...words) => { try { execFileSync(talus, words, { stdio: 'pipe' }); return ''; } catch (error) { return `${error.status} ${error.stderr}`; } };
    assert.match(run('replay', files.slow, '--ghost', files['slow world']), /^1 .*slow\.wbt/s);
    assert.match(run('export', files.slow, join(folder, 'x.csv'), '--ghost', files.fast), /^2 .*--ghost is for pages/s);
    assert.match(run('run', files['slow world'], '--until', '0.1', '--ghost', files.fast), /^2 .*need --view/s);
  },
};
await runTests('ghost', tests, { page, finish: async () => { await browser.close(); rmSync(folder, { recursive: true }); } });
