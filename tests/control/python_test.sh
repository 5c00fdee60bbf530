# Controllers in Python: our `controller` and `vehicle` modules over libController.
. tests/control/project.sh
command -v python3 > /dev/null || exit 77
[ -z "$sanitize" ] || exit 77  # python3 itself is not built with the sanitizer
scratch=$TALUS_BUILD_DIR/scratch/control.python
project_make "$scratch"
for source in tests/control/python/*.py; do
    name=$(basename "$source" .py)
    mkdir -p "$scratch/controllers/$name"
    cp "$source" "$scratch/controllers/$name/"
done
cp tests/control/python/*.wbt "$scratch/worlds/"
cp -r tests/control/cases/many_fields/protos "$scratch/"

# try WORLD SECONDS ROBOTS OPTIONS...: each of them must print PASS.
try()
{
    local world=$1 until=$2 robots=$3 log=$scratch/$1.log
    shift 3
    timeout 600 "$TALUS_PROGRAM" run "$scratch/worlds/$world.wbt" --until "$until" --controller-timeout 60000 "$@" > "$log" 2>&1
    for robot in $robots; do
        expect "$robot" grep -q "\[$robot\] PASS" "$log"
    done
    [ $failures = 0 ] || cat "$log"
}
try python 2 "driver boss"
try seer 5 "seer car" --input tests/control/python/seer.input
exit $((failures > 0))
