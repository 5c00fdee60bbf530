// recording.c - blocks to a file and back.
#include "record/recording.h"

#include "base/file.h"
#include "base/memory.h"
#include "record/pose_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static const char magic[8] = "TALUSREC", end_magic[8] = "TALUSEND";
enum {
    END_BYTES = 16,
    LEVEL_FAST = 1,  // three times as fast as the best, and three per cent larger
    LEVEL_BEST = 9,
    SMALL_BYTES = 128,  // less than this is not worth packing
};

bool recording_has_name(const char *path) { return !strcasecmp(path_extension(path), ".talus"); }

// ---- writing ----

struct RecordingWriter {
    char *path;
    int descriptor;  // -1: into `out`
    Text *out;
    int64_t size;
    int error;  // errno of the first failure
    Text packed, index, filtered;
    z_stream deflater;
};

static void put_bytes(RecordingWriter *writer, const char *data, size_t size)
{
    if (writer->out)
        text_add(writer->out, data, size);
    while (!writer->out && size > 0 && !writer->error) {
        ssize_t count = write(writer->descriptor, data, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) {
            writer->error = count < 0 ? errno : ENOSPC;
            // What is half written is taken back, so that the file ends with a whole block.
            if (ftruncate(writer->descriptor, (off_t)writer->size) < 0)
                return;
            return;
        }
        data += count;
        size -= (size_t)count;
    }
}

static void put_head(RecordingWriter *writer)
{
    char head[RECORDING_HEAD_BYTES] = { 0 };
    uint32_t version = RECORDING_VERSION;
    memcpy(head, magic, sizeof magic);
    memcpy(head + 8, &version, 4);
    put_bytes(writer, head, sizeof head);
    writer->size = RECORDING_HEAD_BYTES;
}

static RecordingWriter *create(const char *path, int descriptor, Text *out)
{
    RecordingWriter *writer = memory_alloc(sizeof *writer);
    writer->path = memory_string(path);
    writer->descriptor = descriptor;
    writer->out = out;
    if (deflateInit(&writer->deflater, out ? LEVEL_BEST : LEVEL_FAST) != Z_OK)
        writer->error = ENOMEM;
    put_head(writer);
    return writer;
}

RecordingWriter *recording_create(const char *path, DiagSink *diags)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (descriptor < 0) {
        diag_error(diags, (SourcePos){ 0 }, "cannot write '%s': %s", path, file_write_error(errno));
        return NULL;
    }
    return create(path, descriptor, NULL);
}

RecordingWriter *recording_create_in(Text *out) { return create("", -1, out); }

// Leaves room for the head before the packed data, so that the whole block goes out with one write.
static void pack(RecordingWriter *writer, const void *data, size_t size)
{
    Text *packed = &writer->packed;
    size_t bound = deflateBound(&writer->deflater, (uLong)size);  // never less than the size itself
    text_make_room(packed, RECORDING_BLOCK_BYTES + bound);
    packed->length = RECORDING_BLOCK_BYTES;
    if (size > SMALL_BYTES) {
        z_stream *z = &writer->deflater;
        deflateReset(z);
        z->next_in = (Bytef *)data;
        z->avail_in = (uInt)size;
        z->next_out = (Bytef *)packed->data + RECORDING_BLOCK_BYTES;
        z->avail_out = (uInt)bound;
        if (deflate(z, Z_FINISH) == Z_STREAM_END && z->total_out < size) {
            packed->length += z->total_out;
            return;
        }
    }
    text_add(packed, data, size);
}

// Head and data go out in one piece and the row of the index is kept for the end: a file cut anywhere can be read up
// to its last whole block.
bool recording_write(RecordingWriter *writer, const char type[4], double first, double last, const void *data,
                     size_t size)
{
    assert_debug(data || size == 0);
    if (!writer->error && size > INT32_MAX)
        writer->error = EFBIG;
    if (writer->error)
        return false;
    uint32_t filter = 0;
    if (!memcmp(type, "FRMS", 4) && pose_filter_pack(data, size, &writer->filtered)) {
        filter = RECORDING_FILTER_POSES;
        data = writer->filtered.data;
        size = writer->filtered.length;
    }
    pack(writer, data, size);
    char *head = writer->packed.data;
    uint32_t stored = (uint32_t)(writer->packed.length - RECORDING_BLOCK_BYTES), raw = (uint32_t)size;
    uint32_t crc = (uint32_t)crc32(0, (const Bytef *)head + RECORDING_BLOCK_BYTES, stored);
    memset(head, 0, RECORDING_BLOCK_BYTES);
    memcpy(head, "BLCK", 4);
    memcpy(head + 4, type, 4);
    memcpy(head + 8, &stored, 4);
    memcpy(head + 12, &raw, 4);
    memcpy(head + 16, &crc, 4);
    memcpy(head + 20, &filter, 4);
    memcpy(head + 24, &first, 8);
    memcpy(head + 32, &last, 8);
    put_bytes(writer, head, writer->packed.length);
    if (writer->error)
        return false;
    char row[RECORDING_INDEX_BYTES];
    memcpy(row, &writer->size, 8);
    memcpy(row + 8, type, 4);
    memcpy(row + 12, &first, 8);
    memcpy(row + 20, &last, 8);
    text_add(&writer->index, row, sizeof row);
    writer->size += (int64_t)writer->packed.length;
    return true;
}

