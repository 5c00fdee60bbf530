#!/usr/bin/env bash
# `talus run` as a user calls it: output, files, exit codes.
set -u
talus=${TALUS_PROGRAM:-build/talus}
folder=${TALUS_BUILD_DIR:-build}/scratch/run
mkdir -p "$folder"
world=scenes/box.wbt
failures=0
check() { # check NAME CONDITION...
  local name=$1; shift
  if ! "$@"; then echo "FAILED: $name"; failures=$((failures + 1)); fi
}
ends() { # ends CODE ARGUMENTS...: exit code of a run
  local code=$1; shift
  timeout 600 "$talus" "$@" > "$folder/out" 2> "$folder/err"
  local got=$?
  [ $got = "$code" ] || { echo "exit code $got, not $code: talus $*"; cat "$folder/err"; return 1; }
}
hash_of() { timeout 600 "$talus" run "$@" --hash --quiet 2>> "$folder/err" | sed -n 's/^hash //p'; }

check "plain run" ends 0 run $world --steps 10
check "summary" grep -q "10 steps of 8 ms" "$folder/out"
# A motor that is too weak for its arm leaves its bounds in the first step, which the last step alone does not tell.
cat > "$folder/weak.wbt" <<'WORLD'
#VRML_SIM R2025a utf8
WorldInfo { basicTimeStep 8 }
Viewpoint { }
Robot { name "r" translation 0 0 1 children [ HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 }
  device [ RotationalMotor { name "m" maxTorque 0.1 } ]
  endPoint Solid { name "arm" translation 0.3 0 0 boundingObject Box { size 0.5 0.1 0.1 } physics Physics { density -1 mass 1 } } } ] }
WORLD
check "solver explained" ends 0 run "$folder/weak.wbt" --steps 50 --explain-solver
check "the last step" grep -q "^solver: 1 direct, .* 0 solved again" "$folder/out"
check "all steps" grep -q "^all 50 steps: [1-9][0-9]* solved again, 0 fallbacks, 0 redundant rows, 0 bodies stopped" "$folder/out"
check "no step, nothing to explain" ends 0 run "$folder/weak.wbt" --steps 0 --explain-solver
check "usage: no file" ends 2 run
check "usage: two files" ends 2 run $world $world
check "usage: unknown option" ends 2 run $world --nonsense
check "usage: both ends" ends 2 run $world --steps 1 --until 1
check "usage: unknown stepper" ends 2 run $world --stepper nothing
check "missing file" ends 3 run no/such/file.wbt --steps 1
printf 'this is no world' > "$folder/bad.wbt"
check "bad file" ends 3 run "$folder/bad.wbt" --steps 1
sed 's/physics Physics.*/physics Physics { mass "heavy" }/' $world > "$folder/half-bad.wbt"
check "a mistake in a file: what can be read runs, strictly it tells" ends 3 run "$folder/half-bad.wbt" --steps 10 --strict
check "a mistake in a file: what can be read runs" ends 0 run "$folder/half-bad.wbt" --steps 10
check "a mistake in a file: what can be read runs" grep -q "10 steps" "$folder/out"
check "webots spellings" ends 0 run $world --steps 1 --mode=fast --batch --no-rendering --minimize --stdout --stderr
check "no controllers, no plugin" ends 0 run $world --steps 1 --no-controllers --no-plugin
check "help" ends 0 run --help

base=$(hash_of $world --until 1)
check "hash is there" test ${#base} = 16
for options in "--threads 1" "--threads 2" "--threads 4" "--record $folder/a.csv" "--seed 0" "--explain-contacts"; do
  check "same hash with $options" test "$(hash_of $world --until 1 $options | tail -1)" = "$base"
done
check "another moment, another hash" test "$(hash_of $world --until 1.008)" != "$base"
hash_of $world --until 0.5 --snapshot "$folder/half.snap" > /dev/null
check "from a snapshot" test "$(hash_of $world --from "$folder/half.snap" --until 1)" = "$base"
check "snapshot of another world" ends 3 run scenes/hello.wbt --from "$folder/half.snap" --steps 1
check "damaged snapshot" ends 3 run $world --from $world --steps 1

check "record" ends 0 run $world --steps 4 --record "$folder/r.csv" --columns 'BOX.z,*.vz' --every 2
check "rows" test "$(wc -l < "$folder/r.csv")" = 4
check "columns" test "$(head -1 "$folder/r.csv")" = "time,FLOOR.vz,BOX.z,BOX.vz"
check "first row" test "$(sed -n 2p "$folder/r.csv")" = "0,0,1,0"
"$TALUS_PROGRAM" run $world --steps 4 --record - --columns 'BOX.z,*.vz' --every 2 > "$folder/out.csv" 2> "$folder/out.log"
check "a table on standard output and nothing else" cmp "$folder/r.csv" "$folder/out.csv"
check "the summary beside it" grep -q "real time" "$folder/out.log"
check "two tables on standard output" ends 2 run $world --steps 4 --record - --json
check "a place that cannot be written" ends 1 run $world --steps 1 --record /no/such/folder/r.csv

check "save" ends 0 run $world --until 0.2 --save "$folder/saved.wbt"
check "saved world runs on" ends 0 run "$folder/saved.wbt" --steps 5
check "saved velocity" grep -q "linearVelocity 0 0 -1.9" "$folder/saved.wbt"

check "json" ends 0 run $world --until 1 --json
for key in steps time hash speed bodies contacts warnings; do
  check "json has $key" grep -q "\"$key\":" "$folder/out"
done
check "json is json" python3 -c "import json,sys; d=json.load(open('$folder/out')); sys.exit(not (d['steps']==125 and d['time']==1 and d['hash']=='$base' and d['bodies']==1 and d['contacts']==4))"
check "quiet says nothing" ends 0 run $world --steps 5 --quiet
check "quiet says nothing" test ! -s "$folder/out"

check "explained contacts" ends 0 run $world --until 1 --explain-contacts
check "explained contacts" grep -q "any other pair: defaults: friction 1" "$folder/out"
check "explained contacts" grep -q "'BOX' (default).*depth" "$folder/out"

check "contacts of a file" ends 0 info scenes/demo.wbt --contacts
check "contacts of a file" grep -q "'ramp' on 'ice': ContactProperties 0 (scenes/demo.wbt:[0-9]*): friction 0.05" "$folder/out"

cat > "$folder/explode.wbt" <<'WORLD'
#VRML_SIM R2025a utf8
WorldInfo { basicTimeStep 8 }
Viewpoint { }
DEF FAST Solid { linearVelocity 1e9 0 0 name "fast" boundingObject Sphere { } physics Physics { } }
DEF SLOW Solid { translation 0 0 50 name "slow" boundingObject Sphere { } physics Physics { } }
WORLD
check "an explosion stops the run" ends 1 run "$folder/explode.wbt" --steps 50
check "and names the body" grep -q "'FAST'" "$folder/err"
check "in its first step" grep -q "1 step of" "$folder/out"
check "frozen, the rest goes on" ends 0 run "$folder/explode.wbt" --steps 50 --nan freeze
check "frozen, the rest goes on" grep -q "50 steps" "$folder/out"

[ $failures = 0 ] || exit 1
echo "all fine"
