// collide_cylinder.c - a cylinder on a plane. ODE's own points leave a cylinder that stands a little askew on one point of
// its rim, so that it rocks and sinks in. Here a cap that is nearly level touches with up to four points of its rim: the
// lowest, the highest and the two between; a cap that is well tilted touches with its lowest point alone.
#include "physics/physics_internal.h"

#define LEVEL 0.001   // square of the sine of a tilt that counts as none: the four points then stay with the cylinder
#define TILTED 0.1    // and of one from which on a cap touches with one point

typedef struct Plane { Vec3 normal; double offset; } Plane;

static void add_point(const Plane *plane, Vec3 point, double sign, dContactGeom *found, int capacity, int *count)
{
    double depth = plane->offset - vec3_dot(plane->normal, point);
    if (!(depth > 0.0) || *count >= capacity)
        return;
    Vec3 normal = vec3_scale(plane->normal, sign);
    found[(*count)++] = (dContactGeom){ .pos = { point.x, point.y, point.z }, .normal = { normal.x, normal.y, normal.z }, .depth = depth,
                                        .side1 = -1, .side2 = -1 };
}

static int touch_plane(dGeomID cylinder, dGeomID ground, double sign, dContactGeom *found, int capacity)
{
    dVector4 p;
    dGeomPlaneGetParams(ground, p);
    Plane plane = { { p[0], p[1], p[2] }, p[3] };
    double radius, length;
    dGeomCylinderGetParams(cylinder, &radius, &length);
    const double *at = dGeomGetPosition(cylinder), *r = dGeomGetRotation(cylinder);
    Vec3 centre = { at[0], at[1], at[2] }, axis = { r[2], r[6], r[10] };
    Vec3 across = vec3_cross(axis, plane.normal);
    double tilt = vec3_length2(across);
    Vec3 level = vec3(r[0], r[4], r[8]), lowest = vec3(r[1], r[5], r[9]);
    if (tilt >= LEVEL) {
        level = vec3_scale(across, 1.0 / sqrt(tilt));
        lowest = vec3_normalized(vec3_sub(vec3_scale(axis, vec3_dot(axis, plane.normal)), plane.normal));
    }
    int count = 0;
    for (int end = 1; end >= -1; end -= 2) {
        Vec3 cap = vec3_mad(centre, axis, 0.5 * end * length);
        add_point(&plane, vec3_mad(cap, lowest, radius), sign, found, capacity, &count);
        if (tilt >= TILTED)
            continue;
        add_point(&plane, vec3_mad(cap, level, radius), sign, found, capacity, &count);
        add_point(&plane, vec3_mad(cap, lowest, -radius), sign, found, capacity, &count);
        add_point(&plane, vec3_mad(cap, level, -radius), sign, found, capacity, &count);
    }
    return count;
}

bool collide_is_cylinder_on_plane(const Shape *a, const Shape *b)
{
    return (a->kind == PHYSICS_SHAPE_CYLINDER && b->kind == PHYSICS_SHAPE_PLANE) || (a->kind == PHYSICS_SHAPE_PLANE && b->kind == PHYSICS_SHAPE_CYLINDER);
}

int collide_cylinder_plane(const Shape *a, const Shape *b, dContactGeom *found, int capacity)
{
    bool is_first = a->kind == PHYSICS_SHAPE_CYLINDER;
    int count = touch_plane(is_first ? a->ode : b->ode, is_first ? b->ode : a->ode, is_first ? 1.0 : -1.0, found, capacity);
    for (int i = 0; i < count; i++) {
        found[i].g1 = a->ode;
        found[i].g2 = b->ode;
    }
    return count;
}
