// What a world sounds like, measured on the samples: hits, sliding, rolling, motors, loops without clicks, and that
// listening changes nothing. Clips are tones that the test makes, so that gain is an amplitude and pitch a frequency.
#define TONE_FOLDER "sound_stage"
#include "physics/world.h"

#include "physics/joints/motor.h"
#include "record/soundtrack.h"
#include "sound/measure.h"
#include "sound/tuning.h"

// A run that is heard from straight behind at `distance`: both sides get cos(pi / 4) of it.
typedef struct Heard {
    World world;
    SoundTrack *track;
    float *left, *right;
    int count, capacity;
} Heard;

static Pose listener_pose;
static Pose where(void *context)
{
    (void)context;
    return listener_pose;
}

static Heard listen(const char *text, SoundLaw law)
{
    Heard heard = { .world = world_open(text) };
    heard.track = soundtrack_create(heard.world.sim, NULL, &(SoundTrackOptions){ .stage.law = law, .listener = where });
    return heard;
}

static void hear(Heard *heard, int steps)
{
    for (int i = 0; i < steps; i++) {
        world_step(&heard->world, 1);
        int count;
        const int16_t *frames = soundtrack_frames(heard->track, &count);
        heard->left = realloc(heard->left, (size_t)(heard->count + count) * sizeof(float));
        heard->right = realloc(heard->right, (size_t)(heard->count + count) * sizeof(float));
        for (int k = 0; k < count; k++) {
            heard->left[heard->count] = (float)(frames[2 * k] / 32767.0);
            heard->right[heard->count++] = (float)(frames[2 * k + 1] / 32767.0);
        }
    }
}

static void close_heard(Heard *heard)
{
    soundtrack_destroy(heard->track);
    world_close(&heard->world);
    free(heard->left);
    free(heard->right);
}

static double largest_jump(const float *samples, int count)
{
    double most = 0.0;
    for (int i = 1; i < count; i++)
        most = fmax(most, fabs((double)samples[i] - (double)samples[i - 1]));
    return most;
}

#define BEHIND(d) (listener_pose = (Pose){ { -(d), 0, 0 }, { 1, 0, 0, 0 } })
#define SIDE 0.70710678118654752  // of a source straight ahead, in each channel

// A mass falls onto the ground: the hit is heard in the step in which they meet, with the energy of the fall.
static void hits_have_the_time_and_energy_of_the_impact(void **state)
{
    (void)state;
    static const struct {
        double mass, speed;
    } cases[] = { { 0.01, 0.5 }, { 0.02, 0.25 }, { 0.003, 1.0 }, { 0.05, 0.3 } };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char text[2048], name[64];
        // It starts with its speed, without gravity, and meets the ground after a quarter of a second.
        double height = 0.05 + 0.25 * cases[i].speed;
        snprintf(name, sizeof name, "mass %g speed %g", cases[i].mass, cases[i].speed);
        snprintf(
            text, sizeof text,
            "WorldInfo { basicTimeStep 4 gravity 0 contactProperties ContactProperties { bounce 0 bumpSound \"%s\" rollSound \"\" slideSound \"\" } }"
            "Solid { name \"floor\" boundingObject Plane { } }"
            "DEF B Solid { name \"b\" translation 0 0 %.17g linearVelocity 0 0 %.17g boundingObject Sphere { radius 0.05 }"
            " physics Physics { density -1 mass %.17g } }",
            tone_file("bump.wav", 0.2), height, -cases[i].speed, cases[i].mass);
        BEHIND(1.0);
        Heard heard = listen(text, SOUND_LAW_TALUS);
        hear(&heard, 125);
        int begin = 0;
        while (begin < heard.count && heard.left[begin] == 0.0f)
            begin++;
        CHECK_NEAR((double)begin / RATE, 0.25, 0.004 + 2.0 / RATE, name);  // one step
        double energy = 0.5 * cases[i].mass * cases[i].speed * cases[i].speed, gain = fmin(10.0 * sqrt(energy), 1.0);
        double expected = gain * TONE_LEVEL * SIDE / hypot(1.0, 0.05);
        CHECK_NEAR(peak(heard.left, begin, begin + 4000), expected, 0.02 * expected,
                   name);  // 2 %: 16 bits and where the sphere is
        CHECK_NEAR(peak(heard.right, begin, begin + 4000), expected, 0.02 * expected, name);
        CHECK_NEAR(pitch_of(heard.left, begin, begin + 4000), TONE_HERTZ, 2.0, name);
        CHECK(peak(heard.left, begin + (int)(0.21 * RATE), heard.count) == 0.0, "it ends with its clip");
        close_heard(&heard);
    }
}

