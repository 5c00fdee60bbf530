// narrow_internal.h - the narrow phase inside: shapes as kernels see them, and what workers found of the pairs of a
// pass. contact_narrow.c goes through the pairs, narrow_collider.c says where shapes stand, narrow_points.c finds the
// points of one pair, narrow_speculative.c those of fast shapes, narrow_reduce.c leaves some out where there are too
// many.
#ifndef TALUS_PHYSICS_NARROW_INTERNAL_H
#define TALUS_PHYSICS_NARROW_INTERNAL_H

#include "base/memory.h"
#include "physics/collide/collide_cache.h"
#include "physics/collide/collide_surface.h"
#include "physics/collide/convex.h"
#include "physics/contacts/contact_narrow.h"
#include "physics/contacts/tuning.h"

#include <assert.h>
#include <limits.h>

// Points of one pair that a kernel of ours finds at most; beside them stands one that is ahead.
enum { FOUND_MAX = COLLIDE_SURFACE_POINTS > CONVEX_POINTS ? COLLIDE_SURFACE_POINTS : CONVEX_POINTS };
static_assert((int)FOUND_MAX >= COLLIDE_POINTS, "room for the points of every kernel");

typedef struct Collider {  // a shape as kernels see it
    CollideShape shape;
    CollidePose pose;
    double half_extent, reach;      // of the shape: least, and greatest distance from its middle
    const CollideSurface *surface;  // its triangles, NULL for others
    double way[3];                  // that it goes in a step, as fast as it is now
    uint8_t read_kind;              // 1 + the kind of shape that the rest was made from; 0: not made yet
    bool is_simple;                 // one that kernels know
    bool is_fast;                   // it may pass through something thin on its way
} Collider;

typedef enum PairState { PAIR_OPEN, PAIR_DONE, PAIR_EXCLUDED } PairState;

typedef struct PairResult {
    PairState state;
    int worker, first, count;  // its points, in the array of the worker that found them
    int dropped, regions;
} PairResult;

typedef struct Candidate {
    CollidePoint point;
    int order, region;
} Candidate;

typedef struct Worker {
    _Alignas(128) CollidePoint *points;  // of all pairs it did in this pass; far from what another worker writes
    Candidate *candidates;               // of the pair at hand
    ConvexScratch
        *convex;  // from its first pair of convex meshes on: the largest part of a clone, and few worlds need it
    int point_count, point_capacity, candidate_capacity;
    int32_t *touching;  // pairs with points, of those it did in this window
    int touching_count, touching_capacity;
    int plain_count;  // of these pairs: those that are done
} Worker;

struct Narrow {
    Collider *colliders;  // by shape
    CollideCache *cache;
    PairResult *results;  // by pair, of the window that begins with pair `first`
    const BroadPair *pairs;
    Worker *workers;
    NarrowTask *tasks;    // of the window
    dContactGeom *found;  // of dCollide
    int collider_count, collider_capacity, result_capacity, pair_count, worker_count, task_capacity, found_capacity;
    int first, result_count;
    int max_window_points;  // that the pairs of one window had together
};

// A way or depth up to this passes through nothing; 0 where it is not known.
static inline double collider_thin(const Collider *collider) { return FAST_SHARE * collider->half_extent; }

static inline void worker_reserve_candidates(Worker *worker, int count)
{
    memory_grow(&worker->candidates, &worker->candidate_capacity, count, sizeof(Candidate));
}

static inline bool shapes_have_convex_mesh(const Shape *a, const Shape *b)
{
    return (a->kind == GEOMETRY_MESH && a->convex) || (b->kind == GEOMETRY_MESH && b->convex);
}

// maxContactJoints of the rule of their materials; no limit for what a plugin made.
static inline int narrow_max_points(const Physics *physics, const Shape *a, const Shape *b)
{
    assert(physics->contact_table.material_count > 0);
    assert_debug(a->solid < physics->solid_count && b->solid < physics->solid_count);
    if (a->solid < 0 || b->solid < 0)
        return INT_MAX;
    int entry = contact_rule_of_solids(physics, a->solid, b->solid);
    return physics->contact_table.rules[entry < 0 ? -(entry + 1) : entry].max_joints;
}

// Points of one pair by kernels of ours, on any thread, into room for FOUND_MAX + 1; -1: the pair is none of theirs.
int narrow_find_points(const Physics *physics, Worker *worker, int index, CollidePoint *points);
// The same by ODE's dCollide, on one thread, into worker->candidates.
int narrow_find_ode_points(Physics *physics, Worker *worker, BroadPair pair);

// A shape that may pass through another in this step.
typedef struct Passage {
    const Collider *moving, *through;
    bool is_first;  // the moving one is the first of the pair: normals point out of the second
    double margin;  // m around the shapes within which points count
    int max;        // points that the pair may have
} Passage;
// Adds a point to the `count` of a pair (room for one more) when the moving shape would pass through the other; returns
// how many there are then.
int narrow_add_speculative(const Passage *passage, CollidePoint *points, int count);

// Keeps the deepest `max` points, in turn from every separate region, so that a body that rests on two far feet does
// not lose one of them. The deepest come first. Returns how many are kept.
int narrow_keep_deepest(Candidate *points, int count, int max, int *regions);

#endif
