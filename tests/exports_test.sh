#!/usr/bin/env bash
# What the program and the libraries show to plugins, controllers and embedders is their documented API and nothing else: a function
# of ours that a stranger's object could see would be called in place of the stranger's own of that name.
set -u
command -v nm >/dev/null || { echo "nm is missing: skipped"; exit 77; }
failures=0

# only FILE PATTERN: every symbol of ours that FILE exports matches PATTERN. Those with @ are copies of the C library's.
only()
{
    local strange
    strange=$(nm -D --defined-only "$1" | awk '$2 ~ /[TDBRVW]/ && $3 !~ /@/ { print $3 }' | grep -Ev "^($2)")
    [ -z "$strange" ] && return
    echo "$1 exports $(echo "$strange" | wc -l) names beside its API: $(echo "$strange" | head -5 | tr '\n' ' ')"
    failures=$((failures + 1))
}

# some FILE NAME...: FILE exports each NAME.
some()
{
    local file=$1 name
    shift
    for name in "$@"; do
        nm -D --defined-only "$file" | grep -q " $name$" && continue
        echo "$file does not export $name"
        failures=$((failures + 1))
    done
}

sanitizer='|__.?san|__sanitizer|__ubsan|__interceptor|_?_?lsan|_edata|_end|__bss_start|_init|_fini|_IO_stdin_used'
only "$TALUS_PROGRAM" "d[A-Z]|(_exit|_Exit|quick_exit|pthread_exit|pthread_create)\$$sanitizer"
only "$TALUS_BUILD_DIR/libtalus.so" "d[A-Z]|talus_$sanitizer"
only "$TALUS_BUILD_DIR/libController.so" "wb_|wbu_$sanitizer"
# What talus.h and batch.h declare is what the library exports under talus_, name by name.
declared=$(cat include/talus/*.h | grep -oE 'TALUS_API [A-Za-z_0-9 *]*talus_[a-z_0-9]+\(' | grep -oE 'talus_[a-z_0-9]+' | sort -u)
exported=$(nm -D --defined-only "$TALUS_BUILD_DIR/libtalus.so" | awk '$3 ~ /^talus_/ { print $3 }' | sort -u)
difference=$(diff <(echo "$declared") <(echo "$exported"))
[ -z "$difference" ] || { echo "declared (<) and exported (>) differ:"; echo "$difference"; failures=$((failures + 1)); }
some "$TALUS_PROGRAM" dWebotsSend dWebotsGetBodyFromDEF dJointSetHingeParam _exit pthread_create
some "$TALUS_BUILD_DIR/libtalus.so" talus_load dWebotsSend
some "$TALUS_BUILD_DIR/libController.so" wb_robot_init wbu_driver_init
exit $((failures > 0))
