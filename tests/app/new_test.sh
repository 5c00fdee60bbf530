#!/usr/bin/env bash
# `talus new` writes what builds and runs at once, into the right project, and never over anything.
set -u
scratch=$TALUS_BUILD_DIR/tests/scratch-new
rm -rf "$scratch"; mkdir -p "$scratch"
cd "$scratch" || exit 1
failures=0
complain() { echo "$1"; failures=$((failures + 1)); }
talus() { timeout 600 "$TALUS_PROGRAM" "$@"; }
# expect CODE WHAT... : talus new WHAT ends with it
expect() {
  local wanted=$1; shift
  talus new "$@" >out.txt 2>err.txt; local code=$?
  [ $code = "$wanted" ] || { complain "talus new $*: $code, not $wanted"; cat err.txt; }
}

expect 0 plugin flight
expect 0 plugin 3D
expect 0 plugin with-dash_1
expect 0 plugin water --cpp
names="flight 3D with-dash_1 water"
env -u WEBOTS_HOME make -C plugins/physics/flight 2>&1 | grep -q 'WEBOTS_HOME is not set: use `talus build`' || complain "make alone does not say what it wants"
if command -v cmake >/dev/null; then
  expect 0 plugin wind --cmake
  expect 0 plugin 4-rain_C --cpp --cmake
  expect 0 project sailor --cmake --project .
  expect 0 controller swift --cmake --language cpp --project sailor
  [ -f plugins/physics/wind/CMakeLists.txt ] && [ ! -f plugins/physics/wind/Makefile ] || complain "--cmake gives no CMakeLists.txt alone"
  talus build sailor >build.log 2>&1 && [ -x sailor/controllers/sailor/sailor ] || { complain "a project with CMake does not build"; cat build.log; }
  # A controller built by a user's compiler cannot load a libController that wants the sanitizers' runtime first.
  grep -q '^TALUS_SANITIZE:STRING=$' "$TALUS_BUILD_DIR/CMakeCache.txt" || alone=--no-controllers
  talus run sailor --until 1.1 ${alone:-} >out.txt 2>err.txt && { [ -n "${alone:-}" ] || grep -q 'travelled' out.txt; } || { complain "a project with CMake does not run"; cat out.txt err.txt; }
  names="$names wind 4-rain_C"
fi
for name in 'a b' a.b ../x x/y 'a\b' '' . .. '$(id)' "$(printf 'a%.0s' {1..150})"; do
  expect 2 plugin "$name"
  grep -q 'no good name' err.txt || complain "'$name' is refused without a reason"
done
expect 2 plugin
expect 2 gadget x
expect 2 x --template submarine
grep -q 'wants one of rover|arm|drone|quadruped|empty|body' err.txt || complain "the templates are not told"
expect 2 plugin x --language python
expect 2 plugin x --template arm
expect 2 x --language python --cmake
expect 2 x --cpp --language c
talus build >build.log 2>&1 || { complain "what is new does not build"; cat build.log; }
grep -q warning build.log && { complain "what is new builds with warnings"; cat build.log; }
for name in $names; do
  [ -f "plugins/physics/$name/lib$name.so" ] || complain "$name was not built"
done
[ -f plugins/physics/water/water.cpp ] || complain "--cpp gives no C++"

# Never over anything, nor half: a folder of that name is left alone.
before=$(find . -type f | sort | xargs md5sum)
expect 3 plugin flight
expect 3 plugin flight --cpp
grep -q 'already there' err.txt || complain "what is in the way is not named"
rm -f out.txt err.txt
[ "$(find . -type f | sort | xargs md5sum)" = "$(echo "$before" | grep -v '\./\(out\|err\)\.txt$')" ] || complain "a refused plugin left files"

# Into the project in whose folder one is.
expect 0 project rover
expect 3 project rover
expect 0 plugin rover --project rover
for place in plugins plugins/physics plugins/physics/rover controllers/rover worlds; do
  (cd "rover/$place" && talus new plugin "from-$(basename $place)-$(dirname $place | tr -d /.)" >/dev/null) || complain "no plugin from $place"
done
(cd rover/controllers && talus new controller second >/dev/null) || complain "no controller from controllers"
expect 0 plugin away --project rover
[ "$(ls rover/plugins/physics | wc -l)" = 7 ] || { complain "plugins lie elsewhere"; find rover -name Makefile; }
[ -f rover/controllers/second/second.c ] || complain "the controller lies elsewhere"
touch file
expect 1 plugin x --project file
talus build rover >build.log 2>&1 || { complain "the project does not build"; cat build.log; }
# The new plugin pushes what is called BOX: F = 100 N on 1 kg for half a second, on a floor.
expect 0 pushed --template empty
expect 0 plugin pushed --project pushed
sed -i 's/DEF ROBOT/DEF BOX/; s/WorldInfo {/WorldInfo { physics "pushed"/' pushed/worlds/pushed.wbt
talus build pushed >build.log 2>&1 || { complain "the pushed one does not build"; cat build.log; }
talus run pushed --until 0.5 --no-controllers --record out.csv >/dev/null 2>err.txt || { complain "the project does not run"; cat err.txt; }
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "BOX.x") column = i } END { exit !($column > 0.3) }' out.csv || complain "the new plugin does nothing"

# A project's folder means its world.
cp rover/worlds/rover.wbt rover/worlds/second.wbt
talus info rover >out.txt 2>&1 && grep -q 'worlds/rover.wbt' out.txt || complain "of several worlds, that with the project's name is not taken"
mv rover/worlds/rover.wbt rover/worlds/third.wbt
talus run rover --steps 1 >out.txt 2>err.txt; [ $? = 3 ] && grep -q 'talus run rover/worlds/second.wbt' err.txt || complain "several worlds are not told"
mkdir -p nothing
talus render nothing x.png >out.txt 2>err.txt; [ $? = 3 ] && grep -q 'has no world' err.txt || complain "a folder without a world is not told"
expect 0 quiet_one --quiet
[ ! -s out.txt ] || complain "--quiet is not"
expect 0 told --json
python3 -c 'import json, sys; d = json.load(open("out.txt")); assert d["kind"] == "project" and "told/worlds/told.wbt" in d["files"]' || complain "--json is not JSON"
exit $((failures > 0))
