// program.c - where the parts of Talus lie, as seen from the running program or library.
#include "base/program.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Places as seen from the folder of a program or library. Built: beside it, and one up from tests/ and bench/.
// Installed: bin/, lib/ and lib/TRIPLET/ stand beside or above lib/talus/.
static const char *const places[] = { "", "../", "../lib/talus/", "talus/", "../talus/" };

static bool find_near(const char *file, const char *name, char *path, size_t capacity)
{
    assert_debug(path && capacity > 0);
    const char *slash = strrchr(file, '/');
    int length = slash ? (int)(slash - file) : 0;
    for (int i = 0; slash && i < COUNT_OF(places); i++) {
        int written = snprintf(path, capacity, "%.*s/%s%s", length, file, places[i], name);
        if (written > 0 && (size_t)written < capacity && access(path, X_OK) == 0)
            return true;
    }
    return false;
}

bool program_find(const char *name, const char *variable, char *path, size_t capacity)
{
    const char *named = getenv(variable);
    if (named && *named) {
        int written = snprintf(path, capacity, "%s", named);
        return written > 0 && (size_t)written < capacity && access(path, X_OK) == 0;
    }
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    if (find_near(self, name, path, capacity))
        return true;
    Dl_info library;  // in a program of others, libtalus knows where it lies
    return dladdr((const void *)(uintptr_t)program_find, &library) && library.dli_fname
           && realpath(library.dli_fname, self) && find_near(self, name, path, capacity);
}
