// clip.c - sounds decoded by libsndfile in a worker process, and written as WAV.
#include "assets/clip.h"

#include "base/memory.h"

#include <math.h>
#include <sndfile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DECODE_TIME_MS = 30000, RATE_MIN = 1000, RATE_MAX = 768000, CHANNELS_KEPT = 2 };

void clip_destroy(Clip *clip)
{
    if (!clip)
        return;
    free(clip->memory);
    free(clip);
}

double clip_seconds(const Clip *clip) { return (double)clip->frame_count / (double)clip->rate; }

// ---- inside the worker ----

typedef struct DecodeRequest {
    int64_t frame_limit;
} DecodeRequest;

typedef struct DecodeReply {
    int32_t channels, rate, frame_count, reserved;
} DecodeReply;
static_assert(sizeof(DecodeReply) == 16, "samples that follow stay aligned");

// The file in memory, as libsndfile wants to see it.
typedef struct Bytes {
    const char *data;
    sf_count_t size, at;
} Bytes;

static sf_count_t bytes_size(void *context) { return ((Bytes *)context)->size; }

static sf_count_t bytes_seek(sf_count_t offset, int whence, void *context)
{
    Bytes *bytes = context;
    sf_count_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? bytes->at : bytes->size;
    if (offset < -from || offset > bytes->size - from)
        return -1;
    return bytes->at = from + offset;
}

static sf_count_t bytes_read(void *out, sf_count_t count, void *context)
{
    assert_debug(((Bytes *)context)->at >= 0 && ((Bytes *)context)->at <= ((Bytes *)context)->size);
    Bytes *bytes = context;
    sf_count_t rest = bytes->size - bytes->at;
    if (count > rest)
        count = rest;
    if (count <= 0)
        return 0;
    memcpy(out, bytes->data + bytes->at, (size_t)count);
    bytes->at += count;
    return count;
}

static sf_count_t bytes_write(const void *data, sf_count_t count, void *context)
{
    (void)data, (void)count, (void)context;
    return 0;
}

static sf_count_t bytes_tell(void *context) { return ((Bytes *)context)->at; }

static bool refuse(WorkerReply *reply, const char *reason)
{
    worker_reply_clear(reply);
    worker_reply_add(reply, reason, strlen(reason));
    return false;
}

// Block by block, because the number of frames that a file claims is only a claim.
static bool read_frames(SNDFILE *file, const SF_INFO *info, const DecodeRequest *request, WorkerReply *reply)
{
    enum { BLOCK = 4096 };
    DecodeReply out = { .channels = info->channels < CHANNELS_KEPT ? info->channels : CHANNELS_KEPT,
                        .rate = info->samplerate };
    float *block = malloc((size_t)BLOCK * (size_t)info->channels * sizeof *block);
    float kept[BLOCK * CHANNELS_KEPT];
    int64_t total = 0;
    sf_count_t count;
    worker_reply_add(reply, &out, sizeof out);
    while (block && (count = sf_readf_float(file, block, BLOCK)) > 0) {
        total += count;
        if (total > request->frame_limit)
            break;
        for (sf_count_t i = 0; i < count; i++)
            for (int c = 0; c < out.channels; c++) {
                float sample = block[i * info->channels + c];
                kept[i * out.channels + c] = isfinite(sample) ? sample : 0.0f;
            }
        worker_reply_add(reply, kept, (size_t)count * (size_t)out.channels * sizeof *kept);
    }
    free(block);
    if (total == 0)
        return refuse(reply, "it holds no sound");
    char reason[120];
    snprintf(reason, sizeof reason, "it is longer than the limit of %lld samples", (long long)request->frame_limit);
    return total <= request->frame_limit || refuse(reply, reason);
}

static bool decode(const char *request, size_t size, WorkerReply *reply, void *state)
{
    (void)state;
    DecodeRequest header;
    memcpy(&header, request, sizeof header);
    Bytes bytes = { request + sizeof header, (sf_count_t)(size - sizeof header), 0 };
    SF_VIRTUAL_IO access = { bytes_size, bytes_seek, bytes_read, bytes_write, bytes_tell };
    SF_INFO info = { 0 };
    SNDFILE *file = sf_open_virtual(&access, SFM_READ, &info, &bytes);
    if (!file)
        return refuse(reply, "it is no sound that can be read (WAV, FLAC, OGG, AIFF)");
    bool ok = info.channels >= 1 && info.channels <= 1024 && info.samplerate >= RATE_MIN && info.samplerate <= RATE_MAX;
    ok = ok ? read_frames(file, &info, &header, reply) : refuse(reply, "its rate or number of channels makes no sense");
    sf_close(file);
    return ok;
}

// The first sound opens codecs of other libraries: they are mapped before the worker is confined.
static void *prepare(const void *context)
{
    (void)context;
    char version[64];
    sf_command(NULL, SFC_GET_LIB_VERSION, version, sizeof version);
    return NULL;
}

