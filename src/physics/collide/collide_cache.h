// collide_cache.h - what the narrow phase found for each pair, kept while the two shapes hardly move against each
// other. A pair that stayed within its limit (collide_cache_limit, at most a quarter of a millimetre) of where it was
// last collided gets its points moved along instead of found anew; the depth follows the motion. What is kept decides
// about the last digits of later contacts, so it is part of snapshots.
#ifndef TALUS_PHYSICS_COLLIDE_CACHE_H
#define TALUS_PHYSICS_COLLIDE_CACHE_H

#include "physics/collide/broadphase.h"
#include "physics/collide/collide.h"

typedef struct CollideCache CollideCache;
CollideCache *collide_cache_create(void);
void collide_cache_destroy(CollideCache *cache);  // NULL is fine

// How far two shapes may move against each other, in m, before they are collided again. Kernels are to be asked for
// points up to this margin, so that one that comes to touch meanwhile is known.
typedef struct CollideLimit {
    double shift, reach;
} CollideLimit;
CollideLimit collide_cache_limit(const CollideShape *a, const CollideShape *b);
CollideLimit collide_cache_limit_of(double min_half_extent, double min_reach);  // the smaller ones of the two
double collide_bounding_radius(const CollideShape *shape);                      // of its farthest point from its middle

// Takes this step's pairs, sorted as the broad phase gives them; pairs that were there before keep what is known.
// `pool` may be NULL.
void collide_cache_begin(CollideCache *cache, const BroadPair *pairs, int count, Pool *pool);
// For pair `index`, the touching points and their number: moved along, or found anew. `limit`: of the two shapes;
// `was_changed`: one of them is not what it was. Different pairs may be asked by different threads.
int collide_cache_pair(CollideCache *cache, int index, const CollideShape *a, const CollidePose *pa,
                       const CollideShape *b, const CollidePose *pb, CollideLimit limit, bool was_changed,
                       CollidePoint points[COLLIDE_POINTS]);
// The two halves of it. For points that something else finds: -1 when they cannot be moved along;
int collide_cache_reuse(CollideCache *cache, int index, const CollidePose *pa, const CollidePose *pb,
                        CollideLimit limit, CollidePoint points[COLLIDE_POINTS]);
// remembers what a kernel found with the limit as its margin, drops the points that do not touch yet and returns the
// number of the others.
int collide_cache_store(CollideCache *cache, int index, const CollidePose *pa, const CollidePose *pb,
                        CollidePoint *points, int count);
void collide_cache_drop(CollideCache *cache, int index);  // forgets the pair
void collide_cache_forget(CollideCache *cache);           // forgets all

// Fetches into the processor's cache what the next pass reads of it; before it `is_there`, where that stands.
void collide_cache_prefetch(const CollideCache *cache, bool is_there);

// As bytes, for snapshots. Bytes of a stranger are looked at first: false, and the cache is empty, when they are wrong.
size_t collide_cache_size(const CollideCache *cache);
void collide_cache_save(const CollideCache *cache, void *buffer);
bool collide_cache_is_sound(const void *buffer, size_t size, int proxy_count);
void collide_cache_restore(CollideCache *cache, const void *buffer, size_t size);

#endif
