-- wbfile - helpers for file names.
local wbfile = {}

function wbfile.getpathwithoutfilename(path)
  path = string.gsub(path, '\\', '/')
  return (string.match(path, '^(.*)/[^/]*$')) or path
end

return wbfile
