// tessellate.c - the primitives as triangles. Everything is built around +z; for +y the result is turned once.
#include "assets/mesh.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct Vertex {
    int index;
    Vec3 normal;
    double u, v;
} Vertex;

static void add_triangle(MeshBuilder *builder, Vertex a, Vertex b, Vertex c)
{
    int triangle = mesh_build_triangle(builder, a.index, b.index, c.index);
    const Vertex corners[3] = { a, b, c };
    float normals[9], texcoords[6];
    for (int k = 0; k < 3; k++) {
        normals[3 * k] = (float)corners[k].normal.x;
        normals[3 * k + 1] = (float)corners[k].normal.y;
        normals[3 * k + 2] = (float)corners[k].normal.z;
        texcoords[2 * k] = (float)corners[k].u;
        texcoords[2 * k + 1] = (float)corners[k].v;
    }
    mesh_build_normals(builder, triangle, normals);
    mesh_build_texcoords(builder, triangle, texcoords);
}

static void add_quad(MeshBuilder *builder, Vertex a, Vertex b, Vertex c, Vertex d)
{
    add_triangle(builder, a, b, c);
    add_triangle(builder, a, c, d);
}

// (x, y, z) of a shape along z becomes (x, z, -y): the same shape along y.
static Mesh *along_axis(Mesh *mesh, MeshAxis axis)
{
    if (axis == MESH_AXIS_Z)
        return mesh;
    for (size_t i = 0; i < (size_t)mesh->vertex_count; i++) {
        double *p = mesh->positions + 3 * i, y = p[1];
        p[1] = p[2];
        p[2] = 0.0 - y;
    }
    for (size_t i = 0; mesh->normals && i < 3 * (size_t)mesh->triangle_count; i++) {
        float *n = mesh->normals + 3 * i, y = n[1];
        n[1] = n[2];
        n[2] = 0.0f - y;
    }
    Vec3 low = mesh->low, high = mesh->high;
    mesh->low = vec3(low.x, low.z, 0.0 - high.y);
    mesh->high = vec3(high.x, high.z, 0.0 - low.y);
    return mesh;
}

static Mesh *finish(MeshBuilder *builder, MeshAxis axis)
{
    return along_axis(mesh_build_end(builder, NULL, NULL), axis);
}

Mesh *mesh_box(Vec3 size)
{
    static const int faces[6][4] = {
        // corner bits x, y, z; counter-clockwise from outside
        { 1, 3, 7, 5 }, { 2, 0, 4, 6 }, { 3, 2, 6, 7 }, { 0, 1, 5, 4 }, { 4, 5, 7, 6 }, { 2, 3, 1, 0 },
    };
    static const Vec3 normals[6] = { { 1, 0, 0 }, { -1, 0, 0 }, { 0, 1, 0 }, { 0, -1, 0 }, { 0, 0, 1 }, { 0, 0, -1 } };
    static const double corners[4][2] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 1 } };
    MeshBuilder builder = { 0 };
    for (int i = 0; i < 8; i++)
        mesh_build_vertex(&builder, vec3((i & 1 ? 0.5 : -0.5) * size.x, (i & 2 ? 0.5 : -0.5) * size.y,
                                         (i & 4 ? 0.5 : -0.5) * size.z));
    for (int f = 0; f < 6; f++) {
        Vertex v[4];
        for (int k = 0; k < 4; k++)
            v[k] = (Vertex){ faces[f][k], normals[f], corners[k][0], corners[k][1] };
        add_quad(&builder, v[0], v[1], v[2], v[3]);
    }
    return finish(&builder, MESH_AXIS_Z);
}

Mesh *mesh_plane(Vec2 size, MeshAxis axis)
{
    MeshBuilder builder = { 0 };
    Vertex v[4];
    for (int k = 0; k < 4; k++) {
        double u = k == 1 || k == 2, w = k >= 2;
        v[k] = (Vertex){
            mesh_build_vertex(&builder, vec3((u - 0.5) * size.x, (w - 0.5) * size.y, 0.0)), { 0, 0, 1 }, u, w
        };
    }
    add_quad(&builder, v[0], v[1], v[2], v[3]);
    return finish(&builder, axis);
}

// ---- spheres ----

static Vertex sphere_vertex(int index, Vec3 unit)
{
    double u = 0.5 + atan2(unit.y, unit.x) / (2.0 * M_PI);
    return (Vertex){ index, unit, u, acos(double_clamp(-unit.z, -1.0, 1.0)) / M_PI };
}

// Corners near the seam of the texture lie on different sides of it; those left of it are moved behind its right end.
static void mend_seam(Vertex v[3])
{
    double high = fmax(v[0].u, fmax(v[1].u, v[2].u));
    for (int k = 0; k < 3; k++)
        if (high - v[k].u > 0.5)
            v[k].u += 1.0;
}

