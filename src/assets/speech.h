// speech.h - text to speech: a Clip spoken by espeak-ng, which runs as a process of its own when it is installed.
// Not here: who speaks and for how long (devices/speaker.c).
#ifndef TALUS_ASSETS_SPEECH_H
#define TALUS_ASSETS_SPEECH_H

#include "assets/clip.h"

bool speech_is_available(void);  // whether the program can be found
// NULL when there is no such program or it fails (*why says so, static text). `language` as "en-US". Tags in < > are
// left out.
Clip *speech_clip(const char *text, const char *language, const Limits *limits, const char **why);
double speech_estimate(const char *text);  // s that a person would take, for where nothing can speak

#endif
