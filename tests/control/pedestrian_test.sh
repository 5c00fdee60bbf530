# The default program of the library's Pedestrian: walks the path of its arguments at its speed, in worlds of either axes, and moves
# its limbs without being made anew.
. tests/control/project.sh
command -v python3 > /dev/null || { echo "python3 is missing"; exit 77; }
[ -z "$sanitize" ] || { echo "python3 itself is not built with the sanitizer"; exit 77; }
scratch=$TALUS_BUILD_DIR/scratch/control.pedestrian
project_make "$scratch"
cat > "$scratch/worlds/new.wbt" <<'WORLD'
#VRML_SIM R2025a utf8
EXTERNPROTO "https://raw.githubusercontent.com/cyberbotics/webots/R2025a/projects/humans/pedestrian/protos/Pedestrian.proto"
WorldInfo { basicTimeStep 20 }
DEF WALKER Pedestrian { controllerArgs [ "--trajectory=1 0, 3 0, 3 4" "--speed=2" ] }
WORLD
cat > "$scratch/worlds/old.wbt" <<'WORLD'
#VRML_SIM R2021b utf8
WorldInfo { basicTimeStep 20 coordinateSystem "NUE" }
DEF WALKER Pedestrian { translation 0 1.27 0 controllerArgs [ "--trajectory=1 0, 3 0, 3 4" "--speed=2" ] }
WORLD
cat > "$scratch/worlds/still.wbt" <<'WORLD'
#VRML_SIM R2025a utf8
EXTERNPROTO "https://raw.githubusercontent.com/cyberbotics/webots/R2025a/projects/humans/pedestrian/protos/Pedestrian.proto"
WorldInfo { basicTimeStep 20 }
DEF WALKER Pedestrian { translation 5 6 1.27 }
WORLD

# walks NAME: writes a table of the run; what the program says goes to a log.
walks()
{
    timeout 600 "$TALUS_PROGRAM" run "$scratch/worlds/$1.wbt" --until 2.04 --record "$scratch/$1.csv" > "$scratch/$1.log" 2>&1
}

# at NAME TIME COLUMN...: numbers of that row, rounded to millimetres. What is set at a time stands in the row of the step after.
at()
{
    python3 - "$scratch/$1.csv" "${@:2}" <<'PY'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
row = min(rows, key=lambda one: abs(float(one["time"]) - float(sys.argv[2])))
print(*(f"{float(row[name]):.3f}" for name in sys.argv[3:]))
PY
}

is() { [ "$1" = "$2" ] || { echo "found '$1', not '$2'"; return 1; }; }

walks new
expect "on the first side" is "$(at new 0.52 WALKER.x WALKER.y)" "2.000 0.000"
expect "on the second side" is "$(at new 1.52 WALKER.x WALKER.y)" "3.000 1.000"
expect "turned along it" is "$(at new 1.52 WALKER.qw WALKER.qz)" "0.707 0.707"
expect "limbs move" test "$(at new 0.52 'left leg.qy')" != "$(at new 0.12 'left leg.qy')"
expect "one program for the whole walk" test "$(grep -c 'ended at\|restart' "$scratch/new.log")" = 0
walks old
expect "y is up: on the second side" is "$(at old 1.52 WALKER.x WALKER.z)" "3.000 1.000"
walks still
expect "without a path it stays" is "$(at still 2 WALKER.x WALKER.y)" "5.000 6.000"
expect "and says why" grep -q 'needs --trajectory' "$scratch/still.log"
exit $((failures > 0))
