// contact_narrow.c - the narrow phase of a pass: where its pairs touch. Kernels of ours (collide.h) for boxes, balls,
// capsules, cylinders, the ground and convex meshes, for all of them on meshes and heights, and for meshes on the
// ground and on meshes (collide_surface.h); ODE's dCollide for the rest, and for everything under the steppers that are
// ODE's. Pairs that only need kernels of ours are done ahead over the threads, each result in a place of its own; the
// others when they are asked for.
#include "physics/contacts/narrow_internal.h"

#include "physics/contacts/sleep.h"

#include <stdlib.h>

enum { PAIRS_PER_TASK = 32 };

static PairResult *result_of(const Narrow *narrow, int index)
{
    assert_debug(index >= narrow->first && index - narrow->first < narrow->result_count);
    return &narrow->results[index - narrow->first];
}

Narrow *narrow_create(int threads)
{
    assert(threads >= 0);
    Narrow *narrow = memory_alloc(sizeof *narrow);
    narrow->cache = collide_cache_create();
    narrow->worker_count = int_max(threads, 1);
    narrow->workers = memory_alloc_lines(memory_product((size_t)narrow->worker_count, sizeof *narrow->workers));
    return narrow;
}

void narrow_destroy(Narrow *narrow)
{
    if (!narrow)
        return;
    collide_cache_destroy(narrow->cache);
    for (int i = 0; i < narrow->worker_count; i++) {
        free(narrow->workers[i].points);
        free(narrow->workers[i].touching);
        free(narrow->workers[i].candidates);
        convex_scratch_destroy(narrow->workers[i].convex);
    }
    free(narrow->workers);
    free(narrow->colliders);
    free(narrow->results);
    free(narrow->tasks);
    free(narrow->found);
    free(narrow);
}

CollideCache *narrow_cache(const Narrow *narrow) { return narrow->cache; }

// ---- keeping what was found ----

// What is not finite stays so in a sum, and finite ones are far too small to add up to it: one test for all numbers.
static bool are_sound(const CollidePoint *points, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++) {
        const double *p = points[i].position, *n = points[i].normal;
        sum += p[0] + p[1] + p[2] + n[0] + n[1] + n[2] + points[i].depth;
    }
    return sum - sum == 0.0;
}

static void keep_candidates(const Physics *physics, Worker *worker, int index, int count, PairResult *result)
{
    assert(count >= 0 && count <= worker->candidate_capacity);
    Narrow *narrow = physics->narrow;
    const Shape *a = &physics->shapes[narrow->pairs[index].a], *b = &physics->shapes[narrow->pairs[index].b];
    int sound = 0;
    for (int i = 0; i < count; i++)
        if (are_sound(&worker->candidates[i].point, 1))
            worker->candidates[sound++] = worker->candidates[i];
    *result = (PairResult){
        .state = PAIR_DONE, .worker = (int)(worker - narrow->workers), .first = worker->point_count, .count = sound
    };
    int max = narrow_max_points(physics, a, b);
    if (sound > max) {
        for (int i = 0; i < sound; i++)
            worker->candidates[i].order = i;
        result->count = narrow_keep_deepest(worker->candidates, sound, max, &result->regions);
        result->dropped = sound - max;
    }
    memory_grow(&worker->points, &worker->point_capacity, worker->point_count + result->count, sizeof(CollidePoint));
    for (int i = 0; i < result->count; i++)
        worker->points[worker->point_count++] = worker->candidates[i].point;
}

// Points that were found at the end of the worker's. The common case: they stay as they are.
static void keep_points(const Physics *physics, Worker *worker, int index, int count, PairResult *result)
{
    assert_debug(count >= 0 && worker->point_count + count <= worker->point_capacity);
    const CollidePoint *points = &worker->points[worker->point_count];
    Narrow *narrow = physics->narrow;
    BroadPair pair = narrow->pairs[index];
    if (are_sound(points, count)
        && (count == 0 || count <= narrow_max_points(physics, &physics->shapes[pair.a], &physics->shapes[pair.b]))) {
        *result = (PairResult){
            .state = PAIR_DONE, .worker = (int)(worker - narrow->workers), .first = worker->point_count, .count = count
        };
        worker->point_count += count;
        worker->touching[worker->touching_count] = index;
        worker->touching_count += count > 0;
        bool is_static = shape_is_static(&physics->shapes[pair.a]) && shape_is_static(&physics->shapes[pair.b]);
        worker->plain_count += count == 0 || !is_static;  // static ones touch, without records
        return;
    }
    worker_reserve_candidates(worker, count + 1);
    for (int i = 0; i < count; i++)
        worker->candidates[i].point = points[i];
    keep_candidates(physics, worker, index, count, result);
}

