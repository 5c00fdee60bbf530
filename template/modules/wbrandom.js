// wbrandom - repeatable random numbers: a linear congruential generator modulo 2^24, computed in doubles.
(function () {
  'use strict';
  const modulus = 16777216;
  let current = 0;

  function next() {
    current = (1140671485 * current + 12820163) % modulus;
    return current;
  }
  function seed(value) {
    current = value;
  }
  // No argument: [0, 1]; one: [0, a]; two: [a, b].
  function real(a, b) {
    const low = b === undefined ? 0 : a;
    const high = b !== undefined ? b : a === undefined ? 1 : a;
    return low + next() * (high - low) / (modulus - 1);
  }
  // No argument: [0, 2^24 - 1]; one: [1, a]; two: [a, b].
  function integer(a, b) {
    if (a === undefined) return next();
    const low = b === undefined ? 1 : a;
    const high = b === undefined ? a : b;
    return low + next() % (1 + high - low);
  }
  return { seed, real, integer };
})
