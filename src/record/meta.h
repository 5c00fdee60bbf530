// meta.h - what a reader of frames must know besides: names of solids, joints with their axes, where people and cameras
// look from. The head of a recording and the greeting of the viewer. Keys: docs/recording.md.
#ifndef TALUS_RECORD_META_H
#define TALUS_RECORD_META_H

#include "base/json.h"
#include "sim/sim.h"

// Writes one object without a key. Brings the scene up to date.
void meta_write(Sim *sim, JsonWriter *json);
int meta_solid_above(const Physics *physics, const SceneNode *node);  // that a node belongs to, -1: none

#endif
