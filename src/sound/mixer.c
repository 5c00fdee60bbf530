// mixer.c - voices to samples: resampling, gain and direction ramped over each block, so that nothing jumps.
#include "sound/sound_internal.h"

#include <math.h>
#include <string.h>

// What a voice is to be at the end of a block.
typedef struct Aim {
    double gain, rate, left, right;
} Aim;

static double doppler(const Voice *voice, const SoundListener *listener, Vec3 to_listener, double distance)
{
    if (distance < 1e-6)
        return 1.0;
    double approach = vec3_dot(voice->shown.velocity, to_listener) / distance,
           flight = vec3_dot(listener->velocity, to_listener) / distance;
    double factor = (SOUND_SPEED - flight) / double_max(SOUND_SPEED - approach, 1e-3);
    return double_clamp(factor, 1.0 / SOUND_DOPPLER_MAX, SOUND_DOPPLER_MAX);
}

// The cone of the listener opens along its +x.
static bool is_in_aperture(const SoundListener *listener, Vec3 seen, double distance)
{
    return !(listener->aperture > 0.0) || distance < 1e-9
           || acos(double_clamp(seen.x / distance, -1.0, 1.0)) <= 0.5 * listener->aperture;
}

// Equal power from side to side, by how far the source stands to the left; one channel alone has all of it.
static Aim aim_of(const SoundStage *stage, const Voice *voice, const SoundListener *listener)
{
    assert_debug(voice->shown.clip >= 0 && voice->shown.clip < stage->clip_count);
    Vec3 to_listener = vec3_sub(listener->pose.t, voice->shown.position);
    double distance = vec3_length(to_listener);
    Vec3 seen = quat_unrotate(listener->pose.q, vec3_neg(to_listener));
    double left = distance > 1e-9 ? seen.y / distance : 0.0;
    double angle = 0.25 * M_PI * (1.0 - left);
    const StageClip *clip = &stage->clips[voice->shown.clip];
    bool is_silent = voice->shown.is_ending || !is_in_aperture(listener, seen, distance);
    return (Aim){ .gain = is_silent ? 0.0 : voice->shown.gain * listener->volume / double_max(distance, 1.0),
                  .rate = voice->shown.pitch * doppler(voice, listener, to_listener, distance) * clip->clip->rate
                          / stage->rate,
                  .left = listener->is_mono ? 1.0 : cos(angle),
                  .right = listener->is_mono ? 0.0 : sin(angle) };
}

// Between samples: the cubic through the four around (Catmull and Rom's).
static double sample_at(const float *samples, int count, double at, bool loops)
{
    assert_debug(count > 0);
    int i = (int)at;
    double t = at - i, p[4];
    for (int k = 0; k < 4; k++) {
        int index = i - 1 + k;
        if (loops)
            index = (index % count + count) % count;
        p[k] = index >= 0 && index < count ? (double)samples[index] : 0.0;
    }
    return p[1]
           + 0.5 * t
                 * (p[2] - p[0]
                    + t * (2.0 * p[0] - 5.0 * p[1] + 4.0 * p[2] - p[3] + t * (3.0 * (p[1] - p[2]) + p[3] - p[0])));
}

static double end_fade(const StageClip *clip, double at)
{
    double rest = (clip->frame_count - 1 - at) / (SOUND_END_FADE * clip->clip->rate);
    return rest < 1.0 ? double_max(rest, 0.0) : 1.0;
}

// Gain goes to where it is to be within SOUND_RAMP, at the same pace in blocks of any length.
static double approach(double now, double goal, double pace)
{
    return goal > now ? double_min(now + pace, goal) : double_max(now - pace, goal);
}