typedef struct IcoSphere {
    MeshBuilder builder;
    double radius;
} IcoSphere;

static void split(IcoSphere *sphere, Vec3 a, Vec3 b, Vec3 c, int depth)
{
    assert_debug(depth >= 0);
    if (depth > 0) {
        Vec3 ab = vec3_normalized(vec3_add(a, b)), bc = vec3_normalized(vec3_add(b, c)),
             ca = vec3_normalized(vec3_add(c, a));
        split(sphere, a, ab, ca, depth - 1);
        split(sphere, ab, b, bc, depth - 1);
        split(sphere, ca, bc, c, depth - 1);
        split(sphere, ab, bc, ca, depth - 1);
        return;
    }
    Vec3 corners[3] = { a, b, c };
    Vertex v[3];
    for (int k = 0; k < 3; k++)
        v[k] = sphere_vertex(mesh_build_vertex(&sphere->builder, vec3_scale(corners[k], sphere->radius)), corners[k]);
    mend_seam(v);
    add_triangle(&sphere->builder, v[0], v[1], v[2]);
}

Mesh *mesh_sphere_ico(double radius, int subdivision)
{
    enum { SUBDIVISION_MAX = 7 };
    int depth = int_min(int_max(subdivision, 1), SUBDIVISION_MAX) - 1;
    double ring_z = 1.0 / sqrt(5.0), ring_r = 2.0 / sqrt(5.0);
    Vec3 upper[5], lower[5], top = vec3(0, 0, 1), bottom = vec3(0, 0, -1);
    for (int i = 0; i < 5; i++) {
        double at = 2.0 * M_PI * i / 5.0, between = at + M_PI / 5.0;
        upper[i] = vec3(ring_r * cos(at), ring_r * sin(at), ring_z);
        lower[i] = vec3(ring_r * cos(between), ring_r * sin(between), -ring_z);
    }
    IcoSphere sphere = { .radius = radius };
    for (int i = 0; i < 5; i++) {
        int next = (i + 1) % 5;
        split(&sphere, top, upper[i], upper[next], depth);
        split(&sphere, upper[i], lower[i], upper[next], depth);
        split(&sphere, upper[next], lower[i], lower[next], depth);
        split(&sphere, bottom, lower[next], lower[i], depth);
    }
    return finish(&sphere.builder, MESH_AXIS_Z);
}

// Rings of points around z that are joined to one surface: spheres, capsules, and the sides of cylinders and cones.
typedef struct Ring {
    double radius, z;
    double normal_radius, normal_z;
    double v;
} Ring;

static Vertex ring_vertex(const Ring *ring, const int *indices, int i, int divisions)
{
    assert_debug(i >= 0 && i <= divisions && divisions > 0);
    double c = cos(2.0 * M_PI * (i % divisions) / divisions), s = sin(2.0 * M_PI * (i % divisions) / divisions);
    int index = ring->radius == 0.0 ? indices[0] : indices[i % divisions];
    return (Vertex){
        index, { ring->normal_radius * c, ring->normal_radius * s, ring->normal_z }, (double)i / divisions, ring->v
    };
}

static void add_ring_points(MeshBuilder *builder, const Ring *ring, int divisions, int *indices)
{
    assert_debug(divisions > 0);
    for (int i = 0; i < (ring->radius == 0.0 ? 1 : divisions); i++) {
        double angle = 2.0 * M_PI * i / divisions;
        indices[i] = mesh_build_vertex(builder, vec3(ring->radius * cos(angle), ring->radius * sin(angle), ring->z));
    }
}

// From the lowest ring up.
static void add_rings(MeshBuilder *builder, const Ring *rings, int count, int divisions)
{
    assert_debug(count >= 2 && divisions > 0);
    int below[MESH_DIVISIONS_MAX], above[MESH_DIVISIONS_MAX];
    add_ring_points(builder, &rings[0], divisions, below);
    for (int r = 0; r + 1 < count; r++) {
        add_ring_points(builder, &rings[r + 1], divisions, above);
        for (int i = 0; i < divisions; i++) {
            Vertex a = ring_vertex(&rings[r], below, i, divisions), b = ring_vertex(&rings[r], below, i + 1, divisions);
            Vertex c = ring_vertex(&rings[r + 1], above, i + 1, divisions),
                   d = ring_vertex(&rings[r + 1], above, i, divisions);
            if (rings[r].radius == 0.0)
                add_triangle(builder, a, c, d);
            else if (rings[r + 1].radius == 0.0)
                add_triangle(builder, a, b, c);
            else
                add_quad(builder, a, b, c, d);
        }
        memcpy(below, above, sizeof below);
    }
}

static int clamped_divisions(int divisions, int min) { return int_min(int_max(divisions, min), MESH_DIVISIONS_MAX); }

