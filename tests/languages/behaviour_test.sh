# The behaviour test: one program written in C, C++ and Python uses every device, the supervisor, motions and a car, and says what it sees.
# The three must say the same numbers.
. tests/languages/languages.sh
scratch=$TALUS_BUILD_DIR/scratch/languages.behaviour

# run_behaviour LANGUAGE ENDING WORLD: what it says.
run_behaviour()
{
    local project=$scratch/$1 world=$3
    language_program "$project" "tests/languages/$world.$2" "$world" || return 1
    language_program "$project" tests/languages/echo.py echo
    cp tests/languages/*.wbo "$project/controllers/$world/"
    timeout 600 "$TALUS_PROGRAM" run "$project/worlds/$world.wbt" --until 20 --controller-timeout 60000 --input tests/languages/behaviour.input \
        > "$project/$world.log" 2>&1
    sed -n 's/^\[[A-Za-z ]*\] say //p' "$project/$world.log" > "$project/$world.txt"
    grep -q '^done' "$project/$world.txt" || { cat "$project/$world.log"; return 1; }
}

for language in c cpp python; do
    language_project "$scratch/$language"
done
flags="$flags -I$source_dir/tests/languages"
for world in behaviour driving; do
    expect "$world in C" run_behaviour c c "$world"
    expect "$world in C++" run_behaviour cpp cpp "$world"
    expect "$world in Python" run_behaviour python py "$world"
    for language in cpp python; do
        expect "$world: $language says what C says" diff "$scratch/c/$world.txt" "$scratch/$language/$world.txt"
    done
    echo "$world: $(wc -l < "$scratch/c/$world.txt") lines of $(wc -w < "$scratch/c/$world.txt") words, three times the same"
done
exit $((failures > 0))
