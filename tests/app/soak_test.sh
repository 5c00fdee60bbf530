#!/usr/bin/env bash
# The short form of scripts/soak: memory, descriptors and threads are flat over a run of robots in three languages with a plugin.
set -u
grep -q '^TALUS_SANITIZE:STRING=$' "$TALUS_BUILD_DIR/CMakeCache.txt" || { echo "skipped: robots' programs are built by the user's compiler"; exit 77; }
exec python3 scripts/soak 2000 9
