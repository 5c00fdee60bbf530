// Where the pairs of a pass touch. Kernels of ours (collide.h) for boxes, balls, capsules, cylinders, the ground and
// convex meshes, for all of them on meshes and heights, and for meshes on the ground and on meshes (collide_surface.h);
// ODE's dCollide for the rest, and for everything under the steppers that are ODE's. Pairs that only need kernels of
// ours are done ahead over the threads, each result in a place of its own; the others when they are asked for.
#include "physics/collide/collide_cache.h"
#include "physics/collide/collide_surface.h"
#include "physics/collide/collide_sweep.h"
#include "physics/collide/collide_triangle.h"
#include "physics/contacts/contact_narrow.h"
#include "physics/collide/convex.h"
#include "physics/contacts/sleep.h"
#include "physics/mirror.h"
#include "physics/solver/solver.h"
#include "physics/contacts/tuning.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// Points of one pair that a kernel of ours finds at most; beside them stands one that is ahead.
enum { FOUND_MAX = COLLIDE_SURFACE_POINTS > CONVEX_POINTS ? COLLIDE_SURFACE_POINTS : CONVEX_POINTS };
static_assert((int)FOUND_MAX >= COLLIDE_POINTS, "room for the points of every kernel");
enum { PAIRS_PER_TASK = 32 };

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
    dContactGeom *found;  // of dCollide
    int collider_count, collider_capacity, result_capacity, pair_count, worker_count, found_capacity;
    int first, result_count;
    int max_window_points;  // that the pairs of one window had together
};

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
    free(narrow->found);
    free(narrow);
}

CollideCache *narrow_cache(const Narrow *narrow) { return narrow->cache; }

// ---- shapes ----

// At the rim sizes come from the twin: a plugin may have changed it.
Vec3 shape_size(const Shape *shape)
{
    Vec3 size = shape->size;
    if (shape->ode)
        mirror_narrow_size(shape, &size);
    return size;
}

static CollideShape kernel_shape(GeometryKind kind, Vec3 size)
{
    double x = kind == GEOMETRY_BOX ? 0.5 * size.x : size.x;  // a radius otherwise
    return (CollideShape){ kind, { x, 0.5 * size.y, 0.5 * size.z } };
}

// Makes of a collider what follows from the kind and size of its shape. At the rim always: a plugin may have changed
// them.
static void read_shape(const Shape *shape, Collider *collider)
{
    CollideShape now = kernel_shape(shape->kind, shape_size(shape));
    if (!shape->ode && collider->read_kind == 1 + (int)shape->kind
        && !memcmp(collider->shape.size, now.size, sizeof now.size))
        return;
    collider->is_simple = collide_knows(shape->kind);
    collider->shape = now;
    collider->half_extent = collider->is_simple ? collide_min_half_extent(&now) : 0.0;
    collider->reach = collider->is_simple ? collide_bounding_radius(&now) : INFINITY;
    collider->read_kind = shape->ode ? 0 : (uint8_t)(1 + shape->kind);
}

// A way or depth up to this passes through nothing; 0 where it is not known.
static double thin_of(const Collider *collider) { return FAST_SHARE * collider->half_extent; }

static const CollideSurface *read_surface(const Shape *shape)
{
    return shape->surface && mirror_narrow_has_own_surface(shape) ? shape->surface : NULL;
}

// A shape of a body, with the operations of ODE's geoms in their order, so that a plugin that looks on changes no bit.
static void ride(const Physics *physics, const Shape *shape, CollidePose *pose)
{
    const BodyState *body = &physics->body_states[shape->home];
    double body_rotation[9], *r = shape->is_centred ? pose->rotation : body_rotation;
    const SolverBody *solved = shape->home < physics->solved_count ? &physics->solved[shape->home] : NULL;
    if (solved && !memcmp(solved->quaternion, &body->orientation, sizeof solved->quaternion))
        memcpy(r, solved->rotation, sizeof body_rotation);  // the solver has it already
    else
        solver_rotation(&body->orientation.w, r);
    memcpy(pose->position, &body->position, sizeof pose->position);
    if (shape->is_centred)
        return;
    const double *m = shape->placed->rotation.m, *t = &shape->placed->pose.t.x;
    for (int i = 0; i < 3; i++) {
        pose->position[i] = r[3 * i] * t[0] + r[3 * i + 1] * t[1] + r[3 * i + 2] * t[2] + pose->position[i];
        for (int k = 0; k < 3; k++)
            pose->rotation[3 * i + k] = r[3 * i] * m[k] + r[3 * i + 1] * m[3 + k] + r[3 * i + 2] * m[6 + k];
    }
}

