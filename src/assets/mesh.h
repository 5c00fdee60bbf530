// mesh.h - triangle meshes: the one form in which shapes without a formula reach physics, rays, renderer and viewer.
// Belongs here: the container, cleaning, normals, closedness, mass integrals, and the tessellation of every primitive.
// Not here: reading mesh files (import.h), nodes of a scene (formats/shape/shape.h).
// A Mesh owns its arrays. It is built once, then only read, by any number of threads.
//
// Vertices are positions alone and equal ones are merged, so that closedness and mass see the surface; what differs
// from corner to corner (normals, texture coordinates) is stored per corner of a triangle.
#ifndef TALUS_ASSETS_MESH_H
#define TALUS_ASSETS_MESH_H

#include "base/diag.h"
#include "base/limits.h"
#include "base/vec.h"

typedef struct MeshMaterial {
    char *name;
    Vec3 diffuse, specular, emissive;
    double shininess;     // 0 to 1
    double transparency;  // 0 opaque
    char *texture;        // as the mesh file names it, relative to that file; NULL: none
} MeshMaterial;

// A run of triangles with one name and material: a mesh of a DAE file, a group of an OBJ file.
typedef struct MeshPart {
    char *name;  // "" when it has none
    int first_triangle, triangle_count;
    int material;  // -1: none
} MeshPart;

// What bends a mesh. Parents come before their children.
typedef struct MeshBone {
    char *name;
    int parent;  // -1: none
    Pose rest;   // in the mesh's frame, where the mesh is as its file has it
} MeshBone;

// The bones that a vertex follows; weights sum to 1, and all are 0 where it follows none.
enum { MESH_BONES_MAX = 256, MESH_INFLUENCES = 4 };
typedef struct MeshInfluence {
    uint16_t bones[MESH_INFLUENCES];
    float weights[MESH_INFLUENCES];
} MeshInfluence;

typedef struct Mesh {
    int vertex_count, triangle_count, part_count, material_count, bone_count;
    double *positions;    // 3 per vertex
    uint32_t *triangles;  // 3 vertices per triangle, counter-clockwise seen from outside
    float *normals;       // 3 corners of 3 per triangle; NULL: the triangles are flat
    float *texcoords;     // 3 corners of 2 per triangle, v upwards as VRML has it; NULL: none
    MeshPart *parts;      // in order, covering all triangles; none when part_count is 0
    MeshMaterial *materials;
    MeshBone *bones;            // of a file that has a skeleton
    MeshInfluence *influences;  // of each vertex; NULL without bones
    Vec3 low, high;             // bounding box; all zero when there is no vertex
} Mesh;

void mesh_destroy(Mesh *mesh);  // NULL is fine
size_t mesh_bytes(const Mesh *mesh);
uint64_t mesh_hash(const Mesh *mesh);  // of positions and triangles
static inline Vec3 mesh_position(const Mesh *mesh, uint32_t vertex)
{
    const double *p = mesh->positions + 3 * (size_t)vertex;
    return vec3(p[0], p[1], p[2]);
}
Vec3 mesh_triangle_normal(const Mesh *mesh, int triangle);  // unit, zero for a degenerate one

// What was found wrong and put right.
typedef struct MeshReport {
    int bad_index;    // triangles with a vertex that does not exist
    int not_finite;   // vertices that are NaN, infinite or beyond LIMIT_COORDINATE, with their triangles dropped
    int degenerate;   // triangles without area
    int duplicate;    // triangles that stand there twice
    int bad_polygon;  // polygons that cross themselves or have too many corners, cut into triangles as a fan
    int bad_normal;   // unusable normals or texture coordinates
    bool too_large;   // above the limit of vertices; the rest was left out
} MeshReport;
void mesh_report(const MeshReport *report, const char *what, DiagSink *diags, SourcePos pos);

// ---- building ----

// A mesh under construction. { 0 } is empty. Corners' normals and texture coordinates follow their triangle.
typedef struct MeshBuilder {
    Mesh mesh;
    int vertex_capacity, triangle_capacity, part_capacity, material_capacity;
    int normal_capacity, texcoord_capacity, bone_capacity, influence_capacity;
    int64_t vertex_limit;     // 0: limits_default
    int64_t clipping_budget;  // left for cutting polygons, see mesh_build_polygon
    MeshReport report;
} MeshBuilder;

int mesh_build_vertex(MeshBuilder *builder, Vec3 position);  // index; -1 above the limit
// Adds a triangle and returns its index. Any index is fine: mesh_build_end drops the impossible ones.
int mesh_build_triangle(MeshBuilder *builder, int64_t a, int64_t b, int64_t c);
void mesh_build_normals(MeshBuilder *builder, int triangle, const float normals[9]);
void mesh_build_texcoords(MeshBuilder *builder, int triangle, const float texcoords[6]);
int mesh_build_material(MeshBuilder *builder, const MeshMaterial *material);  // copies
void mesh_build_part(MeshBuilder *builder, const char *name, int material);   // later triangles belong to it
// A bone below one that was added before (-1: none); returns its index, -1 when there are too many.
int mesh_build_bone(MeshBuilder *builder, const char *name, int parent, Pose rest);
void mesh_build_influence(MeshBuilder *builder, int vertex, const MeshInfluence *influence);
// Adds a polygon of any shape as triangles: convex ones as a fan, others by clipping ears. `corner_out` (may be NULL)
// gets for each corner of each triangle which corner of the polygon it is; returns the first triangle, *triangle_count
// how many.
int mesh_build_polygon(MeshBuilder *builder, const int64_t *vertices, int count, int *corner_out, int *triangle_count);

