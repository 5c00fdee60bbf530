# The table of the API: every class, method, property and constant of api/webots.api is in the Python packages, with a stub; every C function
# that it names is in libController; every method is called by a probe or by the behaviour test in each language that has it, or its row says
# why not; unknown names of devices, nodes and fields cannot be assigned.
. tests/languages/languages.sh
made=$TALUS_BUILD_DIR/tests/languages
export PYTHONPATH=$TALUS_BUILD_DIR/python PYTHONDONTWRITEBYTECODE=1
expect "names in Python" python3 tests/languages/names.py "$made/names.txt"
# Without the library the package says what it looked for.
alone=$TALUS_BUILD_DIR/scratch/languages.alone/a/b/python
rm -rf "$alone"; mkdir -p "$alone"; cp -r "$TALUS_BUILD_DIR/python/controller" "$alone/"
words=$(env -u TALUS_CONTROLLER_PATH -u LD_LIBRARY_PATH PYTHONPATH="$alone" python3 -c 'import controller' 2>&1)
expect "no library: $words" grep -q 'ImportError: libController.so is not beside this package' <<< "$words"
# Functions.
used=$(grep -ohE "\bwbu?_[a-z0-9_]+" "$TALUS_BUILD_DIR/cpp/methods.cpp" "$TALUS_BUILD_DIR"/python/*/*.py | grep -v '_$' | sort -u)
library=$(nm -D --defined-only "$TALUS_BUILD_DIR/libController.so" | awk '{ print $3 }' | sort -u)
missing=$(comm -23 <(echo "$used") <(echo "$library"))
expect "functions that are not in libController: $missing" [ -z "$missing" ]
# Calls.
check_calls()
{
    awk -F'\t' -v cpp="$(cat tests/languages/*.cpp)" -v python="$(cat tests/languages/*.py)" '
        $4 == "probe" { probed++; next }
        $4 !~ /called by the behaviour test/ { excused++; next }
        {
            if ($3 ~ /cpp/ && !index(cpp, $2 "(")) { print $1 "." $2 " is not called in C++"; bad = 1 }
            if ($3 ~ /python/ && !index(python, $2 "(")) { print $1 "." $2 " is not called in Python"; bad = 1 }
            called++
        }
        END { print probed " methods probed, " called " called by the behaviour test, " excused " with a reason"; exit bad }' "$made/coverage.txt"
}
expect "every method is called" check_calls
# Each header of C++ stands alone, in old C++; all of them together in new.
compile() { "$cpp_compiler" -x c++ -Wall -Wextra -Wshadow -Werror -fsyntax-only -I"$TALUS_BUILD_DIR/include" -Iinclude "$@" -; }
headers=$(cd "$TALUS_BUILD_DIR/include" && find webots -name '*.hpp' | sort)
for header in $headers; do
    expect "$header as C++98" compile -std=c++98 <<< "#include <$header>"
done
expect "all headers as C++17" compile -std=c++17 < <(printf '#include <%s>\n' $headers)
echo "$(find "$TALUS_BUILD_DIR/include" -name '*.hpp' | wc -l) headers"
exit $((failures > 0))
