// program.h - where the helper programs of Talus lie (talus-template, talus-movie): beside what was built, or where it
// was installed.
#ifndef TALUS_BASE_PROGRAM_H
#define TALUS_BASE_PROGRAM_H

#include "base/common.h"

// Finds the program `name`: the one that the environment variable `variable` names, or else beside this program or
// libtalus, or in lib/talus of the tree in which they are installed. False when none of these can be run.
bool program_find(const char *name, const char *variable, char *path, size_t capacity);

#endif
