#!/usr/bin/env bash
# How the program treats its user: no option is ignored silently, saves keep what they replace, full devices are errors,
# repeated messages are folded, exit codes mean what the manual says.
set -u
talus=$TALUS_PROGRAM
work=$TALUS_BUILD_DIR/scratch/manners
rm -rf "$work"; mkdir -p "$work"
failures=0
fail() { echo "FAILED $1"; failures=$((failures + 1)); }
expect() { # expect CODE PATTERN COMMAND...: exit code, and what is said
  local code=$1 said=$2; shift 2
  timeout 600 "$@" > "$work/out" 2> "$work/err" < /dev/null
  local got=$?
  [ $got = "$code" ] || { fail "exit code $got, not $code: $*"; head -5 "$work/err"; }
  [ -z "$said" ] || cat "$work/out" "$work/err" | grep -qE -- "$said" || { fail "'$said' is not said: $*"; head -5 "$work/out" "$work/err"; }
}
world=scenes/box.wbt

# options
expect 2 '--steps wants 0 or more' "$talus" run $world --steps -5
expect 2 'at most 15 digits' "$talus" run $world --steps 99999999999999999999999
expect 2 '--until wants 0 or more' "$talus" run $world --until -1
expect 0 "nothing is named like 'NOPE" "$talus" run $world --steps 1 --record "$work/o.csv" --columns 'NOPE.*'
expect 2 '--columns chooses' "$talus" run $world --steps 1 --columns 'BOX.*'
expect 0 '--controller nope is not used' "$talus" run $world --steps 1 --controller nope
expect 2 'ends with .png' "$talus" render $world "$work/o.bmp"
cp $world "$work/f.wbt"; ln -s f.wbt "$work/g.wbt"
expect 2 'same file' "$talus" convert "$work/f.wbt" "$work/f.wbt"
expect 2 'same file' "$talus" convert "$work/f.wbt" "$work/g.wbt"
expect 2 'names no format' "$talus" convert $world "$work/o.xyz"
expect 0 '' "$talus" convert scenes/hello.wbt "$work/o.urdf"
python3 -c 'import sys, xml.dom.minidom as m; d = m.parse(sys.argv[1]); assert len(d.getElementsByTagName("joint")) >= 2' "$work/o.urdf" || fail "the URDF of a robot"
expect 3 'there is no Robot' "$talus" convert $world "$work/p.urdf"

# words
expect 0 'usage: talus run' "$talus" help run
expect 0 '^talus [0-9]' "$talus" -V
expect 2 "did you mean 'render'" "$talus" draw x.wbt
expect 3 "cannot read 'x.wbt'" "$talus" view x.wbt
expect 3 'name of the file is empty' "$talus" run ''
expect 2 'wants a port' "$talus" view $world --view=70000
expect 2 'need --view' "$talus" run $world --log "$work/acts.log"
expect 0 ' 1 step of ' "$talus" run $world --steps 1
expect 0 ' 2 steps of ' "$talus" run $world --steps 2

# exit codes: what could be read was simulated
printf '#VRML_SIM R2025a utf8\nWorldInfo { }\nViewpoint { }\nSolid { translation 1 2 }\n' > "$work/bad.wbt"
expect 0 '1 error' "$talus" run "$work/bad.wbt" --steps 1
expect 3 '1 error' "$talus" run "$work/bad.wbt" --steps 1 --strict

# folding
{ printf '#VRML_SIM R2025a utf8\nWorldInfo { }\nViewpoint { }\n'; for i in $(seq 45); do printf 'Solid { name "same" }\n'; done; } > "$work/same.wbt"
expect 0 'more that say the same' "$talus" check "$work/same.wbt"
[ "$(grep -c 'warning: ' "$work/out")" -le 4 ] || fail "the same message is shown $(grep -c 'warning: ' "$work/out") times"
grep -q '44 warnings' "$work/out" || fail "folded messages are counted"

# control bytes
printf '#VRML_SIM R2025a utf8\nWorldInfo { }\nViewpoint { }\nRobot { children [ Camera { projection "a\177b\033[31mc\302\233d" } ] }\n' > "$work/escape.wbt"
"$talus" check "$work/escape.wbt" > "$work/out" 2>&1
grep -qP '[\x00-\x08\x0b-\x1f\x7f]' "$work/out" && fail "control bytes reach the terminal"
grep -q '\\x7f' "$work/out" || { fail "control bytes are not shown"; cat "$work/out"; }

# files from elsewhere are not quoted
printf 'root:x:0:0:secret\n' > "$work/passwd"; mkdir -p "$work/inside/worlds"; cp "$work/passwd" "$work/other.proto"
for url in "$work/passwd" "$work/other.proto" ../../other.proto; do
  printf '#VRML_SIM R2025a utf8\nEXTERNPROTO "%s"\nWorldInfo { }\nViewpoint { }\npasswd { }\nother { }\n' "$url" > "$work/inside/worlds/w.wbt"
  "$talus" check --untrusted "$work/inside/worlds/w.wbt" > "$work/out" 2>&1
  grep -q 'secret\|root:' "$work/out" && { fail "content of a foreign file is shown ($url)"; cat "$work/out"; }