// The half space below a plane: z is its normal, and its origin the point that is nearest to the world's.
static void read_plane(Pose world, CollidePose *pose)
{
    Vec3 normal = quat_rotate(world.q, vec3(0, 0, 1));
    const double n[3] = { normal.x, normal.y, normal.z };
    double p[3], q[3], level = vec3_dot(normal, world.t);
    solver_plane_space(n, p, q);
    for (int i = 0; i < 3; i++) {
        pose->position[i] = level * n[i];
        pose->rotation[3 * i] = p[i];
        pose->rotation[3 * i + 1] = q[i];
        pose->rotation[3 * i + 2] = n[i];
    }
}

static void read_pose(const Physics *physics, const Shape *shape, CollidePose *pose)
{
    if (shape->ode) {
        mirror_narrow_pose(shape, pose);
    } else if (shape->home >= 0) {
        ride(physics, shape, pose);
    } else if (shape->kind == GEOMETRY_PLANE) {
        read_plane(shape_placed(shape), pose);
    } else {
        const ShapePlace middle = { POSE_IDENTITY, MAT3_IDENTITY }, *at = shape->placed ? shape->placed : &middle;
        memcpy(pose->position, &at->pose.t, sizeof pose->position);
        memcpy(pose->rotation, at->rotation.m, sizeof pose->rotation);
    }
}

static void read_motion(const Physics *physics, const Shape *shape, Collider *collider)
{
    assert_debug(physics->dt > 0.0);
    collider->is_fast = false;
    if (shape->body < 0 || shape->body >= physics->body_count) {
        memset(collider->way, 0, sizeof collider->way);
        return;
    }
    const BodyState *body = &physics->body_states[shape->body];
    const double *at = collider->pose.position;
    Vec3 arm = vec3(at[0] - body->position.x, at[1] - body->position.y, at[2] - body->position.z);
    Vec3 way = vec3_scale(vec3_add(body->linear, vec3_cross(body->angular, arm)), physics->dt);
    double way2 = vec3_dot(way, way);
    double thin = thin_of(collider);
    collider->is_fast = way2 > thin * thin && way2 <= LIMIT_COORDINATE * LIMIT_COORDINATE;
    way = vec3_mad(way, physics->gravity, physics->dt * physics->dt);
    collider->way[0] = way.x, collider->way[1] = way.y, collider->way[2] = way.z;
}

// All of space below the plane; where an axis stands straight on it, just that side.
static void plane_bounds(const CollidePose *pose, BroadBox *box)
{
    for (int k = 0; k < 3; k++) {
        double along = pose->rotation[3 * k + 2];
        box->low[k] = along == -1.0 ? pose->position[k] : -INFINITY;
        box->high[k] = along == 1.0 ? pose->position[k] : INFINITY;
    }
}

static void read_box(const Shape *shape, const Collider *collider, BroadBox *box)
{
    if (collider->is_simple && shape->kind != GEOMETRY_PLANE) {
        collide_bounds(&collider->shape, &collider->pose, box->low, box->high);
        return;
    }
    if (shape->ode) {
        mirror_narrow_bounds(shape, box);
        return;
    }
    if (shape->kind == GEOMETRY_PLANE) {
        plane_bounds(&collider->pose, box);
        return;
    }
    collide_surface_bounds(shape->surface, &collider->pose, box->low, box->high);
}

