# compile.sh LANGUAGE FOLDER SOURCE OBJECT COMPILER FLAGS... - compiles one source (LANGUAGE c or c++) as the compilers and
# systems did for which it was written. Called by Makefile.include. Its words are the compiler's when nothing helps.
#
# Headers: a system that does not tell big from small letters finds Math.h and webots/Gyro.h, and takes a backslash for a
# slash. What is missing is looked for so, and a file of the spelling that was used, which includes the right one, is put
# into FOLDER.
# C++: old sources clash with names that came later ("mutex"), or lean on headers that others no longer include. What does
# not compile is tried with those headers, then as C++98.
language=$1 folder=$2 source=$3 object=$4
shift 4
log=$object.log

compile() { "$@" -I"$folder" -c "$source" -o "$object" 2>"$log"; }

# The header that the compiler did not find, in gcc's words or clang's.
missing_header()
{
    sed -n -e "s/.*fatal error: '\(.*\)' file not found.*/\1/p" -e 's/.*fatal error: \(.*\): No such file or directory$/\1/p' "$log" | head -n 1
}

# folders_of FLAGS...: where the compiler looks for headers of the project and ours.
folders_of()
{
    dirname "$source"
    while [ $# -gt 0 ]; do
        case $1 in
            -I) shift; echo "$1" ;;
            -I*) echo "${1#-I}" ;;
        esac
        shift
    done
}

# real_header NAME COMPILER FLAGS...: what the name may mean, as one writes it after #include.
real_header()
{
    name=$(printf %s "$1" | tr -s '\\/' / | sed 's/[[:space:]]*$//')
    shift
    small=$(printf %s "$name" | tr '[:upper:]' '[:lower:]')
    for spelling in "$name" "$small"; do
        if printf '#include <%s>\n' "$spelling" | "$@" -MF /dev/null -x "$language" -fsyntax-only - 2>/dev/null; then
            echo "<$spelling>"
            return 0
        fi
    done
    found=$(folders_of "$@" | while read -r place; do find -L "$place" -maxdepth 6 -ipath "$place/$name" 2>/dev/null; done | head -n 1)
    [ -n "$found" ] && echo "\"$(realpath "$found")\""
}

# respell COMPILER FLAGS...: makes the missing header found by its wrong spelling; false when there is no such header.
respell()
{
    header=$(missing_header)
    [ -n "$header" ] && [ ! -e "$folder/$header" ] || return 1
    real=$(real_header "$header" "$@") && [ -n "$real" ] || return 1
    mkdir -p "$(dirname "$folder/$header")" && printf '#include %s\n' "$real" >"$folder/$header"
}

while :; do
    if compile "$@"; then
        cat "$log" >&2
        exit 0
    fi
    respell "$@" || break
done
words=$(cat "$log")
if [ "$language" = c++ ]; then
    old="-fpermissive -w"
    for header in cstdio cstdlib cstring cmath climits memory algorithm limits string vector iostream; do
        old="$old -include $header"
    done
    # shellcheck disable=SC2086
    compile "$@" $old -include cstdint -include functional && { echo "$source: compiled as old compilers did"; exit 0; }
    # shellcheck disable=SC2086
    compile "$@" $old -std=gnu++98 && { echo "$source: compiled as C++98"; exit 0; }
fi
printf '%s\n' "$words" >&2
exit 1
