// build_hints.h - what helps when a build fails for something that is not in the project: which Debian package has a
// header or a CMake package, and what becomes of programs in languages that no controller here may be written in.
#ifndef TALUS_APP_BUILD_HINTS_H
#define TALUS_APP_BUILD_HINTS_H

#include "base/arena.h"

// A hint for one line of a compiler's or CMake's output, or NULL when it needs none. The text lives in the arena.
const char *build_hint_for_line(Arena *arena, const char *line);

// The language of a controller that cannot be run ("Java", "MATLAB", "ROS"), by the files of its folder, or NULL.
const char *build_hint_unsupported_language(Arena *arena, const char *folder);

#endif
