// narrow_points.c - where one pair of shapes touches: by the kernels for simple shapes, for convex meshes and for
// surfaces of triangles, or by ODE; with a speculative point beside them where a shape is fast.
#include "physics/contacts/narrow_internal.h"

#include "physics/mirror.h"

// A convex mesh with a convex mesh or a box: better points than those of triangles with triangles.
static bool is_convex_pair(const Shape *a, const Shape *b)
{
    return shapes_have_convex_mesh(a, b) && a->convex && b->convex;
}

// ---- ODE ----

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
int narrow_find_ode_points(Physics *physics, Worker *worker, BroadPair pair)
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
    worker_reserve_candidates(worker, count + 1);
    for (int i = 0; i < count; i++) {
        const dContactGeom *from = &narrow->found[i];
        worker->candidates[i].point = (CollidePoint){ { from->pos[0], from->pos[1], from->pos[2] },
                                                      { from->normal[0], from->normal[1], from->normal[2] },
                                                      double_max(from->depth, 0.0),
                                                      (uint32_t)i };
    }
    return count;
}

// ---- convex and simple shapes ----

// Whether neither is deep in the other, nor goes far against it, by the thinner of the two.
static bool passes_through_nothing(const Collider *a, const Collider *b, const CollidePoint *points, int count)
{
    double thin = double_min(collider_thin(a), collider_thin(b)), way2 = 0.0;
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
    int max = narrow_max_points(physics, &physics->shapes[pair.a], &physics->shapes[pair.b]),
        added = narrow_add_speculative(&(Passage){ a, b, true, 0.0, max }, points, count);
    return added > count ? added : narrow_add_speculative(&(Passage){ b, a, false, 0.0, max }, points, count);
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

// A pair of a surface, in its order.
typedef struct SurfaceTouch {
    SurfacePair kind;
    const Shape *shape;  // of the upper one
    const Collider *upper, *below;
} SurfaceTouch;

static int collide_on_surface(const SurfaceTouch *touch, double margin, int max, CollidePoint *points)
{
    const Collider *upper = touch->upper, *below = touch->below;
    assert_debug(touch->kind != SURFACE_UNKNOWN);
    if (touch->kind == SURFACE_GROUND)
        return collide_surface_ground(upper->surface, &upper->pose, &below->pose, margin, max, points);
    if (touch->kind == SURFACE_MESHES)
        return collide_surface_surface(upper->surface, &upper->pose, below->surface, &below->pose, margin, max, points);
    if (upper->is_simple)
        return collide_surface(&upper->shape, &upper->pose, below->surface, &below->pose, margin, max, points);
    return collide_surface_convex(touch->shape->convex, &upper->pose, below->surface, &below->pose, margin, max,
                                  points);
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
        SurfaceTouch touch = { kind, which ? a : b, upper, below };
        count = collide_on_surface(&touch, limit.shift, narrow_max_points(physics, a, b), points);
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
        count = narrow_add_speculative(&(Passage){ upper, below, which, limit.shift, narrow_max_points(physics, a, b) },
                                       points, count);
    return count;
}

// ---- which of them ----

static bool is_cylinder_on_plane(const Shape *a, const Shape *b)
{
    return (a->kind == GEOMETRY_CYLINDER && b->kind == GEOMETRY_PLANE)
           || (a->kind == GEOMETRY_PLANE && b->kind == GEOMETRY_CYLINDER);
}

// Whether kernels of ours do a pair that is not of two simple shapes, or under a stepper that collides with ODE.
static bool is_known(const Physics *physics, BroadPair pair)
{
    const Shape *a = &physics->shapes[pair.a], *b = &physics->shapes[pair.b];
    const Collider *x = &physics->narrow->colliders[pair.a], *y = &physics->narrow->colliders[pair.b];
    // What ODE gets wrong it does not get to do: triangles with triangles, and caps on the ground.
    if (is_convex_pair(a, b) || is_cylinder_on_plane(a, b))
        return true;
    if (physics->stepper->collides_with_ode || (!x->surface && !y->surface))
        return false;
    int below;
    return surface_of_pair(physics, pair, &below) != SURFACE_UNKNOWN;
}

int narrow_find_points(const Physics *physics, Worker *worker, int index, CollidePoint *points)
{
    assert_debug(index >= 0 && index < physics->narrow->pair_count);
    BroadPair pair = physics->narrow->pairs[index];
    assert_debug(pair.a >= 0 && pair.a < pair.b && pair.b < physics->shape_count);
    const Collider *x = &physics->narrow->colliders[pair.a], *y = &physics->narrow->colliders[pair.b];
    bool are_simple = x->is_simple && y->is_simple;
    if (are_simple && !physics->stepper->collides_with_ode)
        return collide_pair_is_known(x->shape.type, y->shape.type) ? find_kernel_points(physics, index, points) : -1;
    if (!is_known(physics, pair))
        return -1;
    const Shape *a = &physics->shapes[pair.a], *b = &physics->shapes[pair.b];
    if (!are_simple && !is_convex_pair(a, b) && (x->surface || y->surface))
        return find_surface_points(physics, index, points);
    if (!are_simple && shapes_have_convex_mesh(a, b))
        return find_convex_points(physics, worker, index, points);
    return find_kernel_points(physics, index, points);
}
