// Recordings: what is read is what was run, every cut opens up to the cut, damage is left out and said, and the run
// stays the same.
#include "physics/world.h"

#include "base/file.h"
#include "base/memory.h"
#include "record/recorder.h"

#include <math.h>
#include <unistd.h>

static const char text[] =
    "WorldInfo { basicTimeStep 8 }"
    "Solid { name \"floor\" boundingObject Plane { size 10 10 } children [ Shape { geometry Plane { size 10 10 } } ] }"
    "DEF BALL Solid { name \"ball\" translation 0 0 1 boundingObject Sphere { radius 0.1 } physics Physics { } children [ Shape { geometry Sphere { radius 0.1 } } ] }"
    "DEF BOX Solid { name \"box\" translation 1 0 0.5 rotation 1 0 0 0.4 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } }"
    "Robot { name \"r\" translation 3 0 1 children [ HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 }"
    "  endPoint DEF ARM Solid { name \"arm\" translation 0.3 0 0 boundingObject Box { size 0.1 0.1 0.1 } physics Physics { } } } ] }";

enum { STEPS = 300 };

typedef struct Run {
    Text file;
    uint64_t hash;
    Pose ball[STEPS + 1];
    float arm[STEPS + 1];
} Run;

static void run_world(Run *run, const RecorderOptions *options, bool is_recorded)
{
    World world = world_open(text);
    int ball = physics_solid_of(world.physics, scene_find_def(sim_scene(world.sim), "BALL"));
    Recorder *recorder = is_recorded ? recorder_open_in(world.sim, &run->file, options) : NULL;
    for (int i = 0; i <= STEPS; i++) {
        run->ball[i] = physics_solid_pose(world.physics, ball);
        run->arm[i] = (float)physics_joint_position(world.physics, 0, 0);
        if (recorder && i == 10) {
            recorder_print(recorder, "r", "hello \"world\"", 13, false);
            recorder_label(recorder, &(RecorderLabel){ 1, "label", "", 0.1, 0.2, 0.05, 0xff000080 });
        }
        if (i < STEPS)
            world_step(&world, 1);
    }
    CHECK(recorder_close(recorder), "closed");
    run->hash = sim_hash(world.sim);
    world_close(&world);
}

static Recording *open_bytes(const Text *file, size_t size, DiagSink *diags)
{
    return recording_open_bytes("test.talus", file->data, size, NULL, diags);
}

static void what_is_read_is_what_was_run(void **state)
{
    (void)state;
    static const int every[] = { 1, 7, 0 };
    for (int c = 0; c < COUNT_OF(every); c++) {
        Run *run = memory_alloc(sizeof *run);
        run_world(run, &(RecorderOptions){ .every = every[c] }, true);
        DiagSink *diags = diag_create();
        Recording *recording = open_bytes(&run->file, run->file.length, diags);
        assert_non_null(recording);
        CHECK(recording_is_finished(recording) && diag_count(diags) == 0, "whole");
        FrameView view;
        int count, frames = 0;
        uint64_t last = 0;
        while (recording_next(recording, &view)) {
            const Pose *poses = recording_poses(recording, &count);
            CHECK(count == 5 && view.step <= STEPS && (frames == 0 || view.step > last), "in order");
            CHECK_NEAR(view.time, 0.008 * (double)view.step, 1e-12, "time");
            const Pose *truth = &run->ball[view.step];
            CHECK_NEAR(vec3_distance(poses[1].t, truth->t), 0.0, 2e-5, "the ball is where it was");
            FrameSection joints;
            float position;
            CHECK(frame_section(&view, "JNTS", &joints) && joints.size == 8, "one joint");
            memcpy(&position, (const char *)joints.data + 4, 4);
            CHECK(position == run->arm[view.step], "the arm is where it was");
            CHECK(recording_scene_block(recording) >= 0 && recording_meta_block(recording) >= 0, "scene and head");
            last = view.step;
            frames++;
        }
        int step = every[c] ? every[c] : 2;  // every second step of 8 ms is nearest to 60 a second
        CHECK(last == STEPS && frames == STEPS / step + 1 + (STEPS % step != 0), "all of it, and the end");
        recording_close(recording);
        diag_destroy(diags);
        text_free(&run->file);
        free(run);
    }
}

