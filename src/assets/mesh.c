// mesh.c - triangle meshes: making, checking, normals, bounds.
#include "assets/mesh.h"

#include "base/hash.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void mesh_destroy(Mesh *mesh)
{
    if (!mesh)
        return;
    free(mesh->positions);
    free(mesh->triangles);
    free(mesh->normals);
    free(mesh->texcoords);
    for (int i = 0; i < mesh->part_count; i++)
        free(mesh->parts[i].name);
    free(mesh->parts);
    for (int i = 0; i < mesh->material_count; i++) {
        free(mesh->materials[i].name);
        free(mesh->materials[i].texture);
    }
    free(mesh->materials);
    for (int i = 0; i < mesh->bone_count; i++)
        free(mesh->bones[i].name);
    free(mesh->bones);
    free(mesh->influences);
    free(mesh);
}

size_t mesh_bytes(const Mesh *mesh)
{
    size_t triangles = (size_t)mesh->triangle_count;
    return sizeof *mesh + (size_t)mesh->vertex_count * 3 * sizeof(double) + triangles * 3 * sizeof(uint32_t)
           + (mesh->normals ? triangles * 9 * sizeof(float) : 0) + (mesh->texcoords ? triangles * 6 * sizeof(float) : 0)
           + (mesh->influences ? (size_t)mesh->vertex_count * sizeof *mesh->influences : 0);
}

uint64_t mesh_hash(const Mesh *mesh)
{
    uint64_t hash = hash_bytes(mesh->positions, (size_t)mesh->vertex_count * 3 * sizeof(double), 1);
    return hash_bytes(mesh->triangles, (size_t)mesh->triangle_count * 3 * sizeof(uint32_t), hash);
}

static Vec3 triangle_cross(const Mesh *mesh, int triangle)
{
    assert_debug(triangle >= 0 && triangle < mesh->triangle_count);
    const uint32_t *t = mesh->triangles + 3 * (size_t)triangle;
    Vec3 a = mesh_position(mesh, t[0]);
    return vec3_cross(vec3_sub(mesh_position(mesh, t[1]), a), vec3_sub(mesh_position(mesh, t[2]), a));
}

Vec3 mesh_triangle_normal(const Mesh *mesh, int triangle) { return vec3_normalized(triangle_cross(mesh, triangle)); }

double mesh_area(const Mesh *mesh)
{
    double area = 0.0;
    for (int i = 0; i < mesh->triangle_count; i++)
        area += 0.5 * vec3_length(triangle_cross(mesh, i));
    return area;
}

void mesh_report(const MeshReport *report, const char *what, DiagSink *diags, SourcePos pos)
{
    assert_debug(what);
    if (report->too_large)
        diag_warning(diags, pos, "%s has more vertices than the limit allows; the rest is left out", what);
    if (report->bad_index)
        diag_warning(diags, pos, "%s has %d face(s) with a vertex index that does not exist; dropped", what,
                     report->bad_index);
    if (report->not_finite)
        diag_warning(diags, pos, "%s has %d vertices that are not finite or too far away; their faces are dropped",
                     what, report->not_finite);
    if (report->bad_polygon)
        diag_warning(diags, pos, "%s has %d polygon(s) that cross themselves or have too many corners", what,
                     report->bad_polygon);
    if (report->bad_normal)
        diag_warning(diags, pos, "%s has normals or texture coordinates that do not fit its faces; ignored", what);
    if (report->degenerate)
        diag_note(diags, pos, "%s has %d triangle(s) without area; dropped", what, report->degenerate);
    if (report->duplicate)
        diag_note(diags, pos, "%s has %d triangle(s) that stand there twice; dropped", what, report->duplicate);
}

// ---- normals ----

// For each vertex the corners (3 * triangle + k) that lie there.
static void corners_of_vertices(const Mesh *mesh, uint32_t **starts_out, uint32_t **corners_out)
{
    assert_debug(mesh->vertex_count > 0 || mesh->triangle_count == 0);
    size_t corner_count = 3 * (size_t)mesh->triangle_count;
    uint32_t *starts = memory_alloc_array((size_t)mesh->vertex_count + 2, sizeof *starts);
    uint32_t *list = memory_alloc_raw(corner_count * sizeof *list + 1);
    for (size_t i = 0; i < corner_count; i++)
        starts[mesh->triangles[i] + 2]++;
    for (int i = 0; i < mesh->vertex_count; i++)
        starts[i + 2] += starts[i + 1];
    for (size_t i = 0; i < corner_count; i++)
        list[starts[mesh->triangles[i] + 1]++] = (uint32_t)i;
    *starts_out = starts;
    *corners_out = list;
}

static double corner_angle(const Mesh *mesh, uint32_t corner)
{
    assert_debug(corner < 3 * (uint32_t)mesh->triangle_count);
    uint32_t first = corner - corner % 3, k = corner % 3;
    Vec3 p = mesh_position(mesh, mesh->triangles[corner]);
    Vec3 a = vec3_sub(mesh_position(mesh, mesh->triangles[first + (k + 1) % 3]), p);
    Vec3 b = vec3_sub(mesh_position(mesh, mesh->triangles[first + (k + 2) % 3]), p);
    return atan2(vec3_length(vec3_cross(a, b)), vec3_dot(a, b));
}

