# languages.sh - for tests that run the same program in C, C++ and Python: makes a project a language and runs its worlds.
# Sourced by the tests of this folder.
. tests/control/project.sh
command -v python3 > /dev/null || exit 77
[ -z "$sanitize" ] || exit 77  # python3 and what a user's compiler makes are not built with the sanitizer
[ -f "$TALUS_BUILD_DIR/libCppController.so" ] || { echo "libCppController is not built: there was no C++ compiler"; exit 77; }
cpp_compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$TALUS_BUILD_DIR/CMakeCache.txt")

# language_project DIR: an empty project with the worlds, PROTOs and motions of this folder.
language_project()
{
    project_make "$1"
    cp tests/languages/worlds/*.wbt "$1/worlds/"
    cp -r tests/languages/protos "$1/"
}

# language_program DIR SOURCE NAME: the source becomes the controller NAME of the project.
language_program()
{
    local folder=$1/controllers/$3
    mkdir -p "$folder"
    cp tests/languages/*.motion "$folder/"
    case $2 in
        *.py) cp "$2" "$folder/$3.py" ;;
        *.cpp) "$cpp_compiler" -std=c++11 -Wall -Wextra -I"$TALUS_BUILD_DIR/include" -I"$source_dir/include" -I"$source_dir/tests/languages" "$2" -o "$folder/$3" \
                   -L"$TALUS_BUILD_DIR" -lCppDriver -lCppCar -lCppController -ldriver -lcar -lController -lm ;;
        *) project_compile "$1" "$2" "$3" ;;
    esac
}
