// collide_cache.c - points of pairs that hardly moved against each other since they were found, moved along instead of found anew.
#include "physics/collide/collide_cache.h"

#include "base/memory.h"
#include "physics/collide/collide_internal.h"
#include "physics/collide/tuning.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Points side by side, so that two are moved at a time. Places beyond `count` hold anything; snapshots have zeros there.
typedef struct Entry {
    BroadPair pair;
    int32_t count, reserved;
    float shift[3], turn[9];                                 // of B in A's frame when it was collided
    float on_a[3][COLLIDE_POINTS], on_b[3][COLLIDE_POINTS];  // in the frames of the two shapes
    float normal[3][COLLIDE_POINTS];                         // in the frame of B
    float depth[COLLIDE_POINTS];
    uint32_t feature[COLLIDE_POINTS];
} Entry;

// One number of two points.
enum { LANES = 2 };
static_assert(COLLIDE_POINTS % LANES == 0, "points come in full lanes");
typedef double Lanes __attribute__((vector_size(LANES * sizeof(double))));

// Entries stay where they are while their pair lives; which place one got does not matter. An entry that nothing was
// written to is not looked at.
typedef struct Known {
    BroadPair pair;
    int32_t slot;
    bool has_points, had_points;  // had: at the start of the pass, for other threads to read
} Known;

struct CollideCache {
    Entry *entries;
    Known *known, *last;
    int32_t *spare;
    int entry_count, entry_capacity, known_count, known_capacity, last_capacity, spare_count, spare_capacity;
};

CollideCache *collide_cache_create(void) { return memory_alloc(sizeof(CollideCache)); }

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
    memory_grow(&cache->entries, &cache->entry_capacity, cache->entry_count + 1, sizeof(Entry));
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

static void relative_pose(const CollidePose *pa, const CollidePose *pb, double shift[3], double turn[9])
{
    const double *ra = pa->rotation, *rb = pb->rotation;
    double d[3];
    vec_sub(pb->position, pa->position, d);
    for (int i = 0; i < 3; i++) {
        shift[i] = ra[i] * d[0] + ra[3 + i] * d[1] + ra[6 + i] * d[2];
        for (int k = 0; k < 3; k++)
            turn[3 * i + k] = ra[i] * rb[k] + ra[3 + i] * rb[3 + k] + ra[6 + i] * rb[6 + k];
    }
}

static inline Lanes lanes_of(const float *numbers) { return (Lanes){ (double)numbers[0], (double)numbers[1] }; }

static inline void to_world(const CollidePose *pose, const float local[3][COLLIDE_POINTS], int k, Lanes out[3])
{
    const double *r = pose->rotation;
    Lanes x = lanes_of(&local[0][k]), y = lanes_of(&local[1][k]), z = lanes_of(&local[2][k]);
    for (int i = 0; i < 3; i++)
        out[i] = pose->position[i] + r[3 * i] * x + r[3 * i + 1] * y + r[3 * i + 2] * z;
}

static inline void turn_to_world(const double *r, const float local[3][COLLIDE_POINTS], int k, Lanes out[3])
{
    Lanes x = lanes_of(&local[0][k]), y = lanes_of(&local[1][k]), z = lanes_of(&local[2][k]);
    for (int i = 0; i < 3; i++)
        out[i] = r[3 * i] * x + r[3 * i + 1] * y + r[3 * i + 2] * z;
}

static inline void turn_to_local(const double *r, const Lanes world[3], int k, float out[3][COLLIDE_POINTS])
{
    for (int i = 0; i < 3; i++) {
        Lanes local = r[i] * world[0] + r[3 + i] * world[1] + r[6 + i] * world[2];
        for (int lane = 0; lane < LANES; lane++)
            out[i][k + lane] = (float)local[lane];
    }
}

static inline void to_local(const CollidePose *pose, const Lanes world[3], int k, float out[3][COLLIDE_POINTS])
{
    Lanes d[3];
    for (int i = 0; i < 3; i++)
        d[i] = world[i] - pose->position[i];
    turn_to_local(pose->rotation, d, k, out);
}

// Whether the pair stands where it stood: for a small angle t the squared difference of two rotations is 2 t^2. The pair's shift
// says mostly no by itself.
static bool has_stayed(const Entry *entry, const CollidePose *pa, const CollidePose *pb, CollideLimit limit)
{
    const double *ra = pa->rotation, *rb = pb->rotation;
    double d[3], moved = 0.0, turned = 0.0, shift2 = limit.shift * limit.shift;
    vec_sub(pb->position, pa->position, d);
    for (int i = 0; i < 3; i++) {
        double way = ra[i] * d[0] + ra[3 + i] * d[1] + ra[6 + i] * d[2] - (double)entry->shift[i];
        moved += way * way;
    }
    if (!(moved <= shift2))
        return false;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            double change = ra[i] * rb[k] + ra[3 + i] * rb[3 + k] + ra[6 + i] * rb[6 + k]
                            - (double)entry->turn[3 * i + k];
            turned += change * change;
        }
    return turned * limit.reach * limit.reach <= 2.0 * shift2;
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
    const Entry *entry = &cache->entries[cache->known[index].slot];
    if (!has_stayed(entry, pa, pb, limit))
        return -1;
    int touching = 0;
    for (int k = 0; k < entry->count; k += LANES) {
        Lanes a[3], b[3], normal[3], position[3], apart = { 0.0 };
        to_world(pa, entry->on_a, k, a);
        to_world(pb, entry->on_b, k, b);
        turn_to_world(pb->rotation, entry->normal, k, normal);
        for (int i = 0; i < 3; i++) {
            apart += normal[i] * (a[i] - b[i]);
            position[i] = 0.5 * (a[i] + b[i]);
        }
        Lanes depth = lanes_of(&entry->depth[k]) - apart;
        for (int lane = 0; lane < LANES && k + lane < entry->count; lane++) {
            if (!(depth[lane] >= -TOUCH_ROUNDING))
                continue;
            CollidePoint *to = &points[touching++];
            for (int i = 0; i < 3; i++) {
                to->position[i] = position[i][lane];
                to->normal[i] = normal[i][lane];
            }
            to->depth = double_max(depth[lane], 0.0);
            to->feature = entry->feature[k + lane];
        }
    }
    return touching;
}

