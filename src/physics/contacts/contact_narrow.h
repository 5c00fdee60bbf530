// contact_narrow.h - the narrow phase of a world: its pairs of shapes, over threads, with what is remembered of them.
// For the folder alone, between the broad phase and contact.c.
#ifndef TALUS_PHYSICS_CONTACT_NARROW_H
#define TALUS_PHYSICS_CONTACT_NARROW_H

#include "physics/collide/collide.h"
#include "physics/physics_internal.h"

// pairs: what the shapes of fewer take is in the near caches anyway, that of more is asked for ahead.
enum { LARGE_PASS = 8192 };

typedef struct Narrow Narrow;
struct CollideCache;

Narrow *narrow_create(int threads);
void narrow_destroy(Narrow *narrow);  // NULL is fine
struct CollideCache *narrow_cache(const Narrow *narrow);

void narrow_fit(Physics *physics);  // gives back memory that shapes to come would have

// Finds where a shape stands now; writes its box, of a fast one with the way that it goes in a step.
void narrow_place(const Physics *physics, int index, BroadBox *box);
// The same; true when the shape has another form than before, or is static and stands elsewhere.
bool narrow_follow(const Physics *physics, int index, BroadBox *box);
const CollidePose *narrow_pose(const Physics *physics, int index);  // where it was found last
// Takes the pairs of a pass, which stay valid until the next. Points are found for a window of at most so many pairs at
// a time, over the threads; or, when the window is all of them and nobody says find, of each when it is asked for (a
// plugin may move things between them). They are written down as records before the next window is looked at, so that
// the points of a pass never stand anywhere all at once but in the records.
void narrow_begin(Physics *physics, const BroadPair *pairs, int count, int window);
// What one thread found in neighbouring pairs.
typedef struct NarrowTask {
    const int32_t *touching;  // pairs with points, in their order, valid until the next window
    int pairs, points;        // how many, and with how many
} NarrowTask;
// What was found, in the order of the pairs. `is_plain`: each pair is done, and nothing was dropped.
typedef struct NarrowTally {
    const NarrowTask *tasks;
    int task_count;
    bool is_plain;
} NarrowTally;
NarrowTally narrow_find(Physics *physics, int first, int last);

typedef struct NarrowPoints {
    const CollidePoint *points;  // valid until the next window; none when the pair does not touch or must not. One with
                                 // a negative depth holds a fast shape that would pass through the other in this step
    int count;                   // at most maxContactJoints
    int dropped, regions;        // points beyond it, and in how many separate places they were
} NarrowPoints;
NarrowPoints narrow_points(Physics *physics, int index);
BroadPair narrow_pair(const Physics *physics, int index);
void narrow_drop(Physics *physics, int index);  // the pair counts as one that does not touch, in this pass
// The same without looking for them, on any thread; false: they have to be asked for.
bool narrow_knows(const Physics *physics, int index, NarrowPoints *found);

// Fetches into the cache what the next pass reads, each part after the one before: it follows its pointers.
typedef enum NarrowPart { NARROW_ITSELF, NARROW_COLLIDERS, NARROW_KNOWN } NarrowPart;
void narrow_prefetch(const Physics *physics, NarrowPart part);

#endif