done

# saving: links, modes, limits
printf 'old' > "$work/real.wbt"; chmod 600 "$work/real.wbt"; ln -s real.wbt "$work/link.wbt"
expect 0 '' "$talus" convert $world "$work/link.wbt"
[ -L "$work/link.wbt" ] || fail "a link became a file"
grep -q VRML_SIM "$work/real.wbt" || fail "what the link names is not written"
[ "$(stat -c %a "$work/real.wbt")" = 600 ] || fail "the mode of a replaced file is $(stat -c %a "$work/real.wbt")"
{ printf '#VRML_SIM R2025a utf8\nWorldInfo { }\nViewpoint { }\n'; for i in $(seq 300); do printf 'Solid { name "s%d" translation 1 2 %d }\n' $i $i; done; } > "$work/large.wbt"
printf 'before' > "$work/kept.wbt"
(ulimit -f 4; "$talus" convert "$work/large.wbt" "$work/kept.wbt" > /dev/null 2> "$work/err"); code=$?
[ $code = 1 ] || fail "a file above the limit of sizes ends with $code"
[ "$(cat "$work/kept.wbt")" = before ] || fail "a failed save changed the file"
ls "$work" | grep -q '\.tmp' && fail "a failed save left $(ls "$work" | grep '\.tmp')"
mkdir "$work/empty"
(cd "$work/empty"; ulimit -f 1; "$talus" new rover > /dev/null 2> "$work/err"); code=$?
[ $code = 1 ] || fail "a project that cannot be written ends with $code"
[ -z "$(ls -A "$work/empty")" ] || fail "a project that cannot be written leaves $(find "$work/empty" -type f)"

# Where results go is tried before the work: none of these runs begins, which would have no end.
for words in "--save $work/none/o.wbt" "--snapshot $work/none/o.snap" "--crash-snapshot $work/none/o.snap" "--record $work/none/o.talus" \
  "--record $work/none/o.html" "--record $work/none/o.csv" "--sound $work/none/o.wav" "--movie $work/none/o.webm" "--log $work/none/o.log --view" \
  "--save $work" "--snapshot $work/real.wbt/o.snap"; do
  expect 1 "cannot write '$work" "$talus" run $world $words
done
for words in "convert $world $work/none/o.wbt" "convert $world $work/none/o.body" "convert $world $work/none/o.glb" "render $world $work/none/o.png"; do
  expect 1 "cannot write '$work" "$talus" $words
done
# A pipe is not opened to try it: its reader would see an end.
mkfifo "$work/pipe"; cat "$work/pipe" > "$work/read" & reader=$!
expect 0 '' "$talus" run $world --steps 1 --save "$work/pipe"
wait $reader
grep -q VRML_SIM "$work/read" || fail "a world saved into a pipe is not read whole"

# a full device
if [ -c /dev/full ]; then
  for words in "run $world --steps 1" "check $world" "info $world" "help" "--version" "doctor" "manual"; do
    "$talus" $words > /dev/full 2> "$work/err"; code=$?
    [ $code = 1 ] || fail "a full device is no error: $words ends with $code"
    grep -q 'cannot write' "$work/err" || fail "nothing is said of a full device: $words"
  done
fi
# On a terminal what a robot's program prints begins a line of its own: the progress line makes room for it.
mkdir -p "$work/prints/worlds" "$work/prints/controllers/prints"
cat > "$work/prints/worlds/prints.wbt" <<'WORLD'
#VRML_SIM R2025a utf8
WorldInfo { basicTimeStep 32 }
Robot { name "prints" controller "prints" }
WORLD
cat > "$work/prints/controllers/prints/prints.py" <<'PROGRAM'
from controller import Robot
robot = Robot()
while robot.step(32) != -1:
    print("word", flush=True)
PROGRAM
python3 - "$talus" "$work/prints" > "$work/tty" <<'PROGRAM' || fail "a run on a terminal"
import os, pty, sys
os.environ["TERM"] = "xterm"
sys.exit(os.waitstatus_to_exitcode(pty.spawn([sys.argv[1], "run", sys.argv[2], "--until", "3", "--realtime"], stdin_read=lambda fd: b"")))
PROGRAM
grep -aq 's simulated' "$work/tty" || fail "no progress on a terminal"
# Python does not load a libController that wants the sanitizers' runtime first.
grep -q '^TALUS_SANITIZE:STRING=$' "$TALUS_BUILD_DIR/CMakeCache.txt" && { grep -aq '\[prints\] word' "$work/tty" || fail "nothing is printed on a terminal"; }
tr '\r' '\n' < "$work/tty" | grep -a '[^K]\[prints\]' | head -3 | grep -a . && fail "a word stands behind the progress line"

[ $failures = 0 ] && echo "manners are good"
exit $((failures > 0))
