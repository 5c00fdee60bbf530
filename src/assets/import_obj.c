// import_obj.c - Wavefront OBJ files with their MTL materials.
#include "assets/import_internal.h"

#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS_MAX = 100000, MATERIALS_MAX = 4096, LIBRARIES_MAX = 64, CORNERS_MAX = 1000000, LONGEST_NAME = 256 };

typedef struct Corner {
    int64_t vertex, texcoord, normal;  // from 0; -1: none
} Corner;

typedef struct ObjReader {
    MeshBuilder *builder;
    const ImportCompanions *companions;
    float *texcoords, *normals;  // 2 and 3 each
    int texcoord_count, texcoord_capacity, normal_count, normal_capacity;
    Corner *corners;  // of the face under way
    int64_t *vertices;
    int *cut;
    int corner_capacity, vertex_capacity, cut_capacity;
    char *group;
    char *material;  // name of the one in use, looked up when a face needs it
    bool part_is_new;
    int library_count;
} ObjReader;

static const char *skip_blank(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\v' || *p == '\f'))
        p++;
    return p;
}

static int scan_numbers(const char *p, const char *end, double *values, int max)
{
    assert_debug(max > 0);
    int count = 0;
    while (count < max) {
        p = skip_blank(p, end);
        const char *after = text_scan_double(p, end, &values[count]);
        if (!after)
            break;
        p = after;
        count++;
    }
    return count;
}

// The rest of the line without blanks around it.
static char *rest_of_line(const char *p, const char *end)
{
    p = skip_blank(p, end);
    while (end > p && (unsigned char)end[-1] <= ' ')
        end--;
    size_t length = (size_t)(end - p);
    return memory_text(p, length < LONGEST_NAME ? length : LONGEST_NAME);
}

static void read_vertex(ObjReader *reader, const char *p, const char *end)
{
    double v[3] = { NAN, NAN, NAN };
    scan_numbers(p, end, v, 3);
    mesh_build_vertex(reader->builder, vec3(v[0], v[1], v[2]));
}

static void read_texcoord(ObjReader *reader, const char *p, const char *end)
{
    assert(p <= end);
    double v[2] = { 0.0, 0.0 };
    scan_numbers(p, end, v, 2);
    if (reader->texcoord_count >= 3 * reader->builder->vertex_limit)
        return;
    memory_grow(&reader->texcoords, &reader->texcoord_capacity, reader->texcoord_count + 1, 2 * sizeof(float));
    float *out = reader->texcoords + 2 * (size_t)reader->texcoord_count++;
    out[0] = (float)v[0];
    out[1] = (float)v[1];
}

static void read_normal(ObjReader *reader, const char *p, const char *end)
{
    assert(p <= end);
    double v[3] = { 0.0, 0.0, 0.0 };
    scan_numbers(p, end, v, 3);
    if (reader->normal_count >= 3 * reader->builder->vertex_limit)
        return;
    memory_grow(&reader->normals, &reader->normal_capacity, reader->normal_count + 1, 3 * sizeof(float));
    float *out = reader->normals + 3 * (size_t)reader->normal_count++;
    for (int k = 0; k < 3; k++)
        out[k] = (float)v[k];
}

// Indices count from 1, negative ones back from the end.
static int64_t place(int64_t index, int64_t count)
{
    return index > 0 ? index - 1 : index < 0 && -index <= count ? count + index : -1;
}

static const char *scan_index(const char *p, const char *end, int64_t *value)
{
    bool is_negative = p < end && *p == '-';
    p += is_negative;
    int64_t sum = 0;
    const char *first = p;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        if (sum < (int64_t)1 << 40)
            sum = sum * 10 + (*p - '0');
    *value = is_negative ? -sum : sum;
    return p > first ? p : NULL;
}

// One corner "v", "v/t", "v//n" or "v/t/n"; returns where it ends, NULL when none starts here.
static const char *read_corner(ObjReader *reader, const char *p, const char *end, Corner *corner)
{
    assert(p <= end);
    int64_t value;
    *corner = (Corner){ -1, -1, -1 };
    p = scan_index(p, end, &value);
    if (!p)
        return NULL;
    corner->vertex = place(value, reader->builder->mesh.vertex_count);
    if (p < end && *p == '/') {
        const char *after = scan_index(++p, end, &value);
        if (after) {
            corner->texcoord = place(value, reader->texcoord_count);
            p = after;
        }
        if (p < end && *p == '/' && (after = scan_index(++p, end, &value))) {
            corner->normal = place(value, reader->normal_count);
            p = after;
        }
    }
    return p;
}

static int find_material(const Mesh *mesh, const char *name)
{
    for (int i = 0; name && i < mesh->material_count; i++)
        if (!strcmp(mesh->materials[i].name, name))
            return i;
    return -1;
}

static void begin_part(ObjReader *reader)
{
    const Mesh *mesh = &reader->builder->mesh;
    if (reader->part_is_new && mesh->part_count < PARTS_MAX)
        mesh_build_part(reader->builder, reader->group ? reader->group : "", find_material(mesh, reader->material));
    reader->part_is_new = false;
}

