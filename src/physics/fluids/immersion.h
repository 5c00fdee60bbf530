// immersion.h - how much of a shape is below a plane: volume, centre, wetted surface, projected areas. Pure functions.
// Boxes and meshes are cut exactly; spheres have closed forms; cylinders and capsules are integrated over circular
// sections, each in closed form, to about seven digits.
#ifndef TALUS_PHYSICS_IMMERSION_H
#define TALUS_PHYSICS_IMMERSION_H

#include "assets/geometry.h"

// Points below have up . p <= level. `up` is a unit vector; all in the frame of the shape.
typedef struct ImmersionPlane {
    Vec3 up;
    double level;
    bool without_projected;  // projected areas of round shapes are not needed: they cost most of the work
} ImmersionPlane;

typedef struct Immersion {
    double volume;  // m3 below the plane
    Vec3 center;    // of that volume
    double area;    // m2 of the shape's surface below the plane, without the cut itself
    double total_area;
    Vec3 projected;  // m2 of that surface seen along each axis of the shape's frame, from the side that shows more
} Immersion;

// Of a form with a formula and its size (assets/geometry.h); nothing of one without.
Immersion immersion_of(GeometryKind kind, Vec3 size, ImmersionPlane plane);
Immersion immersion_mesh(const double *vertices, const int *indices, int triangle_count, ImmersionPlane plane);

#endif
