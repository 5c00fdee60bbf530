# run.sh SCRIPT: runs a browser test of this folder, or says why it cannot (exit 77).
set -u
[ -f "$TALUS_BUILD_DIR/web/page.js" ] || { echo "the browser page was not built (node, npm or its registry was missing): skipped"; exit 77; }
[ -n "${TALUS_CHROMIUM:-}" ] || command -v chromium >/dev/null || command -v chromium-headless-shell >/dev/null || { echo "no chromium: skipped"; exit 77; }
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
exec node "$@"
