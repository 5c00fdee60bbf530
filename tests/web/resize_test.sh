#!/usr/bin/env bash
# Handles that resize, in the page.
. "$(dirname "$0")/run.sh" resize.mjs ../viewer/forms/forms.wbt
