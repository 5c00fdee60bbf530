// Frames: what is read is what was written, within the numbers' grain; only changes travel; bytes that are no frame are
// refused.
#include "support/support.h"

#include "base/memory.h"
#include "base/random.h"
#include "record/frame.h"

#include <math.h>

static double random_between(Random *random, double low, double high)
{
    return low + (high - low) * random_uniform(random);
}

static Pose some_pose(Random *random, double extent)
{
    Pose pose = { vec3(extent * random_between(random, -1, 1), extent * random_between(random, -1, 1),
                       extent * random_between(random, -1, 1)),
                  { random_between(random, -1, 1), random_between(random, -1, 1), random_between(random, -1, 1),
                    random_between(random, -1, 1) } };
    pose.q = quat_normalized(pose.q);
    return pose;
}

static double turn_between(Quat a, Quat b)
{
    double dot = fabs(a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z);
    return 2.0 * acos(fmin(dot, 1.0));
}

static FrameView read_back(const Text *bytes)
{
    FrameView view;
    const char *why = "";
    CHECK(frame_read(bytes->data, bytes->length, &view, &why), why);
    return view;
}

// A reader's copy of the world, brought up to date by each frame.
static void apply(const FrameView *view, Pose *poses, int count)
{
    for (int i = 0; i < view->pose_count; i++) {
        Pose pose;
        int solid = frame_pose(view, i, &pose);
        CHECK(solid >= 0 && solid < count, "a solid of this world");
        poses[solid] = pose;
    }
}

static void what_is_read_is_what_was_written(void **state)
{
    (void)state;
    static const struct {
        double extent, grain;
    } cases[] = {
        { 1.0, 1.0 / 65536 }, { 60.0, 1.0 / 65536 }, { 100.0, 1.0 / 32768 }, { 1e4, 1.0 / 256 }, { 1e7, 4.0 }
    };
    enum { COUNT = 200 };
    for (int c = 0; c < COUNT_OF(cases); c++) {
        Random random;
        random_seed(&random, 7, "frames");
        FrameEncoder encoder = { 0 };
        Text bytes = { 0 };
        Pose poses[COUNT], seen[COUNT];
        // The first two hold the range open, whatever the others draw.
        for (int frame = 0; frame < 20; frame++) {
            for (int i = 0; i < COUNT; i++)
                poses[i] = some_pose(&random, cases[c].extent);
            poses[0].t = vec3(-cases[c].extent, -cases[c].extent, -cases[c].extent);
            poses[1].t = vec3(cases[c].extent, cases[c].extent, cases[c].extent);
            text_clear(&bytes);
            bool is_key = frame_encode(&encoder,
                                       &(FrameInput){ .revision = 3,
                                                      .step = (uint64_t)frame,
                                                      .time = 0.25 * frame,
                                                      .speed = 1.5,
                                                      .poses = poses,
                                                      .pose_count = COUNT },
                                       false, &bytes);
            FrameView view = read_back(&bytes);
            CHECK(is_key == (frame == 0) && view.is_key == is_key, "the first one is a key frame, no other");
            CHECK(view.revision == 3 && view.step == (uint64_t)frame && view.time == 0.25 * frame && view.speed == 1.5,
                  "head");
            CHECK((double)view.unit <= cases[c].grain, "grain");
            apply(&view, seen, COUNT);
            for (int i = 0; i < COUNT; i++) {
                double grain = is_key ? cases[c].extent * 1e-7 : 0.5 * (double)view.unit;
                CHECK(fabs(seen[i].t.x - poses[i].t.x) <= grain && fabs(seen[i].t.y - poses[i].t.y) <= grain
                          && fabs(seen[i].t.z - poses[i].t.z) <= grain,
                      "place");
                // Each of three numbers is off by half a count of sqrt(2) / 32767 at most.
                CHECK(turn_between(seen[i].q, poses[i].q) < 1.5e-4, "turn");
            }
        }
        text_free(&bytes);
        frame_encoder_deinit(&encoder);
    }
}

static void turns_at_the_edges(void **state)
{
    (void)state;
    static const Quat turns[] = {
        { 1, 0, 0, 0 },
        { -1, 0, 0, 0 },
        { 0, 1, 0, 0 },
        { 0, 0, -1, 0 },
        { 0, 0, 0, 1 },
        { .5, .5, .5, .5 },
        { -.5, .5, -.5, .5 },
        { M_SQRT1_2, 0, 0, M_SQRT1_2 },
        { 0, -M_SQRT1_2, M_SQRT1_2, 0 },
    };
    FrameEncoder encoder = { 0 };
    Text bytes = { 0 };
    for (int i = 0; i < COUNT_OF(turns); i++) {
        Pose poses[2] = { { VEC3_ZERO, turns[i] }, POSE_IDENTITY }, seen;
        for (int k = 0; k < 2; k++) {  // the second time as a change
            poses[0].t.x = k;
            text_clear(&bytes);
            frame_encode(&encoder, &(FrameInput){ .poses = poses, .pose_count = 2 }, k == 0, &bytes);
        }
        FrameView view = read_back(&bytes);
        CHECK(!view.is_key && view.pose_count == 1 && frame_pose(&view, 0, &seen) == 0, "one change");
        CHECK(turn_between(seen.q, turns[i]) < 1.5e-4, "turn");
    }
    text_free(&bytes);
    frame_encoder_deinit(&encoder);
}