// A box that glides over the ground without friction keeps its speed.
static const char slider_text[] =
    "WorldInfo { basicTimeStep 8 contactProperties ContactProperties { coulombFriction 0 bumpSound \"\" rollSound \"\" slideSound \"%s\" } }"
    "Solid { name \"floor\" boundingObject Plane { size 100 100 } }"
    "DEF B Solid { name \"b\" translation 0 0 0.1 linearVelocity 0 %.17g 0 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { density -1 mass 1 } }";

static void drive(World *world, double speed)
{
    physics_motor_set_position(world->physics, 0, 0, INFINITY);
    physics_motor_set_velocity(world->physics, 0, 0, speed);
}

static void sliding_has_the_gain_and_pitch_of_its_speed(void **state)
{
    (void)state;
    static const double speeds[] = { 0.09, 0.25, 0.64, 2.0 };
    for (int i = 0; i < COUNT_OF(speeds); i++) {
        char text[2048], name[64];
        snprintf(name, sizeof name, "speed %g", speeds[i]);
        snprintf(text, sizeof text, slider_text, tone_file("slide.wav", 0.5), speeds[i]);
        Heard heard = listen(text, SOUND_LAW_TALUS);
        // Far away and ahead, so that the box hardly changes its distance and does not come nearer.
        BEHIND(20.0);
        hear(&heard, 100);
        double gain = sqrt(fmin(speeds[i], 1.0)), pitch = 0.8 + 0.4 * gain;
        int from = heard.count / 2, to = heard.count;
        double y = world_position(&heard.world, "B").y, angle = atan2(y, 20.0);
        double expected = gain * TONE_LEVEL / sqrt(2.0) / 20.0;
        double total = hypot(rms(heard.left, from, to), rms(heard.right, from, to));
        CHECK_NEAR(total, expected, 0.05 * expected, name);  // 5 %: cross-fades of the loop, its place
        // Two percent: Doppler's shift is at most sin(angle) v / c.
        CHECK_NEAR(pitch_of(heard.left, from, to), pitch * TONE_HERTZ,
                   0.02 * TONE_HERTZ + TONE_HERTZ * fabs(sin(angle)) * speeds[i] / 343.0, name);
        close_heard(&heard);
    }
}

static void rolling_has_the_gain_and_pitch_of_its_spin(void **state)
{
    (void)state;
    static const double spins[] = { 3.0, 7.0, 20.0 };
    for (int i = 0; i < COUNT_OF(spins); i++) {
        char text[2048], name[64];
        snprintf(name, sizeof name, "spin %g", spins[i]);
        double radius = 0.05, speed = spins[i] * radius;
        snprintf(
            text, sizeof text,
            "WorldInfo { basicTimeStep 4 contactProperties ContactProperties { coulombFriction 1 bumpSound \"\" slideSound \"\" rollSound \"%s\" } }"
            "Solid { name \"floor\" boundingObject Plane { size 100 100 } }"
            "DEF B Solid { name \"b\" translation 0 0 0.05 linearVelocity 0 %.17g 0 angularVelocity %.17g 0 0 boundingObject Sphere { radius 0.05 }"
            " physics Physics { density -1 mass 0.5 } }",
            tone_file("roll.wav", 0.5), speed, -spins[i]);
        BEHIND(20.0);
        Heard heard = listen(text, SOUND_LAW_TALUS);
        hear(&heard, 150);
        double gain = fmin(spins[i] / (5.0 * M_PI), 1.0), pitch = 0.85 + 0.3 * gain,
               expected = gain * TONE_LEVEL / sqrt(2.0) / 20.0;
        int from = heard.count / 2, to = heard.count;
        double total = hypot(rms(heard.left, from, to), rms(heard.right, from, to));
        CHECK_NEAR(total, expected, 0.05 * expected, name);
        CHECK_NEAR(pitch_of(heard.left, from, to), pitch * TONE_HERTZ, 0.02 * TONE_HERTZ, name);
        close_heard(&heard);
    }
}

