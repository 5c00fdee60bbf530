// export_mcap.c - a recording as an MCAP log (mcap.dev), for Foxglove and its kin: chunks with their indices, check
// sums, JSON messages. Topics: /tf (foxglove.FrameTransforms: poses of solids that changed, all of them in key frames),
// /joints, /contacts, /log (foxglove.Log: printed lines) and /events (everything else that a frame tells, as it stands
// there).
#include "record/export.h"

#include "base/json.h"
#include "base/json_read.h"
#include "base/memory.h"
#include "base/stream.h"
#include "record/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    OP_HEADER = 1,
    OP_FOOTER,
    OP_SCHEMA,
    OP_CHANNEL,
    OP_MESSAGE,
    OP_CHUNK,
    OP_MESSAGE_INDEX,
    OP_CHUNK_INDEX,
    OP_STATISTICS = 0x0b,
    OP_SUMMARY_OFFSET = 0x0e,
    OP_DATA_END,
    CHUNK_BYTES = 1 << 20,
};
static const char mcap_magic[8] = { (char)0x89, 'M', 'C', 'A', 'P', '0', '\r', '\n' };

#define TIME                                                                                                           \
    "\"timestamp\":{\"type\":\"object\",\"properties\":{\"sec\":{\"type\":\"integer\"},\"nsec\":{\"type\":\"integer\"}}}"
#define NUMBERS(a) "\"" a "\":{\"type\":\"number\"}"
#define VECTOR "{\"type\":\"object\",\"properties\":{" NUMBERS("x") "," NUMBERS("y") "," NUMBERS("z") "}}"
#define TURN                                                                                                           \
    "{\"type\":\"object\",\"properties\":{" NUMBERS("x") "," NUMBERS("y") "," NUMBERS("z") "," NUMBERS("w") "}}"
#define OBJECT(properties) "{\"type\":\"object\",\"properties\":{" properties "}}"
#define LIST(name, item) "\"" name "\":{\"type\":\"array\",\"items\":" item "}"

typedef enum Topic { TOPIC_POSES, TOPIC_JOINTS, TOPIC_CONTACTS, TOPIC_LOG, TOPIC_EVENTS, TOPIC_COUNT } Topic;
static const struct {
    const char *topic, *schema, *text;
} topics[TOPIC_COUNT] = {
    [TOPIC_POSES] = { "/tf", "foxglove.FrameTransforms",
                      OBJECT(LIST(
                          "transforms",
                          OBJECT(
                              TIME
                              ",\"parent_frame_id\":{\"type\":\"string\"},\"child_frame_id\":{\"type\":\"string\"},\"translation\":" VECTOR
                              ",\"rotation\":" TURN))) },
    [TOPIC_JOINTS] = { "/joints", "talus.Joints",
                       OBJECT(TIME "," LIST("names", "{\"type\":\"string\"}") "," LIST("positions",
                                                                                       "{\"type\":\"number\"}")) },
    [TOPIC_CONTACTS] = { "/contacts", "talus.Contacts",
                         OBJECT(TIME "," LIST(
                             "contacts",
                             OBJECT("\"a\":{\"type\":\"string\"},\"b\":{\"type\":\"string\"},\"point\":" VECTOR
                                    ",\"normal\":" VECTOR ",\"force\":" VECTOR))) },
    [TOPIC_LOG] = { "/log", "foxglove.Log",
                    OBJECT(
                        TIME
                        ",\"level\":{\"type\":\"integer\"},\"message\":{\"type\":\"string\"},\"name\":{\"type\":\"string\"}") },
    [TOPIC_EVENTS] = { "/events", "talus.Events", OBJECT(TIME "," LIST("events", "{\"type\":\"object\"}")) },
};

typedef struct IndexEntry {
    uint64_t time, offset;
} IndexEntry;
typedef struct Channel {
    IndexEntry *entries;  // of the chunk at hand
    int entry_count, entry_capacity;
    uint64_t message_count;
} Channel;

typedef struct Mcap {
    FileStream *stream;
    uint32_t data_crc;
    Text record, chunk, message;
    Text chunk_indices;  // records of the summary
    Channel channels[TOPIC_COUNT];
    uint64_t chunk_start, chunk_end, start, end;  // ns
    uint32_t chunk_count;
    RecordingNames names;
} Mcap;

// ---- records ----

