#!/usr/bin/env bash
# Every C file reads as .clang-format says. Versions of clang-format differ in details, so only the one of Debian 12 is asked.
set -u
tool=$(command -v clang-format-14 || command -v clang-format) || { echo "format: skipped: there is no clang-format"; exit 77; }
"$tool" --version | grep -q 'version 14\.' || { echo "format: skipped: $("$tool" --version) is not version 14"; exit 77; }
find src include controller movie template tests bench examples -name '*.[ch]' -print0 | xargs -0 -P 2 -n 100 "$tool" --dry-run -Werror --ferror-limit=3 || exit 1
echo "format: $(find src include controller movie template tests bench examples -name '*.[ch]' | wc -l) files as .clang-format says"
