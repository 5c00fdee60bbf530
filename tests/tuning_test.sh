#!/usr/bin/env bash
# The numbers that somebody chose: each in a tuning.h of src/physics has a unit, a reason and a test that exists, and docs/solver.md
# has the same table. TALUS_UPDATE=1 writes the table anew.
set -u
cd "$(dirname "$0")/.." || exit 1
page=docs/solver.md
fail=0

table() {
  for file in src/physics/*/tuning.h; do
    room=$(basename "$(dirname "$file")")
    printf '\n`%s/`\n\n| number | value | unit | why | test |\n|---|---:|---|---|---|\n' "$room"
    awk '
      /^\/\/ / { text = text (text == "" ? "" : " ") substr($0, 4); next }
      /^#define [A-Z_0-9]+ / {
        colon = index(text, ": "); unit = substr(text, 1, colon - 1); rest = substr(text, colon + 2)
        match(rest, /\. [a-z_.]+$/)
        printf "| `%s` | %s | %s | %s | %s |\n", $2, $3, unit, substr(rest, 1, RSTART - 1), substr(rest, RSTART + 2)
        text = ""; next
      }
      { text = "" }' "$file"
  done
}

while IFS='|' read -r _ name value unit why test _; do
  case "$name" in *'`'*) ;; *) continue ;; esac
  unit=${unit// /}; test=${test// /}
  [ -n "$unit" ] && [ -n "${why// /}" ] || { echo "tuning: $name has no unit or no reason"; fail=1; }
  folder=${test%%.*}; base=${test#*.}
  [ -n "$test" ] && ls "tests/$folder/${base}_test".* >/dev/null 2>&1 || { echo "tuning: the test '$test' of$name is not there"; fail=1; }
done < <(table)

count=$(table | grep -c '^| `')
[ "$count" -ge 90 ] || { echo "tuning: $count numbers were found; there are more"; fail=1; }

wanted=$(awk '/<!-- tuning -->/ { exit } { print }' "$page"; echo '<!-- tuning -->'; table; echo; awk 'found; /<!-- end of tuning -->/ && !found { found = 1; print }' "$page")
if [ -n "${TALUS_UPDATE:-}" ]; then
  printf '%s\n' "$wanted" > "$page"
elif ! diff <(printf '%s\n' "$wanted") "$page" >/dev/null; then
  echo "tuning: $page is not what the tuning.h files say; TALUS_UPDATE=1 $0 writes it"
  diff <(printf '%s\n' "$wanted") "$page" | head
  fail=1
fi
exit $fail
