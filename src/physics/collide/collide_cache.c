// collide_cache.c - points of pairs that hardly moved against each other since they were found, moved along instead of
// found anew.
#include "physics/collide/collide_cache.h"

#include "base/cpu.h"
#include "base/memory.h"
#include "physics/collide/cache_entry.h"
#include "physics/collide/collide_internal.h"
#include "physics/collide/tuning.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Entries stay where they are while their pair lives; which place one got does not matter. An entry that nothing was
// written to is not looked at.
typedef struct Known {
    BroadPair pair;
    int32_t slot;
    bool has_points, had_points;  // had: at the start of the pass, for other threads to read
} Known;

struct CollideCache {
    const CacheKernels *kernels;
    CacheEntry *entries;
    Known *known, *last;
    int32_t *spare;
    int entry_count, entry_capacity, known_count, known_capacity, last_capacity, spare_count, spare_capacity;
};

CollideCache *collide_cache_create(void)
{
    CollideCache *cache = memory_alloc(sizeof *cache);
    cache->kernels = cpu_has_avx2() ? &cache_entry_avx2 : &cache_entry_portable;
    return cache;
}

void collide_cache_destroy(CollideCache *cache)
{
    if (!cache)
        return;
    free(cache->entries);
    free(cache->known);
    free(cache->last);
    free(cache->spare);
    free(cache);
}

double collide_bounding_radius(const CollideShape *shape)
{
    const double *s = shape->size;
    switch (shape->type) {
    case GEOMETRY_SPHERE: return s[0];
    case GEOMETRY_CAPSULE: return s[0] + s[1];
    case GEOMETRY_CYLINDER: return sqrt(s[0] * s[0] + s[1] * s[1]);
    case GEOMETRY_BOX: return sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
    default: return INFINITY;
    }
}

// Points lie within the smaller shape, so its size says what a turn moves.
CollideLimit collide_cache_limit(const CollideShape *a, const CollideShape *b)
{
    return collide_cache_limit_of(double_min(collide_min_half_extent(a), collide_min_half_extent(b)),
                                  double_min(collide_bounding_radius(a), collide_bounding_radius(b)));
}

CollideLimit collide_cache_limit_of(double min_half_extent, double min_reach)
{
    return (CollideLimit){ double_min(MAX_CACHE_SHIFT, CACHE_SHIFT_SHARE * min_half_extent), min_reach };
}

static bool pair_is_before(BroadPair x, BroadPair y) { return x.a != y.a ? x.a < y.a : x.b < y.b; }

static int32_t take_slot(CollideCache *cache)
{
    if (cache->spare_count > 0)
        return cache->spare[--cache->spare_count];
    memory_grow(&cache->entries, &cache->entry_capacity, cache->entry_count + 1, sizeof(CacheEntry));
    return cache->entry_count++;
}

static void give_slot(CollideCache *cache, int32_t slot)
{
    assert(slot >= 0 && slot < cache->entry_count);
    memory_grow(&cache->spare, &cache->spare_capacity, cache->spare_count + 1, sizeof *cache->spare);
    cache->spare[cache->spare_count++] = slot;
}

void collide_cache_begin(CollideCache *cache, const BroadPair *pairs, int count)
{
    assert(count >= 0 && (pairs || count == 0));
    Known *swap = cache->last;
    int capacity = cache->last_capacity, last_count = cache->known_count;
    cache->last = cache->known;
    cache->last_capacity = cache->known_capacity;
    cache->known = swap;
    cache->known_capacity = capacity;
    memory_grow(&cache->known, &cache->known_capacity, count + 1, sizeof(Known));
    cache->known_count = count;
    int at = 0;
    for (int i = 0; i < count; i++) {
        while (at < last_count && pair_is_before(cache->last[at].pair, pairs[i]))
            give_slot(cache, cache->last[at++].slot);
        if (at < last_count && cache->last[at].pair.a == pairs[i].a && cache->last[at].pair.b == pairs[i].b) {
            cache->known[i] = cache->last[at++];
            cache->known[i].had_points = cache->known[i].has_points;
            continue;
        }
        cache->known[i] = (Known){ pairs[i], take_slot(cache), false, false };
    }
    while (at < last_count)
        give_slot(cache, cache->last[at++].slot);
}

// Slots lie anywhere: asks for one that will be wanted soon.
static void prefetch_soon(const CollideCache *cache, int index)
{
    const Known *known = &cache->known[int_min(index + 6, cache->known_count - 1)];
    if (!known->had_points)
        return;
    const char *soon = (const char *)&cache->entries[known->slot];
    for (int line = 0; line < 4; line++)
        __builtin_prefetch(soon + 64 * line);
}

int collide_cache_reuse(CollideCache *cache, int index, const CollidePose *pa, const CollidePose *pb,
                        CollideLimit limit, CollidePoint points[COLLIDE_POINTS])
{
    assert(index >= 0 && index < cache->known_count);
    assert(limit.shift >= 0.0);
    prefetch_soon(cache, index);
    if (!cache->known[index].has_points)
        return -1;
    const CacheEntry *entry = &cache->entries[cache->known[index].slot];
    return cache->kernels->move(entry, pa, pb, limit, points);
}

