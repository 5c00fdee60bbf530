-- wbstring - helpers for strings.
local wbstring = {}

-- The parts of `text` between matches of `pattern`; an empty part at the start or the end is left out.
function wbstring.split(text, pattern)
  local parts, at = {}, 1
  while true do
    local first, last = string.find(text, pattern, at)
    if not first or last < first then break end
    local part = string.sub(text, at, first - 1)
    if at > 1 or part ~= '' then parts[#parts + 1] = part end
    at = last + 1
  end
  if at <= #text then parts[#parts + 1] = string.sub(text, at) end
  return parts
end

return wbstring