static void add_u16(Text *out, uint16_t value) { text_add(out, (const char *)&value, 2); }
static void add_u32(Text *out, uint32_t value) { text_add(out, (const char *)&value, 4); }
static void add_u64(Text *out, uint64_t value) { text_add(out, (const char *)&value, 8); }

static void add_bytes(Text *out, const char *data, size_t size)
{
    add_u32(out, (uint32_t)size);
    text_add(out, data, size);
}

static void add_text(Text *out, const char *text) { add_bytes(out, text, strlen(text)); }

// The content stands in `content`; goes into `out`.
static void add_record(Text *out, int op, const Text *content)
{
    text_add_char(out, (char)op);
    add_u64(out, content->length);
    text_add(out, content->data ? content->data : "", content->length);
}

static void put(Mcap *mcap, const void *data, size_t size)
{
    mcap->data_crc = (uint32_t)crc32(mcap->data_crc, data, (uInt)size);
    stream_write(mcap->stream, data, size);
}

static void put_record(Mcap *mcap, int op, const Text *content)
{
    Text out = { 0 };
    add_record(&out, op, content);
    put(mcap, out.data, out.length);
    text_free(&out);
}

static void add_schema(Text *out, int topic)
{
    assert_debug(topic >= 0 && topic < TOPIC_COUNT);
    Text content = { 0 };
    add_u16(&content, (uint16_t)(topic + 1));
    add_text(&content, topics[topic].schema);
    add_text(&content, "jsonschema");
    add_text(&content, topics[topic].text);
    add_record(out, OP_SCHEMA, &content);
    text_free(&content);
}

static void add_channel(Text *out, int topic)
{
    assert_debug(topic >= 0 && topic < TOPIC_COUNT);
    Text content = { 0 };
    add_u16(&content, (uint16_t)topic);
    add_u16(&content, (uint16_t)(topic + 1));
    add_text(&content, topics[topic].topic);
    add_text(&content, "json");
    add_u32(&content, 0);  // no metadata
    add_record(out, OP_CHANNEL, &content);
    text_free(&content);
}

// ---- chunks ----

static uint64_t put_index(Mcap *mcap, Channel *channel, int topic, Text *offsets)
{
    assert_debug(topic >= 0 && topic < TOPIC_COUNT);
    if (channel->entry_count == 0)
        return 0;
    uint64_t start = (uint64_t)stream_size(mcap->stream);
    add_u16(offsets, (uint16_t)topic);
    add_u64(offsets, start);
    text_clear(&mcap->record);
    add_u16(&mcap->record, (uint16_t)topic);
    add_u32(&mcap->record, (uint32_t)channel->entry_count * 16);
    text_add(&mcap->record, (const char *)channel->entries, (size_t)channel->entry_count * sizeof *channel->entries);
    put_record(mcap, OP_MESSAGE_INDEX, &mcap->record);
    channel->entry_count = 0;
    return (uint64_t)stream_size(mcap->stream) - start;
}

static void end_chunk(Mcap *mcap)
{
    assert_debug(mcap->stream);
    if (mcap->chunk.length == 0)
        return;
    Text content = { 0 }, offsets = { 0 };
    uint64_t start = (uint64_t)stream_size(mcap->stream), index_bytes = 0;
    add_u64(&content, mcap->chunk_start);
    add_u64(&content, mcap->chunk_end);
    add_u64(&content, mcap->chunk.length);
    add_u32(&content, (uint32_t)crc32(0, (const Bytef *)mcap->chunk.data, (uInt)mcap->chunk.length));
    add_text(&content, "");  // not compressed
    add_u64(&content, mcap->chunk.length);
    text_add(&content, mcap->chunk.data, mcap->chunk.length);
    put_record(mcap, OP_CHUNK, &content);
    uint64_t length = (uint64_t)stream_size(mcap->stream) - start;
    for (int i = 0; i < TOPIC_COUNT; i++)
        index_bytes += put_index(mcap, &mcap->channels[i], i, &offsets);
    text_clear(&content);
    add_u64(&content, mcap->chunk_start);
    add_u64(&content, mcap->chunk_end);
    add_u64(&content, start);
    add_u64(&content, length);
    add_bytes(&content, offsets.data ? offsets.data : "", offsets.length);
    add_u64(&content, index_bytes);
    add_text(&content, "");
    add_u64(&content, mcap->chunk.length);
    add_u64(&content, mcap->chunk.length);
    add_record(&mcap->chunk_indices, OP_CHUNK_INDEX, &content);
    mcap->chunk_count++;
    text_clear(&mcap->chunk);
    text_free(&content);
    text_free(&offsets);
}

