-- prelude.lua - what a Lua template finds around it, with what scripts of Lua 5.1 and 5.2 expect.
-- Called with host(kind, text): "note", "error" report; "exists", "read" ask for a file below the PROTO's folder; "module"
-- loads a module. Gives the globals of the template and two functions for its text.
local host, limit, pieces, piece_lines, fields, context = ...

local raw_tostring, raw_type, raw_format, raw_concat = tostring, type, string.format, table.concat

-- A number prints as in the releases these templates were written for: 5, not 5.0.
local function show(value)
  if math.type(value) == 'float' then
    return raw_format('%.14g', value)
  end
  return raw_tostring(value)
end
tostring = show

-- The compiler turns `a .. b` into `a .. talus_join .. b`, which arrives here.
local joint = {}
local joined = {}
local function concatenable(value)
  local kind = raw_type(value)
  if kind == 'string' then
    return value
  elseif kind == 'number' then
    return show(value)
  end
  local meta = getmetatable(value)
  if meta and meta.__tostring then
    return raw_tostring(value)
  end
  error('attempt to concatenate a ' .. kind .. ' value', 3)
end
local talus_join = setmetatable({}, joint)
joint.__concat = function(left, right)
  if left == talus_join then
    return setmetatable({ concatenable(right) }, joined)
  end
  return concatenable(left) .. concatenable(right)
end
joined.__concat = function(left, right)
  return concatenable(left) .. right[1]
end