// Does the pair where kernels of ours can: false, and nothing is done, where they cannot.
static bool find_known(const Physics *physics, Worker *worker, int index, PairResult *result)
{
    memory_grow(&worker->points, &worker->point_capacity, worker->point_count + FOUND_MAX + 1, sizeof(CollidePoint));
    int count = narrow_find_points(physics, worker, index, &worker->points[worker->point_count]);
    if (count < 0)
        return false;
    assert(count <= FOUND_MAX + 1);
    keep_points(physics, worker, index, count, result);
    return true;
}

// ---- a pass, window by window ----

static bool pair_rests(const Physics *physics, const Shape *a, const Shape *b)
{
    return body_rests(physics, a->body) && body_rests(physics, b->body) && contact_shape_rests(physics, a)
           && contact_shape_rests(physics, b);
}

// Of a pair the first shape follows that of the pair before, the second lies anywhere: in large worlds it is asked for
// ahead.
enum { PAIRS_AHEAD = 6 };
static inline void prefetch_second(const Physics *physics, int index)
{
    MEMORY_KEEP_PREFETCH();
    const Narrow *narrow = physics->narrow;
    if (index + PAIRS_AHEAD >= narrow->pair_count)
        return;
    int shape = narrow->pairs[index + PAIRS_AHEAD].b;
    memory_prefetch_near(&physics->shapes[shape], sizeof(Shape));
    if (shape < narrow->collider_count)
        memory_prefetch_near(&narrow->colliders[shape], sizeof(Collider));
}

static void find_range(const Physics *physics, int begin, int end, int worker)
{
    Narrow *narrow = physics->narrow;
    bool is_asked_for = physics->collide_hook.asks.collide != NULL,
         some_sleep = is_asked_for && sleep_any_asleep(physics);
    const bool is_large = narrow->pair_count >= LARGE_PASS;
    for (int i = begin; i < end; i++) {
        if (is_large)
            prefetch_second(physics, i);
        BroadPair pair = narrow->pairs[i];
        const Shape *a = &physics->shapes[pair.a], *b = &physics->shapes[pair.b];
        PairResult *result = result_of(narrow, i);
        result->state = PAIR_OPEN;
        if (a->fluid >= 0 || b->fluid >= 0)
            continue;
        // Only the plugin is asked about these; for the rest they are as if the broad phase had left them out.
        bool is_asleep = is_asked_for && (some_sleep || (shape_is_static(a) && shape_is_static(b)))
                         && pair_rests(physics, a, b);
        if (is_asleep)
            collide_cache_drop(narrow->cache, i);
        if (is_asleep || contact_pair_is_excluded(physics, a, b)) {
            result->state = PAIR_EXCLUDED;
            narrow->workers[worker].plain_count++;
        } else {
            find_known(physics, &narrow->workers[worker], i, result);
        }
    }
}

// Boxes that meet a convex mesh become convex solids themselves, before threads look at them.
static void prepare_boxes(Physics *physics)
{
    Narrow *narrow = physics->narrow;
    if (physics->mesh_count == 0)
        return;
    for (int i = 0; i < narrow->pair_count; i++) {
        Shape *pair[2] = { &physics->shapes[narrow->pairs[i].a], &physics->shapes[narrow->pairs[i].b] };
        for (int k = 0; shapes_have_convex_mesh(pair[0], pair[1]) && k < 2; k++)
            if (pair[k]->kind == GEOMETRY_BOX && !pair[k]->convex)
                pair[k]->convex = convex_from_box(shape_size(pair[k]));
    }
}

static void window_open(Narrow *narrow, int first, int count)
{
    assert_debug(first >= 0 && count >= 0 && first + count <= narrow->pair_count);
    memory_grow(&narrow->results, &narrow->result_capacity, count + 1, sizeof(PairResult));
    narrow->first = first;
    narrow->result_count = count;
    for (int i = 0; i < narrow->worker_count; i++) {
        Worker *worker = &narrow->workers[i];
        memory_grow(&worker->touching, &worker->touching_capacity, count + 1, sizeof *worker->touching);
        worker->point_count = worker->touching_count = worker->plain_count = 0;
    }
}

