// mesh_build.c - meshes from vertices and triangles of any origin: gathered, then welded, cleaned and trimmed; changed
// copies.
#include "assets/mesh.h"

#include "base/hash.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

// ---- building ----

static int64_t vertex_limit(const MeshBuilder *builder)
{
    return builder->vertex_limit > 0 ? builder->vertex_limit : limits_default.mesh_vertices;
}

int mesh_build_vertex(MeshBuilder *builder, Vec3 position)
{
    Mesh *mesh = &builder->mesh;
    if (mesh->vertex_count >= vertex_limit(builder)) {
        builder->report.too_large = true;
        return -1;
    }
    memory_grow(&mesh->positions, &builder->vertex_capacity, mesh->vertex_count + 1, 3 * sizeof(double));
    double *place = mesh->positions + 3 * (size_t)mesh->vertex_count;
    place[0] = position.x + 0.0;  // -0 becomes 0, so that equal points have equal bytes
    place[1] = position.y + 0.0;
    place[2] = position.z + 0.0;
    return mesh->vertex_count++;
}

static uint32_t checked_index(int64_t index) { return index < 0 || index >= UINT32_MAX ? UINT32_MAX : (uint32_t)index; }

int mesh_build_triangle(MeshBuilder *builder, int64_t a, int64_t b, int64_t c)
{
    Mesh *mesh = &builder->mesh;
    assert(mesh->triangle_count >= 0);
    if (mesh->triangle_count >= 3 * vertex_limit(builder)) {
        builder->report.too_large = true;
        return mesh->triangle_count - 1;
    }
    memory_grow(&mesh->triangles, &builder->triangle_capacity, mesh->triangle_count + 1, 3 * sizeof(uint32_t));
    uint32_t *t = mesh->triangles + 3 * (size_t)mesh->triangle_count;
    t[0] = checked_index(a);
    t[1] = checked_index(b);
    t[2] = checked_index(c);
    if (mesh->part_count > 0)
        mesh->parts[mesh->part_count - 1].triangle_count++;
    return mesh->triangle_count++;
}

// Room for the corners of all triangles so far; new ones are zero, which mesh_build_end takes as "not given".
static float *corners(float **data, int *capacity, int triangle_count, int floats)
{
    assert_debug(triangle_count >= 0 && floats > 0);
    int before = *capacity;
    memory_grow(data, capacity, triangle_count, (size_t)floats * sizeof(float));
    if (*capacity > before)
        memset(*data + (size_t)before * (size_t)floats, 0,
               (size_t)(*capacity - before) * (size_t)floats * sizeof(float));
    return *data;
}

void mesh_build_normals(MeshBuilder *builder, int triangle, const float normals[9])
{
    assert_debug(triangle >= 0 && triangle < builder->mesh.triangle_count);
    float *all = corners(&builder->mesh.normals, &builder->normal_capacity, builder->mesh.triangle_count, 9);
    memcpy(all + 9 * (size_t)triangle, normals, 9 * sizeof(float));
}

void mesh_build_texcoords(MeshBuilder *builder, int triangle, const float texcoords[6])
{
    assert_debug(triangle >= 0 && triangle < builder->mesh.triangle_count);
    float *all = corners(&builder->mesh.texcoords, &builder->texcoord_capacity, builder->mesh.triangle_count, 6);
    memcpy(all + 6 * (size_t)triangle, texcoords, 6 * sizeof(float));
}

static char *copy_text(const char *text) { return text ? memory_string(text) : NULL; }

int mesh_build_material(MeshBuilder *builder, const MeshMaterial *material)
{
    assert_debug(material);
    Mesh *mesh = &builder->mesh;
    memory_grow(&mesh->materials, &builder->material_capacity, mesh->material_count + 1, sizeof *mesh->materials);
    MeshMaterial *copy = &mesh->materials[mesh->material_count];
    *copy = *material;
    copy->name = memory_string(material->name ? material->name : "");
    copy->texture = copy_text(material->texture);
    return mesh->material_count++;
}

int mesh_build_bone(MeshBuilder *builder, const char *name, int parent, Pose rest)
{
    assert(name);
    Mesh *mesh = &builder->mesh;
    if (mesh->bone_count >= MESH_BONES_MAX)
        return -1;
    memory_grow(&mesh->bones, &builder->bone_capacity, mesh->bone_count + 1, sizeof *mesh->bones);
    mesh->bones[mesh->bone_count] = (MeshBone){ memory_string(name),
                                                parent >= 0 && parent < mesh->bone_count ? parent : -1,
                                                pose_is_finite(rest) ? rest : POSE_IDENTITY };
    return mesh->bone_count++;
}