void narrow_place(const Physics *physics, int index, BroadBox *box)
{
    Narrow *narrow = physics->narrow;
    const Shape *shape = &physics->shapes[index];
    assert(index >= 0 && index < physics->shape_count);
    memory_grow(&narrow->colliders, &narrow->collider_capacity, index + 1, sizeof *narrow->colliders);
    while (narrow->collider_count <= index)
        narrow->colliders[narrow->collider_count++] = (Collider){ 0 };
    Collider *collider = &narrow->colliders[index];
    read_shape(shape, collider);
    collider->surface = read_surface(shape);
    read_pose(physics, shape, &collider->pose);
    read_box(shape, collider, box);
    read_motion(physics, shape, collider);
    for (int k = 0; k < 3 && collider->is_fast; k++) {
        box->low[k] += double_min(collider->way[k], 0.0);
        box->high[k] += double_max(collider->way[k], 0.0);
    }
}

void narrow_fit(Physics *physics)
{
    Narrow *narrow = physics->narrow;
    memory_fit(&narrow->colliders, &narrow->collider_capacity, narrow->collider_count, sizeof *narrow->colliders);
}

void shape_bounds(const Physics *physics, int index, BroadBox *box) { narrow_place(physics, index, box); }

const CollidePose *narrow_pose(const Physics *physics, int index)
{
    assert(index >= 0 && index < physics->narrow->collider_count);
    return &physics->narrow->colliders[index].pose;
}

bool narrow_follow(const Physics *physics, int index, BroadBox *box)
{
    assert(index >= 0 && index < physics->narrow->collider_count);
    assert(index >= 0 && index < physics->shape_count);
    const Collider *now = &physics->narrow->colliders[index], before = *now;
    narrow_place(physics, index, box);
    if (now->surface != before.surface
        || (now->is_simple && memcmp(now->shape.size, before.shape.size, sizeof before.shape.size)))
        return true;
    return shape_is_static(&physics->shapes[index]) && memcmp(&now->pose, &before.pose, sizeof before.pose);
}

// ---- too many points ----

static int by_depth(const void *a, const void *b)
{
    const Candidate *x = a, *y = b;
    if (x->point.depth != y->point.depth)
        return x->point.depth > y->point.depth ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);  // ties stay as they came
}

static double distance2(const Candidate *a, const Candidate *b)
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++)
        sum += (a->point.position[k] - b->point.position[k]) * (a->point.position[k] - b->point.position[k]);
    return sum;
}

static double extent2_of(const Candidate *points, int count)
{
    double extent2 = 0.0;
    for (int k = 0; k < 3; k++) {
        double low = points[0].point.position[k], high = low;
        for (int i = 1; i < count; i++) {
            low = fmin(low, points[i].point.position[k]);
            high = fmax(high, points[i].point.position[k]);
        }
        extent2 += (high - low) * (high - low);
    }
    return extent2;
}

static bool joins_region(const Candidate *points, int count, int at, int region, double near2)
{
    for (int k = 0; k < count; k++)
        if (points[k].region == region && distance2(&points[at], &points[k]) <= near2)
            return true;
    return false;
}

// Marks which connected region every point is in: points nearer than a fifth of the whole extent belong together.
static int find_regions(Candidate *points, int count)
{
    double near2 = extent2_of(points, count) / 25.0;
    int regions = 0;
    for (int i = 0; i < count; i++)
        points[i].region = -1;
    for (int seed = 0; seed < count; seed++) {
        if (points[seed].region >= 0)
            continue;
        points[seed].region = regions;
        // Grows the region until nothing is added; the number of points is bounded, so is this.
        for (bool has_grown = true; has_grown;) {
            has_grown = false;
            for (int i = 0; i < count; i++)
                if (points[i].region < 0 && joins_region(points, count, i, regions, near2)) {
                    points[i].region = regions;
                    has_grown = true;
                }
        }
        regions++;
    }
    return regions;
}

