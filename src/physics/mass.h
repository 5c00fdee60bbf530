// mass.h - mass, centre of mass and inertia of meshes and of what is put together from shapes; those of shapes with a
// formula are in assets/geometry.h. Pure functions.
#ifndef TALUS_PHYSICS_MASS_H
#define TALUS_PHYSICS_MASS_H

#include "assets/geometry.h"
#include "base/vec.h"

MassProperties mass_zero(void);
MassProperties mass_default(void);  // 1 kg, unit inertia, at the origin: what invalid data falls back to
// Exact integration over a mesh, inside out or not. False when it encloses no volume or the result is no possible
// inertia.
bool mass_mesh(double density, const Mesh *mesh, MassProperties *mass);
MassProperties mass_moved(MassProperties mass, Pose pose);  // from a frame into the one it is placed in by `pose`
MassProperties mass_sum(MassProperties a, MassProperties b);
MassProperties mass_scaled(MassProperties mass, double factor);
bool mass_is_valid(MassProperties mass);  // positive, finite, within limits, positive definite inertia

#endif
