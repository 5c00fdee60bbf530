// frame.c - frames to bytes and back. Bytes from outside are checked once, in frame_read.
#include "record/frame.h"

#include "base/memory.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers lie in memory as frames have them");

enum {
    COUNT_MAX = 0x7fffff,  // of the 24 bits of a coordinate
    TURN_BITS = 15,
    TURN_MAX = (1 << TURN_BITS) - 1,
    UNIT_EXPONENT_MIN = -16,  // 15 micrometres: finer than any drawing shows
    UNIT_EXPONENT_MAX = 40,
};
// A range twice as large as the world at hand needs, so that what flies off asks for few key frames.
#define RANGE_MARGIN 2.0

// ---- numbers ----

static uint8_t *put(uint8_t *at, const void *data, size_t size)
{
    memcpy(at, data, size);
    return at + size;
}

static const uint8_t *get(const uint8_t *at, void *data, size_t size)
{
    memcpy(data, at, size);
    return at + size;
}

// The three smaller components, each within +-sqrt(1/2); the largest follows from them, its sign made positive.
static uint64_t pack_turn(Quat q)
{
    assert_debug(isfinite(q.w));
    const double parts[4] = { q.x, q.y, q.z, q.w };
    int largest = 0;
    for (int i = 1; i < 4; i++)
        if (fabs(parts[i]) > fabs(parts[largest]))
            largest = i;
    double scale = (parts[largest] < 0.0 ? -1.0 : 1.0) * M_SQRT1_2;
    uint64_t packed = (uint64_t)largest;
    for (int i = 0, shift = 2; i < 4; i++) {
        if (i == largest)
            continue;
        double value = fmin(fmax((parts[i] * scale + 0.5) * TURN_MAX, 0.0), TURN_MAX);
        packed |= (uint64_t)(value + 0.5) << shift;
        shift += TURN_BITS;
    }
    return packed;
}

static Quat unpack_turn(uint64_t packed)
{
    double parts[4], rest = 1.0;
    int largest = packed & 3;
    for (int i = 0, shift = 2; i < 4; i++) {
        if (i == largest)
            continue;
        parts[i] = ((double)(packed >> shift & TURN_MAX) / TURN_MAX - 0.5) * M_SQRT2;
        rest -= parts[i] * parts[i];
        shift += TURN_BITS;
    }
    parts[largest] = sqrt(fmax(rest, 0.0));
    return quat_normalized((Quat){ parts[3], parts[0], parts[1], parts[2] });
}

// ---- writing ----

static bool is_finite(const Pose *pose)
{
    return vec3_is_finite(pose->t) && isfinite(pose->q.w) && isfinite(pose->q.x) && isfinite(pose->q.y)
           && isfinite(pose->q.z);
}

void frame_encoder_deinit(FrameEncoder *encoder)
{
    free(encoder->places);
    *encoder = (FrameEncoder){ 0 };
}

// Origin and unit that suit the world as it stands.
static void choose_range(FrameEncoder *encoder, const FrameInput *input)
{
    assert_debug(input->poses || input->pose_count == 0);
    double low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY }, extent = 0.0;
    for (int i = 0; i < input->pose_count; i++) {
        const Pose *pose = &input->poses[i];
        const double at[3] = { pose->t.x, pose->t.y, pose->t.z };
        for (int k = 0; k < 3 && is_finite(pose); k++) {
            low[k] = fmin(low[k], at[k]);
            high[k] = fmax(high[k], at[k]);
        }
    }
    for (int k = 0; k < 3; k++) {
        bool is_empty = !(low[k] <= high[k]);
        double middle = is_empty ? 0.0 : fmin(fmax(round(0.5 * low[k] + 0.5 * high[k]), -FLT_MAX), FLT_MAX);
        encoder->origin[k] = (float)middle;
        if (!is_empty)
            extent = fmax(extent, fmax(high[k] - (double)encoder->origin[k], (double)encoder->origin[k] - low[k]));
    }
    int exponent = UNIT_EXPONENT_MIN;
    while (exponent < UNIT_EXPONENT_MAX && ldexp(COUNT_MAX, exponent) < RANGE_MARGIN * extent)
        exponent++;
    encoder->unit = (float)ldexp(1.0, exponent);
}

// The place of a pose in counts; false when it lies outside of the range.
static bool to_place(const FrameEncoder *encoder, const Pose *pose, FramePlace *place)
{
    assert_debug(encoder->unit > 0);
    const double at[3] = { pose->t.x, pose->t.y, pose->t.z };
    double per_unit = 1.0 / (double)encoder->unit;  // a power of two: exact
    bool is_inside = true;
    for (int k = 0; k < 3; k++) {
        double count = (at[k] - (double)encoder->origin[k]) * per_unit;
        is_inside = is_inside && fabs(count) <= COUNT_MAX;
        place->position[k] = (int32_t)lrint(fmin(fmax(count, -COUNT_MAX), COUNT_MAX));
    }
    place->turn = pack_turn(pose->q);
    place->is_there = true;
    return is_inside;
}

