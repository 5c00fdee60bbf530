// hearing.c - what Microphones hear. One stage tells what sounds in the world; each of them, an ear, has voices of its
// own that follow the stage's by their ids, since how far a clip has come depends on where it is heard. All of it is
// state: saved, hashed, restored.
#include "sound/sound_internal.h"

#include "base/hash.h"
#include "base/memory.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// What an ear still hears while all voices of the stage are new to it.
enum { EAR_VOICES = 2 * SOUND_VOICES_MAX, EARS_MAX = 1 << 16 };

typedef struct Ear {
    int robot, tag;
    Voice voices[EAR_VOICES];
    int voice_count;
} Ear;

typedef struct Hearing {
    Devices *devices;
    DiagSink *diags;
    SoundStage *stage;  // NULL until somebody listens: most worlds have nobody
    Ear *ears;
    int ear_count, ear_capacity;
    uint64_t step;  // that the stage has looked at last
    bool has_step;
} Hearing;

// ---- a step ----

static SoundStage *stage_of(Hearing *hearing)
{
    if (!hearing->stage)
        hearing->stage = sound_create(NULL, hearing->diags);
    return hearing->stage;
}

static void begin_silent(Hearing *hearing)
{
    hearing->ear_count = 0;
    hearing->has_step = false;
    if (!hearing->stage)
        return;
    hearing->stage->voice_count = 0;
    hearing->stage->last_id = 0;
    hearing->stage->listed = NULL;
}

// The first ear of a step looks at the world for all of them. With too many voices those near it come first.
static void look(Hearing *hearing, const DeviceEar *ear, uint64_t step, double dt)
{
    SoundStage *stage = stage_of(hearing);
    if (hearing->has_step && hearing->step == step)
        return;
    if (hearing->has_step)
        sound_skip(stage, (double)(step - hearing->step) * dt);
    stage->ears = ear->pose.t;
    // Speakers and motors of a Sim are found in the Physics that the devices have now.
    sound_step(stage, (Physics *)devices_physics(hearing->devices), hearing->devices, (double)step * dt, dt);
    hearing->step = step;
    hearing->has_step = true;
}

static Ear *ear_of(Hearing *hearing, int robot, int tag)
{
    assert_debug(robot >= 0 && tag >= 1);
    for (int i = 0; i < hearing->ear_count; i++)
        if (hearing->ears[i].robot == robot && hearing->ears[i].tag == tag)
            return &hearing->ears[i];
    assert(hearing->ear_count < EARS_MAX);
    memory_grow(&hearing->ears, &hearing->ear_capacity, hearing->ear_count + 1, sizeof *hearing->ears);
    Ear *ear = &hearing->ears[hearing->ear_count++];
    *ear = (Ear){ .robot = robot, .tag = tag };
    return ear;
}

static Voice *find_voice(Voice *voices, int count, uint64_t id)
{
    for (int i = 0; i < count; i++)
        if (voices[i].shown.id == id)
            return &voices[i];
    return NULL;
}

// What the stage has dropped fades out, unless it is a hit, which ends by itself. What began before this ear listened
// fades in.
static void follow(Ear *ear, SoundStage *stage)
{
    for (int i = 0; i < ear->voice_count; i++) {
        Voice *voice = &ear->voices[i];
        const Voice *source = find_voice(stage->voices, stage->voice_count, voice->shown.id);
        if (source)
            voice->shown = source->shown;
        else if (!voice->is_once)
            voice->shown.is_ending = true;
    }
    int known = ear->voice_count;
    for (int i = 0; i < stage->voice_count && ear->voice_count < EAR_VOICES; i++) {
        const Voice *source = &stage->voices[i];
        if (source->shown.is_ending || find_voice(ear->voices, known, source->shown.id))
            continue;
        assert_debug(ear->voice_count < EAR_VOICES);
        Voice *voice = &ear->voices[ear->voice_count++];
        *voice = *source;
        voice->is_once = source->is_once && source->is_new;
        voice->is_new = true;
    }
}

