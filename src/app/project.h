// project.h - projects as folders: which world of one is meant.
#ifndef TALUS_APP_PROJECT_H
#define TALUS_APP_PROJECT_H

#include "base/arena.h"

// The file that an argument of a verb means: itself, or the world of the project that it is the folder of. That is the
// only one in worlds/ (or beside, when there is no such folder), or the one with the folder's name. Says why on
// standard error and returns NULL when there is none or a choice.
const char *project_world(Arena *arena, const char *argument, const char *verb);

#endif