static const char motor_text[] =
    "WorldInfo { basicTimeStep 8 gravity 0 }"
    "Robot { name \"r\" children [ HingeJoint { jointParameters HingeJointParameters { axis 0 0 1 }"
    "  device RotationalMotor { name \"m\" sound \"%s\" maxVelocity 10 maxTorque 1000 }"
    "  endPoint DEF B Solid { name \"b\" physics Physics { density -1 mass 1 inertiaMatrix [ 1 1 1, 0 0 0 ] centerOfMass [ 0 0 0 ] } } } ] }";

static void motors_are_heard_by_their_share_of_speed(void **state)
{
    (void)state;
    static const double speeds[] = { 0.5, 2.0, 5.0, 10.0 };
    for (int i = 0; i < COUNT_OF(speeds); i++) {
        char text[2048], name[64];
        double share = speeds[i] / 10.0, gain = share > 0.1 ? 0.9 + 0.1 * share : 0.0, pitch = 0.6 + 0.8 * share;
        snprintf(name, sizeof name, "speed %g", speeds[i]);
        snprintf(text, sizeof text, motor_text, tone_file("motor.wav", 0.5));
        BEHIND(2.0);
        Heard heard = listen(text, SOUND_LAW_TALUS);
        drive(&heard.world, speeds[i]);
        hear(&heard, 100);
        int from = heard.count / 2, to = heard.count;
        double expected = gain * TONE_LEVEL / sqrt(2.0) / 2.0;
        CHECK_NEAR(hypot(rms(heard.left, from, to), rms(heard.right, from, to)), expected, 0.03 * expected, name);
        if (gain > 0.0)
            CHECK_NEAR(pitch_of(heard.left, from, to), pitch * TONE_HERTZ, 0.02 * TONE_HERTZ, name);
        close_heard(&heard);
    }
}

// Begin, loop, changes of speed and the end leave no jump that the tone itself does not make.
static void nothing_clicks(void **state)
{
    (void)state;
    char text[2048];
    snprintf(text, sizeof text, motor_text, tone_file("odd.wav", 0.2513));  // no whole number of periods
    BEHIND(1.0);
    Heard heard = listen(text, SOUND_LAW_TALUS);
    static const double speeds[] = { 5.0, 10.0, 2.0, 0.0, 8.0, 0.0 };
    for (int i = 0; i < COUNT_OF(speeds); i++) {
        drive(&heard.world, speeds[i]);
        hear(&heard, 60);
    }
    // The steepest place of the tone at pitch 1.4; cross-fades of two of them reach sqrt(2) of it.
    double steepest = TONE_LEVEL * SIDE * 2.0 * M_PI * TONE_HERTZ * 1.4 / RATE;
    CHECK(largest_jump(heard.left, heard.count) < 1.5 * steepest, "left");
    CHECK(largest_jump(heard.right, heard.count) < 1.5 * steepest, "right");
    CHECK(peak(heard.left, heard.count - RATE / 20, heard.count) == 0.0, "it is silent in the end");
    close_heard(&heard);
}

