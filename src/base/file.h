// file.h - reading and writing whole files, and paths. Reading refuses anything but a regular file of bounded size
// (no devices, FIFOs, directories); writing is atomic: temporary, synced, renamed.
#ifndef TALUS_BASE_FILE_H
#define TALUS_BASE_FILE_H

#include "base/arena.h"
#include "base/diag.h"

#include <limits.h>

typedef struct FileData {
    const char *data;  // followed by one NUL byte that is not part of the size
    size_t size;
} FileData;

// Reads `path`. On failure returns false and, if diags is not NULL, reports an error at `pos` naming the path and why.
bool file_read(const char *path, size_t size_limit, FileData *file, DiagSink *diags, SourcePos pos);
void file_release(FileData *file);

bool file_write_all(int descriptor, const void *bytes, size_t size);  // false: not all of it, errno tells why
// Writes the whole of data to `path` or leaves the old file as it was. A symbolic link stays one, and what is replaced
// keeps its mode.
bool file_write_atomic(const char *path, const void *data, size_t size, DiagSink *diags);
// Whether that finds its place, asked before long work whose result it is to be; if not, it is said.
bool file_can_write(const char *path, DiagSink *diags);
// The same in pieces: written to the descriptor, then closed. Until it is kept the file has no name where the file
// system can do that, so that nothing is left of it, however the process ends.
typedef struct FileTemporary {
    int descriptor;
    int mode;         // of the file that is replaced; -1: there is none
    bool is_special;  // a device or pipe, written as it is
    bool is_nameless;
    char place[PATH_MAX], name[PATH_MAX + 32];
} FileTemporary;
int file_temporary_open(FileTemporary *temporary, const char *path);  // the descriptor, or -1 with errno
int file_temporary_close(FileTemporary *temporary, bool keeps);       // 0, or the errno with which it was not kept

const char *file_write_error(int error);  // why a write failed, for people; `error` is its errno

bool file_exists(const char *path);  // a regular file
bool file_is_directory(const char *path);
bool file_make_directories(const char *path);

// Paths. Results live in the arena. Joining an absolute second part gives that part.
char *path_join(Arena *arena, const char *directory, const char *name);
char *path_directory(Arena *arena, const char *path);   // "." when there is none
const char *path_name(const char *path);                // after the last slash
const char *path_extension(const char *path);           // with the dot, "" when there is none
char *path_stem(Arena *arena, const char *path);        // name without extension
char *path_normalized(Arena *arena, const char *path);  // without "." and ".." by text alone
char *path_real(Arena *arena, const char *path);        // symbolic links resolved, NULL when it does not exist
bool path_is_inside(const char *real_path, const char *real_directory);  // both as path_real gives them

#endif
