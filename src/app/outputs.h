// outputs.h - what a run shows besides its numbers: sound, movies, pictures; asked for on the command line or by
// supervisors.
#ifndef TALUS_APP_OUTPUTS_H
#define TALUS_APP_OUTPUTS_H

#include "control/control.h"
#include "sim/sim.h"

typedef struct Outputs Outputs;

typedef struct OutputsOptions {
    const char *sound;   // FILE.wav; NULL: none
    bool webots_sound;   // contacts by Webots' rule
    const char *movie;   // FILE.webm or FILE.mp4; NULL: none
    int width, height;   // of the movie; 0: 1280 x 720
    double rate, speed;  // 0: 30 pictures a second, real time
    const char *camera;  // name of a Camera that it is seen through; NULL: the Viewpoint
    const char *record;  // FILE.talus, or what a recording is exported as: FILE.html, .glb, .mcap; NULL: none
    int every;           // a frame of it after every N-th step; 0: about 60 a second
    bool record_contacts, record_silently;
    const char *record_values;  // globs of ROBOT/DEVICE; NULL: none
} OutputsOptions;

bool outputs_records(const char *path);                             // whether its ending is one of `record`
bool outputs_read_size(const char *text, int *width, int *height);  // "1280x720"

Outputs *outputs_create(Sim *sim);
// The answers to a supervisor; to be put into ControlOptions.
ControlShow outputs_for_control(Outputs *outputs);
ControlWatch outputs_for_words(Outputs *outputs);  // likewise: what robots print and label goes into recordings
// Begins what the options ask for. False when something cannot be made (reported).
bool outputs_start(Outputs *outputs, const OutputsOptions *options);
bool outputs_finish(Outputs *outputs);   // ends all of it and waits; false when something failed (reported)
void outputs_destroy(Outputs *outputs);  // what is not finished is left out; NULL is fine

#endif
