#!/usr/bin/env bash
# Choreonoid's files as people have them: YAML around a body, endless ranges, many aliases, projects whose parts are missing.
set -u
talus=$TALUS_PROGRAM
work=$TALUS_BUILD_DIR/scratch/body_files
rm -rf "$work"; mkdir -p "$work"
failures=0
fail() { echo "FAILED $1"; failures=$((failures + 1)); }
expect() { # expect CODE PATTERN COMMAND...
  local code=$1 said=$2; shift 2
  timeout 600 "$@" > "$work/out" 2>&1 < /dev/null
  local got=$?
  [ $got = "$code" ] || { fail "exit code $got, not $code: $*"; head -5 "$work/out"; }
  [ -z "$said" ] || grep -qE -- "$said" "$work/out" || { fail "'$said' is not said: $*"; head -5 "$work/out"; }
}
body() { # body RANGE: a crate with an arm
cat <<BODY
format: ChoreonoidBody
format_version: 2.0
name: Crate
links:
  - { name: BASE, joint_type: free, mass: 2, inertia: [ 0.02, 0, 0, 0, 0.02, 0, 0, 0, 0.02 ],
      elements: [ { type: Shape, geometry: { type: Box, size: [ 0.3, 0.3, 0.3 ] } } ] }
  - { name: ARM, parent: BASE, joint_type: revolute, joint_axis: [ 0, 0, 1 ], joint_range: $1, mass: 1,
      inertia: [ 0.01, 0, 0, 0, 0.01, 0, 0, 0, 0.01 ] }
BODY
}
body '[ -90, 90 ]' > "$work/crate.body"
printf 'modelFile: "crate.body"\n' > "$work/wrapped.yaml"
expect 0 ' 0 errors' "$talus" check "$work/wrapped.yaml"
expect 0 '2 solids' "$talus" run "$work/wrapped.yaml" --steps 2
for range in '[ 0.0, inf ]' '[ -inf, 3 ]' '[ -.inf, .inf ]' '[ unlimited, 1 ]'; do
  body "$range" > "$work/range.body"
  expect 0 ' 0 errors, 0 warnings' "$talus" check "$work/range.body"
done

# More than 100 000 nodes by aliases: a terrain of equal boxes.
{ printf 'format: ChoreonoidBody\nformat_version: 2.0\nname: T\nlinks:\n  - name: G\n    joint_type: fixed\n    elements:\n'
  printf '      - &B { type: Transform, translation: [ 0, 0, 0 ], elements: [ { type: Shape, geometry: { type: Box, size: [ 1, 1, 1 ] } } ] }\n'
  for i in $(seq 8000); do echo '      - *B'; done; } > "$work/terrain.body"
expect 0 ' 0 errors' "$talus" check --quick "$work/terrain.body"

# Projects
project() { # project FILE CLASS
cat <<PROJECT
items:
  class: RootItem
  children:
    - class: WorldItem
      name: World
      children:
        - { class: BodyItem, name: Crate, data: { file: "$1" }, children: [ { class: $2, name: Brain, data: { controller: x } } ] }
PROJECT
}
project gone.body FolderItem > "$work/gone.cnoid"
expect 3 'none of the 1 bodies' "$talus" check "$work/gone.cnoid"
expect 3 'none of the 1 bodies' "$talus" run "$work/gone.cnoid" --steps 1
project crate.body SimpleControllerItem > "$work/brain.cnoid"
expect 0 "warning: SimpleControllerItem 'Brain' is not run" "$talus" run "$work/brain.cnoid" --steps 1
project wrapped.yaml FolderItem > "$work/yaml.cnoid"
expect 0 '2 solids' "$talus" run "$work/yaml.cnoid" --steps 1

# A mesh as a body: one fixed link that others stand on.
cat > "$work/floor.OBJ" <<'OBJ'
v -1 -1 0
v 1 -1 0
v 1 1 0
v -1 1 0
f 1 2 3
f 1 3 4
OBJ
project floor.OBJ FolderItem | sed 's/rate, data: { file: "floor.OBJ" }/rate, data: { file: "floor.OBJ", format: GENERAL-3D-MODEL }/' > "$work/mesh.cnoid"
cat >> "$work/mesh.cnoid" <<'PROJECT'
        - { class: BodyItem, name: Second, data: { file: "crate.body", rootPosition: [ 0, 0, 0.151 ] } }
PROJECT
expect 0 '3 solids, 2 bodies .* 4 contacts' "$talus" run "$work/mesh.cnoid" --until 1

# The view of a body stands upright: its own y axis is level.
"$talus" convert "$work/crate.body" "$work/crate.wbt" > /dev/null 2>&1
"$talus" run "$work/crate.body" --steps 0 --save "$work/saved.wbt" > /dev/null 2>&1
python3 - "$work/saved.wbt" <<'P' || fail "the view of a body is tilted or looks past it"
import math, re, sys
text = open(sys.argv[1]).read()
view = text[text.index('Viewpoint'):]
x, y, z, a = map(float, re.search(r'orientation\s+(\S+) (\S+) (\S+) (\S+)', view).groups())
p = list(map(float, re.search(r'position\s+(\S+) (\S+) (\S+)', view).groups()))
c, s = math.cos(a), math.sin(a)
left = [x * y * (1 - c) - z * s, y * y * (1 - c) + c, y * z * (1 - c) + x * s]
forward = [x * x * (1 - c) + c, x * y * (1 - c) + z * s, x * z * (1 - c) - y * s]
assert abs(left[2]) < 1e-6, left
length = math.dist(p, (0, 0, 0))
assert sum(-u * v for u, v in zip(p, forward)) / length > 0.97 and length < 5, (p, forward)
P
[ $failures = 0 ] && echo "body files are read"
exit $((failures > 0))
