-- wbvector2 - vectors { x, y }.
local wbvector2 = {}

local function make(x, y) return { x = x, y = y } end

function wbvector2.equal(a, b) return a.x == b.x and a.y == b.y end
function wbvector2.add(a, b) return make(a.x + b.x, a.y + b.y) end
function wbvector2.minus(a, b) return make(a.x - b.x, a.y - b.y) end
function wbvector2.multiply(v, s) return make(v.x * s, v.y * s) end
function wbvector2.divide(v, s) return make(v.x / s, v.y / s) end
function wbvector2.dot(a, b) return a.x * b.x + a.y * b.y end
function wbvector2.cross(a, b) return a.x * b.y - a.y * b.x end
function wbvector2.norm(v) return math.sqrt(v.x * v.x + v.y * v.y) end
function wbvector2.distance(a, b) return wbvector2.norm(wbvector2.minus(a, b)) end
-- The angle from the y axis, as this module always had it.
function wbvector2.atan2(v) return math.atan(v.x, v.y) end
function wbvector2.angle(a, b) return wbvector2.atan2(wbvector2.minus(a, b)) end

function wbvector2.normalize(v)
  local length = wbvector2.norm(v)
  if length == 0 then error('wbvector2.normalize: a zero vector has no direction', 2) end
  return wbvector2.divide(v, length)
end

-- The point that segments a-b and c-d share, nil when they do not cross in one point.
function wbvector2.intersection(a, b, c, d)
  local u, v = wbvector2.minus(b, a), wbvector2.minus(d, c)
  local area = wbvector2.cross(u, v)
  if area == 0 then return nil end
  local s = wbvector2.cross(wbvector2.minus(c, a), v) / area
  local t = wbvector2.cross(wbvector2.minus(c, a), u) / area
  if s < 0 or s > 1 or t < 0 or t > 1 then return nil end
  return wbvector2.add(a, wbvector2.multiply(u, s))
end

return wbvector2