void narrow_begin(Physics *physics, const BroadPair *pairs, int count, int window)
{
    assert(count >= 0 && (pairs || count == 0));
    Narrow *narrow = physics->narrow;
    narrow->pairs = pairs;
    narrow->pair_count = count;
    collide_cache_begin(narrow->cache, pairs, count, physics->pool);
    prepare_boxes(physics);
    window_open(narrow, 0, int_min(count, window));
    for (int i = 0; i < narrow->result_count; i++)
        narrow->results[i].state = PAIR_OPEN;
}

typedef struct FindWork {
    const Physics *physics;
    int first;
} FindWork;

// A task: its pairs follow each other in what the worker has.
static void find_window(int begin, int end, int worker, void *context)
{
    const FindWork *work = context;
    Narrow *narrow = work->physics->narrow;
    const Worker *own = &narrow->workers[worker];
    const int touching = own->touching_count, points = own->point_count;
    find_range(work->physics, work->first + begin, work->first + end, worker);
    narrow->tasks[begin / PAIRS_PER_TASK] = (NarrowTask){ &own->touching[touching], own->touching_count - touching,
                                                          own->point_count - points };
}

NarrowTally narrow_find(Physics *physics, int first, int last)
{
    Narrow *narrow = physics->narrow;
    const int tasks = (last - first + PAIRS_PER_TASK - 1) / PAIRS_PER_TASK;
    int found = 0, plain = 0;
    for (int i = 0; i < narrow->worker_count; i++)
        found += narrow->workers[i].point_count;
    narrow->max_window_points = int_max(narrow->max_window_points, found);
    window_open(narrow, first, last - first);
    memory_grow(&narrow->tasks, &narrow->task_capacity, tasks + 1, sizeof *narrow->tasks);
    for (int i = 0; i < narrow->worker_count; i++)  // one worker may find as many as all did
        memory_grow(&narrow->workers[i].points, &narrow->workers[i].point_capacity,
                    narrow->max_window_points + FOUND_MAX + 1, sizeof(CollidePoint));
    bool is_shared = pool_thread_count(physics->pool) > 1;
    FindWork work = { physics, first };
    if (is_shared)
        pool_for(physics->pool, last - first, PAIRS_PER_TASK, find_window, &work);
    else
        find_window(0, last - first, 0, &work);
    for (int i = 0; i < narrow->worker_count; i++)
        plain += narrow->workers[i].plain_count;
    return (NarrowTally){ narrow->tasks, is_shared ? tasks : 1, plain == last - first };
}

BroadPair narrow_pair(const Physics *physics, int index)
{
    assert(index >= 0 && index < physics->narrow->pair_count);
    return physics->narrow->pairs[index];
}

void narrow_drop(Physics *physics, int index)
{
    assert(index >= 0 && index < physics->narrow->pair_count);
    result_of(physics->narrow, index)->state = PAIR_EXCLUDED;
}

bool narrow_knows(const Physics *physics, int index, NarrowPoints *found)
{
    assert(index >= 0 && index < physics->narrow->pair_count);
    const Narrow *narrow = physics->narrow;
    const PairResult *result = result_of(narrow, index);
    *found = (NarrowPoints){ 0 };
    if (result->state == PAIR_DONE)
        *found = (NarrowPoints){ &narrow->workers[result->worker].points[result->first], result->count, result->dropped,
                                 result->regions };
    return result->state != PAIR_OPEN;
}

NarrowPoints narrow_points(Physics *physics, int index)
{
    assert(index >= 0 && index < physics->narrow->pair_count);
    Narrow *narrow = physics->narrow;
    const Shape *a = &physics->shapes[narrow->pairs[index].a], *b = &physics->shapes[narrow->pairs[index].b];
    NarrowPoints found;
    if (narrow_knows(physics, index, &found))
        return found;
    PairResult *result = result_of(narrow, index);
    if (contact_pair_is_excluded(physics, a, b))
        result->state = PAIR_EXCLUDED;
    else if (!find_known(physics, &narrow->workers[0], index, result))
        keep_candidates(physics, &narrow->workers[0], index,
                        narrow_find_ode_points(physics, &narrow->workers[0], narrow->pairs[index]), result);
    narrow_knows(physics, index, &found);
    return found;
}
