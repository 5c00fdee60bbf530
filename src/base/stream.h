// stream.h - a file that is written piece by piece and gets its name only when it is whole: aside first, synced, then
// renamed. For what is too large to be kept in memory (sounds, movies, recordings). Whole files at once: file.h.
#ifndef TALUS_BASE_STREAM_H
#define TALUS_BASE_STREAM_H

#include "base/diag.h"

typedef struct FileStream FileStream;

// NULL when it cannot be made (reported). Nothing stands under `path` before stream_close, and an old file there stays
// until then.
FileStream *stream_open(const char *path, DiagSink *diags);
bool stream_write(FileStream *stream, const void *data,
                  size_t size);  // false from the first failure on (reported once)
bool stream_write_at(FileStream *stream, int64_t offset, const void *data,
                     size_t size);  // over what is there, as headers need
int64_t stream_size(const FileStream *stream);
bool stream_close(FileStream *stream);    // false when anything failed: then the file is not there. NULL is fine
void stream_discard(FileStream *stream);  // leaves nothing; NULL is fine

#endif