static bool is_same(const FramePlace *a, const FramePlace *b)
{
    return a->is_there == b->is_there && a->turn == b->turn && a->position[0] == b->position[0]
           && a->position[1] == b->position[1] && a->position[2] == b->position[2];
}

static void add_header(const FrameEncoder *encoder, const FrameInput *input, bool is_key, Text *out)
{
    uint8_t header[FRAME_HEADER_BYTES], *at = header;
    uint8_t version = FRAME_VERSION, flags = is_key ? FRAME_KEY : 0;
    uint16_t sections = (uint16_t)input->section_count;
    uint32_t poses = 0;  // counted afterwards
    float speed = (float)input->speed;
    at = put(at, "TFRM", 4);
    at = put(at, &version, 1);
    at = put(at, &flags, 1);
    at = put(at, &sections, 2);
    at = put(at, &input->revision, 4);
    at = put(at, &input->step, 8);
    at = put(at, &input->time, 8);
    at = put(at, &speed, 4);
    at = put(at, &poses, 4);
    at = put(at, encoder->origin, 12);
    at = put(at, &encoder->unit, 4);
    assert(at == header + FRAME_HEADER_BYTES);
    text_add(out, (const char *)header, sizeof header);
}

static float to_float(double value) { return (float)fmin(fmax(value, -FLT_MAX), FLT_MAX); }

static void add_key_pose(int solid, const Pose *pose, Text *out)
{
    assert(solid >= 0);
    uint8_t bytes[FRAME_KEY_POSE_BYTES];
    uint32_t id = (uint32_t)solid;
    const float numbers[7] = { to_float(pose->t.x), to_float(pose->t.y), to_float(pose->t.z), to_float(pose->q.x),
                               to_float(pose->q.y), to_float(pose->q.z), to_float(pose->q.w) };
    put(put(bytes, &id, 4), numbers, sizeof numbers);
    text_add(out, (const char *)bytes, sizeof bytes);
}

static void add_pose(int solid, const FramePlace *place, Text *out)
{
    assert(solid >= 0);
    uint8_t bytes[FRAME_POSE_BYTES];
    uint16_t id = (uint16_t)solid;
    uint8_t *at = put(bytes, &id, 2);
    for (int k = 0; k < 3; k++)
        at = put(at, &place->position[k], 3);
    put(at, &place->turn, 6);
    text_add(out, (const char *)bytes, sizeof bytes);
}

static uint32_t add_all(FrameEncoder *encoder, const FrameInput *input, Text *out)
{
    assert_debug(input->poses || input->pose_count == 0);
    uint32_t count = 0;
    memory_grow(&encoder->places, &encoder->place_capacity, input->pose_count, sizeof *encoder->places);
    encoder->place_count = input->pose_count;
    for (int i = 0; i < input->pose_count; i++) {
        const Pose *pose = &input->poses[i];
        encoder->places[i] = (FramePlace){ 0 };
        if (!is_finite(pose))
            continue;
        to_place(encoder, pose, &encoder->places[i]);
        add_key_pose(i, pose, out);
        count++;
    }
    return count;
}

// False, and nothing of it counts, when a solid is out of range or one has come or gone.
static bool add_changed(FrameEncoder *encoder, const FrameInput *input, Text *out, uint32_t *count)
{
    assert_debug(encoder->place_count == input->pose_count);
    for (int i = 0; i < input->pose_count; i++) {
        FramePlace place = { 0 };
        bool is_there = is_finite(&input->poses[i]);
        if (is_there != encoder->places[i].is_there || (is_there && !to_place(encoder, &input->poses[i], &place)))
            return false;
        if (!is_there || is_same(&place, &encoder->places[i]))
            continue;
        encoder->places[i] = place;
        add_pose(i, &place, out);
        ++*count;
    }
    return true;
}

static void add_sections(const FrameInput *input, Text *out)
{
    for (int i = 0; i < input->section_count; i++) {
        const FrameSection *section = &input->sections[i];
        uint32_t size = (uint32_t)section->size;
        assert(section->size <= UINT32_MAX);
        text_add(out, section->tag, 4);
        text_add(out, (const char *)&size, 4);
        text_add(out, section->data, section->size);
    }
}

bool frame_encode(FrameEncoder *encoder, const FrameInput *input, bool as_key, Text *out)
{
    assert(input && out);
    assert(input->pose_count >= 0 && input->section_count >= 0 && input->section_count <= UINT16_MAX);
    size_t start = out->length;
    uint32_t count = 0;
    bool is_key = as_key || !encoder->has_begun || encoder->revision != input->revision
                  || encoder->place_count != input->pose_count || input->pose_count > FRAME_SOLIDS_MAX;
    if (!is_key) {
        add_header(encoder, input, false, out);
        is_key = !add_changed(encoder, input, out, &count);
    }
    if (is_key) {
        out->length = start;
        encoder->has_begun = true;
        encoder->revision = input->revision;
        choose_range(encoder, input);
        add_header(encoder, input, true, out);
        count = add_all(encoder, input, out);
    }
    memcpy(out->data + start + 32, &count, sizeof count);
    add_sections(input, out);
    return is_key;
}