// Times are counted from 0; the moment of the recording's own clock.
static uint64_t nanoseconds(double time) { return time > 0.0 ? (uint64_t)llround(time * 1e9) : 0; }

static void put_message(Mcap *mcap, Topic topic, uint64_t time, const Text *json)
{
    assert_debug((int)topic >= 0 && (int)topic < TOPIC_COUNT && json->length > 0);
    Channel *channel = &mcap->channels[topic];
    bool is_first = mcap->chunk_count == 0 && mcap->chunk.length == 0;
    if (mcap->chunk.length == 0)
        mcap->chunk_start = mcap->chunk_end = time;
    mcap->chunk_start = time < mcap->chunk_start ? time : mcap->chunk_start;
    mcap->chunk_end = time > mcap->chunk_end ? time : mcap->chunk_end;
    mcap->start = is_first || time < mcap->start ? time : mcap->start;
    mcap->end = is_first || time > mcap->end ? time : mcap->end;
    memory_grow(&channel->entries, &channel->entry_capacity, channel->entry_count + 1, sizeof *channel->entries);
    if (channel->message_count == 0) {
        add_schema(&mcap->chunk, topic);
        add_channel(&mcap->chunk, topic);
    }
    channel->entries[channel->entry_count++] = (IndexEntry){ time, mcap->chunk.length };
    text_clear(&mcap->record);
    add_u16(&mcap->record, (uint16_t)topic);
    add_u32(&mcap->record, (uint32_t)channel->message_count);
    add_u64(&mcap->record, time);
    add_u64(&mcap->record, time);
    text_add(&mcap->record, json->data, json->length);
    add_record(&mcap->chunk, OP_MESSAGE, &mcap->record);
    channel->message_count++;
    if (mcap->chunk.length >= CHUNK_BYTES)
        end_chunk(mcap);
}

// ---- messages ----

static void write_time(JsonWriter *json, uint64_t time)
{
    json_begin_object(json, "timestamp");
    json_int(json, "sec", (int64_t)(time / 1000000000u));
    json_int(json, "nsec", (int64_t)(time % 1000000000u));
    json_end_object(json);
}

static void write_numbers(JsonWriter *json, const char *key, const double *numbers, int count)
{
    static const char *const names[] = { "x", "y", "z", "w" };
    json_begin_object(json, key);
    for (int i = 0; i < count; i++)
        json_double(json, names[i], numbers[i]);
    json_end_object(json);
}

static JsonWriter begin_message(Mcap *mcap)
{
    text_clear(&mcap->message);
    JsonWriter json = { .out = &mcap->message, .compact = true };
    json_begin_object(&json, NULL);
    return json;
}

static void write_transform(const Mcap *mcap, JsonWriter *json, int solid, const Pose *pose, uint64_t time)
{
    json_begin_object(json, NULL);
    write_time(json, time);
    json_string(json, "parent_frame_id", "world");
    json_string(json, "child_frame_id", names_solid(&mcap->names, solid));
    write_numbers(json, "translation", (const double[3]){ pose->t.x, pose->t.y, pose->t.z }, 3);
    write_numbers(json, "rotation", (const double[4]){ pose->q.x, pose->q.y, pose->q.z, pose->q.w }, 4);
    json_end_object(json);
}

// The first message has all solids, whatever frame it is of.
static void put_poses(Mcap *mcap, const Recording *recording, const FrameView *view, uint64_t time)
{
    assert(view->pose_count >= 0);
    JsonWriter json = begin_message(mcap);
    bool has_all = mcap->channels[TOPIC_POSES].message_count == 0;
    int count = view->pose_count;
    const Pose *poses = has_all ? recording_poses(recording, &count) : NULL;
    json_begin_array(&json, "transforms");
    for (int i = 0; i < count; i++) {
        Pose pose;
        int solid = has_all ? i : frame_pose(view, i, &pose);
        if (has_all)
            pose = poses[i];
        if (isfinite(pose.t.x))
            write_transform(mcap, &json, solid, &pose, time);
    }
    json_end_array(&json);
    json_end_object(&json);
    put_message(mcap, TOPIC_POSES, time, &mcap->message);
}

