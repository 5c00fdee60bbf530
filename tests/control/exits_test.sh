# What a run with controllers ends with: failures of every kind, a clock, a signal; and that it says who holds the world. A state
# that was kept starts a world with controllers again.
. tests/control/project.sh
scratch=$TALUS_BUILD_DIR/scratch/control.exits
project_make "$scratch"
project_compile "$scratch" tests/control/ending/fails.c || exit 1
mkdir "$scratch/controllers/raises"
printf 'from controller import Robot\nrobot = Robot()\nrobot.step(16)\nraise ValueError("no")\n' > "$scratch/controllers/raises/raises.py"
log=$scratch/log

world()
{
    printf '#VRML_SIM R2025a utf8\nWorldInfo { basicTimeStep 16 }\nDEF BALL Solid { translation 5 0 9 boundingObject Sphere { } physics Physics { } }\n%s\n' \
        "Robot { name \"r\" supervisor TRUE controller \"$1\" controllerArgs [ \"$2\" ] }" > "$scratch/worlds/w.wbt"
}
# ends STATUS TEXT CONTROLLER ARGUMENT OPTIONS...
ends()
{
    local wanted=$1 text=$2 status
    world "$3" "$4"
    shift 4
    "$TALUS_PROGRAM" run "$scratch/worlds/w.wbt" "$@" > "$log" 2>&1
    status=$?
    [ $status = "$wanted" ] && grep -q "$text" "$log" && return 0
    echo "--- status $status, not $wanted, or without '$text'"
    cat "$log"
    return 1
}
strict="--steps 20 --stop-on-controller-failure"
# shellcheck disable=SC2086
{
    expect "well" ends 0 "0 warnings, 0 errors" fails well $strict
    expect "cleanup, then a status" ends 1 "stopped: controller 'fails' of robot 'r' failed" fails cleanup $strict
    expect "a status alone" ends 1 "ended at 0.08 s with status 3" fails return $strict
    expect "a status is no reason to stop otherwise" ends 0 "ended at 0.08 s with status 3" fails cleanup --steps 20
    [ -n "$sanitize" ] || expect "Python raises" ends 1 "controller 'raises' of robot 'r' failed" raises "" $strict
    # How far it comes before its time is over is the machine's matter.
    expect "out of time" ends 4 "out of time" fails stuck --timeout 1
    expect "time enough" ends 0 "0.32 s simulated" fails well --steps 20 --timeout 600
    expect "no time" ends 2 "timeout wants seconds" fails well --timeout -1
    expect "paused, and nobody to go on" ends 0 "robot 'r' paused the simulation at 0.08 s; every program waits" fails pause --steps 20
    expect "paused and gone on with" ends 0 "time stands at 0.08 s" fails resume --steps 20
    expect "to its end" grep -q "0.32 s simulated" "$log"
    expect "loading again and again counts together" ends 0 "steps of 16 ms" fails reload --steps 21
}
expect "five times" [ "$(grep -c 'starts at 0 s' "$log")" = 5 ]

holds()
{
    world fails stuck
    "$TALUS_PROGRAM" run "$scratch/worlds/w.wbt" --steps 20 > "$log" 2>&1 &
    local talus=$!
    until grep -q "waiting for robot 'r': its controller 'fails' (process [0-9]*) does not ask for its next step" "$log" || ! kill -0 $talus 2> /dev/null; do
        read -rt 0.02 <> <(:)
    done
    kill -INT $talus
    wait $talus
    grep -q "waiting for robot 'r'" "$log" && grep -q "0.08 s simulated" "$log"
}
expect "it says who holds the world, and can be interrupted" holds

# A state that was kept fits the same world with its controllers, also from the help's own example.
goes_on()
{
    world fails well
    "$TALUS_PROGRAM" run "$scratch/worlds/w.wbt" --steps 20 --snapshot "$scratch/s.snap" > "$log" 2>&1 &&
        "$TALUS_PROGRAM" run "$scratch/worlds/w.wbt" --from "$scratch/s.snap" --until 0.48 > "$log" 2>&1 &&
        grep -q "\[r\] starts at 0.32 s" "$log" && grep -q "0.48 s simulated in 10 steps" "$log"
}
expect "--from with controllers" goes_on

# A world that takes long to load: the signal ends it there.
loads()
{
    {
        printf '#VRML_SIM R2025a utf8\nWorldInfo { }\n'
        awk 'BEGIN { for (i = 0; i < 150000; i++) print "Solid { translation " i " 0 0 name \"" i "\" boundingObject Box { } physics Physics { } }" }'
    } > "$scratch/worlds/large.wbt"
    "$TALUS_PROGRAM" run "$scratch/worlds/large.wbt" --steps 1000000000 > "$log" 2>&1 &
    local talus=$!
    # Its memory grows with what it reads.
    until [ "$(awk '/VmRSS/ { print $2 }' /proc/$talus/status 2> /dev/null || echo 999999)" -gt 40000 ]; do
        read -rt 0.01 <> <(:)
    done
    kill -INT $talus
    wait $talus
    [ $? = 130 ]
}
[ -n "$sanitize" ] || expect "a signal while a world is loaded" loads
[ $failures = 0 ] || cat "$log"
exit $((failures > 0))
