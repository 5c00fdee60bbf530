#!/usr/bin/env bash
# Skins that bend, in the live page and in a replay of a recording.
cd "$(dirname "$0")/../.." || exit 1
. tests/control/project.sh
scratch=$TALUS_BUILD_DIR/scratch/web_skins
project_make "$scratch"
project_compile "$scratch" tests/web/skins/bend.c skin || exit 1
cp tests/control/cases/skin/skin.wbt tests/control/cases/skin/worm.gltf "$scratch/worlds/"
. tests/web/run.sh skins.mjs "$scratch/worlds/skin.wbt" "$scratch/bent.html"