// Weights that count come first, of bones that exist, with the sum 1.
static MeshInfluence cleaned(const MeshInfluence *influence, int bone_count)
{
    assert(bone_count >= 0 && bone_count <= MESH_BONES_MAX);
    MeshInfluence out = { 0 };
    float sum = 0.0f;
    int count = 0;
    for (int i = 0; i < MESH_INFLUENCES; i++)
        if (influence->bones[i] < bone_count && influence->weights[i] > 0.0f && influence->weights[i] <= 1e6f) {
            out.bones[count] = influence->bones[i];
            out.weights[count++] = influence->weights[i];
            sum += influence->weights[i];
        }
    for (int i = 0; i < count; i++)
        out.weights[i] /= sum;
    return out;
}

// For all vertices so far; new ones follow no bone.
static void influence_room(MeshBuilder *builder)
{
    Mesh *mesh = &builder->mesh;
    int before = builder->influence_capacity;
    memory_grow(&mesh->influences, &builder->influence_capacity, mesh->vertex_count, sizeof *mesh->influences);
    if (builder->influence_capacity > before)
        memset(mesh->influences + before, 0, (size_t)(builder->influence_capacity - before) * sizeof *mesh->influences);
}

void mesh_build_influence(MeshBuilder *builder, int vertex, const MeshInfluence *influence)
{
    assert(vertex >= 0 && vertex < builder->mesh.vertex_count);
    influence_room(builder);
    builder->mesh.influences[vertex] = cleaned(influence, builder->mesh.bone_count);
}

void mesh_build_part(MeshBuilder *builder, const char *name, int material)
{
    assert_debug(material >= -1);
    Mesh *mesh = &builder->mesh;
    if (mesh->part_count == 0 && mesh->triangle_count > 0) {
        memory_grow(&mesh->parts, &builder->part_capacity, 1, sizeof *mesh->parts);
        mesh->parts[mesh->part_count++] = (MeshPart){ memory_string(""), 0, mesh->triangle_count, -1 };
    }
    *memory_push(mesh->parts, mesh->part_count, builder->part_capacity) =
        (MeshPart){ memory_string(name ? name : ""), mesh->triangle_count, 0, material };
}

void mesh_build_cancel(MeshBuilder *builder)
{
    Mesh *mesh = memory_alloc(sizeof *mesh);
    *mesh = builder->mesh;
    mesh_destroy(mesh);
    *builder = (MeshBuilder){ 0 };
}

// ---- finishing ----

static bool is_usable(const double *p)
{
    for (int i = 0; i < 3; i++)
        if (!(fabs(p[i]) <= LIMIT_COORDINATE))
            return false;
    return true;
}

static uint32_t table_size(int64_t count)
{
    uint32_t size = 16;
    while (size < 2 * count)
        size *= 2;
    return size;
}

static uint64_t hash_position(const double *p)
{
    uint64_t bits[3];
    memcpy(bits, p, sizeof bits);
    uint64_t hash = bits[0] * 0x9e3779b97f4a7c15u ^ bits[1] * 0xc2b2ae3d27d4eb4fu ^ bits[2] * 0x165667b19e3779f9u;
    hash ^= hash >> 32;
    hash *= 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 29);
}

