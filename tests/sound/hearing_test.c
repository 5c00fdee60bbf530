// What a robot's Microphone hears: tones of Speakers by distance, direction and motion, hits in their step, and the
// same samples in every run, with and without other listeners, after a reset and from a snapshot.
#define TONE_FOLDER "sound_hearing"
#include "physics/world.h"
#include "record/soundtrack.h"
#include "sound/measure.h"

enum { PLAY = 0, STOP = 1, HEARD_MAX = 4 * RATE };

// A world whose robot 0 has the microphone "mic"; robots behind it may have a "speaker".
typedef struct Listening {
    World world;
    Devices *devices;
    int mic;
    float heard[HEARD_MAX];
    int count;
} Listening;

static bool sample(Sim *sim, void *context)
{
    devices_sample(context, sim_steps(sim));
    return true;
}

static Listening *listening_open_with(const char *text, int period_ms, int threads)
{
    Listening *run = calloc(1, sizeof *run);
    run->world = world_open_with(text, &(SimOptions){ .physics.threads = threads });
    run->devices = sim_devices(run->world.sim);
    sim_devices_in_state(run->world.sim, true);
    sim_add_hook(run->world.sim, SIM_PHASE_DEVICES, sample, run->devices);
    run->mic = devices_find(run->devices, 0, "mic");
    CHECK(run->mic > 0, "there is a microphone");
    if (period_ms > 0)
        devices_enable(run->devices, 0, run->mic, 0, period_ms);
    return run;
}

static Listening *listening_open(const char *text) { return listening_open_with(text, 16, 1); }

static void listening_close(Listening *run)
{
    sim_remove_hooks(run->world.sim, run->devices);
    world_close(&run->world);
    free(run);
}

// Steps, and adds each new reading to what was heard.
static void hear(Listening *run, int steps)
{
    for (int i = 0; i < steps; i++) {
        int count, size;
        uint32_t before, serial;
        devices_reading(run->devices, 0, run->mic, 0, &count, &before);
        world_step(&run->world, 1);
        const double *reading = devices_reading(run->devices, 0, run->mic, 0, &count, &serial);
        if (serial == before)
            continue;
        const int16_t *samples = devices_image(run->devices, 0, run->mic, 0, &size);
        CHECK(count == 1 && reading[0] * 2.0 == size && run->count + size / 2 <= HEARD_MAX, "a reading is its samples");
        for (int k = 0; k < size / 2; k++)
            run->heard[run->count++] = (float)(samples[k] / 32767.0);
    }
}

static void play(Listening *run, int robot, const char *path, double volume, double pitch, bool loops)
{
    int speaker = devices_find(run->devices, robot, "speaker");
    double numbers[6] = { 1, volume, pitch, 0, loops, 0 };
    const char *why = devices_command(run->devices, robot, speaker,
                                      &(DeviceCommand){ PLAY, numbers, 6, path, (int)strlen(path) });
    CHECK(!why, why ? why : "");
}

static void stop(Listening *run, int robot)
{
    CHECK(!devices_command(run->devices, robot, devices_find(run->devices, robot, "speaker"), &(DeviceCommand){ STOP }),
          "it stops");
}

#define INFO "WorldInfo { basicTimeStep 16 gravity 0 }"
#define MICROPHONE(place, fields)                                                                                      \
    "Robot { name \"listener\" translation " place " children Microphone { name \"mic\" " fields " } }"
#define SPEAKER(name, place) "Robot { name \"" name "\" translation " place " children Speaker { } }"

static void tones_have_their_loudness_and_pitch(void **state)
{
    (void)state;
    static const struct {
        const char *place;
        double distance, volume, pitch;
    } cases[] = { { "1 0 0", 1, 0.8, 1 }, { "0 2 0", 2, 1, 1 }, { "0 0 -4", 4, 1, 2 }, { "0.2 0 0", 1, 0.5, 0.5 } };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char text[1024];
        snprintf(text, sizeof text, INFO MICROPHONE("0 0 0", "") "Robot { translation %s children Speaker { } }",
                 cases[i].place);
        Listening *run = listening_open(text);
        play(run, 1, tone_file("tone.wav", 0.5), cases[i].volume, cases[i].pitch, true);
        hear(run, 63);
        CHECK(run->count == (int)(63 * 0.016 * RATE), "nothing is left out");
        double expected = TONE_LEVEL * cases[i].volume / cases[i].distance / sqrt(2.0);
        CHECK_NEAR(rms(run->heard, RATE / 2, run->count), expected, 0.03 * expected, cases[i].place);
        CHECK_NEAR(pitch_of(run->heard, RATE / 20, RATE / 5), TONE_HERTZ * cases[i].pitch, 3.0, cases[i].place);
        listening_close(run);
    }
}