Mesh *mesh_sphere_uv(double radius, int slices, int stacks, MeshAxis axis)
{
    slices = clamped_divisions(slices, 3);
    stacks = clamped_divisions(stacks, 2);
    Ring *rings = memory_alloc_array((size_t)stacks + 1, sizeof *rings);
    for (int i = 0; i <= stacks; i++) {
        double angle = M_PI * i / stacks;
        double sine = i == 0 || i == stacks ? 0.0 : sin(angle);
        rings[i] = (Ring){ radius * sine, -radius * cos(angle), sine, -cos(angle), (double)i / stacks };
    }
    MeshBuilder builder = { 0 };
    add_rings(&builder, rings, stacks + 1, slices);
    free(rings);
    return finish(&builder, axis);
}

// ---- cylinders and their kin ----

static void add_disc(MeshBuilder *builder, double radius, double z, int divisions, bool is_top)
{
    Vec3 normal = vec3(0, 0, is_top ? 1 : -1);
    Vertex centre = { mesh_build_vertex(builder, vec3(0, 0, z)), normal, 0.5, 0.5 };
    Vertex first = { 0 }, last = { 0 };
    for (int i = 0; i <= divisions; i++) {
        double angle = 2.0 * M_PI * i / divisions, c = cos(angle), s = sin(angle);
        Vertex v = first;
        if (i < divisions)
            v = (Vertex){ mesh_build_vertex(builder, vec3(radius * c, radius * s, z)), normal, 0.5 + 0.5 * c,
                          0.5 + (is_top ? 0.5 : -0.5) * s };
        if (i == 0)
            first = v;
        else if (is_top)
            add_triangle(builder, centre, last, v);
        else
            add_triangle(builder, centre, v, last);
        last = v;
    }
}

Mesh *mesh_cylinder(const MeshRound *round)
{
    int divisions = clamped_divisions(round->divisions, 3);
    double half = 0.5 * round->height;
    MeshBuilder builder = { 0 };
    const Ring rings[2] = { { round->radius, -half, 1, 0, 0 }, { round->radius, half, 1, 0, 1 } };
    if (!round->without_side)
        add_rings(&builder, rings, 2, divisions);
    if (!round->without_top)
        add_disc(&builder, round->radius, half, divisions, true);
    if (!round->without_bottom)
        add_disc(&builder, round->radius, -half, divisions, false);
    return finish(&builder, round->axis);
}

Mesh *mesh_cone(const MeshRound *round)
{
    int divisions = clamped_divisions(round->divisions, 3);
    double half = 0.5 * round->height, slant = hypot(round->radius, round->height);
    double nr = slant > 0.0 ? round->height / slant : 1.0, nz = slant > 0.0 ? round->radius / slant : 0.0;
    MeshBuilder builder = { 0 };
    const Ring rings[2] = { { round->radius, -half, nr, nz, 0 }, { 0.0, half, nr, nz, 1 } };
    if (!round->without_side)
        add_rings(&builder, rings, 2, divisions);
    if (!round->without_bottom)
        add_disc(&builder, round->radius, -half, divisions, false);
    return finish(&builder, round->axis);
}

Mesh *mesh_capsule(const MeshRound *round)
{
    int divisions = clamped_divisions(round->divisions, 3);
    int quarter = int_max(divisions / 4, 1);
    double half = 0.5 * round->height;
    Ring *rings = memory_alloc_array(2 * (size_t)quarter + 2, sizeof *rings);
    int count = 0;
    for (int side = 0; side < 2; side++) {
        bool is_top = side == 1, is_open = is_top ? round->without_top : round->without_bottom;
        for (int i = 0; i <= quarter; i++) {
            int step = is_top ? i : quarter - i;  // from the equator of this cap
            double angle = 0.5 * M_PI * step / quarter;
            double c = step == quarter ? 0.0 : cos(angle), s = sin(angle);
            if (is_open && step > 0)
                continue;
            double z = is_top ? half + round->radius * s : -half - round->radius * s;
            double share = (double)step / quarter;  // a third of the image for each end, one for the side
            rings[count++] = (Ring){ round->radius * c, z, c, is_top ? s : -s,
                                     (is_top ? 2.0 + share : 1.0 - share) / 3.0 };
        }
    }
    int bottom_rings = round->without_bottom ? 1 : quarter + 1;
    MeshBuilder builder = { 0 };
    if (round->without_side) {
        add_rings(&builder, rings, bottom_rings, divisions);
        add_rings(&builder, rings + bottom_rings, count - bottom_rings, divisions);
    } else {
        add_rings(&builder, rings, count, divisions);
    }
    free(rings);
    return finish(&builder, round->axis);
}

// ---- elevation grids ----

