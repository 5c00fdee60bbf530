// convex.c - two convex solids: the axis of least overlap among face normals and crossed edges, then the points by
// clipping the face of one solid to the face of the other, or the closest points of two edges.
#include "physics/collide/convex.h"

#include "base/memory.h"
#include "physics/collide/collide_triangle.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FACES = 96, MAX_EDGES = 160, MAX_VERTICES = 128, MAX_CORNERS = 64 };

typedef struct Face {
    Vec3 normal;
    double offset;
    int first, count;
} Face;
typedef struct Edge {
    int from, to;
} Edge;

struct Convex {
    Vec3 *vertices;  // as given
    int vertex_count;
    Face *faces;
    int face_count;
    int *corners;  // of faces, counter-clockwise seen from outside
    Edge *edges;   // between two faces
    int edge_count;
    Vec3 center;
    Hull hull;  // all of this once more, for surfaces of triangles
    double (*hull_vertices)[3];
    HullFace *hull_faces;
    HullEdge *hull_edges;
};

// A solid in the world, for the pair at hand.
typedef struct Placed {
    const Convex *convex;
    Vec3 vertices[MAX_VERTICES];
    Vec3 normals[MAX_FACES];
    double offsets[MAX_FACES];
    Vec3 directions[MAX_EDGES];  // unit
    Vec3 center;
} Placed;

struct ConvexScratch {
    Placed placed[2];
};

ConvexScratch *convex_scratch_create(void) { return memory_alloc(sizeof(ConvexScratch)); }

void convex_scratch_destroy(ConvexScratch *scratch) { free(scratch); }

// Building

typedef struct Corner {
    int vertex;
    double angle;
} Corner;

