// sound_internal.h - the folder's own: voices with their state in the mixer, and what the laws ask for.
#ifndef TALUS_SOUND_SOUND_INTERNAL_H
#define TALUS_SOUND_SOUND_INTERNAL_H

#include "sound/sound.h"
#include "sound/tuning.h"

// A clip as the mixer plays it: one channel, and once more with its end faded into its beginning.
typedef struct StageClip {
    const Clip *clip;  // of the store, or `own`
    Clip *own;         // synthesised; NULL
    float *once, *loop;
    int frame_count, loop_count;
    double balance;  // of the two channels that were drawn together; side as in DeviceSound
    int side;
    char *name;        // of a Speaker's: as in DeviceSound; NULL
    bool is_speech;    // likewise
    uint64_t content;  // hash of what is played; 0: not looked at yet
} StageClip;

// Who asks for a voice. A voice goes on while the same key asks for it.
typedef struct VoiceKey {
    uint32_t kind;  // VoiceKind
    uint32_t a, b;
} VoiceKey;
typedef enum VoiceKind { VOICE_BUMP, VOICE_SLIDE, VOICE_ROLL, VOICE_MOTOR, VOICE_SPEAKER } VoiceKind;

// What a law asks for in this step.
typedef struct VoiceRequest {
    VoiceKey key;
    int clip;
    bool loops, is_once;        // once: begins a new voice that then plays to its end by itself
    double gain, pitch, start;  // start: s into the clip, of a voice that begins now
    Vec3 position, velocity;
} VoiceRequest;

typedef struct Voice {
    VoiceKey key;
    SoundVoice shown;
    bool is_once, is_new;
    double started;                  // s of simulated time
    double at;                       // frames into the clip
    double gain, rate, left, right;  // as of the last sample; rate in frames of the clip per frame of the output
} Voice;

typedef struct StageMotor {
    SceneNode *node;
    int joint, axis, clip, solid;
} StageMotor;

// A pair of shapes as Webots' rule sees it.
typedef struct WebotsPair {
    uint32_t a, b;
    double created, updated, touched;
    Vec3 point, point_velocity, linear[2], angular[2];
    double energy, slope, bend;  // E and its first two derivatives
    double masses[2];
    int body[2], properties;
    int type;  // WebotsType
    bool is_touched, is_first;
} WebotsPair;

struct SoundStage {
    DiagSink *diags;
    SoundLaw law;
    int rate;
    StageClip *clips;
    int clip_count, clip_capacity;
    int default_clips[5];  // by DefaultClip; -1: not made yet
    int (*properties)[3];  // clips of bump, roll, slide of each ContactProperties, the defaults first
    int properties_count, properties_capacity;
    StageMotor *motors;
    int motor_count, motor_capacity;
    uint64_t edits;         // of physics, as of the last listing
    const Physics *listed;  // that it was listed from
    VoiceRequest *requests;
    int request_count, request_capacity;
    Voice voices[SOUND_VOICES_MAX];
    int voice_count;
    uint64_t last_id;
    WebotsPair *pairs;
    int pair_count, pair_capacity;
    Vec3 ears;  // of the last mix: what is near comes first
};

// ---- synth.c ----
typedef enum DefaultClip { CLIP_BUMP, CLIP_ROLL, CLIP_SLIDE, CLIP_ROTATIONAL_MOTOR, CLIP_LINEAR_MOTOR } DefaultClip;
Clip *synth_clip(DefaultClip which, int rate);

// ---- sources.c ----
int stage_default_clip(SoundStage *stage, DefaultClip which);
int stage_clip(SoundStage *stage, const Clip *clip, int side,
               double balance);                         // index; the same for the same arguments
int stage_add_clip(SoundStage *stage, StageClip made);  // index
uint64_t stage_clip_content(SoundStage *stage, int clip);
bool stage_clips_equal(SoundStage *stage, int a, int b);                                      // they sound the same
int stage_speaker_clip(SoundStage *stage, const Devices *devices, const DeviceSound *sound);  // -1: it has none
VoiceRequest *stage_request(SoundStage *stage);                                               // a new one, zeroed
void stage_list(SoundStage *stage, Physics *physics);  // clips of ContactProperties and motors, after edits anew
const int *stage_contact_clips(const SoundStage *stage, int properties);  // bump, roll, slide; -1: silent
void sources_motors(SoundStage *stage, const Physics *physics);
void sources_speakers(SoundStage *stage, const Devices *devices, double time);

// ---- contacts.c, webots_law.c ----
void sources_contacts(SoundStage *stage, const Physics *physics, double time, bool is_glance);
void sources_contacts_webots(SoundStage *stage, const Physics *physics, double time);

// ---- voices.c ----
void voices_take(SoundStage *stage, double time, bool is_glance);  // the requests become voices

// ---- mixer.c ----
// sound_mix for any voices of the stage's clips; returns how many go on.
int mixer_mix(const SoundStage *stage, Voice *voices, int voice_count, const SoundListener *listener, int16_t *out,
              int frame_count);

#endif
