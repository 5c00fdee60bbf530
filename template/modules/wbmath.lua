-- wbmath - rounding and angles.
local wbmath = {}

function wbmath.round(value) return math.floor(value + 0.5) end
function wbmath.degrees2radians(angle) return angle * math.pi / 180 end
function wbmath.radians2degrees(angle) return angle * 180 / math.pi end

return wbmath