bool recording_has_failed(const RecordingWriter *writer) { return writer->error != 0; }

// The index makes seeking fast and is not needed: a reader that finds none scans the blocks.
bool recording_finish(RecordingWriter *writer, DiagSink *diags)
{
    if (!writer)
        return true;
    uint64_t offset = (uint64_t)writer->size;
    if (recording_write(writer, "INDX", 0.0, 0.0, writer->index.data ? writer->index.data : "", writer->index.length)) {
        char end[END_BYTES];
        memcpy(end, &offset, 8);
        memcpy(end + 8, end_magic, 8);
        put_bytes(writer, end, sizeof end);
    }
    if (writer->descriptor >= 0) {
        struct stat info;
        bool is_file = fstat(writer->descriptor, &info) == 0 && S_ISREG(info.st_mode);
        if (is_file && fsync(writer->descriptor) < 0 && !writer->error)
            writer->error = errno;
        if (close(writer->descriptor) < 0 && !writer->error)
            writer->error = errno;
    }
    bool ok = writer->error == 0;
    if (!ok && diags)
        diag_error(diags, (SourcePos){ 0 }, "cannot write '%s': %s; what was recorded before is kept", writer->path,
                   file_write_error(writer->error));
    deflateEnd(&writer->deflater);
    text_free(&writer->packed);
    text_free(&writer->filtered);
    text_free(&writer->index);
    free(writer->path);
    free(writer);
    return ok;
}

// ---- reading ----

struct Recording {
    char *name;
    DiagSink *diags;
    const Limits *limits;
    int descriptor;  // -1: in `bytes`
    const uint8_t *bytes;
    int64_t size;
    RecordingBlock *blocks;
    bool *is_bad;
    int block_count, block_capacity, bad_capacity;
    bool is_finished;
    Text stored, filtered;  // scratch
    // Where the frames are at.
    int frame_block, scene_block, meta_block;
    Text frames;
    size_t at;
    Pose *poses;
    int pose_count, pose_capacity;
};

static bool get_bytes(const Recording *recording, int64_t offset, void *data, size_t size)
{
    assert_debug(data);
    if (offset < 0 || offset > recording->size || (int64_t)size > recording->size - offset)
        return false;
    if (recording->bytes) {
        memcpy(data, recording->bytes + offset, size);
        return true;
    }
    char *at = data;
    while (size > 0) {
        ssize_t count = pread(recording->descriptor, at, size, (off_t)offset);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        at += count;
        offset += count;
        size -= (size_t)count;
    }
    return true;
}

static bool is_type(const char type[4])
{
    for (int i = 0; i < 4; i++)
        if (type[i] < 'A' || type[i] > 'Z')
            return false;
    return true;
}

// The head of a block; what is wrong with it in words, or NULL.
static const char *read_block(const Recording *recording, int64_t offset, RecordingBlock *block)
{
    uint8_t head[RECORDING_BLOCK_BYTES];
    if (!get_bytes(recording, offset, head, sizeof head))
        return "it is cut off there";
    *block = (RecordingBlock){ .offset = offset };
    memcpy(block->type, head + 4, 4);
    memcpy(&block->stored_bytes, head + 8, 4);
    memcpy(&block->raw_bytes, head + 12, 4);
    memcpy(&block->crc, head + 16, 4);
    memcpy(&block->filter, head + 20, 4);
    memcpy(&block->first, head + 24, 8);
    memcpy(&block->last, head + 32, 8);
    if (memcmp(head, "BLCK", 4) != 0 || !is_type(block->type))
        return "no block begins there";
    if (!isfinite(block->first) || !isfinite(block->last) || block->stored_bytes > block->raw_bytes
        || block->filter > RECORDING_FILTER_POSES)
        return "the block there cannot be";
    if (block->raw_bytes > recording->limits->file_bytes)
        return "the block there is larger than any may be";
    if (block->stored_bytes > recording->size - offset - RECORDING_BLOCK_BYTES)
        return "it is cut off in the block there";
    return NULL;
}

