#!/usr/bin/env bash
# Who may look and who may act: see server.py.
cd "$(dirname "$0")/../.." || exit 1
"$TALUS_PROGRAM" doctor | grep -q 'viewer *libwebsockets' || { echo "built without libwebsockets"; exit 77; }
exec python3 tests/viewer/server.py
