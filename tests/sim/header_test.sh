#!/usr/bin/env bash
# talus.h compiles by itself, as C and as C++, without a warning, with every compiler at hand.
set -u
folder=${TALUS_BUILD_DIR:-build}/scratch/header
mkdir -p "$folder"
cat > "$folder/use.c" <<'CODE'
#include <talus/talus.h>
int main(void)
{
    TalusOptions options = { 0 };
    TalusWorld *world = talus_load("world.wbt", &options);
    TalusPose pose;
    if (!world || !talus_step(world, 10) || !talus_pose(world, talus_find(world, "ROBOT"), &pose))
        return 1;
    talus_free(world);
    return 0;
}
CODE
sed 's/= { 0 }/= {}/; s/(void)/()/' "$folder/use.c" > "$folder/use.cpp"
tried=0
for compiler in gcc clang g++ clang++; do
  command -v $compiler > /dev/null || continue
  tried=$((tried + 1))
  case $compiler in *++) file=use.cpp standard=c++11 ;; *) file=use.c standard=c99 ;; esac
  $compiler -std=$standard -pedantic -Wall -Wextra -Werror -fsyntax-only -Iinclude "$folder/$file" || exit 1
done
[ $tried -gt 0 ] || exit 77
echo "$tried compilers"
