// glb.c - writes glTF: gathers visuals, shares equal meshes, materials and images, and lays their numbers into one
// buffer.
#include "record/glb.h"

#include "assets/image.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/memory.h"
#include "rays/rays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FLOAT = 5126,
    UNSIGNED_INT = 5125,
    ARRAY_BUFFER = 34962,
    INDEX_BUFFER = 34963,
    GLB_MAGIC = 0x46546c67,
    CHUNK_JSON = 0x4e4f534a,
    CHUNK_BIN = 0x004e4942
};
// Pictures are only decoration here: a side longer than this is halved until it fits. Keeps a world of photographs
// loadable in a page.
enum { IMAGE_SIDE_MAX = 1024 };

typedef struct View {
    int64_t offset, size;
    int target;
} View;  // target 0: none
typedef struct Accessor {
    int view, type, count, width;
    float low[3], high[3];
    bool has_bounds;
} Accessor;  // width: numbers of one item
typedef struct Material {
    Vec3 color, emissive;
    double transparency, roughness, metalness;
    int texture;
    bool has_transform;
    Vec2 center, scale, shift;
    double rotation;
} Material;
typedef struct Picture {
    const Image *image;
    bool repeats[2];
    int view;
} Picture;
typedef struct Primitive {
    int position, normal, texcoord, index, material;
} Primitive;
typedef struct MeshEntry {
    const Mesh *mesh;
    int material;
    bool has_parts, is_screen;
    int first_primitive, primitive_count;
} MeshEntry;
typedef struct NodeEntry {
    int solid, mesh;
    uint32_t glow;    // id of the node that an LED may light up; 0: none does
    uint32_t screen;  // of the Display whose picture is on it; 0: none
    double local[12];
} NodeEntry;

typedef struct Glb {
    Sim *sim;
    Rays *rays;
    Text bin;
    View *views;
    int view_count, view_capacity;
    Accessor *accessors;
    int accessor_count, accessor_capacity;
    Material *materials;
    int material_count, material_capacity;
    Picture *pictures;
    int picture_count, picture_capacity;
    Primitive *primitives;
    int primitive_count, primitive_capacity;
    MeshEntry *meshes;
    int mesh_count, mesh_capacity;
    NodeEntry *nodes;
    int node_count, node_capacity;
} Glb;

// ---- the buffer ----

static int add_view(Glb *glb, const void *data, size_t size, int target)
{
    while (glb->bin.length % 4 != 0)
        text_add_char(&glb->bin, '\0');
    memory_grow(&glb->views, &glb->view_capacity, glb->view_count + 1, sizeof *glb->views);
    glb->views[glb->view_count] = (View){ (int64_t)glb->bin.length, (int64_t)size, target };
    text_add(&glb->bin, data, size);
    return glb->view_count++;
}

static int add_accessor(Glb *glb, Accessor accessor)
{
    memory_grow(&glb->accessors, &glb->accessor_capacity, glb->accessor_count + 1, sizeof *glb->accessors);
    glb->accessors[glb->accessor_count] = accessor;
    return glb->accessor_count++;
}

static int add_floats(Glb *glb, const float *numbers, int count, int width, int target, bool with_bounds)
{
    Accessor accessor = { .view = add_view(glb, numbers, (size_t)count * (size_t)width * sizeof(float), target),
                          .type = FLOAT,
                          .count = count,
                          .width = width,
                          .has_bounds = with_bounds };
    for (int k = 0; k < width && k < 3 && with_bounds; k++) {
        accessor.low[k] = accessor.high[k] = numbers[k];
        for (int i = 1; i < count; i++) {
            accessor.low[k] = fminf(accessor.low[k], numbers[i * width + k]);
            accessor.high[k] = fmaxf(accessor.high[k], numbers[i * width + k]);
        }
    }
    return add_accessor(glb, accessor);
}

// ---- meshes ----

// Corners of triangles that agree in place, normal and texture are one vertex.
typedef struct Corner {
    float position[3], normal[3], texcoord[2];
} Corner;