// How far the two places of a point seem apart because they were rounded, along its normal: kept out of its depth. Not inlined:
// gcc 12 would take the numbers as they were before they were rounded.
static __attribute__((noinline)) Lanes apart_now(const CollidePose *pa, const CollidePose *pb, const Entry *entry,
                                                 int k)
{
    Lanes a[3], b[3], normal[3], apart = { 0.0 };
    to_world(pa, entry->on_a, k, a);
    to_world(pb, entry->on_b, k, b);
    turn_to_world(pb->rotation, entry->normal, k, normal);
    for (int i = 0; i < 3; i++)
        apart += normal[i] * (a[i] - b[i]);
    return apart;
}

// Points `k` and on of a pair into its entry.
static inline void entry_put(Entry *entry, const CollidePose *pa, const CollidePose *pb, const CollidePoint *points,
                             int count, int k)
{
    Lanes position[3], normal[3];
    const CollidePoint *first = &points[k], *second = &points[k + 1 < count ? k + 1 : k];
    for (int i = 0; i < 3; i++) {
        position[i] = (Lanes){ first->position[i], second->position[i] };
        normal[i] = (Lanes){ first->normal[i], second->normal[i] };
    }
    to_local(pa, position, k, entry->on_a);
    to_local(pb, position, k, entry->on_b);
    turn_to_local(pb->rotation, normal, k, entry->normal);
    Lanes depth = (Lanes){ first->depth, second->depth } + apart_now(pa, pb, entry, k);
    for (int lane = 0; lane < LANES; lane++)
        entry->depth[k + lane] = (float)depth[lane];
    entry->feature[k] = first->feature;
    entry->feature[k + 1] = second->feature;
}

int collide_cache_store(CollideCache *cache, int index, const CollidePose *pa, const CollidePose *pb,
                        CollidePoint *points, int count)
{
    assert(index >= 0 && index < cache->known_count);
    assert(count >= 0 && count <= COLLIDE_POINTS);
    assert(cache->known[index].slot >= 0 && cache->known[index].slot < cache->entry_count);
    Entry *entry = &cache->entries[cache->known[index].slot];
    double shift[3], turn[9];
    cache->known[index].has_points = true;
    entry->pair = cache->known[index].pair;
    relative_pose(pa, pb, shift, turn);
    for (int i = 0; i < 3; i++)
        entry->shift[i] = (float)shift[i];
    for (int i = 0; i < 9; i++)
        entry->turn[i] = (float)turn[i];
    entry->count = count;
    for (int k = 0; k < count; k += LANES)
        entry_put(entry, pa, pb, points, count, k);
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

size_t collide_cache_size(const CollideCache *cache) { return (size_t)known_entries(cache) * sizeof(Entry); }

void collide_cache_save(const CollideCache *cache, void *buffer)
{
    char *to = buffer;
    for (int i = 0; i < cache->known_count; i++) {
        if (!cache->known[i].has_points)
            continue;
        Entry entry = cache->entries[cache->known[i].slot];
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

static bool entry_is_sound(const Entry *entry, int proxy_count)
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
    if (size % sizeof(Entry) != 0)
        return false;
    BroadPair last = { -1, -1 };
    for (size_t at = 0; at < size; at += sizeof(Entry)) {
        Entry entry;
        memcpy(&entry, (const char *)buffer + at, sizeof entry);
        if (!entry_is_sound(&entry, proxy_count) || !pair_is_before(last, entry.pair))
            return false;
        last = entry.pair;
    }
    return true;
}

void collide_cache_restore(CollideCache *cache, const void *buffer, size_t size)
{
    int count = (int)(size / sizeof(Entry));
    cache->spare_count = 0;
    cache->entry_count = cache->known_count = count;
    memory_grow(&cache->entries, &cache->entry_capacity, count + 1, sizeof(Entry));
    memory_grow(&cache->known, &cache->known_capacity, count + 1, sizeof(Known));
    if (size > 0)
        memcpy(cache->entries, buffer, size);
    for (int i = 0; i < count; i++)
        cache->known[i] = (Known){ cache->entries[i].pair, i, true, true };
}