typedef struct MeshBuildOptions {
    bool keep_duplicates;  // equal triangles stay
    bool keep_vertices;    // equal vertices are not merged
} MeshBuildOptions;
// Cleans what was built, merges equal vertices, computes the box, and empties the builder. Never NULL; what was wrong
// is added to *report (may be NULL).
Mesh *mesh_build_end(MeshBuilder *builder, const MeshBuildOptions *options, MeshReport *report);
void mesh_build_cancel(MeshBuilder *builder);

// Smooth normals where faces meet at less than the crease angle; 0 or less leaves the mesh flat. Replaces what was
// there.
void mesh_compute_normals(Mesh *mesh, double crease_angle);

// ---- questions ----

// Where a point of a mesh without texture coordinates lies on a texture, as VRML97 has it: s along the longest side of
// the box, t along the second, in the same measure. Of equal sides the first is taken for s and the last for t, which
// is what Webots' published picture of a sphere shows.
void mesh_default_texcoord(const Mesh *mesh, Vec3 point, double *u, double *v);

// Every edge is shared by as many triangles in one direction as in the other.
bool mesh_is_closed(const Mesh *mesh);

typedef struct MeshMass {
    double volume;  // signed: negative when the surface is inside out
    Vec3 centre;    // centre of volume
    Mat3 inertia;   // about the centre, for density 1
    bool is_closed;
    bool is_solid;  // closed (or nearly), positive volume, positive definite inertia: fit to be a body
} MeshMass;
// Exact integrals over the enclosed volume by the divergence theorem.
void mesh_mass(const Mesh *mesh, MeshMass *mass);
double mesh_area(const Mesh *mesh);

// ---- bending ----

typedef struct MeshMotion {
    Mat3 m;
    Vec3 t;
} MeshMotion;
// A mesh that shares all but positions and normals with `rest`, which must outlive it.
void mesh_bend_init(Mesh *bent, const Mesh *rest);
void mesh_bend_deinit(Mesh *bent);
// Each vertex moves as its bones do, by their weights (linear blend skinning): one motion for each bone, from its rest.
void mesh_bend(Mesh *bent, const Mesh *rest, const MeshMotion *motions);

// ---- copies ----
Mesh *mesh_transformed(const Mesh *mesh, Vec3 scale,
                       Pose pose);     // scale first; a mirroring scale keeps the outside out
Mesh *mesh_flipped(const Mesh *mesh);  // the other side is outside
// The parts with that name (NULL: any) and material (-1: any). An empty mesh when there is none.
Mesh *mesh_filtered(const Mesh *mesh, const char *name, int material);

// ---- tessellation ----
// Z: as Webots since R2022a; Y: as VRML97, Choreonoid and older Webots files.
typedef enum MeshAxis { MESH_AXIS_Z, MESH_AXIS_Y } MeshAxis;
enum { MESH_CHOREONOID_DIVISIONS = 20, MESH_DIVISIONS_MAX = 1024 };

Mesh *mesh_box(Vec3 size);
Mesh *mesh_sphere_ico(double radius, int subdivision);  // 20 * 4^(subdivision - 1) triangles
Mesh *mesh_sphere_uv(double radius, int slices, int stacks, MeshAxis axis);

typedef struct MeshRound {
    double radius, height;  // of a capsule: of its cylindrical part
    int divisions;          // around
    MeshAxis axis;
    bool without_top, without_bottom, without_side;
} MeshRound;
Mesh *mesh_cylinder(const MeshRound *round);
Mesh *mesh_cone(const MeshRound *round);  // the tip at +height/2; has no top
Mesh *mesh_capsule(const MeshRound *round);
Mesh *mesh_plane(Vec2 size, MeshAxis axis);

typedef struct MeshGrid {
    int columns, rows;  // points along x and along y (or z)
    double column_spacing, row_spacing;
    const double *heights;  // heights[column + columns * row]; missing ones are 0
    int height_count;
    MeshAxis axis;
    double thickness;     // above 0: with sides and a bottom that deep below the lowest point
    double crease_angle;  // of its normals; 0: flat
    bool is_clockwise;
} MeshGrid;
// Each cell is cut along the diagonal from (column + 1, row) to (column, row + 1), as the collision of a height field
// is. NULL when it has fewer than 2 x 2 points or more cells than the limit allows.
Mesh *mesh_grid(const MeshGrid *grid, const Limits *limits);

// Polygons over shared points: IndexedFaceSet and its relatives. Index lists end each polygon with -1.
typedef struct MeshFaces {
    const double *points;  // 3 per point
    int point_count;
    const int32_t *indices;
    int index_count;
    bool are_triangles;     // indices are plain triples, without -1
    const double *normals;  // 3 each, NULL: from the crease angle
    int normal_count;
    const int32_t *normal_indices;  // NULL: as the points (or one per face)
    int normal_index_count;
    bool normals_per_face;
    const double *texcoords;  // 2 each, NULL: none
    int texcoord_count;
    const int32_t *texcoord_indices;  // NULL: as the points
    int texcoord_index_count;
    double crease_angle;
    bool is_clockwise;
} MeshFaces;
Mesh *mesh_faces(const MeshFaces *faces, const Limits *limits, MeshReport *report);

typedef struct MeshExtrusion {
    const double *section;  // 2 per point: x and z
    int section_count;
    const double *spine;  // 3 per point
    int spine_count;
    const double *orientations;  // 4 each (axis and angle): none, one for all, or one per spine point
    int orientation_count;
    const double *scales;  // 2 each, likewise
    int scale_count;
    double crease_angle;
    bool without_begin_cap, without_end_cap, is_clockwise;
} MeshExtrusion;
// As VRML97 clause 6.18 builds it. NULL when section or spine have fewer than 2 points.
Mesh *mesh_extrusion(const MeshExtrusion *extrusion, const Limits *limits, MeshReport *report);

#endif
