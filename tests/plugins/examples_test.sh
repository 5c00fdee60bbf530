#!/usr/bin/env bash
# The examples build with `talus build` and their plugins do what they say: the effect is in the motion or on the console.
# Controllers built by a user's compiler cannot load a libController that wants the sanitizers' runtime first.
if ! grep -q '^TALUS_SANITIZE:STRING=$' "$TALUS_BUILD_DIR/CMakeCache.txt"; then
  echo "skipped: plain builds run the examples with their controllers"
  exit 77
fi
set -u
scratch=$TALUS_BUILD_DIR/tests/scratch-plugin-examples
rm -rf "$scratch"; mkdir -p "$scratch"
cp -r examples/physics_* "$scratch/"
cd "$scratch" || exit 1
failures=0
complain() { echo "$1"; failures=$((failures + 1)); }
talus() { timeout 600 "$TALUS_PROGRAM" "$@"; }
for project in physics_*; do
  talus build "$project" --clean >/dev/null 2>&1
  talus build "$project" >build.log 2>&1 || { complain "$project does not build"; cat build.log; }
  # The sanitizers' own libraries make the linker speak; that is not about the plugin.
  grep -v 'libasan\.so\|libtsan\.so' build.log | grep -q warning && { complain "$project builds with warnings"; cat build.log; }
done
# run WORLD SECONDS [option...]: leaves out.csv and out.txt
run() {
  local world=$1 seconds=$2; shift 2
  talus run "$world" --until "$seconds" --record out.csv "$@" >out.txt 2>err.txt || { complain "$world fails"; cat err.txt; }
}
# last COLUMN: its value in the last row
last() { awk -F, -v name="$1" 'NR==1 { for (i = 1; i <= NF; i++) if ($i == name) column = i } END { print $column }' out.csv; }
# expect WHAT EXPRESSION: awk decides
expect() { awk "BEGIN { exit !($2) }" || complain "$1: $2 does not hold"; }

run physics_flight/worlds/flight.wbt 3
expect "the glider climbs" "$(last GLIDER.z) > 8 && $(last GLIDER.x) > 30"
run physics_flight/worlds/flight.wbt 3 --no-plugin
expect "without its plugin it falls" "$(last GLIDER.z) < 0.1"

run physics_ray_sensor/worlds/range.wbt 2
count=$(grep -c '^\[range\] at' out.txt)
expect "five readings" "$count == 5"
talus run physics_ray_sensor/worlds/range.wbt --until 2 --record - >table.csv 2>beside.txt
cmp -s table.csv out.csv || complain "what a plugin prints is in the table on standard output"
[ "$(grep -c '^\[range\] at' beside.txt)" = 5 ] || complain "what a plugin prints is not beside the table"
while read -r distance x; do  # the wall's near side is at 3.9
  expect "the ray measures from the cart to the wall" "($distance - (3.9 - $x))^2 < 1e-6"
done < <(sed -nE 's/.*distance ([0-9.]+), x ([0-9.]+)$/\1 \2/p' out.txt)

run physics_frictionless/worlds/ice.wbt 2
expect "the puck glides on, the stone stops" "$(last PUCK.vx) > 1.99 && $(last STONE.vx) < 0.01 && $(last PUCK.z) > 0.09"
for stepper in ode-exact ode-quick talus; do
  run physics_frictionless/worlds/ice.wbt 1 --stepper $stepper
  expect "the puck glides with $stepper" "$(last PUCK.vx) > 1.99 && $(last PUCK.z) > 0.09"
done

run physics_joints/worlds/joints.wbt 3
expect "the ball joint keeps its length" "(sqrt($(last UPPER.x)^2 + $(last UPPER.y)^2 + ($(last UPPER.z) - 3)^2) - 1)^2 < 1e-5"
expect "the universal joint keeps its length" "(sqrt(($(last LOWER.x) - $(last UPPER.x))^2 + ($(last LOWER.y) - $(last UPPER.y))^2 + ($(last LOWER.z) - $(last UPPER.z))^2) - 1)^2 < 1e-4"
run physics_joints/worlds/joints.wbt 3 --no-plugin
expect "without them the bobs fall" "$(last UPPER.z) < -30"

run physics_hydrodynamics/worlds/water.wbt 20
expect "the ball swims half immersed" "$(last BALL.z)^2 < 1e-4"
expect "the stone sinks at its final speed" "$(last STONE.z) < -20 && $(last STONE.vz) < -2 && $(last STONE.vz) > -6"

run physics_contact_forces/worlds/scale.wbt 2.4
force=$(grep -o '[0-9.]* N' out.txt | tail -1 | cut -d' ' -f1)
expect "the scales show 10 kg" "(${force:-0} - 98.1)^2 < 0.01"

run physics_messages/worlds/messages.wbt 1
grep -q 'height 0\.[1-9]' out.txt || { complain "the controller gets no heights"; cat out.txt; }
expect "the pushes asked for by message lift the robot" "$(last TALKER.z) > 0.3"

run physics_drawing/worlds/trajectory.wbt 1
grep -q '125 points' out.txt || { complain "the trajectory has not 125 points"; cat out.txt; }

# A new project builds and runs; a Makefile for Webots is understood; nothing is overwritten.
talus new project rover --template empty >/dev/null && talus new plugin rover --project rover >/dev/null || complain "no new project"
sed -i 's/DEF ROBOT/DEF BOX/; s/WorldInfo {/WorldInfo { physics "rover"/' rover/worlds/rover.wbt
talus build rover >build.log 2>&1 || { complain "a new project does not build"; cat build.log; }
run rover/worlds/rover.wbt 1
expect "the skeleton pushes the box" "$(last BOX.vx) > 0.01"
grep -q 'rover starts' out.txt || complain "the skeleton's controller does not start"
talus new plugin other --cpp --project rover >/dev/null && talus build rover/plugins/physics/other >build.log 2>&1 || complain "a plugin in C++ does not build"
[ -f rover/plugins/physics/other/libother.so ] || complain "no library was built"
talus new plugin other --cpp --project rover >/dev/null 2>&1; [ $? = 3 ] || complain "a second plugin of the name is not refused"
echo 'int broken(' >rover/plugins/physics/other/other.cpp
talus build rover >/dev/null 2>&1; [ $? = 3 ] || complain "a broken plugin does not fail the build"
[ $failures = 0 ] && echo "plugin examples: all as they should be"
exit $((failures > 0))