static void hear(void *context, const DeviceEar *at, uint64_t step, double dt, int16_t *samples, int count)
{
    assert_debug(count >= 0 && (samples || count == 0));
    Hearing *hearing = context;
    look(hearing, at, step, dt);
    Ear *ear = ear_of(hearing, at->robot, at->tag);
    follow(ear, hearing->stage);
    SoundListener listener = {
        .pose = at->pose, .velocity = at->velocity, .volume = at->gain, .aperture = at->aperture, .is_mono = true
    };
    ear->voice_count = mixer_mix(hearing->stage, ear->voices, ear->voice_count, &listener, samples, count);
}

static int frame_count(void *context, uint64_t step, double dt)
{
    const SoundStage *stage = stage_of(context);
    return step == 0
               ? 0
               : (int)(sound_frames_at(stage, (double)step * dt) - sound_frames_at(stage, (double)(step - 1) * dt));
}

static void forget(void *context, int robot, int tag)
{
    Hearing *hearing = context;
    int kept = 0;
    for (int i = 0; i < hearing->ear_count; i++)
        if (hearing->ears[i].robot != robot || hearing->ears[i].tag != tag)
            hearing->ears[kept++] = hearing->ears[i];
    hearing->ear_count = kept;
    if (kept == 0)
        begin_silent(hearing);
}

// ---- state ----
// Head, voices of the stage, then of each ear its head and voices.

typedef struct HearingHead {
    uint64_t step, last_id;
    uint32_t voice_count, ear_count;
} HearingHead;

typedef struct EarHead {
    int32_t robot, tag;
    uint32_t voice_count, reserved;
} EarHead;

enum { VOICE_LOOPS = 1, VOICE_ENDS = 2, VOICE_ONCE = 4, VOICE_NEW = 8, VOICE_FLAGS = 15 };

// No padding: these bytes are hashed, up to the name.
typedef struct SavedVoice {
    uint32_t kind, a, b, flags;
    uint64_t id, clip;  // clip: hash of its samples
    double numbers[14];
    double balance;
    int32_t side, is_speech;
    char name[DEVICE_SOUND_NAME];  // of a Speaker's clip, to have it again in another process
} SavedVoice;

static SavedVoice save_voice(SoundStage *stage, const Voice *voice)
{
    assert_debug(voice->shown.clip >= 0 && voice->shown.clip < stage->clip_count);
    const StageClip *clip = &stage->clips[voice->shown.clip];
    SavedVoice saved;
    memset(&saved, 0, sizeof saved);
    saved.kind = voice->key.kind, saved.a = voice->key.a, saved.b = voice->key.b;
    saved.flags = (voice->shown.loops ? VOICE_LOOPS : 0u) | (voice->shown.is_ending ? VOICE_ENDS : 0u)
                  | (voice->is_once ? VOICE_ONCE : 0u) | (voice->is_new ? VOICE_NEW : 0u);
    saved.id = voice->shown.id;
    saved.clip = stage_clip_content(stage, voice->shown.clip);
    Vec3 p = voice->shown.position, v = voice->shown.velocity;
    double numbers[COUNT_OF(saved.numbers)] = {
        voice->shown.gain, voice->shown.pitch, p.x,         p.y,         p.z,         v.x,         v.y, v.z,
        voice->started,    voice->at,          voice->gain, voice->rate, voice->left, voice->right
    };
    memcpy(saved.numbers, numbers, sizeof numbers);
    if (clip->name) {
        saved.balance = clip->balance;
        saved.side = clip->side;
        saved.is_speech = clip->is_speech;
        snprintf(saved.name, sizeof saved.name, "%s", clip->name);
    }
    return saved;
}

static int find_clip(Hearing *hearing, const SavedVoice *saved)
{
    for (int i = 0; i < hearing->stage->clip_count; i++)
        if (stage_clip_content(hearing->stage, i) == saved->clip)
            return i;
    if (!saved->name[0])
        return -1;
    DeviceSound sound = { .is_speech = saved->is_speech, .side = saved->side, .balance = saved->balance };
    memcpy(sound.name, saved->name, sizeof sound.name);
    return stage_speaker_clip(hearing->stage, hearing->devices, &sound);
}

