#!/usr/bin/env bash
# Recordings in the browser, from a server and from disk.
. "$(dirname "$0")/run.sh" replay.mjs
