#!/usr/bin/env bash
# `talus render`: pictures, options, exit codes; the drawing example by the pixels of its line.
set -u
export ASAN_OPTIONS=detect_leaks=0:${ASAN_OPTIONS:-}  # OpenGL's own libraries keep memory
scratch=$TALUS_BUILD_DIR/tests/scratch-render-verb
rm -rf "$scratch"; mkdir -p "$scratch"
cp -r examples/physics_drawing "$scratch/"
cd "$scratch" || exit 1
talus() { timeout 100 "$TALUS_PROGRAM" "$@"; }
failures=0
complain() { echo "$1"; failures=$((failures + 1)); }
expect() { local want=$1; shift; talus "$@" >out 2>err; local got=$?; [ $got = "$want" ] || { complain "talus $*: exit code $got, not $want"; cat err; }; }
if talus doctor | grep -q 'OpenGL  *none'; then
  printf '#VRML_SIM R2025a utf8\nWorldInfo { }\n' >plain.wbt
  expect 1 render plain.wbt no.png
  grep -q 'no OpenGL' err || complain "no word about the missing OpenGL"
  exit $((failures > 0))
fi
# pixels PICTURE: "width height red green" with the number of plainly red and green pixels
cat >pixels.py <<'PYTHON'
import struct, sys, zlib
data = open(sys.argv[1], 'rb').read()
assert data[:8] == b'\x89PNG\r\n\x1a\n'
at, packed = 8, b''
while at < len(data):
    size, kind = struct.unpack('>I4s', data[at:at + 8])
    body = data[at + 8:at + 8 + size]
    if kind == b'IHDR': width, height, _, color = struct.unpack('>IIBB', body[:10])
    if kind == b'IDAT': packed += body
    at += size + 12
channels = {2: 3, 6: 4}[color]
raw, stride, before, red, green = zlib.decompress(packed), width * channels, bytearray(width * channels), 0, 0
def paeth(a, b, c):
    p = a + b - c; pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c
for y in range(height):
    kind, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
    for i in range(stride):
        a, b, c = line[i - channels] if i >= channels else 0, before[i], before[i - channels] if i >= channels else 0
        line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth(a, b, c))[kind]) & 255
    before = line
    for x in range(0, stride, channels):
        r, g, b = line[x:x + 3]
        red += r > 200 and g < 40 and b < 40
        green += g > 200 and r < 40 and b < 40
print(width, height, red, green)
PYTHON
pixels() { python3 pixels.py "$1"; }
talus build physics_drawing >build.log 2>&1 || { complain "the example does not build"; cat build.log; }
world=physics_drawing/worlds/trajectory.wbt
expect 0 render $world start.png --size 200x150 -q
expect 0 render $world later.png --size 200x150 --at 1 -q
expect 0 render $world without.png --size 200x150 --at 1 --no-plugin -q
expect 0 render $world steps.png --size 200x150 --steps 125 -q
read -r width height start _ < <(pixels start.png)
read -r _ _ later _ < <(pixels later.png)
read -r _ _ without _ < <(pixels without.png)
[ "$width $height" = "200 150" ] || complain "the size is $width x $height"
[ "$later" -gt $((without + 100)) ] || complain "the line has $later red pixels, $without without it"
[ "$start" -le "$without" ] || complain "before the throw there are $start red pixels"
cmp -s later.png steps.png || complain "--steps 125 and --at 1 differ"
expect 0 render $world json.png --json
python3 -c "import json; d = json.load(open('out')); assert d['width'] == 800 and d['shapes'] >= 1 and d['camera'] is None, d" || complain "--json is wrong: $(cat out)"
# A camera on a robot that turned; a view of one's own.
cat >eye.wbt <<'WORLD'
#VRML_SIM R2025a utf8
WorldInfo { }
Viewpoint { position 0 0 50 }
Robot { name "bob" controller "<none>" rotation 0 0 1 3.14159 children [ Camera { name "eye" width 31 height 17 } ] }
Pose { translation -5 0 0 children [ Shape { appearance Appearance { material Material { diffuseColor 0 0 0 emissiveColor 0 1 0 } } geometry Box { size 9 9 9 } } ] }
WORLD
expect 0 render eye.wbt eye.png --camera eye -q
[ "$(pixels eye.png)" = "31 17 0 527" ] || complain "the camera's picture is $(pixels eye.png)"
expect 0 render eye.wbt eye.png --camera bob/eye --size 20x10 -q
[ "$(pixels eye.png)" = "20 10 0 200" ] || complain "the camera's picture is $(pixels eye.png)"
expect 0 render eye.wbt front.png --size 20x10 -q
[ "$(pixels front.png)" = "20 10 0 0" ] || complain "the Viewpoint looks over it: $(pixels front.png)"
expect 0 render eye.wbt above.png --size 20x10 --view '-5 0 20 0 1 0 1.570796' -q
read -r _ _ _ green < <(pixels above.png)
[ "$green" -gt 50 ] || complain "from above there are $green green pixels"
expect 3 render eye.wbt none.png --camera nose
grep -q 'bob/eye' err || complain "the cameras that there are are not named"
[ -e none.png ] && complain "a failed picture is written"
for wrong in "--size 0x5" "--size 10" "--size 99999x5" "--view 1,2,3" "--steps 1 --at 1" "--at -1" "--siez 3x3"; do
  expect 2 render eye.wbt none.png $wrong
done
expect 2 render eye.wbt
expect 3 render missing.wbt none.png
# A world with errors in it gives no picture, and an older one stays; what is merely missing is left out.
printf '#VRML_SIM R2025a utf8\nWorldInfo { }\nSolid { children [ Shape { geometry Box { size 1 1 "a" } } ]\n' >broken.wbt
echo old >old.png
expect 3 render broken.wbt none.png
grep -q "no picture is written" err && [ ! -e none.png ] || complain "a broken world gives a picture"
expect 3 render broken.wbt old.png
[ "$(cat old.png)" = old ] || complain "a broken world changed an older picture"
printf '#VRML_SIM R2025a utf8\nWorldInfo { }\nSolid { children Shape { geometry Mesh { url "nowhere.obj" } } }\n' >lacking.wbt
expect 0 render lacking.wbt lacking.png -q
expect 1 render eye.wbt no/such/folder.png
expect 0 render --help
grep -q 'examples:' out || complain "--help has no examples"
[ $failures = 0 ] && echo "render: all as it should be"
exit $((failures > 0))