// A cone of a right angle along +x, and 6.02 dB more.
static void aperture_and_sensitivity(void **state)
{
    (void)state;
    static const struct {
        const char *place, *fields;
        double gain;
    } cases[] = { { "2 1.9 0", "aperture 1.5707963", 1 },
                  { "2 2.1 0", "aperture 1.5707963", 0 },
                  { "-2 0 0", "aperture 1.5707963", 0 },
                  { "-2 0 0", "aperture -1", 1 },
                  { "2 0 0", "sensitivity -43.9794001", 2 },
                  { "0 2 0", "sensitivity -70", 0.1 },
                  { "0 2 0", "rotation 0 0 1 1.5707963 aperture 0.2", 1 } };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 INFO "Robot { children Microphone { name \"mic\" %s } } Robot { translation %s children Speaker { } }",
                 cases[i].fields, cases[i].place);
        Listening *run = listening_open(text);
        play(run, 1, tone_file("tone.wav", 0.5), 0.5, 1.0, true);
        hear(run, 32);
        Vec3 at = physics_solid_pose(run->world.physics, devices_info(run->devices, 1, 1)->solid).t;
        double expected = 0.5 * TONE_LEVEL * cases[i].gain / sqrt(2.0) / vec3_length(at);
        CHECK_NEAR(rms(run->heard, RATE / 4, run->count), expected, 0.03 * expected + 1e-6, cases[i].fields);
        listening_close(run);
    }
}

// The ear comes near at 20 m/s, and then the Speaker does.
static void what_comes_near_sounds_higher(void **state)
{
    (void)state;
    static const char *const texts[2] = {
        INFO
        "Robot { translation -60 0 0 linearVelocity 20 0 0 physics Physics { } children Microphone { name \"mic\" } }"
        "Robot { children Speaker { } }",
        INFO "Robot { children Microphone { name \"mic\" } }"
             "Robot { translation -60 0 0 linearVelocity 20 0 0 physics Physics { } children Speaker { } }",
    };
    static const double factors[2] = { (343.3 + 20.0) / 343.3, 343.3 / (343.3 - 20.0) };
    for (int i = 0; i < 2; i++) {
        Listening *run = listening_open_with(texts[i], 16, 1);
        play(run, 1, tone_file("tone.wav", 4.0), 10.0, 1.0, false);
        hear(run, 63);
        CHECK_NEAR(pitch_of(run->heard, RATE / 10, run->count), TONE_HERTZ * factors[i], 1.0, i ? "Speaker" : "ear");
        listening_close(run);
    }
}

// Programs number their sounds from 1: two robots may well use the same number.
static void two_robots_are_two_voices(void **state)
{
    (void)state;
    Listening *run = listening_open(INFO MICROPHONE("0 0 0", "") SPEAKER("a", "1 0 0") SPEAKER("b", "0 4 0"));
    const char *tone = tone_file("tone.wav", 0.5);
    play(run, 1, tone, 0.4, 1.0, true);
    play(run, 2, tone, 0.8, 1.0, true);
    hear(run, 32);
    double expected = TONE_LEVEL * (0.4 + 0.8 / 4.0) / sqrt(2.0);
    CHECK_NEAR(rms(run->heard, RATE / 4, run->count), expected, 0.03 * expected, "both are heard");
    listening_close(run);
}

#define FALLING                                                                                                                      \
    "WorldInfo { basicTimeStep 8 contactProperties ContactProperties { bounce 0 bumpSound \"%s\" slideSound \"\" rollSound \"\" } }" \
    "Robot { name \"listener\" children Microphone { name \"mic\" } }"                                                               \
    "Solid { name \"floor\" boundingObject Plane { } }"                                                                              \
    "Solid { name \"box\" translation 2 0 1.05 boundingObject Box { size 0.1 0.1 0.1 } physics Physics { density -1 mass 1 } }"      \
    "Robot { name \"singer\" translation 0 3 1 children Speaker { } }"

