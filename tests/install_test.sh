#!/usr/bin/env bash
# `make install` into a DESTDIR gives a tree that pkg-config and CMake users can build against.
set -eu
stage=$TALUS_BUILD_DIR/scratch/install
rm -rf "$stage"
DESTDIR=$stage cmake --install "$TALUS_BUILD_DIR" --prefix /usr >/dev/null
for file in usr/bin/talus usr/share/man/man1/talus.1 usr/share/bash-completion/completions/talus usr/include/talus/talus.h; do
  test -s "$stage/$file" || { echo "missing: $file"; exit 1; }
done
# What controllers need, also where Webots has it.
home=$stage/usr/share/talus
for file in lib/talus/libController.so lib/talus/libdriver.so lib/talus/python/controller/robot.py lib/talus/python/controller/robot.pyi \
            lib/talus/python/vehicle/car.py include/talus-api/webots/robot.h share/talus/lib/controller/libController.so \
            share/talus/include/controller/c/webots/robot.h share/talus/resources/Makefile.include; do
  test -s "$stage/usr/$file" || { echo "missing: $file"; exit 1; }
done
libdir=$(dirname "$(find "$stage/usr" -name talus.pc)")
grep -q '^Libs: .*-ltalus' "$libdir/talus.pc"
cat > "$stage/user.c" <<'C'
#include <talus/talus.h>
#include <stdio.h>
int main(void) { return puts(talus_version()) < 0; }
C
case $(grep -o 'TALUS_SANITIZE:STRING=.*' "$TALUS_BUILD_DIR/CMakeCache.txt" | cut -d= -f2) in
  "") sanitize= ;;
  *) echo "built against a plain build only; the files are in place"; exit 0 ;;
esac
export PKG_CONFIG_PATH=$libdir
cc "$stage/user.c" -o "$stage/user" $(pkg-config --cflags --libs talus)
LD_LIBRARY_PATH=$(dirname "$libdir") "$stage/user"
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
