#!/usr/bin/env bash
# The live page against a mock simulation. Nothing of the program runs here, so one build's run of it is enough.
grep -qE '^TALUS_SANITIZE:[A-Z]*=.+' "$TALUS_BUILD_DIR/CMakeCache.txt" && { echo "the page is tested in the plain build: skipped"; exit 77; }
. "$(dirname "$0")/run.sh" page.mjs