// A source on the left is on the left, by the angle.
static void direction_and_distance(void **state)
{
    (void)state;
    static const struct {
        double x, y, left, right, distance;
    } cases[] = { { 2, 0, SIDE, SIDE, 2 },
                  { 0, 2, 1, 0, 2 },
                  { 0, -4, 0, 1, 4 },
                  { 0.3, 0, SIDE, SIDE, 1 },
                  { -3, 0, SIDE, SIDE, 3 } };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char text[2048], name[64];
        snprintf(name, sizeof name, "at %g %g", cases[i].x, cases[i].y);
        snprintf(text, sizeof text, motor_text, tone_file("place.wav", 0.5));
        listener_pose = (Pose){ { -cases[i].x, -cases[i].y, 0 }, { 1, 0, 0, 0 } };
        Heard heard = listen(text, SOUND_LAW_TALUS);
        drive(&heard.world, 10.0);
        hear(&heard, 60);
        double whole = TONE_LEVEL / sqrt(2.0) / cases[i].distance;
        CHECK_NEAR(rms(heard.left, heard.count / 2, heard.count), cases[i].left * whole, 0.03 * whole, name);
        CHECK_NEAR(rms(heard.right, heard.count / 2, heard.count), cases[i].right * whole, 0.03 * whole, name);
        close_heard(&heard);
    }
}

static void a_pile_has_a_bounded_number_of_voices_and_what_rests_is_silent(void **state)
{
    (void)state;
    Text text = { 0 };
    text_add_string(&text,
                    "WorldInfo { basicTimeStep 8 } Solid { name \"floor\" boundingObject Plane { size 100 100 } }");
    for (int i = 0; i < 80; i++)
        text_printf(
            &text,
            "Solid { name \"b%d\" translation %d %d %g boundingObject Box { size 0.2 0.2 0.2 } physics Physics { density 500 } }",
            i, i % 9, i / 9, 0.5 + 0.003 * i);
    BEHIND(3.0);
    Heard heard = listen(text.data, SOUND_LAW_TALUS);
    int most = 0;
    for (int i = 0; i < 250; i++) {
        hear(&heard, 1);
        most = int_max(most, sound_voice_count(soundtrack_stage(heard.track)));
        CHECK(sound_voice_count(soundtrack_stage(heard.track)) <= SOUND_VOICES_MAX, "bounded");
    }
    CHECK(most == SOUND_VOICES_MAX, "all were in use");
    CHECK(peak(heard.left, 0, heard.count) <= 1.0, "within range");
    CHECK(peak(heard.left, heard.count - RATE / 4, heard.count) == 0.0, "what rests is silent");
    close_heard(&heard);
    text_free(&text);
}

static void listening_changes_nothing_and_repeats(void **state)
{
    (void)state;
    char text[2048];
    snprintf(text, sizeof text, slider_text, tone_file("same.wav", 0.3), 0.7);
    uint64_t hashes[3];
    float *first = NULL;
    int count = 0;
    BEHIND(2.0);
    for (int i = 0; i < 3; i++) {
        Heard heard = { 0 };
        if (i < 2)
            heard = listen(text, SOUND_LAW_TALUS);
        else
            heard.world = world_open(text);
        if (i < 2)
            hear(&heard, 120);
        else
            world_step(&heard.world, 120);
        hashes[i] = sim_hash(heard.world.sim);
        if (i == 0) {
            first = heard.left;
            count = heard.count;
            heard.left = NULL;
        } else if (i == 1) {
            CHECK(heard.count == count && !memcmp(first, heard.left, (size_t)count * sizeof *first),
                  "the same samples twice");
        }
        close_heard(&heard);
    }
    CHECK(hashes[0] == hashes[1] && hashes[0] == hashes[2], "the same run, heard or not");
    free(first);
}