// False when the voice is over.
static bool mix_voice(const SoundStage *stage, Voice *voice, const SoundListener *listener, double *out,
                      int frame_count)
{
    assert_debug(voice->shown.clip >= 0 && voice->shown.clip < stage->clip_count && frame_count > 0);
    const StageClip *clip = &stage->clips[voice->shown.clip];
    Aim aim = aim_of(stage, voice, listener);
    if (voice->is_new) {
        // A hit begins at once: its clip has its own attack. What lasts fades in.
        voice->gain = voice->is_once ? aim.gain : 0.0;
        voice->rate = aim.rate, voice->left = aim.left, voice->right = aim.right;
        voice->is_new = false;
    }
    const float *samples = voice->shown.loops ? clip->loop : clip->once;
    int count = voice->shown.loops ? clip->loop_count : clip->frame_count;
    double ramp = 1.0 / double_max(SOUND_RAMP * stage->rate, 1.0),
           share = 1.0 / double_max(frame_count, SOUND_RAMP * stage->rate);
    double pace = ramp * double_max(double_max(aim.gain, voice->gain), 1e-3);
    double dr = (aim.rate - voice->rate) * share, dl = (aim.left - voice->left) * share,
           dq = (aim.right - voice->right) * share;
    for (int i = 0; i < frame_count; i++) {
        if (voice->shown.loops) {
            if (voice->at >= count)
                voice->at = fmod(voice->at, count);
        } else if (voice->at >= count) {
            return false;
        }
        voice->gain = approach(voice->gain, aim.gain, pace);
        voice->rate += dr, voice->left += dl, voice->right += dq;
        double value = voice->gain * sample_at(samples, count, voice->at, voice->shown.loops);
        if (!voice->shown.loops)
            value *= end_fade(clip, voice->at);
        out[2 * i] += voice->left * value;
        out[2 * i + 1] += voice->right * value;
        voice->at += voice->rate;
        if (voice->shown.is_ending && voice->gain <= 0.0)
            return false;
    }
    return true;
}

// Loud places are bent, not cut: linear up to 0.7, then towards 1.
static int16_t to_output(double value)
{
    double size = fabs(value), bent = size <= 0.7 ? size : 0.7 + 0.3 * tanh((size - 0.7) / 0.3);
    return (int16_t)lrint(copysign(32767.0 * bent, value));
}

int mixer_mix(const SoundStage *stage, Voice *voices, int voice_count, const SoundListener *listener, int16_t *out,
              int frame_count)
{
    assert_debug(voice_count >= 0 && frame_count >= 0 && (out || frame_count == 0));
    enum { BLOCK = 1024 };
    double sum[2 * BLOCK];
    int stride = listener->is_mono ? 1 : 2;
    for (int from = 0; from < frame_count; from += BLOCK) {
        int length = int_min(BLOCK, frame_count - from), kept = 0;
        memset(sum, 0, sizeof sum);
        for (int i = 0; i < voice_count; i++)
            if (mix_voice(stage, &voices[i], listener, sum, length))
                voices[kept++] = voices[i];
        voice_count = kept;
        for (int i = 0; i < length; i++)
            for (int side = 0; side < stride; side++)
                out[stride * (from + i) + side] = to_output(sum[2 * i + side]);
    }
    return voice_count;
}

void sound_mix(SoundStage *stage, const SoundListener *listener, int16_t *out, int frame_count)
{
    assert_debug(listener);
    stage->ears = listener->pose.t;
    stage->voice_count = mixer_mix(stage, stage->voices, stage->voice_count, listener, out, frame_count);
}

static bool skip_voice(const SoundStage *stage, Voice *voice, double seconds)
{
    assert_debug(voice->shown.clip >= 0 && voice->shown.clip < stage->clip_count);
    const StageClip *clip = &stage->clips[voice->shown.clip];
    voice->is_new = false;
    voice->gain = voice->shown.gain;
    voice->at += voice->shown.pitch * clip->clip->rate * seconds;
    if (voice->shown.loops)
        voice->at = fmod(voice->at, clip->loop_count);
    return !voice->shown.is_ending && (voice->shown.loops || voice->at < clip->frame_count);
}

void sound_skip(SoundStage *stage, double seconds)
{
    assert_debug(seconds >= 0.0);
    int kept = 0;
    for (int i = 0; i < stage->voice_count; i++)
        if (skip_voice(stage, &stage->voices[i], seconds))
            stage->voices[kept++] = stage->voices[i];
    stage->voice_count = kept;
}
