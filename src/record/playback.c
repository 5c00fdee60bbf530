// playback.c - goes through the events of a recording: each is served at its own time, and the samples between two are
// mixed.
#include "record/playback.h"

#include "base/json_read.h"
#include "base/memory.h"
#include "record/moment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TELLS_MAX = 1 << 16,  // of one frame
    LABELS_MAX = 1024,    // at once
    MIX_MAX = 1 << 22,    // sound frames from one frame to the next: what lies further ahead is jumped over
};
#define SECONDS_MAX 1e9  // s: no recording lasts longer, and samples up to there can be counted

typedef struct PlaybackClip {
    char *name;
    int index;  // in the stage
} PlaybackClip;

struct Playback {
    Arena *arena;  // of one frame
    SoundStage *stage;
    PlaybackClip *clips;
    int clip_count, clip_capacity;
    bool has_begun;
    double start, last;  // s: where it begins to be heard; the frame passed last
    int64_t mixed;       // frames since the start
    int16_t *samples;
    int sample_count, sample_capacity;  // frames; numbers
    RecorderLabel *labels;
    int label_count, label_capacity;
};

// ---- clips ----

static void read_clip(Playback *playback, const Text *block, Worker *worker, const Limits *limits, DiagSink *diags)
{
    assert_debug(block->data || block->length == 0);
    const char *end = block->length > 0 ? memchr(block->data, '\n', block->length) : NULL, *why;
    size_t head = end ? (size_t)(end - block->data) : 0;
    arena_reset(playback->arena);
    const char *name = end ? json_member_string(json_parse(playback->arena, block->data, head, &why), "name") : NULL;
    Clip *clip = name
                     ? clip_from_bytes(worker, name, end + 1, block->length - head - 1, limits, diags, (SourcePos){ 0 })
                     : NULL;
    if (!clip)
        return;
    *memory_push(playback->clips, playback->clip_count, playback->clip_capacity) =
        (PlaybackClip){ memory_string(name), sound_add_clip(playback->stage, clip) };
}

Playback *playback_create(Recording *recording, const Limits *limits, DiagSink *diags)
{
    assert_debug(recording && diags);
    Playback *playback = memory_alloc(sizeof *playback);
    playback->arena = arena_create();
    playback->stage = sound_create(NULL, diags);
    Worker *worker = NULL;
    Text block = { 0 };
    for (int i = recording_find(recording, "CLIP", 0); i >= 0; i = recording_find(recording, "CLIP", i + 1)) {
        if (!worker)
            worker = clip_worker_create();
        text_clear(&block);
        if (recording_read(recording, i, &block))
            read_clip(playback, &block, worker, limits, diags);
    }
    text_free(&block);
    worker_destroy(worker);
    return playback;
}

static void free_label(const RecorderLabel *label)
{
    free((char *)label->text);
    free((char *)label->font);
}

void playback_destroy(Playback *playback)
{
    if (!playback)
        return;
    for (int i = 0; i < playback->clip_count; i++)
        free(playback->clips[i].name);
    for (int i = 0; i < playback->label_count; i++)
        free_label(&playback->labels[i]);
    free(playback->labels);
    free(playback->clips);
    free(playback->samples);
    sound_destroy(playback->stage);
    arena_destroy(playback->arena);
    free(playback);
}

bool playback_has_sound(const Playback *playback) { return playback->clip_count > 0; }

int playback_rate(const Playback *playback) { return sound_rate(playback->stage); }

// ---- sounds ----

static void mix_until(Playback *playback, double time, const SoundListener *listener)
{
    assert_debug(playback->stage);
    if (!playback->has_begun)
        return;
    int64_t until = sound_frames_at(playback->stage, double_clamp(time - playback->start, 0.0, SECONDS_MAX));
    int64_t missing = until > playback->mixed ? until - playback->mixed : 0;
    int room = MIX_MAX - playback->sample_count, count = missing < room ? (int)missing : room;
    playback->mixed += missing;
    if (count == 0)
        return;
    memory_grow(&playback->samples, &playback->sample_capacity, 2 * (playback->sample_count + count),
                sizeof *playback->samples);
    sound_mix(playback->stage, listener, playback->samples + 2 * (size_t)playback->sample_count, count);
    playback->sample_count += count;
}

