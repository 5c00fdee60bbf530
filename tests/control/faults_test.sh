# Controllers that fail in every way and at every moment: the world goes on, says why, and leaves nothing behind.
. tests/control/project.sh
scratch=$TALUS_BUILD_DIR/scratch/control.faults
project_make "$scratch"
project_compile "$scratch" tests/control/faults/faulty.c || exit 1
project_compile "$scratch" tests/control/faults/garbage.c || exit 1
project_compile "$scratch" tests/control/faults/reload.c || exit 1
export TMPDIR=$scratch/tmp  # whatever is made there must be gone at the end
mkdir "$TMPDIR"

# world NAME COUNT CONTROLLER ARGUMENTS...: robots that fail, and one that must not notice.
world()
{
    local file=$scratch/worlds/$1.wbt count=$2 controller=$3 arguments
    shift 3
    arguments=$(printf '"%s" ' "$@")
    {
        echo '#VRML_SIM R2025a utf8'
        echo 'WorldInfo { basicTimeStep 16 }'
        for i in $(seq "$count"); do
            echo "Robot { name \"bad $i\" translation $i 0 0 controller \"$controller\" controllerArgs [ $arguments ] }"
        done
        echo 'Robot { name "good" translation 0 1 0 controller "faulty" controllerArgs [ "good" "never" ] }'
    } > "$file"
}

left_behind()
{
    # One that was killed with the last breath of the simulator may take a moment to go; on a busy machine a long one.
    for i in $(seq 600); do
        pgrep -f "^$scratch/controllers/" > /dev/null || break
        sleep 0.05
    done
    pgrep -f "^$scratch/controllers/" > /dev/null && { echo "processes are left:"; pgrep -af "^$scratch/controllers/"; return 0; }
    ls /dev/shm 2> /dev/null | grep -q '^talus' && { echo "shared memory is left"; return 0; }
    return 1
}

# run_world NAME REASON COUNT OPTIONS...
run_world()
{
    local name=$1 reason=$2 count=$3 log=$scratch/$1.log status seen
    shift 3
    timeout 600 "$TALUS_PROGRAM" run "$scratch/worlds/$name.wbt" --steps 20 "$@" > "$log" 2>&1
    status=$?
    seen=$(grep -c "$reason" "$log")
    [ $status = 0 ] && [ "$seen" -ge "$count" ] && grep -q '\[good\] finished' "$log" && ! left_behind && return 0
    echo "--- $name: status $status, reason '$reason' seen $seen times of $count"
    tail -20 "$log"
    return 1
}

# How long a controller may keep the world waiting: short for those that never answer, which wait for it, and long for all others, so
# that none of them meets it on a busy machine. The good one beside them must answer within it too: one that is late is asked how much
# it has worked since, so a busy machine is no reason to end it.
patience()
{
    case $1 in hang | deaf) echo "${2:-1500}" ;; *) echo 60000 ;; esac
}

# How it fails, what the user must read.
faults="crash:crashed_at.*signal_11
kill:crashed_at.*signal_9
exit:ended_at.*with_status_3
leave:ended_at
hang:did_not_answer_in_time"
for fault in $faults; do
    how=${fault%%:*} reason=$(echo "${fault#*:}" | tr _ ' ')
    for moment in init step cleanup; do
        # A program that leaves well, or hangs when it is done anyway, is no fault worth a message.
        wanted=1
        [ "$how" = leave ] && wanted=0
        world "$how-$moment" 1 faulty "$how" "$moment"
        expect "$how at $moment" run_world "$how-$moment" "$reason" "$wanted" --controller-timeout "$(patience "$how")"
    done
done
world deaf 1 faulty deaf step
expect "one that ignores SIGTERM" run_world deaf "did not answer in time" 1 --controller-timeout "$(patience deaf)"
for what in nothing header length ops; do
    for moment in init step cleanup; do
        wanted=1
        # One that says nothing at all, or talks nonsense when it was told to end, is no fault worth a message.
        { [ "$what" = nothing ] || [ $moment = cleanup ]; } && wanted=0
        world "garbage-$what-$moment" 1 garbage "$what" $moment
        expect "garbage $what at $moment" run_world "garbage-$what-$moment" "sent a message\|speaks another" $wanted --controller-timeout "$(patience "$what")"
    done
