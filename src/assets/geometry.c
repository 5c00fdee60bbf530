// geometry.c - the rows of geometry.h: names and lengths of every form, and the formulas of those that have some.
#include "assets/geometry.h"

#include <assert.h>
#include <string.h>

static Mat3 diagonal(double x, double y, double z) { return (Mat3){ { x, 0, 0, 0, y, 0, 0, 0, z } }; }

// ---- sphere ----

static MassProperties sphere_mass(double density, Vec3 size)
{
    double radius = size.x, m = density * 4.0 / 3.0 * M_PI * radius * radius * radius, i = 0.4 * m * radius * radius;
    return (MassProperties){ m, VEC3_ZERO, diagonal(i, i, i) };
}

static Vec3 sphere_reach(Vec3 size) { return vec3(size.x, size.x, size.x); }

static double sphere_radius(Vec3 size) { return size.x; }

static Mesh *sphere_mesh(Vec3 size, const GeometryDetail *how)
{
    if (how->is_ico)
        return mesh_sphere_ico(size.x, how->divisions);
    // Choreonoid's are half as fine from pole to pole as around, Webots' as fine.
    return mesh_sphere_uv(size.x, how->divisions, how->axis == MESH_AXIS_Y ? how->divisions / 2 : how->divisions,
                          how->axis);
}

// ---- round about z: capsule, cylinder, cone ----

static MassProperties cylinder_mass(double density, Vec3 size)
{
    double r2 = size.x * size.x, height = size.y;
    double m = density * M_PI * r2 * height;
    double i = m * (0.25 * r2 + height * height / 12.0);
    return (MassProperties){ m, VEC3_ZERO, diagonal(i, i, 0.5 * m * r2) };
}

static MassProperties capsule_mass(double density, Vec3 size)
{
    double radius = size.x, height = size.y, r2 = radius * radius;
    double tube = density * M_PI * r2 * height, caps = density * 4.0 / 3.0 * M_PI * r2 * radius;
    double across = tube * (0.25 * r2 + height * height / 12.0)
                    + caps * (0.4 * r2 + 0.375 * radius * height + 0.25 * height * height);
    double along = (0.5 * tube + 0.4 * caps) * r2;
    return (MassProperties){ tube + caps, VEC3_ZERO, diagonal(across, across, along) };
}

static Vec3 cylinder_reach(Vec3 size) { return vec3(size.x, size.x, 0.5 * size.y); }

static Vec3 capsule_reach(Vec3 size) { return vec3(size.x, size.x, 0.5 * size.y + size.x); }

static double cylinder_radius(Vec3 size) { return hypot(size.x, 0.5 * size.y); }

static double capsule_radius(Vec3 size) { return size.x + 0.5 * size.y; }

static MeshRound round_of(Vec3 size, const GeometryDetail *how)
{
    return (MeshRound){ .radius = size.x,
                        .height = size.y,
                        .divisions = how->divisions,
                        .axis = how->axis,
                        .without_top = how->without_top,
                        .without_bottom = how->without_bottom,
                        .without_side = how->without_side };
}

static Mesh *cylinder_mesh(Vec3 size, const GeometryDetail *how)
{
    MeshRound round = round_of(size, how);
    return mesh_cylinder(&round);
}

static Mesh *capsule_mesh(Vec3 size, const GeometryDetail *how)
{
    MeshRound round = round_of(size, how);
    return mesh_capsule(&round);
}

static Mesh *cone_mesh(Vec3 size, const GeometryDetail *how)
{
    MeshRound round = round_of(size, how);
    return mesh_cone(&round);
}

// ---- box and plane ----

static MassProperties box_mass(double density, Vec3 size)
{
    double m = density * size.x * size.y * size.z;
    double x2 = size.x * size.x, y2 = size.y * size.y, z2 = size.z * size.z;
    return (MassProperties){ m, VEC3_ZERO, diagonal(m / 12.0 * (y2 + z2), m / 12.0 * (x2 + z2), m / 12.0 * (x2 + y2)) };
}

static Vec3 box_reach(Vec3 size) { return vec3_scale(size, 0.5); }

static double box_radius(Vec3 size) { return 0.5 * vec3_length(size); }

static Mesh *box_mesh(Vec3 size, const GeometryDetail *how)
{
    (void)how;
    return mesh_box(size);
}

static Mesh *plane_mesh(Vec3 size, const GeometryDetail *how)
{
    return mesh_plane((Vec2){ size.x, size.y }, how->axis);
}

// ---- the rows ----

enum {
    COLLIDES = GEOMETRY_COLLIDES,
    GROUND = GEOMETRY_COLLIDES | GEOMETRY_IS_GROUND | GEOMETRY_STOOD_ALONG_Y,
    ROUND = GEOMETRY_IS_ROUND | GEOMETRY_STOOD_ALONG_Y,
};

// clang-format off
static const GeometryType types[] = {  // node, kind, traits, lengths, numbers, mass, reach, radius, mesh, word
    { "Box", GEOMETRY_BOX, COLLIDES | GEOMETRY_SCALES_FREELY, { "size" }, 3, box_mass, box_reach, box_radius, box_mesh, "box" },
    { "Sphere", GEOMETRY_SPHERE, COLLIDES, { "radius" }, 1, sphere_mass, sphere_reach, sphere_radius, sphere_mesh, "sphere" },
    { "Capsule", GEOMETRY_CAPSULE, COLLIDES | ROUND | GEOMETRY_ENDS_ROUND, { "radius", "height" }, 2,
      capsule_mass, capsule_reach, capsule_radius, capsule_mesh, "capsule" },
    { "Cylinder", GEOMETRY_CYLINDER, COLLIDES | ROUND | GEOMETRY_SCALES_AROUND, { "radius", "height" }, 2,
      cylinder_mass, cylinder_reach, cylinder_radius, cylinder_mesh, "cylinder" },
    { "Cone", GEOMETRY_CONE, ROUND | GEOMETRY_SCALES_AROUND, { "bottomRadius", "height" }, 2, NULL, cylinder_reach, cylinder_radius, cone_mesh, NULL },
    { "Plane", GEOMETRY_PLANE, GROUND, { "size" }, 2, NULL, box_reach, box_radius, plane_mesh, "plane" },
    { "ElevationGrid", GEOMETRY_HEIGHTS, GROUND, { "height", "xSpacing", "ySpacing", "thickness" } },
    { "IndexedFaceSet", GEOMETRY_MESH, COLLIDES },
    { "Mesh", GEOMETRY_MESH, COLLIDES },
    { "Extrusion", GEOMETRY_MESH, COLLIDES, { "crossSection", "spine" } },
    { "CadShape", GEOMETRY_MESH },
    { "ColladaShape", GEOMETRY_MESH },
    { "IndexedLineSet", GEOMETRY_DRAWN },
    { "PointSet", GEOMETRY_DRAWN },
    { "Text", GEOMETRY_DRAWN },
};
// clang-format on

const GeometryType *geometry_type(const char *node)
{
    assert(node);
    for (int i = 0; i < COUNT_OF(types); i++)
        if (!strcmp(types[i].node, node))
            return &types[i];
    return NULL;
}

const GeometryType *geometry_of_kind(GeometryKind kind)
{
    for (int i = 0; i < COUNT_OF(types); i++)
        if (types[i].kind == kind)
            return &types[i];
    return NULL;
}

int geometry_type_count(void) { return COUNT_OF(types); }

const GeometryType *geometry_type_at(int index)
{
    assert(index >= 0 && index < COUNT_OF(types));
    return &types[index];
}
