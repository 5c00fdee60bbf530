// sound.h - what a running world sounds like: contacts, motors and Speakers as voices, and the mixer that makes samples
// of them, for people and for Microphones. Belongs here: which voice sounds how loud and how high, the laws of distance
// and direction, mixing. Not here: decoding clips (assets/clip.h), which sounds a Speaker plays and for how long
// (devices/), files (record/).
//
// A SoundStage only reads the world: the run is the same with and without one. Everything follows from simulated time,
// so the samples are the same bytes in every run. After warm-up a step allocates nothing.
//
// Laws (docs/sound.md): bump gain 10 sqrt(E) with the energy E of the approach along the normal; slide gain sqrt(v),
// pitch 0.8 + 0.4 gain, v the slip speed; roll gain P / 5 pi, pitch 0.85 + 0.3 gain, P the rolling spin; motors gain
// 0.9 + 0.1 c, pitch 0.6 + 0.8 c, c the share of maxVelocity. Gains fall with 1 / max(1, distance in m).
#ifndef TALUS_SOUND_SOUND_H
#define TALUS_SOUND_SOUND_H

#include "devices/devices.h"
#include "physics/physics.h"

typedef struct SoundStage SoundStage;

typedef enum SoundLaw {
    SOUND_LAW_TALUS,   // the published curves on a mended mechanism
    SOUND_LAW_WEBOTS,  // Webots' rule to the letter, restarts included
} SoundLaw;

typedef struct SoundOptions {
    SoundLaw law;
    int rate;  // samples a second; 0: 44100
} SoundOptions;

SoundStage *sound_create(const SoundOptions *options, DiagSink *diags);
void sound_destroy(SoundStage *stage);  // NULL is fine

// Has the clips that the world names ready, so that the first step does not wait for them. May be left out.
void sound_prepare(SoundStage *stage, Physics *physics);

// Looks at the world after a step of `dt` seconds that ended at `time`; `devices` may be NULL. Voices begin, change and
// end.
void sound_step(SoundStage *stage, Physics *physics, const Devices *devices, double time, double dt);

// Likewise, for those who look closer only now and then: what begins to touch is heard, and how the rest slides and
// rolls stays as it was.
void sound_glance(SoundStage *stage, Physics *physics, const Devices *devices, double time, double dt);

// One voice as it is now. A voice keeps its id from its beginning to its end, and ids grow.
typedef struct SoundVoice {
    uint64_t id;
    int clip;  // index for sound_clip
    bool loops;
    bool is_ending;  // it fades out and is then gone
    double gain, pitch;
    Vec3 position, velocity;  // world
} SoundVoice;
int sound_voice_count(const SoundStage *stage);
SoundVoice sound_voice(const SoundStage *stage, int index);
bool sound_find_voice(const SoundStage *stage, uint64_t id, SoundVoice *voice);  // false when it is over

int sound_clip_count(const SoundStage *stage);
const Clip *sound_clip(const SoundStage *stage, int index);
bool sound_clip_is_made(const SoundStage *stage, int index);  // from a formula, not from a file

// ---- without a world: voices as they were told once (a recording) ----
int sound_add_clip(SoundStage *stage, Clip *clip);  // takes it over; returns its index
// Begins a voice, or changes it when one of this id sounds. Of a change only gain, pitch, position and velocity count.
void sound_tell(SoundStage *stage, const SoundVoice *voice);
void sound_end(SoundStage *stage, uint64_t id);  // it fades out

// Where it is heard: looks along +x with z up, +y is on the left.
typedef struct SoundListener {
    Pose pose;
    Vec3 velocity;    // m/s, for Doppler's shift
    double volume;    // of all; 1: as it is
    double aperture;  // rad, of the cone around +x in which it hears; 0: everywhere
    bool is_mono;     // one channel, without direction
} SoundListener;
int sound_rate(const SoundStage *stage);
// Samples from 0 up to `time`: the number of frames that a whole file has then.
int64_t sound_frames_at(const SoundStage *stage, double time);
// Mixes the next `frame_count` frames (left and right; one sample of a mono listener) into `out`; to be called once
// after each sound_step.
void sound_mix(SoundStage *stage, const SoundListener *listener, int16_t *out, int frame_count);
// Instead of it, for those who want the voices and no samples: time goes on, and what is over ends.
void sound_skip(SoundStage *stage, double seconds);

// ---- microphones ----
// From now on the Microphones of these devices hear. What they hear is part of the devices' state and follows
// SOUND_LAW_TALUS, whoever else listens.
void sound_give_hearing(Devices *devices, DiagSink *diags);

#endif
