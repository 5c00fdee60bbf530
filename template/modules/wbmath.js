// wbmath - the few functions of the early JavaScript releases; wbutility has the newer names.
(function () {
  'use strict';
  const round = value => Math.floor(value + 0.5);
  const degrees2radians = angle => angle * Math.PI / 180;
  const radians2degrees = angle => angle * 180 / Math.PI;
  return { round, degrees2radians, radians2degrees, degreesToRadians: degrees2radians, radiansToDegrees: radians2degrees };
})
