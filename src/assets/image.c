// image.c - images in and out by stb, decoded in the confined worker and checked against the limits.
#include "assets/image.h"

#include "base/file.h"
#include "base/memory.h"

#define STBI_NO_STDIO
#define STBI_WRITE_NO_STDIO
#include <math.h>
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DECODE_TIME_MS = 30000 };

void image_destroy(Image *image)
{
    if (!image)
        return;
    free(image->memory);
    free(image);
}

// ---- inside the worker ----

typedef struct DecodeRequest {
    int64_t longest_side;
} DecodeRequest;

typedef struct DecodeReply {
    int32_t width, height;
    uint32_t is_light, has_alpha;
} DecodeReply;
static_assert(sizeof(DecodeReply) == 16, "pixels that follow stay aligned");

static bool refuse(WorkerReply *reply, const char *reason)
{
    worker_reply_clear(reply);
    worker_reply_add(reply, reason, strlen(reason));
    return false;
}

static bool has_alpha(const uint8_t *pixels, size_t count)
{
    assert_debug(pixels || count == 0);
    for (size_t i = 0; i < count; i++)
        if (pixels[4 * i + 3] != 255)
            return true;
    return false;
}

// In the worker. Size is known from the head, so a picture that is too large costs nothing.
static bool decode(const char *request, size_t size, WorkerReply *reply, void *state)
{
    (void)state;
    DecodeRequest header;
    DecodeReply out;
    int width, height, channels;
    memcpy(&header, request, sizeof header);
    const stbi_uc *data = (const stbi_uc *)request + sizeof header;
    int length = (int)(size - sizeof header);
    if (!stbi_info_from_memory(data, length, &width, &height, &channels))
        return refuse(reply, "it is no PNG, JPEG or HDR picture");
    if (width <= 0 || height <= 0 || width > header.longest_side || height > header.longest_side) {
        char reason[120];
        snprintf(reason, sizeof reason, "%d x %d pixels are above the limit of %lld a side", width, height,
                 (long long)header.longest_side);
        return refuse(reply, reason);
    }
    out = (DecodeReply){ .is_light = stbi_is_hdr_from_memory(data, length) != 0 };
    void *pixels = out.is_light ? (void *)stbi_loadf_from_memory(data, length, &width, &height, &channels, 3)
                                : (void *)stbi_load_from_memory(data, length, &width, &height, &channels, 4);
    if (!pixels || width > header.longest_side || height > header.longest_side)
        return refuse(reply, stbi_failure_reason() ? stbi_failure_reason() : "it is broken");
    size_t count = (size_t)width * (size_t)height;
    out.width = width;
    out.height = height;
    out.has_alpha = !out.is_light && (channels == 2 || channels == 4) && has_alpha(pixels, count);
    worker_reply_add(reply, &out, sizeof out);
    worker_reply_add(reply, pixels, count * (out.is_light ? 12 : 4));
    stbi_image_free(pixels);
    return true;
}

Worker *image_worker_create(void)
{
    return worker_create(&(WorkerOptions){ .name = "picture reader",
                                           .handle = decode,
                                           .time_ms = DECODE_TIME_MS,
                                           .memory_bytes = (int64_t)4 << 30,
                                           .reply_bytes = (int64_t)4 << 30 });
}

// ---- in the parent ----

static bool is_light(const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(values[i] >= 0.0f && isfinite(values[i])))
            return false;
    return true;
}

// What the worker says is checked: it may have been taken over by what it read.
static Image *image_from_answer(WorkerAnswer *answer, int64_t longest_side)
{
    DecodeReply reply;
    if (answer->size < sizeof reply)
        return NULL;
    memcpy(&reply, answer->data, sizeof reply);
    if (reply.width <= 0 || reply.height <= 0 || reply.width > longest_side || reply.height > longest_side
        || answer->size != sizeof reply + (size_t)reply.width * (size_t)reply.height * (reply.is_light ? 12 : 4))
        return NULL;
    void *pixels = answer->data + sizeof reply;
    if (reply.is_light && !is_light(pixels, 3 * (size_t)reply.width * (size_t)reply.height))
        return NULL;
    Image *image = memory_alloc(sizeof *image);
    *image = (Image){ .width = reply.width,
                      .height = reply.height,
                      .has_alpha = reply.has_alpha != 0,
                      .light = reply.is_light ? pixels : NULL,
                      .pixels = reply.is_light ? NULL : pixels,
                      .memory = answer->data };
    answer->data = NULL;
    return image;
}

Image *image_from_bytes(Worker *worker, const char *name, const void *data, size_t size, const Limits *limits,
                        DiagSink *diags, SourcePos pos)
{
    assert_debug(name && (data || size == 0));
    DecodeRequest header = { limits_or_default(limits)->image_side };
    if (size > INT32_MAX - sizeof header) {
        diag_error(diags, pos, "cannot read image '%s': it is too large", name);
        return NULL;
    }
    Worker *own = worker ? NULL : image_worker_create();
    WorkerAnswer answer;
    const WorkerPart parts[] = { { &header, sizeof header }, { data, size } };
    WorkerStatus status = worker_call(worker ? worker : own, parts, COUNT_OF(parts), &answer);
    Image *image = status == WORKER_OK ? image_from_answer(&answer, header.longest_side) : NULL;
    if (!image)
        diag_error(diags, pos, "cannot read image '%s': %s", name,
                   *answer.message ? answer.message : "the picture reader answered nonsense");
    free(answer.data);
    worker_destroy(own);
    return image;
}

Image *image_read(Worker *worker, const char *path, const Limits *limits, DiagSink *diags, SourcePos pos)
{
    FileData file;
    if (!file_read(path, (size_t)limits_or_default(limits)->file_bytes, &file, diags, pos))
        return NULL;
    Image *image = image_from_bytes(worker, path, file.data, file.size, limits, diags, pos);
    file_release(&file);
    return image;
}

static void add_bytes(void *context, void *data, int size) { text_add(context, data, (size_t)size); }

static void check_pixels(const ImagePixels *pixels)
{
    assert(pixels->channels >= 1 && pixels->channels <= 4 && pixels->rows);
    assert(pixels->stride == 0 || pixels->stride >= pixels->width * pixels->channels);
}

bool image_encode_png(const ImagePixels *pixels, Text *out)
{
    check_pixels(pixels);
    int stride = pixels->stride ? pixels->stride : pixels->width * pixels->channels;
    return pixels->width > 0 && pixels->height > 0
           && stbi_write_png_to_func(add_bytes, out, pixels->width, pixels->height, pixels->channels, pixels->rows,
                                     stride)
                  != 0;
}

bool image_write_png(const char *path, const ImagePixels *pixels, DiagSink *diags)
{
    assert_debug(path);
    Text text = { 0 };
    bool ok = image_encode_png(pixels, &text) && file_write_atomic(path, text.data, text.length, diags);
    text_free(&text);
    return ok;
}

bool image_write_jpeg(const char *path, const ImagePixels *pixels, int quality, DiagSink *diags)
{
    assert_debug(path && pixels->stride == 0);
    check_pixels(pixels);
    Text text = { 0 };
    bool ok = pixels->width > 0 && pixels->height > 0
              && stbi_write_jpg_to_func(add_bytes, &text, pixels->width, pixels->height, pixels->channels, pixels->rows,
                                        int_max(int_min(quality, 100), 1))
                     != 0
              && file_write_atomic(path, text.data, text.length, diags);
    text_free(&text);
    return ok;
}
