#!/usr/bin/env bash
# `talus check` says what `talus run` says before its first step, without running anything: one world for each kind of mistake.
# A row: name, what must be said (a pattern), the nodes of the world. Files that rows name are made below.
set -u
talus=$TALUS_PROGRAM
work=$TALUS_BUILD_DIR/scratch/check
rm -rf "$work"; mkdir -p "$work/worlds" "$work/protos" "$work/controllers/unbuilt" "$work/controllers/empty" "$work/plugins/physics/unbuilt" "$work/controllers/marks"
failures=0
fail() { echo "FAILED $1"; failures=$((failures + 1)); }

printf 'not a mesh\n' > "$work/worlds/broken.stl"
printf 'not a picture\n' > "$work/worlds/broken.png"
mkfifo "$work/worlds/pipe.obj"
printf 'int main(void) { return 0; }\n' > "$work/controllers/unbuilt/unbuilt.c"
printf 'int x;\n' > "$work/plugins/physics/unbuilt/unbuilt.c"
printf 'open("ran", "w")\n' > "$work/controllers/marks/marks.py"
printf '#VRML_SIM R2025a utf8\nPROTO Text [ field SFString text "a b" ] { Robot { controllerArgs IS text } }\n' > "$work/protos/Words.proto"
sed -i 's/PROTO Text/PROTO Words/' "$work/protos/Words.proto"
printf '#VRML_SIM R2025a utf8\nPROTO Slotted [ field MFNode{Solid{}, Group{}} slot [ ] ] { Group { children IS slot } }\n' > "$work/protos/Slotted.proto"
mkdir -p "$work/protos/other"; cp "$work/protos/Slotted.proto" "$work/protos/other/"

body='boundingObject Box { size 0.1 0.1 0.1 } physics Physics { density -1 mass 1 }'
rows() { cat <<ROWS
mesh_missing|gone\.stl|Solid { boundingObject Mesh { url "gone.stl" } }
mesh_broken|broken\.stl|Solid { boundingObject Mesh { url "broken.stl" } }
mesh_device|null|Solid { boundingObject Mesh { url "/dev/null" } }
mesh_fifo|pipe\.obj|Solid { boundingObject Mesh { url "pipe.obj" } }
mesh_seen_only|gone\.obj|Solid { children [ Shape { geometry Mesh { url "gone.obj" } } ] }
texture_missing|gone\.png|Solid { children [ Shape { appearance Appearance { texture ImageTexture { url "gone.png" } } geometry Box { } } ] }
texture_broken|broken\.png|Solid { children [ Shape { appearance Appearance { texture ImageTexture { url "broken.png" } } geometry Box { } } ] }
radio|Radio is a device that nothing simulates|Robot { children [ Radio { } ] }
sound_missing|gone\.wav|Robot { children [ HingeJoint { device RotationalMotor { sound "gone.wav" } endPoint Solid { $body } } ] $body }
plugin_missing|physics plugin 'nowhere' was not found|WorldInfo { physics "nowhere" }
plugin_unbuilt|physics plugin 'unbuilt' has no library|WorldInfo { physics "unbuilt" }
controller_missing|controller 'nowhere' of robot|Robot { controller "nowhere" }
controller_unbuilt|controller 'unbuilt' of robot .* is not built|Robot { controller "unbuilt" }
controller_empty|'empty'|Robot { controller "empty" }
degenerate_mesh|no triangle|Solid { boundingObject IndexedFaceSet { coord Coordinate { point [ 0 0 0, 1 0 0, 2 0 0 ] } coordIndex [ 0 1 2 -1 ] } }
inertia|inertia|Solid { boundingObject Box { size 0.1 0.1 0.1 } physics Physics { density -1 mass 1 centerOfMass [ 0 0 0 ] inertiaMatrix [ 1 1 1, 5 5 5 ] } }
axis_zero|axis|Robot { children [ HingeJoint { jointParameters HingeJointParameters { axis 0 0 0 } endPoint Solid { $body } } ] $body }
rotation_zero|rotation .*axis 0 0 0|Solid { rotation 0 0 0 0 }
gravity_vector|gravity is of type SFFloat|WorldInfo { gravity 0 0 -9.81 }
string_for_list|'controllerArgs' is of type MFString|Words { }
restricted|'Pose' is not allowed in 'slot'|Slotted { slot [ Pose { } ] }
declared_twice|'Slotted' is declared already|Slotted { }
ROWS
}
declarations='EXTERNPROTO "../protos/Words.proto"\nEXTERNPROTO "../protos/Slotted.proto"\n'
while IFS='|' read -r name said nodes; do
  world="$work/worlds/$name.wbt"
  info=$(case "$nodes" in WorldInfo*) ;; *) echo 'WorldInfo { }' ;; esac)
  printf "#VRML_SIM R2025a utf8\n$declarations" > "$world"
  [ "$name" = declared_twice ] && printf 'EXTERNPROTO "../protos/other/Slotted.proto"\n' >> "$world"
  printf '%s\nViewpoint { }\n%s\n' "$info" "$nodes" >> "$world"
  timeout 600 "$talus" check "$world" > "$work/$name.check" 2>&1
  code=$?
  [ $code = 0 ] || [ $code = 3 ] || fail "$name: check ends with $code"
  grep -qE "(warning|error): .*$said" "$work/$name.check" || { fail "$name: check says nothing like '$said'"; cat "$work/$name.check"; }
  timeout 600 "$talus" run "$world" --steps 0 > /dev/null 2> "$work/$name.run" < /dev/null
  grep -E '(warning|error): ' "$work/$name.run" | while read -r line; do
    grep -qF -- "$line" "$work/$name.check" || echo "$line"
  done > "$work/$name.more"
  [ -s "$work/$name.more" ] && { fail "$name: run says more than check"; cat "$work/$name.more"; }
done < <(rows)

printf '#VRML_SIM R2025a utf8\nWorldInfo { }\nViewpoint { }\nRobot { controller "marks" }\n' > "$work/worlds/marks.wbt"
"$talus" check "$work/worlds/marks.wbt" > "$work/out" || fail "a world without mistakes"
grep -q ' 0 errors, 0 warnings' "$work/out" || { fail "a world without mistakes has some"; cat "$work/out"; }
[ -e "$work/controllers/marks/ran" ] && fail "check ran a controller"

# A project: all worlds, PROTOs and bodies in it, in order.
"$talus" check "$work" > "$work/out" 2>&1; [ $? = 3 ] || fail "a project with mistakes"
grep -q "protos/Slotted.proto: " "$work/out" && grep -q "worlds/marks.wbt: " "$work/out" || fail "check of a folder misses files"
mkdir -p "$work/clean/worlds"; cp "$work/worlds/marks.wbt" "$work/clean/worlds/"; sed -i 's/"marks"/"<none>"/' "$work/clean/worlds/marks.wbt"
"$talus" check "$work/clean" > "$work/out" || fail "a project without mistakes"
grep -q 'clean: 1 file, 0 with errors' "$work/out" || { fail "the sum of a project"; cat "$work/out"; }
mkdir -p "$work/none"; "$talus" check "$work/none" > /dev/null 2>&1; [ $? = 3 ] || fail "a folder without files"

[ $failures = 0 ] && echo "check says what run says"
exit $((failures > 0))
