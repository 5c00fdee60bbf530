// voices.c - the life of voices: requests of a step begin new ones, change those that sound, and what nobody asks for
// ends.
#include "sound/sound_internal.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

SoundStage *sound_create(const SoundOptions *options, DiagSink *diags)
{
    assert_debug(diags);
    SoundStage *stage = memory_alloc(sizeof *stage);
    stage->diags = diags;
    stage->law = options ? options->law : SOUND_LAW_TALUS;
    stage->rate = options && options->rate > 0 ? options->rate : 44100;
    for (int i = 0; i < COUNT_OF(stage->default_clips); i++)
        stage->default_clips[i] = -1;
    return stage;
}

void sound_destroy(SoundStage *stage)
{
    if (!stage)
        return;
    for (int i = 0; i < stage->clip_count; i++) {
        free(stage->clips[i].once);
        free(stage->clips[i].loop);
        free(stage->clips[i].name);
        clip_destroy(stage->clips[i].own);
    }
    free(stage->clips);
    free(stage->properties);
    free(stage->motors);
    free(stage->requests);
    free(stage->pairs);
    free(stage);
}

static bool is_same_key(VoiceKey a, VoiceKey b) { return a.kind == b.kind && a.a == b.a && a.b == b.b; }

static double loudness(const SoundStage *stage, const VoiceRequest *request)
{
    return request->gain / double_max(vec3_distance(request->position, stage->ears), 1.0);
}

// The voice that sounds for this request; NULL when it has none yet.
static Voice *voice_of(SoundStage *stage, const VoiceRequest *request)
{
    for (int i = 0; i < stage->voice_count; i++) {
        Voice *voice = &stage->voices[i];
        if (!request->is_once && !voice->is_once && !voice->shown.is_ending && is_same_key(voice->key, request->key)
            && stage_clips_equal(stage, voice->shown.clip, request->clip))
            return voice;
    }
    return NULL;
}

static void update_voice(Voice *voice, const VoiceRequest *request)
{
    voice->shown.gain = request->gain;
    voice->shown.pitch = request->pitch;
    voice->shown.loops = request->loops;
    voice->shown.position = request->position;
    voice->shown.velocity = request->velocity;
}

// One that has only just begun is as loud as it is to be.
static Voice *quietest_voice(SoundStage *stage, double *loudness_of_it)
{
    Voice *quietest = NULL;
    *loudness_of_it = INFINITY;
    for (int i = 0; i < stage->voice_count; i++) {
        Voice *voice = &stage->voices[i];
        double gain = voice->is_new ? voice->shown.gain : voice->gain;
        double heard = gain / double_max(vec3_distance(voice->shown.position, stage->ears), 1.0);
        if (heard < *loudness_of_it) {
            *loudness_of_it = heard;
            quietest = voice;
        }
    }
    return quietest;
}

static void begin_voice(SoundStage *stage, Voice *voice, const VoiceRequest *request, double time)
{
    assert_debug(request->clip >= 0 && request->clip < stage->clip_count);
    *voice = (Voice){ .key = request->key,
                      .is_once = request->is_once,
                      .is_new = true,
                      .started = time,
                      .at = request->start * stage->clips[request->clip].clip->rate };
    voice->shown = (SoundVoice){ .id = ++stage->last_id, .clip = request->clip };
    update_voice(voice, request);
}

// When all places are taken the quietest voice makes room, if it is quieter.
static void begin_voices(SoundStage *stage, double time)
{
    Voice *quietest = NULL;
    double min = 0.0;
    for (int i = 0; i < stage->request_count; i++) {
        const VoiceRequest *request = &stage->requests[i];
        if (!(request->gain > 0.0))
            continue;
        if (stage->voice_count < SOUND_VOICES_MAX) {
            assert_debug(stage->voice_count < SOUND_VOICES_MAX);
            begin_voice(stage, &stage->voices[stage->voice_count++], request, time);
            continue;
        }
        if (!quietest)
            quietest = quietest_voice(stage, &min);
        if (loudness(stage, request) > min) {
            begin_voice(stage, quietest, request, time);
            quietest = NULL;
        }
    }
}

static bool is_of_touching(VoiceKey key) { return key.kind == VOICE_SLIDE || key.kind == VOICE_ROLL; }