void mesh_compute_normals(Mesh *mesh, double crease_angle)
{
    assert_debug(mesh->triangles || mesh->triangle_count == 0);
    free(mesh->normals);
    mesh->normals = NULL;
    if (!(crease_angle > 0.0) || mesh->triangle_count == 0)
        return;
    enum { NEIGHBOURS_MAX = 256 };  // a fan of more faces counts as flat there: the work stays linear
    uint32_t *starts, *list;
    corners_of_vertices(mesh, &starts, &list);
    Vec3 *faces = memory_alloc_raw(memory_product((size_t)mesh->triangle_count, sizeof *faces));
    double *angles = memory_alloc_raw(memory_product(3 * (size_t)mesh->triangle_count, sizeof *angles));
    for (int i = 0; i < mesh->triangle_count; i++)
        faces[i] = mesh_triangle_normal(mesh, i);
    for (uint32_t i = 0; i < 3 * (uint32_t)mesh->triangle_count; i++)
        angles[i] = corner_angle(mesh, i);
    mesh->normals = memory_alloc_raw(memory_product((size_t)mesh->triangle_count, 9 * sizeof(float)));
    double min = crease_angle >= M_PI ? -2.0 : cos(crease_angle) - 1e-9;
    for (int v = 0; v < mesh->vertex_count; v++) {
        uint32_t begin = starts[v], end = starts[v + 1];
        for (uint32_t i = begin; i < end; i++) {
            Vec3 own = faces[list[i] / 3], sum = VEC3_ZERO;
            for (uint32_t k = begin; k < end && end - begin <= NEIGHBOURS_MAX; k++) {
                Vec3 other = faces[list[k] / 3];
                if (vec3_dot(own, other) >= min)
                    sum = vec3_mad(sum, other, angles[list[k]]);
            }
            Vec3 normal = vec3_length2(sum) > 1e-20 ? vec3_normalized(sum) : own;
            float *out = mesh->normals + 3 * (size_t)list[i];
            out[0] = (float)normal.x;
            out[1] = (float)normal.y;
            out[2] = (float)normal.z;
        }
    }
    free(angles);
    free(faces);
    free(list);
    free(starts);
}

// ---- questions ----

