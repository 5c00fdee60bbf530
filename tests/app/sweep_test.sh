#!/usr/bin/env bash
# Sweeps: the same table for any number of jobs and ranks, also when it was killed on the way; rows that crash, hang or are refused say so.
set -u
talus=$TALUS_PROGRAM
folder=$TALUS_BUILD_DIR/scratch/sweep
rm -rf "$folder"
mkdir -p "$folder/worlds"
failures=0
# finished FILE: lines of a journal, 0 while it is not there.
finished() { [ -e "$1" ] && wc -l < "$1" || echo 0; }
complain() { echo "$1"; failures=$((failures + 1)); }
same() { cmp -s "$1" "$2" || complain "$3"; }

cat > "$folder/worlds/fall.wbt" <<'WORLD'
#VRML_SIM R2025a utf8
WorldInfo { basicTimeStep 8 }
DEF FLOOR Solid { boundingObject Plane { } }
DEF BALL Solid { name "ball" translation 0 0 1 boundingObject Sphere { radius 0.2 } physics Physics { density -1 mass 1 } }
DEF EYE Robot { name "eye" controller "<none>" children [ GPS { name "gps" accuracy 0.1 } ] }
WORLD
cat > "$folder/many.yaml" <<'FILE'
world: worlds/fall.wbt
parameters:
  BALL.physics.mass: { from: 0.5, to: 2, count: 5, scale: log }
  WorldInfo.gravity: [1, 2, 5, 9.81]
seeds: { first: 1, count: 10 }
steps: 30
measures:
  height: last position BALL[2]
  speed: max linear_velocity BALL[2]
  seen: mean sensor gps[0]
FILE

# ---- the same rows whoever runs them ----
"$talus" sweep "$folder/many.yaml" --quiet > "$folder/said" 2>&1 || complain "the sweep fails: $(cat "$folder/said")"
grep -q '^200 rows: 200 ok' "$folder/said" || complain "no summary: $(cat "$folder/said")"
[ "$(wc -l < "$folder/many.csv")" = 201 ] || complain "the table has not 200 rows"
[ "$(cut -d, -f8 "$folder/many.csv" | sort -u | wc -l)" -ge 2 ] || complain "nothing was measured"
for ending in csv npz svg; do cp "$folder/many.$ending" "$folder/first.$ending"; done
"$talus" sweep "$folder/many.yaml" --quiet --fresh --jobs 1 > /dev/null 2>&1
for ending in csv npz svg; do same "$folder/many.$ending" "$folder/first.$ending" "one job writes another $ending"; done
"$talus" sweep "$folder/many.yaml" --list | tail -1 | grep -q '^199 .*mass=2 .*gravity=9.81 seed=10$' || complain "the list is wrong"

# ---- killed after more and more rows, and resumed ----
rm "$folder/many.csv" "$folder/many.journal"
for rows in 3 20 21 50 77 110 140 160 180 199; do
  "$talus" sweep "$folder/many.yaml" --quiet > /dev/null 2>&1 &
  pid=$!
  while kill -0 $pid 2>/dev/null && [ "$(finished "$folder/many.journal")" -lt $rows ]; do :; done
  kill -9 $pid 2>/dev/null
  wait $pid 2>/dev/null
  printf '7\tok\t3' >> "$folder/many.journal" # as a kill in the middle of a line leaves it
done
"$talus" sweep "$folder/many.yaml" --quiet > /dev/null 2>&1 || complain "a sweep that was killed does not go on"
same "$folder/many.csv" "$folder/first.csv" "a sweep that was killed and resumed writes another table"
[ "$(tail -n +2 "$folder/many.journal" | cut -f1 | sort -n | uniq -d | wc -l)" = 0 ] || complain "rows were run twice"

# ---- zeros in it, as a machine that lost its power leaves them ----
sed -i '5s/.*/12\tok/' "$folder/many.journal"
head -c 4096 /dev/zero >> "$folder/many.journal"; printf '\n\0\n' >> "$folder/many.journal"; head -c 100 /dev/zero >> "$folder/many.journal"
"$talus" sweep "$folder/many.yaml" --quiet > /dev/null 2> "$folder/said" || complain "zeros in a journal: $(cat "$folder/said")"
same "$folder/many.csv" "$folder/first.csv" "a journal with zeros makes another table"

# ---- no room on the disk: said with exit code 1, and what is finished is kept ----
rm "$folder/many.csv" "$folder/many.journal"
(ulimit -f 4; "$talus" sweep "$folder/many.yaml" --quiet > /dev/null 2> "$folder/said"); code=$?
[ $code = 1 ] && grep -q "cannot write '.*journal'" "$folder/said" || complain "a journal without room ends with $code: $(cat "$folder/said")"
"$talus" sweep "$folder/many.yaml" --quiet > /dev/null 2>&1 || complain "a sweep that had no room does not go on"
same "$folder/many.csv" "$folder/first.csv" "a sweep that had no room and was resumed writes another table"

# ---- ranks ----
if [ -x "$TALUS_BUILD_DIR/talus-mpi" ] && command -v mpirun > /dev/null; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0  # MPI itself keeps its memory to the end
  ranks="mpirun --oversubscribe -n"
  $ranks 4 "$talus" sweep "$folder/many.yaml" --fresh > "$folder/said" 2>&1 || complain "mpirun fails: $(tail -5 "$folder/said")"
  same "$folder/many.csv" "$folder/first.csv" "four ranks write another table"
  rm "$folder/many.csv" "$folder/many.journal"
  $ranks 3 "$talus" sweep "$folder/many.yaml" > /dev/null 2>&1 &
  pid=$!
  while kill -0 $pid 2>/dev/null && [ "$(finished "$folder/many.journal")" -lt 40 ]; do :; done
  rank=$(pgrep -P $pid talus-mpi | tail -1)
  [ -n "$rank" ] && kill -9 "$rank" 2>/dev/null
  wait $pid 2>/dev/null
  kept=$(wc -l < "$folder/many.journal")
  [ "$kept" -ge 40 ] || complain "finished rows were lost with a rank"
  "$talus" sweep "$folder/many.yaml" --quiet > /dev/null 2>&1
  same "$folder/many.csv" "$folder/first.csv" "a sweep that lost a rank ends otherwise"
  ldd "$talus" | grep -q libmpi && complain "talus maps MPI"