static double grid_height(const MeshGrid *grid, int column, int row)
{
    assert_debug(column >= 0 && column < grid->columns && row >= 0 && row < grid->rows);
    int64_t place = column + (int64_t)grid->columns * row;
    return place < grid->height_count ? grid->heights[place] : 0.0;
}

// The surface: x along columns, rows along y (z up) or along z (y up, which turns the other way round).
static void add_surface(MeshBuilder *builder, const MeshGrid *grid)
{
    int columns = grid->columns, rows = grid->rows;
    bool y_up = grid->axis == MESH_AXIS_Y;
    for (int row = 0; row < rows; row++) {
        for (int column = 0; column < columns; column++) {
            double x = column * grid->column_spacing, y = row * grid->row_spacing, h = grid_height(grid, column, row);
            mesh_build_vertex(builder, y_up ? vec3(x, h, y) : vec3(x, y, h));
        }
    }
    for (int row = 0; row + 1 < rows; row++) {
        for (int column = 0; column + 1 < columns; column++) {
            int a = column + columns * row, b = a + 1, c = a + columns, d = c + 1;
            float u0 = (float)column / (float)(columns - 1), u1 = (float)(column + 1) / (float)(columns - 1);
            float v0 = (float)row / (float)(rows - 1), v1 = (float)(row + 1) / (float)(rows - 1);
            if (y_up) {
                mesh_build_texcoords(builder, mesh_build_triangle(builder, a, c, b),
                                     (const float[6]){ u0, v0, u0, v1, u1, v0 });
                mesh_build_texcoords(builder, mesh_build_triangle(builder, d, b, c),
                                     (const float[6]){ u1, v1, u1, v0, u0, v1 });
            } else {
                mesh_build_texcoords(builder, mesh_build_triangle(builder, a, b, d),
                                     (const float[6]){ u0, v0, u1, v0, u1, v1 });
                mesh_build_texcoords(builder, mesh_build_triangle(builder, a, d, c),
                                     (const float[6]){ u0, v0, u1, v1, u0, v1 });
            }
        }
    }
}

static void add_wall(MeshBuilder *builder, int a, int b, int below, bool y_up)
{
    if (!y_up) {
        mesh_build_triangle(builder, a, b, b + below);
        mesh_build_triangle(builder, a, b + below, a + below);
    } else {
        mesh_build_triangle(builder, b, a, a + below);
        mesh_build_triangle(builder, b, a + below, b + below);
    }
}

// Sides and bottom, so that the ground is a solid block.
static void add_block(MeshBuilder *builder, const MeshGrid *grid)
{
    int columns = grid->columns, rows = grid->rows, below = columns * rows;
    bool y_up = grid->axis == MESH_AXIS_Y;
    double low = INFINITY;
    for (int i = 0; i < below; i++)
        low = fmin(low, builder->mesh.positions[3 * (size_t)i + (y_up ? 1 : 2)]);
    low -= grid->thickness;
    int surface = builder->mesh.triangle_count;
    for (int i = 0; i < below; i++) {
        Vec3 p = mesh_position(&builder->mesh, (uint32_t)i);
        mesh_build_vertex(builder, y_up ? vec3(p.x, low, p.z) : vec3(p.x, p.y, low));
    }
    for (int i = 0; i < surface; i++) {
        const uint32_t *t = builder->mesh.triangles + 3 * (size_t)i;
        mesh_build_triangle(builder, (int64_t)t[0] + below, (int64_t)t[2] + below, (int64_t)t[1] + below);
    }
    for (int column = 0; column + 1 < columns; column++) {
        add_wall(builder, column + 1, column, below, y_up);
        add_wall(builder, columns * (rows - 1) + column, columns * (rows - 1) + column + 1, below, y_up);
    }
    for (int row = 0; row + 1 < rows; row++) {
        add_wall(builder, columns * row, columns * (row + 1), below, y_up);
        add_wall(builder, columns * (row + 1) + columns - 1, columns * row + columns - 1, below, y_up);
    }
}

Mesh *mesh_grid(const MeshGrid *grid, const Limits *limits)
{
    limits = limits_or_default(limits);
    if (grid->columns < 2 || grid->rows < 2 || (int64_t)grid->columns * grid->rows > limits->mesh_vertices
        || (int64_t)(grid->columns - 1) * (grid->rows - 1) > limits->heightfield_cells)
        return NULL;
    MeshBuilder builder = { .vertex_limit = 2 * limits->mesh_vertices };
    add_surface(&builder, grid);
    if (grid->thickness > 0.0)
        add_block(&builder, grid);
    Mesh *mesh = mesh_build_end(&builder, NULL, NULL);
    mesh_compute_normals(mesh, grid->crease_angle);
    if (!grid->is_clockwise)
        return mesh;
    Mesh *flipped = mesh_flipped(mesh);
    mesh_destroy(mesh);
    return flipped;
}
