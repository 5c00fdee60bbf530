# The same world with the same programs ends in the same state, devices included, however the system schedules the processes.
. tests/control/project.sh
scratch=$TALUS_BUILD_DIR/scratch/control.repeat
for name in reset radio_order coupled battery; do
    project_make "$scratch/$name"
    for source in tests/control/cases/$name/*.c; do
        project_compile "$scratch/$name" "$source" || exit 1
    done
    cp "tests/control/cases/$name/$name.wbt" "$scratch/$name/worlds/"
    seen=""
    for run in 1 2 3; do
        # The second run is on one processor alone.
        limit=""
        [ $run = 2 ] && command -v taskset > /dev/null && limit="taskset -c $(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')"
        hash=$($limit timeout 600 "$TALUS_PROGRAM" run "$scratch/$name/worlds/$name.wbt" --until 2.4 --hash --quiet 2> /dev/null | sed -n 's/^hash //p')
        expect "$name run $run gives a hash" [ -n "$hash" ]
        [ -z "$seen" ] && seen=$hash
        expect "$name run $run is the same" [ "$hash" = "$seen" ]
    done
done
exit $((failures > 0))
