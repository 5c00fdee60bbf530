#!/usr/bin/env bash
# docs/library.md lists the library as it is.
set -eu
bash scripts/library_page.sh --stdout | diff - docs/library.md || { echo "docs/library.md is old: run scripts/library_page.sh"; exit 1; }
