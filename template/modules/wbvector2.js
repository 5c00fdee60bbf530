// wbvector2 - vectors { x, y }.
(function (load, services) {
  'use strict';
  const make = (x, y) => ({ x, y });
  const add = (a, b) => make(a.x + b.x, a.y + b.y);
  const minus = (a, b) => make(a.x - b.x, a.y - b.y);
  const multiply = (v, s) => make(v.x * s, v.y * s);
  const divide = (v, s) => make(v.x / s, v.y / s);
  const equal = (a, b) => a.x === b.x && a.y === b.y;
  const dot = (a, b) => a.x * b.x + a.y * b.y;
  const cross = (a, b) => a.x * b.y - a.y * b.x;
  const norm = v => Math.sqrt(dot(v, v));
  const distance = (a, b) => norm(minus(a, b));
  // Direction of the line from b to a.
  const angle = (a, b) => Math.atan2(a.y - b.y, a.x - b.x);

  function normalize(v) {
    const length = norm(v);
    if (length === 0) {
      services.error('wbvector2.normalize: a zero vector has no direction');
      return null;
    }
    return divide(v, length);
  }

  // The point that segments a-b and c-d share, null when they do not cross in one point.
  function intersection(a, b, c, d) {
    const u = minus(b, a);
    const v = minus(d, c);
    const area = cross(u, v);
    if (area === 0) return null;
    const s = cross(minus(c, a), v) / area;
    const t = cross(minus(c, a), u) / area;
    return s < 0 || s > 1 || t < 0 || t > 1 ? null : add(a, multiply(u, s));
  }
  return { equal, add, minus, multiply, divide, norm, distance, angle, cross, dot, normalize, intersection };
})
