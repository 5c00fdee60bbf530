// cache_entry.h - the points of one pair as the cache keeps them, and the inner loops that move them along.
#ifndef TALUS_PHYSICS_CACHE_ENTRY_H
#define TALUS_PHYSICS_CACHE_ENTRY_H

#include "physics/collide/collide_cache.h"

// How two shapes stood when they were collided, and how many points there were: most pairs of boxes that overlap have
// none, and this is all that is kept of them.
typedef struct CacheHead {
    float shift[3], turn[9];  // of B in A's frame
    int32_t count;            // -1: nothing was written yet, or it was forgotten
    int32_t points;           // their place, -1: none is taken
} CacheHead;

// Points side by side, so that several are moved at once. Places beyond the pair's count hold anything; snapshots have
// zeros there.
typedef struct CachePoints {
    float on_a[3][COLLIDE_POINTS], on_b[3][COLLIDE_POINTS];  // in the frames of the two shapes
    float normal[3][COLLIDE_POINTS];                         // in the frame of B
    float depth[COLLIDE_POINTS];
} CachePoints;

typedef struct CacheKernels {
    // The touching points of a pair that stayed within the limit, moved along; -1: it did not. `from` is NULL where the
    // pair has none.
    int (*move)(const CacheHead *head, const CachePoints *from, const CollidePose *pa, const CollidePose *pb,
                CollideLimit limit, CollidePoint *points);
    // Keeps how the two shapes stand, and the points that were just found with `count` of the head.
    void (*put)(CacheHead *head, CachePoints *to, const CollidePose *pa, const CollidePose *pb,
                const CollidePoint *points);
} CacheKernels;
extern const CacheKernels cache_entry_portable, cache_entry_avx2;

#endif
