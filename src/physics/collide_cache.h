// collide_cache.h - what the narrow phase found for each pair, kept while the two shapes hardly move against each other.
// A pair that stayed within a quarter of a millimetre and two milliradians of where it was last collided gets its points
// moved along instead of found anew; the depth follows the motion.
#ifndef TALUS_PHYSICS_COLLIDE_CACHE_H
#define TALUS_PHYSICS_COLLIDE_CACHE_H

#include "physics/broadphase.h"
#include "physics/collide.h"

typedef struct CollideCache CollideCache;
CollideCache *collide_cache_create(void);
void collide_cache_destroy(CollideCache *cache);  // NULL is fine

// Takes this step's pairs, sorted as the broad phase gives them; pairs that were there before keep what is known.
void collide_cache_begin(CollideCache *cache, const BroadPair *pairs, int count);
// For pair `index`: the points when they can be moved along (their number), else -1. Different pairs may be asked by
// different threads. Poses come with their quaternions.
int collide_cache_reuse(CollideCache *cache, int index, const CollidePose *pa, const double qa[4], const CollidePose *pb,
                        const double qb[4], CollidePoint points[COLLIDE_POINTS]);
void collide_cache_store(CollideCache *cache, int index, const CollidePose *pa, const double qa[4], const CollidePose *pb,
                         const double qb[4], const CollidePoint *points, int count);

#endif
