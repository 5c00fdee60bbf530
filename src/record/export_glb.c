// export_glb.c - a recording as a glTF animation: the scene that it holds, with the motion of every solid as tracks.
#include "record/export.h"

#include "base/json.h"
#include "base/json_read.h"
#include "base/memory.h"
#include "base/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GLB_MAGIC = 0x46546c67, CHUNK_JSON = 0x4e4f534a, CHUNK_BIN = 0x004e4942, FLOAT = 5126 };

// One node of the scene that moves.
typedef struct Track {
    int node, solid;
    float *places, *turns;  // 3 and 4 of each frame
    Quat last;
} Track;

typedef struct Animation {
    const JsonValue *json;
    Text bin;  // of the scene, the tracks are added
    int accessor_count, view_count;
    Track *tracks;
    int track_count;
    int *track_of;  // by solid, -1
    int solid_count;
    float *times;
    int frame_count;
} Animation;

// ---- the scene of the recording ----

static bool read_chunk(const Text *file, size_t *at, uint32_t kind, const char **data, size_t *size)
{
    assert(*at <= file->length);
    uint32_t head[2];
    if (file->length - *at < sizeof head)
        return false;
    memcpy(head, file->data + *at, sizeof head);
    if (head[1] != kind || head[0] > file->length - *at - sizeof head)
        return false;
    *data = file->data + *at + sizeof head;
    *size = head[0];
    *at += sizeof head + head[0];
    return true;
}

static bool read_scene(Recording *recording, Arena *arena, Animation *animation, DiagSink *diags)
{
    Text file = { 0 };
    int block = recording_find(recording, "SCNE", 0);
    bool ok = block >= 0 && recording_read(recording, block, &file) && file.length >= 16;
    uint32_t magic = 0;
    size_t at = 16, size = 0;  // behind the revision and the head of the GLB
    const char *data = NULL, *why = NULL;
    if (ok)
        memcpy(&magic, file.data + 4, 4);
    ok = ok && magic == GLB_MAGIC && read_chunk(&file, &at, CHUNK_JSON, &data, &size);
    const JsonValue *json = ok ? json_parse(arena, data, size, &why) : NULL;
    animation->json = json && json->kind == JSON_OBJECT ? json : NULL;
    if (animation->json && read_chunk(&file, &at, CHUNK_BIN, &data, &size))
        text_add(&animation->bin, data, size);
    if (!animation->json)
        diag_error(diags, (SourcePos){ 0 }, "the recording has no scene that can be read%s%s", why ? ": " : "",
                   why ? why : "");
    text_free(&file);
    const JsonValue *accessors = json_member(animation->json, "accessors"),
                    *views = json_member(animation->json, "bufferViews");
    animation->accessor_count = accessors ? accessors->count : 0;
    animation->view_count = views ? views->count : 0;
    return animation->json != NULL;
}

static void list_tracks(Animation *animation, const bool *moves)
{
    assert_debug(animation->frame_count >= 0 && moves);
    const JsonValue *nodes = json_member(animation->json, "nodes");
    int index = 0;
    animation->tracks = memory_alloc_array((size_t)(nodes ? nodes->count : 0) + 1, sizeof *animation->tracks);
    animation->track_of = memory_alloc_array((size_t)animation->solid_count + 1, sizeof *animation->track_of);
    for (int i = 0; i < animation->solid_count; i++)
        animation->track_of[i] = -1;
    for (const JsonValue *node = nodes ? nodes->first : NULL; node; node = node->next, index++) {
        int64_t solid;
        if (!json_member_int(json_member(node, "extras"), "solid", 0, animation->solid_count - 1, &solid)
            || !moves[solid] || animation->track_of[solid] >= 0)
            continue;
        Track *track = &animation->tracks[animation->track_count];
        *track = (Track){ .node = index, .solid = (int)solid, .last = QUAT_IDENTITY };
        track->places = memory_alloc_array((size_t)animation->frame_count * 3, sizeof(float));
        track->turns = memory_alloc_array((size_t)animation->frame_count * 4, sizeof(float));
        animation->track_of[solid] = animation->track_count++;
    }
}

// ---- motion ----

// Counts the frames and finds who moves: a solid that is told of in a frame that tells of changes alone.
static bool *find_movers(Recording *recording, const ExportOptions *options, Animation *animation)
{
    FrameView view;
    bool *moves = NULL;
    int capacity = 0;
    recording_rewind(recording);
    while (recording_next(recording, &view)) {
        int count;
        recording_poses(recording, &count);
        memory_grow(&moves, &capacity, count + 1, sizeof *moves);
        while (animation->solid_count < count)
            moves[animation->solid_count++] = false;
        if (!export_wants(options, &view))
            continue;
        animation->frame_count++;
        for (int i = 0; !view.is_key && i < view.pose_count; i++) {
            Pose pose;
            int solid = frame_pose(&view, i, &pose);
            if (solid < animation->solid_count)
                moves[solid] = true;
        }
    }
    return moves ? moves : memory_alloc(1);
}

