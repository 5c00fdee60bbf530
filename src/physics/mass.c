// mass.c - masses, centres and inertias of shapes and meshes, moved and summed.
#include "physics/mass.h"

#include "base/limits.h"

#include <assert.h>

static Mat3 diagonal(double x, double y, double z) { return (Mat3){ { x, 0, 0, 0, y, 0, 0, 0, z } }; }

MassProperties mass_zero(void) { return (MassProperties){ 0.0, VEC3_ZERO, diagonal(0.0, 0.0, 0.0) }; }

MassProperties mass_default(void) { return (MassProperties){ 1.0, VEC3_ZERO, MAT3_IDENTITY }; }

bool mass_mesh(double density, const Mesh *mesh, MassProperties *mass)
{
    MeshMass volume;
    mesh_mass(mesh, &volume);
    // A mesh with all faces turned inwards encloses the same volume with the other sign.
    double sign = volume.volume < 0.0 ? -1.0 : 1.0;
    *mass = (MassProperties){ sign * density * volume.volume, volume.centre,
                              mat3_scale(volume.inertia, sign * density) };
    return mass->mass > 0.0 && vec3_is_finite(mass->center) && mat3_is_positive_definite(mass->inertia);
}

MassProperties mass_moved(MassProperties mass, Pose pose)
{
    return (MassProperties){ mass.mass, pose_apply(pose, mass.center), mat3_rotated(mass.inertia, pose.q) };
}

MassProperties mass_sum(MassProperties a, MassProperties b)
{
    double m = a.mass + b.mass;
    if (!(m > 0.0))
        return a;
    Vec3 center = vec3_scale(vec3_add(vec3_scale(a.center, a.mass), vec3_scale(b.center, b.mass)), 1.0 / m);
    Mat3 inertia = mat3_add(mat3_add(a.inertia, mat3_point_inertia(a.mass, vec3_sub(a.center, center))),
                            mat3_add(b.inertia, mat3_point_inertia(b.mass, vec3_sub(b.center, center))));
    return (MassProperties){ m, center, inertia };
}

MassProperties mass_scaled(MassProperties mass, double factor)
{
    return (MassProperties){ mass.mass * factor, mass.center, mat3_scale(mass.inertia, factor) };
}

bool mass_is_valid(MassProperties mass)
{
    for (int i = 0; i < 9; i++)
        if (!isfinite(mass.inertia.m[i]))
            return false;
    return mass.mass >= LIMIT_MASS_LOW && mass.mass <= LIMIT_MASS_HIGH && vec3_length(mass.center) <= LIMIT_COORDINATE
           && mat3_is_positive_definite(mass.inertia);
}