static Vec3 corner_normal(const Mesh *mesh, int triangle, int k)
{
    const float *n = mesh->normals ? mesh->normals + 9 * (size_t)triangle + 3 * k : NULL;
    Vec3 normal = n ? vec3((double)n[0], (double)n[1], (double)n[2]) : mesh_triangle_normal(mesh, triangle);
    double length = vec3_length(normal);
    return length > 1e-6 ? vec3_scale(normal, 1.0 / length) : vec3(0, 0, 1);
}

static Corner corner_of(const Mesh *mesh, int triangle, int k)
{
    Vec3 p = mesh_position(mesh, mesh->triangles[3 * (size_t)triangle + (size_t)k]),
         n = corner_normal(mesh, triangle, k);
    Corner corner = { { (float)p.x, (float)p.y, (float)p.z }, { (float)n.x, (float)n.y, (float)n.z }, { 0, 0 } };
    if (mesh->texcoords) {
        const float *uv = mesh->texcoords + 6 * (size_t)triangle + 2 * k;
        corner.texcoord[0] = uv[0];
        corner.texcoord[1] = 1.0f - uv[1];  // glTF counts rows from the top
    }
    return corner;
}

typedef struct CornerSet {
    Corner *corners;
    int count, capacity;
    int *slots, slot_count;
} CornerSet;

static uint32_t corner_index(CornerSet *set, const Corner *corner)
{
    size_t mask = (size_t)set->slot_count - 1, slot = hash_bytes(corner, sizeof *corner, 0) & mask;
    for (; set->slots[slot]; slot = (slot + 1) & mask)
        if (!memcmp(&set->corners[set->slots[slot] - 1], corner, sizeof *corner))
            return (uint32_t)set->slots[slot] - 1;
    set->corners[set->count] = *corner;
    set->slots[slot] = ++set->count;
    return (uint32_t)set->count - 1;
}

static float *column(const CornerSet *set, size_t offset, int width)
{
    float *out = memory_alloc_array((size_t)set->count * (size_t)width, sizeof *out);
    for (int i = 0; i < set->count; i++)
        memcpy(out + (size_t)i * (size_t)width, (const char *)&set->corners[i] + offset, (size_t)width * sizeof *out);
    return out;
}

static int add_column(Glb *glb, const CornerSet *set, size_t offset, int width, bool with_bounds)
{
    float *numbers = column(set, offset, width);
    int accessor = add_floats(glb, numbers, set->count, width, ARRAY_BUFFER, with_bounds);
    free(numbers);
    return accessor;
}

static Primitive make_primitive(Glb *glb, const Mesh *mesh, int first, int count, int material, bool is_screen)
{
    CornerSet set = { .slot_count = 64 };
    while (set.slot_count < 6 * count + 2)
        set.slot_count *= 2;
    set.slots = memory_alloc_array((size_t)set.slot_count, sizeof *set.slots);
    set.corners = memory_alloc_array(3 * (size_t)count, sizeof *set.corners);
    uint32_t *indices = memory_alloc_array(3 * (size_t)count, sizeof *indices);
    for (int i = 0; i < 3 * count; i++) {
        Corner corner = corner_of(mesh, first + i / 3, i % 3);
        indices[i] = corner_index(&set, &corner);
    }
    Primitive primitive = { .material = material,
                            .position = add_column(glb, &set, offsetof(Corner, position), 3, true),
                            .normal = add_column(glb, &set, offsetof(Corner, normal), 3, false),
                            .texcoord = -1 };
    if (mesh->texcoords && (is_screen || (material >= 0 && glb->materials[material].texture >= 0)))
        primitive.texcoord = add_column(glb, &set, offsetof(Corner, texcoord), 2, false);
    primitive.index = add_accessor(
        glb, (Accessor){ .view = add_view(glb, indices, 3 * (size_t)count * sizeof *indices, INDEX_BUFFER),
                         .type = UNSIGNED_INT,
                         .count = 3 * count,
                         .width = 1 });
    free(indices);
    free(set.corners);
    free(set.slots);
    return primitive;
}

