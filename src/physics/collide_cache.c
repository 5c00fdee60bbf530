#include "physics/collide_cache.h"

#include "base/memory.h"
#include "physics/collide_internal.h"

#include <math.h>
#include <stdlib.h>

#define SHIFT_LIMIT 2.5e-4               // m
#define TURN_LIMIT (2e-3 * 2e-3 / 8.0)   // 1 - cos of half the angle

typedef struct CachedPoint {
    float on_a[3], on_b[3];   // in the frames of the two shapes
    float normal[3];          // in the frame of B
    float depth;
    uint32_t feature;
} CachedPoint;

typedef struct Entry {
    BroadPair pair;
    int32_t count;            // -1: nothing known
    float shift[3], turn[4];  // of B in A's frame when it was collided
    CachedPoint points[COLLIDE_POINTS];
} Entry;

struct CollideCache {
    Entry *entries, *last;
    int entry_count, entry_capacity, last_capacity;
};

CollideCache *collide_cache_create(void)
{
    return memory_alloc(sizeof(CollideCache));
}

void collide_cache_destroy(CollideCache *cache)
{
    if (!cache)
        return;
    free(cache->entries);
    free(cache->last);
    free(cache);
}

void collide_cache_begin(CollideCache *cache, const BroadPair *pairs, int count)
{
    Entry *swap = cache->last;
    int capacity = cache->last_capacity, last_count = cache->entry_count;
    cache->last = cache->entries;
    cache->last_capacity = cache->entry_capacity;
    cache->entries = swap;
    cache->entry_capacity = capacity;
    memory_grow(&cache->entries, &cache->entry_capacity, count + 1, sizeof(Entry));
    cache->entry_count = count;
    for (int i = 0, at = 0; i < count; i++) {
        while (at < last_count && (cache->last[at].pair.a < pairs[i].a
                                   || (cache->last[at].pair.a == pairs[i].a && cache->last[at].pair.b < pairs[i].b)))
            at++;
        Entry *entry = &cache->entries[i];
        if (at < last_count && cache->last[at].pair.a == pairs[i].a && cache->last[at].pair.b == pairs[i].b) {
            *entry = cache->last[at];
        } else {
            entry->pair = pairs[i];
            entry->count = -1;
        }
    }
}

static void relative_pose(const CollidePose *pa, const double *qa, const CollidePose *pb, const double *qb, double shift[3], double turn[4])
{
    double d[3];
    vec_sub(pb->position, pa->position, d);
    for (int i = 0; i < 3; i++)
        shift[i] = pa->rotation[i] * d[0] + pa->rotation[3 + i] * d[1] + pa->rotation[6 + i] * d[2];
    turn[0] = qa[0] * qb[0] + qa[1] * qb[1] + qa[2] * qb[2] + qa[3] * qb[3];
    turn[1] = qa[0] * qb[1] - qa[1] * qb[0] - qa[2] * qb[3] + qa[3] * qb[2];
    turn[2] = qa[0] * qb[2] + qa[1] * qb[3] - qa[2] * qb[0] - qa[3] * qb[1];
    turn[3] = qa[0] * qb[3] - qa[1] * qb[2] + qa[2] * qb[1] - qa[3] * qb[0];
}

static void to_world(const CollidePose *pose, const float *local, double out[3])
{
    const double *r = pose->rotation;
    double x = (double)local[0], y = (double)local[1], z = (double)local[2];
    for (int i = 0; i < 3; i++)
        out[i] = pose->position[i] + r[3 * i] * x + r[3 * i + 1] * y + r[3 * i + 2] * z;
}

static void to_local(const CollidePose *pose, const double *world, float out[3])
{
    const double *r = pose->rotation;
    double d[3];
    vec_sub(world, pose->position, d);
    for (int i = 0; i < 3; i++)
        out[i] = (float)(r[i] * d[0] + r[3 + i] * d[1] + r[6 + i] * d[2]);
}

int collide_cache_reuse(CollideCache *cache, int index, const CollidePose *pa, const double qa[4], const CollidePose *pb,
                        const double qb[4], CollidePoint points[COLLIDE_POINTS])
{
    const Entry *entry = &cache->entries[index];
    if (entry->count < 0)
        return -1;
    double shift[3], turn[4], moved = 0.0, same = 0.0;
    relative_pose(pa, qa, pb, qb, shift, turn);
    for (int i = 0; i < 3; i++)
        moved += (shift[i] - (double)entry->shift[i]) * (shift[i] - (double)entry->shift[i]);
    for (int i = 0; i < 4; i++)
        same += turn[i] * (double)entry->turn[i];
    if (moved > SHIFT_LIMIT * SHIFT_LIMIT || !(fabs(same) > 1.0 - TURN_LIMIT))
        return -1;
    int count = 0;
    for (int k = 0; k < entry->count; k++) {
        const CachedPoint *from = &entry->points[k];
        CollidePoint *to = &points[count];
        double a[3], b[3];
        const double *r = pb->rotation;
        to_world(pa, from->on_a, a);
        to_world(pb, from->on_b, b);
        double n[3] = { (double)from->normal[0], (double)from->normal[1], (double)from->normal[2] };
        for (int i = 0; i < 3; i++)
            to->normal[i] = r[3 * i] * n[0] + r[3 * i + 1] * n[1] + r[3 * i + 2] * n[2];
        double apart = 0.0;
        for (int i = 0; i < 3; i++) {
            apart += to->normal[i] * (a[i] - b[i]);
            to->position[i] = 0.5 * (a[i] + b[i]);
        }
        to->depth = (double)from->depth - apart;
        to->feature = from->feature;
        count += to->depth >= 0.0;
    }
    return count;
}

void collide_cache_store(CollideCache *cache, int index, const CollidePose *pa, const double qa[4], const CollidePose *pb,
                         const double qb[4], const CollidePoint *points, int count)
{
    Entry *entry = &cache->entries[index];
    double shift[3], turn[4];
    relative_pose(pa, qa, pb, qb, shift, turn);
    for (int i = 0; i < 3; i++)
        entry->shift[i] = (float)shift[i];
    for (int i = 0; i < 4; i++)
        entry->turn[i] = (float)turn[i];
    entry->count = count;
    for (int k = 0; k < count; k++) {
        CachedPoint *to = &entry->points[k];
        const double *n = points[k].normal, *r = pb->rotation;
        to_local(pa, points[k].position, to->on_a);
        to_local(pb, points[k].position, to->on_b);
        for (int i = 0; i < 3; i++)
            to->normal[i] = (float)(r[i] * n[0] + r[3 + i] * n[1] + r[6 + i] * n[2]);
        to->depth = (float)points[k].depth;
        to->feature = points[k].feature;
    }
}
