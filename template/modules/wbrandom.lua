-- wbrandom - repeatable random numbers: a linear congruential generator modulo 2^24, computed in doubles.
local wbrandom = {}
local modulus = 16777216.0
local current = 0.0

local function following()
  current = (1140671485.0 * current + 12820163.0) % modulus
  return current
end

function wbrandom.seed(value)
  current = value + 0.0
end

-- No argument: [0, 1]; one: [0, a]; two: [a, b].
function wbrandom.real(a, b)
  local low, high = a, b
  if b == nil then low, high = 0.0, a or 1.0 end
  return low + following() * (high - low) / (modulus - 1)
end

-- No argument: [0, 2^24 - 1]; one: [1, a]; two: [a, b].
function wbrandom.integer(a, b)
  if a == nil then return following() end
  local low, high = a, b
  if b == nil then low, high = 1.0, a end
  return low + following() % (1 + high - low)
end

return wbrandom
