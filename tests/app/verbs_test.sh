#!/usr/bin/env bash
# The verbs as a user types them: output, exit codes, JSON.
set -u
talus=$TALUS_PROGRAM
work=$TALUS_BUILD_DIR/scratch/verbs
rm -rf "$work"; mkdir -p "$work"
failures=0
expect() { # expect CODE NAME COMMAND...
  local code=$1 name=$2; shift 2
  "$@" >"$work/out" 2>"$work/err"
  local got=$?
  [ $got = "$code" ] || { echo "$name: exit code $got instead of $code"; head -5 "$work/out" "$work/err"; failures=$((failures + 1)); }
}
says() { # says NAME FILE PATTERN
  grep -qE "$3" "$2" || { echo "$1: '$3' not found in:"; head -5 "$2"; failures=$((failures + 1)); }
}
printf '#VRML_SIM R2025a utf8\nWorldInfo { }\nViewpoint { }\nSolid { tranlation 1 2 3 }\n' >"$work/warn.wbt"
printf '#VRML_SIM R2025a utf8\nWorldInfo { \nSolid { translation 1 2 }\n' >"$work/bad.wbt"
printf '#VRML_SIM R2018a utf8\nWorldInfo { }\nViewpoint { }\nSupervisor { controller "x" }\n' >"$work/old.wbt"

expect 0 "overview" "$talus" --help; says overview "$work/out" 'check +diagnose'
expect 0 "version" "$talus" --version
expect 2 "no verb" "$talus"
expect 2 "wrong verb" "$talus" chekc; says "wrong verb" "$work/err" "did you mean 'check'"
expect 2 "wrong option" "$talus" check --jsn x; says "wrong option" "$work/err" 'did you mean --json'
for verb in $("$talus" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
  expect 0 "$verb --help" "$talus" "$verb" --help
  says "$verb --help" "$work/out" '^examples:'
done
expect 0 "check of an example" "$talus" check scenes/hello.wbt; says check "$work/out" '0 errors, 0 warnings'
expect 0 "a warning is no error" "$talus" check "$work/warn.wbt"; says warn "$work/out" 'warn.wbt:4:[0-9]+: warning: .*tranlation'
expect 3 "--strict" "$talus" check --strict "$work/warn.wbt"
expect 3 "an error" "$talus" check "$work/bad.wbt"; says bad "$work/out" 'bad.wbt:[0-9]+:[0-9]+: error: '
expect 3 "a missing file" "$talus" check "$work/none.wbt"; says missing "$work/out" 'none.wbt'
expect 3 "a directory" "$talus" check "$work"
expect 3 "json of two" "$talus" check --json "$work/warn.wbt" "$work/bad.wbt"
python3 - "$work/out" <<'P' || failures=$((failures + 1))
import json, sys
files = json.load(open(sys.argv[1]))["files"]
assert len(files) == 2, files
assert files[0]["version"] == "R2025a" and files[0]["errors"] == 0 and files[0]["warnings"] == 1, files[0]
diagnostic = files[0]["diagnostics"][0]
assert diagnostic["line"] == 4 and diagnostic["severity"] == "warning" and "column" in diagnostic and "node" in diagnostic, diagnostic
assert files[1]["errors"] >= 1, files[1]
P
expect 0 "info" "$talus" info scenes/hello.wbt; says info "$work/out" 'controller <none>'
expect 0 "info --json" "$talus" info --json scenes/hello.wbt
python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); assert d["joints"] == 2 and d["types"]["HingeJoint"] == 2 and len(d["robots"][0]["devices"]) == 4' "$work/out" || failures=$((failures + 1))
expect 0 "convert" "$talus" convert "$work/old.wbt" "$work/new.wbt"
says convert "$work/new.wbt" '^#VRML_SIM R2025a utf8$'
expect 1 "convert into nowhere" "$talus" convert scenes/hello.wbt "$work/no/such/folder.wbt"
expect 2 "convert to the unknown" "$talus" convert scenes/hello.wbt "$work/x.wbt" --to R1999a
cp "$work/new.wbt" "$work/before"
expect 3 "convert of garbage" "$talus" convert /dev/null "$work/new.wbt"
cmp -s "$work/before" "$work/new.wbt" || { echo "a failed conversion changed its output file"; failures=$((failures + 1)); }
expect 0 "doctor" "$talus" doctor; says doctor "$work/out" 'reader +works'
[ $failures = 0 ] && echo "all verbs behave"
exit $((failures > 0))
