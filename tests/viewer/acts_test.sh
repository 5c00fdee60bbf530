#!/usr/bin/env bash
# What people do to a running world: see acts.py.
cd "$(dirname "$0")/../.." || exit 1
"$TALUS_PROGRAM" doctor | grep -q 'viewer *libwebsockets' || { echo "built without libwebsockets"; exit 77; }
exec python3 tests/viewer/acts.py