// Webots' rule: a hit is heard one step after the pair met, and only where ContactProperties are.
static void webots_law(void **state)
{
    (void)state;
    char text[2048];
    snprintf(
        text, sizeof text,
        "WorldInfo { basicTimeStep 4 contactProperties ContactProperties { coulombFriction 0 bounce 0 bumpSound \"%s\" rollSound \"\" slideSound \"\" } }"
        "Solid { name \"floor\" boundingObject Plane { } }"
        "DEF B Solid { name \"b\" translation 0 0 0.175 linearVelocity 0.5 0 -0.5 boundingObject Sphere { radius 0.05 }"
        " physics Physics { density -1 mass 0.01 } }",
        tone_file("webots.wav", 0.2));
    BEHIND(1.0);
    Heard heard = listen(text, SOUND_LAW_WEBOTS);
    hear(&heard, 100);
    CHECK(peak(heard.left, 0, heard.count) > 0.0, "it is heard");
    close_heard(&heard);
    // Without ContactProperties it is silent, where the mended law has a clip.
    static const char plain[] =
        "WorldInfo { basicTimeStep 4 } Solid { name \"floor\" boundingObject Plane { } }"
        "Solid { name \"b\" translation 0 0 0.3 boundingObject Sphere { radius 0.05 } physics Physics { } }";
    heard = listen(plain, SOUND_LAW_WEBOTS);
    hear(&heard, 100);
    CHECK(peak(heard.left, 0, heard.count) == 0.0, "silent");
    close_heard(&heard);
    heard = listen(plain, SOUND_LAW_TALUS);
    hear(&heard, 100);
    CHECK(peak(heard.left, 0, heard.count) > 0.0, "heard");
    close_heard(&heard);
}

// Missing, broken, empty, one-sample and very fine clips: said where there is something to say, and the run goes on.
static void odd_clips(void **state)
{
    (void)state;
    const char *folder = support_scratch("sound_odd");
    static const struct {
        const char *name;
        int rate, frames;
        const char *raw;
        const char *said;
    } cases[] = {
        { "none.wav", 0, 0, NULL, "none.wav" },
        { "broken.wav", 0, 0, "RIFF....WAVEnonsense", "cannot read sound" },
        { "empty.wav", 0, 0, "", "cannot read sound" },
        { "one.wav", 44100, 1, NULL, NULL },
        { "fine.wav", 192000, 19200, NULL, NULL },
        { "coarse.wav", 8000, 800, NULL, NULL },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char path[1024], text[2048];
        snprintf(path, sizeof path, "%s/%s", folder, cases[i].name);
        if (cases[i].raw)
            support_write(path, cases[i].raw);
        if (cases[i].frames > 0) {
            float *samples = calloc((size_t)cases[i].frames, sizeof *samples);
            for (int k = 0; k < cases[i].frames; k++)
                samples[k] = (float)(0.5 * sin(2.0 * M_PI * 400.0 * k / cases[i].rate));
            Clip *clip = clip_create(1, cases[i].rate, cases[i].frames, samples);
            Text wav = { 0 };
            clip_encode_wav(clip, &wav);
            FILE *file = fopen(path, "wb");
            CHECK(file && fwrite(wav.data, 1, wav.length, file) == wav.length && fclose(file) == 0, path);
            text_free(&wav);
            clip_destroy(clip);
            free(samples);
        }
        snprintf(text, sizeof text, motor_text, path);
        BEHIND(1.0);
        Heard heard = listen(text, SOUND_LAW_TALUS);
        drive(&heard.world, 10.0);
        hear(&heard, 30);
        bool is_said = false;
        for (int k = 0; k < diag_count(heard.world.diags); k++)
            is_said |= cases[i].said && strstr(diag_at(heard.world.diags, k)->message, cases[i].said);
        CHECK(is_said == (cases[i].said != NULL), cases[i].name);
        CHECK(cases[i].said ? peak(heard.left, 0, heard.count) == 0.0 : true, cases[i].name);
        if (cases[i].frames > 1)
            CHECK_NEAR(pitch_of(heard.left, heard.count / 2, heard.count), 1.4 * 400.0, 25.0, cases[i].name);
        close_heard(&heard);
    }
}