static void put_joints(Mcap *mcap, const FrameView *view, uint64_t time)
{
    FrameSection section;
    uint16_t head[2];
    if (!frame_section(view, "JNTS", &section) || section.size < sizeof head)
        return;
    memcpy(head, section.data, sizeof head);
    int count = int_min(head[1], (int)((section.size - 4) / 4));
    count = int_min(count, mcap->names.joint_count - head[0]);
    if (count <= 0)
        return;
    JsonWriter json = begin_message(mcap);
    write_time(&json, time);
    json_begin_array(&json, "names");
    for (int i = 0; i < count; i++)
        json_string(&json, NULL, mcap->names.joints[head[0] + i]);
    json_end_array(&json);
    json_begin_array(&json, "positions");
    for (int i = 0; i < count; i++) {
        float position;
        memcpy(&position, (const char *)section.data + 4 + 4 * (size_t)i, sizeof position);
        json_double(&json, NULL, (double)position);
    }
    json_end_array(&json);
    json_end_object(&json);
    put_message(mcap, TOPIC_JOINTS, time, &mcap->message);
}

static void put_contacts(Mcap *mcap, const FrameView *view, uint64_t time)
{
    enum { CONTACT_BYTES = 40 };
    static const char *const keys[] = { "point", "normal", "force" };
    FrameSection section;
    if (!frame_section(view, "CONT", &section))
        return;
    JsonWriter json = begin_message(mcap);
    write_time(&json, time);
    json_begin_array(&json, "contacts");
    for (size_t at = 0; at + CONTACT_BYTES <= section.size; at += CONTACT_BYTES) {
        uint16_t solids[2];
        float numbers[9];
        memcpy(solids, (const char *)section.data + at, sizeof solids);
        memcpy(numbers, (const char *)section.data + at + 4, sizeof numbers);
        json_begin_object(&json, NULL);
        json_string(&json, "a", solids[0] == UINT16_MAX ? "" : names_solid(&mcap->names, solids[0]));
        json_string(&json, "b", solids[1] == UINT16_MAX ? "" : names_solid(&mcap->names, solids[1]));
        for (int k = 0; k < 3; k++)
            write_numbers(
                &json, keys[k],
                (const double[3]){ (double)numbers[3 * k], (double)numbers[3 * k + 1], (double)numbers[3 * k + 2] }, 3);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_end_object(&json);
    put_message(mcap, TOPIC_CONTACTS, time, &mcap->message);
}

static void put_log(Mcap *mcap, const JsonValue *event, uint64_t time)
{
    enum { LEVEL_INFO = 2, LEVEL_ERROR = 4 };
    const char *text = json_member_string(event, "text"), *from = json_member_string(event, "from");
    JsonWriter json = begin_message(mcap);
    write_time(&json, time);
    json_int(&json, "level", json_member_bool(event, "error", false) ? LEVEL_ERROR : LEVEL_INFO);
    json_string(&json, "message", text ? text : "");
    json_string(&json, "name", from ? from : "");
    json_end_object(&json);
    put_message(mcap, TOPIC_LOG, time, &mcap->message);
}

static void put_events(Mcap *mcap, const FrameView *view, uint64_t time, Arena *arena)
{
    FrameSection section;
    if (!frame_section(view, "EVTS", &section))
        return;
    const char *why;
    arena_reset(arena);
    const JsonValue *events = json_parse(arena, section.data, section.size, &why);
    if (!events || events->kind != JSON_ARRAY)
        return;
    for (const JsonValue *event = events->first; event; event = event->next) {
        const char *is = json_member_string(event, "is");
        if (is && !strcmp(is, "print"))
            put_log(mcap, event, time);
    }
    JsonWriter json = begin_message(mcap);
    write_time(&json, time);
    json_begin_array(&json, "events");
    json_end_array(&json);
    // The array of the frame takes the place of the empty one.
    mcap->message.length -= 2;
    text_add(&mcap->message, section.data, section.size);
    text_add_char(&mcap->message, '}');
    put_message(mcap, TOPIC_EVENTS, time, &mcap->message);
}

// ---- the file ----

static void add_group(Text *offsets, int op, uint64_t start, uint64_t end)
{
    Text content = { 0 };
    if (end == start)
        return;
    text_add_char(&content, (char)op);
    add_u64(&content, start);
    add_u64(&content, end - start);
    add_record(offsets, OP_SUMMARY_OFFSET, &content);
    text_free(&content);
}

static void add_statistics(const Mcap *mcap, Text *out)
{
    Text content = { 0 }, counts = { 0 };
    uint64_t messages = 0;
    uint32_t used = 0;
    for (int i = 0; i < TOPIC_COUNT; i++)
        if (mcap->channels[i].message_count > 0) {
            messages += mcap->channels[i].message_count;
            used++;
            add_u16(&counts, (uint16_t)i);
            add_u64(&counts, mcap->channels[i].message_count);
        }
    add_u64(&content, messages);
    add_u16(&content, (uint16_t)used);
    add_u32(&content, used);
    add_u32(&content, 0);  // attachments
    add_u32(&content, 0);  // metadata
    add_u32(&content, mcap->chunk_count);
    add_u64(&content, mcap->start);
    add_u64(&content, mcap->end);
    add_bytes(&content, counts.data ? counts.data : "", counts.length);
    add_record(out, OP_STATISTICS, &content);
    text_free(&content);
    text_free(&counts);
}

// Schemas and channels again, statistics, where the chunks are, where each of these groups is, and the footer with a
// check sum of all.
static void put_summary(Mcap *mcap)
{
    assert_debug(mcap->chunk.length == 0);
    Text summary = { 0 }, offsets = { 0 };
    uint64_t base = (uint64_t)stream_size(mcap->stream), at[5] = { base };
    for (int i = 0; i < TOPIC_COUNT; i++)
        if (mcap->channels[i].message_count > 0)
            add_schema(&summary, i);
    at[1] = base + summary.length;
    for (int i = 0; i < TOPIC_COUNT; i++)
        if (mcap->channels[i].message_count > 0)
            add_channel(&summary, i);
    at[2] = base + summary.length;
    add_statistics(mcap, &summary);
    at[3] = base + summary.length;
    text_add(&summary, mcap->chunk_indices.data ? mcap->chunk_indices.data : "", mcap->chunk_indices.length);
    at[4] = base + summary.length;
    static const int groups[4] = { OP_SCHEMA, OP_CHANNEL, OP_STATISTICS, OP_CHUNK_INDEX };
    for (int i = 0; i < 4; i++)
        add_group(&offsets, groups[i], at[i], at[i + 1]);
    text_add(&summary, offsets.data, offsets.length);
    text_add_char(&summary, OP_FOOTER);
    add_u64(&summary, 20);
    add_u64(&summary, base);
    add_u64(&summary, at[4]);
    uint32_t crc = (uint32_t)crc32(0, (const Bytef *)summary.data, (uInt)summary.length);
    add_u32(&summary, crc);
    stream_write(mcap->stream, summary.data, summary.length);
    text_free(&summary);
    text_free(&offsets);
}

static void begin_file(Mcap *mcap)
{
    Text content = { 0 };
    put(mcap, mcap_magic, sizeof mcap_magic);
    add_text(&content, "");  // no profile
    add_text(&content, "talus");
    put_record(mcap, OP_HEADER, &content);
    text_free(&content);
}

static void end_file(Mcap *mcap)
{
    Text content = { 0 };
    end_chunk(mcap);
    add_u32(&content, mcap->data_crc);
    put_record(mcap, OP_DATA_END, &content);
    put_summary(mcap);
    stream_write(mcap->stream, mcap_magic, sizeof mcap_magic);
    text_free(&content);
}

// Messages gather in chunks that are written when they are large; indices of all chunks follow at the end, as the
// format wants it.
bool export_mcap(Recording *recording, const char *path, const ExportOptions *options, DiagSink *diags)
{
    Mcap mcap = { 0 };
    bool ok = names_read(recording, &mcap.names, diags) && (mcap.stream = stream_open(path, diags));
    if (ok) {
        FrameView view;
        Arena *arena = arena_create();
        begin_file(&mcap);
        recording_rewind(recording);
        while (recording_next(recording, &view)) {
            uint64_t time = nanoseconds(view.time);
            if (!export_wants(options, &view))
                continue;
            put_poses(&mcap, recording, &view, time);
            put_joints(&mcap, &view, time);
            put_contacts(&mcap, &view, time);
            put_events(&mcap, &view, time, arena);
        }
        end_file(&mcap);
        arena_destroy(arena);
        ok = stream_close(mcap.stream);
    }
    for (int i = 0; i < TOPIC_COUNT; i++)
        free(mcap.channels[i].entries);
    text_free(&mcap.record);
    text_free(&mcap.chunk);
    text_free(&mcap.message);
    text_free(&mcap.chunk_indices);
    names_free(&mcap.names);
    return ok;
}