static void add_primitive(Glb *glb, Primitive primitive)
{
    memory_grow(&glb->primitives, &glb->primitive_capacity, glb->primitive_count + 1, sizeof *glb->primitives);
    glb->primitives[glb->primitive_count++] = primitive;
}

// ---- materials and pictures ----

static int add_picture(Glb *glb, const RaysVisual *visual)
{
    const Image *image = visual->image;
    if (!image || !image->pixels)
        return -1;
    for (int i = 0; i < glb->picture_count; i++)
        if (glb->pictures[i].image == image && glb->pictures[i].repeats[0] == visual->repeats[0]
            && glb->pictures[i].repeats[1] == visual->repeats[1])
            return i;
    int step = 1;
    while (int_max(image->width, image->height) / step > IMAGE_SIDE_MAX)
        step *= 2;
    int width = int_max(image->width / step, 1), height = int_max(image->height / step, 1);
    uint8_t *pixels = memory_alloc_array((size_t)width * (size_t)height, 4);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            memcpy(pixels + 4 * ((size_t)y * (size_t)width + (size_t)x),
                   image->pixels + 4 * ((size_t)y * (size_t)step * (size_t)image->width + (size_t)x * (size_t)step), 4);
    Text png = { 0 };
    image_encode_png(width, height, 4, pixels, 0, &png);
    memory_grow(&glb->pictures, &glb->picture_capacity, glb->picture_count + 1, sizeof *glb->pictures);
    glb->pictures[glb->picture_count] =
        (Picture){ image, { visual->repeats[0], visual->repeats[1] }, add_view(glb, png.data, png.length, 0) };
    text_free(&png);
    free(pixels);
    return glb->picture_count++;
}

static int add_material(Glb *glb, Material material)
{
    for (int i = 0; i < glb->material_count; i++) {
        const Material *m = &glb->materials[i];
        if (vec3_is_equal(m->color, material.color) && vec3_is_equal(m->emissive, material.emissive)
            && m->transparency == material.transparency && m->roughness == material.roughness
            && m->metalness == material.metalness && m->texture == material.texture
            && m->has_transform == material.has_transform && m->rotation == material.rotation
            && m->scale.x == material.scale.x && m->scale.y == material.scale.y && m->shift.x == material.shift.x
            && m->shift.y == material.shift.y)
            return i;
    }
    memory_grow(&glb->materials, &glb->material_capacity, glb->material_count + 1, sizeof *glb->materials);
    glb->materials[glb->material_count] = material;
    return glb->material_count++;
}

static int material_of(Glb *glb, const RaysVisual *visual)
{
    return add_material(glb, (Material){ visual->color, visual->emissive, visual->transparency, visual->roughness,
                                         visual->metalness, add_picture(glb, visual), visual->has_transform,
                                         visual->center, visual->scale, visual->shift, visual->rotation });
}

static int material_of_part(Glb *glb, const MeshMaterial *part)
{
    return add_material(glb, (Material){ .color = part->diffuse,
                                         .emissive = part->emissive,
                                         .transparency = part->transparency,
                                         .roughness = 0.8,
                                         .texture = -1 });
}

// ---- the world ----

// A picture may come onto a screen later: its corners have places on it, with no image yet.
static int add_mesh(Glb *glb, const RaysVisual *visual, bool is_screen)
{
    const Mesh *mesh = visual->mesh;
    bool has_parts = visual->has_parts && mesh->part_count > 0;
    int material = has_parts ? -1 : material_of(glb, visual);
    for (int i = 0; i < glb->mesh_count; i++)
        if (glb->meshes[i].mesh == mesh && glb->meshes[i].material == material && glb->meshes[i].has_parts == has_parts
            && glb->meshes[i].is_screen == is_screen)
            return i;
    MeshEntry entry = { mesh, material, has_parts, is_screen, glb->primitive_count, 0 };
    if (!has_parts)
        add_primitive(glb, make_primitive(glb, mesh, 0, mesh->triangle_count, material, is_screen));
    for (int p = 0; has_parts && p < mesh->part_count; p++) {
        const MeshPart *part = &mesh->parts[p];
        int own = part->material >= 0 && part->material < mesh->material_count
                      ? material_of_part(glb, &mesh->materials[part->material])
                      : material_of(glb, visual);
        if (part->triangle_count > 0)
            add_primitive(glb, make_primitive(glb, mesh, part->first_triangle, part->triangle_count, own, is_screen));
    }
    entry.primitive_count = glb->primitive_count - entry.first_primitive;
    memory_grow(&glb->meshes, &glb->mesh_capacity, glb->mesh_count + 1, sizeof *glb->meshes);
    glb->meshes[glb->mesh_count] = entry;
    return glb->mesh_count++;
}

