// names.h - what a recording calls its solids and joints, gathered from all of its heads.
#ifndef TALUS_RECORD_NAMES_H
#define TALUS_RECORD_NAMES_H

#include "base/arena.h"
#include "record/recording.h"

typedef struct RecordingNames {
    Arena *arena;  // holds all text
    const char *title, *file;
    double time_step;     // s; 0: it does not say
    const char **solids;  // by index; NULL: never named
    int solid_count, solid_capacity;
    const char **joints;  // of the axes of all joints, as JNTS counts them in the first scene
    int joint_count, joint_capacity;
} RecordingNames;

// False when it has no head that can be read (reported).
bool names_read(Recording *recording, RecordingNames *names, DiagSink *diags);
void names_free(RecordingNames *names);
const char *names_solid(const RecordingNames *names, int solid);  // "solid 7" where it has none

#endif