// Keeps the deepest `max` points, in turn from every separate region, so that a body that rests on two far feet does
// not lose one of them. The deepest come first.
static int keep_deepest(Candidate *points, int count, int max, int *regions)
{
    assert(max > 0 && count > max);
    enum { REGIONS_CHECKED = 256 };
    qsort(points, (size_t)count, sizeof(*points), by_depth);
    int checked = int_min(count, REGIONS_CHECKED), kept = 0;
    *regions = find_regions(points, checked);
    if (*regions == 1)
        return max;
    for (int round = 0; kept < max && round < checked; round++)
        for (int region = 0; region < *regions && kept < max; region++)
            for (int i = kept; i < checked; i++) {
                if (points[i].region != region)
                    continue;
                Candidate point = points[i];
                memmove(&points[kept + 1], &points[kept], sizeof(*points) * (size_t)(i - kept));
                points[kept++] = point;
                break;
            }
    return kept;
}

static int max_points(const Physics *physics, const Shape *a, const Shape *b)
{
    assert(physics->contact_table.material_count > 0);
    if (a->solid < 0 || b->solid < 0)
        return INT_MAX;
    const ContactTable *table = &physics->contact_table;
    int entry =
        table->rule_of[physics->solids[a->solid].material * table->material_count + physics->solids[b->solid].material];
    return table->rules[entry < 0 ? -(entry + 1) : entry].max_joints;
}

// ---- points of one pair ----

static void candidates_reserve(Worker *worker, int count)
{
    memory_grow(&worker->candidates, &worker->candidate_capacity, count, sizeof(Candidate));
}

static bool has_convex_mesh(const Shape *a, const Shape *b)
{
    return (a->kind == GEOMETRY_MESH && a->convex) || (b->kind == GEOMETRY_MESH && b->convex);
}

// A convex mesh with a convex mesh or a box: better points than those of triangles with triangles.
static bool is_convex_pair(const Shape *a, const Shape *b) { return has_convex_mesh(a, b) && a->convex && b->convex; }

static int collide_ode(Physics *physics, int a, int b)
{
    Narrow *narrow = physics->narrow;
    for (;;) {
        int count = probe_collide(physics, a, b, narrow->found_capacity, narrow->found);
        if (count < narrow->found_capacity || narrow->found_capacity >= MAX_ODE_POINTS)
            return count;
        memory_grow(&narrow->found, &narrow->found_capacity, int_min(MAX_ODE_POINTS, 4 * narrow->found_capacity),
                    sizeof(dContactGeom));
    }
}

// Of two boxes ODE takes one as the reference, and may lose all points there that it finds with the other as the first.
static int find_ode_points(Physics *physics, Worker *worker, BroadPair pair)
{
    assert_debug(pair.a >= 0 && pair.a < pair.b && pair.b < physics->shape_count);
    Narrow *narrow = physics->narrow;
    if (!narrow->found)
        memory_grow(&narrow->found, &narrow->found_capacity, MIN_ODE_POINTS, sizeof(dContactGeom));
    int count = collide_ode(physics, pair.a, pair.b);
    if (count == 0 && physics->shapes[pair.a].kind == GEOMETRY_BOX && physics->shapes[pair.b].kind == GEOMETRY_BOX) {
        count = collide_ode(physics, pair.b, pair.a);
        for (int i = 0; i < count; i++)
            for (int k = 0; k < 3; k++)
                narrow->found[i].normal[k] = -narrow->found[i].normal[k];
    }
    candidates_reserve(worker, count + 1);
    for (int i = 0; i < count; i++) {
        const dContactGeom *from = &narrow->found[i];
        worker->candidates[i].point = (CollidePoint){ { from->pos[0], from->pos[1], from->pos[2] },
                                                      { from->normal[0], from->normal[1], from->normal[2] },
                                                      double_max(from->depth, 0.0),
                                                      (uint32_t)i };
    }
    return count;
}

// ---- fast shapes ----

// Whether a shape is so deep in another that a little farther is through.
static bool is_deep(const CollideShape *shape, const CollidePoint *points, int count)
{
    double deepest = 0.0;
    for (int i = 0; i < count; i++)
        deepest = double_max(deepest, points[i].depth);
    return deepest > FAST_SHARE * collide_min_half_extent(shape);
}

