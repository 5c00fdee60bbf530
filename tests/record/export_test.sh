# Recordings from the command line: exported files read back by their own rules, kill -9 leaves what was written, a supervisor's
# animation, and what cannot be written or read is said and leaves nothing under the final name.
. tests/control/project.sh
project=$TALUS_BUILD_DIR/scratch/record.export
project_make "$project"
cat > "$project/worlds/fall.wbt" <<'WORLD'
#VRML_SIM R2025a utf8
WorldInfo { basicTimeStep 8 }
Viewpoint { position -4 0 1 orientation 0 1 0 0.2 }
Solid { name "floor" children [ Shape { geometry Plane { size 8 8 } } ] boundingObject Plane { size 8 8 } }
DEF BALL Solid { name "ball" translation 0 0 1 rotation 1 2 3 0.7 children [ Shape { geometry Box { size 0.2 0.2 0.2 } } ] boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } }
Robot { name "r" translation 2 0 1 supervisor TRUE controller "CONTROLLER" children [ HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 }
  endPoint DEF ARM Solid { name "arm" translation 0.3 0 0 boundingObject Box { size 0.1 0.1 0.1 } physics Physics { } } } ] }
WORLD
controller() { sed "s/CONTROLLER/$1/" "$project/worlds/fall.wbt" > "$project/worlds/$1.wbt"; }
cat > "$project/talks.c" <<'PROGRAM'
#include <stdio.h>
#include <webots/robot.h>
#include <webots/supervisor.h>
int main(void)
{
    wb_robot_init();
    wb_supervisor_set_label(3, "a label", 0.1, 0.1, 0.1, 0x00ff00, 0.5, "Arial");
    puts("hello");
    fflush(stdout);
    while (wb_robot_step(8) != -1)
        continue;
    wb_robot_cleanup();
    return 0;
}
PROGRAM
cat > "$project/kills.c" <<'PROGRAM'
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include <webots/robot.h>
int main(void)
{
    wb_robot_init();
    for (int i = 0; i < 400; i++)
        wb_robot_step(8);
    kill(getppid(), SIGKILL);
    return 0;
}
PROGRAM
cat > "$project/films.c" <<'PROGRAM'
#include <webots/robot.h>
#include <webots/supervisor.h>
#include "check.h"
int main(void)
{
    wb_robot_init();
    CHECK(!wb_supervisor_animation_stop_recording());
    CHECK(!wb_supervisor_animation_start_recording("no/such/folder/film.html"));
    CHECK(wb_supervisor_animation_start_recording("film.html"));
    CHECK(!wb_supervisor_animation_start_recording("other.html"));
    wb_supervisor_set_label(7, "seven", 0, 0, 0.1, 0xff0000, 0, "Arial");
    for (int i = 0; i < 50; i++)
        wb_robot_step(8);
    CHECK(wb_supervisor_animation_stop_recording());
    return check_done();
}
PROGRAM
cat > "$project/loads.c" <<'PROGRAM'
#include <webots/robot.h>
#include <webots/supervisor.h>
int main(void)
{
    wb_robot_init();
    for (int i = 0; i < 10; i++)
        wb_robot_step(8);
    wb_supervisor_world_load("talks.wbt");
    while (wb_robot_step(8) != -1)
        continue;
    return 0;
}
PROGRAM
for name in talks kills films loads; do
    controller $name
    expect "compile $name" project_compile "$project" "$project/$name.c"
done
run() { timeout 600 "$TALUS_PROGRAM" run "$@" > "$project/log" 2>&1; }
export_to() { timeout 600 "$TALUS_PROGRAM" export "$@" > "$project/log" 2>&1; }
code() { "$@"; code=$?; }

# The same run as a table and as a recording; then every other form of it.
expect "table" run "$project/worlds/talks.wbt" --steps 63 --record "$project/run.csv"
expect "recording" run "$project/worlds/talks.wbt" --steps 63 --every 1 --record "$project/run.talus"
for kind in csv mcap glb; do
    expect "export $kind" export_to "$project/run.talus" "$project/export.$kind"
done
if ! export_to "$project/run.talus" "$project/export.html"; then
    expect "a build without the browser page says so" grep -q "this build has no browser page" "$project/log"
fi
expect "exports read back" python3 tests/record/export_check.py "$project"
# Straight from the run it is the same file.
for kind in mcap glb html; do
    [ -f "$project/export.$kind" ] || continue
    expect "straight $kind" run "$project/worlds/talks.wbt" --steps 63 --every 1 --record "$project/straight.$kind"
    expect "straight $kind: same bytes" cmp "$project/export.$kind" "$project/straight.$kind"