void voices_take(SoundStage *stage, double time, bool is_glance)
{
    bool is_asked[SOUND_VOICES_MAX] = { false };
    int before = stage->voice_count;
    for (int i = 0; i < stage->request_count; i++) {
        VoiceRequest *request = &stage->requests[i];
        Voice *voice = voice_of(stage, request);
        if (!voice)
            continue;
        update_voice(voice, request);
        assert_debug(voice - stage->voices < stage->voice_count);
        is_asked[voice - stage->voices] = true;
        request->gain = -1.0;  // served
    }
    for (int i = 0; i < before; i++)
        if (!stage->voices[i].is_once && !is_asked[i] && !(is_glance && is_of_touching(stage->voices[i].key)))
            stage->voices[i].shown.is_ending = true;
    begin_voices(stage, time);
}

void sound_prepare(SoundStage *stage, Physics *physics) { stage_list(stage, physics); }

static void look(SoundStage *stage, Physics *physics, const Devices *devices, double time, double dt, bool is_glance)
{
    stage_list(stage, physics);
    stage->request_count = 0;
    if (stage->law == SOUND_LAW_WEBOTS)
        sources_contacts_webots(stage, physics, time);
    else
        sources_contacts(stage, physics, time, is_glance);
    sources_motors(stage, physics);
    sources_speakers(stage, devices, time - dt);
    voices_take(stage, time, is_glance && stage->law != SOUND_LAW_WEBOTS);
}

void sound_step(SoundStage *stage, Physics *physics, const Devices *devices, double time, double dt)
{
    look(stage, physics, devices, time, dt, false);
}

void sound_glance(SoundStage *stage, Physics *physics, const Devices *devices, double time, double dt)
{
    look(stage, physics, devices, time, dt, true);
}

int sound_add_clip(SoundStage *stage, Clip *clip)
{
    return stage_add_clip(stage, (StageClip){ .clip = clip, .own = clip });
}

static Voice *told_voice(SoundStage *stage, uint64_t id)
{
    for (int i = 0; i < stage->voice_count; i++)
        if (stage->voices[i].shown.id == id)
            return &stage->voices[i];
    return NULL;
}

void sound_tell(SoundStage *stage, const SoundVoice *told)
{
    assert(told->clip >= 0 && told->clip < stage->clip_count);
    VoiceRequest request = { .clip = told->clip,
                             .loops = told->loops,
                             .is_once = !told->loops,
                             .gain = told->gain,
                             .pitch = told->pitch,
                             .position = told->position,
                             .velocity = told->velocity };
    Voice *voice = told_voice(stage, told->id);
    if (voice) {
        request.loops = voice->shown.loops;
        update_voice(voice, &request);
        return;
    }
    double min = -1.0;
    voice = stage->voice_count < SOUND_VOICES_MAX ? &stage->voices[stage->voice_count++] : quietest_voice(stage, &min);
    if (loudness(stage, &request) <= min)
        return;
    begin_voice(stage, voice, &request, 0.0);
    voice->shown.id = told->id;
}

void sound_end(SoundStage *stage, uint64_t id)
{
    Voice *voice = told_voice(stage, id);
    if (voice)
        voice->shown.is_ending = true;
}

int sound_voice_count(const SoundStage *stage) { return stage->voice_count; }

SoundVoice sound_voice(const SoundStage *stage, int index)
{
    assert(index >= 0 && index < stage->voice_count);
    return stage->voices[index].shown;
}

bool sound_find_voice(const SoundStage *stage, uint64_t id, SoundVoice *voice)
{
    for (int i = 0; i < stage->voice_count; i++)
        if (stage->voices[i].shown.id == id) {
            *voice = stage->voices[i].shown;
            return true;
        }
    return false;
}

int sound_clip_count(const SoundStage *stage) { return stage->clip_count; }

const Clip *sound_clip(const SoundStage *stage, int index)
{
    assert(index >= 0 && index < stage->clip_count);
    return stage->clips[index].clip;
}

bool sound_clip_is_made(const SoundStage *stage, int index)
{
    assert(index >= 0 && index < stage->clip_count);
    return stage->clips[index].own != NULL;
}

int sound_rate(const SoundStage *stage) { return stage->rate; }

int64_t sound_frames_at(const SoundStage *stage, double time) { return (int64_t)floor(time * stage->rate + 1e-6); }
