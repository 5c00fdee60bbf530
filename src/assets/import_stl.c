// import_stl.c - STL files, binary and text. The format repeats every corner, so corners are merged while reading.
#include "assets/import_internal.h"

#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER_BYTES = 84, FACET_BYTES = 50 };

// Corners seen so far, by the bits of their coordinates.
// `recent` remembers what was met last: neighbouring facets share their corners, and it fits the processor's cache.
enum { RECENT = 1 << 12 };
typedef struct CornerTable {
    uint32_t recent[RECENT];  // vertex index + 1, by hash
    uint32_t *slots;          // vertex index + 1, 0 for empty
    float (*keys)[3];         // by vertex
    uint32_t mask;
    int count, capacity;
    int64_t limit;
} CornerTable;

static uint32_t hash_corner(const float *p)
{
    uint32_t bits[3];
    memcpy(bits, p, sizeof bits);
    uint64_t hash = (uint64_t)bits[0] * 0x9e3779b97f4a7c15u ^ (uint64_t)bits[1] * 0xc2b2ae3d27d4eb4fu
                    ^ (uint64_t)bits[2] * 0x165667b19e3779f9u;
    return (uint32_t)(hash >> 32 ^ hash >> 11);
}

static void rehash(CornerTable *table, uint32_t size)
{
    assert(size > 0 && (size & (size - 1)) == 0);
    free(table->slots);
    table->slots = memory_alloc_array(size, sizeof *table->slots);
    table->mask = size - 1;
    for (int i = 0; i < table->count; i++) {
        uint32_t slot = hash_corner(table->keys[i]) & table->mask;
        while (table->slots[slot])
            slot = (slot + 1) & table->mask;
        table->slots[slot] = (uint32_t)i + 1;
    }
}

static void table_init(CornerTable *table, int64_t facets, int64_t limit)
{
    *table = (CornerTable){ .limit = limit };
    uint32_t size = 1 << 10;  // a closed surface has half as many vertices as facets
    while (size < facets && size < 1u << 22)
        size *= 2;
    rehash(table, size);
}

static int64_t vertex_of(CornerTable *table, const float *point)
{
    float p[3] = { point[0] + 0.0f, point[1] + 0.0f, point[2] + 0.0f };  // no -0
    uint32_t hash = hash_corner(p), *recent = &table->recent[hash % RECENT];
    if (*recent && !memcmp(table->keys[*recent - 1], p, sizeof p))
        return *recent - 1;
    uint32_t slot = hash & table->mask;
    for (; table->slots[slot]; slot = (slot + 1) & table->mask) {
        if (!memcmp(table->keys[table->slots[slot] - 1], p, sizeof p)) {
            *recent = table->slots[slot];
            return table->slots[slot] - 1;
        }
    }
    if (table->count >= table->limit)
        return -1;
    memory_grow(&table->keys, &table->capacity, table->count + 1, sizeof *table->keys);
    memcpy(table->keys[table->count], p, sizeof p);
    assert_debug(table->count < table->capacity);
    table->slots[slot] = *recent = (uint32_t)++table->count;
    if ((uint32_t)table->count * 2 > table->mask)
        rehash(table, (table->mask + 1) * 2);
    return table->count - 1;
}

static void add_facet(MeshBuilder *builder, CornerTable *table, const float corners[9])
{
    int64_t v[3];
    for (int k = 0; k < 3; k++)
        v[k] = vertex_of(table, corners + 3 * k);
    if (v[0] < 0 || v[1] < 0 || v[2] < 0)
        builder->report.too_large = true;
    else
        mesh_build_triangle(builder, v[0], v[1], v[2]);
}

// Hands the merged corners over as the vertices of the mesh.
static void end_table(MeshBuilder *builder, CornerTable *table, MeshBuildOptions *build)
{
    assert_debug(table->count <= table->capacity);
    double *positions = memory_alloc_raw(memory_product((size_t)table->count, 3 * sizeof(double)) + 1);
    for (int i = 0; i < table->count; i++)
        for (int k = 0; k < 3; k++)
            positions[3 * (size_t)i + (size_t)k] = (double)table->keys[i][k];
    builder->mesh.positions = positions;
    builder->mesh.vertex_count = builder->vertex_capacity = table->count;
    build->keep_vertices = true;
    free(table->keys);
    free(table->slots);
}

