#!/usr/bin/env bash
# The Python package: its tests with pytest, and installing it with pip, offline, with build isolation and without it.
set -eu
python=
for candidate in python3 /usr/bin/python3; do
  "$candidate" -c 'import sys, numpy, pytest; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { python=$candidate; break; }
done
[ -n "$python" ] || { echo "no Python from 3.11 on with numpy and pytest (python3-numpy, python3-pytest): skipped"; exit 77; }
[ -e "$TALUS_BUILD_DIR/python/talus/_talus.abi3.so" ] || { echo "the Python package was not built (python3-dev): skipped"; exit 77; }
sanitize=$(grep -o 'TALUS_SANITIZE:STRING=.*' "$TALUS_BUILD_DIR/CMakeCache.txt" | cut -d= -f2)
# The interpreter itself is not built with a sanitizer: it is put before it, and Python's own leaks are not ours.
case $sanitize in
  *address*) export LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" ASAN_OPTIONS=detect_leaks=0 ;;
  *thread*) echo "Python is not run under the thread sanitizer: skipped"; exit 77 ;;
esac
export PYTHONDONTWRITEBYTECODE=1
PYTHONPATH=$TALUS_BUILD_DIR/python "$python" -m pytest -q -p no:cacheprovider tests/many
[ -z "$sanitize" ] || exit 0
"$python" -m pip --version >/dev/null 2>&1 || { echo "no pip (python3-pip): installing is not tried"; exit 0; }
for how in "" --no-build-isolation; do
  target=$TALUS_BUILD_DIR/scratch/pip$how
  rm -rf "$target"
  TALUS_LIBRARY=$TALUS_BUILD_DIR "$python" -m pip install -q --no-index --no-deps --no-cache-dir $how --target "$target" ./python
  (cd "$target" && PYTHONPATH=$target "$python" -c 'import talus, talus.env; assert talus.__file__.startswith("'"$(realpath "$target")"'")')
done
# The folder by itself, as an archive of sources has it: headers are found beside the library, and what is missing is said.
alone=$TALUS_BUILD_DIR/scratch/alone
rm -rf "$alone" && mkdir -p "$alone/lib" && cp -r python "$alone/python"
build() { TALUS_LIBRARY=$1 "$python" "$alone/python/build_backend.py" "$alone/_talus.abi3.so" 2>&1; }
case $TALUS_BUILD_DIR in */build) build "$TALUS_BUILD_DIR" ;; esac
touch "$alone/lib/libtalus.so"
said=$(build "$alone/lib") && { echo "it compiles without headers"; exit 1; }
case $said in *"the headers of Talus are not there"*) ;; *) echo "without headers it says: $said"; exit 1 ;; esac
