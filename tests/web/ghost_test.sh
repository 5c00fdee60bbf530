#!/usr/bin/env bash
# A second run beside the one that is looked at: see ghost.mjs.
. "$(dirname "$0")/run.sh" ghost.mjs