static void a_hit_is_heard_in_its_step(void **state)
{
    (void)state;
    char text[2048];
    snprintf(text, sizeof text, FALLING, tone_file("bump.wav", 0.3));
    Listening *run = listening_open_with(text, 8, 1);
    int hit = -1;
    for (int i = 0; i < 100 && hit < 0; i++) {
        int count;
        hear(run, 1);
        const PhysicsContact *contacts = physics_contacts(run->world.physics, &count);
        if (count > 0 && contacts[0].is_new)
            hit = i;
    }
    CHECK(hit > 50, "it fell");  // 1 m: 0.45 s
    int first = 0;
    while (first < run->count && run->heard[first] == 0.0f)
        first++;
    int begin = (int)(hit * 0.008 * RATE);
    CHECK(first >= begin && first < begin + (int)(0.008 * RATE) + 1, "it is heard in the step of the impact");
    hear(run, 30);
    // 1 kg at 4.4 m/s is more than enough for a gain of 1.
    CHECK_NEAR(rms(run->heard, begin + 500, begin + RATE / 5), TONE_LEVEL / 2.0 / sqrt(2.0), 0.02, "2 m away");
    listening_close(run);
}

typedef struct Samples {
    float *heard;
    int count;
    uint64_t hash;
} Samples;

static Pose at_origin(void *context)
{
    (void)context;
    return POSE_IDENTITY;
}

enum { SONG_STEPS = 200, SONG_CHANGE = 40, SONG_SNAPSHOT = 75 };

// A Speaker that sings, sings otherwise and stops, and a box that falls meanwhile; readings come after every third
// step.
static void sing(Listening *run, int from, int to)
{
    const char *tone = tone_file("song.wav", 0.21);
    for (int step = from; step < to; step++) {
        if (step == 10)
            play(run, 1, tone, 0.7, 1.1, true);
        if (step == SONG_CHANGE)
            play(run, 1, tone, 0.9, 0.7, true);
        if (step == SONG_SNAPSHOT - 1 || step == 150)
            stop(run, 1);
        if (step == 100)
            play(run, 1, tone, 0.5, 1.0, false);
        hear(run, 1);
    }
}

static Samples taken(Listening *run)
{
    Samples all = { malloc(sizeof run->heard), run->count, sim_hash(run->world.sim) };
    memcpy(all.heard, run->heard, sizeof run->heard);
    return all;
}

static void check_same(const Samples *expected, Listening *run, int from, const char *what)
{
    Samples found = taken(run);
    CHECK(found.count == expected->count - from
              && !memcmp(found.heard, expected->heard + from, (size_t)found.count * sizeof(float)),
          what);
    CHECK(found.hash == expected->hash, what);
    free(found.heard);
}

static void samples_are_the_same_in_every_run(void **state)
{
    (void)state;
    char text[2048], path[1024];
    snprintf(text, sizeof text, FALLING, tone_file("bump.wav", 0.3));
    snprintf(path, sizeof path, "%s/song.snap", tone_folder());
    Listening *first = listening_open_with(text, 24, 1);
    sing(first, 0, SONG_STEPS);
    Samples expected = taken(first);
    CHECK(peak(expected.heard, 0, expected.count) > 0.1, "something is heard");
    CHECK(!diag_has_errors(first->world.diags), "all clips are there");

    Listening *threads = listening_open_with(text, 24, 4);
    sing(threads, 0, SONG_STEPS);
    check_same(&expected, threads, 0, "with threads");
    listening_close(threads);

    Listening *watched = listening_open_with(text, 24, 1);
    SoundTrack *track = soundtrack_create(watched->world.sim, watched->devices,
                                          &(SoundTrackOptions){ .stage.law = SOUND_LAW_WEBOTS, .listener = at_origin });
    sing(watched, 0, SONG_STEPS);
    check_same(&expected, watched, 0, "with another listener");
    soundtrack_destroy(track);
    listening_close(watched);

    CHECK(sim_reset(first->world.sim), "reset");
    devices_reset(first->devices, sim_physics(first->world.sim));
    first->world.physics = sim_physics(first->world.sim);
    first->count = 0;
    sing(first, 0, SONG_SNAPSHOT);
    CHECK(sim_snapshot_write(first->world.sim, path), "snapshot");
    int kept = first->count;
    sing(first, SONG_SNAPSHOT, SONG_STEPS);
    CHECK(first->count == expected.count
              && !memcmp(first->heard, expected.heard, (size_t)expected.count * sizeof(float)),
          "after a reset");
    expected.hash = sim_hash(first->world.sim);  // readings go on counting after a reset

    CHECK(sim_snapshot_read(first->world.sim, path), "back to the snapshot");
    first->count = 0;
    sing(first, SONG_SNAPSHOT, SONG_STEPS);
    check_same(&expected, first, kept, "from a snapshot");
    listening_close(first);

    // Another process would know neither clips nor voices.
    Listening *fresh = listening_open_with(text, 0, 1);
    CHECK(sim_snapshot_read(fresh->world.sim, path), "a snapshot from elsewhere");
    sing(fresh, SONG_SNAPSHOT, SONG_STEPS);
    check_same(&expected, fresh, kept, "from a snapshot of another run");
    listening_close(fresh);
    free(expected.heard);
}

