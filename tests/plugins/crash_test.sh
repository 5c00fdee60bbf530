#!/usr/bin/env bash
# Every way to fail in every callback: a report that names plugin, callback, time and place, exit code 1, the last good
# state saved and usable, no hang.
set -u
export ASAN_OPTIONS=detect_leaks=0:${ASAN_OPTIONS:-}  # what a plugin left half done is not freed
scratch=$TALUS_BUILD_DIR/tests/scratch-crash
rm -rf "$scratch"; mkdir -p "$scratch/worlds" "$scratch/plugins/physics/crash"
cp tests/plugins/crash/crash.cpp "$scratch/plugins/physics/crash/"
printf '#VRML_SIM R2025a utf8\nWorldInfo { physics "crash" }\nSolid { name "floor" boundingObject Plane { } }\nDEF BOX Solid { translation 0 0 0.49 boundingObject Box { size 1 1 1 } physics Physics { } }\n' >"$scratch/worlds/crash.wbt"
g++ -g -O0 -fPIC -shared -Iinclude "$scratch/plugins/physics/crash/crash.cpp" -o "$scratch/plugins/physics/crash/libcrash.so" || exit 1
failures=0
is_sanitized=$(grep -c '^TALUS_SANITIZE:STRING=.*address' "$TALUS_BUILD_DIR/CMakeCache.txt")
cd "$scratch" || exit 1
line_of() { grep -n "FAULT $1" plugins/physics/crash/crash.cpp | head -1 | cut -d: -f1; }
check() {  # callback way text...
  local where=$1 how=$2; shift 2
  rm -f crash.crash.snap
  local verb="run worlds/crash.wbt"
  [ $where = draw ] && verb="render worlds/crash.wbt crash.png"
  CRASH_IN=$where CRASH_HOW=$how timeout 60 "$TALUS_PROGRAM" $verb --steps 6 --plugin-timeout 500 >out 2>err
  local code=$?
  local wrong=""
  [ $code = 1 ] || wrong="exit code $code"
  for text in "physics plugin 'crash': webots_physics_$where" "$@"; do
    grep -q -- "$text" err || wrong="$wrong; no '$text'"
  done
  [ -s crash.crash.snap ] || wrong="$wrong; no snapshot"
  if [ -n "$wrong" ]; then echo "$where $how: $wrong"; cat err; failures=$((failures + 1)); fi
}
callbacks="init step collide step_end cleanup"
"$TALUS_PROGRAM" doctor | grep -q 'OpenGL  *none' || callbacks="$callbacks draw"
for where in $callbacks; do
  check $where segv 'SIGSEGV at address 0x8' "crash.cpp:$(($(line_of segv) + 2))"
  check $where fpe SIGFPE "crash.cpp:$(line_of fpe)"
  check $where abort 'SIGABRT' 'fail(char const\*)'
  check $where null dBodyAddForce 'a NULL body' "crash.cpp:$(line_of null)"
  check $where exit 'called exit(0)' 'crash.cpp:'
  check $where loop 'did not end in time' 'crash.cpp:'
  check $where throw 'threw an exception' 'crash.cpp:'
  check $where jump 'SIGSEGV at address 0' 'crash.cpp:'
  [ "$is_sanitized" = 0 ] && [ $where != draw ] && check $where free 'damaged the heap' "crash.cpp:$(line_of free)"
  check $where overflow SIGSEGV 'overflow'
  check $where nan "gave 'BOX' a force or torque that is not finite"
done
[ -e crash.png ] && { echo "a picture is written although the plugin failed"; failures=$((failures + 1)); }
# The state that was saved is that of the last completed step: a step in which the solver has run is brought to its end.
saved_is() {  # callback steps
  check "$1" segv 'at 0.064 s'
  "$TALUS_PROGRAM" run worlds/crash.wbt --no-plugin --steps "$2" --hash -q >plain
  "$TALUS_PROGRAM" run worlds/crash.wbt --no-plugin --from crash.crash.snap --steps 0 --hash -q >saved
  cmp -s plain saved || { echo "the state saved in $1 differs: $(cat plain) $(cat saved)"; failures=$((failures + 1)); }
  "$TALUS_PROGRAM" run worlds/crash.wbt --no-plugin --from crash.crash.snap --steps 50 --json >out 2>err || { echo "no going on from it"; failures=$((failures + 1)); }
  grep -q "\"steps\": $((50 + $2))," out || { echo "going on from it: $(cat out)"; failures=$((failures + 1)); }
}
saved_is step 2
saved_is collide 3
saved_is step_end 3
# Without trouble, and when it is left out, all is well.
for options in "" "--no-plugin"; do
  "$TALUS_PROGRAM" run worlds/crash.wbt --steps 6 -q $options || { echo "a plain run fails"; failures=$((failures + 1)); }
done
# Not found, not built, no library, a symbol that is nowhere, a callback that is missing.
refused() {  # what text
  "$TALUS_PROGRAM" run worlds/crash.wbt --steps 6 >out 2>err
  local code=$?
  [ $code = 3 ] && grep -q -- "$2" err || { echo "$1: exit code $code"; cat err; failures=$((failures + 1)); }
}
library=plugins/physics/crash/libcrash.so
echo 'int nothing;' | gcc -xc -shared -fPIC - -o $library; refused "no callbacks" 'has no function webots_physics_step'
echo 'void nowhere(void); void webots_physics_init(void){nowhere();}' | gcc -xc -shared -fPIC - -o $library; refused "no symbol" "needs the function 'nowhere'"
echo 'this is no library' >$library; refused "no library" 'cannot be loaded'
rm $library; refused "not built" 'talus build'
rm -r plugins; refused "no folder" 'was not found'
[ $failures = 0 ] && echo "crash: all reported"
exit $((failures > 0))
