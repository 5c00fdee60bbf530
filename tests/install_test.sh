#!/usr/bin/env bash
# `make install` into a DESTDIR gives a tree that pkg-config and CMake users can build against.
set -eu
stage=$TALUS_BUILD_DIR/scratch/install
rm -rf "$stage"
DESTDIR=$stage cmake --install "$TALUS_BUILD_DIR" --prefix /usr >/dev/null
for file in usr/bin/talus usr/share/man/man1/talus.1 usr/share/bash-completion/completions/talus usr/share/zsh/site-functions/_talus \
            usr/share/fish/vendor_completions.d/talus.fish usr/share/doc/talus/README.md usr/share/doc/talus/docs/examples/hello.png \
            usr/share/talus/resources/new/rover/worlds/@.wbt usr/include/talus/talus.h; do
  test -s "$stage/$file" || { echo "missing: $file"; exit 1; }
done
# The Python package finds the library from where it is installed.
if grep -q '^Python3_INCLUDE' "$TALUS_BUILD_DIR/CMakeCache.txt" || [ -e "$TALUS_BUILD_DIR/python/talus/_talus.abi3.so" ]; then
  extension=$(find "$stage/usr/lib" -path '*dist-packages/talus/_talus.abi3.so')
  test -s "$extension" && test -s "$(dirname "$extension")/env.py" || { echo "missing: the Python package"; exit 1; }
  readelf -d "$extension" | grep -q 'RUNPATH.*\$ORIGIN' || { echo "$extension does not look for libtalus beside it"; exit 1; }
fi
# What controllers need, also where Webots has it.
home=$stage/usr/share/talus
for file in lib/talus/libController.so lib/talus/libdriver.so lib/talus/python/controller/robot.py lib/talus/python/controller/robot.pyi \
            lib/talus/python/vehicle/car.py include/talus-api/webots/robot.h share/talus/lib/controller/libController.so \
            share/talus/include/controller/c/webots/robot.h share/talus/resources/Makefile.include; do
  test -s "$stage/usr/$file" || { echo "missing: $file"; exit 1; }