// Gives every vertex the index of the first one at its place; unusable ones get UINT32_MAX. Moves the kept ones
// together.
static uint32_t *weld(Mesh *mesh, bool keep_all, MeshReport *report)
{
    assert_debug(report);
    uint32_t *remap = memory_alloc_raw(memory_product((size_t)mesh->vertex_count, sizeof *remap) + 1);
    uint32_t mask = table_size(mesh->vertex_count) - 1;
    uint32_t *table = keep_all ? NULL : memory_alloc_raw(((size_t)mask + 1) * sizeof *table);
    if (table)
        memset(table, 0xff, ((size_t)mask + 1) * sizeof *table);
    int kept = 0;
    for (int i = 0; i < mesh->vertex_count; i++) {
        const double *p = mesh->positions + 3 * (size_t)i;
        if (!is_usable(p)) {
            remap[i] = UINT32_MAX;
            report->not_finite++;
            continue;
        }
        uint32_t slot = 0, found = UINT32_MAX;
        if (table) {
            slot = (uint32_t)hash_position(p) & mask;
            while (table[slot] != UINT32_MAX
                   && memcmp(mesh->positions + 3 * (size_t)table[slot], p, 3 * sizeof(double)))
                slot = (slot + 1) & mask;
            found = table[slot];
        }
        if (found == UINT32_MAX) {
            found = (uint32_t)kept++;
            memmove(mesh->positions + 3 * (size_t)found, p, 3 * sizeof(double));
            if (mesh->influences)
                mesh->influences[found] = mesh->influences[i];
            if (table)
                table[slot] = found;
        }
        remap[i] = found;
    }
    free(table);
    mesh->vertex_count = kept;
    return remap;
}

static bool has_area(const Mesh *mesh, const uint32_t *t)
{
    if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0])
        return false;
    Vec3 a = mesh_position(mesh, t[0]);
    Vec3 cross = vec3_cross(vec3_sub(mesh_position(mesh, t[1]), a), vec3_sub(mesh_position(mesh, t[2]), a));
    return vec3_length2(cross) > 0.0;
}

// A table of the triangles kept so far, for finding equal ones.
typedef struct TriangleTable {
    uint32_t *slots;
    uint32_t mask;
} TriangleTable;

// The same triangle begins with its smallest index, its turn kept.
static void rotated(const uint32_t *t, uint32_t out[3])
{
    int first = t[0] < t[1] ? (t[0] < t[2] ? 0 : 2) : (t[1] < t[2] ? 1 : 2);
    for (int i = 0; i < 3; i++)
        out[i] = t[(first + i) % 3];
}

// Triangles of one place lie together in the table, so that walking over a surface stays in the processor's cache: the
// first slots tried follow from the smallest index, and only when those are taken from a hash of all three.
static bool is_duplicate(const Mesh *mesh, TriangleTable *table, const uint32_t *t, int index)
{
    assert_debug(index >= 0 && index < mesh->triangle_count);
    enum { NEAR_SLOTS = 16 };
    uint32_t key[3];
    rotated(t, key);
    uint64_t hash = (uint64_t)key[0] * 0x9e3779b97f4a7c15u ^ (uint64_t)key[1] * 0xc2b2ae3d27d4eb4fu
                    ^ (uint64_t)key[2] * 0x165667b19e3779f9u;
    uint32_t slot = key[0] * 4u & table->mask;
    for (uint32_t tries = 0;; tries++) {
        if (tries == NEAR_SLOTS)
            slot = (uint32_t)(hash >> 32) & table->mask;
        if (table->slots[slot] == UINT32_MAX) {
            table->slots[slot] = (uint32_t)index;
            return false;
        }
        uint32_t other[3];
        rotated(mesh->triangles + 3 * (size_t)table->slots[slot], other);
        if (!memcmp(key, other, sizeof key))
            return true;
        slot = (slot + 1) & table->mask;
    }
}

static bool remap_triangle(uint32_t *t, const uint32_t *remap, int vertex_count, MeshReport *report)
{
    assert_debug(vertex_count >= 0);
    for (int k = 0; k < 3; k++) {
        if (t[k] >= (uint32_t)vertex_count) {
            report->bad_index++;
            return false;
        }
    }
    for (int k = 0; k < 3; k++) {
        t[k] = remap[t[k]];
        if (t[k] == UINT32_MAX)
            return false;
    }
    return true;
}

static void move_triangle(Mesh *mesh, int from, int to)
{
    assert_debug(to >= 0 && to <= from && from < mesh->triangle_count);
    if (from == to)
        return;
    memcpy(mesh->triangles + 3 * (size_t)to, mesh->triangles + 3 * (size_t)from, 3 * sizeof(uint32_t));
    if (mesh->normals)
        memcpy(mesh->normals + 9 * (size_t)to, mesh->normals + 9 * (size_t)from, 9 * sizeof(float));
    if (mesh->texcoords)
        memcpy(mesh->texcoords + 6 * (size_t)to, mesh->texcoords + 6 * (size_t)from, 6 * sizeof(float));
}