static bool has_end(const Recording *recording, int64_t at)
{
    char end[END_BYTES];
    return at == recording->size - END_BYTES && get_bytes(recording, at, end, sizeof end)
           && !memcmp(end + 8, end_magic, 8);
}

static void scan(Recording *recording)
{
    int64_t at = RECORDING_HEAD_BYTES;
    const char *why = NULL;
    while (at < recording->size && !recording->is_finished) {
        RecordingBlock block;
        if (has_end(recording, at)) {
            recording->is_finished = true;
            break;
        }
        if ((why = read_block(recording, at, &block)))
            break;
        *memory_push(recording->blocks, recording->block_count, recording->block_capacity) = block;
        at += RECORDING_BLOCK_BYTES + (int64_t)block.stored_bytes;
    }
    recording->is_bad = memory_alloc_array((size_t)recording->block_count + 1, sizeof *recording->is_bad);
    double first, last;
    recording_times(recording, &first, &last);
    if (!recording->is_finished)
        diag_warning(recording->diags, (SourcePos){ 0 }, "'%s' was not finished (byte %lld: %s); it is used up to %g s",
                     recording->name, (long long)at, why ? why : "its index is missing", last);
}

static Recording *begin(Recording *recording, const char *name, const Limits *limits, DiagSink *diags)
{
    recording->name = memory_string(name);
    recording->diags = diags;
    recording->limits = limits_or_default(limits);
    char head[RECORDING_HEAD_BYTES];
    uint32_t version = 0;
    const char *why = NULL;
    if (!get_bytes(recording, 0, head, sizeof head) || memcmp(head, magic, sizeof magic) != 0)
        why = "is no recording of Talus";
    else if (memcpy(&version, head + 8, 4), version < 1 || version > RECORDING_VERSION)
        why = "is of a version that this Talus does not know";
    if (!why) {
        scan(recording);
        if (recording->block_count == 0)
            why = "ends before anything was recorded";
    }
    if (why) {
        diag_error(diags, (SourcePos){ 0 }, "'%s' %s", name, why);
        recording_close(recording);
        return NULL;
    }
    recording_rewind(recording);
    return recording;
}

Recording *recording_open(const char *path, const Limits *limits, DiagSink *diags)
{
    struct stat info;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0 || fstat(descriptor, &info) < 0 || !S_ISREG(info.st_mode)) {
        diag_error(diags, (SourcePos){ 0 }, "cannot read '%s': %s", path,
                   descriptor < 0 ? strerror(errno) : "it is no regular file");
        if (descriptor >= 0)
            close(descriptor);
        return NULL;
    }
    Recording *recording = memory_alloc(sizeof *recording);
    recording->descriptor = descriptor;
    recording->size = info.st_size;
    return begin(recording, path, limits, diags);
}

Recording *recording_open_bytes(const char *name, const void *data, size_t size, const Limits *limits, DiagSink *diags)
{
    Recording *recording = memory_alloc(sizeof *recording);
    recording->descriptor = -1;
    recording->bytes = data;
    recording->size = (int64_t)size;
    return begin(recording, name, limits, diags);
}

void recording_close(Recording *recording)
{
    if (!recording)
        return;
    if (recording->descriptor >= 0)
        close(recording->descriptor);
    free(recording->name);
    free(recording->blocks);
    free(recording->is_bad);
    text_free(&recording->stored);
    text_free(&recording->filtered);
    text_free(&recording->frames);
    free(recording->poses);
    free(recording);
}

bool recording_is_finished(const Recording *recording) { return recording->is_finished; }
int recording_block_count(const Recording *recording) { return recording->block_count; }

const RecordingBlock *recording_block(const Recording *recording, int index)
{
    assert(index >= 0 && index < recording->block_count);
    return &recording->blocks[index];
}

int recording_find(const Recording *recording, const char type[4], int from)
{
    for (int i = int_max(from, 0); i < recording->block_count; i++)
        if (!memcmp(recording->blocks[i].type, type, 4))
            return i;
    return -1;
}

void recording_times(const Recording *recording, double *first, double *last)
{
    *first = *last = 0.0;
    bool has_any = false;
    for (int i = 0; i < recording->block_count; i++) {
        const RecordingBlock *block = &recording->blocks[i];
        if (memcmp(block->type, "FRMS", 4) != 0)
            continue;
        *first = has_any ? fmin(*first, block->first) : block->first;
        *last = has_any ? fmax(*last, block->last) : block->last;
        has_any = true;
    }
}

