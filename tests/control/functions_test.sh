# Every function that a header declares is in libController, and is used by a test or an example, or stands with its reason in
# the table of docs/controllers.md. What stands there although it is used is an error too, so that the table stays true.
. tests/control/project.sh
declared=$(cat include/webots/*.h include/webots/*/*.h include/webots/*/*/*.h 2> /dev/null | grep -vE '^#define|static inline|^ ' | grep -oE '\bwbu?_[a-z0-9_]+ ?\(' | tr -d ' (' | sort -u)
library=$(nm -D --defined-only "$TALUS_BUILD_DIR/libController.so" | awk '{ print $3 }' | sort -u)
used=$(cat $(find tests/control examples -name '*.c') | sed -E 's/\b(differential_wheels_|gps_|robot_)/wb_\1/g; s/wb_wb_/wb_/g' |
       grep -oE '\bwbu?_[a-z0-9_]+' | sort -u)  # version 5 spelt the names without wb_
listed=$(sed -n 's/^| `\(wbu\{0,1\}_[a-z0-9_]*\)` |.*/\1/p' docs/controllers.md | sort -u)
count=$(echo "$declared" | wc -l)
missing=$(comm -23 <(echo "$declared") <(echo "$library"))
untested=$(comm -23 <(comm -23 <(echo "$declared") <(echo "$used")) <(echo "$listed"))
stale=$(comm -12 <(echo "$listed") <(echo "$used"))
unknown=$(comm -23 <(echo "$listed") <(echo "$declared"))
for list in missing untested stale unknown; do
    [ -z "${!list}" ] || { echo "$list:"; echo "${!list}"; failures=$((failures + 1)); }
done
# The headers are good C++ too.
for header in include/webots/*.h include/webots/vehicle/*.h include/webots/utils/*.h include/device/*.h; do
    echo "#include <${header#include/}>"
done > "$TALUS_BUILD_DIR/scratch/headers.cpp"
expect "headers in C" $compiler -xc -std=c11 -Wall -Werror -Wno-unused-function -fsyntax-only -Iinclude "$TALUS_BUILD_DIR/scratch/headers.cpp"
if command -v c++ > /dev/null; then
    expect "headers in C++" c++ -std=c++11 -Wall -Werror -Wno-unused-function -fsyntax-only -Iinclude "$TALUS_BUILD_DIR/scratch/headers.cpp"
fi
echo "$count functions, $(echo "$listed" | wc -w) with a reason instead of a test"
exit $((failures > 0))