else
  echo "without MPI (libopenmpi-dev, openmpi-bin): ranks are not tried"
fi

# ---- rows that do not end well ----
mkdir -p "$folder/controllers/bad"
cat > "$folder/controllers/bad/bad.py" <<'CODE'
import os, signal
from controller import Robot
robot = Robot()
while robot.step(8) != -1:
    if robot.getTime() > 0.05:
        os.kill(os.getpid(), signal.SIGSEGV)
CODE
sed 's/controller "<none>"/controller "bad"/' "$folder/worlds/fall.wbt" > "$folder/worlds/bad.wbt"
sed 's/WorldInfo { basicTimeStep 8 }/WorldInfo { basicTimeStep 8 physics "no_such_plugin" }/' "$folder/worlds/fall.wbt" > "$folder/worlds/plugin.wbt"
cat > "$folder/bad.yaml" <<'FILE'
worlds: [worlds/fall.wbt, worlds/none.wbt, worlds/bad.wbt, worlds/plugin.wbt]
parameters:
  BALL.physics.mass: [1, 2]
steps: 100
stop: { "position BALL[2]": [0.5, 2] }
measures: { height: "last position BALL[2]" }
FILE
"$talus" sweep "$folder/bad.yaml" --quiet > "$folder/said" 2>&1 || complain "a row that fails ends the sweep: $(cat "$folder/said")"
status() { awk -F, -v r="$1" '$1 == r { print $5 }' "$folder/bad.csv"; }
[ "$(status 0)" = stopped ] || complain "row 0 is '$(status 0)', not stopped"
[ "$(status 2)" = refused ] && [ "$(status 3)" = refused ] || complain "a world that is not there is '$(status 2)'"
[ "$(status 4)" = failed ] || complain "a controller's crash is '$(status 4)'"
[ "$(status 6)" = refused ] || complain "a plugin that is not there is '$(status 6)'"
grep -q 'none.wbt' "$folder/bad.csv" || complain "no reason names the world"

cat > "$folder/long.yaml" <<'FILE'
world: worlds/fall.wbt
steps: 2000000000
timeout: 0.3
measures: { height: "last position BALL[2]" }
seeds: [1, 2]
FILE
"$talus" sweep "$folder/long.yaml" --quiet > "$folder/said" 2>&1
grep -q '2 timeout' "$folder/said" || complain "a row without an end: $(cat "$folder/said")"
sed '/timeout/d' "$folder/long.yaml" > "$folder/endless.yaml"
"$talus" sweep "$folder/endless.yaml" --quiet --jobs 1 > /dev/null 2> "$folder/said" &
pid=$!
while [ ! -s "$folder/endless.journal" ]; do :; done
kill -TERM $pid 2>/dev/null
wait $pid
[ $? != 0 ] || complain "a sweep that was interrupted ends as if nothing was"

# ---- bad files ----
refused() # NAME WORDS: the file's text is on standard input
{
  cat > "$folder/$1.yaml"
  "$talus" sweep "$folder/$1.yaml" > "$folder/said" 2>&1
  [ $? = 3 ] || complain "$1 is accepted"
  grep -q -- "$2" "$folder/said" || complain "$1 does not say '$2': $(cat "$folder/said")"
}
good="world: worlds/fall.wbt"
refused unknown "no 'speed'" <<< "$good
steps: 3
speed: 4
measures: { a: last time }"
refused nothing "measures are" <<< "$good
steps: 3"
refused ends "either steps or time" <<< "$good
measures: { a: last time }"
refused word "begins with" <<< "$good
steps: 3
measures: { a: best time }"
refused range "logarithmic" <<< "$good
steps: 3
measures: { a: last time }
parameters: { BALL.physics.mass: { from: 0, to: 1, count: 3, scale: log } }"
refused values "is a number" <<< "$good
steps: 3
measures: { a: last time }
parameters: { BALL.physics.mass: [1, heavy] }"
refused seeds "too large" <<< "$good
steps: 3
measures: { a: last time }
seeds: { first: 2147483647, count: 2 }"
refused stop "two numbers" <<< "$good
steps: 3
measures: { a: last time }
stop: { time: [2, 1] }"
refused huge "ten million" <<< "$good
steps: 3
measures: { a: last time }
parameters: { BALL.physics.mass: { from: 1, to: 2, count: 100000 }, WorldInfo.gravity: { from: 1, to: 2, count: 100000 } }"
printf 'talus-sweep 1 0000000000000000 3\n' > "$folder/many.journal"
"$talus" sweep "$folder/many.yaml" > "$folder/said" 2>&1 && complain "a strange journal is taken"
grep -q 'another sweep' "$folder/said" || complain "a strange journal: $(cat "$folder/said")"
printf 'a letter without an end of line' | tee "$folder/letter" > "$folder/many.journal"
"$talus" sweep "$folder/many.yaml" > "$folder/said" 2>&1 && complain "somebody's file is taken for a journal"
same "$folder/many.journal" "$folder/letter" "somebody's file is not left alone"
exit $((failures > 0))