// What a damaged snapshot says of voices is refused or taken, and never crashes.
static void damaged_snapshots(void **state)
{
    (void)state;
    char text[2048];
    snprintf(text, sizeof text, FALLING, tone_file("bump.wav", 0.3));
    Listening *run = listening_open_with(text, 24, 1);
    sing(run, 0, 80);
    size_t size = devices_snapshot_size(run->devices);
    char *whole = malloc(size), *damaged = malloc(size);
    devices_snapshot(run->devices, whole);
    uint32_t random = 1;
    int taken_count = 0, refused = 0;
    for (int i = 0; i < 2000; i++) {
        memcpy(damaged, whole, size);
        // Only the last part: voices and samples.
        size_t part = size < 8192 ? size : 8192;
        for (int k = 0; k < 3; k++) {
            random = random * 1664525u + 1013904223u;
            damaged[size - 1 - random % part] = (char)(random >> 24);
        }
        bool is_taken = devices_restore(run->devices, damaged, i % 10 ? size : size - random % part);
        taken_count += is_taken, refused += !is_taken;
        run->count = 0;
        if (is_taken && i % 20 == 0)
            hear(run, 4);
    }
    CHECK(taken_count > 0 && refused > 0, "some are refused");
    CHECK(devices_restore(run->devices, whole, size), "the whole one is taken");
    free(whole);
    free(damaged);
    listening_close(run);
}

// A reading that nobody fetches for long has the newest samples alone, and one that is off none.
static void long_periods_and_off(void **state)
{
    (void)state;
    const char *text = "WorldInfo { basicTimeStep 1000 gravity 0 }" MICROPHONE("0 0 0", "") SPEAKER("a", "1 0 0");
    Listening *run = listening_open_with(text, 25000, 1);
    play(run, 1, tone_file("tone.wav", 0.5), 1.0, 1.0, true);
    world_step(&run->world, 25);
    int size, count;
    uint32_t serial;
    devices_image(run->devices, 0, run->mic, 0, &size);
    CHECK(size == 2 * 10 * RATE, "10 s at most");
    devices_enable(run->devices, 0, run->mic, 0, 0);
    world_step(&run->world, 30);
    devices_reading(run->devices, 0, run->mic, 0, &count, &serial);
    CHECK(serial == 1, "it is off");
    devices_enable(run->devices, 0, run->mic, 0, 1000);
    hear(run, 1);
    CHECK_NEAR(rms(run->heard, RATE / 2, run->count), TONE_LEVEL / sqrt(2.0), 0.02, "it is on again");
    listening_close(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tones_have_their_loudness_and_pitch),
        cmocka_unit_test(aperture_and_sensitivity),
        cmocka_unit_test(what_comes_near_sounds_higher),
        cmocka_unit_test(two_robots_are_two_voices),
        cmocka_unit_test(a_hit_is_heard_in_its_step),
        cmocka_unit_test(samples_are_the_same_in_every_run),
        cmocka_unit_test(damaged_snapshots),
        cmocka_unit_test(long_periods_and_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