static void add_attributes(ObjReader *reader, int triangle, const Corner *a, const Corner *b, const Corner *c)
{
    assert_debug(triangle >= 0);
    const Corner *corners[3] = { a, b, c };
    float normals[9] = { 0 }, texcoords[6] = { 0 };
    bool has_normals = false, has_texcoords = false;
    for (int k = 0; k < 3; k++) {
        int64_t n = corners[k]->normal, t = corners[k]->texcoord;
        if (n >= 0 && n < reader->normal_count) {
            memcpy(normals + 3 * k, reader->normals + 3 * n, 3 * sizeof(float));
            has_normals = true;
        }
        if (t >= 0 && t < reader->texcoord_count) {
            memcpy(texcoords + 2 * k, reader->texcoords + 2 * t, 2 * sizeof(float));
            has_texcoords = true;
        }
    }
    if (has_normals)
        mesh_build_normals(reader->builder, triangle, normals);
    if (has_texcoords)
        mesh_build_texcoords(reader->builder, triangle, texcoords);
}

// Most faces are triangles and skip the cutting of polygons.
static void read_face(ObjReader *reader, const char *p, const char *end)
{
    MeshBuilder *builder = reader->builder;
    int count = 0;
    assert(p <= end);
    for (p = skip_blank(p, end); p < end && count < CORNERS_MAX; p = skip_blank(p, end)) {
        memory_grow(&reader->corners, &reader->corner_capacity, count + 1, sizeof *reader->corners);
        const char *after = read_corner(reader, p, end, &reader->corners[count]);
        if (!after)
            break;
        p = after;
        count++;
    }
    if (count == 0)
        return;
    begin_part(reader);
    const Corner *corners = reader->corners;
    if (count == 3) {
        int triangle = mesh_build_triangle(builder, corners[0].vertex, corners[1].vertex, corners[2].vertex);
        if (triangle >= 0)
            add_attributes(reader, triangle, &corners[0], &corners[1], &corners[2]);
        return;
    }
    memory_grow(&reader->vertices, &reader->vertex_capacity, count, sizeof *reader->vertices);
    memory_grow(&reader->cut, &reader->cut_capacity, count, 3 * sizeof *reader->cut);
    for (int i = 0; i < count; i++)
        reader->vertices[i] = corners[i].vertex;
    int triangle_count, first = mesh_build_polygon(builder, reader->vertices, count, reader->cut, &triangle_count);
    for (int i = 0; i < triangle_count && first + triangle_count == builder->mesh.triangle_count; i++) {
        const int *k = reader->cut + 3 * (size_t)i;
        add_attributes(reader, first + i, &corners[k[0]], &corners[k[1]], &corners[k[2]]);
    }
}

// ---- materials ----

static bool line_starts(const char *p, const char *end, const char *word, const char **rest)
{
    size_t length = strlen(word);
    if ((size_t)(end - p) <= length || strncasecmp(p, word, length) || (p[length] != ' ' && p[length] != '\t'))
        return false;
    *rest = p + length;
    return true;
}

static void read_color(const char *p, const char *end, Vec3 *color)
{
    double v[3];
    int count = scan_numbers(p, end, v, 3);
    if (count == 1)
        v[1] = v[2] = v[0];
    if (count == 1 || count == 3)
        *color = vec3(double_clamp(v[0], 0.0, 1.0), double_clamp(v[1], 0.0, 1.0), double_clamp(v[2], 0.0, 1.0));
}

// "map_Kd -s 1 1 1 name with spaces.png": options begin with a dash and take numbers or a word.
static char *read_map(const char *p, const char *end)
{
    p = skip_blank(p, end);
    while (p < end && *p == '-') {
        while (p < end && *p != ' ' && *p != '\t')
            p++;
        for (p = skip_blank(p, end); p < end;) {
            double value;
            const char *after = text_scan_double(p, end, &value);
            bool is_switch = end - p > 2 && (!strncmp(p, "on ", 3) || !strncmp(p, "off ", 4));
            if (is_switch)
                after = p + (p[1] == 'n' ? 2 : 3);
            if (!after || (after < end && *after != ' ' && *after != '\t'))
                break;
            p = skip_blank(after, end);
        }
    }
    return rest_of_line(p, end);
}

static void read_material_line(MeshMaterial *material, const char *p, const char *end)
{
    const char *rest;
    double value;
    if (line_starts(p, end, "Kd", &rest))
        read_color(rest, end, &material->diffuse);
    else if (line_starts(p, end, "Ks", &rest))
        read_color(rest, end, &material->specular);
    else if (line_starts(p, end, "Ke", &rest))
        read_color(rest, end, &material->emissive);
    else if (line_starts(p, end, "Ns", &rest) && scan_numbers(rest, end, &value, 1))
        material->shininess = double_clamp(value / 1000.0, 0.0, 1.0);
    else if (line_starts(p, end, "d", &rest) && scan_numbers(rest, end, &value, 1))
        material->transparency = double_clamp(1.0 - value, 0.0, 1.0);
    else if (line_starts(p, end, "Tr", &rest) && scan_numbers(rest, end, &value, 1))
        material->transparency = double_clamp(value, 0.0, 1.0);
    else if (line_starts(p, end, "map_Kd", &rest)) {
        free(material->texture);
        material->texture = read_map(rest, end);
    }
}

