// mass.c - masses, centres and inertias of shapes and meshes, moved and summed.
#include "physics/mass.h"

#include "base/limits.h"

static Mat3 diagonal(double x, double y, double z)
{
    return (Mat3){ { x, 0, 0, 0, y, 0, 0, 0, z } };
}

MassProperties mass_zero(void)
{
    return (MassProperties){ 0.0, VEC3_ZERO, diagonal(0.0, 0.0, 0.0) };
}

MassProperties mass_default(void)
{
    return (MassProperties){ 1.0, VEC3_ZERO, MAT3_IDENTITY };
}

MassProperties mass_box(double density, Vec3 size)
{
    double m = density * size.x * size.y * size.z;
    double x2 = size.x * size.x, y2 = size.y * size.y, z2 = size.z * size.z;
    return (MassProperties){ m, VEC3_ZERO, diagonal(m / 12.0 * (y2 + z2), m / 12.0 * (x2 + z2), m / 12.0 * (x2 + y2)) };
}

MassProperties mass_sphere(double density, double radius)
{
    double m = density * 4.0 / 3.0 * M_PI * radius * radius * radius;
    double i = 0.4 * m * radius * radius;
    return (MassProperties){ m, VEC3_ZERO, diagonal(i, i, i) };
}

MassProperties mass_cylinder(double density, double radius, double height)
{
    double r2 = radius * radius;
    double m = density * M_PI * r2 * height;
    double i = m * (0.25 * r2 + height * height / 12.0);
    return (MassProperties){ m, VEC3_ZERO, diagonal(i, i, 0.5 * m * r2) };
}

MassProperties mass_capsule(double density, double radius, double height)
{
    double r2 = radius * radius;
    double tube = density * M_PI * r2 * height, caps = density * 4.0 / 3.0 * M_PI * r2 * radius;
    double across = tube * (0.25 * r2 + height * height / 12.0)
                  + caps * (0.4 * r2 + 0.375 * radius * height + 0.25 * height * height);
    double along = (0.5 * tube + 0.4 * caps) * r2;
    return (MassProperties){ tube + caps, VEC3_ZERO, diagonal(across, across, along) };
}

bool mass_mesh(double density, const Mesh *mesh, MassProperties *mass)
{
    MeshMass volume;
    mesh_mass(mesh, &volume);
    // A mesh with all faces turned inwards encloses the same volume with the other sign.
    double sign = volume.volume < 0.0 ? -1.0 : 1.0;
    *mass = (MassProperties){ sign * density * volume.volume, volume.centre, mat3_scale(volume.inertia, sign * density) };
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
    return mass.mass >= LIMIT_MASS_LOW && mass.mass <= LIMIT_MASS_HIGH && vec3_is_finite(mass.center)
        && mat3_is_positive_definite(mass.inertia);
}