static const char *inflate_block(Recording *recording, const RecordingBlock *block, Text *out)
{
    Text *stored = &recording->stored;
    text_make_room(stored, block->stored_bytes);
    if (!get_bytes(recording, block->offset + RECORDING_BLOCK_BYTES, stored->data, block->stored_bytes))
        return "it cannot be read";
    if ((uint32_t)crc32(0, (const Bytef *)stored->data, block->stored_bytes) != block->crc)
        return "its check sum is wrong";
    if (block->stored_bytes == block->raw_bytes) {
        text_clear(out);
        text_add(out, stored->data, block->stored_bytes);
        return NULL;
    }
    text_make_room(out, block->raw_bytes);
    uLongf length = block->raw_bytes;
    if (uncompress((Bytef *)out->data, &length, (const Bytef *)stored->data, block->stored_bytes) != Z_OK
        || length != block->raw_bytes)
        return "it cannot be unpacked";
    out->length = length;
    out->data[length] = '\0';
    return NULL;
}

static const char *unpack(Recording *recording, const RecordingBlock *block, Text *out)
{
    if (block->filter != RECORDING_FILTER_POSES)
        return inflate_block(recording, block, out);
    const char *why = inflate_block(recording, block, &recording->filtered);
    if (!why && !pose_filter_unpack(recording->filtered.data, recording->filtered.length, out))
        why = "its poses do not fit its frames";
    return why;
}

bool recording_read(Recording *recording, int index, Text *out)
{
    assert_debug(index >= 0 && index < recording->block_count && out);
    const RecordingBlock *block = recording_block(recording, index);
    const char *why = unpack(recording, block, out);
    if (why && !recording->is_bad[index])
        diag_warning(recording->diags, (SourcePos){ 0 },
                     "'%s' is damaged: the block %.4s at byte %lld is left out (%s)", recording->name, block->type,
                     (long long)block->offset, why);
    recording->is_bad[index] = why != NULL;
    return !why;
}

// ---- frames ----

void recording_rewind(Recording *recording)
{
    recording->frame_block = recording->scene_block = recording->meta_block = -1;
    text_clear(&recording->frames);
    recording->at = 0;
    recording->pose_count = 0;
}

static bool load_frames(Recording *recording)
{
    while (++recording->frame_block < recording->block_count) {
        assert_debug(recording->frame_block >= 0 && recording->frame_block < recording->block_count);
        const char *type = recording->blocks[recording->frame_block].type;
        if (!memcmp(type, "SCNE", 4))
            recording->scene_block = recording->frame_block;
        else if (!memcmp(type, "META", 4))
            recording->meta_block = recording->frame_block;
        else if (!memcmp(type, "FRMS", 4)) {
            recording->at = 0;
            if (recording_read(recording, recording->frame_block, &recording->frames))
                return true;
            text_clear(&recording->frames);
        }
    }
    recording->frame_block = recording->block_count;
    return false;
}

// The next frame of the block at hand; false when it has no more that can be used.
static bool take_frame(Recording *recording, FrameView *view)
{
    const Text *frames = &recording->frames;
    uint32_t length;
    if (recording->at == frames->length)
        return false;
    const char *why = "its frames do not fit";
    if (frames->length - recording->at >= 4) {
        memcpy(&length, frames->data + recording->at, 4);
        recording->at += 4;
        if (length <= frames->length - recording->at && frame_read(frames->data + recording->at, length, view, &why)) {
            recording->at += length;
            return true;
        }
    }
    diag_warning(recording->diags, (SourcePos){ 0 },
                 "'%s' is damaged: frames of the block at byte %lld are left out (%s)", recording->name,
                 (long long)recording->blocks[recording->frame_block].offset, why);
    recording->at = frames->length;
    return false;
}

static void apply(Recording *recording, const FrameView *view)
{
    Pose gone = { { NAN, NAN, NAN }, QUAT_IDENTITY };
    if (view->is_key)
        recording->pose_count = 0;
    for (int i = 0; i < view->pose_count; i++) {
        Pose pose;
        int solid = frame_pose(view, i, &pose);
        if (solid >= recording->limits->bodies)
            continue;
        memory_grow(&recording->poses, &recording->pose_capacity, solid + 1, sizeof pose);
        while (recording->pose_count <= solid)
            recording->poses[recording->pose_count++] = gone;
        recording->poses[solid] = pose;
    }
}

bool recording_next(Recording *recording, FrameView *view)
{
    while (!take_frame(recording, view))
        if (!load_frames(recording))
            return false;
    apply(recording, view);
    return true;
}

const Pose *recording_poses(const Recording *recording, int *count)
{
    *count = recording->pose_count;
    return recording->poses;
}

int recording_scene_block(const Recording *recording) { return recording->scene_block; }
int recording_meta_block(const Recording *recording) { return recording->meta_block; }