static void clean_triangles(Mesh *mesh, const uint32_t *remap, int old_vertex_count, bool keep_duplicates,
                            MeshReport *report)
{
    TriangleTable table = { .mask = table_size(mesh->triangle_count) - 1 };
    if (!keep_duplicates) {
        table.slots = memory_alloc_raw(((size_t)table.mask + 1) * sizeof *table.slots);
        memset(table.slots, 0xff, ((size_t)table.mask + 1) * sizeof *table.slots);
    }
    int kept = 0, part = 0;
    for (int p = 0; p < mesh->part_count; p++)
        mesh->parts[p].triangle_count += mesh->parts[p].first_triangle;  // the end, for now
    for (int i = 0; i < mesh->triangle_count; i++) {
        for (; part < mesh->part_count && i >= mesh->parts[part].triangle_count; part++)
            mesh->parts[part].triangle_count = kept;
        uint32_t *t = mesh->triangles + 3 * (size_t)i;
        if (!remap_triangle(t, remap, old_vertex_count, report))
            continue;
        if (!has_area(mesh, t)) {
            report->degenerate++;
            continue;
        }
        if (table.slots && is_duplicate(mesh, &table, t, kept)) {
            report->duplicate++;
            continue;
        }
        move_triangle(mesh, i, kept++);
    }
    for (; part < mesh->part_count; part++)
        mesh->parts[part].triangle_count = kept;
    for (int p = 0, first = 0; p < mesh->part_count; p++) {
        int end = mesh->parts[p].triangle_count;
        mesh->parts[p].first_triangle = first;
        mesh->parts[p].triangle_count = end - first;
        first = end;
    }
    mesh->triangle_count = kept;
    free(table.slots);
}

// Unit normals everywhere: a corner without a usable one gets that of its triangle.
static void clean_normals(Mesh *mesh, MeshReport *report)
{
    assert_debug(mesh->normals);
    for (int i = 0; i < mesh->triangle_count; i++) {
        for (int k = 0; k < 3; k++) {
            float *n = mesh->normals + 9 * (size_t)i + 3 * k;
            double length2 = (double)n[0] * n[0] + (double)n[1] * n[1] + (double)n[2] * n[2];
            if (fabs(length2 - 1.0) < 1e-5)
                continue;
            Vec3 unit;
            if (length2 > 1e-24 && isfinite(length2)) {
                unit = vec3_scale(vec3(n[0], n[1], n[2]), 1.0 / sqrt(length2));
            } else {
                report->bad_normal += length2 != 0.0;
                unit = mesh_triangle_normal(mesh, i);
            }
            n[0] = (float)unit.x;
            n[1] = (float)unit.y;
            n[2] = (float)unit.z;
        }
    }
}

static void clean_texcoords(Mesh *mesh, MeshReport *report)
{
    for (size_t i = 0; i < 6 * (size_t)mesh->triangle_count; i++) {
        if (!(fabsf(mesh->texcoords[i]) < 1e9f)) {
            mesh->texcoords[i] = 0.0f;
            report->bad_normal++;
        }
    }
}

// Drops vertices that no triangle uses, so that box and count tell of the surface alone.
static void drop_unused(Mesh *mesh)
{
    uint32_t *remap = memory_alloc_raw(memory_product((size_t)mesh->vertex_count, sizeof *remap) + 1);
    memset(remap, 0xff, (size_t)mesh->vertex_count * sizeof *remap);
    for (size_t i = 0; i < 3 * (size_t)mesh->triangle_count; i++) {
        assert_debug(mesh->triangles[i] < (uint32_t)mesh->vertex_count);
        remap[mesh->triangles[i]] = 0;
    }
    int kept = 0;
    for (int i = 0; i < mesh->vertex_count; i++) {
        if (remap[i] == UINT32_MAX)
            continue;
        memmove(mesh->positions + 3 * (size_t)kept, mesh->positions + 3 * (size_t)i, 3 * sizeof(double));
        if (mesh->influences)
            mesh->influences[kept] = mesh->influences[i];
        remap[i] = (uint32_t)kept++;
    }
    if (kept < mesh->vertex_count)
        for (size_t i = 0; i < 3 * (size_t)mesh->triangle_count; i++)
            mesh->triangles[i] = remap[mesh->triangles[i]];
    mesh->vertex_count = kept;
    free(remap);
}

