#!/usr/bin/env bash
# Ink of Pens and light of LEDs, in the live page and in a replay of a recording.
cd "$(dirname "$0")/../.." || exit 1
. tests/control/project.sh
scratch=$TALUS_BUILD_DIR/scratch/web_shown
project_make "$scratch"
project_compile "$scratch" tests/web/shown/shown.c shown || exit 1
cp tests/web/shown/shown.wbt "$scratch/worlds/"
. tests/web/run.sh shown.mjs "$scratch/worlds/shown.wbt" "$scratch/shown.html"