done
# The interpreters of templates are mapped by talus-template alone, and found from where it is installed.
for file in bin/talus lib*/libtalus.so lib*/*/libtalus.so; do
  for found in $stage/usr/$file; do
    [ -e "$found" ] || continue
    ldd "$found" | grep -E 'javascriptcore|libicu|liblua' && { echo "$found maps the interpreters of templates"; exit 1; }
  done
done
test -x "$stage/usr/lib/talus/talus-template" || { echo "missing: talus-template"; exit 1; }
mkdir -p "$stage/moved/protos" "$stage/moved/worlds"
printf '#VRML_SIM R2025a utf8\n# template language: javascript\nPROTO Tall [ field SFFloat h 1 ] { Solid { boundingObject Box { size 1 1 %%<= fields.h.value * 2 >%% } } }\n' > "$stage/moved/protos/Tall.proto"
printf '#VRML_SIM R2025a utf8\nEXTERNPROTO "../protos/Tall.proto"\nWorldInfo { }\nTall { h 3 }\n' > "$stage/moved/worlds/w.wbt"
"$stage/usr/bin/talus" check --strict "$stage/moved/worlds/w.wbt"
TALUS_TEMPLATE=/nonexistent "$stage/usr/bin/talus" check "$stage/moved/worlds/w.wbt" > "$stage/said" && { echo "a missing talus-template is no error"; exit 1; }
grep -q 'talus-template is not installed' "$stage/said"
libdir=$(dirname "$(find "$stage/usr" -name talus.pc)")
grep -q '^Libs: .*-ltalus' "$libdir/talus.pc"
cat > "$stage/user.c" <<'C'
#include <talus/talus.h>
#include <stdio.h>
int main(void) { return puts(talus_version()) < 0; }
C
cat > "$stage/proto.c" <<'C'
#include <talus/talus.h>
int main(int argc, char **argv)
{
    TalusWorld *world = argc > 1 ? talus_load(argv[1], NULL) : NULL;
    bool ok = world && talus_step(world, 1) && talus_diagnostic_total(world, TALUS_ERROR) == 0;
    talus_free(world);
    return !ok;
}
C
case $(grep -o 'TALUS_SANITIZE:STRING=.*' "$TALUS_BUILD_DIR/CMakeCache.txt" | cut -d= -f2) in
  "") sanitize= ;;
  *) echo "built against a plain build only; the files are in place"; exit 0 ;;
esac
export PKG_CONFIG_PATH=$libdir
cc "$stage/user.c" -o "$stage/user" $(pkg-config --cflags --libs talus)
LD_LIBRARY_PATH=$(dirname "$libdir") "$stage/user"
cc "$stage/proto.c" -o "$stage/proto" $(pkg-config --cflags --libs talus)
LD_LIBRARY_PATH=$(dirname "$libdir") "$stage/proto" "$stage/moved/worlds/w.wbt" || { echo "libtalus evaluates no template"; exit 1; }
mkdir -p "$stage/cmake-user"
cp "$stage/user.c" "$stage/cmake-user/"
cat > "$stage/cmake-user/CMakeLists.txt" <<'C'
cmake_minimum_required(VERSION 3.25)
project(user C)
find_package(talus CONFIG REQUIRED)
add_executable(user user.c)
target_link_libraries(user talus::talus)
C
cmake -S "$stage/cmake-user" -B "$stage/cmake-user/build" -DCMAKE_PREFIX_PATH="$stage/usr" >/dev/null
cmake --build "$stage/cmake-user/build" >/dev/null
LD_LIBRARY_PATH=$(dirname "$libdir") "$stage/cmake-user/build/user"
# Controllers are built and run by what is installed: C++ with `talus build` and with make alone, Python.
if [ -f "$TALUS_BUILD_DIR/libCppController.so" ]; then
  project=$stage/project
  mkdir -p "$project/worlds" "$project/controllers/told" "$project/controllers/snake"
  cat > "$project/controllers/told/told.cpp" <<'C'
#include <webots/Robot.hpp>
int main() { webots::Robot robot; robot.step(32); std::cout << "told " << robot.getTime() << std::endl; }
C
  echo 'include $(WEBOTS_HOME)/resources/Makefile.include' > "$project/controllers/told/Makefile"
  printf 'from controller import Robot\nrobot = Robot()\nrobot.step(32)\nprint("told", robot.time)\n' > "$project/controllers/snake/snake.py"
  export LD_LIBRARY_PATH=$(dirname "$libdir")
  "$stage/usr/bin/talus" build "$project" > /dev/null
  rm "$project/controllers/told/told"
  WEBOTS_HOME=$home make -s -C "$project/controllers/told"
  for name in told snake; do
    printf '#VRML_SIM R2025a utf8\nWorldInfo { }\nRobot { controller "%s" }\n' "$name" > "$project/worlds/$name.wbt"
    "$stage/usr/bin/talus" run "$project/worlds/$name.wbt" --until 0.1 | grep -q 'told 0.032' || { echo "the installed $name does not run"; exit 1; }
  done
fi
# The manual has all its sections and no mistake, and shells read their completion.
for section in NAME SYNOPSIS DESCRIPTION VERBS 'EXIT STATUS' ENVIRONMENT FILES; do
  grep -q "^.SH $section" "$stage/usr/share/man/man1/talus.1" || { echo "the manual has no section $section"; exit 1; }
done
! command -v groff >/dev/null || [ -z "$(groff -man -Tascii -ww "$stage/usr/share/man/man1/talus.1" 2>&1 >/dev/null)" ] || { echo "groff warns about the manual"; exit 1; }
bash -n "$stage/usr/share/bash-completion/completions/talus"
! command -v zsh >/dev/null || zsh -n "$stage/usr/share/zsh/site-functions/_talus"
! command -v fish >/dev/null || fish -n "$stage/usr/share/fish/vendor_completions.d/talus.fish"
told=$(bash -c 'source "$1"; COMP_WORDS=(talus new --template qua); COMP_CWORD=3; _talus; echo "${COMPREPLY[*]}"' - "$stage/usr/share/bash-completion/completions/talus")
[ "$told" = quadruped ] || { echo "bash completes --template qua to '$told'"; exit 1; }
# What is installed makes a project and runs it, from anywhere.
(cd "$stage" && HOME=$stage/home ./usr/bin/talus new first --language python --quiet && HOME=$stage/home ./usr/bin/talus run first --until 1.1 | grep -q travelled) || { echo "a new project does not run where Talus is installed"; exit 1; }
# Each file is in one package: the components give what all of it gives.
rm -rf "$stage/parts"
for part in program library dev python; do
  DESTDIR=$stage/parts/$part cmake --install "$TALUS_BUILD_DIR" --prefix /usr --component $part >/dev/null
  mkdir -p "$stage/parts/$part"
  (cd "$stage/parts/$part" && find . ! -type d | sort) > "$stage/$part.list"
done
rm -rf "$stage/whole"
cp "$TALUS_BUILD_DIR/install_manifest.txt" "$stage/manifest.before" 2>/dev/null || true
DESTDIR=$stage/whole cmake --install "$TALUS_BUILD_DIR" --prefix /usr >/dev/null
(cd "$stage/whole" && find . ! -type d | sort) | cmp - <(sort "$stage"/{program,library,dev,python}.list) || { echo "the packages are not the whole, or share files"; exit 1; }
grep -q libtalus.so.0 "$stage/library.list" && grep -q talus.pc "$stage/dev.list" && grep -q bin/talus "$stage/program.list" || { echo "the packages are cut wrongly"; exit 1; }
# Taken away again, nothing is left but empty folders that others have too.
cp "$TALUS_BUILD_DIR/install_manifest.txt" "$stage/manifest"
DESTDIR=$stage/whole cmake -DMANIFEST="$stage/manifest" -P cmake/uninstall.cmake
left=$(find "$stage/whole" ! -type d | head -3; find "$stage/whole" -type d -name '*talus*' | head -3)
[ -z "$left" ] || { echo "make uninstall leaves $left"; exit 1; }