// Quaternions of one turn have two signs: the nearer one is taken, so that what lies between is right too.
static void add_pose(Track *track, int frame, const Pose *pose)
{
    assert_debug(frame >= 0);
    Quat q = pose->q, last = track->last;
    if (q.w * last.w + q.x * last.x + q.y * last.y + q.z * last.z < 0.0)
        q = (Quat){ -q.w, -q.x, -q.y, -q.z };
    track->last = q;
    const double numbers[7] = { pose->t.x, pose->t.y, pose->t.z, q.x, q.y, q.z, q.w };
    for (int k = 0; k < 3; k++)
        track->places[3 * (size_t)frame + (size_t)k] = (float)numbers[k];
    for (int k = 0; k < 4; k++)
        track->turns[4 * (size_t)frame + (size_t)k] = (float)numbers[3 + k];
}

// A solid that is gone stays where it was last.
static void fill_tracks(Recording *recording, const ExportOptions *options, Animation *animation)
{
    assert(animation->frame_count >= 0 && !animation->times);
    FrameView view;
    int frame = 0;
    animation->times = memory_alloc_array((size_t)animation->frame_count + 1, sizeof *animation->times);
    Pose *known = memory_alloc_array((size_t)animation->solid_count + 1, sizeof *known);
    for (int i = 0; i < animation->solid_count; i++)
        known[i] = POSE_IDENTITY;
    double start = 0.0;
    recording_rewind(recording);
    while (recording_next(recording, &view) && frame < animation->frame_count) {
        int count;
        const Pose *poses = recording_poses(recording, &count);
        for (int i = 0; i < count && i < animation->solid_count; i++)
            if (isfinite(poses[i].t.x))
                known[i] = poses[i];
        if (!export_wants(options, &view))
            continue;
        start = frame == 0 ? view.time : start;
        animation->times[frame] = (float)(view.time - start);
        for (int i = 0; i < animation->track_count; i++)
            add_pose(&animation->tracks[i], frame, &known[animation->tracks[i].solid]);
        frame++;
    }
    animation->frame_count = frame;
    free(known);
}

// ---- JSON ----

static void copy_value(JsonWriter *json, const char *key, const JsonValue *value);

static void copy_items(JsonWriter *json, const JsonValue *value)
{
    for (const JsonValue *item = value ? value->first : NULL; item; item = item->next)
        copy_value(json, item->key, item);
}

static void copy_value(JsonWriter *json, const char *key, const JsonValue *value)
{
    switch (value->kind) {
    case JSON_NULL: json_string(json, key, NULL); break;
    case JSON_BOOL: json_bool(json, key, value->truth); break;
    case JSON_NUMBER:
        if (value->number == rint(value->number) && fabs(value->number) < 1e15)
            json_int(json, key, (int64_t)value->number);
        else
            json_double(json, key, value->number);
        break;
    case JSON_STRING: json_string(json, key, value->text); break;
    case JSON_ARRAY:
        json_begin_array(json, key);
        copy_items(json, value);
        json_end_array(json);
        break;
    case JSON_OBJECT:
        json_begin_object(json, key);
        copy_items(json, value);
        json_end_object(json);
        break;
    }
}

// Accessor and view number 0 of the motion are the times; 1 + 2 t and 2 + 2 t the places and turns of track t.
static void write_accessor(JsonWriter *json, const Animation *animation, int index, int width)
{
    assert_debug(index >= 0 && width > 0);
    static const char *const types[] = { "", "SCALAR", "", "VEC3", "VEC4" };
    json_begin_object(json, NULL);
    json_int(json, "bufferView", animation->view_count + index);
    json_int(json, "componentType", FLOAT);
    json_int(json, "count", animation->frame_count);
    json_string(json, "type", types[width]);
    if (width == 1) {
        json_begin_array(json, "min");
        json_double(json, NULL, (double)animation->times[0]);
        json_end_array(json);
        json_begin_array(json, "max");
        json_double(json, NULL, (double)animation->times[animation->frame_count - 1]);
        json_end_array(json);
    }
    json_end_object(json);
}

static int width_of(int index) { return index == 0 ? 1 : index % 2 ? 3 : 4; }
static int item_count(const Animation *animation) { return 1 + 2 * animation->track_count; }

static void write_views(JsonWriter *json, const Animation *animation, int64_t offset)
{
    assert(offset >= 0 && offset % 4 == 0);
    for (int i = 0; i < item_count(animation); i++) {
        int64_t size = (int64_t)animation->frame_count * width_of(i) * 4;
        json_begin_object(json, NULL);
        json_int(json, "buffer", 0);
        json_int(json, "byteOffset", offset);
        json_int(json, "byteLength", size);
        json_end_object(json);
        offset += size;
    }
}

