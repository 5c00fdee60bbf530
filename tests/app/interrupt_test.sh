#!/usr/bin/env bash
# A run that is asked to end while a step goes on and on (a plugin that never returns stands for it) ends all the same, with the code of
# the signal. Without that this test waits for ever, and ctest ends it. One whose steps are short ends as always, its recording whole.
set -u
scratch=$TALUS_BUILD_DIR/tests/scratch-interrupt
rm -rf "$scratch"; mkdir -p "$scratch/worlds" "$scratch/plugins/physics/endless"
printf '%s\n' '#include <plugins/physics.h>' '#include <unistd.h>' 'void webots_physics_init() {}' \
  'void webots_physics_step() { ssize_t n = write(2, "in the step\n", 12); volatile int go = n > 0; while (go) ; }' \
  'int webots_physics_collide(dGeomID a, dGeomID b) { (void)a; (void)b; return 0; }' 'void webots_physics_cleanup() {}' > "$scratch/plugins/physics/endless/endless.c"
cc -O1 -fPIC -shared -Iinclude "$scratch/plugins/physics/endless/endless.c" -o "$scratch/plugins/physics/endless/libendless.so" || exit 1
printf '#VRML_SIM R2025a utf8\nWorldInfo { physics "endless" }\n' > "$scratch/worlds/endless.wbt"
printf '#VRML_SIM R2025a utf8\nWorldInfo { }\nDEF BALL Solid { boundingObject Sphere { } physics Physics { } }\n' > "$scratch/worlds/short.wbt"
failures=0
failed() { echo "FAILED: $*"; failures=$((failures + 1)); }

for signal in INT:130 TERM:143; do
  mkfifo "$scratch/said"
  env --default-signal=INT "$TALUS_PROGRAM" run "$scratch/worlds/endless.wbt" 2>"$scratch/said" >/dev/null &
  talus=$!
  exec 3<"$scratch/said"
  while read -r line <&3; do [ "$line" = "in the step" ] && break; done
  kill -s "${signal%:*}" $talus
  wait $talus
  code=$?
  [ $code = "${signal#*:}" ] || failed "SIG${signal%:*} in a long step: exit code $code"
  grep -q 'in the middle of a long step' <&3 || failed "SIG${signal%:*}: nothing was said"
  exec 3<&-
  rm "$scratch/said"
done

# One that does not come to its end after a signal (a plugin that never ends stands for a large file) says so, and the next signal ends it.
mkdir -p "$scratch/plugins/physics/lasting"
printf '%s\n' '#include <plugins/physics.h>' '#include <unistd.h>' 'static int has_said; static void say(const char *s, int n) { ssize_t w = write(2, s, n); (void)w; }' \
  'void webots_physics_init() {}' 'void webots_physics_step() { if (!has_said++) say("in the step\n", 12); }' \
  'int webots_physics_collide(dGeomID a, dGeomID b) { (void)a; (void)b; return 0; }' \
  'void webots_physics_cleanup() { volatile int go = 1; say("in the cleanup\n", 15); while (go) ; }' > "$scratch/plugins/physics/lasting/lasting.c"
cc -O1 -fPIC -shared -Iinclude "$scratch/plugins/physics/lasting/lasting.c" -o "$scratch/plugins/physics/lasting/liblasting.so" || exit 1
printf '#VRML_SIM R2025a utf8\nWorldInfo { physics "lasting" }\n' > "$scratch/worlds/lasting.wbt"
until_said() { while read -r line <&3; do case $line in *"$1"*) return 0 ;; esac; done; return 1; }
mkfifo "$scratch/said"
env --default-signal=INT "$TALUS_PROGRAM" run "$scratch/worlds/lasting.wbt" 2>"$scratch/said" >/dev/null &
talus=$!
exec 3<"$scratch/said"
until_said "in the step"
kill -s INT $talus
until_said "in the cleanup" || failed "the run does not end with its step"
until_said "still ending; the next signal ends it at once" || failed "it does not say that it is still ending"
kill -s INT $talus
wait $talus
code=$?
[ $code = 130 ] || failed "the second signal: exit code $code"
exec 3<&-

# The recording is made of whole lines.
mkfifo "$scratch/rows"
"$TALUS_PROGRAM" run "$scratch/worlds/short.wbt" --record "$scratch/rows" --columns 'BALL.z' >/dev/null 2>"$scratch/err" &
talus=$!
{ for i in $(seq 200); do read -r line; done; kill -s TERM $talus; while read -r line; do last=$line; done; } <"$scratch/rows"
wait $talus
code=$?
[[ $last =~ ^[0-9.e-]+,-[0-9.e+]+$ ]] || failed "the last line of the recording is '$last'"
grep -q 'long step' "$scratch/err" && failed "a short step was cut"
[ $code = 0 ] || [ $code = 143 ] || failed "exit code $code"

# A run without an end ends well by a signal; one that was to make more steps says that it did not.
printf '#VRML_SIM R2025a utf8\nWorldInfo { }\nDEF BALL Solid { boundingObject Sphere { } }\n' > "$scratch/worlds/still.wbt"
for words in "0:" "143:--until 1e9" "143:--steps 1000000000"; do
  mkfifo "$scratch/row"
  "$TALUS_PROGRAM" run "$scratch/worlds/still.wbt" ${words#*:} --record "$scratch/row" --columns 'BALL.x' --quiet >/dev/null 2>"$scratch/err" &
  talus=$!
  { read -r line; kill -s TERM $talus; cat >/dev/null; } <"$scratch/row"
  wait $talus
  code=$?
  [ $code = "${words%%:*}" ] || failed "SIGTERM with '${words#*:}': exit code $code"
  [ $code = 0 ] || grep -q 'ended by a signal before' "$scratch/err" || failed "SIGTERM with '${words#*:}': nothing is said"
  rm "$scratch/row"
done
exit $failures