static void the_run_stays_the_same(void **state)
{
    (void)state;
    Run *plain = memory_alloc(sizeof *plain), *recorded = memory_alloc(sizeof *recorded),
        *again = memory_alloc(sizeof *again);
    RecorderOptions all = { .every = 1, .with_contacts = true };
    run_world(plain, NULL, false);
    run_world(recorded, &all, true);
    run_world(again, &all, true);
    CHECK(plain->hash == recorded->hash, "same state");
    CHECK(recorded->file.length == again->file.length
              && !memcmp(recorded->file.data, again->file.data, again->file.length),
          "same bytes");
    text_free(&recorded->file);
    text_free(&again->file);
    free(plain);
    free(recorded);
    free(again);
}

static bool has_event(Recording *recording, const char *part)
{
    FrameView view;
    FrameSection events;
    recording_rewind(recording);
    while (recording_next(recording, &view))
        if (frame_section(&view, "EVTS", &events) && memmem(events.data, events.size, part, strlen(part)))
            return true;
    return false;
}

static void what_is_said_and_heard_is_kept(void **state)
{
    (void)state;
    Run *run = memory_alloc(sizeof *run);
    run_world(run, &(RecorderOptions){ .with_contacts = true }, true);
    DiagSink *diags = diag_create();
    Recording *recording = open_bytes(&run->file, run->file.length, diags);
    static const char *const parts[] = {
        "\"is\":\"print\",\"from\":\"r\",\"text\":\"hello \\\"world\\\"\"",
        "\"is\":\"label\",\"id\":1,\"text\":\"label\",\"x\":0.1,\"y\":0.2,\"size\":0.05,\"color\":\"#ff000080\"",
        "\"is\":\"sound\",\"id\":1,\"do\":\"start\",\"clip\":\"clip-0\",\"loop\":false",
    };
    for (int i = 0; i < COUNT_OF(parts); i++)
        CHECK(has_event(recording, parts[i]), parts[i]);
    Text clip = { 0 };
    int block = recording_find(recording, "CLIP", 0);
    CHECK(block >= 0 && recording_read(recording, block, &clip), "a clip");
    CHECK(!strncmp(clip.data, "{\"name\":\"clip-0\"}\nRIFF", 22), "its name and a WAV file");
    FrameView view;
    FrameSection section;
    bool has_contact = false, has_states = false;
    recording_rewind(recording);
    while (recording_next(recording, &view)) {
        has_contact |= frame_section(&view, "CONT", &section) && section.size >= 40 && section.size % 40 == 0;
        has_states |= frame_section(&view, "STAT", &section) && section.size == 15;
    }
    CHECK(has_contact && has_states, "contacts and states");
    text_free(&clip);
    recording_close(recording);
    diag_destroy(diags);
    text_free(&run->file);
    free(run);
}

static int frames_of(Recording *recording, double *last)
{
    FrameView view;
    int count = 0;
    recording_rewind(recording);
    while (recording_next(recording, &view)) {
        *last = view.time;
        count++;
    }
    return count;
}

static void a_cut_opens_up_to_the_cut(void **state)
{
    (void)state;
    Run *run = memory_alloc(sizeof *run);
    run_world(run, &(RecorderOptions){ .every = 1 }, true);
    int before = 0;
    for (int i = 0; i <= 100; i++) {
        size_t size = run->file.length * (size_t)i / 100;
        char *copy = memory_text(run->file.data, size);  // so that the sanitizer sees its end
        DiagSink *diags = diag_create();
        Recording *recording = recording_open_bytes("cut.talus", copy, size, NULL, diags);
        double last = 0.0, first, end;
        int count = recording ? frames_of(recording, &last) : 0;
        CHECK(count >= before, "never less than a shorter cut");
        CHECK(i == 100 || diag_count(diags) > 0, "it is said");
        if (recording) {
            recording_times(recording, &first, &end);
            CHECK(last == end, "up to the last whole block");
        }
        before = count;
        recording_close(recording);
        diag_destroy(diags);
        free(copy);
    }
    CHECK(before == STEPS + 1, "all frames of the whole");
    text_free(&run->file);
    free(run);
}

