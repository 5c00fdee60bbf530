#!/usr/bin/env bash
# `talus build` builds plugins as others write them, without a change: the kinds of Makefile and of source in use since Webots 5.
set -u
scratch=$TALUS_BUILD_DIR/tests/scratch-build
rm -rf "$scratch"; mkdir -p "$scratch/worlds"
cd "$scratch" || exit 1
failures=0
complain() { echo "$1"; failures=$((failures + 1)); }
talus() { timeout 100 "$TALUS_PROGRAM" "$@"; }
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

# One that does not compile stops none of the others, and its error is shown.
source_of broken broken.c <<<'#include <plugins/physics.h>
this is not C'

talus build . >build.log 2>&1; code=$?
[ $code = 3 ] || complain "a plugin that does not compile ends with $code, not 3"
grep -q '^plugin broken: FAILED' build.log && grep -q 'broken.c:2' build.log || complain "the broken plugin is not named with its line"
for name in old oldcpp modern older plain; do
  grep -q "^plugin $name: built" build.log || { complain "$name is not built"; cat build.log; }
  printf '#VRML_SIM R2025a utf8\nWorldInfo { physics "%s" }\nDEF BOX Solid { boundingObject Box { } physics Physics { } }\n' "$name" >worlds/$name.wbt
  talus run worlds/$name.wbt --until 0.1 >out.txt 2>err.txt || { complain "$name does not run"; cat err.txt; }
  grep -q "^\[$name\] says 7" out.txt || { complain "$name does not say what it should"; cat out.txt; }
done
[ -f plugins/physics/modern/made.txt ] || complain "the first goal of a Makefile is not made"
talus build . --clean >/dev/null 2>&1
[ -z "$(find plugins -name '*.so' -o -name '*.o' -o -name made.txt)" ] || { complain "something is left after --clean"; find plugins; }
# The goals that people type.
export WEBOTS_HOME; WEBOTS_HOME=$(cd "$OLDPWD" && pwd)
make -s -C plugins/physics/modern libmodern.so && [ -f plugins/physics/modern/libmodern.so ] || complain "make libmodern.so makes none"
make -s -C plugins/physics/modern clean && make -s -C plugins/physics/modern debug && [ -f plugins/physics/modern/build/talus-debug/libmodern.so ] ||
  complain "make debug makes none"
exit $((failures > 0))
