// memory_file.h - bytes as a file with a path, for fuzz targets of readers that open files themselves.
#ifndef TALUS_TESTS_FUZZ_MEMORY_FILE_H
#define TALUS_TESTS_FUZZ_MEMORY_FILE_H

#include "base/common.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct MemoryFile {
    int descriptor;
    char path[32];
} MemoryFile;

static inline MemoryFile memory_file_open(const void *data, size_t size)
{
    MemoryFile file = { .descriptor = memfd_create("fuzz", MFD_CLOEXEC) };
    assert(file.descriptor >= 0);
    ssize_t written = write(file.descriptor, data, size);
    assert(written == (ssize_t)size);
    snprintf(file.path, sizeof file.path, "/proc/self/fd/%d", file.descriptor);
    return file;
}

static inline void memory_file_close(MemoryFile *file) { close(file->descriptor); }

#endif
