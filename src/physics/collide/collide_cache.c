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
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// Heads and points stay where they are while their pair lives; which place one got does not matter. A head that nothing
// was written to is not looked at. Points are taken while several threads store, from those that are free first and
// then behind the last, in chunks that never move.
typedef struct Known {
    int32_t place;  // of its head; ~place when nothing had been written to it as the pass began: other threads look at
                    // this, and at nothing that is written in the pass
} Known;
static inline int32_t known_head(Known known) { return known.place < 0 ? ~known.place : known.place; }

enum { CHUNK_POINTS = 128 };
enum { LARGE_CACHE = 8192 };  // pairs: fewer are in the processor's cache anyway

enum { MATCH_GRAIN = 128, NO_PAIR = -1 };  // pairs that a worker looks for among the last ones at a time

// What a piece of the pairs leaves to be done in order.
typedef struct MatchPiece {
    int32_t first_gone, gone_count;  // in `last`: heads of pairs that went
    int32_t came;                    // the last pair without a head; its place names the one before
} MatchPiece;

struct CollideCache {
    const CacheKernels *kernels;
    CacheHead *heads;
    Known *known, *last;
    BroadPair *pairs, *last_pairs;  // of known and of last
    MatchPiece *matches;
    int32_t *spare;  // heads
    int head_count, head_capacity, known_count, known_capacity, last_capacity, pair_capacity, last_pair_capacity,
        match_capacity, spare_count, spare_capacity;
    _Atomic(CachePoints *) *chunks;
    int32_t *free_points;
    int chunk_capacity, free_capacity;
    atomic_int point_count, free_count;
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
    for (int i = 0; i < cache->chunk_capacity; i++)
        free(atomic_load(&cache->chunks[i]));
    free((void *)cache->chunks);
    free(cache->free_points);
    free(cache->heads);
    free(cache->known);
    free(cache->last);
    free(cache->pairs);
    free(cache->last_pairs);
    free(cache->matches);
    free(cache->spare);
    free(cache);
}

// ---- where points are ----

static CachePoints *points_at(const CollideCache *cache, int32_t place)
{
    assert_debug(place >= 0 && place / CHUNK_POINTS < cache->chunk_capacity);
    CachePoints *chunk = atomic_load_explicit(&cache->chunks[place / CHUNK_POINTS], memory_order_acquire);
    return &chunk[place % CHUNK_POINTS];
}

// Room in the table of chunks for one more place of every pair, before threads take them.
static void chunks_reserve(CollideCache *cache, int more)
{
    assert_debug(more >= 0);
    int known = cache->chunk_capacity;
    int needed = (atomic_load(&cache->point_count) + more) / CHUNK_POINTS + 1;
    memory_grow(&cache->chunks, &cache->chunk_capacity, needed, sizeof *cache->chunks);
    for (int i = known; i < cache->chunk_capacity; i++)
        atomic_init(&cache->chunks[i], NULL);
}

// On any thread: nobody gives places back meanwhile.
static int32_t points_take(CollideCache *cache)
{
    int left = atomic_load(&cache->free_count);
    while (left > 0)
        if (atomic_compare_exchange_weak(&cache->free_count, &left, left - 1))
            return cache->free_points[left - 1];
    int32_t place = atomic_fetch_add(&cache->point_count, 1);
    assert_debug(place / CHUNK_POINTS < cache->chunk_capacity);
    _Atomic(CachePoints *) *chunk = &cache->chunks[place / CHUNK_POINTS];
    if (!atomic_load(chunk)) {
        CachePoints *made = memory_alloc_array(CHUNK_POINTS, sizeof *made), *none = NULL;
        if (!atomic_compare_exchange_strong(chunk, &none, made))
            free(made);  // another thread was first
    }
    return place;
}

static void points_give(CollideCache *cache, int32_t place)
{
    int count = atomic_load(&cache->free_count);
    assert_debug(place >= 0 && place < atomic_load(&cache->point_count));
    memory_grow(&cache->free_points, &cache->free_capacity, count + 1, sizeof *cache->free_points);
    cache->free_points[count] = place;
    atomic_store(&cache->free_count, count + 1);
}