// A damaged block is left out and said; the others stay. No flipped bit does worse.
static void damage_is_left_out(void **state)
{
    (void)state;
    Run *run = memory_alloc(sizeof *run);
    run_world(run, &(RecorderOptions){ .every = 1 }, true);
    DiagSink *diags = diag_create();
    Recording *recording = open_bytes(&run->file, run->file.length, diags);
    int index = recording_find(recording, "FRMS", recording_find(recording, "FRMS", 0) + 1);
    assert_true(index > 0);
    RecordingBlock block = *recording_block(recording, index);
    recording_close(recording);
    char *byte = run->file.data + block.offset + RECORDING_BLOCK_BYTES + block.stored_bytes / 2;
    *byte = (char)(*byte ^ 4);
    recording = open_bytes(&run->file, run->file.length, diags);
    double last = 0.0;
    int count = frames_of(recording, &last);
    CHECK(count > 0 && count < STEPS + 1, "some are missing");
    CHECK_NEAR(last, 0.008 * STEPS, 1e-9, "the end is there");
    CHECK(diag_total(diags, DIAG_WARNING) == 1, "and it is said");
    recording_close(recording);
    *byte = (char)(*byte ^ 4);
    for (size_t i = 0; i < run->file.length; i += i < 60 ? 1 : 257) {
        DiagSink *quiet = diag_create();
        run->file.data[i] = (char)(run->file.data[i] ^ 0x21);
        recording = open_bytes(&run->file, run->file.length, quiet);
        if (recording)
            frames_of(recording, &last);
        CHECK(i > 8 || !recording, "its first bytes say what it is");
        recording_close(recording);
        run->file.data[i] = (char)(run->file.data[i] ^ 0x21);
        diag_destroy(quiet);
    }
    diag_destroy(diags);
    text_free(&run->file);
    free(run);
}

static void a_reset_does_not_turn_time_back(void **state)
{
    (void)state;
    World world = world_open(text);
    Text file = { 0 };
    Recorder *recorder = recorder_open_in(world.sim, &file, &(RecorderOptions){ .every = 1 });
    world_step(&world, 20);
    sim_reset(world.sim);
    world_step(&world, 20);
    CHECK(recorder_close(recorder), "closed");
    DiagSink *diags = diag_create();
    Recording *recording = open_bytes(&file, file.length, diags);
    double last = 0.0;
    CHECK(frames_of(recording, &last) == 41, "all steps");
    CHECK_NEAR(last, 0.32, 1e-12, "one after the other");
    recording_close(recording);
    diag_destroy(diags);
    text_free(&file);
    world_close(&world);
}

static void nodes_that_come_and_go(void **state)
{
    (void)state;
    World world = world_open(text);
    Text file = { 0 };
    Recorder *recorder = recorder_open_in(world.sim, &file, &(RecorderOptions){ .every = 1 });
    world_step(&world, 5);
    const char *node =
        "DEF NEW Solid { name \"new\" translation 0 2 2 boundingObject Sphere { radius 0.1 } physics Physics { } }";
    SceneNode *added = sim_insert(world.sim, scene_root(sim_scene(world.sim)), "children", -1, node, strlen(node));
    assert_non_null(added);
    world_step(&world, 5);
    sim_remove(world.sim, added);
    world_step(&world, 5);
    CHECK(recorder_close(recorder), "closed");
    DiagSink *diags = diag_create();
    Recording *recording = open_bytes(&file, file.length, diags);
    FrameView view;
    int count, there = 0;
    uint32_t revision = 0;
    Text meta = { 0 };
    while (recording_next(recording, &view)) {
        const Pose *poses = recording_poses(recording, &count);
        there += count > 5 && isfinite(poses[5].t.x);
        if (view.revision == 2 && revision == 1) {
            CHECK(view.is_key && recording_read(recording, recording_meta_block(recording), &meta),
                  "a head of its own");
            CHECK(strstr(meta.data, "\"name\":\"NEW\""), "that names it");
        }
        revision = view.revision;
    }
    CHECK(there == 5 && revision == 3, "it was there for five steps");
    text_free(&meta);
    recording_close(recording);
    diag_destroy(diags);
    text_free(&file);
    world_close(&world);
}

// A program that paints in every step: the first colour is there at once, the others now and then.
static void colours_that_change(void **state)
{
    (void)state;
    World world = world_open(
        "WorldInfo { basicTimeStep 10 }"
        "Solid { name \"lamp\" children [ Shape { appearance PBRAppearance { }"
        " geometry Box { size 1 1 1 } } Shape { appearance DEF PAINT PBRAppearance { } geometry Sphere { } } ] }");
    Text file = { 0 };
    SceneNode *paint = scene_find_def(sim_scene(world.sim), "PAINT");
    assert_non_null(paint);
    Recorder *recorder = recorder_open_in(world.sim, &file, &(RecorderOptions){ .every = 1 });
    world_step(&world, 100);
    for (int i = 0; i < 200; i++) {
        scene_set_vec3(sim_scene(world.sim), paint, "baseColor", (Vec3){ 0.004 * i, 0.25, 0.5 });
        physics_field_changed(world.physics, paint, "baseColor");
        world_step(&world, 1);
    }
    world_step(&world, 100);
    CHECK(recorder_close(recorder), "closed");
    DiagSink *diags = diag_create();
    Recording *recording = open_bytes(&file, file.length, diags);
    double times[16];
    int count = 0;
    for (int i = recording_find(recording, "SCNE", 0); i >= 0 && count < 16;
         i = recording_find(recording, "SCNE", i + 1))
        times[count++] = recording_block(recording, i)->first;
    // At the start, in the first step of painting, then every half second, and once more for the last colour.
    CHECK(count == 6, "six scenes");
    for (int i = 0; i < 5 && count == 6; i++)
        CHECK_NEAR(times[i + 1], 1.01 + 0.5 * i, 1e-6, "when a scene was written");
    recording_close(recording);
    diag_destroy(diags);
    text_free(&file);
    world_close(&world);
}

