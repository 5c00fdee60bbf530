# project.sh - for tests that need controllers: makes a scratch project, compiles its controllers against the build.
# Sourced by the shell tests of this folder, which get TALUS_BUILD_DIR and TALUS_PROGRAM from ctest.
set -u
: "${TALUS_BUILD_DIR:=$PWD/build}" "${TALUS_PROGRAM:=$TALUS_BUILD_DIR/talus}"
source_dir=$(pwd)
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$TALUS_BUILD_DIR/CMakeCache.txt")
sanitize=$(sed -n 's/^TALUS_SANITIZE:[A-Z]*=//p' "$TALUS_BUILD_DIR/CMakeCache.txt")
flags="-std=gnu17 -Wall -Wextra -I$source_dir/include -I$source_dir/tests/control"
[ -n "$sanitize" ] && flags="$flags -fsanitize=$sanitize"
# Controllers are ended at any moment, so what they still hold is no leak of ours.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"

# project_make DIR: an empty project.
project_make()
{
    rm -rf "$1"
    mkdir -p "$1/worlds" "$1/controllers"
}

# project_compile DIR SOURCE [NAME]: makes controllers/NAME/NAME of a C file.
project_compile()
{
    local name=${3:-$(basename "$2" .c)}
    mkdir -p "$1/controllers/$name"
    # shellcheck disable=SC2086
    $compiler $flags "$2" -o "$1/controllers/$name/$name" -L"$TALUS_BUILD_DIR" -lController -lm -lpthread || return 1
}

failures=0
# expect NAME COMMAND...: the command must succeed.
expect()
{
    local name=$1
    shift
    if ! "$@"; then
        echo "FAILED: $name"
        failures=$((failures + 1))
    fi
}
