// broadphase.h - which boxes overlap. Works on numbers alone; knows no shapes, bodies or ODE.
// Proxies are named by the caller's index (small, from 0). Pairs come out sorted by index, whatever happened before, so
// that the order of contacts does not depend on history.
#ifndef TALUS_PHYSICS_BROADPHASE_H
#define TALUS_PHYSICS_BROADPHASE_H

#include "base/common.h"
#include "base/pool.h"

typedef struct BroadBox {
    double low[3], high[3];
} BroadBox;  // infinite sides are fine
typedef struct BroadPair {
    int a, b;
} BroadPair;  // a < b

typedef struct Broadphase Broadphase;
Broadphase *broadphase_create(void);
void broadphase_destroy(Broadphase *broadphase);  // NULL is fine
// Threads that help to find pairs; NULL: none. The pairs are the same.
void broadphase_use_pool(Broadphase *broadphase, Pool *pool);
void broadphase_limit(Broadphase *broadphase,
                      int max_pairs);  // that one search may find; those beyond are not found (16 million unless told)

void broadphase_fit(Broadphase *broadphase);  // gives back memory that proxies to come would have

// Two proxies meet when (a.category & b.mask) or (b.category & a.mask) is not zero and their groups differ (0: none).
void broadphase_add(Broadphase *broadphase, int proxy, uint32_t category, uint32_t mask, int group,
                    const BroadBox *box);
void broadphase_remove(Broadphase *broadphase, int proxy);
void broadphase_move(Broadphase *broadphase, int proxy, const BroadBox *box);
// Many at once over the threads of the pool: `box_of` is called on any of them, once for each proxy of the list.
typedef void (*BroadBoxOf)(void *context, int proxy, BroadBox *box);
void broadphase_move_all(Broadphase *broadphase, const int32_t *proxies, int count, BroadBoxOf box_of, void *context);
// A proxy that rests: pairs of two resting ones are not reported.
void broadphase_set_resting(Broadphase *broadphase, int proxy, bool is_resting);
// Valid until the next call.
const BroadPair *broadphase_pairs(Broadphase *broadphase, int *count);
// Fetches into the cache what moving proxies and looking for pairs reads; before it `is_there`, where that stands.
void broadphase_prefetch(const Broadphase *broadphase, bool is_there);

// Called for proxies whose (fat) box the ray meets, nearer ones roughly first; returns how far to look on, < 0: stop.
typedef double (*BroadRayHit)(void *context, int proxy, double length);
void broadphase_ray(const Broadphase *broadphase, const double origin[3], const double direction[3], double length,
                    BroadRayHit hit, void *context);

#endif
