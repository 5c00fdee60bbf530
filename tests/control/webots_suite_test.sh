# Webots' own tests, where they are at hand (../shared/webots-tests, or TALUS_WEBOTS_TESTS): every world passes but those that
# webots_suite/open.txt names. Nothing is written there: the runner copies them below the build folder.
: "${TALUS_BUILD_DIR:=$PWD/build}" "${TALUS_PROGRAM:=$TALUS_BUILD_DIR/talus}"
suite=${TALUS_WEBOTS_TESTS:-../shared/webots-tests}
[ -x "$suite/run" ] && command -v python3 > /dev/null && command -v make > /dev/null || { echo "skipped: $suite is not there"; exit 77; }
[ -z "$(sed -n 's/^TALUS_SANITIZE:[A-Z]*=//p' "$TALUS_BUILD_DIR/CMakeCache.txt")" ] || { echo "skipped: too slow with sanitizers"; exit 77; }
scratch=$TALUS_BUILD_DIR/scratch/control.webots_suite
rm -rf "$scratch"
mkdir -p "$scratch"
"$suite/run" --talus "$TALUS_PROGRAM" --keep "$scratch/copy" "$@" > "$scratch/results"
sed 's/#.*//; s/[ \t]*$//; /^$/d' tests/control/webots_suite/open.txt | sort > "$scratch/open"
sed -n 's/^\(FAIL\|ERROR\) \([^ ]*\) .*/\2/p' "$scratch/results" | sort > "$scratch/failed"
sed -n 's/^PASS \([^ ]*\).*/\1/p' "$scratch/results" | sort > "$scratch/passed"
tail -n 2 "$scratch/results"
[ -s "$scratch/passed" ] || { echo "FAILED: no world passes"; cat "$scratch/results"; exit 1; }
comm -12 "$scratch/open" "$scratch/passed" | sed 's/^/passes now, so its line in open.txt can go: /'
unexpected=$(comm -23 "$scratch/failed" "$scratch/open")
[ -z "$unexpected" ] && ! grep -q '^BUILD' "$scratch/results" && exit 0
grep '^BUILD' -A 10 "$scratch/results"
for world in $unexpected; do
    echo "FAILED: $(grep " $world " "$scratch/results")"
done
exit 1
