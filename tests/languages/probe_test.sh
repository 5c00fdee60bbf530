# The probes: programs in C, C++ and Python, made from the description of the API, that do the same calls in the same world and print
# every answer. What C++ and Python say must be what C says, number by number. Arguments: names of probes, else all.
. tests/languages/languages.sh
scratch=$TALUS_BUILD_DIR/scratch/languages.probe
[ $# -gt 0 ] || set -- robot wheels car

# run_probe GROUP LANGUAGE ENDING: its answers, with the project's folder taken out.
run_probe()
{
    local group=$1 language=$2 project=$scratch/$2
    language_program "$project" "$TALUS_BUILD_DIR/tests/languages/probe_$group.$3" "$group" || return 1
    timeout 600 "$TALUS_PROGRAM" run "$project/worlds/$group.wbt" --steps 60 --controller-timeout 60000 > "$project/$group.log" 2>&1
    sed -n 's/^\[[a-z A-Z0-9_]*\] \([A-Z][A-Za-z]*\.[A-Za-z_0-9]* .*\)/\1/p' "$project/$group.log" | sed "s|$project|PROJECT|g" > "$project/$group.txt"
}

# compare GROUP LANGUAGE: each of its lines stands in C's, in that order.
compare()
{
    local said=$scratch/$2/$1.txt wanted=$scratch/c/$1.txt
    awk 'NR == FNR { left[$0]++; next } !left[$0]-- { print "differs: " $0; bad = 1 } END { exit bad }' "$wanted" "$said" && return 0
    grep -n "Traceback\|Error\|Segmentation" -A4 "$scratch/$2/$1.log" | head -20
    return 1
}

for language in c cpp python; do
    language_project "$scratch/$language"
done
for group in "$@"; do
    expect "$group in C" run_probe "$group" c c
    expect "$group in C++" run_probe "$group" cpp cpp
    expect "$group in Python" run_probe "$group" python py
    for pair in cpp:cpp python:py; do
        language=${pair%:*} source=$TALUS_BUILD_DIR/tests/languages/probe_$group.${pair#*:}
        expect "$group: $language says what C says" compare "$group" "$language"
        wanted=$(grep -cE '^ *(\{ printf\(|show\()' "$source")
        got=$(wc -l < "$scratch/$language/$group.txt")
        expect "$group: $language answers all of $wanted" [ "$wanted" = "$got" ]
    done
    echo "$group: $(wc -l < "$scratch/c/$group.txt") answers of C, $(wc -l < "$scratch/cpp/$group.txt") of C++, $(wc -l < "$scratch/python/$group.txt") of Python"
done
exit $((failures > 0))
