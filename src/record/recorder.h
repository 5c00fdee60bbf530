// recorder.h - follows a run and writes it as a recording: frames at an even pace, and between them what was said,
// shown and heard. Belongs here: what is kept when. Not here: the file (recording.h), the bytes of a frame (frame.h).
//
// The thread of the run copies the moment; encoding, packing and writing happen on a thread of the recorder's own. When
// that falls behind, the run waits for it: nothing is lost and memory is bounded.
#ifndef TALUS_RECORD_RECORDER_H
#define TALUS_RECORD_RECORDER_H

#include "base/text.h"
#include "devices/devices.h"
#include "record/recording.h"
#include "sim/sim.h"
#include "sound/sound.h"

typedef struct Recorder Recorder;

typedef struct RecorderOptions {
    int every;               // a frame after every N-th step; 0: about 60 a second of simulated time
    bool with_contacts;      // contacts with forces, and what collides or sleeps
    bool without_sound;      // no events of voices, no clips
    SoundLaw law;            // by which contacts sound
    const char *values;      // readings of these devices: globs of ROBOT/DEVICE, separated by commas; NULL: none
    const Devices *devices;  // for Speakers and readings; NULL: none. Must outlive the recorder
} RecorderOptions;

// Writes the first frame and hooks into the run. NULL when the file cannot be made (reported).
Recorder *recorder_open(Sim *sim, const char *path, const RecorderOptions *options);
// Into memory, which may be used after recorder_close.
Recorder *recorder_open_in(Sim *sim, Text *out, const RecorderOptions *options);
bool recorder_close(Recorder *recorder);  // false when something could not be written (reported); NULL is fine

// What is said and shown between two frames.
typedef struct RecorderLabel {
    int id;
    const char *text, *font;
    double x, y, size;
    uint32_t rgba;
} RecorderLabel;
void recorder_label(Recorder *recorder, const RecorderLabel *label);
void recorder_print(Recorder *recorder, const char *from, const char *text, size_t length, bool is_error);

#endif