static void write_animation(JsonWriter *json, const Animation *animation)
{
    assert(animation->track_count > 0);
    json_begin_array(json, "animations");
    json_begin_object(json, NULL);
    json_string(json, "name", "run");
    json_begin_array(json, "samplers");
    for (int i = 1; i < item_count(animation); i++) {
        json_begin_object(json, NULL);
        json_int(json, "input", animation->accessor_count);
        json_int(json, "output", animation->accessor_count + i);
        json_end_object(json);
    }
    json_end_array(json);
    json_begin_array(json, "channels");
    for (int i = 1; i < item_count(animation); i++) {
        json_begin_object(json, NULL);
        json_int(json, "sampler", i - 1);
        json_begin_object(json, "target");
        json_int(json, "node", animation->tracks[(i - 1) / 2].node);
        json_string(json, "path", i % 2 ? "translation" : "rotation");
        json_end_object(json);
        json_end_object(json);
    }
    json_end_array(json);
    json_end_object(json);
    json_end_array(json);
}

// The JSON of the scene with what the motion adds. `size`: bytes of the buffer with it; `offset`: where it begins.
static void write_json(const Animation *animation, int64_t offset, int64_t size, Text *out)
{
    assert(animation->json && size >= 0);
    JsonWriter json = { .out = out, .compact = true };
    bool has_motion = animation->track_count > 0;
    json_begin_object(&json, NULL);
    for (const JsonValue *member = animation->json->first; member; member = member->next) {
        if (has_motion && !strcmp(member->key, "accessors")) {
            json_begin_array(&json, member->key);
            copy_items(&json, member);
            for (int i = 0; i < item_count(animation); i++)
                write_accessor(&json, animation, i, width_of(i));
            json_end_array(&json);
        } else if (has_motion && !strcmp(member->key, "bufferViews")) {
            json_begin_array(&json, member->key);
            copy_items(&json, member);
            write_views(&json, animation, offset);
            json_end_array(&json);
        } else if (!strcmp(member->key, "buffers")) {
            json_begin_array(&json, member->key);
            json_begin_object(&json, NULL);
            json_int(&json, "byteLength", size);
            json_end_object(&json);
            json_end_array(&json);
        } else {
            copy_value(&json, member->key, member);
        }
    }
    if (has_motion)
        write_animation(&json, animation);
    json_end_object(&json);
}

// ---- the file ----

static void add_tracks(Animation *animation)
{
    assert(animation->frame_count >= 0);
    size_t frames = (size_t)animation->frame_count;
    while (animation->bin.length % 4 != 0)
        text_add_char(&animation->bin, '\0');
    if (animation->track_count == 0)
        return;
    text_add(&animation->bin, (const char *)animation->times, frames * 4);
    for (int i = 0; i < animation->track_count; i++) {
        text_add(&animation->bin, (const char *)animation->tracks[i].places, frames * 12);
        text_add(&animation->bin, (const char *)animation->tracks[i].turns, frames * 16);
    }
}

static bool write_file(Animation *animation, const char *path, DiagSink *diags)
{
    while (animation->bin.length % 4 != 0)
        text_add_char(&animation->bin, '\0');
    int64_t offset = (int64_t)animation->bin.length;
    add_tracks(animation);
    Text json = { 0 };
    write_json(animation, offset, (int64_t)animation->bin.length, &json);
    while (json.length % 4 != 0)
        text_add_char(&json, ' ');
    uint64_t total = 12 + 8 + json.length + (animation->bin.length > 0 ? 8 + animation->bin.length : 0);
    FileStream *stream = total <= UINT32_MAX ? stream_open(path, diags) : NULL;
    if (total > UINT32_MAX)
        diag_error(diags, (SourcePos){ 0 },
                   "'%s' is not written: glTF files end at 4 GB; take a part with --from and --to", path);
    if (stream) {
        uint32_t head[5] = { GLB_MAGIC, 2, (uint32_t)total, (uint32_t)json.length, CHUNK_JSON };
        uint32_t bin[2] = { (uint32_t)animation->bin.length, CHUNK_BIN };
        stream_write(stream, head, sizeof head);
        stream_write(stream, json.data, json.length);
        if (animation->bin.length > 0) {
            stream_write(stream, bin, sizeof bin);
            stream_write(stream, animation->bin.data, animation->bin.length);
        }
    }
    text_free(&json);
    return stream && stream_close(stream);
}

bool export_glb(Recording *recording, const char *path, const ExportOptions *options, DiagSink *diags)
{
    Animation animation = { 0 };
    Arena *arena = arena_create();
    bool ok = read_scene(recording, arena, &animation, diags);
    if (ok) {
        bool *moves = find_movers(recording, options, &animation);
        // Without a buffer there is nothing to be seen, and nowhere to put tracks.
        if (animation.frame_count >= 2 && animation.view_count > 0) {
            list_tracks(&animation, moves);
            fill_tracks(recording, options, &animation);
        }
        free(moves);
        if (recording_find(recording, "SCNE", recording_find(recording, "SCNE", 0) + 1) >= 0)
            diag_warning(diags, (SourcePos){ 0 },
                         "nodes came, went or changed during the run: '%s' shows those that were there at its start",
                         path);
        ok = write_file(&animation, path, diags);
    }
    for (int i = 0; i < animation.track_count; i++) {
        free(animation.tracks[i].places);
        free(animation.tracks[i].turns);
    }
    free(animation.tracks);
    free(animation.track_of);
    free(animation.times);
    text_free(&animation.bin);
    arena_destroy(arena);
    return ok;
}
