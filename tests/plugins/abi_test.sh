#!/usr/bin/env bash
# A plugin that calls every function that <plugins/physics.h> and ODE's headers declare links and runs, as C and as C++, with
# each compiler there is. The list is the compiler's own (gcc -aux-info): a function that is declared and missing fails here.
set -u
command -v gcc >/dev/null || { echo "skipped: gcc tells what the headers declare, and is not there"; exit 77; }
grep -q '^TALUS_SANITIZE:STRING=thread' "$TALUS_BUILD_DIR/CMakeCache.txt" && { echo "skipped: nothing here has threads"; exit 77; }
here=$PWD/tests/plugins/abi
scratch=$TALUS_BUILD_DIR/tests/scratch-abi
rm -rf "$scratch"; mkdir -p "$scratch/plugins/physics/abi" "$scratch/worlds"
export CCACHE_DISABLE=1 # where gcc is one: it keeps no second output
# Calls are made for their own sake: what some allocate nobody frees.
export ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0
failures=0
complain() { echo "$1"; failures=$((failures + 1)); }
printf '#VRML_SIM R2025a utf8\nWorldInfo { physics "abi" }\nDEF BOX Solid { boundingObject Box { } physics Physics { } }\n' >"$scratch/worlds/abi.wbt"
# generate FOLDER: the plugin for the headers in it
generate() {
  echo '#include <plugins/physics.h>' >"$scratch/headers.c"
  gcc -I"$1" -fsyntax-only -aux-info "$scratch/headers.txt" "$scratch/headers.c" && \
    awk -f "$here/generate.awk" "$here/special.txt" "$scratch/headers.txt" >"$scratch/plugins/physics/abi/abi.c"
}
# try COMPILER... HEADERS: builds and runs it; out.txt has what it said
try() {
  (cd "$scratch" && "$@" -w -g -fPIC -shared -I"$here" plugins/physics/abi/abi.c -o plugins/physics/abi/libabi.so) &&
    timeout 600 "$TALUS_PROGRAM" run "$scratch/worlds/abi.wbt" --until 0.1 >"$scratch/out.txt" 2>"$scratch/err.txt" &&
    grep -q '^\[abi\] called [0-9]*, linked [0-9]*$' "$scratch/out.txt"
}
generate "$PWD/include" || complain "the list of functions is not understood"
for compiler in gcc clang g++ clang++; do
  command -v $compiler >/dev/null || { echo "$compiler is not there: not tried"; continue; }
  case $compiler in *++) language=c++ ;; *) language=c ;; esac
  if try $compiler -x $language -I"$PWD/include"; then
    echo "$compiler: $(grep '^\[abi\] called' "$scratch/out.txt")"
  else
    complain "$compiler: the plugin does not build, load or run"; grep -v '^d[A-Z]' "$scratch/err.txt" | head -5; grep '^d[A-Z]' "$scratch/err.txt" | tail -1
  fi
done
# The test can fail: a function that is declared and nowhere is seen, and one whose arguments nobody knows.
cp -r include "$scratch/include"
sed -i 's/^double dWebotsGetTime(void);/&\nvoid dWebotsNowhere(int);/' "$scratch/include/plugins/physics.h"
generate "$scratch/include" || complain "a further function is not understood"
try gcc -I"$scratch/include" && complain "a function that is nowhere is not missed"
grep -q "needs the function 'dWebotsNowhere'" "$scratch/err.txt" || complain "the function that is nowhere is not named"
sed -i 's/dWebotsNowhere(int)/dWebotsNowhere(struct Unknown *)/' "$scratch/include/plugins/physics.h"
generate "$scratch/include" 2>/dev/null && complain "a function that cannot be called is not missed"
exit $((failures > 0))