static void only_changes_travel(void **state)
{
    (void)state;
    FrameEncoder encoder = { 0 };
    Text bytes = { 0 };
    Pose poses[4] = { POSE_IDENTITY, POSE_IDENTITY, POSE_IDENTITY, POSE_IDENTITY };
    FrameInput input = { .poses = poses, .pose_count = 4 };
    static const struct {
        const char *what;
        int moved;  // solid that moves by x, -1: none
        double x;
        bool is_key;
        int count;
    } cases[] = {
        { "the start", -1, 0, true, 4 },
        { "nothing", -1, 0, false, 0 },
        { "one", 2, 0.1, false, 1 },
        { "less than the grain", 2, 0.1000001, false, 0 },
        { "out of range", 1, 1e6, true, 4 },
        { "within the new range", 1, 1.1e6, false, 1 },
        { "a solid is gone", 3, NAN, true, 3 },
        { "and stays away", 3, NAN, false, 0 },
        { "and comes back", 3, 0.0, true, 4 },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        if (cases[i].moved >= 0)
            poses[cases[i].moved].t.x = cases[i].x;
        text_clear(&bytes);
        CHECK(frame_encode(&encoder, &input, false, &bytes) == cases[i].is_key, cases[i].what);
        FrameView view = read_back(&bytes);
        CHECK(view.pose_count == cases[i].count, cases[i].what);
        CHECK(bytes.length
                  == FRAME_HEADER_BYTES
                         + (size_t)view.pose_count * (view.is_key ? FRAME_KEY_POSE_BYTES : FRAME_POSE_BYTES),
              cases[i].what);
    }
    input.revision++;
    CHECK(frame_encode(&encoder, &input, false, &bytes), "another scene");
    input.pose_count = 3;
    CHECK(frame_encode(&encoder, &input, false, &bytes), "another number of solids");
    CHECK(frame_encode(&encoder, &input, true, &bytes), "asked for");
    text_free(&bytes);
    frame_encoder_deinit(&encoder);
}

static void a_large_world_has_key_frames_alone(void **state)
{
    (void)state;
    enum { COUNT = FRAME_SOLIDS_MAX + 1 };
    Pose *poses = memory_alloc_array(COUNT, sizeof *poses), last;
    for (int i = 0; i < COUNT; i++)
        poses[i] = POSE_IDENTITY;
    FrameEncoder encoder = { 0 };
    Text bytes = { 0 };
    for (int k = 0; k < 2; k++) {
        text_clear(&bytes);
        CHECK(frame_encode(&encoder, &(FrameInput){ .poses = poses, .pose_count = COUNT }, false, &bytes), "key");
    }
    FrameView view = read_back(&bytes);
    CHECK(view.pose_count == COUNT && frame_pose(&view, COUNT - 1, &last) == COUNT - 1, "all of them");
    text_free(&bytes);
    frame_encoder_deinit(&encoder);
    free(poses);
}

static void sections_are_found(void **state)
{
    (void)state;
    const FrameSection sections[] = { { "STAT", "abc", 3 }, { "WHAT", "", 0 }, { "EVTS", "[{}]", 4 } };
    FrameEncoder encoder = { 0 };
    Text bytes = { 0 };
    FrameSection found;
    frame_encode(&encoder, &(FrameInput){ .sections = sections, .section_count = 3 }, false, &bytes);
    FrameView view = read_back(&bytes);
    CHECK(frame_section(&view, "EVTS", &found) && found.size == 4 && !memcmp(found.data, "[{}]", 4), "events");
    CHECK(frame_section(&view, "WHAT", &found) && found.size == 0, "empty");
    CHECK(!frame_section(&view, "CONT", &found), "not there");
    text_free(&bytes);
    frame_encoder_deinit(&encoder);
}

// Every cut and every changed byte of a frame is read or refused, and what is read stays within bounds (the sanitizers
// watch).
static void bytes_of_strangers(void **state)
{
    (void)state;
    FrameEncoder encoder = { 0 };
    Pose poses[3] = { POSE_IDENTITY, POSE_IDENTITY, POSE_IDENTITY };
    const FrameSection sections[] = { { "EVTS", "[]", 2 } };
    FrameInput input = { .poses = poses, .pose_count = 3, .sections = sections, .section_count = 1 };
    for (int kind = 0; kind < 2; kind++) {
        Text bytes = { 0 };
        poses[0].t.x = poses[1].t.y = 0.5 * kind;
        frame_encode(&encoder, &input, false, &bytes);
        FrameView view;
        const char *why = NULL;
        for (size_t size = 0; size < bytes.length; size++) {
            char *copy = memory_text(bytes.data, size);  // so that the sanitizer sees its end
            CHECK(!frame_read(copy, size, &view, &why) && why, "a cut frame is refused");
            free(copy);
        }
        for (size_t i = 0; i < bytes.length; i++)
            for (int bit = 0; bit < 8; bit++) {
                bytes.data[i] = (char)(bytes.data[i] ^ 1 << bit);
                if (frame_read(bytes.data, bytes.length, &view, &why))
                    for (int k = 0; k < view.pose_count; k++) {
                        Pose pose;
                        CHECK(frame_pose(&view, k, &pose) >= 0 && vec3_is_finite(pose.t), "a pose that can be");
                    }
                bytes.data[i] = (char)(bytes.data[i] ^ 1 << bit);
            }
        text_free(&bytes);
    }
    frame_encoder_deinit(&encoder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_is_what_was_written),
        cmocka_unit_test(turns_at_the_edges),
        cmocka_unit_test(only_changes_travel),
        cmocka_unit_test(a_large_world_has_key_frames_alone),
        cmocka_unit_test(sections_are_found),
        cmocka_unit_test(bytes_of_strangers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
