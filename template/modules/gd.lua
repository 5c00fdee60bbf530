-- gd - pictures that a template draws. None is made here: templates write no files. What draws runs on and says so once.
local gd = {}
local image = {}
local is_told = false

local function tell()
  if not is_told then
    io.stderr:write("this template draws a picture with the module 'gd'; no picture is made\n")
  end
  is_told = true
end

local function new_image(width, height)
  tell()
  return setmetatable({ width = width or 1, height = height or 1 }, image)
end

-- Colours are numbers, sizes are known, all else draws and gives nothing.
image.__index = function(_, name)
  if name == 'sizeX' then return function(self) return self.width end end
  if name == 'sizeY' then return function(self) return self.height end end
  if name == 'sizeXY' then return function(self) return self.width, self.height end end
  if string.find(name, '^color') or string.find(name, 'Pixel$') then return function() return 0 end end
  if string.find(name, 'Str$') then return function() return '' end end
  return function() return true end
end

setmetatable(gd, { __index = function(_, name)
  if string.find(name, '^create') then
    return function(first, second)
      return new_image(type(first) == 'number' and first or 1, type(second) == 'number' and second or 1)
    end
  end
  if string.match(name, '^%u') then return 0 end
  return function() return 0 end
end })

return gd