static void compute_box(Mesh *mesh)
{
    mesh->low = mesh->high = mesh->vertex_count ? mesh_position(mesh, 0) : VEC3_ZERO;
    for (int i = 1; i < mesh->vertex_count; i++) {
        const double *p = mesh->positions + 3 * (size_t)i;
        mesh->low = vec3(fmin(mesh->low.x, p[0]), fmin(mesh->low.y, p[1]), fmin(mesh->low.z, p[2]));
        mesh->high = vec3(fmax(mesh->high.x, p[0]), fmax(mesh->high.y, p[1]), fmax(mesh->high.z, p[2]));
    }
}

static void *trimmed(void *data, int count, size_t item_size)
{
    assert(count >= 0);
    if (!data)
        return NULL;
    void *smaller = realloc(data, count > 0 ? (size_t)count * item_size : 1);
    return smaller ? smaller : data;
}

static void trim(Mesh *mesh)
{
    mesh->positions = trimmed(mesh->positions, mesh->vertex_count, 3 * sizeof(double));
    mesh->triangles = trimmed(mesh->triangles, mesh->triangle_count, 3 * sizeof(uint32_t));
    mesh->normals = trimmed(mesh->normals, mesh->triangle_count, 9 * sizeof(float));
    mesh->texcoords = trimmed(mesh->texcoords, mesh->triangle_count, 6 * sizeof(float));
    mesh->influences = trimmed(mesh->influences, mesh->vertex_count, sizeof *mesh->influences);
}

static void add_report(MeshReport *to, const MeshReport *from)
{
    to->bad_index += from->bad_index;
    to->not_finite += from->not_finite;
    to->degenerate += from->degenerate;
    to->duplicate += from->duplicate;
    to->bad_polygon += from->bad_polygon;
    to->bad_normal += from->bad_normal;
    to->too_large |= from->too_large;
}

// Equal points are welded, then triangles cleaned, then points dropped that nobody uses: each step makes work for
// the next.
Mesh *mesh_build_end(MeshBuilder *builder, const MeshBuildOptions *options, MeshReport *report)
{
    assert_debug(builder->mesh.vertex_count <= builder->vertex_capacity
                 && builder->mesh.triangle_count <= builder->triangle_capacity);
    static const MeshBuildOptions usual;
    if (!options)
        options = &usual;
    if (builder->mesh.bone_count > 0)
        influence_room(builder);
    Mesh *mesh = memory_alloc(sizeof *mesh);
    *mesh = builder->mesh;
    MeshReport found = builder->report;
    if (mesh->normals)
        corners(&mesh->normals, &builder->normal_capacity, mesh->triangle_count, 9);
    if (mesh->texcoords)
        corners(&mesh->texcoords, &builder->texcoord_capacity, mesh->triangle_count, 6);
    int old_vertex_count = mesh->vertex_count;
    uint32_t *remap = weld(mesh, options->keep_vertices, &found);
    clean_triangles(mesh, remap, old_vertex_count, options->keep_duplicates, &found);
    free(remap);
    drop_unused(mesh);
    if (mesh->normals)
        clean_normals(mesh, &found);
    if (mesh->texcoords)
        clean_texcoords(mesh, &found);
    compute_box(mesh);
    trim(mesh);
    if (report)
        add_report(report, &found);
    *builder = (MeshBuilder){ 0 };
    return mesh;
}

// ---- copies ----

static void *copy_of(const void *data, size_t count, size_t item_size)
{
    if (!data)
        return NULL;
    size_t size = memory_product(count, item_size);
    void *copy = memory_alloc_raw(size + 1);
    memcpy(copy, data, size);
    return copy;
}

