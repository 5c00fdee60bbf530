// How geoms of any making lie in a fluid: areas, volumes, the fluid's surface, what is below it.
#include "base/memory.h"
#include "physics/fluids/immersion.h"
#include "plugins/plugins_internal.h"

#include <plugins/fluid.h>

#include <math.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default"), used))

static Pose pose_of(dGeomID geom)
{
    dQuaternion q;
    const dReal *p = dGeomGetPosition(geom);
    dGeomGetQuaternion(geom, q);
    return (Pose){ .t = vec3(p[0], p[1], p[2]), .q = { .w = q[0], .x = q[1], .y = q[2], .z = q[3] } };
}

// In the frame of the geom. The world's triangles are what ODE tells.
static Immersion immersion_trimesh(dGeomID geom, Pose pose, ImmersionPlane plane)
{
    int count = dGeomTriMeshGetTriangleCount(geom);
    assert(count >= 0);
    double *vertices = memory_alloc_array((size_t)count + 1, 9 * sizeof *vertices);
    int *indices = memory_alloc_array((size_t)count + 1, 3 * sizeof *indices);
    for (int i = 0; i < count; i++) {
        dVector3 corner[3];
        dGeomTriMeshGetTriangle(geom, i, &corner[0], &corner[1], &corner[2]);
        for (int k = 0; k < 3; k++) {
            Vec3 local = quat_unrotate(pose.q, vec3_sub(vec3(corner[k][0], corner[k][1], corner[k][2]), pose.t));
            double *vertex = vertices + 9 * i + 3 * k;
            vertex[0] = local.x, vertex[1] = local.y, vertex[2] = local.z;
            indices[3 * i + k] = 3 * i + k;
        }
    }
    Immersion wet = immersion_mesh(vertices, indices, count, plane);
    free(vertices);
    free(indices);
    return wet;
}

static Immersion immersion_of_geom(dGeomID geom, Pose pose, ImmersionPlane plane)
{
    Vec3 size;
    if (dGeomGetClass(geom) == dTriMeshClass)
        return immersion_trimesh(geom, pose, plane);
    GeometryKind kind = physics_geom_form(geom, &size);
    return immersion_of(kind, size, plane);
}

// All of it is below a plane that is far above.
static Immersion whole(dGeomID geom)
{
    dReal box[6];
    dGeomGetAABB(geom, box);
    Pose pose = pose_of(geom);
    double size = vec3_length(vec3(box[1] - box[0], box[3] - box[2], box[5] - box[4]));
    double far = vec3_length(vec3_sub(pose.t, vec3(box[0], box[2], box[4])));
    return immersion_of_geom(geom, pose, (ImmersionPlane){ vec3(0, 0, 1), 2.0 * (size + far) + 1.0, true });
}

static bool is_solid(dGeomID geom, const char *function)
{
    if (!geom)
        dDebug(d_ERR_UASSERT, "Bad argument(s) in %s()", function);
    return geom && !dGeomIsSpace(geom) && dGeomGetClass(geom) != dPlaneClass && dGeomGetClass(geom) != dRayClass;
}

EXPORTED dReal dGeomGetArea(dGeomID geom) { return is_solid(geom, __func__) ? whole(geom).total_area : 0.0; }

EXPORTED dReal dGeomGetVolume(dGeomID geom) { return is_solid(geom, __func__) ? whole(geom).volume : 0.0; }

static Vec3 upwards(dGeomID geom)
{
    dFluidID fluid = dGeomGetFluid(geom);
    const PluginHost *host = utilities_host();
    dWorldID world = fluid ? dFluidGetWorld(fluid) : host ? physics_ode_world(host->physics) : NULL;
    dVector3 gravity = { 0.0 };
    if (world)
        dWorldGetGravity(world, gravity);
    Vec3 up = vec3_normalized(vec3(-gravity[0], -gravity[1], -gravity[2]));
    return vec3_length2(up) > 0.5 ? up : quat_rotate(pose_of(geom).q, vec3(0, 0, 1));
}

// As for Fluid nodes: a box's face that looks against gravity most, else the plane across gravity at the highest point.
static ImmersionPlane surface_of(dGeomID geom)
{
    Vec3 up = upwards(geom);
    Pose pose = pose_of(geom);
    if (dGeomGetClass(geom) == dSphereClass)
        return (ImmersionPlane){ .up = up, .level = vec3_dot(up, pose.t) + dGeomSphereGetRadius(geom) };
    if (dGeomGetClass(geom) != dBoxClass) {
        dReal box[6];
        dGeomGetAABB(geom, box);
        double level = fmax(up.x * box[0], up.x * box[1]) + fmax(up.y * box[2], up.y * box[3])
                       + fmax(up.z * box[4], up.z * box[5]);
        return (ImmersionPlane){ .up = up, .level = level };
    }
    dVector3 sides;
    dGeomBoxGetLengths(geom, sides);
    Vec3 local = quat_unrotate(pose.q, up);
    double parts[3] = { local.x, local.y, local.z };
    int axis = 2;
    for (int i = 1; i >= 0; i--)
        if (fabs(parts[i]) > fabs(parts[axis]))
            axis = i;
    double sign = copysign(1.0, parts[axis]);
    Vec3 normal = quat_rotate(pose.q, vec3(axis == 0 ? sign : 0.0, axis == 1 ? sign : 0.0, axis == 2 ? sign : 0.0));
    return (ImmersionPlane){ .up = normal, .level = vec3_dot(normal, pose.t) + 0.5 * sides[axis] };
}

