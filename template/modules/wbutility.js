// wbutility - small helpers of templates.
(function (load, services) {
  'use strict';
  const info = message => services.info(message);
  const error = message => services.error(message);
  function assert(statement, message) {
    if (!statement) error(message);
  }
  const has = (value, keys) => typeof value === 'object' && value !== null && keys.every(key => key in value);
  const isScalar = value => typeof value === 'number';
  const isVector2 = value => has(value, ['x', 'y']);
  const isVector3 = value => has(value, ['x', 'y', 'z']);
  const isAxisAngle = value => has(value, ['x', 'y', 'z', 'a']);
  const isQuaternion = value => has(value, ['w', 'x', 'y', 'z']);
  const isMatrix3 = value => has(value, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  function isArrayOfPoints(values, dimension) {
    if (dimension !== 2 && dimension !== 3) {
      error('wbutility.isArrayOfPoints: the dimension is 2 or 3');
      return false;
    }
    return Array.isArray(values) && values.every(dimension === 2 ? isVector2 : isVector3);
  }
  const deepCopy = value => value === undefined ? undefined : JSON.parse(JSON.stringify(value));
  const degreesToRadians = angle => angle * Math.PI / 180;
  const radiansToDegrees = angle => angle * 180 / Math.PI;
  const reverse = value => typeof value === 'string' ? [...value].reverse().join('') : [...value].reverse();
  const fileExists = path => load('wbfile').fileExists(path);
  const isTextureUrlValid = url => typeof url === 'string' && /\.(png|jpe?g|hdr)$/i.test(url);
  const getTimeStamp = () => 0;

  // '#ff8000', 'ff8000' or '#f80' -> { red, green, blue }, each in [0, 1].
  function colorHexStringToRedGreenBlue(text) {
    let digits = String(text).replace(/^#|^0x/, '');
    if (digits.length === 3) digits = [...digits].map(digit => digit + digit).join('');
    if (!/^[0-9a-f]{6}$/i.test(digits)) {
      error("wbutility.colorHexStringToRedGreenBlue: '" + text + "' is no colour");
      return null;
    }
    const part = at => parseInt(digits.substr(at, 2), 16) / 255;
    return { red: part(0), green: part(2), blue: part(4) };
  }
  return {
    assert, error, info, deepCopy, degreesToRadians, radiansToDegrees, isScalar, isVector2, isVector3, isAxisAngle,
    isQuaternion, isMatrix3, isArrayOfPoints, reverse, fileExists, isTextureUrlValid, colorHexStringToRedGreenBlue,
    getTimeStamp
  };
})
