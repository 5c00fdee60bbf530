#!/usr/bin/env bash
# Every function of the library's headers with arguments that are NULL, stale, foreign or out of range (arguments.py), under the address
# sanitizer too.
set -eu
command -v python3 > /dev/null || { echo "no python3: skipped"; exit 77; }
case $(grep -o 'TALUS_SANITIZE:STRING=.*' "$TALUS_BUILD_DIR/CMakeCache.txt" | cut -d= -f2) in
  *address*) export LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" ASAN_OPTIONS=detect_leaks=0 ;;
  *thread*) echo "Python is not run under the thread sanitizer: skipped"; exit 77 ;;
esac
# Some of the arguments are taken for names of files to write: they belong into the scratch folder.
here=$PWD
mkdir -p "$TALUS_BUILD_DIR/scratch/many_arguments"
cd "$TALUS_BUILD_DIR/scratch/many_arguments"
PYTHONDONTWRITEBYTECODE=1 python3 "$here/tests/many/arguments.py" "$TALUS_BUILD_DIR/libtalus.so" "$here"/include/talus/*.h
