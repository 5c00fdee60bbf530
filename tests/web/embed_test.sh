#!/usr/bin/env bash
# The page inside another one: see embed.mjs.
. "$(dirname "$0")/run.sh" embed.mjs