static int find_clip(const Playback *playback, const char *name)
{
    for (int i = 0; name && i < playback->clip_count; i++)
        if (!strcmp(playback->clips[i].name, name))
            return playback->clips[i].index;
    return -1;
}

// A recording is untrusted: what no mixer should play is held in bounds or left out.
static void tell_sound(Playback *playback, const JsonValue *event)
{
    int64_t id;
    double at[3];
    const char *what = json_member_string(event, "do");
    if (!what || !json_member_int(event, "id", 0, INT64_MAX / 2, &id))
        return;
    if (!strcmp(what, "stop")) {
        sound_end(playback->stage, (uint64_t)id);
        return;
    }
    SoundVoice voice = { .id = (uint64_t)id, .loops = json_member_bool(event, "loop", false) };
    bool is_start = !strcmp(what, "start"), sounds = sound_find_voice(playback->stage, (uint64_t)id, &voice);
    if (is_start)
        voice.clip = find_clip(playback, json_member_string(event, "clip"));
    if (is_start == sounds || voice.clip < 0 || !json_member_number(event, "gain", &voice.gain)
        || !json_member_number(event, "pitch", &voice.pitch) || !json_member_numbers(event, "at", at, 3))
        return;
    voice.gain = double_clamp(voice.gain, 0.0, 100.0);
    voice.pitch = double_clamp(voice.pitch, 0.01, 100.0);
    for (int i = 0; i < 3; i++)
        at[i] = double_clamp(at[i], -1e9, 1e9);
    voice.position = (Vec3){ at[0], at[1], at[2] };
    voice.velocity = VEC3_ZERO;
    if (json_member_numbers(event, "v", at, 3))
        voice.velocity = (Vec3){ double_clamp(at[0], -1e4, 1e4), double_clamp(at[1], -1e4, 1e4),
                                 double_clamp(at[2], -1e4, 1e4) };
    sound_tell(playback->stage, &voice);
}

// ---- labels ----

// The last label of an id counts and an empty text takes it away. Numbers come from a file, so they are held within
// what can be drawn.
static void tell_label(Playback *playback, const JsonValue *event)
{
    int64_t id;
    double x = 0.0, y = 0.0, size = 0.1;
    const char *text = json_member_string(event, "text"), *font = json_member_string(event, "font"),
               *color = json_member_string(event, "color");
    if (!text || !json_member_int(event, "id", INT32_MIN, INT32_MAX, &id))
        return;
    int i = 0;
    while (i < playback->label_count && playback->labels[i].id != (int)id)
        i++;
    if (i < playback->label_count) {
        free_label(&playback->labels[i]);
        memmove(&playback->labels[i], &playback->labels[i + 1],
                (size_t)(playback->label_count - i - 1) * sizeof *playback->labels);
        playback->label_count--;
    }
    if (!*text || playback->label_count == LABELS_MAX)
        return;
    json_member_number(event, "x", &x);
    json_member_number(event, "y", &y);
    json_member_number(event, "size", &size);
    *memory_push(playback->labels, playback->label_count, playback->label_capacity) = (RecorderLabel){
        .id = (int)id,
        .text = memory_string(text),
        .font = memory_string(font ? font : ""),
        .x = double_clamp(x, -10.0, 10.0),
        .y = double_clamp(y, -10.0, 10.0),
        .size = double_clamp(size, 0.0, 1.0),
        .rgba = color && *color == '#' ? (uint32_t)strtoul(color + 1, NULL, 16) : UINT32_MAX,
    };
}

// ---- frames ----

typedef struct Tell {
    double time;
    int order;
    const JsonValue *event;
} Tell;

static int by_time(const void *a, const void *b)
{
    const Tell *one = a, *other = b;
    return one->time != other->time ? (one->time > other->time) - (one->time < other->time)
                                    : (one->order > other->order) - (one->order < other->order);
}

static int list_events(Playback *playback, const FrameView *view, Tell **tells)
{
    FrameSection section;
    const char *why;
    arena_reset(playback->arena);
    if (!frame_section(view, "EVTS", &section))
        return 0;
    const JsonValue *events = json_parse(playback->arena, section.data, section.size, &why);
    if (!events || events->kind != JSON_ARRAY)
        return 0;
    int capacity = int_min(events->count, TELLS_MAX), count = 0;
    *tells = arena_alloc(playback->arena, (size_t)capacity * sizeof **tells + 1);
    for (const JsonValue *event = events->first; event && count < capacity; event = event->next) {
        double time = view->time;
        json_member_number(event, "t", &time);
        (*tells)[count] = (Tell){ double_clamp(time, playback->last, view->time), count, event };
        count++;
    }
    qsort(*tells, (size_t)count, sizeof **tells, by_time);
    return count;
}