static bool is_long(const CollideShape *shape, const double way[3])
{
    double thin = FAST_SHARE * collide_min_half_extent(shape);
    return way[0] * way[0] + way[1] * way[1] + way[2] * way[2] > thin * thin;
}

// Where a shape on its way against another, a box or a surface, goes through it.
static bool cross(const CollideShape *shape, const CollidePose *pose, const double way[3], bool deep,
                  const Collider *through, CollideCrossing *crossing)
{
    if (through->surface)
        return collide_cross_surface(through->surface, &through->pose, pose->position, way, shape->type < GEOMETRY_BOX,
                                     crossing);
    return through->is_simple && through->shape.type == GEOMETRY_BOX
           && collide_cross_box(&through->shape, &through->pose, pose->position, way, !deep, crossing);
}

// Through a sheet from behind: unless that is the way on which it is pushed to the front.
static bool is_pushed_out(const CollidePoint *points, int count, const double normal[3], double sign)
{
    for (int i = 0; i < count; i++) {
        const double *n = points[i].normal;
        if (sign * (n[0] * normal[0] + n[1] * normal[1] + n[2] * normal[2]) < -0.5)
            return true;
    }
    return false;
}

// Adds a point to those of a pair (room for one more) when `moving`, the first or second of it, would pass through the
// other.
static int add_speculative(const Collider *moving, const Collider *through, bool is_first, double margin, int max,
                           CollidePoint *points, int count)
{
    assert_debug(count >= 0 && count <= max);
    if (!moving->is_simple && !(moving->surface && collide_surface_is_mesh(moving->surface)))
        return count;
    CollidePose pose = moving->pose;
    CollideShape shape = moving->is_simple ? moving->shape : collide_surface_box(moving->surface, &moving->pose, &pose);
    double way[3], sign = is_first ? 1.0 : -1.0;
    for (int k = 0; k < 3; k++)
        way[k] = moving->way[k] - through->way[k];
    CollideCrossing crossing;
    bool deep = is_deep(&shape, points, count);
    if (!(deep || is_long(&shape, way)) || !cross(&shape, &pose, way, deep, through, &crossing)
        || (crossing.is_back && is_pushed_out(points, count, crossing.normal, sign)))
        return count;
    count = int_min(count, max - 1);
    points[count] = collide_speculative_point(&shape, &pose, way, &crossing, margin);
    for (int k = 0; k < 3; k++)
        points[count].normal[k] *= sign;
    return count + 1;
}

// Whether neither is deep in the other, nor goes far against it, by the thinner of the two.
static bool passes_through_nothing(const Collider *a, const Collider *b, const CollidePoint *points, int count)
{
    double thin = double_min(thin_of(a), thin_of(b)), way2 = 0.0;
    for (int k = 0; k < 3; k++)
        way2 += (a->way[k] - b->way[k]) * (a->way[k] - b->way[k]);
    for (int i = 0; i < count; i++)
        if (points[i].depth > thin)
            return false;
    return way2 <= thin * thin;
}

// For a pair of which neither is known to lie on the other.
static int add_speculative_of_either(const Physics *physics, int index, CollidePoint *points, int count)
{
    const Narrow *narrow = physics->narrow;
    BroadPair pair = narrow->pairs[index];
    const Collider *a = &narrow->colliders[pair.a], *b = &narrow->colliders[pair.b];
    if ((!a->is_fast && !b->is_fast && count == 0) || passes_through_nothing(a, b, points, count))
        return count;
    int max = max_points(physics, &physics->shapes[pair.a], &physics->shapes[pair.b]),
        added = add_speculative(a, b, true, 0.0, max, points, count);
    return added > count ? added : add_speculative(b, a, false, 0.0, max, points, count);
}

// The pose that convex.h wants.
static Pose convex_pose(const Physics *physics, const Shape *shape)
{
    if (shape->ode)
        return mirror_shape_pose(shape);
    return shape->home >= 0 ? pose_mul(body_pose(physics, shape->home), shape_placed(shape)) : shape_placed(shape);
}