static int by_angle(const void *a, const void *b)
{
    const Corner *x = a, *y = b;
    return x->angle < y->angle ? -1 : x->angle > y->angle ? 1 : (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

static void add_corners(Convex *convex, Face *face, const bool *is_member, int first)
{
    Corner corners[MAX_VERTICES];
    Vec3 center = VEC3_ZERO, u = vec3_orthogonal(face->normal), v = vec3_cross(face->normal, u);
    int count = 0;
    for (int i = 0; i < convex->vertex_count; i++) {
        if (!is_member[i])
            continue;
        corners[count++].vertex = i;
        center = vec3_add(center, convex->vertices[i]);
    }
    assert_debug(count >= 3 && count <= MAX_CORNERS);
    center = vec3_scale(center, 1.0 / count);
    for (int i = 0; i < count; i++) {
        Vec3 arm = vec3_sub(convex->vertices[corners[i].vertex], center);
        corners[i].angle = atan2(vec3_dot(arm, v), vec3_dot(arm, u));
    }
    qsort(corners, (size_t)count, sizeof *corners, by_angle);
    face->first = first;
    face->count = count;
    for (int i = 0; i < count; i++)
        convex->corners[first + i] = corners[i].vertex;
}

// Faces of coplanar triangles. False when a vertex lies outside of one: not convex.
static bool find_faces(Convex *convex, const Mesh *mesh, double tolerance)
{
    assert_debug(tolerance >= 0.0);
    int corner_count = 0;
    for (int t = 0; t < mesh->triangle_count; t++) {
        Vec3 normal = mesh_triangle_normal(mesh, t);
        if (vec3_length2(normal) < 0.5)
            continue;
        double offset = vec3_dot(normal, mesh_position(mesh, mesh->triangles[3 * (size_t)t]));
        bool is_known = false;
        for (int i = 0; i < convex->face_count && !is_known; i++)
            is_known = vec3_dot(convex->faces[i].normal, normal) > 1.0 - 1e-9
                       && fabs(convex->faces[i].offset - offset) <= tolerance;
        if (is_known)
            continue;
        bool is_member[MAX_VERTICES] = { false };
        int members = 0;
        for (int i = 0; i < convex->vertex_count; i++) {
            double height = vec3_dot(normal, convex->vertices[i]) - offset;
            if (height > tolerance)
                return false;
            is_member[i] = height >= -tolerance;
            members += is_member[i];
        }
        if (convex->face_count == MAX_FACES || members > MAX_CORNERS)
            return false;
        Face *face = &convex->faces[convex->face_count++];
        *face = (Face){ .normal = normal, .offset = offset };
        add_corners(convex, face, is_member, corner_count);
        corner_count += face->count;
    }
    return convex->face_count >= 4;
}

static bool find_edges(Convex *convex)
{
    for (int f = 0; f < convex->face_count; f++) {
        const Face *face = &convex->faces[f];
        for (int i = 0; i < face->count; i++) {
            int from = convex->corners[face->first + i], to = convex->corners[face->first + (i + 1) % face->count];
            if (from > to)
                continue;  // the neighbour has it the other way round
            if (convex->edge_count == MAX_EDGES)
                return false;
            convex->edges[convex->edge_count++] = (Edge){ from, to };
        }
    }
    return true;
}

static Convex *convex_create(int vertex_count)
{
    assert(vertex_count >= 4 && vertex_count <= MAX_VERTICES);
    Convex *convex = memory_alloc(sizeof *convex);
    convex->vertex_count = vertex_count;
    convex->vertices = memory_alloc_array((size_t)vertex_count, sizeof *convex->vertices);
    convex->faces = memory_alloc_array(MAX_FACES, sizeof *convex->faces);
    convex->corners = memory_alloc_array((size_t)MAX_FACES * MAX_CORNERS, sizeof *convex->corners);
    convex->edges = memory_alloc_array(MAX_EDGES, sizeof *convex->edges);
    return convex;
}

static void copy_vec3(Vec3 from, double to[3]) { to[0] = from.x, to[1] = from.y, to[2] = from.z; }

// The same solid as plain arrays, as the kernels on triangles read it.
static void make_hull(Convex *convex)
{
    convex->hull_vertices = memory_alloc_array((size_t)convex->vertex_count, sizeof *convex->hull_vertices);
    convex->hull_faces = memory_alloc_array((size_t)convex->face_count, sizeof *convex->hull_faces);
    convex->hull_edges = memory_alloc_array((size_t)convex->edge_count, sizeof *convex->hull_edges);
    for (int i = 0; i < convex->vertex_count; i++)
        copy_vec3(convex->vertices[i], convex->hull_vertices[i]);
    for (int i = 0; i < convex->face_count; i++) {
        const Face *face = &convex->faces[i];
        convex->hull_faces[i] =
            (HullFace){ .offset = face->offset, .corners = &convex->corners[face->first], .count = face->count };
        copy_vec3(face->normal, convex->hull_faces[i].normal);
    }
    for (int i = 0; i < convex->edge_count; i++) {
        Vec3 from = convex->vertices[convex->edges[i].from],
             along = vec3_sub(convex->vertices[convex->edges[i].to], from);
        copy_vec3(from, convex->hull_edges[i].from);
        copy_vec3(vec3_normalized(along), convex->hull_edges[i].direction);
        convex->hull_edges[i].length = vec3_length(along);
    }
    convex->hull = (Hull){ (const double(*)[3])convex->hull_vertices,
                           convex->hull_faces,
                           convex->hull_edges,
                           convex->vertex_count,
                           convex->face_count,
                           convex->edge_count,
                           { 0.0, 0.0, 0.0 } };
    for (int i = 0; i < convex->vertex_count; i++)
        for (int k = 0; k < 3; k++)
            convex->hull.half[k] = fmax(convex->hull.half[k], fabs(convex->hull_vertices[i][k]));
}

const Hull *convex_hull(const Convex *convex) { return &convex->hull; }

Convex *convex_from_mesh(const Mesh *mesh)
{
    assert(mesh);
    if (mesh->vertex_count < 4 || mesh->vertex_count > MAX_VERTICES || mesh->triangle_count > 4 * MAX_FACES
        || !mesh_is_closed(mesh))
        return NULL;
    Convex *convex = convex_create(mesh->vertex_count);
    double size = vec3_length(vec3_sub(mesh->high, mesh->low));
    for (int i = 0; i < mesh->vertex_count; i++) {
        convex->vertices[i] = mesh_position(mesh, (uint32_t)i);
        convex->center = vec3_mad(convex->center, convex->vertices[i], 1.0 / mesh->vertex_count);
    }
    if (find_faces(convex, mesh, 1e-7 * size) && find_edges(convex)) {
        int corners = convex->faces[convex->face_count - 1].first + convex->faces[convex->face_count - 1].count;
        convex->corners = memory_resize(convex->corners, (size_t)corners, sizeof *convex->corners);
        make_hull(convex);
        return convex;
    }
    convex_destroy(convex);
    return NULL;
}

Convex *convex_from_box(Vec3 size)
{
    Mesh *mesh = mesh_box(size);
    Convex *convex = convex_from_mesh(mesh);
    mesh_destroy(mesh);
    return convex;
}

void convex_destroy(Convex *convex)
{
    if (!convex)
        return;
    free(convex->vertices);
    free(convex->faces);
    free(convex->corners);
    free(convex->edges);
    free(convex->hull_vertices);
    free(convex->hull_faces);
    free(convex->hull_edges);
    free(convex);
}

// The axis of least overlap

static void place(Placed *out, const Convex *convex, Pose pose)
{
    assert_debug(convex->face_count <= MAX_FACES && convex->edge_count <= MAX_EDGES);
    out->convex = convex;
    for (int i = 0; i < convex->vertex_count; i++)
        out->vertices[i] = pose_apply(pose, convex->vertices[i]);
    for (int i = 0; i < convex->face_count; i++) {
        out->normals[i] = quat_rotate(pose.q, convex->faces[i].normal);
        out->offsets[i] = convex->faces[i].offset + vec3_dot(out->normals[i], pose.t);
    }
    for (int i = 0; i < convex->edge_count; i++)
        out->directions[i] = vec3_normalized(
            vec3_sub(out->vertices[convex->edges[i].to], out->vertices[convex->edges[i].from]));
    out->center = pose_apply(pose, convex->center);
}

static double lowest(const Placed *solid, Vec3 direction)
{
    double low = INFINITY;
    for (int i = 0; i < solid->convex->vertex_count; i++)
        low = fmin(low, vec3_dot(direction, solid->vertices[i]));
    return low;
}

// The face of `a` that `b` reaches least far behind; the distance is negative where they overlap.
static double best_face(const Placed *a, const Placed *b, int *face)
{
    double best = -INFINITY;
    for (int i = 0; i < a->convex->face_count && best <= 0.0; i++) {
        double distance = lowest(b, a->normals[i]) - a->offsets[i];
        if (distance <= best)
            continue;
        best = distance;
        *face = i;
    }
    return best;
}

// The pair of edges likewise; *normal points from `a` to `b`.
static double best_edges(const Placed *a, const Placed *b, int edges[2], Vec3 *normal)
{
    double best = -INFINITY;
    Vec3 apart = vec3_sub(b->center, a->center);
    for (int i = 0; i < a->convex->edge_count; i++) {
        for (int k = 0; k < b->convex->edge_count; k++) {
            Vec3 axis = vec3_cross(a->directions[i], b->directions[k]);
            double length = vec3_length(axis);
            if (length < 1e-3)
                continue;
            axis = vec3_scale(axis, vec3_dot(axis, apart) < 0.0 ? -1.0 / length : 1.0 / length);
            // Only edges that lie outermost along the axis can touch there.
            double reach_a = vec3_dot(axis, a->vertices[a->convex->edges[i].from]),
                   reach_b = vec3_dot(axis, b->vertices[b->convex->edges[k].from]);
            double distance = reach_b - reach_a;
            if (distance <= best || -lowest(a, vec3_neg(axis)) > reach_a + 1e-9 || lowest(b, axis) < reach_b - 1e-9)
                continue;
            best = distance;
            edges[0] = i;
            edges[1] = k;
            *normal = axis;
        }
    }
    return best;
}

// Points

static int clip(const Vec3 *polygon, int count, Vec3 normal, double offset, Vec3 *out)
{
    assert_debug(count >= 0 && count <= MAX_CORNERS + 1);
    int kept = 0;
    for (int i = 0; i < count; i++) {
        Vec3 from = polygon[i], to = polygon[(i + 1) % count];
        double d0 = vec3_dot(normal, from) - offset, d1 = vec3_dot(normal, to) - offset;
        if (d0 <= 0.0)
            out[kept++] = from;
        if ((d0 < 0.0 && d1 > 0.0) || (d0 > 0.0 && d1 < 0.0))
            out[kept++] = vec3_mad(from, vec3_sub(to, from), d0 / (d0 - d1));
    }
    return kept;
}

// Points of the face of `b` that looks most against face `face` of `a`, cut by the sides of that face.
static int face_points(const Placed *a, int face, const Placed *b, bool is_second, ConvexPoint *points)
{
    assert_debug(face >= 0 && face < a->convex->face_count);
    Vec3 normal = a->normals[face];
    int facing = 0;
    for (int i = 1; i < b->convex->face_count; i++)
        if (vec3_dot(b->normals[i], normal) < vec3_dot(b->normals[facing], normal))
            facing = i;
    Vec3 buffers[2][2 * MAX_CORNERS + 2];
    int count = b->convex->faces[facing].count, now = 0;
    for (int i = 0; i < count; i++)
        buffers[0][i] = b->vertices[b->convex->corners[b->convex->faces[facing].first + i]];
    const Face *reference = &a->convex->faces[face];
    for (int i = 0; i < reference->count && count > 0; i++) {
        Vec3 from = a->vertices[a->convex->corners[reference->first + i]],
             to = a->vertices[a->convex->corners[reference->first + (i + 1) % reference->count]];
        Vec3 side = vec3_normalized(vec3_cross(vec3_sub(to, from), normal));
        if (count > MAX_CORNERS + 1)
            break;
        count = clip(buffers[now], count, side, vec3_dot(side, from), buffers[1 - now]);
        now = 1 - now;
    }
    int kept = 0;
    for (int i = 0; i < count && kept < CONVEX_POINTS; i++) {
        double depth = a->offsets[face] - vec3_dot(normal, buffers[now][i]);
        if (depth < 0.0)
            continue;
        points[kept++] = (ConvexPoint){ vec3_mad(buffers[now][i], normal, 0.5 * depth),
                                        is_second ? normal : vec3_neg(normal), depth };
    }
    return kept;
}

static int edge_point(const Placed *a, const Placed *b, const int edges[2], Vec3 normal, double distance,
                      ConvexPoint *point)
{
    assert_debug(edges[0] < a->convex->edge_count && edges[1] < b->convex->edge_count);
    Vec3 p = a->vertices[a->convex->edges[edges[0]].from], q = b->vertices[b->convex->edges[edges[1]].from];
    Vec3 u = a->directions[edges[0]], v = b->directions[edges[1]], w = vec3_sub(p, q);
    double cosine = vec3_dot(u, v), determinant = 1.0 - cosine * cosine;
    double s = determinant > 1e-9 ? (cosine * vec3_dot(v, w) - vec3_dot(u, w)) / determinant : 0.0;
    double length = vec3_distance(p, a->vertices[a->convex->edges[edges[0]].to]);
    if (s < -1e-6 || s > length + 1e-6)
        return 0;
    Vec3 on_a = vec3_mad(p, u, s);
    *point = (ConvexPoint){ vec3_mad(on_a, normal, 0.5 * distance), vec3_neg(normal), -distance };
    return 1;
}

int convex_collide(const Convex *first, Pose pose_a, const Convex *second, Pose pose_b, ConvexScratch *scratch,
                   ConvexPoint points[CONVEX_POINTS])
{
    assert(first && second && scratch);
    Placed *a = &scratch->placed[0], *b = &scratch->placed[1];
    place(a, first, pose_a);
    place(b, second, pose_b);
    int face_a = 0, face_b = 0, edges[2] = { 0, 0 };
    double distance_a = best_face(a, b, &face_a);
    if (distance_a > 0.0)
        return 0;
    double distance_b = best_face(b, a, &face_b);
    if (distance_b > 0.0)
        return 0;
    Vec3 normal = VEC3_ZERO;
    double distance_edges = best_edges(a, b, edges, &normal), face = fmax(distance_a, distance_b);
    if (distance_edges > 0.0)
        return 0;
    // Faces give several points and are preferred unless edges overlap clearly less.
    if (distance_edges > 0.9 * face + 1e-5 && edge_point(a, b, edges, normal, distance_edges, points))
        return 1;
    bool is_second = distance_b > distance_a + 1e-6;
    return is_second ? face_points(b, face_b, a, true, points) : face_points(a, face_a, b, false, points);
}
