# A controller in Python: our `controller` module over libController.
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
timeout 100 "$TALUS_PROGRAM" run "$scratch/worlds/python.wbt" --until 2 --controller-timeout 60000 > "$scratch/log" 2>&1
for robot in driver boss; do
    expect "$robot" grep -q "\[$robot\] PASS" "$scratch/log"
done
[ $failures = 0 ] || cat "$scratch/log"
exit $((failures > 0))
