# The WAV file of a run: Speakers as loud, high and far to the side as they should be, the same bytes in every run, nothing under
# the final name when it cannot be written, and the same end of the run with and without.
. tests/control/project.sh
project=$TALUS_BUILD_DIR/scratch/record.sound
project_make "$project"
cp tests/control/cases/speaker/speaker.wbt "$project/worlds/"
expect "compile" project_compile "$project" tests/control/cases/speaker/speaker.c
run() { timeout 600 "$TALUS_PROGRAM" run "$project/worlds/speaker.wbt" --until 3 --hash --controller-timeout 60000 "$@" > "$project/log" 2>&1; }

expect "first run" run --sound "$project/a.wav"
first=$(grep '^hash' "$project/log")
expect "second run" run --sound "$project/b.wav"
expect "same hash" test "$first" = "$(grep '^hash' "$project/log")"
expect "run in silence" run
expect "same hash in silence" test "$first" = "$(grep '^hash' "$project/log")"
expect "same bytes" cmp "$project/a.wav" "$project/b.wav"

# The middle one: 2 m ahead, volume 0.8 of a tone with amplitude 0.5, so 0.2 in all and cos(pi / 4) of it on each side.
# Then two sides, 2 m away, pitch 2: the left channel alone has a tone.
cat > "$project/measure.py" <<'PYTHON'
import math, struct, sys, wave
w = wave.open(sys.argv[1])
assert (w.getnchannels(), w.getsampwidth(), w.getframerate()) == (2, 2, 44100), "form"
n = w.getnframes()
assert n == int(188 * 0.016 * 44100), n
data = struct.unpack("<%dh" % (2 * n), w.readframes(n))
def part(side, begin, end):
    return [data[2 * i + side] / 32767 for i in range(int(begin * 44100), int(end * 44100))]
def rms(x):
    return math.sqrt(sum(v * v for v in x) / len(x))
def pitch(x):
    ups = [i for i in range(1, len(x)) if x[i - 1] < 0 <= x[i]]
    return (len(ups) - 1) * 44100 / (ups[-1] - ups[0])
def near(found, expected, tolerance, what):
    assert abs(found - expected) <= tolerance, "%s is %g, not %g" % (what, found, expected)
expected = 0.8 * 0.5 / 2 / math.sqrt(2) * math.cos(math.pi / 4)
for side in 0, 1:
    near(rms(part(side, 0.1, 0.4)), expected, 0.03 * expected, "the middle one")
    near(pitch(part(side, 0.1, 0.4)), 441, 3, "its pitch")
begin = 35 * 0.016
sides = 0.5 / 2 / math.sqrt(2)
near(rms(part(0, begin + 0.03, begin + 0.08)), sides, 0.06 * sides, "the left one")
near(rms(part(1, begin + 0.03, begin + 0.08)), 0, 0.02 * sides, "the right one")
near(pitch(part(0, begin + 0.02, begin + 0.09)), 882, 20, "its pitch")
assert max(abs(v) for v in part(0, 2.9, 3.0)) == 0, "silent in the end"
PYTHON
expect "measured" python3 "$project/measure.py" "$project/a.wav"

# A full device, and a folder that is not there: an error, the right exit code, no half file.
if [ -w /dev/full ]; then
    run --sound /dev/full
    expect "full device" test $? = 1
    expect "said" grep -q 'cannot write' "$project/log"
fi
run --sound "$project/nowhere/out.wav"
expect "no folder" test $? != 0
expect "nothing left aside" test -z "$(find "$project" -name '*.tmp')"
"$TALUS_PROGRAM" run "$project/worlds/speaker.wbt" --sound-law parrot > "$project/log" 2>&1
expect "unknown law" test $? = 2
exit $((failures > 0))
