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

// Sums signed tetrahedra from the origin to every triangle: the integrals of 1, p and p p^T over each are closed forms
// (M. Kallay, "Computing the Moment of Inertia of a Solid Defined by a Triangle Mesh", 2006). The origin is moved to
// the first vertex, so that a mesh far away loses no digits.
bool mass_mesh(double density, const double *vertices, int vertex_count, const int *indices, int triangle_count,
               MassProperties *mass)
{
    if (vertex_count < 4 || triangle_count < 4)
        return false;
    Vec3 origin = vec3(vertices[0], vertices[1], vertices[2]);
    double volume = 0.0, xx = 0.0, yy = 0.0, zz = 0.0, xy = 0.0, yz = 0.0, zx = 0.0;
    Vec3 first = VEC3_ZERO;
    for (int i = 0; i < triangle_count; i++) {
        Vec3 p[3];
        for (int k = 0; k < 3; k++) {
            const double *v = vertices + 3 * (ptrdiff_t)indices[3 * (ptrdiff_t)i + k];
            p[k] = vec3_sub(vec3(v[0], v[1], v[2]), origin);
        }
        double six = vec3_dot(p[0], vec3_cross(p[1], p[2]));
        Vec3 s = vec3_add(p[0], vec3_add(p[1], p[2]));
        volume += six;
        first = vec3_mad(first, s, six);
        xx += six * (p[0].x * p[0].x + p[1].x * p[1].x + p[2].x * p[2].x + s.x * s.x);
        yy += six * (p[0].y * p[0].y + p[1].y * p[1].y + p[2].y * p[2].y + s.y * s.y);
        zz += six * (p[0].z * p[0].z + p[1].z * p[1].z + p[2].z * p[2].z + s.z * s.z);
        xy += six * (p[0].x * p[0].y + p[1].x * p[1].y + p[2].x * p[2].y + s.x * s.y);
        yz += six * (p[0].y * p[0].z + p[1].y * p[1].z + p[2].y * p[2].z + s.y * s.z);
        zx += six * (p[0].z * p[0].x + p[1].z * p[1].x + p[2].z * p[2].x + s.z * s.x);
    }
    if (!(fabs(volume) > 0.0) || !isfinite(volume))
        return false;
    // A mesh with all faces turned inwards encloses the same volume with the other sign.
    double m = density * fabs(volume) / 6.0;
    double k = density * (volume > 0.0 ? 1.0 : -1.0) / 120.0;
    Vec3 center = vec3_scale(first, 1.0 / (4.0 * volume));
    xx *= k, yy *= k, zz *= k, xy *= k, yz *= k, zx *= k;
    Mat3 about_origin = { { yy + zz, -xy, -zx, -xy, xx + zz, -yz, -zx, -yz, xx + yy } };
    Mat3 inertia = mat3_add(about_origin, mat3_scale(mat3_point_inertia(m, center), -1.0));
    *mass = (MassProperties){ m, vec3_add(center, origin), inertia };
    return m > 0.0 && vec3_is_finite(center) && mat3_is_positive_definite(inertia);
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
