-- wbrotation - rotations as axis and angle { x, y, z, a }, quaternions { w, x, y, z }, matrices of nine, row by row.
local wbrotation = {}

function wbrotation.equal(a, b) return a.x == b.x and a.y == b.y and a.z == b.z and a.a == b.a end
function wbrotation.isvalid(r) return r.x ~= 0 or r.y ~= 0 or r.z ~= 0 end
function wbrotation.isidentity(r) return r.a == 0 end

function wbrotation.normalizeangle(r)
  if math.abs(r.a) > math.pi and r.a - r.a == 0 then
    local turn = 2 * math.pi
    r.a = r.a - turn * math.floor(r.a / turn + 0.5)
  end
  return r
end

function wbrotation.normalizeaxis(r)
  if not wbrotation.isvalid(r) then r.x, r.y, r.z = 0.0, 1.0, 0.0 end
  local length = math.sqrt(r.x * r.x + r.y * r.y + r.z * r.z)
  r.x, r.y, r.z = r.x / length, r.y / length, r.z / length
  return r
end

function wbrotation.normalize(r) return wbrotation.normalizeangle(wbrotation.normalizeaxis(r)) end

function wbrotation.fromquaternion(q)
  local a = 2 * math.acos(math.max(-1, math.min(1, q.w)))
  local length = math.sqrt(q.x * q.x + q.y * q.y + q.z * q.z)
  if a < 0.0001 or length == 0 then return { x = 0.0, y = 1.0, z = 0.0, a = 0.0 } end
  return { x = q.x / length, y = q.y / length, z = q.z / length, a = a }
end

function wbrotation.toquaternion(r)
  local unit = wbrotation.normalize({ x = r.x, y = r.y, z = r.z, a = r.a })
  local s = math.sin(unit.a / 2)
  return { w = math.cos(unit.a / 2), x = unit.x * s, y = unit.y * s, z = unit.z * s }
end

function wbrotation.frommatrix3(m)
  local cosine = (m[1] + m[5] + m[9] - 1) / 2
  if cosine >= 1 then return { x = 1.0, y = 0.0, z = 0.0, a = 0.0 } end
  if cosine <= -1 + 1e-12 then  -- half a turn: the axis is a column of m + 1
    local best, longest = nil, -1
    for c = 1, 3 do
      local axis = { m[c], m[c + 3], m[c + 6] }
      axis[c] = axis[c] + 1
      local length = axis[1] * axis[1] + axis[2] * axis[2] + axis[3] * axis[3]
      if length > longest then best, longest = axis, length end
    end
    return wbrotation.normalizeaxis({ x = best[1], y = best[2], z = best[3], a = math.pi })
  end
  return wbrotation.normalizeaxis({ x = m[8] - m[6], y = m[3] - m[7], z = m[4] - m[2], a = math.acos(cosine) })
end

function wbrotation.tomatrix3(r)
  local c, s = math.cos(r.a), math.sin(r.a)
  local axis = { r.x, r.y, r.z }
  local m = { 0.0, -r.z, r.y, r.z, 0.0, -r.x, -r.y, r.x, 0.0 }
  for row = 1, 3 do
    for column = 1, 3 do
      local i = 3 * (row - 1) + column
      m[i] = axis[row] * axis[column] * (1 - c) + (row == column and c or m[i] * s)
    end
  end
  return m
end

function wbrotation.combine(a, b)
  local p, q = wbrotation.toquaternion(a), wbrotation.toquaternion(b)
  return wbrotation.fromquaternion({
    w = p.w * q.w - p.x * q.x - p.y * q.y - p.z * q.z,
    x = p.w * q.x + p.x * q.w + p.y * q.z - p.z * q.y,
    y = p.w * q.y - p.x * q.z + p.y * q.w + p.z * q.x,
    z = p.w * q.z + p.x * q.y - p.y * q.x + p.z * q.w,
  })
end

function wbrotation.rotatevector3bymatrix3(m, v)
  local function row(i) return m[i] * v.x + m[i + 1] * v.y + m[i + 2] * v.z end
  return { x = row(1), y = row(4), z = row(7) }
end
function wbrotation.rotatevector3byrotation(r, v)
  return wbrotation.rotatevector3bymatrix3(wbrotation.tomatrix3(r), v)
end
function wbrotation.rotatevector3byquaternion(q, v)
  return wbrotation.rotatevector3byrotation(wbrotation.fromquaternion(q), v)
end

return wbrotation
