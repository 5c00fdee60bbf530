// narrow_collider.c - shapes as kernels see them: their size, where they stand, the way that they go in a step, and the
// box of it all for the broad phase. At the rim a twin is asked instead: a plugin may have changed it.
#include "physics/contacts/narrow_internal.h"

#include "physics/mirror.h"
#include "physics/solver/solver.h"

#include <string.h>

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
    double thin = collider_thin(collider);
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

void narrow_prefetch(const Physics *physics, NarrowPart part)
{
    const Narrow *narrow = physics->narrow;
    switch (part) {
    case NARROW_ITSELF: memory_prefetch(narrow, sizeof *narrow); break;
    case NARROW_COLLIDERS:
        memory_prefetch(narrow->colliders, sizeof *narrow->colliders * (size_t)narrow->collider_count);
        memory_prefetch(narrow->results, sizeof *narrow->results * (size_t)narrow->pair_count);
        memory_prefetch(narrow->workers, sizeof *narrow->workers);
        collide_cache_prefetch(narrow->cache, false);
        break;
    case NARROW_KNOWN:
        memory_prefetch(narrow->workers->touching, sizeof *narrow->workers->touching * (size_t)narrow->pair_count);
        collide_cache_prefetch(narrow->cache, true);
        break;
    }
}
