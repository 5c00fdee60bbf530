// polygon.c - polygons to triangles, and the shapes that are made of polygons: face sets and extrusions.
#include "assets/mesh.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

// Ear clipping is quadratic. A mesh may spend this many point tests in all; then the rest is cut as fans.
#define CLIPPING_BUDGET ((int64_t)200000000)

typedef struct Corner {
    Vec2 p;
    int index;  // place in the polygon
    int previous, next;
} Corner;

static Vec3 polygon_point(const MeshBuilder *builder, int64_t vertex)
{
    return vertex >= 0 && vertex < builder->mesh.vertex_count ? mesh_position(&builder->mesh, (uint32_t)vertex)
                                                              : VEC3_ZERO;
}

// Newell's normal: exact for planar polygons, a fair mean for others.
static Vec3 polygon_normal(const MeshBuilder *builder, const int64_t *vertices, int count)
{
    assert_debug(vertices && count >= 3);
    Vec3 sum = VEC3_ZERO, origin = polygon_point(builder, vertices[0]);
    for (int i = 0; i < count; i++) {
        Vec3 a = vec3_sub(polygon_point(builder, vertices[i]), origin);
        Vec3 b = vec3_sub(polygon_point(builder, vertices[(i + 1) % count]), origin);
        sum = vec3_add(sum, vec3_cross(a, b));
    }
    return sum;
}

static double turn(Vec2 a, Vec2 b, Vec2 c) { return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x); }

// Drops the axis along which the polygon is widest seen, keeping its turn.
static void project(const MeshBuilder *builder, const int64_t *vertices, int count, Vec3 normal, Corner *corners)
{
    assert_debug(count >= 3);
    double ax = fabs(normal.x), ay = fabs(normal.y), az = fabs(normal.z);
    for (int i = 0; i < count; i++) {
        Vec3 v = polygon_point(builder, vertices[i]);
        Vec2 p;
        if (az >= ax && az >= ay)
            p = normal.z >= 0 ? (Vec2){ v.x, v.y } : (Vec2){ v.y, v.x };
        else if (ay >= ax)
            p = normal.y >= 0 ? (Vec2){ v.z, v.x } : (Vec2){ v.x, v.z };
        else
            p = normal.x >= 0 ? (Vec2){ v.y, v.z } : (Vec2){ v.z, v.y };
        corners[i] = (Corner){ p, i, (i + count - 1) % count, (i + 1) % count };
    }
}

static bool is_convex(const Corner *corners, int count)
{
    assert(count >= 3);
    int changes = 0;
    for (int i = 0; i < count; i++) {
        Vec2 a = corners[i].p, b = corners[(i + 1) % count].p, c = corners[(i + 2) % count].p;
        if (turn(a, b, c) < 0.0)
            return false;
        // A star turns left everywhere too; its x direction changes more than twice.
        double before = b.x - a.x, after = c.x - b.x;
        changes += (before < 0.0) != (after < 0.0);
    }
    return changes <= 2;
}

static bool is_inside(Vec2 p, Vec2 a, Vec2 b, Vec2 c)
{
    return turn(a, b, p) >= 0.0 && turn(b, c, p) >= 0.0 && turn(c, a, p) >= 0.0;
}

static bool same_point(Vec2 a, Vec2 b) { return a.x == b.x && a.y == b.y; }

static bool is_ear(const Corner *corners, int at, int64_t *budget)
{
    assert_debug(at >= 0);
    Vec2 a = corners[corners[at].previous].p, b = corners[at].p, c = corners[corners[at].next].p;
    if (turn(a, b, c) <= 0.0)
        return false;
    int end = corners[at].previous;
    for (int i = corners[corners[at].next].next; i != end; i = corners[i].next) {
        --*budget;
        Vec2 p = corners[i].p;
        // Only a corner that turns inwards can lie in the ear; corners that touch it (a bridge to a hole) do not count.
        if (turn(corners[corners[i].previous].p, p, corners[corners[i].next].p) <= 0.0 && !same_point(p, a)
            && !same_point(p, b) && !same_point(p, c) && is_inside(p, a, b, c))
            return false;
    }
    return true;
}

typedef struct TriangleSink {
    MeshBuilder *builder;
    const int64_t *vertices;
    int *corner_out;
    int count;
} TriangleSink;

static void cut(TriangleSink *sink, int a, int b, int c)
{
    assert_debug(a != b && b != c && a != c);
    mesh_build_triangle(sink->builder, sink->vertices[a], sink->vertices[b], sink->vertices[c]);
    if (sink->corner_out) {
        int *out = sink->corner_out + 3 * (size_t)sink->count;
        out[0] = a;
        out[1] = b;
        out[2] = c;
    }
    sink->count++;
}

