#!/usr/bin/env bash
# Every way to fail in every callback: a report that names plugin, callback, time and place, exit code 1, the last good
# state saved and usable, no hang. Each case runs in a folder of its own, a few at a time.
set -u
export ASAN_OPTIONS=detect_leaks=0:handle_segv=1:allow_user_segv_handler=1:use_sigaltstack=0:${ASAN_OPTIONS:-}  # what a plugin left half done is not freed
scratch=$TALUS_BUILD_DIR/tests/scratch-crash
rm -rf "$scratch"; mkdir -p "$scratch/worlds" "$scratch/plugins/physics/crash"
cp tests/plugins/crash/crash.cpp "$scratch/plugins/physics/crash/"
printf '#VRML_SIM R2025a utf8\nWorldInfo { physics "crash" }\nSolid { name "floor" boundingObject Plane { } }\nDEF BOX Solid { translation 0 0 0.49 boundingObject Box { size 1 1 1 } physics Physics { } }\n' >"$scratch/worlds/crash.wbt"
g++ -g -O0 -fPIC -shared -Iinclude "$scratch/plugins/physics/crash/crash.cpp" -o "$scratch/plugins/physics/crash/libcrash.so" || exit 1
is_sanitized=$(grep -c '^TALUS_SANITIZE:STRING=.*address' "$TALUS_BUILD_DIR/CMakeCache.txt")
cd "$scratch" || exit 1
failed() { echo "$*" >>"$scratch/failures"; }
line_of() { grep -n "FAULT $1\b" "$scratch/plugins/physics/crash/crash.cpp" | head -1 | cut -d: -f1; }
most=$(($(nproc) + 1))
parallel() {  # command...: in the background, when there is room
  while [ "$(jobs -rp | wc -l)" -ge $most ]; do wait -n; done
  "$@" &
}
room() { mkdir -p "$scratch/$1" && cd "$scratch/$1" && ln -sfn ../worlds worlds && rm -f crash.crash.snap crash.png; }

# one CODE SNAPSHOT CASE CALLBACK WAY OPTIONS TEXT...: runs it, and looks for the exit code, the snapshot (yes, no) and texts.
one() {
  local code=$1 snapshot=$2 name=$3 where=$4 how=$5 options=$6 wrong="" verb="run worlds/crash.wbt"; shift 6
  room "$name"
  [ $where = draw ] && verb="render worlds/crash.wbt crash.png"
  CRASH_IN=$where CRASH_HOW=$how timeout 600 "$TALUS_PROGRAM" $verb $options >out 2>err
  local got=$?
  [ $got = $code ] || wrong="exit code $got"
  for text in "$@"; do
    grep -q -- "$text" err || wrong="$wrong; no '$text'"
  done
  [ $snapshot = yes ] && { [ -s crash.crash.snap ] || wrong="$wrong; no snapshot"; }
  [ $snapshot = no ] && [ -e crash.crash.snap ] && wrong="$wrong; a snapshot"
  [ -e crash.png ] && [ $code != 0 ] && wrong="$wrong; a picture"
  if [ -n "$wrong" ]; then failed "$name: $wrong"; { echo "--- $name"; cat err; } >>"$scratch/log"; fi
  return 0
}
check() {  # callback way text...
  local where=$1 how=$2 most_ms=60000; shift 2
  [ $how = loop ] && most_ms=500  # it alone meets its limit, on however busy a machine
  parallel one 1 yes "$where-$how" "$where" "$how" "--steps 6 --plugin-timeout $most_ms" "physics plugin 'crash': webots_physics_$where" "$@"
}
callbacks="init step collide step_end cleanup"
"$TALUS_PROGRAM" doctor | grep -q 'OpenGL  *none' || callbacks="$callbacks draw"
for where in $callbacks; do
  check $where segv 'SIGSEGV at address 0x8' "crash.cpp:$(($(line_of segv) + 2))"
  check $where fpe SIGFPE "crash.cpp:$(line_of fpe)"
  check $where abort 'SIGABRT' 'fail(char const\*)'
  check $where null dBodyAddForce 'a NULL body' "crash.cpp:$(line_of null)"
  check $where exit 'called exit(0)' "crash.cpp:$(line_of exit)"
  check $where _exit 'called _exit(0)' "crash.cpp:$(line_of _exit)"
  check $where loop 'did not end in time' 'crash.cpp:'
  check $where throw 'threw an exception' 'crash.cpp:'
  check $where jump 'SIGSEGV at address 0' 'crash.cpp:'
  [ "$is_sanitized" = 0 ] && check $where free 'damaged the heap' "crash.cpp:$(line_of free)"
  check $where overflow SIGSEGV 'overflow'
  check $where nan "gave 'BOX' a force or torque that is not finite"