Worker *clip_worker_create(void)
{
    return worker_create(&(WorkerOptions){ .name = "sound reader",
                                           .start = prepare,
                                           .handle = decode,
                                           .time_ms = DECODE_TIME_MS,
                                           .memory_bytes = (int64_t)2 << 30,
                                           .reply_bytes = (int64_t)2 << 30 });
}

// ---- in the parent ----

// What the worker says is checked: it may have been taken over by what it read.
static Clip *clip_from_answer(WorkerAnswer *answer)
{
    DecodeReply reply;
    if (answer->size <= sizeof reply)
        return NULL;
    memcpy(&reply, answer->data, sizeof reply);
    size_t bytes = answer->size - sizeof reply, frame = (size_t)reply.channels * sizeof(float);
    if (reply.channels < 1 || reply.channels > CHANNELS_KEPT || reply.rate < RATE_MIN || reply.rate > RATE_MAX
        || bytes % frame != 0 || bytes / frame > INT32_MAX)
        return NULL;
    const float *samples = (const float *)(const void *)(answer->data + sizeof reply);
    for (size_t i = 0; i < bytes / sizeof *samples; i++)
        if (!isfinite(samples[i]))
            return NULL;
    Clip *clip = memory_alloc(sizeof *clip);
    *clip = (Clip){ reply.channels, reply.rate, (int)(bytes / frame), samples, answer->data };
    answer->data = NULL;
    return clip;
}

Clip *clip_from_bytes(Worker *worker, const char *name, const void *data, size_t size, const Limits *limits,
                      DiagSink *diags, SourcePos pos)
{
    assert_debug(name && (data || size == 0));
    DecodeRequest header = { limits_or_default(limits)->sound_frames };
    Worker *own = worker ? NULL : clip_worker_create();
    WorkerAnswer answer;
    const WorkerPart parts[] = { { &header, sizeof header }, { data, size } };
    WorkerStatus status = worker_call(worker ? worker : own, parts, COUNT_OF(parts), &answer);
    Clip *clip = status == WORKER_OK ? clip_from_answer(&answer) : NULL;
    if (!clip)
        diag_error(diags, pos, "cannot read sound '%s': %s", name,
                   *answer.message ? answer.message : "the sound reader answered nonsense");
    free(answer.data);
    worker_destroy(own);
    return clip;
}

Clip *clip_create(int channels, int rate, int frame_count, const float *samples)
{
    assert(channels >= 1 && channels <= CHANNELS_KEPT && rate > 0 && frame_count > 0);
    size_t size = (size_t)frame_count * (size_t)channels * sizeof(float);
    Clip *clip = memory_alloc(sizeof *clip);
    *clip = (Clip){ .channels = channels, .rate = rate, .frame_count = frame_count, .memory = memory_alloc_raw(size) };
    memcpy(clip->memory, samples, size);
    clip->samples = clip->memory;
    return clip;
}

// ---- WAV ----

static void put_number(uint8_t *out, uint32_t value, int bytes)
{
    assert_debug(bytes > 0 && bytes <= 4);
    for (int i = 0; i < bytes; i++)
        out[i] = (uint8_t)(value >> (8 * i));
}

void clip_wav_header(uint8_t header[CLIP_WAV_HEADER], int channels, int rate, int64_t frame_count)
{
    assert_debug(channels > 0 && rate > 0 && frame_count >= 0);
    int64_t bytes = 2 * frame_count * channels, max = (int64_t)UINT32_MAX - CLIP_WAV_HEADER;
    uint32_t data = (uint32_t)(bytes < max ? bytes : max);
    memcpy(header, "RIFF....WAVEfmt ....................data....", CLIP_WAV_HEADER);
    put_number(header + 4, data + CLIP_WAV_HEADER - 8, 4);
    put_number(header + 16, 16, 4);
    put_number(header + 20, 1, 2);  // PCM
    put_number(header + 22, (uint32_t)channels, 2);
    put_number(header + 24, (uint32_t)rate, 4);
    put_number(header + 28, (uint32_t)(2 * channels * rate), 4);
    put_number(header + 32, (uint32_t)(2 * channels), 2);
    put_number(header + 34, 16, 2);
    memcpy(header + 36, "data", 4);
    put_number(header + 40, data, 4);
}

void clip_encode_wav(const Clip *clip, Text *out)
{
    assert_debug(clip->samples && out);
    uint8_t header[CLIP_WAV_HEADER];
    clip_wav_header(header, clip->channels, clip->rate, clip->frame_count);
    text_add(out, (const char *)header, sizeof header);
    for (int64_t i = 0; i < (int64_t)clip->frame_count * clip->channels; i++) {
        long value = lrint(32767.0 * double_clamp((double)clip->samples[i], -1.0, 1.0));
        text_add_char(out, (char)(value & 0xff));
        text_add_char(out, (char)(value >> 8 & 0xff));
    }
}
