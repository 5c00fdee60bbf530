// windows.mjs - the page against a world whose robot has a window: it opens in a frame without rights, words go both ways, and what the
// window's page may not do fails. argv: the world.
import assert from 'node:assert/strict';
import { openView, said } from './view.mjs';

const view = await openView(process.argv[2]), { page, steps, shot } = view;
// Words of the window's page come to this one by themselves, from another process: so many have been sent on by now.
await page.evaluate(() => {
  const { windows } = talus, { ask } = windows;
  window.sentOn = 0;
  windows.ask = (message) => { window.sentOn += message.do === 'window' ? 1 : 0; return ask(message); };
});
const sentOn = (count) => page.waitForFunction((wanted) => window.sentOn >= wanted, count);
const frame = () => page.frames().find((one) => one.parentFrame() === page.mainFrame());
const log = (words) => page.frameLocator('.robot-window iframe').locator('#log').getByText(words).waitFor();

const tests = {
  async 'the window of a robot opens as its author wrote it'() {
    await page.getByRole('button', { name: 'Robot windows' }).click();
    assert.equal(await page.getByRole('menuitemcheckbox', { name: /^Window of/ }).count(), 1);
    await page.getByRole('menuitemcheckbox', { name: 'Window of talks <b>' }).click();
    await page.locator('.robot-window figcaption').getByText('Talk <i>to me</i>').waitFor();
    const color = await page.frameLocator('.robot-window iframe').locator('body').evaluate((body) => getComputedStyle(body).backgroundColor);
    assert.equal(color, 'rgb(1, 2, 3)');
  },

  async 'words go both ways'() {
    await sentOn(1);
    await steps(2);
    await log('1 talks <b>: 1.0 init robot window');
    await page.frameLocator('.robot-window iframe').getByRole('button', { name: 'Go' }).click();
    await frame().evaluate(() => robotWindow.send('second "<b>"'));
    await sentOn(3);
    await steps(3);
    await log(/\.0 go/);
    await log(/\.1 second "<b>"/);
    await shot('windows');
  },

  async 'the page of a window is nobody'() {
    const found = await frame().evaluate(async (viewer) => {
      const fails = async (act) => { try { await act(); return false; } catch { return true; } };
      return { origin: window.origin, referrer: document.referrer, document: await fails(() => parent.document.title), address: await fails(() => parent.location.href),
        storage: await fails(() => localStorage.length), viewer: await fails(() => fetch(viewer)), network: await fails(() => fetch('https://cyberbotics.com/')),
        socket: await new Promise((done) => {
          try {
            const socket = new WebSocket(viewer.replace('http', 'ws') + 'socket', 'talus');
            socket.onopen = () => done(false);
            socket.onerror = () => done(true);
          } catch {
            done(true);
          }
        }) };
    }, view.links[0].split('#')[0]);
    assert.ok(page.problems.length > 0 && page.problems.every((words) => words.includes('Content Security Policy')), page.problems.join('\n'));
    page.problems.length = 0;  // that the browser says so is what is wanted
    assert.deepEqual(found, { origin: 'null', referrer: '', document: true, address: true, storage: true, viewer: true, network: true, socket: true });
  },

  async 'what is no word of a window is left alone'() {
    await frame().evaluate(() => {
      for (const message of [null, 7, 'text', { is: 'say' }, { is: 'say', text: 7 }, { is: 'act', text: '{"do":"reset"}' }, { do: 'reset', text: 'x' }])
        parent.postMessage(message, '*');
      robotWindow.send('x'.repeat(1 << 20));
    });
    await said(page, 'more than 200 kB');
    await page.evaluate(() => window.postMessage({ is: 'say', text: 'from the viewer itself' }, '*'));
    await frame().evaluate(() => robotWindow.send('after all'));
    await sentOn(4);
    await steps(3);
    await log(/\.0 after all/);
    assert.equal(await frame().evaluate(() => document.getElementById('log').textContent.includes('viewer itself')), false);
  },

  async 'a window that is closed hears nothing more'() {
    await page.getByRole('button', { name: 'Close the window of talks <b>' }).click();
    assert.equal(await page.locator('.robot-window').count(), 0);
    await steps(12);
    await page.evaluate(() => talus.panel('console', true));
    await page.locator('.console-lines').getByText('which nobody has open').first().waitFor();
  },
};

await view.run('windows', tests);
