-- wbgeometry - points and curves of the plane and of space.
local wbgeometry = {}
local wbvector2 = require('wbvector2')
local wbvector3 = require('wbvector3')
local tablelength = require('wbcore').tablelength

-- div + 1 points, so that the last one closes the circle.
function wbgeometry.circle(radius, div, cx, cy, shift)
  local points = {}
  for i = 0, div do
    local angle = 2 * math.pi * i / div + shift
    points[#points + 1] = { x = cx + radius * math.cos(angle), y = cy + radius * math.sin(angle) }
  end
  return points
end

-- Counts the edges that a ray from (x, y) towards +x crosses.
function wbgeometry.ispointinpolygon(x, y, polygon)
  local count = tablelength(polygon)
  local inside = false
  if count < 3 then return false end
  for i = 1, count do
    local a, b = polygon[i], polygon[i % count + 1]
    if (a.y >= y) ~= (b.y >= y) and x <= a.x + (b.x - a.x) * (y - a.y) / (b.y - a.y) then inside = not inside end
  end
  return inside
end

function wbgeometry.findclosest2Dpointinarray(reference, points)
  local closest, least = reference, math.huge
  for i = 1, tablelength(points) do
    local distance = wbvector2.distance(reference, points[i])
    if distance < least then closest, least = points[i], distance end
  end
  return closest
end

function wbgeometry.islistclockwise2D(points)
  local count = tablelength(points)
  local area = 0.0
  for i = 1, count do area = area + wbvector2.cross(points[i], points[i % count + 1]) end
  return area < 0
end

-- Uniform cubic B-spline. The ends are extended along their tangents, so the curve starts at the first point and ends at
-- the last one; `first` is the first segment drawn.
local function spline(points, subdivision, vector, keys, first)
  local count = tablelength(points)
  if count < 2 then error('a spline needs at least two points', 3) end
  local function beyond(a, b) return vector.add(a, vector.minus(a, b)) end
  local all = {}
  for i = 1, count do all[i] = points[i] end
  all[0] = beyond(points[1], points[2])
  all[-1] = beyond(all[0], points[1])
  all[count + 1] = beyond(points[count], points[count - 1])
  all[count + 2] = beyond(all[count + 1], points[count])
  local curve = { points[1] }
  for i = first, count - 1 do
    for step = 1, subdivision do
      local t = step / subdivision
      local weights = { (1 - t) ^ 3, 3 * t ^ 3 - 6 * t * t + 4, -3 * t ^ 3 + 3 * t * t + 3 * t + 1, t ^ 3 }
      local point = {}
      for _, key in ipairs(keys) do
        local sum = 0.0
        for k = 1, 4 do sum = sum + weights[k] * all[i - 2 + k][key] / 6 end
        point[key] = sum
      end
      curve[#curve + 1] = point
    end
  end
  return curve
end

function wbgeometry.bspline2D(points, subdivision) return spline(points, subdivision, wbvector2, { 'x', 'y' }, 0) end
function wbgeometry.bspline3D(points, subdivision) return spline(points, subdivision, wbvector3, { 'x', 'y', 'z' }, 1) end

return wbgeometry
