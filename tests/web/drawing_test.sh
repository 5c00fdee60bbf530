#!/usr/bin/env bash
# What a physics plugin draws, in the browser: see drawing.mjs. The plugin is that of examples/physics_drawing.
cd "$(dirname "$0")/../.." || exit 1
"$TALUS_PROGRAM" doctor | grep -q 'OpenGL *none' && { echo "no OpenGL: skipped"; exit 77; }
scratch=$TALUS_BUILD_DIR/scratch/web_drawing
rm -rf "$scratch"
mkdir -p "$scratch"
cp -r examples/physics_drawing "$scratch/"
"$TALUS_PROGRAM" build "$scratch/physics_drawing" >"$scratch/build.log" 2>&1 || { cat "$scratch/build.log"; exit 1; }
. tests/web/run.sh drawing.mjs "$scratch/physics_drawing/worlds/trajectory.wbt"
