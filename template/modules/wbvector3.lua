-- wbvector3 - vectors { x, y, z }.
local wbvector3 = {}

local function make(x, y, z) return { x = x, y = y, z = z } end

function wbvector3.equal(a, b) return a.x == b.x and a.y == b.y and a.z == b.z end
function wbvector3.add(a, b) return make(a.x + b.x, a.y + b.y, a.z + b.z) end
function wbvector3.minus(a, b) return make(a.x - b.x, a.y - b.y, a.z - b.z) end
function wbvector3.multiply(v, s) return make(v.x * s, v.y * s, v.z * s) end
function wbvector3.divide(v, s) return make(v.x / s, v.y / s, v.z / s) end
function wbvector3.dot(a, b) return a.x * b.x + a.y * b.y + a.z * b.z end
function wbvector3.cross(a, b) return make(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x) end
function wbvector3.norm(v) return math.sqrt(wbvector3.dot(v, v)) end
function wbvector3.distance(a, b) return wbvector3.norm(wbvector3.minus(a, b)) end

function wbvector3.normalize(v)
  local length = wbvector3.norm(v)
  if length == 0 then error('wbvector3.normalize: a zero vector has no direction', 2) end
  return wbvector3.divide(v, length)
end

return wbvector3
