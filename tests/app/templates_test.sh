#!/usr/bin/env bash
# Every template of `talus new` in every language: it checks without a word, builds without a warning, and the robot does what its
# README says, seen in the recording of its run (not in what it prints).
set -u
grep -q '^TALUS_SANITIZE:STRING=$' "$TALUS_BUILD_DIR/CMakeCache.txt" || { echo "skipped: robots' programs are built by the user's compiler"; exit 77; }
scratch=$TALUS_BUILD_DIR/scratch/templates
rm -rf "$scratch"; mkdir -p "$scratch"; cd "$scratch" || exit 1
failures=0
complain() { echo "FAILED $1"; failures=$((failures + 1)); }
talus() { timeout 600 "$TALUS_PROGRAM" "$@"; }

# moves PROJECT SECONDS COLUMNS PYTHON: the expression holds for `rows`, the recorded rows as dicts of numbers
moves() {
  local project=$1
  talus run "$project" --until "$2" --quiet --record "$project.csv" --columns "$3" --stop-on-controller-failure >"$project.log" 2>&1 \
    || { complain "$project does not run"; cat "$project.log"; return; }
  python3 - "$project.csv" "$4" <<'P' || { complain "$project: not ($4)"; tail -3 "$project.log"; }
import csv, math, sys
with open(sys.argv[1]) as file:
    rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
def path(name):
    return sum(math.hypot(b[name + ".x"] - a[name + ".x"], b[name + ".y"] - a[name + ".y"]) for a, b in zip(rows, rows[1:]))
def near(row, name, place):
    return math.dist([row[f"{name}.{axis}"] for axis in "xyz"], place)
def seen(seconds):
    return min(rows, key=lambda row: abs(row["time"] - seconds))
sys.exit(not eval(sys.argv[2]))
P
}

try() { # try TEMPLATE SECONDS COLUMNS PYTHON
  local language
  for language in c cpp python; do
    [ $language != cpp ] || [ -f "$TALUS_BUILD_DIR/libCppController.so" ] || continue
    local name=$1_$language
    talus new "$name" --template "$1" --language $language >"$name.new" 2>&1 || { complain "talus new $name"; cat "$name.new"; continue; }
    [ "$(sed -n '/^next:/,$p' "$name.new" | grep -c '^  talus ')" -ge 2 ] || complain "$name: the next commands are not told"
    [ $language = python ] || { talus build "$name" >"$name.build" 2>&1 && ! grep -i warning "$name.build"; } || { complain "$name does not build"; cat "$name.build"; }
    talus check --strict --quiet "$name" || complain "$name has errors"
    grep -q '@\|%COMMANDS%' -r "$name/README.md" "$name/worlds" && complain "$name: a placeholder is left"
    moves "$name" "$2" "$3" "$4"
  done
}

try rover 8 'ROVER.*' 'path("ROVER") > 1.5 and all(abs(r["ROVER.x"]) < 1.4 and abs(r["ROVER.y"]) < 1.4 and 0.03 < r["ROVER.z"] < 0.07 for r in rows)'
try arm 3.5 '*.position' 'abs(seen(3.0)["turntable.position"] - math.atan2(0.2, 0.55)) < 0.01 and abs(rows[-1]["turntable.position"] - math.atan2(-0.35, 0.45)) < 1.05'
try drone 7.9 'DRONE.*' 'near(seen(3.9), "DRONE", (0, 0, 1)) < 0.05 and near(rows[-1], "DRONE", (1, 0, 1)) < 0.1 and all(abs(r["DRONE.y"]) < 0.1 for r in rows)'
try quadruped 5 'QUADRUPED.*' 'rows[-1]["QUADRUPED.x"] > 0.6 and abs(rows[-1]["QUADRUPED.y"]) < 0.3 and all(r["QUADRUPED.z"] > 0.3 for r in rows)'
try empty 0.5 'ROBOT.*' 'abs(rows[-1]["ROBOT.z"] - 0.1) < 0.002'
try body 4 '*.position' 'abs(rows[0]["POLE.position"] - math.radians(8)) < 0.01 and abs(rows[-1]["POLE.position"]) < 0.02 and abs(rows[-1]["SLED.position"]) < 0.3'
# Every template is worth looking at: its picture has many colours, not one.
for name in rover_python arm_python drone_python quadruped_python empty_python body_python; do
  talus render "$name" "$name.png" --size 160x120 --quiet || complain "$name has no picture"
  [ "$(stat -c %s "$name.png" 2>/dev/null || echo 0)" -gt 4000 ] || complain "$name: the picture shows next to nothing"
done
[ $failures = 0 ] && echo "six templates in three languages move as they should"
exit $((failures > 0))
