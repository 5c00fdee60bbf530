// ray.h - rays against what collides (bounding objects), for sensors that see shapes rather than pictures.
#ifndef TALUS_PHYSICS_RAY_H
#define TALUS_PHYSICS_RAY_H

#include "physics/physics.h"

typedef struct PhysicsRayHit {
    double distance;  // m from the origin
    Vec3 point;
    Vec3 normal;  // unit, out of the shape
    int shape, solid;
} PhysicsRayHit;

// Whether a shape may stop the ray; NULL means every one does.
typedef bool (*PhysicsRayFilter)(const Physics *physics, int shape, void *context);

// The nearest hit within `range` along the unit vector `direction`. Fluids never stop a ray.
bool physics_ray_cast(Physics *physics, Vec3 origin, Vec3 direction, double range, PhysicsRayFilter filter,
                      void *context, PhysicsRayHit *hit);

#endif
