#!/usr/bin/env bash
# A new geometry takes four places (docs/extending.md): here an Ellipsoid is added in a copy of just these and built into a second
# program, where it falls, rests, weighs, floats, is seen, is told to a supervisor and is written as a body.
set -u
repository=$PWD
case $TALUS_BUILD_DIR in *san) echo "toy geometry: skipped: the release build shows it"; exit 77 ;; esac
scratch=$TALUS_BUILD_DIR/scratch/assets.toy_geometry
rm -rf "$scratch"; mkdir -p "$scratch"/src/{assets,scene} "$scratch"/out "$scratch"/worlds
fail() { echo "toy geometry: $*"; exit 1; }
# insert FILE BEFORE TEXT: before the first line that matches
insert() { sed -i "0,/$2/s//$3\n&/" "$1" && grep -qF "${4:-$3}" "$1" || fail "nothing like '$2' in $1"; }
cp -r api include "$scratch"; cp src/assets/geometry.[ch] "$scratch/src/assets"; cp src/scene/schema_geometry.c "$scratch/src/scene"

# 1. the node's fields and type   2. its code for supervisors   3. that it may collide   4. its row, with its triangles
insert "$scratch/src/scene/schema_geometry.c" '^static const FieldType sphere\[\]' \
  'static const FieldType ellipsoid[] = { FIELD("radii", SF_VEC3F, "1 1 1", ">0", "m", "half its lengths") };'
insert "$scratch/src/scene/schema_geometry.c" '    TYPE("Sphere"' '    TYPE("Ellipsoid", "Geometry", 0, ellipsoid, "A sphere stretched along its axes."),'
sed -i 's/^    WB_NODE_RADIO$/&,\n    WB_NODE_ELLIPSOID/' "$scratch/include/webots/nodes.h"
sed -i 's/^#define GEOMETRY_COLLIDING "/&Ellipsoid|/' "$scratch/src/assets/geometry.h"
insert "$scratch/src/assets/geometry.c" '^enum {$' 'static Mesh *ellipsoid_mesh(Vec3 size, const GeometryDetail *how)\
{\
    (void)how;\
    Mesh *ball = mesh_sphere_ico(1.0, 5), *mesh = mesh_transformed(ball, size, POSE_IDENTITY);\
    mesh_destroy(ball);\
    return mesh;\
}\
' 'ellipsoid_mesh(Vec3'
insert "$scratch/src/assets/geometry.c" '    { "IndexedFaceSet"' '    { "Ellipsoid", GEOMETRY_MESH, COLLIDES, { "radii" }, 3, .mesh = ellipsoid_mesh },'

# The program: these files and those that the list is compiled into, linked as the build links it with all the others.
python3 -B "$scratch/api/generate.py" "$scratch/api/webots.api" "$scratch/out" c || fail "api"
flags=$(ninja -C "$TALUS_BUILD_DIR" -t commands talus | sed -n 's/ -MD .*schema_geometry.c$//p' | head -1)
[ -n "$flags" ] || fail "the build does not tell how it compiles"
objects=
pattern=
for file in $(cd src && grep -rlE 'GEOMETRY_COLLIDING|ALLOWED_BOUNDING|node_names\.h' --include='*.c' .) ./assets/geometry.c ./scene/schema_geometry.c; do
  name=$(basename "$file" .c); from=$repository/src/${file#./}
  [ ! -f "$scratch/src/$file" ] || from=$scratch/src/${file#./}
  (cd "$TALUS_BUILD_DIR" && ${flags/ -I/ -I$scratch/src -I$scratch/include -I$scratch/out -I} -o "$scratch/out/$name.o" -c "$from") ||
    fail "$file does not compile"
  objects="$objects $scratch/out/$name.o"; pattern="$pattern|${file#./}"
done
link=$(ninja -C "$TALUS_BUILD_DIR" -t commands talus | tail -1 | sed -E "s# [^ ]*/src/(${pattern#|})\.o##g")
link=${link/ -o talus / -o $scratch/out/talus $objects }
(cd "$TALUS_BUILD_DIR" && eval "$link") || fail "the program does not link"

cat > "$scratch/worlds/toy.wbt" <<'W'
#VRML_SIM R2025a utf8
WorldInfo { basicTimeStep 8 contactProperties [ ContactProperties { softCFM 1e-6 } ] }
Viewpoint { position -3 0 0.3 }
Background { skyColor [ 0 0 1 ] }
Solid { name "floor" boundingObject Plane { } }
Fluid { name "pond" translation 5 0 1 boundingObject Box { size 2 2 2 } }
Robot {
  name "egg" translation 0 0 0.35
  children [ Shape { appearance Appearance { material Material { emissiveColor 1 1 0 diffuseColor 0 0 0 } } geometry DEF EGG Ellipsoid { radii 0.4 0.3 0.2 } } ]
  boundingObject USE EGG physics Physics { density 500 } controller "<none>"
}
Solid {
  name "boat" translation 5 0 2.1 boundingObject Ellipsoid { radii 0.4 0.3 0.2 } physics Physics { density 500 damping Damping { } }
  immersionProperties [ ImmersionProperties { fluidName "pond" } ]
}
W
run() { "$scratch/out/talus" "$@" 2>"$scratch/said" || { cat "$scratch/said"; fail "talus $1 fails"; }; cat "$scratch/said" >> "$scratch/all"; }
run check "$scratch/worlds/toy.wbt"
run run "$scratch/worlds/toy.wbt" --until 20 --quiet --save "$scratch/out/end.wbt"
run render "$scratch/worlds/toy.wbt" "$scratch/out/seen.png" --quiet
grep -iE 'warning|error' "$scratch/all" && fail "it is complained about"
sed 's/emissiveColor 1 1 0/emissiveColor 0 0 1/' "$scratch/worlds/toy.wbt" > "$scratch/worlds/other.wbt"
run render "$scratch/worlds/other.wbt" "$scratch/out/other.png" --quiet
cmp -s "$scratch/out/seen.png" "$scratch/out/other.png" && fail "it is not seen: another colour makes no other picture"
run convert "$scratch/worlds/toy.wbt" "$scratch/out/toy.body"
grep -q 'type: TriangleMesh' "$scratch/out/toy-egg.body" || fail "it is not written to a body"
python3 -B - "$scratch/out" <<'PY' || fail "it is something else"
import re, sys, math
text = open(sys.argv[1] + '/end.wbt').read()
def height(name):
    block = next(one for one in re.split(r'^(?=\w)', text, flags=re.M) if 'name "%s"' % name in one)
    return float(re.search(r'translation \S+ \S+ (\S+)', block).group(1))
egg, boat = height('egg'), height('boat')
assert abs(egg - 0.2) < 2e-3, egg           # lies on its flat side
mass = float(re.search(r'mass: (\S+)', open(sys.argv[1] + '/toy-egg.body').read()).group(1))
assert abs(mass - 500 * 4 / 3 * math.pi * 0.4 * 0.3 * 0.2) < 0.3, mass
assert abs(boat - 2.0) < 0.02, boat         # half as heavy as water: floats with its middle at the surface
PY
echo "toy geometry: four places, it collides, weighs, floats and is seen"