EXPORTED void dGeomGetImmersionPlane(dGeomID geom, dVector4 plane)
{
    ImmersionPlane surface = { 0 };
    if (is_solid(geom, __func__))
        surface = surface_of(geom);
    plane[0] = surface.up.x, plane[1] = surface.up.y, plane[2] = surface.up.z, plane[3] = surface.level;
}

static dGeomID of_class(dGeomID geom, int class, const char *function)
{
    if (!geom || dGeomGetClass(geom) != class)
        dDebug(d_ERR_UASSERT, "Bad argument(s) in %s()", function);
    return geom;
}

#define QUERIES_OF(NAME)                                                                                               \
    EXPORTED dReal dGeom##NAME##GetArea(dGeomID geom)                                                                  \
    {                                                                                                                  \
        return dGeomGetArea(of_class(geom, d##NAME##Class, __func__));                                                 \
    }                                                                                                                  \
    EXPORTED dReal dGeom##NAME##GetVolume(dGeomID geom)                                                                \
    {                                                                                                                  \
        return dGeomGetVolume(of_class(geom, d##NAME##Class, __func__));                                               \
    }                                                                                                                  \
    EXPORTED void dGeom##NAME##GetImmersionPlane(dGeomID geom, dVector4 plane)                                         \
    {                                                                                                                  \
        dGeomGetImmersionPlane(of_class(geom, d##NAME##Class, __func__), plane);                                       \
    }
QUERIES_OF(Box)
QUERIES_OF(Sphere)
QUERIES_OF(Capsule)
QUERIES_OF(Cylinder)
QUERIES_OF(TriMesh)

EXPORTED int dGeomIsBelowImmersionPlane(dGeomID geom, dReal x, dReal y, dReal z)
{
    dVector4 plane;
    dGeomGetImmersionPlane(geom, plane);
    return plane[0] * x + plane[1] * y + plane[2] * z <= plane[3];
}

// Seen from inside of a closed mesh its triangles fill the whole sphere of directions, from outside they cancel.
static bool is_inside_mesh(dGeomID geom, Vec3 point)
{
    double angle = 0.0;
    for (int i = 0; i < dGeomTriMeshGetTriangleCount(geom); i++) {
        dVector3 corner[3];
        Vec3 d[3];
        dGeomTriMeshGetTriangle(geom, i, &corner[0], &corner[1], &corner[2]);
        for (int k = 0; k < 3; k++)
            d[k] = vec3_sub(vec3(corner[k][0], corner[k][1], corner[k][2]), point);
        double a = vec3_length(d[0]), b = vec3_length(d[1]), c = vec3_length(d[2]);
        double below = a * b * c + vec3_dot(d[0], d[1]) * c + vec3_dot(d[1], d[2]) * a + vec3_dot(d[2], d[0]) * b;
        angle += 2.0 * atan2(vec3_dot(d[0], vec3_cross(d[1], d[2])), below);
    }
    return fabs(angle) > 2.0 * M_PI;
}

EXPORTED int dGeomIsInside(dGeomID geom, dReal x, dReal y, dReal z)
{
    if (!is_solid(geom, __func__))
        return 0;
    dReal radius, length;
    switch (dGeomGetClass(geom)) {
    case dSphereClass: return dGeomSpherePointDepth(geom, x, y, z) >= 0.0;
    case dBoxClass: return dGeomBoxPointDepth(geom, x, y, z) >= 0.0;
    case dCapsuleClass: return dGeomCapsulePointDepth(geom, x, y, z) >= 0.0;
    case dCylinderClass: {
        Pose pose = pose_of(geom);
        Vec3 local = quat_unrotate(pose.q, vec3_sub(vec3(x, y, z), pose.t));
        dGeomCylinderGetParams(geom, &radius, &length);
        return hypot(local.x, local.y) <= radius && fabs(local.z) <= 0.5 * length;
    }
    case dTriMeshClass: return is_inside_mesh(geom, vec3(x, y, z));
    default: return 0;
    }
}

static bool boxes_overlap(dGeomID a, dGeomID b)
{
    dReal one[6], two[6];
    dGeomGetAABB(a, one);
    dGeomGetAABB(b, two);
    return one[0] <= two[1] && two[0] <= one[1] && one[2] <= two[3] && two[2] <= one[3] && one[4] <= two[5]
           && two[4] <= one[5];
}

EXPORTED int dImmerse(dGeomID o1, dGeomID o2, int flags, dImmersionGeom *immersion)
{
    (void)flags;
    bool is_first = is_solid(o1, __func__), is_second = is_solid(o2, __func__);
    if (!immersion)
        dDebug(d_ERR_UASSERT, "Bad argument(s) in dImmerse()");
    *immersion = (dImmersionGeom){ 0 };
    if (!is_first || !is_second || !boxes_overlap(o1, o2))
        return 0;
    bool is_turned = dGeomGetFluid(o1) && !dGeomGetFluid(o2);
    dGeomID solid = is_turned ? o2 : o1, fluid = is_turned ? o1 : o2;
    Pose pose = pose_of(solid);
    ImmersionPlane surface = surface_of(fluid);
    ImmersionPlane local = { quat_unrotate(pose.q, surface.up), surface.level - vec3_dot(surface.up, pose.t), false };
    Immersion wet = immersion_of_geom(solid, pose, local);
    Vec3 center = pose_apply(pose, wet.volume > 0.0 ? wet.center : VEC3_ZERO);
    *immersion = (dImmersionGeom){ .buoyancyCenter = { center.x, center.y, center.z },
                                   .volume = wet.volume,
                                   .area = wet.area,
                                   .referenceArea = wet.area,
                                   .projectedAreas = { wet.projected.x, wet.projected.y, wet.projected.z },
                                   .g1 = solid,
                                   .g2 = fluid };
    return wet.volume > 0.0 || wet.area > 0.0;
}
