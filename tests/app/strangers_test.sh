#!/usr/bin/env bash
# The short form of scripts/strangers: bad clients of the ports for controllers and browsers are dropped, and the run goes on.
set -u
grep -q '^TALUS_SANITIZE:STRING=$' "$TALUS_BUILD_DIR/CMakeCache.txt" || { echo "skipped: Python does not load a sanitized libController"; exit 77; }
exec python3 scripts/strangers 3000 100