static int by_edge(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

// Edges as (low << 32 | high) with the direction in the last bit of the low half's shift: sorted, the runs must
// balance.
bool mesh_is_closed(const Mesh *mesh)
{
    assert_debug(mesh->triangles || mesh->triangle_count == 0);
    if (mesh->triangle_count == 0)
        return false;
    size_t count = 3 * (size_t)mesh->triangle_count;
    uint64_t *edges = memory_alloc_raw(memory_product(count, sizeof *edges));
    for (size_t i = 0; i < count; i++) {
        uint64_t a = mesh->triangles[i], b = mesh->triangles[i - i % 3 + (i + 1) % 3];
        // Vertex counts stay far below 2^31, which leaves the lowest bit free.
        edges[i] = a < b ? a << 33 | b << 1 : b << 33 | a << 1 | 1;
    }
    qsort(edges, count, sizeof *edges, by_edge);
    bool closed = true;
    for (size_t i = 0; i < count && closed;) {
        int64_t balance = 0;
        uint64_t edge = edges[i] >> 1;
        for (; i < count && edges[i] >> 1 == edge; i++)
            balance += edges[i] & 1 ? 1 : -1;
        closed = balance == 0;
    }
    free(edges);
    return closed;
}

// Integrals of 1, x, y, z, xx, yy, zz, xy, yz, zx over the volume.
typedef struct Moments {
    double m[10];
} Moments;

static void add_tetrahedron(Moments *sum, Vec3 a, Vec3 b, Vec3 c)
{
    double six_volume = vec3_dot(a, vec3_cross(b, c));
    Vec3 s = vec3_add(vec3_add(a, b), c);
    sum->m[0] += six_volume;
    sum->m[1] += six_volume * s.x;
    sum->m[2] += six_volume * s.y;
    sum->m[3] += six_volume * s.z;
    sum->m[4] += six_volume * (s.x * s.x + a.x * a.x + b.x * b.x + c.x * c.x);
    sum->m[5] += six_volume * (s.y * s.y + a.y * a.y + b.y * b.y + c.y * c.y);
    sum->m[6] += six_volume * (s.z * s.z + a.z * a.z + b.z * b.z + c.z * c.z);
    sum->m[7] += six_volume * (s.x * s.y + a.x * a.y + b.x * b.y + c.x * c.y);
    sum->m[8] += six_volume * (s.y * s.z + a.y * a.z + b.y * b.z + c.y * c.z);
    sum->m[9] += six_volume * (s.z * s.x + a.z * a.x + b.z * b.x + c.z * c.x);
}

void mesh_mass(const Mesh *mesh, MeshMass *mass)
{
    assert_debug(mass);
    *mass = (MeshMass){ .is_closed = mesh_is_closed(mesh) };
    Vec3 origin = vec3_scale(vec3_add(mesh->low, mesh->high), 0.5);  // near the centre: no cancellation far from zero
    Moments sum = { { 0 } };
    for (int i = 0; i < mesh->triangle_count; i++) {
        const uint32_t *t = mesh->triangles + 3 * (size_t)i;
        add_tetrahedron(&sum, vec3_sub(mesh_position(mesh, t[0]), origin), vec3_sub(mesh_position(mesh, t[1]), origin),
                        vec3_sub(mesh_position(mesh, t[2]), origin));
    }
    double volume = sum.m[0] / 6.0;
    mass->volume = volume;
    mass->centre = origin;
    Vec3 extent = vec3_sub(mesh->high, mesh->low);
    if (!isfinite(volume) || fabs(volume) <= 1e-12 * extent.x * extent.y * extent.z || volume == 0.0)
        return;
    Vec3 c = vec3_scale(vec3(sum.m[1], sum.m[2], sum.m[3]), 1.0 / (24.0 * volume));
    double xx = sum.m[4] / 120.0 - volume * c.x * c.x, yy = sum.m[5] / 120.0 - volume * c.y * c.y;
    double zz = sum.m[6] / 120.0 - volume * c.z * c.z, xy = sum.m[7] / 120.0 - volume * c.x * c.y;
    double yz = sum.m[8] / 120.0 - volume * c.y * c.z, zx = sum.m[9] / 120.0 - volume * c.z * c.x;
    mass->centre = vec3_add(origin, c);
    mass->inertia = (Mat3){ { yy + zz, -xy, -zx, -xy, xx + zz, -yz, -zx, -yz, xx + yy } };
    mass->is_solid = volume > 0.0 && mat3_is_positive_definite(mass->inertia);
}

// ---- bending ----

void mesh_bend_init(Mesh *bent, const Mesh *rest)
{
    assert(rest->influences);
    *bent = *rest;
    bent->positions = memory_alloc_array(3 * (size_t)rest->vertex_count, sizeof *bent->positions);
    memcpy(bent->positions, rest->positions, 3 * (size_t)rest->vertex_count * sizeof *bent->positions);
    if (!rest->normals)
        return;
    bent->normals = memory_alloc_array(9 * (size_t)rest->triangle_count, sizeof *bent->normals);
    memcpy(bent->normals, rest->normals, 9 * (size_t)rest->triangle_count * sizeof *bent->normals);
}

void mesh_bend_deinit(Mesh *bent)
{
    free(bent->positions);
    free(bent->normals);
    *bent = (Mesh){ 0 };
}

// The mean motion of the bones of a vertex; false: it has none.
static bool blend(const MeshInfluence *influence, const MeshMotion *motions, MeshMotion *out)
{
    *out = (MeshMotion){ 0 };
    for (int i = 0; i < MESH_INFLUENCES && influence->weights[i] > 0.0f; i++) {
        const MeshMotion *motion = &motions[influence->bones[i]];
        out->m = mat3_add(out->m, mat3_scale(motion->m, (double)influence->weights[i]));
        out->t = vec3_mad(out->t, motion->t, (double)influence->weights[i]);
    }
    return influence->weights[0] > 0.0f;
}

static void bend_normal(const MeshMotion *motion, const float *from, float *to)
{
    Vec3 n = vec3_normalized(mat3_apply(motion->m, vec3((double)from[0], (double)from[1], (double)from[2])));
    to[0] = (float)n.x, to[1] = (float)n.y, to[2] = (float)n.z;
}

void mesh_bend(Mesh *bent, const Mesh *rest, const MeshMotion *motions)
{
    assert_debug(bent->vertex_count == rest->vertex_count && rest->influences && motions);
    MeshMotion motion;
    for (int i = 0; i < rest->vertex_count; i++) {
        Vec3 p = mesh_position(rest, (uint32_t)i);
        if (blend(&rest->influences[i], motions, &motion))
            p = vec3_add(mat3_apply(motion.m, p), motion.t);
        double *to = bent->positions + 3 * (size_t)i;
        to[0] = p.x, to[1] = p.y, to[2] = p.z;
        bent->low = i == 0 ? p : vec3(fmin(bent->low.x, p.x), fmin(bent->low.y, p.y), fmin(bent->low.z, p.z));
        bent->high = i == 0 ? p : vec3(fmax(bent->high.x, p.x), fmax(bent->high.y, p.y), fmax(bent->high.z, p.z));
    }
    for (size_t i = 0; rest->normals && i < 3 * (size_t)rest->triangle_count; i++)
        if (blend(&rest->influences[rest->triangles[i]], motions, &motion))
            bend_normal(&motion, rest->normals + 3 * i, bent->normals + 3 * i);
}
