// environment.h - the environment of a robot program, for those that a world starts and those that a person starts.
#ifndef TALUS_CONTROL_ENVIRONMENT_H
#define TALUS_CONTROL_ENVIRONMENT_H

#include "base/arena.h"
#include "base/diag.h"

typedef struct Environment {
    char **items;  // NULL-terminated; free() it. The texts are the arena's or this process's own
    int count, capacity;
    Arena *arena;
} Environment;

// What runtime.ini says about Python.
typedef struct Runtime {
    const char *command, *options;  // NULL when it says nothing
} Runtime;

// The folder with resources/, as Webots' own is laid out: share/talus, or that of a build. NULL when it is not there.
const char *environment_home(Arena *arena);
// That of this process, with the folders of libController, of the Python module and of the program, and with that home
// as WEBOTS_HOME where none is set; `project` may be NULL.
Environment environment_make(Arena *arena, const char *folder, const char *project);
void environment_set(Environment *environment, const char *name, const char *value);
// The runtime.ini of a program's folder, if there is one; sets the variables that it names.
Runtime environment_read_runtime(Environment *environment, const char *folder, DiagSink *diags);
Runtime environment_take_runtime(Environment *environment, const char *path, const char *text, size_t size,
                                 DiagSink *diags);  // the same from bytes; `path` is for messages

#endif