done
# Rarer ways, in one callback.
check step quick_exit 'called quick_exit(0)' 'crash.cpp:'
check step pthread_exit 'called pthread_exit()' 'crash.cpp:'
check step trap SIGTRAP 'crash.cpp:'
check step pipe 'that nobody reads (SIGPIPE)' "crash.cpp:$(line_of pipe)"
check step ode 'ODE says "a message of ours"' 'crash.cpp:'
# What was printed before the heap was damaged is not lost, nor how the run went; each as it is after any other fault.
output() {  # name way options
  room "$1"
  CRASH_TALK=1 CRASH_IN=step_end CRASH_HOW=$2 timeout 600 "$TALUS_PROGRAM" run worlds/crash.wbt --steps 6 $3 >out 2>err
  sed '/"speed"\|"seconds"\|"stepsPerSecond"\|"failure"\| a step:\|stopped/d; s/[0-9.]* x real time.*//; /"phases"/,$d' out >out.plain
}
# Damage with the heap's lock held by the thread that fails: other threads are there.
if [ "$is_sanitized" = 0 ]; then
  for options in "" --json; do
    output "printed-segv$options" segv "$options"; output "printed-free$options" free "$options"
    cd "$scratch" || exit 1
    [ -s "printed-free$options/out.plain" ] || failed "printed-free$options: nothing is printed"
    diff "printed-segv$options/out.plain" "printed-free$options/out.plain" >>log || failed "printed-free$options: other output than after a plain fault"
  done
  [ "$(grep -c '\[crash\] talks' printed-free/out)" = 3 ] || failed "printed-free: lines of the plugin are lost"
  python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); sys.exit("damaged the heap" not in d["failure"] or d["steps"] != 3)' printed-free--json/out ||
    failed "printed-free--json: no summary"
  parallel one 1 yes threads-free step free "--steps 6 --threads 4" 'damaged the heap' "crash.cpp:$(line_of free)" 'at 0.064 s'
  parallel one 1 yes corrupt step corrupt "--steps 6" "physics plugin 'crash': webots_physics_step" 'crash.cpp:'
