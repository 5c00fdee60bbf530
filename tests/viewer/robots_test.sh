#!/usr/bin/env bash
# Robots with programs in a viewed world: what they print and show, keys that reach them, their start at a reset; see robots.py.
cd "$(dirname "$0")/../.." || exit 1
. tests/control/project.sh
"$TALUS_PROGRAM" doctor | grep -q 'viewer *libwebsockets' || { echo "built without libwebsockets"; exit 77; }
scratch=$TALUS_BUILD_DIR/scratch/viewer_robots
project_make "$scratch"
project_compile "$scratch" tests/viewer/robots/seen.c || exit 1
cp tests/viewer/robots/robots.wbt "$scratch/worlds/"
exec python3 tests/viewer/robots.py "$scratch/worlds/robots.wbt" "$scratch/acts.log"
