// wbgeometry - points and curves of the plane and of space.
(function (load, services) {
  'use strict';
  const wbvector2 = load('wbvector2');
  const wbvector3 = load('wbvector3');

  // div + 1 points, so that the last one closes the circle.
  function circle(radius, div, center, shift) {
    const points = [];
    for (let i = 0; i <= div; i++) {
      const angle = 2 * Math.PI * i / div + shift;
      points.push({ x: center.x + radius * Math.cos(angle), y: center.y + radius * Math.sin(angle) });
    }
    return points;
  }

  // Counts the edges that a ray from p towards +x crosses.
  function isPoint2InPolygon(p, polygon) {
    let inside = false;
    if (polygon.length < 3) return false;
    for (let i = 0; i < polygon.length; i++) {
      const a = polygon[i];
      const b = polygon[(i + 1) % polygon.length];
      if ((a.y >= p.y) !== (b.y >= p.y) && p.x <= a.x + (b.x - a.x) * (p.y - a.y) / (b.y - a.y))
        inside = !inside;
    }
    return inside;
  }

  function findClosestPoint2InArray(reference, points) {
    let closest = reference;
    let least = Infinity;
    for (const point of points) {
      const distance = wbvector2.distance(reference, point);
      if (distance < least) {
        least = distance;
        closest = point;
      }
    }
    return closest;
  }

  function isPoint2ArrayClockwise(points) {
    let doubleArea = 0;
    points.forEach((a, i) => {
      doubleArea += wbvector2.cross(a, points[(i + 1) % points.length]);
    });
    return doubleArea < 0;
  }

  // Uniform cubic B-spline. The ends are extended along their tangents, so the curve starts at the first point and ends
  // at the last one; `lead` is how many segments of the extension before the first point are drawn.
  function spline(points, subdivision, vector, keys, lead) {
    const n = points.length;
    if (n < 2) {
      services.error('wbgeometry: a spline needs at least two points');
      return points.slice();
    }
    const beyond = (a, b) => vector.add(a, vector.minus(a, b));
    const before = beyond(points[0], points[1]);
    const after = beyond(points[n - 1], points[n - 2]);
    const all = [beyond(before, points[0]), before, ...points, after, beyond(after, points[n - 1])];
    const curve = [points[0]];
    for (let i = 2 - lead; i <= n; i++) {
      for (let step = 1; step <= subdivision; step++) {
        const t = step / subdivision;
        const weights = [(1 - t) ** 3, 3 * t ** 3 - 6 * t * t + 4, -3 * t ** 3 + 3 * t * t + 3 * t + 1, t ** 3];
        const point = {};
        for (const key of keys) {
          point[key] = 0;
          weights.forEach((weight, k) => { point[key] += weight * all[i - 1 + k][key] / 6; });
        }
        curve.push(point);
      }
    }
    return curve;
  }
  const bSpline2 = (points, subdivision) => spline(points, subdivision, wbvector2, ['x', 'y'], 1);
  const bSpline3 = (points, subdivision) => spline(points, subdivision, wbvector3, ['x', 'y', 'z'], 0);
  return { circle, isPoint2InPolygon, findClosestPoint2InArray, isPoint2ArrayClockwise, bSpline2, bSpline3 };
})
