// mass.h - mass, centre of mass and inertia of shapes and of what is put together from them. Pure functions.
#ifndef TALUS_PHYSICS_MASS_H
#define TALUS_PHYSICS_MASS_H

#include "assets/mesh.h"
#include "base/vec.h"

typedef struct MassProperties {
    double mass;
    Vec3 center;
    Mat3 inertia;  // about the centre, axes of the frame
} MassProperties;

MassProperties mass_zero(void);
MassProperties mass_default(void);  // 1 kg, unit inertia, at the origin: what invalid data falls back to
MassProperties mass_box(double density, Vec3 size);
MassProperties mass_sphere(double density, double radius);
MassProperties mass_cylinder(double density, double radius, double height);  // axis z
MassProperties mass_capsule(double density, double radius, double height);   // axis z, height without the caps
// Exact integration over a mesh, inside out or not. False when it encloses no volume or the result is no possible inertia.
bool mass_mesh(double density, const Mesh *mesh, MassProperties *mass);
MassProperties mass_moved(MassProperties mass, Pose pose);  // from a frame into the one it is placed in by `pose`
MassProperties mass_sum(MassProperties a, MassProperties b);
MassProperties mass_scaled(MassProperties mass, double factor);
bool mass_is_valid(MassProperties mass);  // positive, finite, within limits, positive definite inertia

#endif