// ---- reading ----

static bool fail(const char **why, const char *text)
{
    if (why)
        *why = text;
    return false;
}

// Every number is checked before it is used as a count or a size: frames come from files and from the network.
static bool read_header(const uint8_t *at, FrameView *view, const char **why)
{
    uint8_t version, flags;
    uint16_t sections;
    uint32_t poses;
    float speed;
    if (memcmp(at, "TFRM", 4) != 0)
        return fail(why, "a frame does not begin as one");
    at = get(at + 4, &version, 1);
    at = get(at, &flags, 1);
    at = get(at, &sections, 2);
    at = get(at, &view->revision, 4);
    at = get(at, &view->step, 8);
    at = get(at, &view->time, 8);
    at = get(at, &speed, 4);
    at = get(at, &poses, 4);
    at = get(at, view->origin, 12);
    at = get(at, &view->unit, 4);
    if (version != FRAME_VERSION)
        return fail(why, "a frame is of a version that is not known");
    bool is_sound = isfinite(view->time) && isfinite(speed) && isfinite(view->unit) && view->unit > 0.0f;
    for (int k = 0; k < 3; k++)
        is_sound = is_sound && isfinite(view->origin[k]);
    if (!is_sound || poses > INT32_MAX)
        return fail(why, "a number in the head of a frame cannot be");
    view->is_key = flags & FRAME_KEY;
    view->section_count = sections;
    view->pose_count = (int)poses;
    view->speed = (double)speed;
    return true;
}

static bool key_poses_are_finite(const FrameView *view)
{
    assert_debug(view->poses || view->pose_count == 0);
    for (int i = 0; i < view->pose_count; i++) {
        float numbers[7];
        uint32_t solid;
        get(get(view->poses + (size_t)i * FRAME_KEY_POSE_BYTES, &solid, 4), numbers, sizeof numbers);
        if (solid > INT32_MAX)
            return false;
        for (int k = 0; k < 7; k++)
            if (!isfinite(numbers[k]))
                return false;
    }
    return true;
}

bool frame_read(const void *data, size_t size, FrameView *view, const char **why)
{
    const uint8_t *bytes = data;
    *view = (FrameView){ 0 };
    if (size < FRAME_HEADER_BYTES)
        return fail(why, "a frame is cut off");
    if (!read_header(bytes, view, why))
        return false;
    size_t pose_bytes = view->is_key ? FRAME_KEY_POSE_BYTES : FRAME_POSE_BYTES;
    view->poses = bytes + FRAME_HEADER_BYTES;
    view->end = bytes + size;
    if ((size - FRAME_HEADER_BYTES) / pose_bytes < (size_t)view->pose_count)
        return fail(why, "a frame is cut off in its poses");
    view->sections = view->poses + (size_t)view->pose_count * pose_bytes;
    if (view->is_key && !key_poses_are_finite(view))
        return fail(why, "a pose of a frame cannot be");
    const uint8_t *at = view->sections;
    for (int i = 0; i < view->section_count; i++) {
        uint32_t length;
        if (view->end - at < 8)
            return fail(why, "a frame is cut off between its sections");
        at = get(at + 4, &length, 4);
        if ((size_t)(view->end - at) < length)
            return fail(why, "a frame is cut off in a section");
        at += length;
    }
    return at == view->end || fail(why, "a frame is longer than it says");
}

int frame_pose(const FrameView *view, int index, Pose *pose)
{
    assert(pose);
    assert(index >= 0 && index < view->pose_count);
    if (view->is_key) {
        float n[7];
        uint32_t solid;
        get(get(view->poses + (size_t)index * FRAME_KEY_POSE_BYTES, &solid, 4), n, sizeof n);
        *pose = (Pose){ vec3((double)n[0], (double)n[1], (double)n[2]),
                        quat_normalized((Quat){ (double)n[6], (double)n[3], (double)n[4], (double)n[5] }) };
        return (int)solid;
    }
    uint16_t solid;
    uint64_t turn = 0;
    double place[3];
    const uint8_t *at = get(view->poses + (size_t)index * FRAME_POSE_BYTES, &solid, 2);
    for (int k = 0; k < 3; k++) {
        uint32_t count = 0;
        at = get(at, &count, 3);
        int32_t value = (int32_t)(count ^ 0x800000) - 0x800000;
        place[k] = (double)view->origin[k] + (double)view->unit * value;
    }
    get(at, &turn, 6);
    *pose = (Pose){ vec3(place[0], place[1], place[2]), unpack_turn(turn) };
    return solid;
}

bool frame_section(const FrameView *view, const char tag[4], FrameSection *section)
{
    assert_debug(tag && section);
    const uint8_t *at = view->sections;
    for (int i = 0; i < view->section_count; i++) {
        uint32_t length;
        get(at + 4, &length, 4);
        if (!memcmp(at, tag, 4)) {
            *section = (FrameSection){ .data = at + 8, .size = length };
            memcpy(section->tag, at, 4);
            return true;
        }
        at += 8 + length;
    }
    return false;
}
