#!/usr/bin/env bash
# `talus build` on controllers and libraries as projects have them: which sources belong to a program, whose WEBOTS_HOME counts, what is not
# built and why, and what is said when something is missing. Programs in C++: tests/languages/projects_test.sh.
set -u
scratch=$TALUS_BUILD_DIR/tests/scratch-build-controllers
rm -rf "$scratch"; mkdir -p "$scratch/worlds" "$scratch/controllers"
cd "$scratch" || exit 1
failures=0
complain() { echo "$1"; failures=$((failures + 1)); }
talus() { timeout 600 "$TALUS_PROGRAM" "$@"; }
# file PATH: a file of the project, from standard input
file() { mkdir -p "$(dirname "$1")"; cat >"$1"; }
includes='include $(WEBOTS_HOME)/resources/Makefile.include'
# program TEXT: says the text and ends
program() { echo "#include <stdio.h>
#include <webots/robot.h>
${2:-}
int main(void) { wb_robot_init(); printf(\"says $1\\n\"); fflush(stdout); while (wb_robot_step(32) != -1) ; wb_robot_cleanup(); return 0; }"; }

# NAME.c alone when a Makefile names no sources: what else lies there is a draft.
program 1 | file controllers/named/named.c
file controllers/named/draft.c <<<'this is not C'
file controllers/named/Makefile <<<"$includes"
# With such a Makefile the others are taken when it does not link alone.
program 9 'int nine(void);' | sed 's/says 9/says %d/; s/\\n"/\\n", nine()/' | file controllers/leaning/leaning.c
file controllers/leaning/nine.c <<<'int nine(void) { return 9; }'
file controllers/leaning/Makefile <<<"$includes"
# Without a Makefile the others belong to it, unless they are programs.
program 2 'int two(void);' | sed 's/says 2/says %d/; s/\\n"/\\n", two()/' | file controllers/together/together.c
file controllers/together/two.c <<<'int two(void) { return 2; }'
file controllers/together/main_of_its_own.c <<<'int main(void) { return missing(); }'
# The Makefile has its own idea of WEBOTS_HOME, its own flags, a source from elsewhere and the vehicle libraries.
program 3 '#if !defined(THREE) || !defined(MORE)
#error flags
#endif' | file controllers/flagged/flagged.c
file controllers/flagged/Makefile <<<"WEBOTS_HOME = /usr/local/webots
C_SOURCES = flagged.c ../shared/shared.c
CFLAGS = -DTHREE
CFLAGS += -DMORE=1
INCLUDE = -I\"../shared\"
LIBRARIES = -ldriver -lcar
$includes"
file controllers/shared/shared.c <<<'int shared;'
# A file that was there and cannot be run; headers as another system spells them.
program 4 '#include <Math.h>
#include <Webots/Gyro.h>
#include "Parts\\own.H"
#ifndef OWN
#error own
#endif' | file controllers/noexec/noexec.c
file controllers/noexec/parts/Own.h <<<'#define OWN'
echo stale >controllers/noexec/noexec; chmod 644 controllers/noexec/noexec
# A Makefile of 2010, from another place; a folder with Python that has a Makefile too.
program 5 | file controllers/older/older.c
file controllers/older/Makefile <<<'include $(WEBOTS_HOME)/projects/default/controllers/Makefile.include'
file controllers/snake/snake.py <<<"from controller import Robot
robot = Robot()
print('says 6')
while robot.step(32) != -1:
    pass"
file controllers/snake/Makefile <<<"$includes"
# A library without a Makefile and one with, each used by a program.
file libraries/plain/plain.c <<<'int plain(void) { return 7; }'
file libraries/made/made.c <<<'int made(void) { return 8; }'
file libraries/made/Makefile <<<"BUILD_SHARED_LIBRARY = true
TARGET_LIB_DIR = ..
$includes"
for library in plain made; do
  program 0 "int $library(void);" | sed "s/says 0/says %d/; s/\\\\n\"/\\\\n\", $library()/" | file controllers/uses_$library/uses_$library.c
  file controllers/uses_$library/Makefile <<<"LIBRARIES = -L\"../../libraries/$library\" -l$library
$includes"
done
# What is not built, and what fails for something that is not there.
file controllers/coffee/coffee.java <<<'class coffee { }'
file controllers/matrix/matrix.m <<<'x = 1'
file controllers/headless/headless.cpp <<<'#include <opencv2/core.hpp>
int main() { }'
file controllers/rowboat/rowboat.cpp <<<'#include <ros/ros.h>
int main() { }'
file controllers/relative/relative.c <<<'#include "../../../include/elsewhere.h"
int main(void) { return 0; }'
file controllers/unheard/unheard.c <<<'#include <nobody/knows_this.h>
int main(void) { return 0; }'
program 0 | file controllers/unlinked/unlinked.c
file controllers/unlinked/Makefile <<<"LIBRARIES = -lgslcblas_of_nobody
$includes"
file controllers/empty/Makefile <<<"$includes"
file controllers/unfound/CMakeLists.txt <<<'cmake_minimum_required(VERSION 3.10)
project(unfound C)
find_package(GSL REQUIRED)'

talus build . >build.log 2>err.txt; code=$?
[ $code = 3 ] || complain "programs that do not build end with $code, not 3"
says() { grep -q "$1" "$2" || { complain "$2 does not say: $1"; cat "$2"; }; }
says '^controller shared: not built: none of its sources has a main()' build.log
says '^controller coffee: not built: programs in Java are not supported' build.log
says '^controller matrix: not built: programs in MATLAB are not supported' build.log
says '<opencv2/core.hpp> is not on this machine: Debian has it in libopencv-dev' err.txt
says '<ros/ros.h> is a header of ROS; this program does not build without it' err.txt
says 'apt-file search nobody/knows_this.h' err.txt
says '^talus build: ../../../include/elsewhere.h is not in the project' err.txt
says "the library 'gslcblas_of_nobody' is neither in the project nor on this machine" err.txt
says 'empty: there is nothing to build' err.txt
for name in headless rowboat unheard unlinked empty; do says "^controller $name: FAILED" build.log; done
if command -v cmake >/dev/null; then
  says '^controller unfound: FAILED' build.log
  says "CMake's GSL is not on this machine: Debian has it in libgsl-dev" err.txt
fi
[ -x controllers/noexec/noexec ] || complain "the program took over the mode of the file that was there"
[ -f libraries/libmade.so ] || complain "TARGET_LIB_DIR has no library"
# A controller built by a user's compiler cannot load a libController that wants the sanitizers' runtime first.
grep -q '^TALUS_SANITIZE:STRING=$' "$TALUS_BUILD_DIR/CMakeCache.txt" || exit $((failures > 0))
number=0
for name in named together flagged noexec older snake uses_plain uses_made leaning; do
  number=$((number + 1))
  says "^controller $name: built" build.log
  printf '#VRML_SIM R2025a utf8\nWorldInfo { }\nRobot { controller "%s" }\n' "$name" >worlds/$name.wbt
  talus run worlds/$name.wbt --until 0.1 >out.txt 2>err2.txt || { complain "$name does not run"; cat err2.txt; }
  grep -q "says $number\$" out.txt || { complain "$name does not say $number"; cat out.txt err2.txt; }
done
talus build . --json 2>/dev/null | python3 -c '
import json, sys
folders = {row["folder"].split("/")[-1]: row for row in json.load(sys.stdin)["folders"]}
sys.exit(not folders["named"]["ok"] or folders["headless"]["ok"] or not folders["coffee"]["result"].startswith("not built"))' || complain "--json does not tell"
exit $((failures > 0))
