#!/usr/bin/env bash
# The page and a robot with a program: see robots.mjs. The program is that of tests/viewer/robots.
cd "$(dirname "$0")/../.." || exit 1
. tests/control/project.sh
scratch=$TALUS_BUILD_DIR/scratch/web_robots
project_make "$scratch"
project_compile "$scratch" tests/viewer/robots/seen.c || exit 1
cp tests/viewer/robots/robots.wbt "$scratch/worlds/"
. tests/web/run.sh robots.mjs "$scratch/worlds/robots.wbt"