int collide_cache_store(CollideCache *cache, int index, const CollidePose *pa, const CollidePose *pb,
                        CollidePoint *points, int count)
{
    assert(index >= 0 && index < cache->known_count);
    assert(count >= 0 && count <= COLLIDE_POINTS);
    assert(cache->known[index].slot >= 0 && cache->known[index].slot < cache->entry_count);
    CacheEntry *entry = &cache->entries[cache->known[index].slot];
    cache->known[index].has_points = true;
    entry->pair = cache->known[index].pair;
    cache->kernels->put(entry, pa, pb, points, count);
    return collide_keep_touching(points, count);
}

// Kernels so cheap that remembering what they found does not pay.
static bool is_cheap(GeometryKind a, GeometryKind b)
{
    return a == GEOMETRY_PLANE || b == GEOMETRY_PLANE || a == GEOMETRY_SPHERE || b == GEOMETRY_SPHERE;
}

int collide_cache_pair(CollideCache *cache, int index, const CollideShape *a, const CollidePose *pa,
                       const CollideShape *b, const CollidePose *pb, CollideLimit limit, bool was_changed,
                       CollidePoint points[COLLIDE_POINTS])
{
    assert(index >= 0 && index < cache->known_count);
    if (is_cheap(a->type, b->type))
        return collide_pair(a, pa, b, pb, 0.0, points);
    int count = was_changed ? -1 : collide_cache_reuse(cache, index, pa, pb, limit, points);
    if (count >= 0)
        return count;
    return collide_cache_store(cache, index, pa, pb, points, collide_pair(a, pa, b, pb, limit.shift, points));
}

void collide_cache_drop(CollideCache *cache, int index) { cache->known[index].has_points = false; }

void collide_cache_forget(CollideCache *cache)
{
    for (int i = 0; i < cache->known_count; i++)
        collide_cache_drop(cache, i);
}

// ---- snapshots: the entries that know something, in the order of their pairs ----

static int known_entries(const CollideCache *cache)
{
    int count = 0;
    for (int i = 0; i < cache->known_count; i++)
        count += cache->known[i].has_points;
    return count;
}

size_t collide_cache_size(const CollideCache *cache) { return (size_t)known_entries(cache) * sizeof(CacheEntry); }

void collide_cache_save(const CollideCache *cache, void *buffer)
{
    char *to = buffer;
    for (int i = 0; i < cache->known_count; i++) {
        if (!cache->known[i].has_points)
            continue;
        CacheEntry entry = cache->entries[cache->known[i].slot];
        entry.reserved = 0;
        for (int k = entry.count; k < COLLIDE_POINTS; k++) {  // of a former pair
            for (int c = 0; c < 3; c++)
                entry.on_a[c][k] = entry.on_b[c][k] = entry.normal[c][k] = 0.0f;
            entry.depth[k] = 0.0f;
            entry.feature[k] = 0;
        }
        memcpy(to, &entry, sizeof entry);
        to += sizeof entry;
    }
}

static bool floats_are_sound(const float *values, int count, float max)
{
    for (int i = 0; i < count; i++)
        if (!(fabsf(values[i]) <= max))
            return false;
    return true;
}

static bool entry_is_sound(const CacheEntry *entry, int proxy_count)
{
    const float far = 4e9f;  // LIMIT_COORDINATE, and a sum of some
    if (entry->pair.a < 0 || entry->pair.a >= entry->pair.b || entry->pair.b >= proxy_count || entry->count < 0
        || entry->count > COLLIDE_POINTS || !floats_are_sound(entry->shift, 3, far)
        || !floats_are_sound(entry->turn, 9, 1.001f))
        return false;
    for (int c = 0; c < 3; c++)
        if (!floats_are_sound(entry->on_a[c], COLLIDE_POINTS, far)
            || !floats_are_sound(entry->on_b[c], COLLIDE_POINTS, far)
            || !floats_are_sound(entry->normal[c], COLLIDE_POINTS, 1.001f))
            return false;
    if (!floats_are_sound(entry->depth, COLLIDE_POINTS, far))
        return false;
    for (int k = 0; k < entry->count; k++) {
        float x = entry->normal[0][k], y = entry->normal[1][k], z = entry->normal[2][k];
        if (!(fabsf(x * x + y * y + z * z - 1.0f) < 1e-3f))
            return false;
    }
    return true;
}

bool collide_cache_is_sound(const void *buffer, size_t size, int proxy_count)
{
    if (size % sizeof(CacheEntry) != 0)
        return false;
    BroadPair last = { -1, -1 };
    for (size_t at = 0; at < size; at += sizeof(CacheEntry)) {
        CacheEntry entry;
        memcpy(&entry, (const char *)buffer + at, sizeof entry);
        if (!entry_is_sound(&entry, proxy_count) || !pair_is_before(last, entry.pair))
            return false;
        last = entry.pair;
    }
    return true;
}

void collide_cache_restore(CollideCache *cache, const void *buffer, size_t size)
{
    int count = (int)(size / sizeof(CacheEntry));
    cache->spare_count = 0;
    cache->entry_count = cache->known_count = count;
    memory_grow(&cache->entries, &cache->entry_capacity, count + 1, sizeof(CacheEntry));
    memory_grow(&cache->known, &cache->known_capacity, count + 1, sizeof(Known));
    if (size > 0)
        memcpy(cache->entries, buffer, size);
    for (int i = 0; i < count; i++)
        cache->known[i] = (Known){ cache->entries[i].pair, i, true, true };
}