static uint32_t glow_of(const RaysVisual *visual)
{
    const SceneNode *above = visual->glow ? visual->node : NULL;
    while (above && !scene_node_is(above, "LED"))
        above = scene_parent(above);
    return above ? visual->glow->id : 0;
}

static bool has_picture(const SceneNode *shape)
{
    static const char *const fields[] = { "texture", "baseColorMap", "emissiveColorMap" };
    const SceneNode *look = scene_node_is(shape, "Shape") ? scene_child(shape, "appearance") : NULL;
    for (int i = 0; look && i < COUNT_OF(fields); i++)
        if (schema_field(look->type, fields[i]) && scene_child(look, fields[i]))
            return true;
    return false;
}

static uint32_t screen_of(const RaysVisual *visual)
{
    const SceneNode *above = has_picture(visual->node) ? visual->node : NULL;
    while (above && !scene_node_is(above, "Display"))
        above = scene_parent(above);
    return above ? above->id : 0;
}

static void gather(Glb *glb)
{
    for (int i = 0; i < rays_visual_count(glb->rays); i++) {
        RaysVisual visual = rays_describe(glb->rays, i);
        if (!visual.mesh || visual.mesh->triangle_count == 0 || rays_is_hidden(glb->rays, i, 0))
            continue;
        uint32_t screen = screen_of(&visual);
        int mesh = add_mesh(glb, &visual, screen != 0);
        if (glb->meshes[mesh].primitive_count == 0)
            continue;
        memory_grow(&glb->nodes, &glb->node_capacity, glb->node_count + 1, sizeof *glb->nodes);
        NodeEntry *node = &glb->nodes[glb->node_count++];
        *node = (NodeEntry){ .solid = visual.solid, .mesh = mesh, .glow = glow_of(&visual), .screen = screen };
        memcpy(node->local, visual.local, sizeof node->local);
    }
}

// ---- JSON ----

static void write_numbers(JsonWriter *json, const char *key, const double *numbers, int count)
{
    json_begin_array(json, key);
    for (int i = 0; i < count; i++)
        json_double(json, NULL, numbers[i]);
    json_end_array(json);
}

static void write_floats(JsonWriter *json, const char *key, const float *numbers, int count)
{
    double wide[4];
    for (int i = 0; i < count; i++)
        wide[i] = (double)numbers[i];
    write_numbers(json, key, wide, count);
}

static void write_vec3(JsonWriter *json, const char *key, Vec3 v)
{
    write_numbers(json, key, (const double[3]){ v.x, v.y, v.z }, 3);
}

static void write_pose(JsonWriter *json, Pose pose)
{
    Quat q = quat_normalized(pose.q);
    write_vec3(json, "translation", pose.t);
    write_numbers(json, "rotation", (const double[4]){ q.x, q.y, q.z, q.w }, 4);
}

// Solids that carry something seen, in order; the world itself is -1. Returns how many.
static int list_solids(const Glb *glb, int **solids)
{
    int count = 0, most = physics_solid_count(sim_physics(glb->sim));
    bool *is_there = memory_alloc_array((size_t)most + 1, sizeof *is_there);
    for (int i = 0; i < glb->node_count; i++)
        is_there[glb->nodes[i].solid + 1] = true;
    *solids = memory_alloc_array((size_t)most + 1, sizeof **solids);
    for (int i = 0; i <= most; i++)
        if (is_there[i])
            (*solids)[count++] = i - 1;
    free(is_there);
    return count;
}