void playback_pass(Playback *playback, const FrameView *view, const SoundListener *listener)
{
    Tell *tells = NULL;
    int count = list_events(playback, view, &tells);
    playback->sample_count = 0;
    for (int i = 0; i < count; i++) {
        const char *is = json_member_string(tells[i].event, "is");
        if (is && !strcmp(is, "label"))
            tell_label(playback, tells[i].event);
        if (!is || strcmp(is, "sound"))
            continue;
        mix_until(playback, tells[i].time, listener);
        tell_sound(playback, tells[i].event);
    }
    mix_until(playback, view->time, listener);
    if (!playback->has_begun)
        sound_skip(playback->stage, double_clamp(view->time - playback->last, 0.0, 1e3));
    playback->last = view->time;
}

void playback_begin(Playback *playback, double time)
{
    playback->has_begun = true;
    playback->start = time;
}

const int16_t *playback_samples(const Playback *playback, int *frame_count)
{
    *frame_count = playback->sample_count;
    return playback->samples;
}

const RecorderLabel *playback_labels(const Playback *playback, int *count)
{
    *count = playback->label_count;
    return playback->labels;
}

// ---- devices ----

static void show_screens(const FrameSection *section, Devices *devices)
{
    const char *from = section->data;
    for (size_t left = section->size, size; left >= MOMENT_SCREEN_HEAD_BYTES; left -= size, from += size) {
        uint32_t node;
        uint16_t sides[2];
        size = moment_screen_bytes(from);
        if (size > left)
            return;
        memcpy(&node, from, sizeof node);
        memcpy(sides, from + sizeof node, sizeof sides);
        if (sides[0] > 0 && sides[1] > 0)
            devices_show_screen(devices, node, sides[0], sides[1], (const uint8_t *)from + MOMENT_SCREEN_HEAD_BYTES);
    }
}

static void show_bones(const FrameSection *section, Devices *devices)
{
    enum { HEAD = 8, BONE = 28 };
    const char *from = section->data;
    for (size_t left = section->size, size; left >= HEAD; left -= size, from += size) {
        uint32_t head[2];
        Pose bones[DEVICE_BONES_MAX];
        memcpy(head, from, sizeof head);
        size = HEAD + BONE * (size_t)head[1];
        if (head[1] > DEVICE_BONES_MAX || size > left)
            return;
        for (uint32_t i = 0; i < head[1]; i++) {
            float f[7];
            memcpy(f, from + HEAD + BONE * i, sizeof f);
            bones[i] = (Pose){ vec3((double)f[0], (double)f[1], (double)f[2]),
                               quat_normalized((Quat){ (double)f[6], (double)f[3], (double)f[4], (double)f[5] }) };
        }
        devices_show_bones(devices, head[0], bones, (int)head[1]);
    }
}

void playback_turn(const FrameView *view, Physics *physics)
{
    FrameSection section;
    if (!frame_section(view, "JNTS", &section) || section.size < 4)
        return;
    size_t at = 4;
    for (int i = 0; i < physics_joint_count(physics); i++)
        for (int k = 0; physics_joint_exists(physics, i) && k < physics_joint_axis_count(physics, i); k++, at += 4) {
            float position;
            if (at + sizeof position > section.size)
                return;
            memcpy(&position, (const char *)section.data + at, sizeof position);
            if (physics_joint_kind(physics, i) == PHYSICS_JOINT_TRACK)
                physics_joint_set_position(physics, i, k, (double)position);
        }
}

void playback_show(const FrameView *view, Devices *devices)
{
    FrameSection section;
    DeviceShown shown;
    if (frame_section(view, "SHWN", &section))
        for (size_t at = 0; at + sizeof shown <= section.size; at += sizeof shown) {
            memcpy(&shown, (const char *)section.data + at, sizeof shown);
            devices_show(devices, &shown);
        }
    if (frame_section(view, "SCRN", &section))
        show_screens(&section, devices);
    if (frame_section(view, "BONE", &section))
        show_bones(&section, devices);
}
