// build.mjs - makes the page: type check by tsc, one bundle by esbuild, gzip, the two halves of a single-file replay, and all of it
// as a C source. usage: node build.mjs SOURCE_DIR OUTPUT_DIR (where package.json was installed and the results go) C_FILE
// The same sources give the same bytes.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';

const MAX_GZIPPED = 250 * 1000;  // bytes of everything that the server sends before the first message
const [source, output, cFile] = process.argv.slice(2).map((path) => resolve(path));
const require = createRequire(join(output, 'package.json'));
const esbuild = require('esbuild');

function fail(words) {
  console.error(`web: ${words}`);
  process.exit(1);
}

function checkTypes() {
  const config = { extends: join(source, 'tsconfig.json'), include: [join(source, 'src')],
    compilerOptions: { typeRoots: [join(output, 'node_modules/@types')], baseUrl: output,
      paths: { 'three': ['node_modules/@types/three'], 'three/addons/*': ['node_modules/@types/three/examples/jsm/*'] } } };
  const path = join(output, 'tsconfig.json');
  writeFileSync(path, JSON.stringify(config));
  const run = spawnSync(process.execPath, [require.resolve('typescript/bin/tsc'), '-p', path], { encoding: 'utf8' });
  if (run.status !== 0)
    fail(`the types do not fit\n${run.stdout}${run.stderr}`);
}

async function bundle(entry, options) {
  const result = await esbuild.build({ entryPoints: [join(source, entry)], bundle: true, minify: true, write: false, logLevel: 'error',
    target: ['es2022', 'chrome110', 'firefox115', 'safari16.4'], legalComments: 'none', nodePaths: [join(output, 'node_modules')], ...options });
  return Buffer.from(result.outputFiles[0].contents);
}

// Inside <script> and <style> nothing may look like the end of the element.
const inline = (bytes) => bytes.toString('utf8').replaceAll('</', '<\\/');

function replayHalves(html, css, js, boot) {
  const body = html.toString('utf8').replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${inline(css)}</style>`);
  const [head, tail] = body.split(/<script[^>]*src="page.js"[^>]*><\/script>/);
  const data = (id) => `<script type="application/octet-stream;base64" id="${id}">`;
  return [`${head}${data('talus-page')}${gzipSync(js, { level: 9 }).toString('base64')}</script>\n${data('talus-recording')}`,
          `</script>\n<script>${inline(boot)}</script>${tail}`].map((text) => Buffer.from(text));
}

function cSource(files) {
  const rows = files.map(({ name, type, gzipped, data }, i) => {
    const etag = createHash('sha256').update(data).digest('hex').slice(0, 16);
    return `    { "${name}", "${type}", "\\"${etag}\\"", ${gzipped}, bytes_${i}, sizeof bytes_${i} },`;
  });
  const arrays = files.map(({ data }, i) => {
    const lines = [];
    for (let at = 0; at < data.length; at += 40)
      lines.push([...data.subarray(at, at + 40)].join(','));
    return `static const unsigned char bytes_${i}[] = {\n${lines.join(',\n')}\n};`;
  });
  return `// Made by web/build.mjs.\n#include "assets/web_page.h"\n\n${arrays.join('\n')}\n\nconst WebPageFile web_page_files[] = {\n` +
    `${rows.join('\n')}\n};\nconst int web_page_file_count = ${files.length};\n`;
}

checkTypes();
const js = await bundle('src/main.ts', { format: 'iife' });
const css = await bundle('src/page.css', {});
const robotWindow = await bundle('src/RobotWindow.ts', { format: 'esm' });
const talusFrame = await bundle('src/TalusFrame.ts', { format: 'esm' });
const boot = await bundle('src/boot.ts', { format: 'iife' });
const html = readFileSync(join(source, 'index.html'));
const [replayHead, replayTail] = replayHalves(html, css, js, boot);
mkdirSync(output, { recursive: true });
const served = [['index.html', 'text/html; charset=utf-8', html], ['page.js', 'text/javascript; charset=utf-8', js],
                ['page.css', 'text/css; charset=utf-8', css]];
const files = served.map(([name, type, data]) => ({ name, type, gzipped: true, data: gzipSync(data, { level: 9 }) }));
const weight = files.reduce((sum, file) => sum + file.data.length, 0);
if (weight > MAX_GZIPPED)
  fail(`the page weighs ${weight} bytes gzipped, more than ${MAX_GZIPPED}`);
for (const [name, , data] of served)
  writeFileSync(join(output, name), data);
files.push({ name: 'RobotWindow.js', type: 'text/javascript; charset=utf-8', gzipped: false, data: robotWindow },
           { name: 'TalusFrame.js', type: 'text/javascript; charset=utf-8', gzipped: false, data: talusFrame },
           { name: 'replay-head', type: 'text/html; charset=utf-8', gzipped: false, data: replayHead },
           { name: 'replay-tail', type: 'text/html; charset=utf-8', gzipped: false, data: replayTail });
for (const file of files.slice(served.length))
  writeFileSync(join(output, file.name), file.data);
writeFileSync(cFile, cSource(files));
console.log(`web: page of ${Math.round(weight / 1000)} KB gzipped`);
