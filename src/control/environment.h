// environment.h - the environment of a robot program, for those that a world starts and those that a person starts.
#ifndef TALUS_CONTROL_ENVIRONMENT_H
#define TALUS_CONTROL_ENVIRONMENT_H

#include "base/arena.h"

typedef struct Environment {
    char **items;  // NULL-terminated; free() it. The texts are the arena's or this process's own
    int count, capacity;
    Arena *arena;
} Environment;

// What runtime.ini says about Python.
typedef struct Runtime {
    const char *command, *options;  // NULL when it says nothing
} Runtime;

// That of this process, with the folders of libController, of the Python module and of the program; `project` may be
// NULL.
Environment environment_make(Arena *arena, const char *folder, const char *project);
void environment_set(Environment *environment, const char *name, const char *value);
Runtime environment_read_runtime(Environment *environment, const char *folder);  // and sets the variables that it names

#endif