static int find_convex_points(const Physics *physics, Worker *worker, int index, CollidePoint *points)
{
    assert_debug(index >= 0 && index < physics->narrow->pair_count);
    const BroadPair pair = physics->narrow->pairs[index];
    const Shape *a = &physics->shapes[pair.a], *b = &physics->shapes[pair.b];
    ConvexPoint found[CONVEX_POINTS];
    if (!worker->convex)
        worker->convex = convex_scratch_create();
    int count = convex_collide(a->convex, convex_pose(physics, a), b->convex, convex_pose(physics, b), worker->convex,
                               found);
    for (int i = 0; i < count; i++) {
        const ConvexPoint *p = &found[i];
        points[i] = (CollidePoint){ { p->position.x, p->position.y, p->position.z },
                                    { p->normal.x, p->normal.y, p->normal.z },
                                    p->depth,
                                    (uint32_t)i };
    }
    return add_speculative_of_either(physics, index, points, count);
}

static int find_kernel_points(const Physics *physics, int index, CollidePoint *points)
{
    assert_debug(index >= 0 && index < physics->narrow->pair_count);
    Narrow *narrow = physics->narrow;
    BroadPair pair = narrow->pairs[index];
    const Collider *a = &narrow->colliders[pair.a], *b = &narrow->colliders[pair.b];
    CollideLimit limit = collide_cache_limit_of(double_min(a->half_extent, b->half_extent),
                                                double_min(a->reach, b->reach));
    int count = collide_cache_pair(narrow->cache, index, &a->shape, &a->pose, &b->shape, &b->pose, limit,
                                   physics->shapes[pair.a].was_changed || physics->shapes[pair.b].was_changed, points);
    return add_speculative_of_either(physics, index, points, count);
}

// ---- surfaces of triangles ----

// One that kernels can put on a surface: a simple shape, or a convex mesh.
static bool can_lie_on_surface(const Shape *shape, const Collider *collider)
{
    return (collider->is_simple && collider->shape.type != GEOMETRY_PLANE)
           || (shape->kind == GEOMETRY_MESH && shape->convex && collider->surface);
}

static bool is_mesh(const Collider *collider)
{
    return collider->surface && collide_surface_is_mesh(collider->surface);
}

static bool is_ground(const Collider *collider)
{
    return collider->is_simple && collider->shape.type == GEOMETRY_PLANE;
}

// Whether a shape and what it touches are a pair of a surface that kernels know. `surface` is the second of it, or the
// first.
typedef enum SurfacePair { SURFACE_UNKNOWN, SURFACE_ON, SURFACE_GROUND, SURFACE_MESHES } SurfacePair;

static SurfacePair surface_pair(const Shape *shape, const Collider *upper, const Collider *below)
{
    if (below->surface && can_lie_on_surface(shape, upper))
        return SURFACE_ON;
    if (is_mesh(upper) && is_ground(below))
        return SURFACE_GROUND;
    return is_mesh(upper) && is_mesh(below) ? SURFACE_MESHES : SURFACE_UNKNOWN;
}

// The same, with which of the two is below: 0 or 1.
static SurfacePair surface_of_pair(const Physics *physics, BroadPair pair, int *below)
{
    const Collider *a = &physics->narrow->colliders[pair.a], *b = &physics->narrow->colliders[pair.b];
    SurfacePair as_is = surface_pair(&physics->shapes[pair.a], a, b),
                turned = surface_pair(&physics->shapes[pair.b], b, a);
    *below = as_is == SURFACE_ON || turned == SURFACE_UNKNOWN || (as_is == turned && as_is == SURFACE_MESHES);
    return *below ? as_is : turned;
}

static int collide_on_surface(SurfacePair kind, const Shape *shape, const Collider *upper, const Collider *below,
                              double margin, int max, CollidePoint *points)
{
    if (kind == SURFACE_GROUND)
        return collide_surface_ground(upper->surface, &upper->pose, &below->pose, margin, max, points);
    if (kind == SURFACE_MESHES)
        return collide_surface_surface(upper->surface, &upper->pose, below->surface, &below->pose, margin, max, points);
    if (upper->is_simple)
        return collide_surface(&upper->shape, &upper->pose, below->surface, &below->pose, margin, max, points);
    return collide_surface_convex(shape->convex, &upper->pose, below->surface, &below->pose, margin, max, points);
}

