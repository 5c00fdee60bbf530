// prelude.js - what a JavaScript template finds around it. Evaluates to a function that prepares one evaluation.
// host(kind, text): 'note', 'warning', 'error' report; 'exists', 'read' ask for a file below the PROTO's folder;
// 'module' evaluates a module and gives its value.
(function (host, limit, pieces, pieceLines) {
  'use strict';

  // Results must repeat: no clock, and random numbers of a fixed stream.
  const SystemDate = Date;
  function FixedDate(...parts) {
    if (!new.target) return new SystemDate(0).toString();
    return Reflect.construct(SystemDate, parts.length ? parts : [0], new.target);
  }
  FixedDate.prototype = SystemDate.prototype;
  FixedDate.now = () => 0;
  FixedDate.UTC = SystemDate.UTC;
  FixedDate.parse = SystemDate.parse;
  SystemDate.prototype.constructor = FixedDate;
  globalThis.Date = FixedDate;
  let state = 0x2545f491;
  Math.random = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4294967296;
  };

  const out = [];
  const lines = [pieceLines.length ? pieceLines[0] : 1];
  let size = 0;
  function add(text) {
    size += text.length;
    if (size > limit)
      throw new RangeError('the template makes more than ' + limit + ' characters of text');
    out.push(text);
  }
  function talus_text(index) {
    const text = pieces[index];
    let line = pieceLines[index];
    add(text);
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1))
      lines.push(++line);
  }
  function talus_value(value, line) {
    const text = String(value);
    add(text);
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1))
      lines.push(line);
  }

  function callerLine() {
    const match = /template\.js:(\d+)/.exec(new Error().stack);
    return match ? match[1] : '0';
  }
  function show(value) {
    if (typeof value === 'string') return value;
    if (typeof value === 'object' && value !== null) {
      try {
        return JSON.stringify(value);
      } catch (error) {
        return String(value);
      }
    }
    return String(value);
  }
  const report = kind => (...values) => { host(kind, callerLine() + ':' + values.map(show).join(' ')); };
  const console = {
    log: report('note'), info: report('note'), debug: report('note'), warn: report('warning'), error: report('error')
  };

  const wbfile = {
    fileExists: path => host('exists', String(path)),
    readTextFile: path => host('read', String(path)),
    writeTextFile(name, content) {
      const isPlain = /^[^/\\\0]+$/.test(String(name));
      if (!isPlain)
        host('warning', callerLine() + ':wbfile.writeTextFile(' + show(name) + '): a name without a folder is needed');
      else
        host('write', String(name), String(content));
      return isPlain;
    }
  };

  const modules = { wbfile };
  const services = { info: console.log, error: console.error };
  function talus_import(path) {
    const name = String(path).replace(/^.*\//, '').replace(/\.m?js$/, '');
    if (!(name in modules)) {
      const make = host('module', name);
      if (make === undefined)
        throw new Error("there is no template module '" + path + "'");
      modules[name] = make(talus_import, services);
    }
    return modules[name];
  }

  globalThis.console = console;
  globalThis.wbfile = wbfile;
  return {
    run(template, fields, context) {
      template(fields, context, talus_text, talus_value, talus_import);
    },
    text: () => out.join(''),
    lines: () => Int32Array.from(lines)
  };
})
