// From the pairs of a pass and their points to records, marks and keys. A window of pairs at a time: its points are
// found, and it is cut into pieces, of which each says how many records it has, so that all know where theirs begin,
// and writes them; all over the threads, in the order of the pairs whoever works. So a point is found, and written down
// in the form that it has from then on, while it is in the cache. What others have to know of comes before, one by one:
// fluids, points that ODE finds, touching without a contact, points beyond the limit. With a plugin that is asked about
// pairs, and when shapes were moved by hand, which wakes what they touch, the pairs are taken one after the other.
#include "physics/contacts/contact_narrow.h"
#include "physics/contacts/contact_thin.h"
#include "physics/contacts/sleep.h"
#include "physics/mirror.h"

#include "base/memory.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

enum { PAIRS_PER_PIECE = 128 };
enum { TASKS_PER_PIECE = 4 };     // of the narrow phase
enum { PIECES_PER_WINDOW = 64 };  // for several threads; one needs no more than a piece

// ---- keys ----

static uint64_t key_of(int a, int b) { return ((uint64_t)(uint32_t)a << 32) | (uint32_t)b; }

void contact_remember_pair(Physics *physics, int a, int b)
{
    assert(a >= 0 && a < b && b < physics->shape_count);
    uint64_t key = key_of(a, b);
    if (physics->touching_count > 0 && physics->touching[physics->touching_count - 1] == key)
        return;
    memory_grow(&physics->touching, &physics->touching_capacity, physics->touching_count + 1, sizeof(uint64_t));
    physics->touching[physics->touching_count++] = key;
}

