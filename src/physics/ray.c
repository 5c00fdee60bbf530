#include "physics/ray.h"

#include "physics/physics_internal.h"

// Slab test of the segment against a geom's box.
static bool box_is_met(const dReal box[6], Vec3 origin, Vec3 inverse, double range)
{
    const double o[3] = { origin.x, origin.y, origin.z }, inv[3] = { inverse.x, inverse.y, inverse.z };
    double near = 0.0, far = range;
    for (int i = 0; i < 3; i++) {
        double a = (box[2 * i] - o[i]) * inv[i], b = (box[2 * i + 1] - o[i]) * inv[i];
        if (a > b) {
            double swap = a;
            a = b;
            b = swap;
        }
        // A ray along a face gives NaN here; comparisons with it keep the box.
        if (a > near)
            near = a;
        if (b < far)
            far = b;
        if (near > far)
            return false;
    }
    return true;
}

bool physics_ray_cast(Physics *physics, Vec3 origin, Vec3 direction, double range, PhysicsRayFilter filter, void *context,
                      PhysicsRayHit *hit)
{
    if (!vec3_is_finite(origin) || !vec3_is_finite(direction) || !(range > 0.0))
        return false;
    if (!physics->ray) {
        physics->ray = dCreateRay(NULL, 1.0);
        dGeomRaySetClosestHit(physics->ray, 1);
    }
    Vec3 inverse = vec3(1.0 / direction.x, 1.0 / direction.y, 1.0 / direction.z);
    *hit = (PhysicsRayHit){ .distance = INFINITY, .shape = -1, .solid = -1 };
    double left = range;
    for (int i = 0; i < physics->shape_count; i++) {
        const Shape *shape = &physics->shapes[i];
        if (!shape->is_alive || shape->fluid >= 0 || (filter && !filter(physics, i, context)))
            continue;
        dReal box[6];
        dGeomGetAABB(shape->ode, box);
        if (shape->kind != PHYSICS_SHAPE_PLANE && !box_is_met(box, origin, inverse, left))
            continue;
        dGeomRaySetLength(physics->ray, left);
        dGeomRaySet(physics->ray, origin.x, origin.y, origin.z, direction.x, direction.y, direction.z);
        dContactGeom contact;
        if (!dCollide(physics->ray, shape->ode, 1, &contact, sizeof contact) || contact.depth >= hit->distance)
            continue;
        *hit = (PhysicsRayHit){ contact.depth, vec3(contact.pos[0], contact.pos[1], contact.pos[2]),
                                vec3(contact.normal[0], contact.normal[1], contact.normal[2]), i, shape->solid };
        left = contact.depth;
        if (!(left > 0.0))
            break;
    }
    return hit->shape >= 0;
}