// Glances between two looks: the hit of a ball is heard in its step, and a box that slides is one voice all the time.
static void glances_hear_hits_and_let_sliding_go_on(void **state)
{
    (void)state;
    World world = world_open(
        "WorldInfo { basicTimeStep 4 contactProperties ContactProperties { coulombFriction 0.1 bounce 0 } }"
        "Solid { name \"floor\" boundingObject Plane { } }"
        "Solid { name \"box\" translation 0 0 0.05 linearVelocity 2 0 0 boundingObject Box { size 0.1 0.1 0.1 }"
        " physics Physics { } }"
        "Solid { name \"ball\" translation 0 3 0.25 boundingObject Sphere { radius 0.05 } physics Physics { } }");
    SoundStage *stage = sound_create(NULL, world.diags);
    sound_prepare(stage, world.physics);
    CHECK(sound_clip_count(stage) == 3, "bump, roll and slide are ready");
    uint64_t sliding = 0;
    int hits_at = -1, slides = 0;
    for (int i = 0; i < 100; i++) {
        world_step(&world, 1);
        (i % 8 == 0 ? sound_step : sound_glance)(stage, world.physics, NULL, 0.004 * (i + 1), 0.004);
        for (int k = 0; k < sound_voice_count(stage); k++) {
            SoundVoice voice = sound_voice(stage, k), found;
            CHECK(sound_find_voice(stage, voice.id, &found) && found.clip == voice.clip, "a voice is found");
            if (voice.loops && voice.position.y < 1.0 && !voice.is_ending) {
                sliding = sliding ? sliding : voice.id;
                slides += voice.id == sliding;
            }
            if (!voice.loops && voice.position.y > 1.0 && hits_at < 0)
                hits_at = i;
        }
        sound_skip(stage, 0.004);
    }
    // It falls 0.2 m: 0.202 s, the 51st step.
    CHECK(hits_at >= 49 && hits_at <= 51, "the hit is heard in its step");
    CHECK(slides >= 90, "sliding does not stop at a glance");
    CHECK(!sound_find_voice(stage, UINT64_MAX, &(SoundVoice){ 0 }), "nothing is found that is not there");
    sound_destroy(stage);
    world_close(&world);
}

// Voices of a recording have the shift of their speed, too.
static void told_voices_come_near(void **state)
{
    (void)state;
    static float tone[RATE];
    static int16_t frames[2 * RATE];
    static float left[RATE];
    for (int i = 0; i < RATE; i++)
        tone[i] = (float)(TONE_LEVEL * sin(2.0 * M_PI * TONE_HERTZ * i / RATE));
    DiagSink *diags = diag_create();
    SoundStage *stage = sound_create(NULL, diags);
    SoundVoice voice = {
        .id = 1, .clip = sound_add_clip(stage, clip_create(1, RATE, RATE, tone)), .gain = 1, .pitch = 1
    };
    voice.position = vec3(9, 0, 0);
    voice.velocity = vec3(-20, 5, 0);
    sound_tell(stage, &voice);
    sound_mix(stage, &(SoundListener){ .pose = POSE_IDENTITY, .volume = 1.0 }, frames, RATE / 2);
    for (int i = 0; i < RATE / 2; i++)
        left[i] = (float)(frames[2 * i] / 32767.0);
    CHECK_NEAR(pitch_of(left, RATE / 10, RATE / 2), TONE_HERTZ * 343.3 / (343.3 - 20.0), 1.0, "nearer at 20 m/s");
    sound_destroy(stage);
    diag_destroy(diags);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hits_have_the_time_and_energy_of_the_impact),
        cmocka_unit_test(sliding_has_the_gain_and_pitch_of_its_speed),
        cmocka_unit_test(rolling_has_the_gain_and_pitch_of_its_spin),
        cmocka_unit_test(motors_are_heard_by_their_share_of_speed),
        cmocka_unit_test(nothing_clicks),
        cmocka_unit_test(direction_and_distance),
        cmocka_unit_test(a_pile_has_a_bounded_number_of_voices_and_what_rests_is_silent),
        cmocka_unit_test(listening_changes_nothing_and_repeats),
        cmocka_unit_test(webots_law),
        cmocka_unit_test(odd_clips),
        cmocka_unit_test(glances_hear_hits_and_let_sliding_go_on),
        cmocka_unit_test(told_voices_come_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
