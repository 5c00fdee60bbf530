-- wbcore - helpers for tables.
local wbcore = {}

function wbcore.deepcopy(value)
  if type(value) ~= 'table' then return value end
  local copy = {}
  for key, item in next, value do copy[wbcore.deepcopy(key)] = wbcore.deepcopy(item) end
  return setmetatable(copy, getmetatable(value))
end

function wbcore.tablelength(list)
  local length = 0
  while list[length + 1] ~= nil do length = length + 1 end
  return length
end

return wbcore