// ---- limits ----

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

static int32_t head_take(CollideCache *cache)
{
    int32_t head = cache->spare_count > 0 ? cache->spare[--cache->spare_count] : cache->head_count++;
    memory_grow(&cache->heads, &cache->head_capacity, cache->head_count, sizeof(CacheHead));
    cache->heads[head].points = -1;
    cache->heads[head].count = -1;
    return head;
}

static void head_give(CollideCache *cache, int32_t head)
{
    assert_debug(head >= 0 && head < cache->head_count);
    if (cache->heads[head].points >= 0)
        points_give(cache, cache->heads[head].points);
    memory_grow(&cache->spare, &cache->spare_capacity, cache->spare_count + 1, sizeof *cache->spare);
    cache->spare[cache->spare_count++] = head;
}

static void swap_known(CollideCache *cache, int count)
{
    Known *swap = cache->last;
    int capacity = cache->last_capacity;
    cache->last = cache->known;
    cache->last_capacity = cache->known_capacity;
    cache->known = swap;
    cache->known_capacity = capacity;
    memory_grow(&cache->known, &cache->known_capacity, count + 1, sizeof(Known));
    BroadPair *pairs = cache->last_pairs;
    capacity = cache->last_pair_capacity;
    cache->last_pairs = cache->pairs;
    cache->last_pair_capacity = cache->pair_capacity;
    cache->pairs = pairs;
    cache->pair_capacity = capacity;
    memory_grow(&cache->pairs, &cache->pair_capacity, count + 1, sizeof *cache->pairs);
}

typedef struct MatchWork {
    CollideCache *cache;
    const BroadPair *pairs;
    int count, last_count;
} MatchWork;

