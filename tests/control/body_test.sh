# A controller reaches the devices of a body by name: of a Body node in a world, and of a .body file that runs alone.
. tests/control/project.sh
project=$TALUS_BUILD_DIR/scratch/control.body
project_make "$project"
project_compile "$project" tests/control/body/arm.c || exit 1
cp tests/control/body/arm.body "$project/"
cp tests/control/body/arm.body tests/control/body/arm.wbt "$project/worlds/"

passes()
{
    timeout 600 "$TALUS_PROGRAM" run "$@" --until 2 --stop-on-controller-failure > "$project/log" 2>&1
    if ! grep -q 'PASS' "$project/log" || grep -q 'FAIL' "$project/log"; then
        cat "$project/log"
        return 1
    fi
}

expect "a Body in a world" passes "$project/worlds/arm.wbt"
expect "a body alone" passes "$project/arm.body" --controller arm
exit $((failures > 0))
