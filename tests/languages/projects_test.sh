# Small projects in C++ in the styles that public ones have: each is built by `talus build` and does what its file `expected` says.
# Arguments: names of projects, else all.
. tests/languages/languages.sh
scratch=$TALUS_BUILD_DIR/scratch/languages.projects
rm -rf "$scratch"; mkdir -p "$scratch"
[ $# -gt 0 ] || set -- $(ls tests/languages/projects)

run_project()
{
    local project=$scratch/$1 more=()
    cp -r "tests/languages/projects/$1" "$project"
    "$TALUS_PROGRAM" build "$project" > "$project/build.log" 2>&1 || { cat "$project/build.log"; return 1; }
    [ -f "$project/input" ] && more=(--input "$project/input")
    timeout 600 "$TALUS_PROGRAM" run "$project/worlds/$1.wbt" --until 6 --controller-timeout 60000 "${more[@]}" > "$project/log" 2>&1
    grep -o 'RESULT.*' "$project/log" | diff "$project/expected" - || { cat "$project/build.log" "$project/log"; return 1; }
}

for name in "$@"; do
    expect "$name" run_project "$name"
done
echo "$# projects, $failures failed"
exit $((failures > 0))