static void clip_ears(TriangleSink *sink, Corner *corners, int count)
{
    assert_debug(count >= 3);
    MeshBuilder *builder = sink->builder;
    int left = count, at = 0, misses = 0;
    while (left > 3 && misses < left && builder->clipping_budget > 0) {
        int previous = corners[at].previous, next = corners[at].next;
        bool is_spike = turn(corners[previous].p, corners[at].p, corners[next].p) == 0.0;
        if (is_spike || is_ear(corners, at, &builder->clipping_budget)) {
            cut(sink, corners[previous].index, corners[at].index, corners[next].index);
            corners[previous].next = next;
            corners[next].previous = previous;
            left--;
            misses = 0;
            at = corners[next].next;  // skipping one keeps the triangles fat
        } else {
            at = next;
            misses++;
        }
    }
    if (left > 3)
        builder->report.bad_polygon++;
    int first = at;
    for (int second = corners[first].next; corners[second].next != first; second = corners[second].next)
        cut(sink, corners[first].index, corners[second].index, corners[corners[second].next].index);
}

// Convex ones become a fan; others are clipped ear by ear while the builder's budget lasts, as that takes squared time.
int mesh_build_polygon(MeshBuilder *builder, const int64_t *vertices, int count, int *corner_out, int *triangle_count)
{
    assert(count >= 0 && (vertices || count == 0));
    int first = builder->mesh.triangle_count;
    TriangleSink sink = { builder, vertices, corner_out, 0 };
    if (builder->clipping_budget == 0)
        builder->clipping_budget = CLIPPING_BUDGET;
    bool is_possible = count >= 3;
    for (int i = 0; is_possible && i < count; i++)
        is_possible = vertices[i] >= 0 && vertices[i] < builder->mesh.vertex_count;
    if (!is_possible) {
        builder->report.bad_index += count >= 3;
        builder->report.degenerate += count > 0 && count < 3;
    } else if (count == 3) {
        cut(&sink, 0, 1, 2);
    } else {
        Corner *corners = memory_alloc_array((size_t)count, sizeof *corners);
        project(builder, vertices, count, polygon_normal(builder, vertices, count), corners);
        if (!is_convex(corners, count) && builder->clipping_budget > 0) {
            clip_ears(&sink, corners, count);
        } else {
            for (int i = 1; i + 1 < count; i++)
                cut(&sink, 0, i, i + 1);
        }
        free(corners);
    }
    *triangle_count = sink.count;
    return first;
}

// ---- face sets ----

typedef struct FaceReader {
    const MeshFaces *faces;
    MeshBuilder builder;
    int64_t *vertices;  // of the polygon under way
    int *places;        // where in the index list each of its corners stands
    int *corners;
    int count, capacity, place_capacity, corner_capacity;
    bool bad_attributes;
} FaceReader;

// Index of the attribute of a corner: by its own list, else as the point's.
static int attribute_index(const int32_t *list, int list_count, int place, int point, int count)
{
    assert_debug(place >= 0 && count >= 0);
    int index = list ? (place < list_count ? list[place] : -1) : point;
    return index >= 0 && index < count ? index : -1;
}

static void add_normals(FaceReader *reader, int triangle, const int corners[3], int face)
{
    assert_debug(triangle >= 0 && face >= 0);
    const MeshFaces *faces = reader->faces;
    float normals[9] = { 0 };
    for (int k = 0; k < 3; k++) {
        int place = reader->places[corners[k]];
        int index = faces->normals_per_face ? attribute_index(faces->normal_indices, faces->normal_index_count, face,
                                                              face, faces->normal_count)
                                            : attribute_index(faces->normal_indices, faces->normal_index_count, place,
                                                              faces->indices[place], faces->normal_count);
        reader->bad_attributes |= index < 0;
        for (int i = 0; index >= 0 && i < 3; i++)
            normals[3 * k + i] = (float)(faces->is_clockwise ? -faces->normals[3 * index + i]
                                                             : faces->normals[3 * index + i]);
    }
    mesh_build_normals(&reader->builder, triangle, normals);
}

static void add_texcoords(FaceReader *reader, int triangle, const int corners[3])
{
    assert(triangle >= 0 && triangle < reader->builder.mesh.triangle_count);
    const MeshFaces *faces = reader->faces;
    float texcoords[6] = { 0 };
    for (int k = 0; k < 3; k++) {
        int place = reader->places[corners[k]];
        int index = attribute_index(faces->texcoord_indices, faces->texcoord_index_count, place, faces->indices[place],
                                    faces->texcoord_count);
        reader->bad_attributes |= index < 0;
        for (int i = 0; index >= 0 && i < 2; i++)
            texcoords[2 * k + i] = (float)faces->texcoords[2 * index + i];
    }
    mesh_build_texcoords(&reader->builder, triangle, texcoords);
}

