#!/usr/bin/env bash
# `talus render`: pictures, options, exit codes; the drawing example by the pixels of its line.
set -u
export ASAN_OPTIONS=detect_leaks=0:${ASAN_OPTIONS:-}  # OpenGL's own libraries keep memory
scratch=$TALUS_BUILD_DIR/tests/scratch-render-verb
rm -rf "$scratch"; mkdir -p "$scratch"
cp -r examples/physics_drawing "$scratch/"
cd "$scratch" || exit 1
talus() { timeout 600 "$TALUS_PROGRAM" "$@"; }
failures=0
complain() { echo "$1"; failures=$((failures + 1)); }
expect() { local want=$1; shift; talus "$@" >out 2>err; local got=$?; [ $got = "$want" ] || { complain "talus $*: exit code $got, not $want"; cat err; }; }
has_opengl=1
talus doctor | grep -q 'OpenGL  *none' && has_opengl=0
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
[ $has_opengl = 0 ] || [ "$later" -gt $((without + 100)) ] || complain "the line has $later red pixels, $without without it"
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
# A world with mistakes in it gives a picture of what there is, as it runs; one that cannot be read gives none, and an older one stays.
printf '#VRML_SIM R2025a utf8\nWorldInfo { }\nSolid { children [ Shape { geometry Box { size 1 1 "a" } } ]\n' >broken.wbt
expect 0 render broken.wbt broken.png -q
grep -q "broken.wbt:3" err && [ -e broken.png ] || complain "a world with mistakes gives no picture, or no word about them"
echo old >old.png
expect 3 render missing.wbt old.png
[ "$(cat old.png)" = old ] || complain "a missing world changed an older picture"
printf '#VRML_SIM R2025a utf8\nWorldInfo { }\nSolid { children Shape { geometry Mesh { url "nowhere.obj" } } }\n' >lacking.wbt
expect 0 render lacking.wbt lacking.png -q
expect 1 render eye.wbt no/such/folder.png
# Nothing in the picture is said; --fit finds it; a series has numbers; a snapshot is a moment.
printf '#VRML_SIM R2025a utf8\nWorldInfo { }\nViewpoint { position 0 0 9 }\nSolid { translation 50 3 9 physics Physics { } boundingObject Box { } children Shape { appearance Appearance { material Material { emissiveColor 1 0 0 diffuseColor 0 0 0 } } geometry Box { } } }\nSolid { translation 50 0 0 children Shape { appearance Appearance { material Material { emissiveColor 0 1 0 diffuseColor 0 0 0 } } geometry Box { size 9 9 1 } } }\n' >far.wbt
expect 0 render far.wbt far.png --size 60x60 --view '0 0 9 0 0 1 3.14159'
grep -q 'nothing is visible' err || complain "an empty picture is not said"
expect 0 render far.wbt fit.png --size 60x60 --fit
grep -q 'nothing is visible' err && complain "--fit shows nothing"
read -r _ _ red green < <(pixels fit.png)
[ "$red" -gt 3 ] && [ "$green" -gt 200 ] || complain "--fit shows $red red and $green green pixels"
expect 0 render far.wbt film.png --size 40x30 --view '40 3 9 0 0 1 0' --every 0.2 --frames 3 -q
[ "$(ls film-*.png | tr '\n' ' ')" = "film-0000.png film-0001.png film-0002.png " ] || complain "the series is $(ls film-*)"
cmp -s film-0000.png film-0002.png && complain "nothing falls in the series"
expect 0 run far.wbt --until 0.2 --snapshot then.snap -q
expect 0 render far.wbt then.png --size 40x30 --from then.snap -q
expect 0 render far.wbt late.png --size 40x30 --at 0.2 -q
cmp -s then.png late.png || complain "the snapshot is another moment"
for wrong in "--every 0" "--frames 3" "--every 1 --frames 0"; do
  expect 2 render eye.wbt none.png $wrong
done
expect 0 render --help
grep -q 'examples:' out || complain "--help has no examples"
[ $failures = 0 ] && echo "render: all as it should be"
exit $((failures > 0))