table.concat = function(list, separator, first, last)
  local texts = {}
  for i = first or 1, last or #list do
    texts[#texts + 1] = concatenable(list[i])
  end
  return raw_concat(texts, separator or '')
end
string.format = function(format, ...)
  local values, index = table.pack(...), 0
  for verb in string.gmatch(format, '%%[-+ #0]*%d*%.?%d*([%a%%])') do
    if verb ~= '%' then
      index = index + 1
      local value = values[index]
      if verb == 's' and raw_type(value) == 'number' then
        values[index] = show(value)
      elseif string.find('dixXoc', verb, 1, true) and math.type(value) == 'float' then
        values[index] = value >= 0 and math.floor(value) or math.ceil(value)
      end
    end
  end
  return raw_format(format, table.unpack(values, 1, values.n))
end

-- Names of Lua 5.0 to 5.2.
unpack = table.unpack
loadstring = function(text, name) return load(text, name, 't') end
local raw_load = load
load = function(chunk, name, mode, env)
  if env == nil then
    return raw_load(chunk, name, 't')
  end
  return raw_load(chunk, name, 't', env)
end
table.getn = function(list) return #list end
table.maxn = function(list)
  local most = 0
  for key in next, list do
    if raw_type(key) == 'number' and key > most then most = key end
  end
  return most
end
table.foreach = function(list, call)
  for key, value in pairs(list) do
    local result = call(key, value)
    if result ~= nil then return result end
  end
end
table.foreachi = function(list, call)
  for key, value in ipairs(list) do
    local result = call(key, value)
    if result ~= nil then return result end
  end
end
string.gfind = string.gmatch
math.mod = math.fmod
math.pow = function(base, exponent) return base ^ exponent end
math.atan2 = function(y, x) return math.atan(y, x) end
math.log10 = function(value) return math.log(value, 10) end
math.sinh = function(value) return (math.exp(value) - math.exp(-value)) / 2 end
math.cosh = function(value) return (math.exp(value) + math.exp(-value)) / 2 end
math.tanh = function(value) return 1 - 2 / (math.exp(2 * value) + 1) end
math.ldexp = function(value, exponent) return value * 2.0 ^ exponent end
math.frexp = function(value)
  if value == 0 or value ~= value or value - value ~= 0 then return value, 0 end
  local exponent = math.floor(math.log(math.abs(value), 2)) + 1
  local fraction = value / 2.0 ^ exponent
  if math.abs(fraction) >= 1 then return fraction / 2, exponent + 1 end
  if math.abs(fraction) < 0.5 then return fraction * 2, exponent - 1 end
  return fraction, exponent
end
getfenv = function() return _G end
setfenv = function(call) return call end

-- Results must repeat: keys come in a fixed order, random numbers from a fixed stream, and no clock runs.
local order = { number = 1, string = 2, boolean = 3 }
local function before(a, b)
  local kind_a, kind_b = order[raw_type(a)] or 4, order[raw_type(b)] or 4
  if kind_a ~= kind_b then return kind_a < kind_b end
  if kind_a <= 2 then return a < b end
  return raw_tostring(a) < raw_tostring(b)
end
pairs = function(list)
  local meta = getmetatable(list)
  if meta and meta.__pairs then
    return meta.__pairs(list)
  end
  local keys = {}
  for key in next, list do keys[#keys + 1] = key end
  table.sort(keys, before)
  local index = 0
  return function()
    index = index + 1
    while keys[index] ~= nil and list[keys[index]] == nil do index = index + 1 end
    if keys[index] ~= nil then return keys[index], list[keys[index]] end
  end, list, nil
end
math.randomseed(0)
local raw_seed = math.randomseed
math.randomseed = function(seed) raw_seed(math.floor(seed or 0)) end
os = {
  clock = function() return 0.0 end,
  time = function() return 0.0 end,
  date = function() return 'Thu Jan  1 00:00:00 1970' end,
  difftime = function(a, b) return a - (b or 0) end,
  getenv = function() return nil end,
}

-- Files: read only, below the PROTO's folder, as whole texts.
local function text_file(text)
  local at = 1
  local file = {}
  local function line(keep)
    if at > #text then return nil end
    local stop = string.find(text, '\n', at, true) or #text + 1
    local result = string.sub(text, at, keep and stop or stop - 1)
    at = stop + 1
    return result
  end
  function file:read(what)
    what = raw_type(what) == 'string' and string.gsub(what, '^%*', '') or what or 'l'
    if what == 'a' then
      local rest = string.sub(text, at)
      at = #text + 1
      return rest
    elseif what == 'n' then
      local first, last = string.find(text, '^%s*[-+]?[%d.]+[eE]?[-+]?%d*', at)
      if not first then return nil end
      at = last + 1
      return tonumber(string.sub(text, first, last))
    elseif raw_type(what) == 'number' then
      if at > #text then return nil end
      local part = string.sub(text, at, at + what - 1)
      at = at + #part
      return part
    end
    return line(what == 'L')
  end
  function file:lines() return function() return line(false) end end
  function file:close() return true end
  function file:seek() return 0 end
  return file
end
local function writer(kind)
  local stream = { pending = '' }
  function stream:write(...)
    for _, value in ipairs({ ... }) do stream.pending = stream.pending .. show(value) end
    while true do
      local stop = string.find(stream.pending, '\n', 1, true)
      if not stop then break end
      host(kind, string.sub(stream.pending, 1, stop - 1))
      stream.pending = string.sub(stream.pending, stop + 1)
    end
    return stream
  end
  function stream:flush()
    if stream.pending ~= '' then host(kind, stream.pending) end
    stream.pending = ''
  end
  function stream:close() return true end
  function stream:setvbuf() return true end
  return stream
end
io = { stdout = writer('note'), stderr = writer('warning') }
function io.write(...) return io.stdout:write(...) end
function io.open(path, mode)
  if mode and string.find(mode, '[wa+]') then
    return nil, tostring(path) .. ': templates may not write files', 13
  end
  local text = host('read', tostring(path))
  if text == nil then return nil, tostring(path) .. ': no such file below the folder of the PROTO', 2 end
  return text_file(text)
end
function io.lines(path)
  local file, problem = io.open(path)
  if not file then error(problem, 2) end
  return file:lines()
end
print = function(...)
  local texts = {}
  for i = 1, select('#', ...) do texts[i] = show((select(i, ...))) end
  host('note', raw_concat(texts, ' '))
end

package = { loaded = {}, preload = {}, path = '', cpath = '' }
for _, name in ipairs({ 'string', 'table', 'math', 'os', 'io', 'coroutine', 'utf8', 'debug', 'package' }) do
  package.loaded[name] = _G[name]
end
require = function(name)
  if package.loaded[name] == nil then
    local make = package.preload[name] or host('module', name)
    if make == nil then
      error("there is no template module '" .. tostring(name) .. "'", 2)
    end
    local module = make(name)
    package.loaded[name] = module == nil and true or module
  end
  return package.loaded[name]
end

-- The text under construction.
local out, lines, size = {}, { piece_lines[1] or 1 }, 0
local function add(text)
  size = size + #text
  if size > limit then
    error('the template makes more than ' .. show(limit) .. ' characters of text', 0)
  end
  out[#out + 1] = text
end
function talus_text(index)
  local text, line = pieces[index + 1], piece_lines[index + 1]
  add(text)
  for _ in string.gmatch(text, '\n') do
    line = line + 1
    lines[#lines + 1] = line
  end
end
function talus_value(value, line)
  local text = show(value)
  add(text)
  for _ in string.gmatch(text, '\n') do lines[#lines + 1] = line end
end

_G.talus_join = talus_join
_G.fields, _G.context = fields, context
return function()
  io.stdout:flush()
  io.stderr:flush()
  return raw_concat(out), lines
end