static void end_polygon(FaceReader *reader, int face)
{
    int count = reader->count, triangle_count;
    reader->count = 0;
    if (count == 0)
        return;
    memory_grow(&reader->corners, &reader->corner_capacity, count, 3 * sizeof *reader->corners);
    int first = mesh_build_polygon(&reader->builder, reader->vertices, count, reader->corners, &triangle_count);
    bool has_room = reader->builder.mesh.triangle_count == first + triangle_count;
    for (int i = 0; has_room && i < triangle_count; i++) {
        if (reader->faces->normals)
            add_normals(reader, first + i, reader->corners + 3 * (size_t)i, face);
        if (reader->faces->texcoords)
            add_texcoords(reader, first + i, reader->corners + 3 * (size_t)i);
    }
}

static void add_corner(FaceReader *reader, int place)
{
    assert_debug(place >= 0 && place < reader->faces->index_count);
    memory_grow(&reader->vertices, &reader->capacity, reader->count + 1, sizeof *reader->vertices);
    memory_grow(&reader->places, &reader->place_capacity, reader->count + 1, sizeof *reader->places);
    reader->vertices[reader->count] = reader->faces->indices[place];
    reader->places[reader->count++] = place;
}

void mesh_default_texcoord(const Mesh *mesh, Vec3 point, double *u, double *v)
{
    const double low[3] = { mesh->low.x, mesh->low.y, mesh->low.z }, at[3] = { point.x, point.y, point.z };
    const double size[3] = { mesh->high.x - low[0], mesh->high.y - low[1], mesh->high.z - low[2] };
    int s = size[1] > size[0] ? 1 : 0, t;
    s = size[2] > size[s] ? 2 : s;
    t = s == 0 ? 1 : 0;
    for (int i = 0; i < 3; i++)
        if (i != s && size[i] >= size[t])
            t = i;
    double unit = size[s] > 0.0 ? 1.0 / size[s] : 0.0;
    *u = (at[s] - low[s]) * unit;
    *v = (at[t] - low[t]) * unit;
}

static void default_texcoords(Mesh *mesh)
{
    if (mesh->texcoords || mesh->triangle_count == 0)
        return;
    mesh->texcoords = memory_alloc_array((size_t)mesh->triangle_count, 6 * sizeof(float));
    for (size_t i = 0; i < 3 * (size_t)mesh->triangle_count; i++) {
        double u, v;
        mesh_default_texcoord(mesh, mesh_position(mesh, mesh->triangles[i]), &u, &v);
        mesh->texcoords[2 * i] = (float)u;
        mesh->texcoords[2 * i + 1] = (float)v;
    }
}

static Mesh *turned(Mesh *mesh, bool is_clockwise)
{
    if (!is_clockwise)
        return mesh;
    Mesh *flipped = mesh_flipped(mesh);
    mesh_destroy(mesh);
    return flipped;
}

// Faces are cut one by one as their index list ends; a wrong index costs its face alone.
Mesh *mesh_faces(const MeshFaces *faces, const Limits *limits, MeshReport *report)
{
    assert_debug(faces->points || faces->point_count == 0);
    FaceReader reader = { .faces = faces, .builder = { .vertex_limit = limits_or_default(limits)->mesh_vertices } };
    for (int i = 0; i < faces->point_count; i++) {
        const double *p = faces->points + 3 * (size_t)i;
        if (mesh_build_vertex(&reader.builder, vec3(p[0], p[1], p[2])) < 0)
            break;
    }
    int face = 0;
    for (int i = 0; i < faces->index_count; i++) {
        if (faces->indices[i] != -1 || faces->are_triangles)
            add_corner(&reader, i);
        else
            end_polygon(&reader, face++);
        if (faces->are_triangles && reader.count == 3)
            end_polygon(&reader, face++);
    }
    end_polygon(&reader, face);
    free(reader.vertices);
    free(reader.places);
    free(reader.corners);
    reader.builder.report.bad_normal += reader.bad_attributes;
    Mesh *mesh = mesh_build_end(&reader.builder, NULL, report);
    if (!faces->normals)
        mesh_compute_normals(mesh, faces->crease_angle);
    default_texcoords(mesh);
    return turned(mesh, faces->is_clockwise);
}

// ---- extrusions ----

