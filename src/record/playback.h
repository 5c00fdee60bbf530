// playback.h - what a recording tells beside its poses, played again: its sounds as samples, its labels as they stand.
// Belongs here: events and clips of a recording. Not here: poses (recording.h), drawing (viewer/), mixing (sound/).
#ifndef TALUS_RECORD_PLAYBACK_H
#define TALUS_RECORD_PLAYBACK_H

#include "devices/devices.h"
#include "record/recorder.h"
#include "record/recording.h"
#include "sound/sound.h"

typedef struct Playback Playback;

// Reads the clips. What is damaged is left out (reported). The recording must outlive it.
Playback *playback_create(Recording *recording, const Limits *limits, DiagSink *diags);
void playback_destroy(Playback *playback);  // NULL is fine
bool playback_has_sound(const Playback *playback);
int playback_rate(const Playback *playback);  // samples a second

// The next frame, in order. Those before playback_begin are gone through without a sound.
void playback_pass(Playback *playback, const FrameView *view, const SoundListener *listener);
// From here on it is heard; `time` is that of the frame passed last, in s.
void playback_begin(Playback *playback, double time);
// The frames of left and right up to the frame passed last; valid until the next.
const int16_t *playback_samples(const Playback *playback, int *frame_count);
// LEDs, Pens, displays and Skins show again what they showed in this frame; frames come in order. Pens paint when
// devices_paint is called.
void playback_show(const FrameView *view, Devices *devices);
// Belts of Tracks are where they were in this frame.
void playback_turn(const FrameView *view, Physics *physics);
// The labels as of the frame passed last; valid until the next.
const RecorderLabel *playback_labels(const Playback *playback, int *count);

#endif
