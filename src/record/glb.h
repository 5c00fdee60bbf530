// glb.h - a world as a glTF 2.0 file (binary, .glb): every visual under a node for its solid, with materials, textures,
// cameras' and lights' places as extras, and, where a run was kept, its motion as an animation that any viewer plays.
// glTF has y up: one root node turns the world. Nodes of solids are named by their labels and carry their index and
// source place.
#ifndef TALUS_RECORD_GLB_H
#define TALUS_RECORD_GLB_H

#include "base/text.h"
#include "sim/sim.h"

// The motion of solids, sampled. Frames are in order of time.
typedef struct GlbMotion {
    int frame_count, solid_count;
    const double *times;  // s
    const Pose *poses;    // of solid s in frame f: [f * solid_count + s]
} GlbMotion;

// Appends the file to `out`. `motion` may be NULL. The same world gives the same bytes.
void glb_write(Sim *sim, const GlbMotion *motion, Text *out);

#endif
