#!/usr/bin/env bash
# The page and a robot with a window: see windows.mjs. The program and the window's page are those of tests/viewer/windows.
cd "$(dirname "$0")/../.." || exit 1
. tests/control/project.sh
scratch=$TALUS_BUILD_DIR/scratch/web_windows
project_make "$scratch"
project_compile "$scratch" tests/viewer/windows/talks.c || exit 1
cp tests/viewer/windows/windows.wbt "$scratch/worlds/"
mkdir -p "$scratch/plugins/robot_windows"
cp -r tests/viewer/windows/talks "$scratch/plugins/robot_windows/"
. tests/web/run.sh windows.mjs "$scratch/worlds/windows.wbt"
