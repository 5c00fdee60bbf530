// soundtrack.h - the sound of a run, step by step: a SoundStage that listens where the view is, its samples handed to
// whoever writes them. Belongs here: hooking the stage into a run, and WAV files. Not here: what sounds how (sound/).
#ifndef TALUS_RECORD_SOUNDTRACK_H
#define TALUS_RECORD_SOUNDTRACK_H

#include "sim/sim.h"
#include "sound/sound.h"

typedef struct SoundTrack SoundTrack;

typedef struct SoundTrackOptions {
    SoundOptions stage;
    double volume;                    // 0: 1
    Pose (*listener)(void *context);  // where it is heard; NULL: the Viewpoint
    void *context;
} SoundTrackOptions;

// Hooks into the run; `devices` may be NULL and must outlive the track.
SoundTrack *soundtrack_create(Sim *sim, const Devices *devices, const SoundTrackOptions *options);
void soundtrack_destroy(SoundTrack *track);  // NULL is fine
SoundStage *soundtrack_stage(const SoundTrack *track);
// The frames of left and right of the last step; valid until the next.
const int16_t *soundtrack_frames(const SoundTrack *track, int *frame_count);

// ---- a WAV file of it ----
typedef struct WavRecorder WavRecorder;
WavRecorder *wav_open(Sim *sim, SoundTrack *track, const char *path);  // NULL when the file cannot be made (reported)
bool wav_close(WavRecorder *recorder);  // false when something could not be written (reported); NULL is fine

#endif