// False: its clip is not to be had any more.
static bool restore_voice(Hearing *hearing, const SavedVoice *saved, Voice *voice)
{
    int clip = find_clip(hearing, saved);
    if (clip < 0)
        return false;
    const double *n = saved->numbers;
    *voice = (Voice){ .key = { saved->kind, saved->a, saved->b },
                      .shown = { .id = saved->id,
                                 .clip = clip,
                                 .loops = saved->flags & VOICE_LOOPS,
                                 .is_ending = saved->flags & VOICE_ENDS,
                                 .gain = n[0],
                                 .pitch = n[1],
                                 .position = { n[2], n[3], n[4] },
                                 .velocity = { n[5], n[6], n[7] } },
                      .is_once = saved->flags & VOICE_ONCE,
                      .is_new = saved->flags & VOICE_NEW,
                      .started = n[8],
                      .at = n[9],
                      .gain = n[10],
                      .rate = n[11],
                      .left = n[12],
                      .right = n[13] };
    return true;
}

static size_t state_size(void *context)
{
    const Hearing *hearing = context;
    if (hearing->ear_count == 0)
        return 0;
    size_t voices = (size_t)hearing->stage->voice_count;
    for (int i = 0; i < hearing->ear_count; i++)
        voices += (size_t)hearing->ears[i].voice_count;
    return sizeof(HearingHead) + (size_t)hearing->ear_count * sizeof(EarHead) + voices * sizeof(SavedVoice);
}

static char *save_voices(SoundStage *stage, const Voice *voices, int count, char *to)
{
    assert_debug(to || count == 0);
    for (int i = 0; i < count; i++, to += sizeof(SavedVoice)) {
        SavedVoice saved = save_voice(stage, &voices[i]);
        memcpy(to, &saved, sizeof saved);
    }
    return to;
}

static void save_state(void *context, void *buffer)
{
    const Hearing *hearing = context;
    SoundStage *stage = hearing->stage;
    HearingHead head = { hearing->step, stage->last_id, (uint32_t)stage->voice_count, (uint32_t)hearing->ear_count };
    char *to = buffer;
    memcpy(to, &head, sizeof head);
    to = save_voices(stage, stage->voices, stage->voice_count, to + sizeof head);
    for (int i = 0; i < hearing->ear_count; i++) {
        const Ear *ear = &hearing->ears[i];
        EarHead ear_head = { ear->robot, ear->tag, (uint32_t)ear->voice_count, 0 };
        memcpy(to, &ear_head, sizeof ear_head);
        to = save_voices(stage, ear->voices, ear->voice_count, to + sizeof ear_head);
    }
}

static uint64_t hash_voices(SoundStage *stage, const Voice *voices, int count, uint64_t hash)
{
    hash = hash_combine(hash, (uint64_t)count);
    for (int i = 0; i < count; i++) {
        SavedVoice saved = save_voice(stage, &voices[i]);
        hash = hash_bytes(&saved, offsetof(SavedVoice, name), hash);
    }
    return hash;
}

static uint64_t hash_state(void *context, uint64_t hash)
{
    const Hearing *hearing = context;
    SoundStage *stage = hearing->stage;
    if (hearing->ear_count == 0)
        return hash;
    hash = hash_voices(stage, stage->voices, stage->voice_count, hash_combine(hash, stage->last_id));
    for (int i = 0; i < hearing->ear_count; i++)
        hash = hash_voices(stage, hearing->ears[i].voices, hearing->ears[i].voice_count, hash);
    return hash;
}

static bool voice_is_sound(const SavedVoice *saved)
{
    for (int i = 0; i < COUNT_OF(saved->numbers); i++)
        if (!(fabs(saved->numbers[i]) <= 1e15))
            return false;
    const double *n = saved->numbers;
    return saved->kind <= VOICE_SPEAKER && saved->flags <= VOICE_FLAGS && n[9] >= 0.0 && n[11] >= 0.0 && n[11] <= 1e9
           && saved->side >= -1 && saved->side <= 1 && fabs(saved->balance) <= 1.0
           && memchr(saved->name, '\0', sizeof saved->name);
}