static CollideShape outline_of(const Collider *collider)
{
    return collider->is_simple ? collider->shape : collide_surface_outline(collider->surface);
}

// Whichever of the two is the surface, its normals point away from it; they are turned when it is the first.
static int find_surface_points(const Physics *physics, int index, CollidePoint *points)
{
    assert_debug(index >= 0 && index < physics->narrow->pair_count);
    static const CollideShape ground = { .type = GEOMETRY_PLANE };
    Narrow *narrow = physics->narrow;
    BroadPair pair = narrow->pairs[index];
    int which;
    SurfacePair kind = surface_of_pair(physics, pair, &which);
    const Shape *a = &physics->shapes[pair.a], *b = &physics->shapes[pair.b];
    const Collider *x = &narrow->colliders[pair.a], *y = &narrow->colliders[pair.b], *upper = which ? x : y,
                   *below = which ? y : x;
    CollideShape outlines[2] = { outline_of(upper), kind == SURFACE_MESHES ? outline_of(below) : ground };
    CollideLimit limit = collide_cache_limit(&outlines[0], &outlines[1]);
    int count = a->was_changed || b->was_changed
                    ? -1
                    : collide_cache_reuse(narrow->cache, index, &x->pose, &y->pose, limit, points);
    if (count < 0) {
        count = collide_on_surface(kind, which ? a : b, upper, below, limit.shift, max_points(physics, a, b), points);
        for (int i = 0; which == 0 && i < count; i++)
            for (int k = 0; k < 3; k++)
                points[i].normal[k] = -points[i].normal[k];
        if (count <= COLLIDE_POINTS) {
            count = collide_cache_store(narrow->cache, index, &x->pose, &y->pose, points, count);
        } else {
            collide_cache_drop(narrow->cache, index);
            count = collide_keep_touching(points, count);
        }
    }
    if ((x->is_fast || y->is_fast || count > 0) && kind == SURFACE_ON)
        count = add_speculative(upper, below, which, limit.shift, max_points(physics, a, b), points, count);
    return count;
}

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
    int max = max_points(physics, a, b);
    if (sound > max) {
        for (int i = 0; i < sound; i++)
            worker->candidates[i].order = i;
        result->count = keep_deepest(worker->candidates, sound, max, &result->regions);
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
        && (count == 0 || count <= max_points(physics, &physics->shapes[pair.a], &physics->shapes[pair.b]))) {
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
    candidates_reserve(worker, count + 1);
    for (int i = 0; i < count; i++)
        worker->candidates[i].point = points[i];
    keep_candidates(physics, worker, index, count, result);
}

static bool is_cylinder_on_plane(const Shape *a, const Shape *b)
{
    return (a->kind == GEOMETRY_CYLINDER && b->kind == GEOMETRY_PLANE)
           || (a->kind == GEOMETRY_PLANE && b->kind == GEOMETRY_CYLINDER);
}

// Whether kernels of ours do the pair: these may run on any thread.
static bool is_known(const Physics *physics, BroadPair pair)
{
    assert_debug(pair.a >= 0 && pair.a < pair.b && pair.b < physics->shape_count);
    const Shape *a = &physics->shapes[pair.a], *b = &physics->shapes[pair.b];
    const Collider *x = &physics->narrow->colliders[pair.a], *y = &physics->narrow->colliders[pair.b];
    if (x->is_simple && y->is_simple && !physics->stepper->collides_with_ode)
        return collide_pair_is_known(x->shape.type, y->shape.type);
    // What ODE gets wrong it does not get to do: triangles with triangles, and caps on the ground.
    if (is_convex_pair(a, b) || is_cylinder_on_plane(a, b))
        return true;
    if (physics->stepper->collides_with_ode)
        return false;
    int below;
    if (x->surface || y->surface)
        return surface_of_pair(physics, pair, &below) != SURFACE_UNKNOWN;
    return x->is_simple && y->is_simple && collide_pair_is_known(x->shape.type, y->shape.type);
}

