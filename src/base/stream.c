// stream.c - buffered writing temporary, and the rename at the end.
#include "base/stream.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 16 };

struct FileStream {
    char *path;
    FileTemporary temporary;
    DiagSink *diags;
    bool has_failed;
    int64_t written;  // without what is in the buffer
    size_t buffered;
    uint8_t buffer[BUFFER_BYTES];
};

static bool fail(FileStream *stream)
{
    if (!stream->has_failed)
        diag_error(stream->diags, (SourcePos){ 0 }, "cannot write '%s': %s", stream->path, file_write_error(errno));
    stream->has_failed = true;
    return false;
}

static bool put(FileStream *stream, const uint8_t *data, size_t size)
{
    assert_debug(stream->temporary.descriptor >= 0);
    while (size > 0) {
        ssize_t count = write(stream->temporary.descriptor, data, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return fail(stream);
        data += count;
        size -= (size_t)count;
        stream->written += count;
    }
    return true;
}

static bool flush(FileStream *stream)
{
    assert_debug(stream->buffered <= BUFFER_BYTES);
    size_t size = stream->buffered;
    stream->buffered = 0;
    return !stream->has_failed && put(stream, stream->buffer, size);
}

FileStream *stream_open(const char *path, DiagSink *diags)
{
    FileStream *stream = memory_alloc(sizeof *stream);
    if (file_temporary_open(&stream->temporary, path) < 0) {
        diag_error(diags, (SourcePos){ 0 }, "cannot write '%s': %s", path, file_write_error(errno));
        free(stream);
        return NULL;
    }
    stream->path = memory_string(path);
    stream->diags = diags;
    return stream;
}

bool stream_write(FileStream *stream, const void *data, size_t size)
{
    assert_debug(data || size == 0);
    if (stream->has_failed)
        return false;
    if (stream->buffered + size > BUFFER_BYTES && !flush(stream))
        return false;
    if (size > BUFFER_BYTES)
        return put(stream, data, size);
    assert_debug(stream->buffered + size <= BUFFER_BYTES);
    memcpy(stream->buffer + stream->buffered, data, size);
    stream->buffered += size;
    return true;
}

bool stream_write_at(FileStream *stream, int64_t offset, const void *data, size_t size)
{
    if (!flush(stream))
        return false;
    assert(offset >= 0 && offset + (int64_t)size <= stream_size(stream));
    ssize_t count = pwrite(stream->temporary.descriptor, data, size, (off_t)offset);
    return count == (ssize_t)size || fail(stream);
}

int64_t stream_size(const FileStream *stream) { return stream->written + (int64_t)stream->buffered; }

static void release(FileStream *stream)
{
    free(stream->path);
    free(stream);
}

bool stream_close(FileStream *stream)
{
    if (!stream)
        return true;
    bool ok = flush(stream);
    int error = file_temporary_close(&stream->temporary, ok);
    if (error) {
        errno = error;
        ok = fail(stream);
    }
    release(stream);
    return ok;
}

void stream_discard(FileStream *stream)
{
    if (!stream)
        return;
    file_temporary_close(&stream->temporary, false);
    release(stream);
}
