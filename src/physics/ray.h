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

// Whether a shape may stop the ray.
typedef bool (*PhysicsRayFilter)(const Physics *physics, int shape, void *context);

typedef struct PhysicsRay {
    Vec3 origin, direction;   // a unit vector
    double range;             // m
    PhysicsRayFilter filter;  // NULL: every shape stops it
    void *context;            // of the filter
} PhysicsRay;

// The nearest hit within its range. Fluids never stop a ray.
bool physics_ray_cast(Physics *physics, const PhysicsRay *ray, PhysicsRayHit *hit);

#endif