static void find_known(const Physics *physics, Worker *worker, int index, PairResult *result)
{
    Narrow *narrow = physics->narrow;
    BroadPair pair = narrow->pairs[index];
    const Shape *a = &physics->shapes[pair.a], *b = &physics->shapes[pair.b];
    const Collider *x = &narrow->colliders[pair.a], *y = &narrow->colliders[pair.b];
    bool are_simple = x->is_simple && y->is_simple;
    bool is_surface = !are_simple && !is_convex_pair(a, b) && (x->surface || y->surface);
    memory_grow(&worker->points, &worker->point_capacity, worker->point_count + FOUND_MAX + 1, sizeof(CollidePoint));
    CollidePoint *points = &worker->points[worker->point_count];
    int count = are_simple              ? find_kernel_points(physics, index, points)
                : is_surface            ? find_surface_points(physics, index, points)
                : has_convex_mesh(a, b) ? find_convex_points(physics, worker, index, points)
                                        : find_kernel_points(physics, index, points);
    assert(count <= FOUND_MAX + 1);
    keep_points(physics, worker, index, count, result);
}

static bool pair_rests(const Physics *physics, const Shape *a, const Shape *b)
{
    return body_rests(physics, a->body) && body_rests(physics, b->body) && contact_shape_rests(physics, a)
           && contact_shape_rests(physics, b);
}

static void find_range(const Physics *physics, int begin, int end, int worker)
{
    Narrow *narrow = physics->narrow;
    bool is_asked_for = physics->collide_hook.asks.collide != NULL,
         some_sleep = is_asked_for && sleep_any_asleep(physics);
    for (int i = begin; i < end; i++) {
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
        } else if (is_known(physics, pair))
            find_known(physics, &narrow->workers[worker], i, result);
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
        for (int k = 0; has_convex_mesh(pair[0], pair[1]) && k < 2; k++)
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
    collide_cache_begin(narrow->cache, pairs, count);
    prepare_boxes(physics);
    window_open(narrow, 0, int_min(count, window));
    for (int i = 0; i < narrow->result_count; i++)
        narrow->results[i].state = PAIR_OPEN;
}

typedef struct FindWork {
    const Physics *physics;
    int first;
} FindWork;

static void find_window(int begin, int end, int worker, void *context)
{
    const FindWork *work = context;
    find_range(work->physics, work->first + begin, work->first + end, worker);
}

NarrowTally narrow_find(Physics *physics, int first, int last)
{
    Narrow *narrow = physics->narrow;
    int found = 0;
    for (int i = 0; i < narrow->worker_count; i++)
        found += narrow->workers[i].point_count;
    narrow->max_window_points = int_max(narrow->max_window_points, found);
    window_open(narrow, first, last - first);
    for (int i = 0; i < narrow->worker_count; i++)  // one worker may find as many as all did
        memory_grow(&narrow->workers[i].points, &narrow->workers[i].point_capacity,
                    narrow->max_window_points + FOUND_MAX + 1, sizeof(CollidePoint));
    if (pool_thread_count(physics->pool) > 1)
        pool_for(physics->pool, last - first, PAIRS_PER_TASK, find_window, &(FindWork){ physics, first });
    else
        find_range(physics, first, last, 0);
    NarrowTally tally = { 0 };
    int plain = 0;
    for (int i = 0; i < narrow->worker_count; i++) {
        tally.pairs += narrow->workers[i].touching_count;
        tally.points += narrow->workers[i].point_count;
        plain += narrow->workers[i].plain_count;
    }
    tally.is_plain = plain == last - first;
    tally.touching = narrow->worker_count == 1 ? narrow->workers[0].touching : NULL;
    return tally;
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
    else if (is_known(physics, narrow->pairs[index]))
        find_known(physics, &narrow->workers[0], index, result);
    else
        keep_candidates(physics, &narrow->workers[0], index,
                        find_ode_points(physics, &narrow->workers[0], narrow->pairs[index]), result);
    narrow_knows(physics, index, &found);
    return found;
}
