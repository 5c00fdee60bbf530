// voices.c - the life of voices: requests of a step begin new ones, change those that sound, and what nobody asks for ends.
#include "sound/sound_internal.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

SoundStage *sound_create(const SoundOptions *options, DiagSink *diags)
{
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
        clip_destroy(stage->clips[i].own);
    }
    free(stage->clips);
    free(stage->properties);
    free(stage->motors);
    free(stage->requests);
    free(stage->pairs);
    free(stage);
}

static bool is_same_key(VoiceKey a, VoiceKey b)
{
    return a.kind == b.kind && a.a == b.a && a.b == b.b;
}

static double loudness(const SoundStage *stage, const VoiceRequest *request)
{
    return request->gain / double_max(vec3_distance(request->position, stage->ears), 1.0);
}

// The voice that sounds for this request; NULL when it has none yet.
static Voice *voice_of(SoundStage *stage, const VoiceRequest *request)
{
    for (int i = 0; i < stage->voice_count; i++) {
        Voice *voice = &stage->voices[i];
        if (!request->is_once && !voice->is_once && !voice->shown.is_ending && is_same_key(voice->key, request->key) &&
            voice->shown.clip == request->clip)
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
    voice->velocity = request->velocity;
}

// When all places are taken the quietest voice makes room, if it is quieter.
static Voice *free_voice(SoundStage *stage, const VoiceRequest *request)
{
    if (stage->voice_count < SOUND_VOICES_MAX)
        return &stage->voices[stage->voice_count++];
    Voice *quietest = NULL;
    double least = loudness(stage, request);
    for (int i = 0; i < stage->voice_count; i++) {
        Voice *voice = &stage->voices[i];
        double heard = voice->gain / double_max(vec3_distance(voice->shown.position, stage->ears), 1.0);
        if (heard < least) {
            least = heard;
            quietest = voice;
        }
    }
    return quietest;
}

static void begin_voice(SoundStage *stage, const VoiceRequest *request, double time)
{
    Voice *voice = free_voice(stage, request);
    if (!voice)
        return;
    *voice = (Voice){ .key = request->key, .is_once = request->is_once, .is_new = true, .started = time,
                      .at = request->start * stage->clips[request->clip].clip->rate };
    voice->shown = (SoundVoice){ .id = ++stage->last_id, .clip = request->clip };
    update_voice(voice, request);
}

void voices_take(SoundStage *stage, double time)
{
    bool is_asked[SOUND_VOICES_MAX] = { false };
    int before = stage->voice_count;
    for (int i = 0; i < stage->request_count; i++) {
        VoiceRequest *request = &stage->requests[i];
        Voice *voice = voice_of(stage, request);
        if (!voice)
            continue;
        update_voice(voice, request);
        is_asked[voice - stage->voices] = true;
        request->gain = -1.0;  // served
    }
    for (int i = 0; i < before; i++)
        if (!stage->voices[i].is_once && !is_asked[i])
            stage->voices[i].shown.is_ending = true;
    for (int i = 0; i < stage->request_count; i++)
        if (stage->requests[i].gain > 0.0)
            begin_voice(stage, &stage->requests[i], time);
}

void sound_step(SoundStage *stage, Physics *physics, const Devices *devices, double time, double dt)
{
    stage_list(stage, physics);
    stage->request_count = 0;
    if (stage->law == SOUND_LAW_WEBOTS)
        sources_contacts_webots(stage, physics, time);
    else
        sources_contacts(stage, physics, time);
    sources_motors(stage, physics);
    sources_speakers(stage, devices, time - dt);
    voices_take(stage, time);
}

int sound_voice_count(const SoundStage *stage)
{
    return stage->voice_count;
}

SoundVoice sound_voice(const SoundStage *stage, int index)
{
    assert(index >= 0 && index < stage->voice_count);
    return stage->voices[index].shown;
}

int sound_clip_count(const SoundStage *stage)
{
    return stage->clip_count;
}

const Clip *sound_clip(const SoundStage *stage, int index)
{
    assert(index >= 0 && index < stage->clip_count);
    return stage->clips[index].clip;
}

int sound_rate(const SoundStage *stage)
{
    return stage->rate;
}

int64_t sound_frames_at(const SoundStage *stage, double time)
{
    return (int64_t)floor(time * stage->rate + 1e-6);
}