// Two lamps that look alike and are lit apart: the first by colours of its list, the second by strength.
static const char lamps[] =
    "WorldInfo { basicTimeStep 8 }"
    "Robot { name \"r\" children ["
    "  LED { name \"a\" color [ 1 0 0, 0 0.5 1 ] children [ Shape { appearance Appearance { material Material { } } geometry Box { size 1 1 1 } } ] }"
    "  LED { name \"b\" color [ 1 1 0 ] gradual TRUE children [ Shape { appearance PBRAppearance { } geometry Box { size 1 1 1 } } ] }"
    "  LED { name \"c\" children [ Shape { geometry Box { size 1 1 1 } } ] } ] }";

typedef struct Glow {
    uint32_t node;
    float light[3];
} Glow;

static void light(Devices *devices, const char *name, double value)
{
    int tag = devices_find(devices, 0, name);
    CHECK(tag > 0 && !devices_command(devices, 0, tag, &(DeviceCommand){ 0, &value, 1 }), name);
}

static void is_scene_of(Recording *recording, const Glow *glow)
{
    Text block = { 0 };
    char extras[64];
    snprintf(extras, sizeof extras, "\"extras\":{\"glow\":%u}", (unsigned)glow->node);
    CHECK(recording_read(recording, recording_scene_block(recording), &block)
              && memmem(block.data, block.length, extras, strlen(extras)),
          "the scene has what glows");
    text_free(&block);
}

// Every block begins with all of them, so that a jump shows what is right; between, only what changes is told.
static void what_leds_show_is_kept(void **state)
{
    (void)state;
    enum { FIRST = 50, SECOND = 200 };
    Text file = { 0 };
    World world = world_open(lamps);
    Devices *devices = sim_devices(world.sim);
    Recorder *recorder = recorder_open_in(world.sim, &file, &(RecorderOptions){ .every = 1, .devices = devices });
    for (int i = 0; i < STEPS; i++) {
        if (i == FIRST)
            light(devices, "a", 2);
        if (i == SECOND)
            light(devices, "a", 0), light(devices, "b", 51);
        world_step(&world, 1);
    }
    CHECK(recorder_close(recorder), "closed");
    world_close(&world);
    DiagSink *diags = diag_create();
    Recording *recording = open_bytes(&file, file.length, diags);
    assert_non_null(recording);
    FrameView view;
    FrameSection section;
    Glow shown[2] = { { 0 } };
    int blocks = 0;
    while (recording_next(recording, &view)) {
        int told = frame_section(&view, "GLOW", &section) ? (int)(section.size / sizeof *shown) : 0;
        int wanted = view.is_key ? 2 : view.step == FIRST + 1 ? 1 : view.step == SECOND + 1 ? 2 : 0;
        CHECK(told == wanted && (told == 0 || section.size % sizeof *shown == 0), "only what is new");
        if (told > 0)
            memcpy(shown, section.data, section.size);
        if (view.is_key)
            is_scene_of(recording, &shown[0]), is_scene_of(recording, &shown[1]);
        blocks += view.is_key;
        bool is_first = view.step > FIRST && view.step <= SECOND, is_second = view.step > SECOND;
        CHECK_NEAR((double)shown[0].light[1], is_first ? 0.214041 : 0.0, 1e-5, "0.5 of a Material, made linear");
        CHECK_NEAR((double)shown[0].light[2], is_first ? 1.0 : 0.0, 1e-6, "blue");
        CHECK_NEAR((double)shown[1].light[0], is_second ? 0.2 : 0.0, 1e-6, "51 of 255 of a PBRAppearance, as it is");
        CHECK(shown[0].node != shown[1].node, "apart");
    }
    CHECK(blocks == 3, "one a second");
    recording_close(recording);
    diag_destroy(diags);
    text_free(&file);
}

