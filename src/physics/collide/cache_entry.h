// cache_entry.h - the points of one pair as the cache keeps them, and the inner loops that move them along.
#ifndef TALUS_PHYSICS_CACHE_ENTRY_H
#define TALUS_PHYSICS_CACHE_ENTRY_H

#include "physics/collide/collide_cache.h"

// Points side by side, so that several are moved at once. Places beyond `count` hold anything; snapshots have zeros
// there.
typedef struct CacheEntry {
    BroadPair pair;
    int32_t count, reserved;
    float shift[3], turn[9];                                 // of B in A's frame when it was collided
    float on_a[3][COLLIDE_POINTS], on_b[3][COLLIDE_POINTS];  // in the frames of the two shapes
    float normal[3][COLLIDE_POINTS];                         // in the frame of B
    float depth[COLLIDE_POINTS];
    uint32_t feature[COLLIDE_POINTS];
} CacheEntry;

typedef struct CacheKernels {
    // The touching points of a pair that stayed within the limit, moved along; -1: it did not.
    int (*move)(const CacheEntry *entry, const CollidePose *pa, const CollidePose *pb, CollideLimit limit,
                CollidePoint *points);
    // Keeps points that were just found, with how the two shapes stand.
    void (*put)(CacheEntry *entry, const CollidePose *pa, const CollidePose *pb, const CollidePoint *points, int count);
} CacheKernels;
extern const CacheKernels cache_entry_portable, cache_entry_avx2;

#endif
