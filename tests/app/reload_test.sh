#!/usr/bin/env bash
# A world whose file was changed before it is loaded again is the changed one: another world goes on, a broken one is told and goes on with
# what could be read, a vanished one ends the run with exit code 3 and a reason. Nothing crashes and nothing hangs.
set -u
grep -q '^TALUS_SANITIZE:STRING=$' "$TALUS_BUILD_DIR/CMakeCache.txt" || { echo "skipped: Python does not load a sanitized libController"; exit 77; }
work=$TALUS_BUILD_DIR/scratch/reload
rm -rf "$work"; mkdir -p "$work/worlds" "$work/controllers/boss"
cat > "$work/controllers/boss/boss.py" <<'P'
import os, sys
from controller import Supervisor
supervisor = Supervisor()
path = supervisor.getCustomData()
supervisor.step(8)
if os.path.exists(path + ".next"):
    os.replace(path + ".next", path)
elif os.path.exists(path):
    os.remove(path)
supervisor.worldReload()
while supervisor.step(8) != -1:
    pass
P
failures=0
# reload NAME CODE PATTERN [FIRST LINE OF THE CHANGED FILE...]
reload() {
  local name=$1 code=$2 pattern=$3 path=$work/worlds/$1.wbt; shift 3
  printf '#VRML_SIM R2025a utf8\nWorldInfo { basicTimeStep 8 }\nViewpoint { }\nRobot { supervisor TRUE controller "boss" customData "%s" }\n' "$path" > "$path"
  [ $# = 0 ] || printf '%s\n' "$@" > "$path.next"
  timeout 600 "$TALUS_PROGRAM" run "$path" --until 0.5 > "$work/out" 2>&1
  local got=$?
  [ $got = "$code" ] && grep -qE "$pattern" "$work/out" && return
  echo "FAILED $name: exit code $got, not $code, or no '$pattern':"; cat "$work/out"; failures=$((failures + 1))
}
reload another 0 '7 solids' '#VRML_SIM R2025a utf8' 'WorldInfo { basicTimeStep 8 }' 'Viewpoint { }' 'Solid { name "a" }' 'Solid { name "b" }' 'Solid { name "c" }' 'Solid { name "d" }' 'Solid { name "e" }' 'Solid { name "f" }' 'Solid { name "g" }'
reload broken 0 'broken.wbt:5:[0-9]+: error' '#VRML_SIM R2025a utf8' 'WorldInfo { }' 'Viewpoint { }' 'Solid { translation 1 2' 'Solid { }'
reload garbage 0 'garbage.wbt:1:1: error' 'this is no world {{{ ]]'
reload vanished 3 'vanished.wbt.*No such file'
[ $failures = 0 ] && echo "changed worlds are loaded as they are"
exit $((failures > 0))