static Vec3 spine_point(const MeshExtrusion *extrusion, int i)
{
    assert_debug(i >= 0 && i < extrusion->spine_count);
    const double *p = extrusion->spine + 3 * (size_t)i;
    return vec3(p[0], p[1], p[2]);
}

typedef struct SpineFrame {
    Vec3 x, y, z;
} SpineFrame;

static bool is_zero(Vec3 v) { return vec3_length2(v) < 1e-24; }

// The direction of the spine at each point.
static void spine_tangents(const MeshExtrusion *extrusion, bool closed, SpineFrame *frames)
{
    assert(extrusion->spine_count >= 2);
    int count = extrusion->spine_count;
    for (int i = 0; i < count; i++) {
        int before = i > 0 ? i - 1 : closed ? count - 2 : 0;
        int after = i < count - 1 ? i + 1 : closed ? 1 : count - 1;
        frames[i].y = vec3_normalized(vec3_sub(spine_point(extrusion, after), spine_point(extrusion, before)));
    }
    for (int i = 1; i < count; i++)
        if (is_zero(frames[i].y))
            frames[i].y = frames[i - 1].y;
    for (int i = count - 2; i >= 0; i--)
        if (is_zero(frames[i].y))
            frames[i].y = frames[i + 1].y;
}

static void spine_normals(const MeshExtrusion *extrusion, bool closed, SpineFrame *frames)
{
    int count = extrusion->spine_count, first = -1;
    for (int i = 0; i < count; i++) {
        frames[i].z = VEC3_ZERO;
        bool is_end = i == 0 || i == count - 1;
        if (is_end && !closed)
            continue;
        int before = is_end ? count - 2 : i - 1, after = is_end ? 1 : i + 1;
        Vec3 here = spine_point(extrusion, i);
        Vec3 cross = vec3_cross(vec3_sub(spine_point(extrusion, after), here),
                                vec3_sub(spine_point(extrusion, before), here));
        double scale = vec3_distance(spine_point(extrusion, after), here)
                       * vec3_distance(spine_point(extrusion, before), here);
        if (vec3_length(cross) > 1e-9 * scale)
            frames[i].z = vec3_normalized(cross);
        if (first < 0 && !is_zero(frames[i].z))
            first = i;
    }
    if (first < 0) {  // a straight spine: the cross section is turned from +y to its direction
        Quat q = is_zero(frames[0].y) ? QUAT_IDENTITY : quat_between(vec3(0, 1, 0), frames[0].y);
        for (int i = 0; i < count; i++)
            frames[i].z = quat_rotate(q, vec3(0, 0, 1));
        return;
    }
    for (int i = 0; i < first; i++)
        frames[i].z = frames[first].z;
    for (int i = first + 1; i < count; i++) {
        if (is_zero(frames[i].z))
            frames[i].z = frames[i - 1].z;
        if (vec3_dot(frames[i].z, frames[i - 1].z) < 0.0)
            frames[i].z = vec3_neg(frames[i].z);
    }
}

static SpineFrame *spine_frames(const MeshExtrusion *extrusion, bool closed)
{
    assert(extrusion->spine_count >= 2);
    SpineFrame *frames = memory_alloc_array((size_t)extrusion->spine_count, sizeof *frames);
    spine_tangents(extrusion, closed, frames);
    if (is_zero(frames[0].y))
        for (int i = 0; i < extrusion->spine_count; i++)
            frames[i].y = vec3(0, 1, 0);
    spine_normals(extrusion, closed, frames);
    for (int i = 0; i < extrusion->spine_count; i++)
        frames[i].x = vec3_normalized(vec3_cross(frames[i].y, frames[i].z));
    return frames;
}

static const double *item(const double *list, int count, int i, int size)
{
    assert_debug(i >= 0 && size > 0);
    return count > 0 ? list + (size_t)size * (size_t)int_min(i, count - 1) : NULL;
}

static Vec3 extruded_point(const MeshExtrusion *extrusion, const SpineFrame *frame, int i, int k)
{
    assert_debug(i >= 0 && i < extrusion->spine_count && k >= 0 && k < extrusion->section_count);
    const double *scale = item(extrusion->scales, extrusion->scale_count, i, 2);
    const double *turn_by = item(extrusion->orientations, extrusion->orientation_count, i, 4);
    Vec3 p = vec3(extrusion->section[2 * k] * (scale ? scale[0] : 1.0), 0.0,
                  extrusion->section[2 * k + 1] * (scale ? scale[1] : 1.0));
    if (turn_by)
        p = quat_rotate(quat_from_axis_angle(vec3(turn_by[0], turn_by[1], turn_by[2]), turn_by[3]), p);
    Vec3 turned_p = vec3_add(vec3_add(vec3_scale(frame->x, p.x), vec3_scale(frame->y, p.y)), vec3_scale(frame->z, p.z));
    return vec3_add(spine_point(extrusion, i), turned_p);
}

