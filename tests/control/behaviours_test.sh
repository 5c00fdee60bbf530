# Behaviours of the controller API, most with the numbers that Webots' own tests publish: every folder of cases/ is a world
# and its controllers. Each controller must print PASS, and no line may say FAIL. The world's second line says how long it
# runs, the third may name the stepper. Arguments: names of cases, else all.
. tests/control/project.sh
scratch=$TALUS_BUILD_DIR/scratch/control.behaviours
[ $# -gt 0 ] || set -- $(ls tests/control/cases)

run_case()
{
    local name=$1 from=tests/control/cases/$1 project=$scratch/$1 source log until wanted
    project_make "$project"
    for source in "$from"/*.c; do
        project_compile "$project" "$source" || return 1
    done
    cp "$from"/*.wbt "$project/worlds/"
    for source in "$from"/*.png "$from"/*.gltf; do
        [ -f "$source" ] && cp "$source" "$project/worlds/"
    done
    [ -d "$from/protos" ] && cp -r "$from/protos" "$project/"
    for source in "$from"/*.motion; do
        [ -f "$source" ] && cp "$source" "$project/controllers/$name/"
    done
    until=$(sed -n '2s/^# until //p' "$from/$name.wbt")
    wanted=$(grep -v '^#' "$from/$name.wbt" | grep -o 'controller "[a-z]' | wc -l)
    log=$project/log
    local more=() stepper
    stepper=$(sed -n '3s/^# stepper //p' "$from/$name.wbt")
    [ -n "$stepper" ] && more+=(--stepper "$stepper")
    [ -f "$from/$name.input" ] && more+=(--input "$from/$name.input")
    timeout 600 "$TALUS_PROGRAM" run "$project/worlds/$name.wbt" --until "$until" --controller-timeout 20000 "${more[@]}" > "$log" 2>&1
    if [ "$(grep -c '\] PASS' "$log")" != "$wanted" ] || grep -q 'FAIL' "$log"; then
        echo "--- $name: $(grep -c '\] PASS' "$log") of $wanted passed"
        cat "$log"
        return 1
    fi
}

for name in "$@"; do
    expect "$name" run_case "$name"
done
echo "$# cases, $failures failed"
exit $((failures > 0))
