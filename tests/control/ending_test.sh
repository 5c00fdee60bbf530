# The end of a run, of a robot, and of a program: the last state is delivered, what is said last counts, programs that ignore the
# end are ended where they ask next, and every run gives a program the same number of steps, also when the machine is busy.
. tests/control/project.sh
scratch=$TALUS_BUILD_DIR/scratch/control.ending
project_make "$scratch"
project_compile "$scratch" tests/control/ending/ender.c || exit 1
project_compile "$scratch" tests/control/ending/again.c || exit 1
mkdir "$scratch/controllers/heedless"
cp tests/control/ending/heedless.py "$scratch/controllers/heedless/"

head='#VRML_SIM R2025a utf8
WorldInfo { basicTimeStep 16 }'
cat > "$scratch/worlds/end.wbt" <<WORLD
$head
Robot { name "counts" controller "ender" controllerArgs [ "count" ] }
Robot { name "asks" translation 1 0 0 supervisor TRUE controller "ender" controllerArgs [ "ask" ] }
Robot { name "ignores" translation 2 0 0 controller "ender" controllerArgs [ "ignore" "$scratch/ignores.txt" ] }
Robot { name "asks first" translation 3 0 0 supervisor TRUE controller "ender" controllerArgs [ "ask first" "$scratch/first.txt" ] }
Robot { name "long" translation 4 0 0 controller "ender" controllerArgs [ "count" ] }
WORLD
# The program of the last line that each file may have beyond the last step: the one in which the step said -1.
cat > "$scratch/expected" <<WORLD
[asks] 20 steps, sum 20
[counts] 20 steps, 0.32 s
[long] 20 steps, 0.32 s
WORLD
same_end()
{
    rm -f "$scratch"/*.txt
    "$TALUS_PROGRAM" run "$scratch/worlds/end.wbt" --steps 20 --stop-on-controller-failure > "$scratch/log" 2>&1 || return 1
    grep '^\[' "$scratch/log" | sort | diff - "$scratch/expected" || return 1
    [ "$(wc -l < "$scratch/ignores.txt")" = 21 ] && [ "$(wc -l < "$scratch/first.txt")" = 20 ] && ! grep -q crashed "$scratch/log"
}
busy=()
for i in 1 2; do
    while :; do :; done &
    busy+=($!)
done
runs=50
[ -n "$sanitize" ] && runs=5
for run in $(seq $runs); do
    expect "run $run" same_end
    [ $failures = 0 ] || break
done
kill "${busy[@]}"
wait "${busy[@]}" 2> /dev/null

cat > "$scratch/worlds/python.wbt" <<WORLD
$head
Robot { name "heedless" controller "heedless" controllerArgs [ "$scratch/heedless.txt" ] }
WORLD
python_ends()
{
    "$TALUS_PROGRAM" run "$scratch/worlds/python.wbt" --steps 20 --stop-on-controller-failure > "$scratch/log" 2>&1 &&
        [ "$(wc -l < "$scratch/heedless.txt")" = 21 ]
}
if command -v python3 > /dev/null && [ -z "$sanitize" ]; then
    expect "Python that ignores the end" python_ends
fi

cat > "$scratch/worlds/leave.wbt" <<WORLD
$head
DEF R Robot { name "leaves" controller "ender" controllerArgs [ "leave" ] customData "first words" children [
  HingeJoint { jointParameters HingeJointParameters { axis 0 0 1 } device [ RotationalMotor { name "motor" maxVelocity 10 } ]
    endPoint DEF E Solid { physics Physics { } boundingObject Box { size 0.1 0.1 0.1 } } } ] }
WORLD
last_words()
{
    "$TALUS_PROGRAM" run "$scratch/worlds/leave.wbt" --steps 20 --save "$scratch/left.wbt" --record "$scratch/left.csv" --columns 'E.*' > "$scratch/log" 2>&1 &&
        grep -q 'customData "last words"' "$scratch/left.wbt" || return 1
    # The motor turned, and stands since.
    [ "$(sed -n 3p "$scratch/left.csv" | cut -d, -f5-8)" != "$(sed -n 7p "$scratch/left.csv" | cut -d, -f5-8)" ] &&
        [ "$(sed -n 12p "$scratch/left.csv" | cut -d, -f5-8)" = "$(tail -n 1 "$scratch/left.csv" | cut -d, -f5-8)" ]
}
expect "what is said before wb_robot_cleanup() counts" last_words

cat > "$scratch/worlds/vanish.wbt" <<WORLD
$head
Robot { name "vanishes" supervisor TRUE controller "ender" controllerArgs [ "vanish" ] }
Robot { name "counts" translation 1 0 0 controller "ender" controllerArgs [ "count" ] }
WORLD
vanishes()
{
    "$TALUS_PROGRAM" run "$scratch/worlds/vanish.wbt" --steps 20 --stop-on-controller-failure > "$scratch/log" 2>&1 &&
        grep -q '\[vanishes\] removed, step says -1' "$scratch/log" && grep -q '\[counts\] 20 steps' "$scratch/log"
}
expect "a robot that removes itself" vanishes

cat > "$scratch/worlds/again.wbt" <<WORLD
$head
DEF BALL Solid { translation 0 0 10 boundingObject Sphere { radius 0.1 } physics Physics { } }
Robot { name "again" supervisor TRUE controller "again" controllerArgs [ "0" ] }
WORLD
again()
{
    "$TALUS_PROGRAM" run "$scratch/worlds/again.wbt" --steps 20 > "$scratch/log" 2>&1 || return 1
    for run in 0 1 2; do
        grep -q "run $run starts at 0 s, ball at 10.000000000" "$scratch/log" || return 1
    done
    [ "$(sed -n 's/.*at 0.064 s, ball at //p' "$scratch/log" | sort -u | wc -l)" = 1 ]
}
expect "reset and restart begin at time 0" again
[ $failures = 0 ] || cat "$scratch/log"
exit $((failures > 0))
