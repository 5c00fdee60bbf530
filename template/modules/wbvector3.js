// wbvector3 - vectors { x, y, z }.
(function (load, services) {
  'use strict';
  const make = (x, y, z) => ({ x, y, z });
  const add = (a, b) => make(a.x + b.x, a.y + b.y, a.z + b.z);
  const minus = (a, b) => make(a.x - b.x, a.y - b.y, a.z - b.z);
  const multiply = (v, s) => make(v.x * s, v.y * s, v.z * s);
  const divide = (v, s) => make(v.x / s, v.y / s, v.z / s);
  const equal = (a, b) => a.x === b.x && a.y === b.y && a.z === b.z;
  const dot = (a, b) => a.x * b.x + a.y * b.y + a.z * b.z;
  const cross = (a, b) => make(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
  const norm = v => Math.sqrt(dot(v, v));
  const distance = (a, b) => norm(minus(a, b));

  function normalize(v) {
    const length = norm(v);
    if (length === 0) {
      services.error('wbvector3.normalize: a zero vector has no direction');
      return null;
    }
    return divide(v, length);
  }
  function angle(a, b) {
    const lengths = norm(a) * norm(b);
    return lengths === 0 ? 0 : Math.acos(Math.max(-1, Math.min(1, dot(a, b) / lengths)));
  }
  return { equal, add, minus, multiply, divide, norm, distance, angle, cross, dot, normalize };
})