static void end_material(MeshBuilder *builder, MeshMaterial *material)
{
    if (material->name && builder->mesh.material_count < MATERIALS_MAX)
        mesh_build_material(builder, material);
    free(material->name);
    free(material->texture);
    *material = (MeshMaterial){ .diffuse = { 0.8, 0.8, 0.8 } };
}

static void read_materials(MeshBuilder *builder, const char *data, size_t size)
{
    assert_debug(data || size == 0);
    MeshMaterial material = { .diffuse = { 0.8, 0.8, 0.8 } };
    const char *end = data + size;
    for (const char *p = data; p < end;) {
        const char *line_end = memchr(p, '\n', (size_t)(end - p)), *rest;
        if (!line_end)
            line_end = end;
        p = skip_blank(p, line_end);
        if (line_starts(p, line_end, "newmtl", &rest)) {
            end_material(builder, &material);
            material.name = rest_of_line(rest, line_end);
        } else {
            read_material_line(&material, p, line_end);
        }
        p = line_end + 1;
    }
    end_material(builder, &material);
}

static void read_library(ObjReader *reader, const char *p, const char *end)
{
    if (reader->library_count++ >= LIBRARIES_MAX)
        return;
    char *name = rest_of_line(p, end);
    size_t length = strlen(name);
    if (length >= 2 && name[0] == '"' && name[length - 1] == '"') {
        memmove(name, name + 1, length - 2);
        name[length - 2] = '\0';
    }
    FileData file;
    if (import_companion(reader->companions, name, &file)) {
        read_materials(reader->builder, file.data, file.size);
        file_release(&file);
    } else {
        diag_note(reader->companions->diags, reader->companions->pos,
                  "materials '%s' of mesh '%s' are not found; it has no colours", name, reader->companions->path);
    }
    free(name);
}

static void read_line(ObjReader *reader, const char *p, const char *end)
{
    assert(p <= end);
    const char *rest;
    p = skip_blank(p, end);
    if (end - p < 2)
        return;
    char next = p[1];
    bool is_short = next == ' ' || next == '\t';
    if (p[0] == 'v' && is_short)
        read_vertex(reader, p + 2, end);
    else if (p[0] == 'f' && is_short)
        read_face(reader, p + 2, end);
    else if (p[0] == 'v' && next == 't')
        read_texcoord(reader, p + 2, end);
    else if (p[0] == 'v' && next == 'n')
        read_normal(reader, p + 2, end);
    else if ((p[0] == 'g' || p[0] == 'o') && is_short) {
        free(reader->group);
        reader->group = rest_of_line(p + 2, end);
        reader->part_is_new = true;
    } else if (line_starts(p, end, "usemtl", &rest)) {
        free(reader->material);
        reader->material = rest_of_line(rest, end);
        reader->part_is_new = true;
    } else if (line_starts(p, end, "mtllib", &rest))
        read_library(reader, rest, end);
}

// A backslash at the end of a line joins the next one to it; such lines are copied first.
static const char *read_joined(ObjReader *reader, const char *p, const char *end)
{
    Text line = { 0 };
    for (;;) {
        const char *line_end = memchr(p, '\n', (size_t)(end - p));
        const char *stop = line_end ? line_end : end;
        const char *last = stop;
        if (last > p && last[-1] == '\r')
            last--;
        bool goes_on = last > p && last[-1] == '\\';
        text_add(&line, p, (size_t)(last - p) - goes_on);
        text_add_char(&line, ' ');
        p = line_end ? line_end + 1 : end;
        if (!goes_on || p >= end)
            break;
    }
    read_line(reader, line.data, line.data + line.length);
    text_free(&line);
    return p;
}

const char *import_obj(const char *data, size_t size, MeshBuilder *builder, const ImportCompanions *companions)
{
    assert_debug(companions && (data || size == 0));
    if (memchr(data, '\0', size < 4096 ? size : 4096))
        return "it is not a text file";
    ObjReader reader = { .builder = builder, .companions = companions };
    const char *end = data + size;
    for (const char *p = data; p < end && !builder->report.too_large;) {
        const char *line_end = memchr(p, '\n', (size_t)(end - p));
        if (!line_end)
            line_end = end;
        const char *last = line_end > p && line_end[-1] == '\r' ? line_end - 1 : line_end;
        if (last > p && last[-1] == '\\') {
            p = read_joined(&reader, p, end);
        } else {
            read_line(&reader, p, line_end);
            p = line_end + 1;
        }
    }
    free(reader.texcoords);
    free(reader.normals);
    free(reader.corners);
    free(reader.vertices);
    free(reader.cut);
    free(reader.group);
    free(reader.material);
    return NULL;
}
