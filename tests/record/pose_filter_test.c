// Frames through the filter of their poses and back: the same bytes, smaller packed, and nothing that damage could
// break.
#include "record/pose_filter.h"

#include "base/memory.h"
#include "base/random.h"
#include "record/frame.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <zlib.h>

enum { SOLIDS = 40, FRAMES = 60 };

// Solids that fly and spin; some rest, some come and go; every frame has a section.
static void add_frames(Text *out, FrameEncoder *encoder, int count, double noise)
{
    Random random;
    random_seed(&random, 7, "pose filter");
    Text frame = { 0 };
    for (int f = 0; f < count; f++) {
        Pose poses[SOLIDS];
        for (int i = 0; i < SOLIDS; i++) {
            double t = i % 5 == 0 ? 0.0 : f / 60.0;
            Vec3 p = { i + t, 0.3 * i * t, 5.0 * t - 4.9 * t * t };
            p.x += noise * random_gaussian(&random);
            poses[i] = (Pose){ p, quat_from_axis_angle(vec3(1, 0, 0), 0.7 * i * t) };
            if (i % 7 == 3 && f % 9 == 4)
                poses[i].t.x = NAN;
        }
        char bytes[3] = { 1, 2, (char)f };
        FrameSection section = { { 'T', 'E', 'S', 'T' }, bytes, sizeof bytes };
        FrameInput input = { .revision = 1,
                             .step = (uint64_t)f,
                             .time = f / 60.0,
                             .poses = poses,
                             .pose_count = SOLIDS,
                             .sections = &section,
                             .section_count = 1 };
        text_clear(&frame);
        frame_encode(encoder, &input, f == 0, &frame);
        uint32_t length = (uint32_t)frame.length;
        text_add(out, (const char *)&length, 4);
        text_add(out, frame.data, frame.length);
    }
    text_free(&frame);
}

static uLong packed_size(const Text *text)
{
    uLongf size = compressBound(text->length);
    Bytef *out = malloc(size);
    assert_int_equal(compress2(out, &size, (const Bytef *)text->data, text->length, 6), Z_OK);
    free(out);
    return size;
}

static void the_same_bytes_come_back(void **state)
{
    (void)state;
    static const struct {
        int count;
        double noise;
    } cases[] = { { 0, 0 }, { 1, 0 }, { 2, 0 }, { FRAMES, 0 }, { FRAMES, 1e-3 }, { FRAMES, 3.0 } };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        FrameEncoder encoder = { 0 };
        Text frames = { 0 }, packed = { 0 }, back = { 0 };
        text_add(&frames, "", 0);
        add_frames(&frames, &encoder, cases[i].count, cases[i].noise);
        assert_true(pose_filter_pack(frames.data, frames.length, &packed));
        assert_int_equal(packed.length, frames.length + 4);
        assert_true(pose_filter_unpack(packed.data, packed.length, &back));
        assert_int_equal(back.length, frames.length);
        assert_memory_equal(back.data, frames.data, frames.length);
        if (cases[i].count == FRAMES && cases[i].noise == 0.0)
            CHECK(3 * packed_size(&packed) < 2 * packed_size(&frames), "a third smaller at least");
        text_free(&frames);
        text_free(&packed);
        text_free(&back);
        frame_encoder_deinit(&encoder);
    }
}

static void damage_is_refused_or_harmless(void **state)
{
    (void)state;
    FrameEncoder encoder = { 0 };
    Text frames = { 0 }, packed = { 0 }, out = { 0 };
    add_frames(&frames, &encoder, 12, 1e-3);
    CHECK(!pose_filter_pack(frames.data, frames.length - 1, &out), "a frame is cut");
    assert_true(pose_filter_pack(frames.data, frames.length, &packed));
    uint32_t random = 3;
    int taken = 0, refused = 0;
    for (int i = 0; i < 20000; i++) {
        random = random * 1664525u + 1013904223u;
        size_t size = i % 3 ? packed.length : random % (packed.length + 1), at = (random >> 4) % packed.length;
        char *copy = malloc(size + 1), kept = packed.data[at];
        packed.data[at] = (char)(random >> 24);
        memcpy(copy, packed.data, size);
        bool is_taken = pose_filter_unpack(copy, size, &out);
        taken += is_taken, refused += !is_taken;
        packed.data[at] = kept;
        free(copy);
    }
    CHECK(taken > 100 && refused > 100, "both happen");
    text_free(&frames);
    text_free(&packed);
    text_free(&out);
    frame_encoder_deinit(&encoder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bytes_come_back),
        cmocka_unit_test(damage_is_refused_or_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
