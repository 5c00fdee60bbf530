#!/usr/bin/env bash
# What a world of unknown origin may use up in all: each row of the limits that bounds a load, a step, memory or output ends the program with
# its name. The limits are lowered here, so that every one is met by a small world.
set -u
talus=$TALUS_PROGRAM
work=$TALUS_BUILD_DIR/tests/scratch-budget
rm -rf "$work"; mkdir -p "$work/worlds" "$work/protos"
failures=0
# expect CODE WORDS COMMAND...: ends with the code and says the words.
expect() {
  local code=$1 words=$2 got
  shift 2
  "$@" 2>&1 | cat > "$work/out"; got=${PIPESTATUS[0]}  # (a file for what it says would be bounded, too)
  if [ $got != "$code" ] || ! grep -q -- "$words" "$work/out"; then
    echo "FAILED ($got instead of $code, '$words'): $*"; tail -5 "$work/out"; failures=$((failures + 1))
  fi
}

{ printf '#VRML_SIM R2025a utf8\nWorldInfo { }\nViewpoint { }\n'
  for i in $(seq 3000); do echo "DEF B$i Solid { translation $((i % 55)) $((i / 55)) 1 name \"b$i\" boundingObject Box { size 0.5 0.5 0.5 } physics Physics { } }"; done; } > "$work/worlds/many.wbt"
cat > "$work/protos/Spin.proto" <<'PROTO'
#VRML_SIM R2025a utf8
# template language: javascript
PROTO Spin [ field SFFloat a 1 ]
{ Solid { translation %<= fields.a.value >% 0 0 %< while (true) { } >% } }
PROTO
{ printf '#VRML_SIM R2025a utf8\nEXTERNPROTO "../protos/Spin.proto"\nWorldInfo { }\nViewpoint { }\n'
  for i in $(seq 100); do echo "Spin { a $i }"; done; } > "$work/worlds/spin.wbt"

# Megabytes of text: no processor reads them in the millisecond that the limit leaves.
{ cat "$work/worlds/many.wbt"; for i in $(seq 19); do tail -n +4 "$work/worlds/many.wbt"; done; } > "$work/worlds/more.wbt"

run=("$talus" run --steps 3 "$work/worlds/many.wbt")
expect 0 '' "${run[@]}"
expect 0 '' "${run[@]}" --untrusted
for verb in "run --steps 3" check info "render --size 8x8"; do
  out=; [ "${verb%% *}" = render ] && out=$work/p.png
  expect 3 'limit load_ms' "$talus" $verb "$work/worlds/more.wbt" $out --limits load_ms=1
  expect 3 'limit memory_bytes' "$talus" $verb "$work/worlds/many.wbt" $out --limits memory_bytes=1
done
# A conversion is ended in the middle: large enough that the watch looks before it is done.
expect 3 'limit load_ms' "$talus" convert "$work/worlds/more.wbt" "$work/out.wbt" --limits load_ms=1
[ -e "$work/out.wbt" ] && { echo "FAILED: half of a conversion is left"; failures=$((failures + 1)); }
# Boxes inside each other: a step of this takes far longer than the watch sleeps.
sed 's/size 0.5 0.5 0.5/size 2 2 2/' "$work/worlds/many.wbt" > "$work/worlds/heavy.wbt"
expect 1 'limit step_ms' "$talus" run "$work/worlds/heavy.wbt" --steps 1000 --quiet --limits step_ms=1
expect 3 'limit step_ms' "$talus" render "$work/worlds/heavy.wbt" "$work/p.png" --size 8x8 --steps 1000 --limits step_ms=1

# One hundred templates that never end cost what all together may cost, and the rest of the world is there.
expect 3 'limit templates_ms' "$talus" check "$work/worlds/spin.wbt" --untrusted --limits templates_ms=300,template_ms=200

# A file that would be too large is not there, or as it was; the run says so.
expect 1 'limit output_bytes' "${run[@]}" --save "$work/saved.wbt" --limits output_bytes=5000
[ -e "$work/saved.wbt" ] && { echo "FAILED: half of a saved world is left"; failures=$((failures + 1)); }
expect 1 'limit output_bytes' "${run[@]}" --record "$work/table.csv" --limits output_bytes=5000
expect 1 'limit output_bytes' "${run[@]}" --record "$work/run.talus" --limits output_bytes=500
expect 1 'limit output_bytes' "${run[@]}" --snapshot "$work/s.snap" --limits output_bytes=5000
expect 1 'limit output_bytes' "$talus" convert "$work/worlds/many.wbt" "$work/out.wbt" --limits output_bytes=5000
ls "$work"/*.tmp > /dev/null 2>&1 && { echo "FAILED: something is left aside"; failures=$((failures + 1)); }

expect 2 "not 'speed=1'" "${run[@]}" --limits speed=1
expect 2 "not 'nodes=0'" "${run[@]}" --limits bodies=4,nodes=0
expect 3 'more than 10 nodes' "${run[@]}" --limits nodes=10 --strict
exit $failures
