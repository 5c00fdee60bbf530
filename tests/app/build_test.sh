#!/usr/bin/env bash
# `talus build` builds plugins as others write them, without a change: the kinds of Makefile and of source in use since Webots 5.
set -u
scratch=$TALUS_BUILD_DIR/tests/scratch-build
rm -rf "$scratch"; mkdir -p "$scratch/worlds"
cd "$scratch" || exit 1
failures=0
complain() { echo "$1"; failures=$((failures + 1)); }
talus() { timeout 600 "$TALUS_PROGRAM" "$@"; }
# source NAME FILE: a file of the plugin, from standard input
source_of() { mkdir -p "plugins/physics/$1/$(dirname "$2")"; cat >"plugins/physics/$1/$2"; }
# what a Makefile of Webots ends with
tail_of='null :=
space := $(null) $(null)
WEBOTS_HOME_PATH?=$(subst $(space),\ ,$(strip $(subst \,/,$(WEBOTS_HOME))))
include $(WEBOTS_HOME_PATH)/resources/Makefile.include'
rest='void webots_physics_step() { }
void webots_physics_cleanup() { }'

# Webots 5: three arguments of init, draw without any, a file for other systems included from above, OpenGL's headers alone,
# a function that nothing declares, a variable that a header defines for two sources.
source_of old old.h <<<'int shared;'
source_of old more.c <<<'#include "old.h"
int answer(void) { return shared + 1; }'
source_of old old.c <<<"#include <ode/ode.h>
#include <plugins/physics.h>
#include \"../physics.c\"
#include <GL/gl.h>
#include \"old.h\"
void webots_physics_init(dWorldID w, dSpaceID s, dJointGroupID j) { shared = 6; dWebotsConsolePrintf(\"says %d\", answer()); }
void webots_physics_draw() { glBegin(GL_LINES); glEnd(); }
$rest"

# Names of today's library, a header that others no longer include, a const thrown away.
source_of oldcpp oldcpp.cc <<<"#include <plugins/physics.h>
#include <string>
#include <map>
using namespace std;
static pthread_mutex_t mutex;
void webots_physics_init() {
  pthread_mutex_init(&mutex, NULL);
  char text[20];
  const char *format = \"says %d\";
  char *writable = format;
  sprintf(text, writable, dWebotsGetGeomFromDEF(\"BOX\") ? 7 : 0);
  dWebotsConsolePrintf(text);
}
$rest"

# A goal and sources of its own, another ending, a system that is asked for, flags, a library, a source from a folder beside it.
source_of modern modern.c++ <<<"#include <plugins/physics.h>
#include <dep.hpp>
DLLEXPORT void webots_physics_init() { const auto number = value(); dWebotsConsolePrintf(\"says %d\", number * FACTOR); }
DLLEXPORT void webots_physics_step() { }
DLLEXPORT void webots_physics_cleanup() { }"
source_of modern ../../../libraries/dep/dep.hpp <<<'int value();'
source_of modern ../../../libraries/dep/dep.cpp <<<'#include <GL/gl.h>
GLenum (*function)() = glGetError;
int value() { return function ? 7 : 0; }'
source_of modern Makefile <<<"NAME = \$(shell basename \"\`pwd\`\")
include \$(WEBOTS_HOME)/resources/Makefile.os.include
ifeq (\$(OSTYPE),linux)
CFLAGS = -O3 -std=c++11 -Wall -DFACTOR=1
endif
INCLUDE = -I\"../../../libraries/dep\"
CXX_SOURCES = \$(NAME).c++ ../../../libraries/dep/dep.cpp
LIBRARIES = -lGL
FILES_TO_REMOVE += made.txt
all: made.txt lib\$(NAME).so
made.txt:
	touch made.txt
$tail_of"

# The Makefile of Webots 6, and no Makefile but one source.
source_of older older.c <<<"#include <plugins/physics.h>
void webots_physics_init(dWorldID w, dSpaceID s, dJointGroupID j) { dWebotsConsolePrintf(\"says %d\", w && s && j ? 7 : 0); }
$rest"
source_of older Makefile <<<'ifndef WEBOTS_HOME_PATH
WEBOTS_HOME_PATH=$(WEBOTS_HOME)
endif
include $(WEBOTS_HOME_PATH)/projects/default/plugins/physics/Makefile.include'
source_of plain plain.cxx <<<"#include <plugins/physics.h>
void webots_physics_init() { dWebotsConsolePrintf(\"says %d\", 7); }
$rest"

# A Makefile that makes one of its sources, and a program of its own from objects that it names where Webots puts them.
source_of named named.cpp <<<"#include <plugins/physics.h>
int made();
DLLEXPORT void webots_physics_init() { dWebotsConsolePrintf(\"says %d\", made()); }
DLLEXPORT void webots_physics_step() { }
DLLEXPORT void webots_physics_cleanup() { }"
source_of named tool.cpp <<<'int made();
int main() { return made() - 7; }'
source_of named Makefile <<<"CXX_SOURCES = named.cpp made.cpp
FILES_TO_REMOVE = made.cpp tool
release: tool
tool: build/release/made.o build/release/tool.o
	\$(CXX) -o \$@ \$^
made.cpp:
	echo 'int made() { return 7; }' >\$@
$tail_of"

# One that does not compile stops none of the others, and its error is shown.
source_of broken broken.c <<<'#include <plugins/physics.h>
this is not C'

talus build . >build.log 2>&1; code=$?
[ $code = 3 ] || complain "a plugin that does not compile ends with $code, not 3"
grep -q '^plugin broken: FAILED' build.log && grep -q 'broken.c:2' build.log || complain "the broken plugin is not named with its line"
for name in old oldcpp modern older named plain; do
  grep -q "^plugin $name: built" build.log || { complain "$name is not built"; cat build.log; }
  printf '#VRML_SIM R2025a utf8\nWorldInfo { physics "%s" }\nDEF BOX Solid { boundingObject Box { } physics Physics { } }\n' "$name" >worlds/$name.wbt
  talus run worlds/$name.wbt --until 0.1 >out.txt 2>err.txt || { complain "$name does not run"; cat err.txt; }
  grep -q "^\[$name\] says 7" out.txt || { complain "$name does not say what it should"; cat out.txt; }
done
[ -f plugins/physics/modern/made.txt ] || complain "the first goal of a Makefile is not made"
plugins/physics/named/tool || complain "objects are not where Webots puts them"
talus build . --clean >/dev/null 2>&1
[ -z "$(find plugins -name '*.so' -o -name '*.o' -o -name made.txt)" ] || { complain "something is left after --clean"; find plugins; }
# The goals that people type.
export WEBOTS_HOME; WEBOTS_HOME=$(cd "$OLDPWD" && pwd)
make -s -C plugins/physics/modern libmodern.so && [ -f plugins/physics/modern/libmodern.so ] || complain "make libmodern.so makes none"
make -s -C plugins/physics/modern clean && make -s -C plugins/physics/modern debug && [ -f plugins/physics/modern/build/talus-debug/libmodern.so ] ||
  complain "make debug makes none"

# ---- CMake ----
if ! command -v cmake >/dev/null; then echo "cmake is not there: not tried"; exit $((failures > 0)); fi
rm -rf plugins controllers libraries; mkdir -p controllers
# The CMakeLists.txt of Webots' guide for a controller, which copies the program itself.
mkdir -p controllers/guided controllers/found
cat >controllers/guided/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.5)
get_filename_component(PROJECT ${CMAKE_SOURCE_DIR} NAME)
project(${PROJECT})
file(GLOB C_SOURCES *.c)
set(WEBOTS_HOME "/usr/local/webots")
link_directories($ENV{WEBOTS_HOME}/lib/controller)
set(LIBRARIES m ${CMAKE_SHARED_LIBRARY_PREFIX}Controller${CMAKE_SHARED_LIBRARY_SUFFIX})
include_directories($ENV{WEBOTS_HOME}/include/controller/c)
add_executable(${PROJECT} ${C_SOURCES})
target_link_libraries(${PROJECT} ${LIBRARIES})
add_custom_command(TARGET ${PROJECT} POST_BUILD COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_BINARY_DIR}/${PROJECT} ${CMAKE_SOURCE_DIR})
END
program='#include <stdio.h>
#include <webots/robot.h>
int main(void) { wb_robot_init(); printf("says 7\n"); fflush(stdout); while (wb_robot_step(32) != -1) ; wb_robot_cleanup(); return 0; }'
echo "$program" >controllers/guided/guided.c
# One that asks CMake where things are, with its source in a folder below and its program in another.
mkdir -p controllers/found/src; echo "$program" >controllers/found/src/main.c
cat >controllers/found/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.10)
project(anything C)
find_path(HEADERS webots/robot.h REQUIRED)
find_library(CONTROLLER Controller REQUIRED)
add_subdirectory(src)
END
cat >controllers/found/src/CMakeLists.txt <<'END'
add_executable(found main.c)
set_target_properties(found PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/deep/bin)
target_include_directories(found PRIVATE ${HEADERS})
target_link_libraries(found PRIVATE ${CONTROLLER})
END
says='DLLEXPORT void webots_physics_init() { dWebotsConsolePrintf("says %d", SEVEN); }
DLLEXPORT void webots_physics_step() { }
DLLEXPORT void webots_physics_cleanup() { }'
# A plugin of C++ with a static library of its own, and one that has no source beside its CMakeLists.txt.
source_of made-by_1 made.cpp <<<"#include <plugins/physics.h>
int seven();
#define SEVEN seven()
$says"
source_of made-by_1 seven.cpp <<<'int seven() { return 7; }'
source_of made-by_1 CMakeLists.txt <<<'cmake_minimum_required(VERSION 3.10)
project(made CXX)
add_library(seven STATIC seven.cpp)
add_library(made-by_1 SHARED made.cpp)
target_link_libraries(made-by_1 PRIVATE seven)'
source_of below src/below.c <<<"#include <plugins/physics.h>
#define SEVEN (dWebotsGetBodyFromDEF(\"BOX\") ? 7 : 0)
$says"
source_of below CMakeLists.txt <<<'project(below C)
cmake_minimum_required(VERSION 3.10)
add_library(below MODULE src/below.c)'
# A Makefile goes before a CMakeLists.txt, unless CMake left it.
source_of both both.c <<<"#include <plugins/physics.h>
#define SEVEN 7
$says"
source_of both Makefile <<<"$tail_of"
source_of both CMakeLists.txt <<<'message(FATAL_ERROR "not this one")'
mkdir plugins/physics/inside; sed s/below/inside/g plugins/physics/below/CMakeLists.txt >plugins/physics/inside/CMakeLists.txt
mkdir plugins/physics/inside/src; cp plugins/physics/below/src/below.c plugins/physics/inside/src/inside.c
(cd plugins/physics/inside && CPATH=$OLDPWD/none cmake -S . -B . >/dev/null 2>&1)
[ -f plugins/physics/inside/Makefile ] || [ -f plugins/physics/inside/build.ninja ] || complain "the test is wrong: CMake left nothing"
# Those that fail do not stop the others, and CMake's or the compiler's words are shown.
source_of refused CMakeLists.txt <<<'cmake_minimum_required(VERSION 3.10)
project(refused C)
no_such_command()'
source_of uncompiled uncompiled.c <<<'#include <plugins/physics.h>
this is not C'
source_of uncompiled CMakeLists.txt <<<'cmake_minimum_required(VERSION 3.10)
project(uncompiled C)
add_library(uncompiled MODULE uncompiled.c)'
source_of misnamed misnamed.c <<<"#include <plugins/physics.h>
#define SEVEN 7
$says"
source_of misnamed CMakeLists.txt <<<'cmake_minimum_required(VERSION 3.10)
project(misnamed C)
add_library(other MODULE misnamed.c)'

talus build . >build.log 2>err.txt; code=$?
[ $code = 3 ] || complain "a CMakeLists.txt that fails ends with $code, not 3"
grep -q 'CMakeLists.txt:3' err.txt && grep -q no_such_command err.txt || { complain "CMake's error is not shown"; cat err.txt; }
grep -q 'uncompiled.c:2' err.txt || { complain "the compiler's error is not shown"; cat err.txt; }
grep -q 'misnamed/CMakeLists.txt makes no libmisnamed.so.*add_library(misnamed MODULE' err.txt || { complain "a wrong name is not told"; cat err.txt; }
for name in refused uncompiled misnamed; do grep -q "^plugin $name: FAILED" build.log || complain "$name is not called failed"; done
grep -q -- '-- ' build.log && { complain "CMake talks though all is well"; cat build.log; }
for name in made-by_1 below both inside; do
  grep -q "^plugin $name: built" build.log || { complain "$name is not built"; cat build.log err.txt; }
  [ -f plugins/physics/$name/lib$name.so ] || complain "the library of $name is not where it is looked for"
  printf '#VRML_SIM R2025a utf8\nWorldInfo { physics "%s" }\nDEF BOX Solid { boundingObject Box { } physics Physics { } }\n' "$name" >worlds/$name.wbt
  talus run worlds/$name.wbt --until 0.1 >out.txt 2>err2.txt || { complain "$name does not run"; cat err2.txt; }
  grep -q "^\[$name\] says 7" out.txt || { complain "$name does not say what it should"; cat out.txt; }
done
# A controller built by a user's compiler cannot load a libController that wants the sanitizers' runtime first.
is_plain=$(grep -q '^TALUS_SANITIZE:STRING=$' "$TALUS_BUILD_DIR/CMakeCache.txt" && echo yes || echo no)
for name in guided found; do
  grep -q "^controller $name: built" build.log || { complain "$name is not built"; cat build.log err.txt; }
  [ $is_plain = yes ] || continue
  printf '#VRML_SIM R2025a utf8\nWorldInfo { }\nRobot { controller "%s" }\n' "$name" >worlds/$name.wbt
  talus run worlds/$name.wbt --until 0.1 >out.txt 2>err2.txt || { complain "$name does not run"; cat err2.txt; }
  grep -q "says 7" out.txt || { complain "$name does not say what it should"; cat out.txt err2.txt; }
done
# Again, in a project that was moved; for a debugger; as JSON; with all that is said; and away.
mkdir moved && mv plugins controllers worlds moved && cd moved || exit 1
rm -rf plugins/physics/{refused,uncompiled,misnamed}
rm plugins/physics/below/libbelow.so
talus build . >build.log 2>&1 || { complain "a project that was moved is not built"; cat build.log; }
[ -f plugins/physics/below/libbelow.so ] || complain "a moved project has no library"
talus build plugins/physics/below --debug --verbose >build.log 2>&1 && grep -q -- '-g' build.log || { complain "--debug --verbose shows no command"; cat build.log; }
talus build plugins/physics/below --json 2>/dev/null | python3 -c 'import json, sys; d = json.load(sys.stdin); sys.exit(d["failed"] or not d["folders"][0]["ok"])' ||
  complain "--json is not JSON"
talus build . --clean >/dev/null 2>&1 || complain "--clean fails"
left=$(find plugins/physics/below plugins/physics/made-by_1 controllers/found controllers/guided -name '*.so' -o -name build -o -name found -type f -o -name guided -type f)
[ -z "$left" ] || { complain "something is left after --clean"; echo "$left"; }
# Without CMake.
mkdir bin; for tool in make cc gcc c++ g++ ld as sh cp rm mkdir touch; do ln -s "$(command -v $tool)" bin/$tool; done
PATH=$PWD/bin "$TALUS_PROGRAM" build plugins/physics/below >build.log 2>&1; code=$?
[ $code = 3 ] && grep -q 'cmake cannot be started' build.log || { complain "without cmake: $code"; cat build.log; }
exit $((failures > 0))
