// ray.c - rays against bounding objects: the broad phase's tree in the order of the ray, then shape by shape.
#include "physics/ray.h"

#include "physics/mirror.h"

typedef struct RayQuery {
    Physics *physics;
    const PhysicsRay *ray;
    PhysicsRayHit *hit;
} RayQuery;

// Of two shapes at the same distance the lower index counts. The order in which the tree shows them depends on its
// past, so every shape is tested with the whole ray and the tree is told to look a little beyond the best hit.
static double test_shape(void *context, int index, double length)
{
    const RayQuery *query = context;
    const PhysicsRay *ray = query->ray;
    assert_debug(index >= 0 && index < query->physics->shape_count);
    const Shape *shape = &query->physics->shapes[index];
    if (!shape->is_alive || shape->fluid >= 0 || (ray->filter && !ray->filter(query->physics, index, ray->context)))
        return length;
    dContactGeom contact;
    if (!probe_ray(query->physics, index, ray->origin, ray->direction, ray->range, &contact))
        return length;
    PhysicsRayHit *hit = query->hit;
    if (contact.depth > hit->distance || (contact.depth == hit->distance && index > hit->shape))
        return length;
    *hit = (PhysicsRayHit){ contact.depth, vec3(contact.pos[0], contact.pos[1], contact.pos[2]),
                            vec3(contact.normal[0], contact.normal[1], contact.normal[2]), index, shape->solid };
    return fmin(length, contact.depth * (1.0 + 1e-9) + 1e-9);
}

bool physics_ray_cast(Physics *physics, const PhysicsRay *ray, PhysicsRayHit *hit)
{
    *hit = (PhysicsRayHit){ .distance = INFINITY, .shape = -1, .solid = -1 };
    Vec3 origin = ray->origin, direction = ray->direction;
    if (!vec3_is_finite(origin) || !vec3_is_finite(direction) || !(ray->range > 0.0))
        return false;
    RayQuery query = { physics, ray, hit };
    const double from[3] = { origin.x, origin.y, origin.z }, along[3] = { direction.x, direction.y, direction.z };
    broadphase_ray(physics->broadphase, from, along, ray->range, test_shape, &query);
    return hit->shape >= 0;
}