// How many of the last pass's pairs come before one.
static int last_before(const MatchWork *work, int index)
{
    assert_debug(index >= 0 && index <= work->count);
    if (index == 0 || index == work->count)
        return index == 0 ? 0 : work->last_count;
    int low = 0, high = work->last_count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (pair_is_before(work->cache->last_pairs[middle], work->pairs[index]))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Pairs that were there in the last pass keep their heads. Those that were not are chained by `place`, and the heads of
// those that went gathered where they stood: heads are given and taken after the loop.
static void match_range(int begin, int end, int worker, void *context)
{
    enum { HEADS_AHEAD = 32 };
    const MatchWork *work = context;
    CollideCache *cache = work->cache;
    const BroadPair *pairs = work->pairs, *last_pairs = cache->last_pairs;
    (void)worker;
    assert(begin >= 0 && begin < end && end <= work->count && begin / MATCH_GRAIN < cache->match_capacity);
    const int first = last_before(work, begin), last = last_before(work, end);
    const int ahead_end = cache->head_count < LARGE_CACHE ? 0 : last - HEADS_AHEAD;
    MatchPiece piece = { .first_gone = first, .came = NO_PAIR };
    int at = first;
    for (int i = begin; i < end; i++) {
        while (at < last && pair_is_before(last_pairs[at], pairs[i]))
            cache->last[first + piece.gone_count++] = cache->last[at++];
        if (at < ahead_end)
            __builtin_prefetch(&cache->heads[known_head(cache->last[at + HEADS_AHEAD])].count);
        cache->pairs[i] = pairs[i];
        if (at < last && last_pairs[at].a == pairs[i].a && last_pairs[at].b == pairs[i].b) {
            int32_t head = known_head(cache->last[at++]);
            cache->known[i] = (Known){ cache->heads[head].count < 0 ? ~head : head };
        } else {
            cache->known[i] = (Known){ piece.came };
            piece.came = i;
        }
    }
    while (at < last)
        cache->last[first + piece.gone_count++] = cache->last[at++];
    cache->matches[begin / MATCH_GRAIN] = piece;
}

// The heads of pairs that went are for those that came.
static void heads_settle(CollideCache *cache, const MatchPiece *piece)
{
    assert_debug(piece->gone_count >= 0 && piece->came < cache->known_count);
    for (int i = 0; i < piece->gone_count; i++)
        head_give(cache, known_head(cache->last[piece->first_gone + i]));
    for (int i = piece->came; i != NO_PAIR;) {
        int next = cache->known[i].place;
        cache->known[i] = (Known){ ~head_take(cache) };
        i = next;
    }
}

void collide_cache_begin(CollideCache *cache, const BroadPair *pairs, int count, Pool *pool)
{
    assert(count >= 0 && (pairs || count == 0));
    MatchWork work = { cache, pairs, count, cache->known_count };
    const bool is_shared = pool_thread_count(pool) > 1 && count > MATCH_GRAIN;
    const int pieces = is_shared ? (count + MATCH_GRAIN - 1) / MATCH_GRAIN : 1;
    swap_known(cache, count);
    memory_grow(&cache->matches, &cache->match_capacity, pieces, sizeof *cache->matches);
    cache->known_count = count;
    if (count > 0)
        pool_for(is_shared ? pool : NULL, count, MATCH_GRAIN, match_range, &work);
    else
        cache->matches[0] = (MatchPiece){ .gone_count = work.last_count, .came = NO_PAIR };
    for (int i = 0; i < pieces; i++)
        heads_settle(cache, &cache->matches[i]);
    chunks_reserve(cache, count);
}

void collide_cache_prefetch(const CollideCache *cache, bool is_there)
{
    if (!is_there) {
        memory_prefetch(cache, sizeof *cache);
        return;
    }
    memory_prefetch(cache->known, sizeof *cache->known * (size_t)cache->known_count);
    memory_prefetch(cache->last, sizeof *cache->last * (size_t)cache->known_count);
    memory_prefetch(cache->pairs, sizeof *cache->pairs * (size_t)cache->known_count);
    memory_prefetch(cache->last_pairs, sizeof *cache->last_pairs * (size_t)cache->known_count);
    memory_prefetch(cache->matches, sizeof *cache->matches);
    memory_prefetch(cache->heads, sizeof *cache->heads * (size_t)cache->head_count);
}

// Heads and points lie anywhere: asks for those that will be wanted soon, points when their head is there already.
static inline void prefetch_soon(const CollideCache *cache, int index)
{
    if (cache->head_count < LARGE_CACHE || index + 8 >= cache->known_count)
        return;
    int32_t far = cache->known[index + 8].place, near = cache->known[index + 4].place;
    if (far >= 0) {
        __builtin_prefetch(&cache->heads[far]);
        __builtin_prefetch(&cache->heads[far].points);
    }
    if (near < 0)
        return;
    // A pair that had points keeps their place in this pass; one that another thread gives a place now has none yet.
    int32_t place = __atomic_load_n(&cache->heads[near].points, __ATOMIC_RELAXED);
    if (place < 0)
        return;
    const char *soon = (const char *)(atomic_load_explicit(&cache->chunks[place / CHUNK_POINTS], memory_order_relaxed)
                                      + place % CHUNK_POINTS);
    for (int line = 0; line < 3; line++)
        __builtin_prefetch(soon + 64 * line);
    __builtin_prefetch(soon + sizeof(CachePoints) - 1);
}

int collide_cache_reuse(CollideCache *cache, int index, const CollidePose *pa, const CollidePose *pb,
                        CollideLimit limit, CollidePoint points[COLLIDE_POINTS])
{
    assert(index >= 0 && index < cache->known_count);
    assert(limit.shift >= 0.0);
    prefetch_soon(cache, index);
    const CacheHead *head = &cache->heads[known_head(cache->known[index])];
    if (head->count < 0)
        return -1;
    return cache->kernels->move(head, head->count > 0 ? points_at(cache, head->points) : NULL, pa, pb, limit, points);
}

int collide_cache_store(CollideCache *cache, int index, const CollidePose *pa, const CollidePose *pb,
                        CollidePoint *points, int count)
{
    assert(index >= 0 && index < cache->known_count);
    assert(count >= 0 && count <= COLLIDE_POINTS);
    assert_debug(known_head(cache->known[index]) < cache->head_count);
    CacheHead *head = &cache->heads[known_head(cache->known[index])];
    head->count = count;
    if (count > 0 && head->points < 0)
        __atomic_store_n(&head->points, points_take(cache), __ATOMIC_RELAXED);
    cache->kernels->put(head, count > 0 ? points_at(cache, head->points) : NULL, pa, pb, points);
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

void collide_cache_drop(CollideCache *cache, int index)
{
    assert(index >= 0 && index < cache->known_count);
    cache->heads[known_head(cache->known[index])].count = -1;
}

void collide_cache_forget(CollideCache *cache)
{
    for (int i = 0; i < cache->known_count; i++)
        collide_cache_drop(cache, i);
}

// ---- snapshots: what is known, in the order of the pairs ----

typedef struct CacheEntry {
    BroadPair pair;
    int32_t count, reserved;
    float shift[3], turn[9];
    CachePoints points;
} CacheEntry;

static int known_entries(const CollideCache *cache)
{
    int count = 0;
    for (int i = 0; i < cache->known_count; i++)
        count += cache->heads[known_head(cache->known[i])].count >= 0;
    return count;
}

size_t collide_cache_size(const CollideCache *cache) { return (size_t)known_entries(cache) * sizeof(CacheEntry); }

static CacheEntry entry_of(const CollideCache *cache, int index)
{
    assert(index >= 0 && index < cache->known_count);
    const CacheHead *head = &cache->heads[known_head(cache->known[index])];
    CacheEntry entry = { .pair = cache->pairs[index], .count = head->count };
    memcpy(entry.shift, head->shift, sizeof entry.shift);
    memcpy(entry.turn, head->turn, sizeof entry.turn);
    if (head->count > 0)
        entry.points = *points_at(cache, head->points);
    for (int k = head->count; k < COLLIDE_POINTS; k++) {  // of a former pair
        for (int c = 0; c < 3; c++)
            entry.points.on_a[c][k] = entry.points.on_b[c][k] = entry.points.normal[c][k] = 0.0f;
        entry.points.depth[k] = 0.0f;
    }
    return entry;
}

void collide_cache_save(const CollideCache *cache, void *buffer)
{
    char *to = buffer;
    for (int i = 0; i < cache->known_count; i++) {
        if (cache->heads[known_head(cache->known[i])].count < 0)
            continue;
        CacheEntry entry = entry_of(cache, i);
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
        if (!floats_are_sound(entry->points.on_a[c], COLLIDE_POINTS, far)
            || !floats_are_sound(entry->points.on_b[c], COLLIDE_POINTS, far)
            || !floats_are_sound(entry->points.normal[c], COLLIDE_POINTS, 1.001f))
            return false;
    if (!floats_are_sound(entry->points.depth, COLLIDE_POINTS, far))
        return false;
    for (int k = 0; k < entry->count; k++) {
        float x = entry->points.normal[0][k], y = entry->points.normal[1][k], z = entry->points.normal[2][k];
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
    cache->spare_count = cache->head_count = 0;
    atomic_store(&cache->free_count, 0);
    atomic_store(&cache->point_count, 0);
    memory_grow(&cache->known, &cache->known_capacity, count + 1, sizeof(Known));
    memory_grow(&cache->pairs, &cache->pair_capacity, count + 1, sizeof *cache->pairs);
    cache->known_count = count;
    chunks_reserve(cache, count);
    for (int i = 0; i < count; i++) {
        CacheEntry entry;
        memcpy(&entry, (const char *)buffer + (size_t)i * sizeof entry, sizeof entry);
        cache->known[i] = (Known){ head_take(cache) };
        cache->pairs[i] = entry.pair;
        CacheHead *head = &cache->heads[cache->known[i].place];
        memcpy(head->shift, entry.shift, sizeof entry.shift);
        memcpy(head->turn, entry.turn, sizeof entry.turn);
        head->count = entry.count;
        if (entry.count > 0) {
            head->points = points_take(cache);
            *points_at(cache, head->points) = entry.points;
        }
    }
}
