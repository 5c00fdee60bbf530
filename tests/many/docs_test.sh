#!/usr/bin/env bash
# Every command and every piece of Python in docs/learning.md and docs/sweeps.md runs, in a copy of the examples. What learns makes two
# generations; installing with pip is what python_test.sh does; pandas and mpirun are left out where they are missing.
set -u
folder=$TALUS_BUILD_DIR/scratch/many_docs
rm -rf "$folder"
mkdir -p "$folder/bin"
cp -r examples "$folder/"
ln -s "$(realpath "$TALUS_PROGRAM")" "$folder/bin/talus"
export PATH=$(realpath "$folder/bin"):$PATH PYTHONDONTWRITEBYTECODE=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe  # OpenMPI 4, 5
"$TALUS_PROGRAM" doctor | grep -q 'browser page *bundled' && has_page=1 || has_page=
[ -n "$has_page" ] || echo "no browser page in this build: replays are left out"
python=
for candidate in python3 /usr/bin/python3; do
  "$candidate" -c 'import sys, numpy; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { python=$(command -v "$candidate"); break; }
done
[ -e "$TALUS_BUILD_DIR/python/talus/_talus.abi3.so" ] || python=
case $(grep -o 'TALUS_SANITIZE:STRING=.*' "$TALUS_BUILD_DIR/CMakeCache.txt" | cut -d= -f2) in ?*) python= ;; esac
[ -n "$python" ] || echo "no package talus for a Python with numpy here: its pieces are left out"
export PYTHONPATH=$(realpath "$TALUS_BUILD_DIR")/python
failures=0 ran=0
run() # NAME COMMAND...: what it says is shown when it fails
{
  ran=$((ran + 1))
  (cd "$folder" && timeout 600 "${@:2}") > "$folder/said" 2>&1 && return
  echo "$1 fails: $(tail -5 "$folder/said")"
  failures=$((failures + 1))
}
for page in docs/learning.md docs/sweeps.md; do
  awk '/^```sh/ { inside = 1; next } /^```/ { inside = 0 } inside' "$page" > "$folder/commands"
  while read -r line; do
    case $line in
      pip\ *) continue ;;
      python3\ *) [ -n "$python" ] && run "$page: $line" bash -c "'$python' ${line#python3 } --generations 2" ;;
      mpirun\ *) [ -x "$TALUS_BUILD_DIR/talus-mpi" ] && command -v mpirun > /dev/null && run "$page: $line" bash -c "$line" ;;
      *) run "$page: $line" bash -c "$line" ;;
    esac
  done < "$folder/commands"
  [ -n "$python" ] || continue
  count=$(grep -c '^```python' "$page")
  for number in $(seq "$count"); do
    awk -v n="$number" '/^```python/ { inside = ++k == n; next } /^```/ { inside = 0 } inside' "$page" > "$folder/piece.py"
    grep -q pandas "$folder/piece.py" && ! "$python" -c 'import pandas' 2>/dev/null && continue
    [ -z "$has_page" ] && grep -q 'html\|replay' "$folder/piece.py" && continue
    run "$page: piece $number of Python" "$python" piece.py
  done
done
[ $ran -ge 3 ] || { echo "only $ran commands were found"; failures=$((failures + 1)); }
exit $((failures > 0))