fi
# On threads that the plugin made. The one that is waited for is found too.
long="--steps 5000 --threads 2"
parallel one 1 yes thread-segv step thread_segv "$long" 'a thread of its own' 'SIGSEGV at address 0x8' "crash.cpp:$(($(line_of segv) + 2))"
parallel one 1 yes thread-exit step thread_exit "$long" 'a thread of its own' 'called exit(0)' "crash.cpp:$(line_of thread_exit)"
parallel one 1 yes thread-overflow step thread_overflow "$long" 'a thread of its own' 'SIGSEGV' 'overflow('
parallel one 1 yes thread-throw step thread_throw "$long" 'a thread of its own' 'threw an exception' 'thread_throw(void\*)'
parallel one 1 yes thread-joined step thread_joined "$long" 'a thread of its own' 'SIGSEGV at address 0x8'
[ "$is_sanitized" = 0 ] && parallel one 1 yes thread-free step thread_free "$long" 'a thread of its own' 'damaged the heap' "crash.cpp:$(line_of free)"
# Called by ODE in the middle of a step there is no state to save.
parallel one 1 no moved step moved "--steps 6" 'a function of its own, outside of its callbacks' 'SIGSEGV at address 0x8' 'moved(dxBody\*)' 'could not be saved'
parallel one 1 yes silent step silent "--steps 6"
# Whoever is stopped in the middle of a report, for longer than one may lie still, goes on with it.
stopped() {  # seconds until then
  room "stopped-$1"
  CRASH_IN=collide CRASH_HOW=_exit timeout 600 "$TALUS_PROGRAM" run worlds/crash.wbt --steps 6 >out 2>err &
  local run=$! program
  sleep "$1"
  program=$(pgrep -P $run) && kill -STOP $program && sleep 7 && kill -CONT $program
  wait $run
  grep -q "crash.cpp:$(line_of _exit)" err || { failed "stopped after $1 s: no place"; cat err >>"$scratch/log"; }
}
for moment in 0.05 0.1 0.2 0.3 0.4 0.5 0.6 0.8; do stopped $moment & done
wait

# None of these is a failure, and the state is that of a run without a plugin.
"$TALUS_PROGRAM" run worlds/crash.wbt --no-plugin --steps 6 --hash -q >plain
harmless() {  # way
  room "harmless-$1"
  for where in init step; do
    CRASH_IN=$where CRASH_HOW=$1 timeout 600 "$TALUS_PROGRAM" run worlds/crash.wbt --steps 6 --hash -q >out 2>err || failed "$1 in $where: exit code $?"
    cmp -s out ../plain || { failed "$1 in $where: $(cat out)"; cat err >>"$scratch/log"; }
  done
}
for how in none fork fork_segv thread_well float message longjmp; do parallel harmless $how; done
# What surrounds a plugin is put back after init, and failing after it is seen.
surrounded() {  # way text
  CRASH_FIRST=$1 one 1 yes "first-$1" step segv "--steps 6" "$2" 'SIGSEGV at address 0x8' 'webots_physics_step crashed'
}
parallel surrounded handlers 'changed handlers of signals in webots_physics_init'
parallel surrounded block 'changed the mask of signals'
parallel surrounded away 'changed the working directory, the locale'
# What went wrong in init is said before the summary.
(room early; CRASH_IN=init CRASH_HOW=segv "$TALUS_PROGRAM" run worlds/crash.wbt --steps 6 >both 2>&1; [ "$(grep -n 'error: physics plugin' both | cut -d: -f1)" = 1 ] || failed "an error of init comes late: $(cat both)")
# A reader that goes away is no fault of the plugin.
(room head; CRASH_IN=step CRASH_HOW=none "$TALUS_PROGRAM" run worlds/crash.wbt --steps 6 2>err | true; [ ! -s err ] || failed "| true: $(cat err)")

# The state that was saved is that of the last completed step: a step in which the solver has run is brought to its end.
saved_is() {  # callback steps way
  room "saved-$1-$3"
  CRASH_IN=$1 CRASH_HOW=$3 "$TALUS_PROGRAM" run worlds/crash.wbt --steps 6 >out 2>err
  grep -q 'at 0.064 s' err || failed "$1 $3: not at 0.064 s"
  "$TALUS_PROGRAM" run worlds/crash.wbt --no-plugin --steps "$2" --hash -q >plain
  "$TALUS_PROGRAM" run worlds/crash.wbt --no-plugin --from crash.crash.snap --steps 0 --hash -q >saved
  # A pass that could not be ended has not marked what touches; that alone is not as it was.
  [ $1-$3 = collide-free ] || cmp -s plain saved || failed "the state saved in $1 after $3 differs: $(cat plain) $(cat saved)"
  "$TALUS_PROGRAM" run worlds/crash.wbt --no-plugin --steps $((50 + $2)) --hash -q >plain
  "$TALUS_PROGRAM" run worlds/crash.wbt --no-plugin --from crash.crash.snap --steps 50 --hash -q >saved
  cmp -s plain saved || failed "going on from $1 after $3 differs: $(cat plain) $(cat saved)"
  "$TALUS_PROGRAM" run worlds/crash.wbt --no-plugin --from crash.crash.snap --steps 50 --json >out 2>err || failed "no going on from it"
  grep -q "\"steps\": $((50 + $2))," out || failed "going on from it: $(cat out)"
}
ways="segv free"; [ "$is_sanitized" = 0 ] || ways=segv
for how in $ways; do
  parallel saved_is step 2 $how
  parallel saved_is collide 3 $how
  parallel saved_is step_end 3 $how
