#!/usr/bin/env bash
# The page in Firefox, where there is one with a display (Debian's firefox-esr and xvfb): see firefox.mjs.
grep -qE '^TALUS_SANITIZE:[A-Z]*=.+' "$TALUS_BUILD_DIR/CMakeCache.txt" && { echo "the page is tested in the plain build: skipped"; exit 77; }
firefox=${TALUS_FIREFOX:-$(command -v firefox-esr || command -v firefox)}
[ -n "$firefox" ] && command -v Xvfb >/dev/null || { echo "no Firefox, or no Xvfb for its WebGL: skipped"; exit 77; }
. "$(dirname "$0")/run.sh" firefox.mjs "$firefox" drop.wbt
