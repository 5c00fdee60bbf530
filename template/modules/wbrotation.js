// wbrotation - rotations as axis and angle { x, y, z, a }, quaternions { w, x, y, z }, matrices of nine, row by row.
(function () {
  'use strict';
  const equal = (a, b) => a.x === b.x && a.y === b.y && a.z === b.z && a.a === b.a;
  const isValid = r => r.x !== 0 || r.y !== 0 || r.z !== 0;
  const isIdentity = r => r.a === 0;

  function normalizeAngle(r) {
    if (Math.abs(r.a) > Math.PI && Number.isFinite(r.a)) {
      const turn = 2 * Math.PI;
      r.a -= turn * Math.round(r.a / turn);
    }
    return r;
  }
  function normalizeAxis(r) {
    if (!isValid(r)) {
      r.x = 0;
      r.y = 1;
      r.z = 0;
    }
    const length = Math.sqrt(r.x * r.x + r.y * r.y + r.z * r.z);
    r.x /= length;
    r.y /= length;
    r.z /= length;
    return r;
  }
  const normalize = r => normalizeAngle(normalizeAxis(r));

  function fromQuaternion(q) {
    const a = 2 * Math.acos(Math.max(-1, Math.min(1, q.w)));
    const length = Math.sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
    if (a < 0.0001 || length === 0) return { x: 0, y: 1, z: 0, a: 0 };
    return { x: q.x / length, y: q.y / length, z: q.z / length, a };
  }
  function toQuaternion(r) {
    const unit = normalize({ x: r.x, y: r.y, z: r.z, a: r.a });
    const s = Math.sin(unit.a / 2);
    return { w: Math.cos(unit.a / 2), x: unit.x * s, y: unit.y * s, z: unit.z * s };
  }
  function fromMatrix3(m) {
    const cosine = (m[0] + m[4] + m[8] - 1) / 2;
    if (cosine >= 1) return { x: 1, y: 0, z: 0, a: 0 };
    if (cosine <= -1 + 1e-12) {  // half a turn: the axis is a column of m + 1
      const columns = [[m[0] + 1, m[3], m[6]], [m[1], m[4] + 1, m[7]], [m[2], m[5], m[8] + 1]];
      let best = columns[0];
      for (const column of columns)
        if (Math.hypot(...column) > Math.hypot(...best)) best = column;
      return normalizeAxis({ x: best[0], y: best[1], z: best[2], a: Math.PI });
    }
    return normalizeAxis({ x: m[7] - m[5], y: m[2] - m[6], z: m[3] - m[1], a: Math.acos(cosine) });
  }
  function toMatrix3(r) {
    const c = Math.cos(r.a);
    const s = Math.sin(r.a);
    const axis = [r.x, r.y, r.z];
    const skew = [0, -r.z, r.y, r.z, 0, -r.x, -r.y, r.x, 0];
    return skew.map((value, i) => {
      const row = Math.floor(i / 3);
      const column = i % 3;
      return axis[row] * axis[column] * (1 - c) + (row === column ? c : value * s);
    });
  }
  function combine(a, b) {
    const p = toQuaternion(a);
    const q = toQuaternion(b);
    return fromQuaternion({
      w: p.w * q.w - p.x * q.x - p.y * q.y - p.z * q.z,
      x: p.w * q.x + p.x * q.w + p.y * q.z - p.z * q.y,
      y: p.w * q.y - p.x * q.z + p.y * q.w + p.z * q.x,
      z: p.w * q.z + p.x * q.y - p.y * q.x + p.z * q.w
    });
  }
  function rotateVector3ByMatrix3(m, v) {
    const row = i => m[i] * v.x + m[i + 1] * v.y + m[i + 2] * v.z;
    return { x: row(0), y: row(3), z: row(6) };
  }
  const rotateVector3ByRotation = (r, v) => rotateVector3ByMatrix3(toMatrix3(r), v);
  const rotateVector3ByQuaternion = (q, v) => rotateVector3ByRotation(fromQuaternion(q), v);
  return {
    equal, isValid, isIdentity, normalize, normalizeAngle, normalizeAxis, fromQuaternion, toQuaternion, fromMatrix3,
    toMatrix3, combine, rotateVector3ByMatrix3, rotateVector3ByRotation, rotateVector3ByQuaternion
  };
})