done
# Without trouble, and when it is left out, all is well.
for options in "" "--no-plugin" "--threads 4"; do
  "$TALUS_PROGRAM" run worlds/crash.wbt --steps 6 -q $options || failed "a plain run with '$options' fails"
done
wait
# Not found, not built, no library, a symbol that is nowhere, a callback that is missing.
refused() {  # what text
  "$TALUS_PROGRAM" run worlds/crash.wbt --steps 6 >out 2>err
  local code=$?
  [ $code = 3 ] && grep -q -- "$2" err || { failed "$1: exit code $code"; cat err >>log; }
}
library=plugins/physics/crash/libcrash.so
# Tables of the file that contradict each other; and some of which only the loader finds out that they are wrong.
cp $library whole.so
tables=$(readelf -dW whole.so | sed -n 's/^Dynamic section at offset \(0x[0-9a-f]*\).*/\1/p')
value_of() { echo $((tables + 8 + 16 * $(readelf -dW whole.so | awk -v tag="($1)" '/^ 0x/ { if ($2 == tag) { print n + 0; exit } n++ }'))); }
first_size=$((64 + 40 + 56 * $(readelf -lW whole.so | awk '/^  [A-Z]/ && !/Type/ { if ($1 == "LOAD") { print n + 0; exit } n++ }')))
damage() { cp whole.so $library; printf "$2" | dd of=$library bs=1 seek=$1 conv=notrunc status=none; }  # place bytes
faulty() {  # what text
  timeout 600 "$TALUS_PROGRAM" run worlds/crash.wbt --steps 6 >out 2>err
  local code=$?
  [ $code = 1 ] && grep -q "physics plugin 'crash': $2" err || { failed "$1: exit code $code"; cat err >>log; }
}
damage "$(value_of RELAENT)" '\1'; refused "size of relocations" 'is damaged: its table of addresses'
damage "$(value_of RELACOUNT)" '\377\377'; refused "number of relocations" 'is damaged: its table of addresses'
damage "$(value_of STRSZ)" '\377\377\377\377'; refused "names" 'is damaged: its table of names'
damage $first_size '\377\377\377\377'; refused "overlap" 'is damaged: its parts'
damage 56 '\377\377'; refused "number of parts" 'is damaged: it has too many parts'
damage "$(value_of INIT_ARRAY)" '\10\0\0\0'; faulty "constructors" 'loading .*libcrash.so crashed (SIGSEGV'
damage "$(value_of FINI_ARRAY)" '\10\0\0\0'; faulty "destructors" 'unloading .*libcrash.so crashed (SIGSEGV'
echo 'int nothing;' | gcc -xc -shared -fPIC - -o $library; refused "no callbacks" 'has no function webots_physics_step'
echo 'void nowhere(void); void webots_physics_init(void){nowhere();}' | gcc -xc -shared -fPIC - -o $library; refused "no symbol" "needs the function 'nowhere'"
echo 'this is no library' >$library; refused "no library" 'cannot be loaded'
rm $library; refused "not built" 'talus build'
rm -r plugins; refused "no folder" 'was not found'
[ -e failures ] || { echo "crash: all reported"; exit 0; }
cat failures; cat log 2>/dev/null
exit 1
