// contact_thin.h - how many pairs and points a pass may have. For the folder alone.
#ifndef TALUS_PHYSICS_CONTACT_THIN_H
#define TALUS_PHYSICS_CONTACT_THIN_H

#include "physics/contacts/tuning.h"
#include "physics/physics_internal.h"

typedef struct Thin Thin;
void thin_destroy(Thin *thin);  // NULL is fine
// The pairs of a pass that are looked at, in the same order; valid until the next call.
const BroadPair *thin_pairs(Physics *physics, const BroadPair *pairs, int *count);
// A pass whose points become records at once: those beyond the limit are dropped behind it, pair by pair, with the
// pairs' keys.
void thin_begin_records(Physics *physics);
void thin_records(Physics *physics);
void thin_points(Physics *physics);  // drops those beyond the limit that the narrow phase found ahead
// For a pair whose points were found when it was asked for: true, and they are dropped, when there are too many.
bool thin_new_points(Physics *physics, int index, int count);

#endif