done

# Fifty at once, each in the same way. Their messages are counted with "(50 times)" when they are the same.
for fault in $faults garbage:sent_a_message; do
    how=${fault%%:*} reason=$(echo "${fault#*:}" | tr _ ' ')
    for moment in init step cleanup; do
        wanted=50
        { [ $moment = cleanup ] || [ "$how" = leave ]; } && wanted=0
        if [ "$how" = garbage ]; then
            reason="sent a message\|speaks another"
            world "many-$how-$moment" 50 garbage header $moment
        else
            world "many-$how-$moment" 50 faulty "$how" $moment
        fi
        expect "50 times $how at $moment" run_world "many-$how-$moment" "$reason" $wanted --controller-timeout "$(patience "$how" 5000)"
    done
done

# What a controller started ends with it, however it ends itself.
for fault in crash:step kill:init kill:step exit:step leave:step hang:init hang:step deaf:step crash:cleanup good:never stay:never; do
    how=${fault%%:*} moment=${fault#*:}
    world "children-$how-$moment" 1 faulty "$how" "$moment" children
    expect "children of one with $how at $moment" run_world "children-$how-$moment" "" 0 --controller-timeout "$(patience "$how")"
done
world many-children 20 faulty crash step children
expect "children of 20 that crash" run_world many-children "crashed at.*signal 11" 20

# Loading the world again and again costs nothing: as many open files, as many shared memories, no more memory to speak of.
reload_world()
{
    local file=$scratch/worlds/reload.wbt counts=$scratch/counts kinds first last
    world reload 3 faulty crash step
    echo "Robot { name \"boss\" supervisor TRUE controller \"reload\" controllerArgs [ \"$counts\" \"20\" ] }" >> "$file"
    rm -f "$counts"
    timeout 600 "$TALUS_PROGRAM" run "$file" --until 100 > "$scratch/reload.log" 2>&1 || return 1
    [ "$(wc -l < "$counts")" = 20 ] || return 1
    kinds=$(awk '{ print $1, $2 }' "$counts" | sort -u)
    [ "$(echo "$kinds" | wc -l)" = 1 ] || { echo "open files and shared memories differ:"; cat "$counts"; return 1; }
    # "good" and "boss" are alive, the others are gone.
    [ "${kinds#* }" = 2 ] || { echo "shared memories: $kinds"; return 1; }
    first=$(sed -n 5p "$counts" | cut -d' ' -f3) last=$(tail -n 1 "$counts" | cut -d' ' -f3)
    [ -n "$sanitize" ] || [ "$last" -le $((first + 1024)) ] || { echo "memory grew from $first to $last kB"; return 1; }
    ! left_behind
}
expect "20 times the same world" reload_world

# The user may want the run to end.
world stop 1 faulty crash step
"$TALUS_PROGRAM" run "$scratch/worlds/stop.wbt" --steps 20 --stop-on-controller-failure > "$scratch/stop.log" 2>&1
expect "stops on failure" [ $? = 1 ]
expect "says why" grep -q "controller 'faulty' of robot 'bad 1' failed" "$scratch/stop.log"

# The simulator itself is killed: its controllers end with it.
world killed 50 faulty stay never
"$TALUS_PROGRAM" run "$scratch/worlds/killed.wbt" --realtime --until 100 > /dev/null 2>&1 &
talus=$!
for i in $(seq 2000); do  # a busy machine takes its time
    [ "$(pgrep -fc "^$scratch/controllers/")" -ge 50 ] && break
    sleep 0.1
done
expect "50 run" [ "$(pgrep -fc "^$scratch/controllers/")" -ge 50 ]
kill -9 $talus
wait $talus 2> /dev/null
for i in $(seq 600); do
    pgrep -f "^$scratch/controllers/" > /dev/null || break
    sleep 0.1
done
none_left()
{
    ! left_behind
}
expect "nothing is left when the simulator is killed" none_left
expect "no temporary file is left" [ -z "$(ls -A "$TMPDIR")" ]
echo "$failures failed"
exit $((failures > 0))
