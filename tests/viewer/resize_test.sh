#!/usr/bin/env bash
# Sizes of forms, changed by a client of the viewer; see resize.py.
cd "$(dirname "$0")/../.." || exit 1
"$TALUS_PROGRAM" doctor | grep -q 'viewer *libwebsockets' || { echo "built without libwebsockets"; exit 77; }
exec python3 tests/viewer/resize.py tests/viewer/forms/forms.wbt