done
expect "nothing beside them" test -z "$(find "$project" -maxdepth 1 -name '*.*.talus' -o -maxdepth 1 -name '*.tmp')"
validator=$TALUS_BUILD_DIR/web/node_modules/gltf-validator
if [ -d "$validator" ] && command -v node > /dev/null; then
    expect "skins as glTF" "$TALUS_PROGRAM" convert tests/control/cases/skin/skin.wbt "$project/skin.glb" --quiet
    for file in export skin; do
        expect "gltf-validator: $file" node -e "
            require('$validator').validateBytes(new Uint8Array(require('fs').readFileSync('$project/$file.glb'))).then(report => {
                if (report.issues.numErrors + report.issues.numWarnings > 0) { console.log(JSON.stringify(report.issues.messages.slice(0, 5))); process.exit(1) }
            })"
    done
    expect "three parts are bent" grep -qa '"skins":\[{"inverseBindMatrices":[0-9]*,"joints":\[[^]]*\]},{[^}]*},{[^}]*}\]' "$project/skin.glb"
else
    echo "gltf-validator is not installed: that check is left out"
fi

# Killed in the middle: what was written until then can be used.
code run "$project/worlds/kills.wbt" --record "$project/killed.talus"
expect "killed" test "$code" = 137
expect "killed: export" export_to "$project/killed.talus" "$project/killed.csv"
expect "killed: said" grep -q "was not finished" "$project/log"
expect "killed: at least two seconds" awk -F, 'END { exit !($1 > 2) }' "$project/killed.csv"

# Two worlds, two recordings.
expect "another world" run "$project/worlds/loads.wbt" --steps 40 --record "$project/worlds.talus"
for name in worlds worlds-2; do
    expect "another world: $name" export_to "$project/$name.talus" "$project/$name.csv"
done

# A supervisor's animation.
expect "animation" run "$project/worlds/films.wbt" --steps 60
for kind in html json w3d css; do
    expect "animation: $kind" test -s "$project/controllers/films/film.$kind"
done
expect "animation: what it says" python3 - "$project/controllers/films/film" <<'CHECK'
import json, sys, xml.dom.minidom
data = json.load(open(sys.argv[1] + '.json'))
assert data['basicTimeStep'] == 24 and data['labelsIds'] == '7', data['basicTimeStep']
ids = {node.getAttribute('id') for node in xml.dom.minidom.parse(sys.argv[1] + '.w3d').getElementsByTagName('Transform')}
assert len(ids) == 4 and {f"n{u['id']}" for u in data['frames'][0]['updates']} == ids
heights = [float(u['translation'].split()[2]) for f in data['frames'] for u in f['updates'] if len(u['rotation'].split()) == 4 and u['id'] == data['frames'][0]['updates'][1]['id']]
assert heights[0] == 1 and min(heights) < 0.5 and [f['time'] for f in data['frames'][:3]] == [0, 24, 48]
assert any(label['text'] == 'seven' for f in data['frames'] for label in f.get('labels', []))
CHECK

# What cannot be.
code run "$project/worlds/talks.wbt" --steps 3 --record "$project/no/such/run.talus"
expect "no folder: code $code" test "$code" = 1
if [ -e /dev/full ]; then
    ln -sf /dev/full "$project/full.talus"
    code run "$project/worlds/talks.wbt" --steps 3 --record "$project/full.talus"
    expect "full disk: code $code" test "$code" = 1
    expect "full disk: said" grep -q "cannot write .*full.talus" "$project/log"
fi
# No room for the page: its recording stays, and a page can be made of it.
rm -f "$project"/room.html*
(
    trap '' XFSZ
    ulimit -f 100
    code run "$project/worlds/talks.wbt" --steps 63 --record "$project/room.html"
    exit "$code"
)
expect "no room: code" test $? = 1
expect "no room: said" grep -q "room.html' is not written; what was recorded stays in" "$project/log"
expect "no room: no page" test ! -e "$project/room.html"
expect "no room: its recording" export_to "$project"/room.html.*.talus "$project/room.csv"
rm -f "$project"/room.*
head -c 3000 "$project/run.talus" > "$project/cut.talus"
echo "no recording" > "$project/broken.talus"
for case in "broken.talus out.csv 3" "missing.talus out.csv 3" "run.talus no/such/out.html 1" "run.talus out.txt 2" "run.talus out.mp4 --size=1x1 2"; do
    set -- $case
    code export_to "$project/$1" "$project/$2" ${4:+$3}
    expect "$case: code $code" test "$code" = "${4:-$3}"
    expect "$case: nothing there" test ! -e "$project/$2"
done
exit $((failures > 0))