static const char screens[] =
    "WorldInfo { basicTimeStep 10 }"
    "Robot { name \"r\" children ["
    "  Display { name \"small\" width 4 height 2 children [ Shape { appearance PBRAppearance { baseColorMap ImageTexture { } } geometry Box { size 1 1 1 } } ] }"
    "  Display { name \"large\" width 600 height 300 children [ Shape { appearance PBRAppearance { } geometry Box { size 1 1 1 } } ] } ] }";

// One row of one colour.
static void draw_row(Devices *devices, const char *name, int row, int width, uint8_t red)
{
    uint8_t pixels[4 * 600] = { 0 };
    for (int i = 0; i < width; i++)
        pixels[4 * i] = red, pixels[4 * i + 3] = 255;
    int tag = devices_find(devices, 0, name);
    CHECK(tag > 0
              && !devices_command(devices, 0, tag, &(DeviceCommand){ 0, (double[]){ row, 1 }, 2, pixels, 4 * width }),
          name);
}

// Both displays at the start of every block, then those on which something else is seen, ten times a second; large ones
// smaller.
static void what_displays_show_is_kept(void **state)
{
    (void)state;
    enum { HEAD = 8, SMALL = HEAD + 3 * 4 * 2, LARGE = HEAD + 3 * 200 * 100 };
    Text file = { 0 };
    World world = world_open(screens);
    Devices *devices = sim_devices(world.sim);
    Recorder *recorder = recorder_open_in(world.sim, &file, &(RecorderOptions){ .every = 1, .devices = devices });
    for (int i = 0; i < 250; i++) {
        if (i >= 50 && i < 150)
            draw_row(devices, "small", 1, 4, (uint8_t)i);
        if (i == 180)
            draw_row(devices, "large", 3, 600, 77);
        world_step(&world, 1);
    }
    CHECK(recorder_close(recorder), "closed");
    world_close(&world);
    DiagSink *diags = diag_create();
    Recording *recording = open_bytes(&file, file.length, diags);
    assert_non_null(recording);
    FrameView view;
    FrameSection section;
    int changes = 0;
    while (recording_next(recording, &view)) {
        bool is_told = frame_section(&view, "SCRN", &section);
        const uint8_t *bytes = is_told ? section.data : NULL;
        size_t small = view.step > 50 ? SMALL : HEAD;
        if (view.is_key)
            CHECK(is_told && section.size == small + (view.step > 180 ? LARGE : HEAD), "both at the start of a block");
        if (!is_told)
            continue;
        changes += !view.is_key;
        if (section.size == LARGE)
            CHECK(view.step == 190 && bytes[4] == 200 && bytes[6] == 100, "every third pixel");
        if (section.size == LARGE)
            CHECK(bytes[HEAD + 3 * 200] == 77 && bytes[HEAD] == 0, "of every third row");
        if (view.step == 100)
            CHECK(bytes[HEAD + 12] == 99 && bytes[HEAD + 13] == 0 && bytes[HEAD] == 0, "the second row is red");
        if (view.step == 200)
            CHECK(bytes[HEAD + 12] == 149, "as it was last");
    }
    CHECK(changes == 10, "not more than ten a second");
    recording_close(recording);
    diag_destroy(diags);
    text_free(&file);
}

static void files_that_cannot_be(void **state)
{
    (void)state;
    DiagSink *diags = diag_create();
    CHECK(!recording_create("/no/such/folder/run.talus", diags) && diag_has_errors(diags), "no folder");
    CHECK(!recording_open("/no/such/file.talus", NULL, diags), "no file");
    CHECK(!recording_open("/dev/null", NULL, diags), "no regular file");
    RecordingWriter *writer = access("/dev/full", W_OK) == 0 ? recording_create("/dev/full", diags) : NULL;
    if (writer) {
        CHECK(!recording_write(writer, "META", 0, 0, "{}", 2) && recording_has_failed(writer), "a full disk");
        int before = diag_total(diags, DIAG_ERROR);
        CHECK(!recording_finish(writer, diags) && diag_total(diags, DIAG_ERROR) == before + 1, "is said once");
    }
    diag_destroy(diags);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_is_what_was_run),
        cmocka_unit_test(the_run_stays_the_same),
        cmocka_unit_test(what_is_said_and_heard_is_kept),
        cmocka_unit_test(a_cut_opens_up_to_the_cut),
        cmocka_unit_test(damage_is_left_out),
        cmocka_unit_test(a_reset_does_not_turn_time_back),
        cmocka_unit_test(nodes_that_come_and_go),
        cmocka_unit_test(colours_that_change),
        cmocka_unit_test(what_leds_show_is_kept),
        cmocka_unit_test(what_displays_show_is_kept),
        cmocka_unit_test(files_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