static void add_side(MeshBuilder *builder, const MeshExtrusion *extrusion, int i, int k)
{
    assert(k >= 0 && k + 1 < extrusion->section_count && i >= 0 && i + 1 < extrusion->spine_count);
    int sections = extrusion->section_count;
    int a = i * sections + k, b = a + 1, c = a + sections, d = c + 1;
    float u0 = (float)k / (float)(sections - 1), u1 = (float)(k + 1) / (float)(sections - 1);
    float v0 = (float)i / (float)(extrusion->spine_count - 1),
          v1 = (float)(i + 1) / (float)(extrusion->spine_count - 1);
    int first = mesh_build_triangle(builder, a, d, c);
    mesh_build_texcoords(builder, first, (const float[6]){ u0, v0, u1, v1, u0, v1 });
    int second = mesh_build_triangle(builder, a, b, d);
    mesh_build_texcoords(builder, second, (const float[6]){ u0, v0, u1, v0, u1, v1 });
}

// The section may be concave, so the cap is a polygon; texture coordinates lie over its larger side, as VRML97 has
// it (6.18).
static void add_cap(MeshBuilder *builder, const MeshExtrusion *extrusion, int row, bool is_begin)
{
    assert_debug(row >= 0 && row < extrusion->spine_count && extrusion->section_count > 1);
    int sections = extrusion->section_count;
    const double *s = extrusion->section;
    bool closed = s[0] == s[2 * (sections - 1)] && s[1] == s[2 * (sections - 1) + 1];
    int count = sections - closed;
    if (count < 3)
        return;
    double low_x = s[0], low_z = s[1], size = 0.0;
    for (int k = 0; k < count; k++) {
        low_x = fmin(low_x, s[2 * k]);
        low_z = fmin(low_z, s[2 * k + 1]);
    }
    for (int k = 0; k < count; k++)
        size = fmax(size, fmax(s[2 * k] - low_x, s[2 * k + 1] - low_z));
    int64_t *vertices = memory_alloc_array((size_t)count, sizeof *vertices);
    int *corners = memory_alloc_array(3 * (size_t)count, sizeof *corners);
    for (int k = 0; k < count; k++)
        vertices[k] = row * (int64_t)sections + (is_begin ? count - 1 - k : k);
    int triangle_count, first = mesh_build_polygon(builder, vertices, count, corners, &triangle_count);
    for (int i = 0; i < triangle_count && first + triangle_count == builder->mesh.triangle_count; i++) {
        float uv[6];
        for (int k = 0; k < 3; k++) {
            int corner = is_begin ? count - 1 - corners[3 * i + k] : corners[3 * i + k];
            uv[2 * k] = (float)(size > 0.0 ? (s[2 * corner] - low_x) / size : 0.0);
            uv[2 * k + 1] = (float)(size > 0.0 ? (s[2 * corner + 1] - low_z) / size : 0.0);
        }
        mesh_build_texcoords(builder, first + i, uv);
    }
    free(corners);
    free(vertices);
}

Mesh *mesh_extrusion(const MeshExtrusion *extrusion, const Limits *limits, MeshReport *report)
{
    int sections = extrusion->section_count, points = extrusion->spine_count;
    int64_t max = limits_or_default(limits)->mesh_vertices;
    if (sections < 2 || points < 2 || (int64_t)sections * points > max)
        return NULL;
    bool closed = vec3_is_equal(spine_point(extrusion, 0), spine_point(extrusion, points - 1)) && points > 2;
    SpineFrame *frames = spine_frames(extrusion, closed);
    MeshBuilder builder = { .vertex_limit = max };
    for (int i = 0; i < points; i++)
        for (int k = 0; k < sections; k++)
            mesh_build_vertex(&builder, extruded_point(extrusion, &frames[i], i, k));
    free(frames);
    // A section that runs counter-clockwise as seen from the end of the spine has its outside out.
    for (int i = 0; i + 1 < points; i++)
        for (int k = 0; k + 1 < sections; k++)
            add_side(&builder, extrusion, i, k);
    if (!extrusion->without_begin_cap && !closed)
        add_cap(&builder, extrusion, 0, true);
    if (!extrusion->without_end_cap && !closed)
        add_cap(&builder, extrusion, points - 1, false);
    Mesh *mesh = mesh_build_end(&builder, NULL, report);
    mesh_compute_normals(mesh, extrusion->crease_angle);
    return turned(mesh, extrusion->is_clockwise);
}