// NULL when they do not fit; else what follows them.
static const char *check_voices(const char *from, size_t *left, uint32_t count, uint32_t max)
{
    if (count > max || *left < count * sizeof(SavedVoice))
        return NULL;
    *left -= count * sizeof(SavedVoice);
    for (uint32_t i = 0; i < count; i++, from += sizeof(SavedVoice)) {
        SavedVoice saved;
        memcpy(&saved, from, sizeof saved);
        if (!voice_is_sound(&saved))
            return NULL;
    }
    return from;
}

static bool is_microphone(const Devices *devices, int robot, int tag)
{
    return devices_robot_exists(devices, robot) && tag >= 1 && tag <= devices_count(devices, robot)
           && scene_node_is(devices_info(devices, robot, tag)->node, "Microphone");
}

static bool state_is_sound(void *context, const void *buffer, size_t size)
{
    const Hearing *hearing = context;
    HearingHead head;
    if (size < sizeof head)
        return false;
    memcpy(&head, buffer, sizeof head);
    size_t left = size - sizeof head;
    const char *from = check_voices((const char *)buffer + sizeof head, &left, head.voice_count, SOUND_VOICES_MAX);
    if (head.ear_count > EARS_MAX)
        return false;
    for (uint32_t i = 0; from && i < head.ear_count; i++) {
        EarHead ear;
        if (left < sizeof ear)
            return false;
        memcpy(&ear, from, sizeof ear);
        left -= sizeof ear;
        if (!is_microphone(hearing->devices, ear.robot, ear.tag))
            return false;
        from = check_voices(from + sizeof ear, &left, ear.voice_count, EAR_VOICES);
    }
    return from && left == 0;
}

static const char *restore_voices(Hearing *hearing, const char *from, uint32_t count, Voice *voices, int *voice_count)
{
    *voice_count = 0;
    for (uint32_t i = 0; i < count; i++, from += sizeof(SavedVoice)) {
        SavedVoice saved;
        memcpy(&saved, from, sizeof saved);
        assert_debug(*voice_count >= 0);
        *voice_count += restore_voice(hearing, &saved, &voices[*voice_count]);
    }
    return from;
}

static void restore_state(void *context, const void *buffer, size_t size)
{
    Hearing *hearing = context;
    begin_silent(hearing);
    if (size == 0)
        return;
    HearingHead head;
    memcpy(&head, buffer, sizeof head);
    SoundStage *stage = stage_of(hearing);
    stage_list(stage, (Physics *)devices_physics(hearing->devices));
    const char *from = restore_voices(hearing, (const char *)buffer + sizeof head, head.voice_count, stage->voices,
                                      &stage->voice_count);
    for (uint32_t i = 0; i < head.ear_count; i++) {
        EarHead ear_head;
        memcpy(&ear_head, from, sizeof ear_head);
        Ear *ear = ear_of(hearing, ear_head.robot, ear_head.tag);
        from = restore_voices(hearing, from + sizeof ear_head, ear_head.voice_count, ear->voices, &ear->voice_count);
    }
    stage->last_id = head.last_id;
    hearing->step = head.step;
    hearing->has_step = true;
}

// ---- life ----

static void destroy(void *context)
{
    Hearing *hearing = context;
    sound_destroy(hearing->stage);
    free(hearing->ears);
    free(hearing);
}

void sound_give_hearing(Devices *devices, DiagSink *diags)
{
    assert_debug(devices && diags);
    Hearing *hearing = memory_alloc(sizeof *hearing);
    hearing->devices = devices;
    hearing->diags = diags;
    devices_set_hearing(devices, &(DeviceHearing){ .context = hearing,
                                                   .frame_count = frame_count,
                                                   .hear = hear,
                                                   .forget = forget,
                                                   .size = state_size,
                                                   .save = save_state,
                                                   .hash = hash_state,
                                                   .is_sound = state_is_sound,
                                                   .restore = restore_state,
                                                   .destroy = destroy });
}