static Mesh *mesh_copy(const Mesh *mesh)
{
    Mesh *copy = memory_alloc(sizeof *copy);
    *copy = *mesh;
    copy->positions = copy_of(mesh->positions, (size_t)mesh->vertex_count, 3 * sizeof(double));
    copy->triangles = copy_of(mesh->triangles, (size_t)mesh->triangle_count, 3 * sizeof(uint32_t));
    copy->normals = copy_of(mesh->normals, (size_t)mesh->triangle_count, 9 * sizeof(float));
    copy->texcoords = copy_of(mesh->texcoords, (size_t)mesh->triangle_count, 6 * sizeof(float));
    copy->bones = copy_of(mesh->bones, (size_t)mesh->bone_count, sizeof *mesh->bones);
    copy->influences = copy_of(mesh->influences, (size_t)mesh->vertex_count, sizeof *mesh->influences);
    for (int i = 0; i < copy->bone_count; i++)
        copy->bones[i].name = memory_string(copy->bones[i].name);
    copy->parts = copy_of(mesh->parts, (size_t)mesh->part_count, sizeof *mesh->parts);
    copy->materials = copy_of(mesh->materials, (size_t)mesh->material_count, sizeof *mesh->materials);
    for (int i = 0; i < copy->part_count; i++)
        copy->parts[i].name = memory_string(copy->parts[i].name);
    for (int i = 0; i < copy->material_count; i++) {
        copy->materials[i].name = memory_string(copy->materials[i].name);
        copy->materials[i].texture = copy_text(copy->materials[i].texture);
    }
    return copy;
}

static void swap_floats(float *a, float *b, int count)
{
    for (int i = 0; i < count; i++) {
        float keep = a[i];
        a[i] = b[i];
        b[i] = keep;
    }
}

static void turn_triangles(Mesh *mesh)
{
    for (size_t i = 0; i < (size_t)mesh->triangle_count; i++) {
        uint32_t *t = mesh->triangles + 3 * i, keep = t[1];
        t[1] = t[2];
        t[2] = keep;
        if (mesh->normals)
            swap_floats(mesh->normals + 9 * i + 3, mesh->normals + 9 * i + 6, 3);
        if (mesh->texcoords)
            swap_floats(mesh->texcoords + 6 * i + 2, mesh->texcoords + 6 * i + 4, 2);
    }
}

Mesh *mesh_flipped(const Mesh *mesh)
{
    Mesh *copy = mesh_copy(mesh);
    turn_triangles(copy);
    for (size_t i = 0; copy->normals && i < 9 * (size_t)copy->triangle_count; i++)
        copy->normals[i] = -copy->normals[i];
    return copy;
}

Mesh *mesh_transformed(const Mesh *mesh, Vec3 scale, Pose pose)
{
    Mesh *copy = mesh_copy(mesh);
    for (size_t i = 0; i < (size_t)copy->vertex_count; i++) {
        double *p = copy->positions + 3 * i;
        Vec3 moved = pose_apply(pose, vec3_mul(vec3(p[0], p[1], p[2]), scale));
        p[0] = moved.x;
        p[1] = moved.y;
        p[2] = moved.z;
    }
    for (int i = 0; i < copy->bone_count; i++) {
        Pose rest = copy->bones[i].rest;
        copy->bones[i].rest = pose_mul(pose, (Pose){ vec3_mul(rest.t, scale), rest.q });
    }
    // Normals go with the inverse transpose; multiplied by the determinant it needs no division.
    Vec3 cofactor = vec3(scale.y * scale.z, scale.z * scale.x, scale.x * scale.y);
    double determinant = scale.x * scale.y * scale.z;
    if (determinant < 0.0)
        cofactor = vec3_neg(cofactor);
    for (size_t i = 0; copy->normals && i < 3 * (size_t)copy->triangle_count; i++) {
        float *n = copy->normals + 3 * i;
        Vec3 turned = vec3_normalized(quat_rotate(pose.q, vec3_mul(vec3(n[0], n[1], n[2]), cofactor)));
        n[0] = (float)turned.x;
        n[1] = (float)turned.y;
        n[2] = (float)turned.z;
    }
    if (determinant < 0.0)
        turn_triangles(copy);
    compute_box(copy);
    return copy;
}

Mesh *mesh_filtered(const Mesh *mesh, const char *name, int material)
{
    assert(mesh);
    Mesh *copy = mesh_copy(mesh);
    int kept = 0, kept_parts = 0;
    for (int p = 0; p < copy->part_count; p++) {
        MeshPart *part = &copy->parts[p];
        bool wanted = (!name || !strcmp(part->name, name)) && (material < 0 || part->material == material);
        if (!wanted) {
            free(part->name);
            continue;
        }
        int first = kept;
        for (int i = 0; i < part->triangle_count; i++)
            move_triangle(copy, part->first_triangle + i, kept++);
        copy->parts[kept_parts++] = (MeshPart){ part->name, first, kept - first, part->material };
    }
    copy->part_count = kept_parts;
    copy->triangle_count = kept;
    drop_unused(copy);
    compute_box(copy);
    return copy;
}