// Nodes: 0 the root, then one for each solid, then the visuals.
static void write_solid_node(const Glb *glb, JsonWriter *json, int solid, int first_visual)
{
    const Physics *physics = sim_physics(glb->sim);
    json_begin_object(json, NULL);
    json_string(json, "name", solid < 0 ? "world" : physics_solid_label(physics, solid));
    if (solid >= 0) {
        const SceneNode *node = physics_solid_node(physics, solid);
        write_pose(json, physics_solid_pose(physics, solid));
        json_begin_object(json, "extras");
        json_int(json, "solid", solid);
        json_int(json, "line", node->pos.line);
        json_end_object(json);
    }
    json_begin_array(json, "children");
    for (int i = 0; i < glb->node_count; i++)
        if (glb->nodes[i].solid == solid)
            json_int(json, NULL, first_visual + i);
    json_end_array(json);
    json_end_object(json);
}

static void write_nodes(const Glb *glb, JsonWriter *json, const int *solids, int solid_count)
{
    bool is_y_up = fabs(physics_gravity(sim_physics(glb->sim)).y) > 0.0;
    json_begin_array(json, "nodes");
    json_begin_object(json, NULL);
    json_string(json, "name", "talus");
    if (!is_y_up)
        write_numbers(json, "rotation", (const double[4]){ -sqrt(0.5), 0, 0, sqrt(0.5) }, 4);
    json_begin_array(json, "children");
    for (int i = 0; i < solid_count; i++)
        json_int(json, NULL, 1 + i);
    json_end_array(json);
    json_end_object(json);
    for (int i = 0; i < solid_count; i++)
        write_solid_node(glb, json, solids[i], 1 + solid_count);
    for (int i = 0; i < glb->node_count; i++) {
        const double *l = glb->nodes[i].local;
        json_begin_object(json, NULL);
        json_int(json, "mesh", glb->nodes[i].mesh);
        static const double identity[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
        if (memcmp(l, identity, sizeof identity) != 0)
            write_numbers(json, "matrix",
                          (const double[16]){ l[0], l[4], l[8], 0, l[1], l[5], l[9], 0, l[2], l[6], l[10], 0, l[3],
                                              l[7], l[11], 1 },
                          16);
        if (glb->nodes[i].glow || glb->nodes[i].screen) {
            json_begin_object(json, "extras");
            if (glb->nodes[i].glow)
                json_int(json, "glow", glb->nodes[i].glow);
            if (glb->nodes[i].screen)
                json_int(json, "screen", glb->nodes[i].screen);
            json_end_object(json);
        }
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_meshes(const Glb *glb, JsonWriter *json)
{
    json_begin_array(json, "meshes");
    for (int i = 0; i < glb->mesh_count; i++) {
        const MeshEntry *mesh = &glb->meshes[i];
        if (mesh->primitive_count == 0)
            continue;
        json_begin_object(json, NULL);
        json_begin_array(json, "primitives");
        for (int p = mesh->first_primitive; p < mesh->first_primitive + mesh->primitive_count; p++) {
            const Primitive *primitive = &glb->primitives[p];
            json_begin_object(json, NULL);
            json_begin_object(json, "attributes");
            json_int(json, "POSITION", primitive->position);
            json_int(json, "NORMAL", primitive->normal);
            if (primitive->texcoord >= 0)
                json_int(json, "TEXCOORD_0", primitive->texcoord);
            json_end_object(json);
            json_int(json, "indices", primitive->index);
            json_int(json, "material", primitive->material);
            json_end_object(json);
        }
        json_end_array(json);
        json_end_object(json);
    }
    json_end_array(json);
}

static double linear(double coded) { return coded <= 0.04045 ? coded / 12.92 : pow((coded + 0.055) / 1.055, 2.4); }

// TextureTransform turns and scales about its centre with v upwards, KHR_texture_transform about the corner with v
// downwards.
static void write_texture_transform(JsonWriter *json, const Material *m)
{
    double c = cos(m->rotation), s = sin(m->rotation), x = m->shift.x + m->center.x, y = m->shift.y + m->center.y;
    double u0 = m->scale.x * (c * x - s * y) - m->center.x * m->scale.x,
           v0 = m->scale.y * (s * x + c * y) - m->center.y * m->scale.y;
    json_begin_object(json, "extensions");
    json_begin_object(json, "KHR_texture_transform");
    write_numbers(json, "offset", (const double[2]){ u0, 1.0 - v0 - m->scale.y }, 2);
    write_numbers(json, "scale", (const double[2]){ m->scale.x, m->scale.y }, 2);
    json_double(json, "rotation", m->rotation);
    json_end_object(json);
    json_end_object(json);
}

static void write_material(JsonWriter *json, const Material *m)
{
    json_begin_object(json, NULL);
    json_begin_object(json, "pbrMetallicRoughness");
    double alpha = double_clamp(1.0 - m->transparency, 0.0, 1.0);
    write_numbers(json, "baseColorFactor",
                  (const double[4]){ linear(m->color.x), linear(m->color.y), linear(m->color.z), alpha }, 4);
    json_double(json, "metallicFactor", double_clamp(m->metalness, 0.0, 1.0));
    json_double(json, "roughnessFactor", double_clamp(m->roughness, 0.0, 1.0));
    if (m->texture >= 0) {
        json_begin_object(json, "baseColorTexture");
        json_int(json, "index", m->texture);
        if (m->has_transform)
            write_texture_transform(json, m);
        json_end_object(json);
    }
    json_end_object(json);
    if (m->emissive.x > 0.0 || m->emissive.y > 0.0 || m->emissive.z > 0.0)
        write_vec3(json, "emissiveFactor",
                   vec3(double_clamp(m->emissive.x, 0, 1), double_clamp(m->emissive.y, 0, 1),
                        double_clamp(m->emissive.z, 0, 1)));
    if (alpha < 1.0)
        json_string(json, "alphaMode", "BLEND");
    json_end_object(json);
}

static void write_pictures(const Glb *glb, JsonWriter *json)
{
    enum { REPEAT = 10497, CLAMP = 33071, LINEAR = 9729, LINEAR_MIPMAP_LINEAR = 9987 };
    if (glb->picture_count == 0)
        return;
    json_begin_array(json, "images");
    for (int i = 0; i < glb->picture_count; i++) {
        json_begin_object(json, NULL);
        json_int(json, "bufferView", glb->pictures[i].view);
        json_string(json, "mimeType", "image/png");
        json_end_object(json);
    }
    json_end_array(json);
    json_begin_array(json, "samplers");
    for (int i = 0; i < glb->picture_count; i++) {
        json_begin_object(json, NULL);
        json_int(json, "magFilter", LINEAR);
        json_int(json, "minFilter", LINEAR_MIPMAP_LINEAR);
        json_int(json, "wrapS", glb->pictures[i].repeats[0] ? REPEAT : CLAMP);
        json_int(json, "wrapT", glb->pictures[i].repeats[1] ? REPEAT : CLAMP);
        json_end_object(json);
    }
    json_end_array(json);
    json_begin_array(json, "textures");
    for (int i = 0; i < glb->picture_count; i++) {
        json_begin_object(json, NULL);
        json_int(json, "source", i);
        json_int(json, "sampler", i);
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_accessors(const Glb *glb, JsonWriter *json)
{
    static const char *const widths[] = { "", "SCALAR", "VEC2", "VEC3", "VEC4" };
    json_begin_array(json, "accessors");
    for (int i = 0; i < glb->accessor_count; i++) {
        const Accessor *accessor = &glb->accessors[i];
        json_begin_object(json, NULL);
        json_int(json, "bufferView", accessor->view);
        json_int(json, "componentType", accessor->type);
        json_int(json, "count", accessor->count);
        json_string(json, "type", widths[accessor->width]);
        if (accessor->has_bounds) {
            write_floats(json, "min", accessor->low, accessor->width);
            write_floats(json, "max", accessor->high, accessor->width);
        }
        json_end_object(json);
    }
    json_end_array(json);
    json_begin_array(json, "bufferViews");
    for (int i = 0; i < glb->view_count; i++) {
        json_begin_object(json, NULL);
        json_int(json, "buffer", 0);
        json_int(json, "byteOffset", glb->views[i].offset);
        json_int(json, "byteLength", glb->views[i].size);
        if (glb->views[i].target)
            json_int(json, "target", glb->views[i].target);
        json_end_object(json);
    }
    json_end_array(json);
}

// ---- motion ----

typedef struct Channel {
    int node, times, values;
    const char *path;
} Channel;

static bool moves(const GlbMotion *motion, int solid)
{
    for (int f = 1; f < motion->frame_count; f++) {
        const Pose *a = &motion->poses[solid],
                   *b = &motion->poses[(size_t)f * (size_t)motion->solid_count + (size_t)solid];
        if (!vec3_is_equal(a->t, b->t) || a->q.w != b->q.w || a->q.x != b->q.x || a->q.y != b->q.y || a->q.z != b->q.z)
            return true;
    }
    return false;
}

// Quaternions of one turn have two signs: the nearer one is taken, so that what lies between is right too.
static int add_track(Glb *glb, const GlbMotion *motion, int solid, bool is_rotation)
{
    int width = is_rotation ? 4 : 3;
    float *numbers = memory_alloc_array((size_t)motion->frame_count * (size_t)width, sizeof *numbers);
    Quat last = { 1, 0, 0, 0 };
    for (int f = 0; f < motion->frame_count; f++) {
        Pose pose = motion->poses[(size_t)f * (size_t)motion->solid_count + (size_t)solid];
        Quat q = quat_normalized(pose.q);
        if (q.w * last.w + q.x * last.x + q.y * last.y + q.z * last.z < 0.0)
            q = (Quat){ -q.w, -q.x, -q.y, -q.z };
        last = q;
        const double turn[4] = { q.x, q.y, q.z, q.w }, place[4] = { pose.t.x, pose.t.y, pose.t.z, 0 };
        for (int k = 0; k < width; k++)
            numbers[f * width + k] = (float)(is_rotation ? turn[k] : place[k]);
    }
    int accessor = add_floats(glb, numbers, motion->frame_count, width, 0, false);
    free(numbers);
    return accessor;
}

static int add_motion(Glb *glb, const GlbMotion *motion, const int *solids, int solid_count, Channel **channels)
{
    int count = 0;
    *channels = NULL;
    if (!motion || motion->frame_count < 2)
        return 0;
    float *times = memory_alloc_array((size_t)motion->frame_count, sizeof *times);
    for (int f = 0; f < motion->frame_count; f++)
        times[f] = (float)motion->times[f];
    int input = add_floats(glb, times, motion->frame_count, 1, 0, true);
    free(times);
    *channels = memory_alloc_array(2 * (size_t)solid_count + 1, sizeof **channels);
    for (int i = 0; i < solid_count; i++) {
        if (solids[i] < 0 || solids[i] >= motion->solid_count || !moves(motion, solids[i]))
            continue;
        (*channels)[count++] = (Channel){ 1 + i, input, add_track(glb, motion, solids[i], false), "translation" };
        (*channels)[count++] = (Channel){ 1 + i, input, add_track(glb, motion, solids[i], true), "rotation" };
    }
    return count;
}

static void write_motion(JsonWriter *json, const Channel *channels, int count)
{
    if (count == 0)
        return;
    json_begin_array(json, "animations");
    json_begin_object(json, NULL);
    json_string(json, "name", "run");
    json_begin_array(json, "samplers");
    for (int i = 0; i < count; i++) {
        json_begin_object(json, NULL);
        json_int(json, "input", channels[i].times);
        json_int(json, "output", channels[i].values);
        json_end_object(json);
    }
    json_end_array(json);
    json_begin_array(json, "channels");
    for (int i = 0; i < count; i++) {
        json_begin_object(json, NULL);
        json_int(json, "sampler", i);
        json_begin_object(json, "target");
        json_int(json, "node", channels[i].node);
        json_string(json, "path", channels[i].path);
        json_end_object(json);
        json_end_object(json);
    }
    json_end_array(json);
    json_end_object(json);
    json_end_array(json);
}

// ---- the file ----

static bool has_transforms(const Glb *glb)
{
    for (int i = 0; i < glb->material_count; i++)
        if (glb->materials[i].texture >= 0 && glb->materials[i].has_transform)
            return true;
    return false;
}

static void write_json(const Glb *glb, const int *solids, int solid_count, const Channel *channels, int channel_count,
                       Text *out)
{
    JsonWriter json = { .out = out, .compact = true };
    json_begin_object(&json, NULL);
    json_begin_object(&json, "asset");
    json_string(&json, "version", "2.0");
    json_string(&json, "generator", "Talus");
    json_end_object(&json);
    if (has_transforms(glb)) {
        json_begin_array(&json, "extensionsUsed");
        json_string(&json, NULL, "KHR_texture_transform");
        json_end_array(&json);
    }
    json_int(&json, "scene", 0);
    json_begin_array(&json, "scenes");
    json_begin_object(&json, NULL);
    json_begin_array(&json, "nodes");
    json_int(&json, NULL, 0);
    json_end_array(&json);
    json_end_object(&json);
    json_end_array(&json);
    write_nodes(glb, &json, solids, solid_count);
    if (glb->mesh_count > 0) {
        write_meshes(glb, &json);
        json_begin_array(&json, "materials");
        for (int i = 0; i < glb->material_count; i++)
            write_material(&json, &glb->materials[i]);
        json_end_array(&json);
        write_pictures(glb, &json);
        write_accessors(glb, &json);
        json_begin_array(&json, "buffers");
        json_begin_object(&json, NULL);
        json_int(&json, "byteLength", (int64_t)glb->bin.length);
        json_end_object(&json);
        json_end_array(&json);
    }
    write_motion(&json, channels, channel_count);
    json_end_object(&json);
}

static void add_chunk(Text *out, uint32_t kind, Text *data, char filler)
{
    while (data->length % 4 != 0)
        text_add_char(data, filler);
    uint32_t header[2] = { (uint32_t)data->length, kind };
    text_add(out, (const char *)header, sizeof header);
    text_add(out, data->data, data->length);
}

static void release(Glb *glb)
{
    rays_destroy(glb->rays);
    text_free(&glb->bin);
    free(glb->views);
    free(glb->accessors);
    free(glb->materials);
    free(glb->pictures);
    free(glb->primitives);
    free(glb->meshes);
    free(glb->nodes);
}

void glb_write(Sim *sim, const GlbMotion *motion, Text *out)
{
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers lie in memory as glTF has them");
    Glb glb = { .sim = sim, .rays = rays_create(sim_physics(sim), sim_diags(sim)) };
    rays_update(glb.rays);
    gather(&glb);
    int *solids;
    int solid_count = list_solids(&glb, &solids);
    Channel *channels;
    int channel_count = add_motion(&glb, motion, solids, solid_count, &channels);
    Text json = { 0 };
    while (glb.bin.length % 4 != 0)
        text_add_char(&glb.bin, '\0');
    write_json(&glb, solids, solid_count, channels, channel_count, &json);
    size_t start = out->length;
    uint32_t header[3] = { GLB_MAGIC, 2, 0 };
    text_add(out, (const char *)header, sizeof header);
    add_chunk(out, CHUNK_JSON, &json, ' ');
    if (glb.bin.length > 0)
        add_chunk(out, CHUNK_BIN, &glb.bin, '\0');
    header[2] = (uint32_t)(out->length - start);
    memcpy(out->data + start, header, sizeof header);
    text_free(&json);
    free(channels);
    free(solids);
    release(&glb);
}
