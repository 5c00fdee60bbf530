#!/usr/bin/env bash
# The page against talus view.
. "$(dirname "$0")/run.sh" live.mjs