static uint32_t facet_count(const char *data)
{
    const unsigned char *bytes = (const unsigned char *)data + 80;
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

bool import_stl_is_binary(const char *data, size_t size)
{
    return size >= HEADER_BYTES && (uint64_t)facet_count(data) * FACET_BYTES + HEADER_BYTES == size;
}

static void read_binary(const char *data, size_t size, MeshBuilder *builder, CornerTable *table)
{
    assert(size >= HEADER_BYTES);
    size_t count = (size - HEADER_BYTES) / FACET_BYTES;
    if (facet_count(data) < count)
        count = facet_count(data);
    builder->report.bad_index += count < facet_count(data);  // cut short
    for (size_t i = 0; i < count && !builder->report.too_large; i++) {
        float corners[9];
        memcpy(corners, data + HEADER_BYTES + FACET_BYTES * i + 12, sizeof corners);
        add_facet(builder, table, corners);
    }
}

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && (unsigned char)*p <= ' ')
        p++;
    return p;
}

static const char *word_end(const char *p, const char *end)
{
    while (p < end && (unsigned char)*p > ' ')
        p++;
    return p;
}

static bool word_is(const char *word, const char *end, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(end - word) == length && !strncasecmp(word, text, length);
}

static const char *read_name(const char *p, const char *end, MeshBuilder *builder)
{
    assert(p <= end);
    const char *line_end = memchr(p, '\n', (size_t)(end - p));
    if (!line_end)
        line_end = end;
    while (p < line_end && (unsigned char)*p <= ' ')
        p++;
    const char *stop = line_end;
    while (stop > p && (unsigned char)stop[-1] <= ' ')
        stop--;
    enum { LONGEST_NAME = 256, PARTS_MAX = 100000 };
    char *name = memory_text(p, (size_t)(stop - p) < LONGEST_NAME ? (size_t)(stop - p) : LONGEST_NAME);
    if (builder->mesh.part_count < PARTS_MAX)
        mesh_build_part(builder, name, -1);
    free(name);
    return line_end;
}

// Words are taken as they come: "vertex x y z" three times between "outer loop" and "endloop".
static const char *read_text(const char *data, size_t size, MeshBuilder *builder, CornerTable *table)
{
    const char *end = data + size, *p = skip_space(data, end);
    float corners[9];
    int have = 0;
    while (p < end && !builder->report.too_large) {
        const char *stop = word_end(p, end);
        if (word_is(p, stop, "vertex")) {
            for (int k = 0; k < 3; k++) {
                double value;
                stop = skip_space(stop, end);
                const char *after = text_scan_double(stop, end, &value);
                if (!after)
                    return "a vertex wants three numbers";
                stop = after;
                if (have < 9)
                    corners[have++] = (float)value;
            }
        } else if (word_is(p, stop, "facet")) {
            have = 0;
        } else if (word_is(p, stop, "endloop")) {
            if (have == 9)
                add_facet(builder, table, corners);
            have = 0;
        } else if (word_is(p, stop, "solid")) {
            stop = read_name(stop, end, builder);
        } else if (word_is(p, stop, "endsolid")) {
            const char *line = memchr(stop, '\n', (size_t)(end - stop));
            stop = line ? line : end;
        }
        p = skip_space(stop, end);
    }
    return NULL;
}

const char *import_stl(const char *data, size_t size, MeshBuilder *builder, MeshBuildOptions *build)
{
    assert_debug(build && (data || size == 0));
    CornerTable table;
    const char *start = skip_space(data, data + size);
    bool says_solid = data + size - start >= 5 && !strncasecmp(start, "solid", 5);
    // Many binary files begin with the word "solid" as well; their length tells.
    bool is_text = says_solid && !import_stl_is_binary(data, size) && memmem(data, size, "facet", 5);
    if (!is_text && size < HEADER_BYTES)
        return "it is too short for an STL file";
    table_init(&table, (int64_t)(size / (is_text ? 250 : FACET_BYTES)), builder->vertex_limit);
    const char *problem = NULL;
    if (is_text)
        problem = read_text(data, size, builder, &table);
    else
        read_binary(data, size, builder, &table);
    end_table(builder, &table, build);
    return problem;
}