// The first key of the last pass that is not below this one.
static int find_key(const Physics *physics, uint64_t key)
{
    int low = 0, high = physics->touched_count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (physics->touched[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool was_touching(const Physics *physics, uint64_t key, int *cursor)
{
    assert_debug(*cursor >= 0);
    while (*cursor < physics->touched_count && physics->touched[*cursor] < key)
        ++*cursor;
    return *cursor < physics->touched_count && physics->touched[*cursor] == key;
}

// ---- marks ----
// Several threads may set the same one to the same value; who finds it set leaves it, so that its line stays shared.

static inline void set_pass(uint64_t *mark, uint64_t value)
{
    if (__atomic_load_n(mark, __ATOMIC_RELAXED) != value)
        __atomic_store_n(mark, value, __ATOMIC_RELAXED);
}

// Both marks of a solid at once, which follow each other.
static_assert(offsetof(SolidState, is_touching) == offsetof(SolidState, is_colliding) + sizeof(int32_t)
                  && offsetof(SolidState, is_colliding) % sizeof(uint64_t) == 0,
              "two marks are one number");
static inline void set_marks(Physics *physics, int solid, bool value)
{
    assert_debug(solid >= 0 && solid < physics->solid_count);
    set_pass((uint64_t *)&physics->solid_states[solid].is_colliding, value ? 1ull << 32 | 1u : 0);
}

static void mark_pair(Physics *physics, const Shape *a, const Shape *b)
{
    set_marks(physics, a->solid, true);
    set_marks(physics, b->solid, true);
}

// Of pairs that get no key: their shapes are listed, to be cleared in the next pass.
static void mark_listed(Physics *physics, BroadPair pair, bool is_passive)
{
    assert_debug(pair.a >= 0 && pair.b >= 0 && pair.a < physics->shape_count && pair.b < physics->shape_count);
    Sleep *sleep = physics->sleep;
    const Shape *a = &physics->shapes[pair.a], *b = &physics->shapes[pair.b];
    memory_grow(&sleep->marked, &sleep->marked_capacity, sleep->marked_count + 2, sizeof *sleep->marked);
    sleep->marked[sleep->marked_count++] = pair.a;
    sleep->marked[sleep->marked_count++] = pair.b;
    physics->solid_states[a->solid].is_touching = physics->solid_states[b->solid].is_touching = 1;
    if (!is_passive)
        mark_pair(physics, a, b);
}

void contact_mark(Physics *physics, int shape_a, int shape_b)
{
    assert(shape_a >= 0 && shape_a < physics->shape_count);
    assert(shape_b >= 0 && shape_b < physics->shape_count);
    if (physics->shapes[shape_a].solid >= 0 && physics->shapes[shape_b].solid >= 0)
        mark_listed(physics, (BroadPair){ shape_a, shape_b }, false);
}

// Solids that nothing but a sleeping contact touches stay marked.
static void clear_shape(Physics *physics, int index)
{
    assert_debug(index >= 0 && index < physics->shape_count);
    int solid = physics->shapes[index].solid;
    set_marks(physics, solid, physics->sleeping_contact_count > 0 && physics->sleep->solid_kept[solid] > 0);
}

// Of touching pairs the first shapes rise, the second ones lie anywhere: in large worlds their marks are asked for
// ahead.
enum { RECORDS_AHEAD = 8 };
static inline void prefetch_marks(const Physics *physics, int index)
{
    enum { SHAPES_AHEAD = 24, MARKS_AHEAD = 12 };
    MEMORY_KEEP_PREFETCH();
    if (index + SHAPES_AHEAD < physics->touched_count)
        __builtin_prefetch(&physics->shapes[physics->touched[index + SHAPES_AHEAD] & UINT32_MAX].solid);
    if (index + MARKS_AHEAD < physics->touched_count) {
        int solid = physics->shapes[physics->touched[index + MARKS_AHEAD] & UINT32_MAX].solid;
        __builtin_prefetch(&physics->solid_states[solid].is_colliding, 1);
    }
}

static void clear_range(int begin, int end, int worker, void *context)
{
    Physics *physics = context;
    (void)worker;
    bool is_large = physics->touched_count >= LARGE_PASS;
    for (int i = begin, last = -1; i < end; i++) {
        if (is_large)
            prefetch_marks(physics, i);
        int first = (int)(physics->touched[i] >> 32);
        if (first != last)
            clear_shape(physics, first);
        clear_shape(physics, (int)(physics->touched[i] & UINT32_MAX));
        last = first;
    }
}

void contacts_clear_marks(Physics *physics, bool is_full)
{
    Sleep *sleep = physics->sleep;
    if (is_full) {
        for (int i = 0; i < physics->solid_count; i++)
            physics->solid_states[i].is_colliding = physics->solid_states[i].is_touching = sleep->solid_kept[i] > 0;
    } else {
        pool_for(physics->pool, physics->touched_count, PAIRS_PER_PIECE, clear_range, physics);
        for (int i = 0; i < sleep->marked_count; i++)
            clear_shape(physics, sleep->marked[i]);
    }
    sleep->marked_count = 0;
}

// ---- records ----

// What of a point is not that of its pair; a depth below zero is the gap before a fast shape.
static void write_own_surface(Physics *physics, int index, double depth)
{
    PhysicsContact *contact = &physics->contacts[index];
    PhysicsSurface *own = contact->has_own_surface ? &physics->own_surfaces[index] : NULL;
    assert(!own || index < physics->own_surface_capacity);
    if (own)
        contact_surface_at_point(physics, contact, own);
    if (depth < 0.0)
        contact_make_speculative(physics, contact, -depth, own);
}

static void write_records(Physics *physics, BroadPair pair, const NarrowPoints *found, bool is_new, int at)
{
    assert_debug(found->count > 0 && at >= 0 && pair.a < pair.b);
    const Shape *a = &physics->shapes[pair.a], *b = &physics->shapes[pair.b];
    PhysicsContact common = { .shape = { pair.a, pair.b }, .body = { a->body, b->body }, .is_new = is_new };
    bool is_one_surface = contact_surface_of_pair(physics, &common);
    assert(at + found->count <= physics->contact_capacity);
    if (physics->pair_count >= LARGE_PASS)
        memory_prefetch_near(&physics->contacts[at + 2 * RECORDS_AHEAD], sizeof common * (size_t)found->count);
    for (int i = 0; i < found->count; i++) {
        const CollidePoint *from = &found->points[i];
        PhysicsContact *contact = &physics->contacts[at + i];
        memcpy(contact, &common, offsetof(PhysicsContact, point));  // the rest is written once
        memcpy(&contact->point, from->position, sizeof contact->point);
        memcpy(&contact->normal, from->normal, sizeof contact->normal);
        contact->depth = double_max(from->depth, 0.0);
        contact->target_normal_speed = 0.0;
        if (at + i < physics->held_count)
            physics->held[at + i] = VEC3_ZERO;
        if (!is_one_surface || from->depth < 0.0)
            write_own_surface(physics, at + i, from->depth);
        if (at + i < physics->contact_joint_count)
            physics->contact_joints[at + i] = NULL;
    }
    mark_pair(physics, a, b);
    for (int i = 0; i < 2; i++) {
        int body = (i == 0 ? a : b)->body;
        if (body >= 0)
            set_pass(&physics->sleep->touched[body], physics->sleep->pass);
    }
}

static double deepest_of(const NarrowPoints *found)
{
    double deepest = 0.0;
    for (int i = 0; i < found->count; i++)
        deepest = double_max(deepest, found->points[i].depth);
    return deepest;
}

static void reserve_records(Physics *physics, int count)
{
    memory_grow(&physics->contacts, &physics->contact_capacity, physics->contact_count + count, sizeof(PhysicsContact));
    if (contact_surfaces_differ(physics))
        contact_own_surfaces_reserve(physics, physics->contact_count + count);
}

// Gives new records their joints, where ODE's are wanted.
static void make_joints(Physics *physics, int first)
{
    assert_debug(first >= 0 && first <= physics->contact_count && physics->contact_count <= physics->contact_capacity);
    bool may_want_joints = contacts_want_joints(physics) || physics->plugin_may_touch_shapes;
    for (int i = first; may_want_joints && i < physics->contact_count; i++)
        if (contact_wants_joint(physics, i))
            mirror_contact_make(physics, i);
}

// ---- one pair ----

// With a geometry that was changed by hand, or carried by a body, the other body wakes up.
static void wake_changed(Physics *physics, const Shape *a, const Shape *b)
{
    if ((a->was_changed || a->has_ridden) && b->body >= 0)
        body_wake(physics, b->body);
    if ((b->was_changed || b->has_ridden) && a->body >= 0)
        body_wake(physics, a->body);
}

static void report_dropped(Physics *physics, const NarrowPoints *found, const Shape *a, const Shape *b)
{
    physics->contacts_dropped += found->dropped;
    if (found->regions <= found->count)
        return;
    diag_warning(physics->diags, (SourcePos){ 0 }, "'%s' and '%s' touch in %d separate places; only %d get a contact",
                 solid_label(physics, a->solid), solid_label(physics, b->solid), found->regions, found->count);
    diag_hint(physics->diags, "raise ContactProperties.maxContactJoints for their materials");
}

// Shapes of a sensor without Physics, say, that meet the floor: they touch, and nothing is pushed.
static bool pair_is_static(const Physics *physics, BroadPair pair)
{
    return shape_is_static(&physics->shapes[pair.a]) && shape_is_static(&physics->shapes[pair.b]);
}

static bool pair_rests(const Physics *physics, BroadPair pair)
{
    return shape_rests(physics, &physics->shapes[pair.a]) && shape_rests(physics, &physics->shapes[pair.b]);
}

// Does what a pair asks for beside records; its points, none when it gets no records.
static NarrowPoints serve_pair(Physics *physics, BroadPair pair, int index)
{
    assert_debug(index >= 0 && index < physics->pair_count);
    const Shape *a = &physics->shapes[pair.a], *b = &physics->shapes[pair.b];
    if (a->fluid >= 0 || b->fluid >= 0) {
        const Shape *solid = a->fluid >= 0 ? b : a;
        bool may_meet = !physics->plugin_may_touch_shapes || plugin_lets_meet(physics, a, b);
        if (may_meet && !(a->fluid >= 0 && b->fluid >= 0) && solid->body >= 0)
            fluids_pair(physics, a->fluid >= 0 ? pair.b : pair.a, a->fluid >= 0 ? pair.a : pair.b);
        return (NarrowPoints){ 0 };
    }
    NarrowPoints found;
    bool was_known = narrow_knows(physics, index, &found);
    if (!was_known)
        found = narrow_points(physics, index);
    if (found.count <= 0 || (!was_known && thin_new_points(physics, index, found.count)))
        return (NarrowPoints){ 0 };
    bool is_passive = pair_is_static(physics, pair);
    if (!is_passive)
        wake_changed(physics, a, b);
    if (pair_rests(physics, pair)) {
        mark_listed(physics, pair, is_passive);
        return (NarrowPoints){ 0 };
    }
    if (found.dropped > 0)
        report_dropped(physics, &found, a, b);
    return found;
}

// A plugin may change two shapes while it is asked about them.
static int ask_plugin(Physics *physics, BroadPair pair)
{
    const Shape *a = &physics->shapes[pair.a], *b = &physics->shapes[pair.b];
    if (!physics->plugin_may_touch_shapes)
        return plugin_collide(physics, a, b);
    if (!plugin_lets_meet(physics, a, b))
        return 0;
    int answer = plugin_collide(physics, a, b);
    physics->has_late_changes |= shape_follow(physics, pair.a);
    physics->has_late_changes |= shape_follow(physics, pair.b);
    return answer;
}

static void touch_pair(Physics *physics, BroadPair pair, int index, int *cursor)
{
    if (physics->collide_hook.asks.collide) {
        int answer = ask_plugin(physics, pair);
        if (answer == 2)
            contact_mark(physics, pair.a, pair.b);
        if (answer != 0)
            return;
    }
    NarrowPoints found = serve_pair(physics, pair, index);
    if (found.count <= 0)
        return;
    bool is_new = !was_touching(physics, key_of(pair.a, pair.b), cursor);
    contact_remember_pair(physics, pair.a, pair.b);
    reserve_records(physics, found.count);
    write_records(physics, pair, &found, is_new, physics->contact_count);
    physics->deepest = double_max(physics->deepest, deepest_of(&found));
    physics->contact_count += found.count;
    make_joints(physics, physics->contact_count - found.count);
}

typedef struct PairPass {
    Physics *physics;
    const BroadPair *pairs;
    int next, cursor;
} PairPass;

// Where it stands is in the pass: a plugin that fails in its answer is left by a jump, and the rest is done without it.
static __attribute__((noinline)) void touch_pairs(void *context)
{
    PairPass *pass = context;
    Physics *physics = pass->physics;
    const BroadPair *pairs = pass->pairs;
    for (int i = pass->next; i < physics->pair_count; i++) {
        pass->next = i;
        touch_pair(physics, pairs[i], i, &pass->cursor);
    }
    pass->next = physics->pair_count;
}

// ---- pieces ----

typedef struct RecordChunk {
    int first, last;    // its pairs
    int keys, records;  // how many, then where they begin
    double deepest;
    bool needs_serial;  // pairs that serve_pair() has to see
} RecordChunk;

typedef struct TouchWork {
    Physics *physics;
    const BroadPair *pairs;
    bool may_rest;  // some body sleeps: otherwise only static pairs rest
} TouchWork;

// Whether a pair gets records, as far as is known; `needs_serial`: serve_pair() has to see it.
static bool gets_records(const TouchWork *work, int index, NarrowPoints *found, bool *needs_serial)
{
    BroadPair pair = work->pairs[index];
    bool is_known = narrow_knows(work->physics, index, found),
         rests = found->count > 0 && (work->may_rest || pair_is_static(work->physics, pair))
                 && pair_rests(work->physics, pair);
    *needs_serial = !is_known || rests || found->dropped > 0;
    return found->count > 0 && !rests;
}

static void count_chunk(const TouchWork *work, RecordChunk *piece)
{
    assert_debug(piece->first >= 0 && piece->first <= piece->last && piece->last <= work->physics->pair_count);
    *piece = (RecordChunk){ .first = piece->first, .last = piece->last };
    for (int i = piece->first; i < piece->last; i++) {
        NarrowPoints found;
        bool needs_serial, gets = gets_records(work, i, &found, &needs_serial);
        piece->needs_serial |= needs_serial;
        piece->keys += gets;
        piece->records += gets ? found.count : 0;
    }
}

// The key and the records of a pair, at the places of its piece, which go on behind them.
static void write_pair(const TouchWork *work, int index, const NarrowPoints *found, int *cursor, RecordChunk *piece)
{
    assert_debug(index >= 0 && index < work->physics->pair_count && piece->keys < work->physics->touching_capacity);
    Physics *physics = work->physics;
    uint64_t key = key_of(work->pairs[index].a, work->pairs[index].b);
    physics->touching[piece->keys++] = key;
    write_records(physics, work->pairs[index], found, !was_touching(physics, key, cursor), piece->records);
    piece->records += found->count;
    piece->deepest = double_max(piece->deepest, deepest_of(found));
}

static void write_chunk(const TouchWork *work, RecordChunk *piece)
{
    int cursor = find_key(work->physics, key_of(work->pairs[piece->first].a, work->pairs[piece->first].b));
    for (int i = piece->first; i < piece->last; i++) {
        NarrowPoints found;
        bool needs_serial;
        if (gets_records(work, i, &found, &needs_serial))
            write_pair(work, i, &found, &cursor, piece);
    }
}

static void count_range(int begin, int end, int worker, void *context)
{
    const TouchWork *work = context;
    (void)worker;
    for (int i = begin; i < end; i++)
        count_chunk(work, &work->physics->record_chunks[i]);
}

static void write_range(int begin, int end, int worker, void *context)
{
    const TouchWork *work = context;
    (void)worker;
    for (int i = begin; i < end; i++)
        write_chunk(work, &work->physics->record_chunks[i]);
}

static void serve_chunk(const TouchWork *work, RecordChunk *piece)
{
    for (int i = piece->first; i < piece->last; i++) {
        NarrowPoints found;
        bool needs_serial;
        gets_records(work, i, &found, &needs_serial);
        if (needs_serial)
            serve_pair(work->physics, work->pairs[i], i);
    }
    count_chunk(work, piece);
}

static int cut_chunks(Physics *physics, int first, int last)
{
    assert_debug(first >= 0 && first <= last && last <= physics->pair_count);
    int count = (last - first + PAIRS_PER_PIECE - 1) / PAIRS_PER_PIECE;
    memory_grow(&physics->record_chunks, &physics->record_chunk_capacity, count + 1, sizeof *physics->record_chunks);
    for (int i = 0; i < count; i++)
        physics->record_chunks[i] = (RecordChunk){ .first = first + i * PAIRS_PER_PIECE,
                                                   .last = int_min(first + (i + 1) * PAIRS_PER_PIECE, last) };
    return count;
}

// What write_records() marks of a second shape, which lies anywhere.
static inline void prefetch_record_marks(const Physics *physics, int index)
{
    MEMORY_KEEP_PREFETCH();
    const Shape *shape = &physics->shapes[index];
    __builtin_prefetch(&physics->solid_states[shape->solid].is_colliding, 1);
    if (shape->body >= 0)
        __builtin_prefetch(&physics->sleep->touched[shape->body], 1);
}

// The records of pairs that nobody else has to look at, as a loop over what threads found.
typedef struct PlainWork {
    TouchWork touch;
    const NarrowTask *tasks;
    RecordChunk *places;  // of each
} PlainWork;

static void plain_range(int begin, int end, int worker, void *context)
{
    const PlainWork *work = context;
    Physics *physics = work->touch.physics;
    const BroadPair *pairs = work->touch.pairs;
    const bool is_large = physics->pair_count >= LARGE_PASS;
    int cursor = -1;
    (void)worker;
    for (int t = begin; t < end; t++) {
        const NarrowTask task = work->tasks[t];  // copies, which can stand in registers
        RecordChunk place = work->places[t];
        for (int i = 0; i < task.pairs; i++) {
            if (is_large && i + RECORDS_AHEAD < task.pairs)
                prefetch_record_marks(physics, pairs[task.touching[i + RECORDS_AHEAD]].b);
            const int index = task.touching[i];
            if (cursor < 0)
                cursor = find_key(physics, key_of(pairs[index].a, pairs[index].b));
            NarrowPoints found;
            narrow_knows(physics, index, &found);
            write_pair(&work->touch, index, &found, &cursor, &place);
        }
        work->places[t] = place;
    }
}

// How many they are is known: so each task has its place.
static void record_plain(const TouchWork *work, NarrowTally tally)
{
    assert_debug(tally.task_count > 0 && tally.is_plain && !work->may_rest);
    Physics *physics = work->physics;
    memory_grow(&physics->record_chunks, &physics->record_chunk_capacity, tally.task_count + 1,
                sizeof *physics->record_chunks);
    int keys = physics->touching_count, records = physics->contact_count;
    for (int i = 0; i < tally.task_count; i++) {
        physics->record_chunks[i] = (RecordChunk){ .keys = keys, .records = records };
        keys += tally.tasks[i].pairs;
        records += tally.tasks[i].points;
    }
    memory_grow(&physics->touching, &physics->touching_capacity, keys + 1, sizeof(uint64_t));
    reserve_records(physics, records - physics->contact_count);
    pool_for(physics->pool, tally.task_count, TASKS_PER_PIECE, plain_range,
             &(PlainWork){ *work, tally.tasks, physics->record_chunks });
    for (int i = 0; i < tally.task_count; i++)
        physics->deepest = double_max(physics->deepest, physics->record_chunks[i].deepest);
    physics->touching_count = keys;
    physics->contact_count = records;
}

// The records of pairs whose points were found, behind those that there are.
static void record_pairs(const TouchWork *of, int first, int last)
{
    TouchWork work = *of;
    Physics *physics = work.physics;
    int count = cut_chunks(physics, first, last), keys = physics->touching_count, records = 0;
    pool_for(physics->pool, count, 1, count_range, &work);
    for (int i = 0; i < count; i++) {
        RecordChunk *piece = &physics->record_chunks[i];
        if (piece->needs_serial)
            serve_chunk(&work, piece);
        RecordChunk counted = *piece;
        piece->keys = keys;
        piece->records = physics->contact_count + records;
        keys += counted.keys;
        records += counted.records;
    }
    memory_grow(&physics->touching, &physics->touching_capacity, keys + 1, sizeof(uint64_t));
    reserve_records(physics, records);
    pool_for(physics->pool, count, 1, write_range, &work);
    for (int i = 0; i < count; i++)
        physics->deepest = double_max(physics->deepest, physics->record_chunks[i].deepest);
    physics->touching_count = keys;
    physics->contact_count += records;
}

static void record_windows(Physics *physics, const BroadPair *pairs, int count)
{
    int window = PAIRS_PER_PIECE * (pool_thread_count(physics->pool) > 1 ? PIECES_PER_WINDOW : 1);
    thin_begin_records(physics);
    narrow_begin(physics, pairs, count, window);
    TouchWork work = { physics, pairs, .may_rest = sleep_any_asleep(physics) };
    for (int first = 0; first < count; first += window) {
        int last = int_min(first + window, count);
        NarrowTally tally = narrow_find(physics, first, last);
        if (tally.is_plain && !work.may_rest)
            record_plain(&work, tally);
        else
            record_pairs(&work, first, last);
    }
    thin_records(physics);
    make_joints(physics, physics->sleeping_contact_count);
}

void contacts_touch(Physics *physics, const BroadPair *pairs, int count)
{
    assert_debug(count >= 0 && (pairs || count == 0));
    const PhysicsCollideHook *hook = &physics->collide_hook.asks;
    if (!hook->collide && !physics->has_changed_shapes) {
        record_windows(physics, pairs, count);
        return;
    }
    narrow_begin(physics, pairs, count, count);
    if (!hook->collide || !physics->plugin_holds_ode)
        narrow_find(physics, 0, count);
    thin_points(physics);
    PairPass pass = { .physics = physics, .pairs = pairs };
    if (hook->collide)
        hook->run(hook->context, touch_pairs, &pass);
    touch_pairs(&pass);
}
