// glb.c - writes glTF: gathers visuals, shares equal meshes, materials and images, and lays their numbers into one
// buffer.
#include "record/glb_internal.h"

#include "assets/image.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FLOAT = 5126,
    UNSIGNED_SHORT = 5123,
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

// ---- the buffer ----

static int add_view(Glb *glb, const void *data, size_t size, int target)
{
    assert_debug(data || size == 0);
    while (glb->bin.length % 4 != 0)
        text_add_char(&glb->bin, '\0');
    memory_grow(&glb->views, &glb->view_capacity, glb->view_count + 1, sizeof *glb->views);
    glb->views[glb->view_count] = (GlbView){ (int64_t)glb->bin.length, (int64_t)size, target };
    text_add(&glb->bin, data, size);
    return glb->view_count++;
}

static int add_accessor(Glb *glb, GlbAccessor accessor)
{
    assert_debug(accessor.view >= 0 && accessor.view < glb->view_count);
    memory_grow(&glb->accessors, &glb->accessor_capacity, glb->accessor_count + 1, sizeof *glb->accessors);
    glb->accessors[glb->accessor_count] = accessor;
    return glb->accessor_count++;
}

static int add_floats(Glb *glb, const float *numbers, int count, int width, int target, bool with_bounds)
{
    assert_debug(numbers && count > 0 && width > 0);
    GlbAccessor accessor = { .view = add_view(glb, numbers, (size_t)count * (size_t)width * sizeof(float), target),
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

// Corners of triangles that agree in place, normal, texture and bones are one vertex.
typedef struct Corner {
    float position[3], normal[3], texcoord[2];
    uint16_t joints[MESH_INFLUENCES];
    float weights[MESH_INFLUENCES];
} Corner;

static Vec3 corner_normal(const Mesh *mesh, int triangle, int k)
{
    assert_debug(triangle >= 0 && triangle < mesh->triangle_count && k >= 0 && k < 3);
    const float *n = mesh->normals ? mesh->normals + 9 * (size_t)triangle + 3 * k : NULL;
    Vec3 normal = n ? vec3((double)n[0], (double)n[1], (double)n[2]) : mesh_triangle_normal(mesh, triangle);
    double length = vec3_length(normal);
    return length > 1e-6 ? vec3_scale(normal, 1.0 / length) : vec3(0, 0, 1);
}

static Corner corner_of(const Mesh *mesh, int triangle, int k)
{
    assert_debug(triangle >= 0 && triangle < mesh->triangle_count && k >= 0 && k < 3);
    Vec3 p = mesh_position(mesh, mesh->triangles[3 * (size_t)triangle + (size_t)k]),
         n = corner_normal(mesh, triangle, k);
    Corner corner = { .position = { (float)p.x, (float)p.y, (float)p.z },
                      .normal = { (float)n.x, (float)n.y, (float)n.z } };
    if (mesh->texcoords) {
        const float *uv = mesh->texcoords + 6 * (size_t)triangle + 2 * k;
        corner.texcoord[0] = uv[0];
        corner.texcoord[1] = 1.0f - uv[1];  // glTF counts rows from the top
    }
    return corner;
}

// The bones of a corner; one that none moves follows the joint behind them all.
static void add_influence(const Mesh *mesh, int triangle, int k, Corner *corner)
{
    assert(mesh->influences && triangle >= 0 && triangle < mesh->triangle_count && k >= 0 && k < 3);
    const MeshInfluence *influence = &mesh->influences[mesh->triangles[3 * (size_t)triangle + (size_t)k]];
    if (influence->weights[0] <= 0.0f) {
        corner->joints[0] = (uint16_t)mesh->bone_count;
        corner->weights[0] = 1.0f;
    }
    for (int i = 0; i < MESH_INFLUENCES && influence->weights[i] > 0.0f; i++) {
        corner->joints[i] = influence->bones[i];
        corner->weights[i] = influence->weights[i];
    }
}

typedef struct CornerSet {
    Corner *corners;
    int count, capacity;
    int *slots, slot_count;
} CornerSet;

static uint32_t corner_index(CornerSet *set, const Corner *corner)
{
    assert_debug(set->count < set->slot_count);
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
    assert_debug(set->count > 0 && width > 0);
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

// Corners that agree in all they have become one vertex: the file then is about a sixth, and loads into a graphics
// card as it is.
static int add_joints(Glb *glb, const CornerSet *set)
{
    uint16_t(*joints)[MESH_INFLUENCES] = memory_alloc_array((size_t)set->count, sizeof *joints);
    for (int i = 0; i < set->count; i++)
        memcpy(joints[i], set->corners[i].joints, sizeof joints[i]);
    int view = add_view(glb, joints, (size_t)set->count * sizeof *joints, ARRAY_BUFFER);
    free(joints);
    return add_accessor(
        glb, (GlbAccessor){ .view = view, .type = UNSIGNED_SHORT, .count = set->count, .width = MESH_INFLUENCES });
}

// Triangles become corners with an index each, every corner once: glTF has one index for position, normal and texture.
static GlbPrimitive make_primitive(Glb *glb, const Mesh *mesh, int first, int count, int material, GlbMeshUse use)
{
    assert_debug(first >= 0 && count > 0 && first + count <= mesh->triangle_count && material < glb->material_count);
    CornerSet set = { .slot_count = 64 };
    while (set.slot_count < 6 * count + 2)
        set.slot_count *= 2;
    set.slots = memory_alloc_array((size_t)set.slot_count, sizeof *set.slots);
    set.corners = memory_alloc_array(3 * (size_t)count, sizeof *set.corners);
    uint32_t *indices = memory_alloc_array(3 * (size_t)count, sizeof *indices);
    for (int i = 0; i < 3 * count; i++) {
        Corner corner = corner_of(mesh, first + i / 3, i % 3);
        if (use == MESH_SKIN)
            add_influence(mesh, first + i / 3, i % 3, &corner);
        indices[i] = corner_index(&set, &corner);
    }
    GlbPrimitive primitive = { .material = material,
                               .position = add_column(glb, &set, offsetof(Corner, position), 3, true),
                               .normal = add_column(glb, &set, offsetof(Corner, normal), 3, false),
                               .texcoord = -1,
                               .joints = use == MESH_SKIN ? add_joints(glb, &set) : -1,
                               .weights = -1 };
    if (use == MESH_SKIN)
        primitive.weights = add_column(glb, &set, offsetof(Corner, weights), MESH_INFLUENCES, false);
    if (mesh->texcoords && (use == MESH_SCREEN || (material >= 0 && glb->materials[material].texture >= 0)))
        primitive.texcoord = add_column(glb, &set, offsetof(Corner, texcoord), 2, false);
    primitive.index = add_accessor(
        glb, (GlbAccessor){ .view = add_view(glb, indices, 3 * (size_t)count * sizeof *indices, INDEX_BUFFER),
                            .type = UNSIGNED_INT,
                            .count = 3 * count,
                            .width = 1 });
    free(indices);
    free(set.corners);
    free(set.slots);
    return primitive;
}

static void add_primitive(Glb *glb, GlbPrimitive primitive)
{
    assert_debug(primitive.position >= 0 && primitive.index >= 0);
    *memory_push(glb->primitives, glb->primitive_count, glb->primitive_capacity) = primitive;
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
    image_encode_png(&(ImagePixels){ width, height, 4, pixels, 0 }, &png);
    memory_grow(&glb->pictures, &glb->picture_capacity, glb->picture_count + 1, sizeof *glb->pictures);
    glb->pictures[glb->picture_count] =
        (GlbPicture){ image, { visual->repeats[0], visual->repeats[1] }, add_view(glb, png.data, png.length, 0) };
    text_free(&png);
    free(pixels);
    return glb->picture_count++;
}

static int add_material(Glb *glb, GlbMaterial material)
{
    assert_debug(material.texture < glb->picture_count);
    for (int i = 0; i < glb->material_count; i++) {
        const GlbMaterial *m = &glb->materials[i];
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
    return add_material(glb, (GlbMaterial){ visual->color, visual->emissive, visual->transparency, visual->roughness,
                                            visual->metalness, add_picture(glb, visual), visual->has_transform,
                                            visual->center, visual->scale, visual->shift, visual->rotation });
}

static int material_of_part(Glb *glb, const MeshMaterial *part)
{
    return add_material(glb, (GlbMaterial){ .color = part->diffuse,
                                            .emissive = part->emissive,
                                            .transparency = part->transparency,
                                            .roughness = 0.8,
                                            .texture = -1 });
}

// ---- the world ----

// A picture may come onto a screen later, or ink: its corners have places on it, with no image yet.
static int add_mesh(Glb *glb, const RaysVisual *visual, GlbMeshUse use)
{
    const Mesh *mesh = visual->mesh;
    bool has_parts = visual->has_parts && mesh->part_count > 0;
    int material = has_parts ? -1 : material_of(glb, visual);
    for (int i = 0; i < glb->mesh_count; i++)
        if (glb->meshes[i].mesh == mesh && glb->meshes[i].material == material && glb->meshes[i].has_parts == has_parts
            && glb->meshes[i].use == use)
            return i;
    GlbMeshEntry entry = { mesh, material, has_parts, use, glb->primitive_count, 0 };
    if (!has_parts)
        add_primitive(glb, make_primitive(glb, mesh, 0, mesh->triangle_count, material, use));
    for (int p = 0; has_parts && p < mesh->part_count; p++) {
        const MeshPart *part = &mesh->parts[p];
        int own = part->material >= 0 && part->material < mesh->material_count
                      ? material_of_part(glb, &mesh->materials[part->material])
                      : material_of(glb, visual);
        if (part->triangle_count > 0)
            add_primitive(glb, make_primitive(glb, mesh, part->first_triangle, part->triangle_count, own, use));
    }
    entry.primitive_count = glb->primitive_count - entry.first_primitive;
    assert_debug(entry.first_primitive + entry.primitive_count == glb->primitive_count);
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

// ---- skins ----

// As the world was loaded: there a Skin and the solids that move it belong together.
static Pose loaded_frame(const Glb *glb, int solid)
{
    Pose pose = POSE_IDENTITY;
    const SceneNode *node = solid >= 0 ? physics_solid_node(sim_physics(glb->sim), solid) : NULL;
    for (; node; node = scene_parent(node))
        if (node->type && scene_node_is(node, "Pose"))
            pose = pose_mul(sim_loaded_pose(glb->sim, node), pose);
    return pose;
}

// By columns, as glTF has them.
static void put_matrix(const double m[12], float to[16])
{
    for (int column = 0; column < 4; column++)
        for (int row = 0; row < 4; row++)
            to[4 * column + row] = row < 3 ? (float)m[4 * row + column] : column == 3;
}

static void put_pose(Pose pose, const double local[12], float to[16])
{
    Mat3 turn = mat3_from_quat(pose.q);
    double m[12];
    for (int column = 0; column < 4; column++) {
        Vec3 v = mat3_apply(turn, vec3(local[column], local[4 + column], local[8 + column]));
        v = column == 3 ? vec3_add(v, pose.t) : v;
        m[column] = v.x, m[4 + column] = v.y, m[8 + column] = v.z;
    }
    put_matrix(m, to);
}

// From the mesh at rest into the frame of each joint.
static int add_inverses(Glb *glb, const GlbSkinEntry *skin)
{
    assert(skin->rest->bone_count >= 0);
    static const double identity[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
    int count = skin->rest->bone_count + 1;
    float(*matrices)[16] = memory_alloc_array((size_t)count, sizeof *matrices);
    Pose carrier = loaded_frame(glb, skin->carrier);
    for (int i = 0; i < count; i++) {
        int solid = skin->solids && i + 1 < count ? skin->solids[i] : -1;
        if (solid >= 0)
            put_pose(pose_mul(pose_inverse(loaded_frame(glb, solid)), carrier), skin->local, matrices[i]);
        else if (!skin->solids && i + 1 < count)
            put_pose(pose_inverse(skin->rest->bones[i].rest), identity, matrices[i]);
        else
            put_matrix(identity, matrices[i]);
    }
    int accessor = add_floats(glb, matrices[0], count, 16, 0, false);
    free(matrices);
    return accessor;
}

static int add_skin(Glb *glb, const RaysVisual *visual, const RaysSkin *from)
{
    assert_debug(from->rest);
    size_t size = (size_t)from->rest->bone_count * sizeof(int);
    GlbSkinEntry skin = { .node = visual->node, .rest = from->rest, .carrier = visual->solid };
    memcpy(skin.local, visual->local, sizeof skin.local);
    if (from->solids) {
        skin.solids = memory_alloc_array((size_t)from->rest->bone_count, sizeof(int));
        memcpy(skin.solids, from->solids, size);
    }
    skin.inverses = add_inverses(glb, &skin);
    memory_grow(&glb->skins, &glb->skin_capacity, glb->skin_count + 1, sizeof *glb->skins);
    glb->skins[glb->skin_count] = skin;
    return glb->skin_count++;
}

// ---- ink ----

static bool is_no_pen(SceneNode *node, void *context)
{
    (void)context;
    return node->is_removed || !scene_node_is(node, "Pen");
}

static bool has_pens(const Glb *glb) { return !scene_walk(scene_root(sim_scene(glb->sim)), false, is_no_pen, NULL); }

static const SceneNode *paintable(const RaysVisual *visual)
{
    const SceneNode *geometry = scene_node_is(visual->node, "Shape") ? scene_child(visual->node, "geometry") : NULL;
    return visual->mesh->texcoords ? scene_actual(geometry) : NULL;
}

// All that is seen, with what may change it in a run: lamps, screens, pens, bones.
static void gather(Glb *glb)
{
    assert_debug(glb->node_count == 0);
    bool writes = has_pens(glb);
    for (int i = 0; i < rays_visual_count(glb->rays); i++) {
        RaysVisual visual = rays_describe(glb->rays, i);
        if (!visual.mesh || visual.mesh->triangle_count == 0 || rays_is_hidden(glb->rays, i, 0))
            continue;
        RaysSkin skin;
        bool is_skin = rays_describe_skin(glb->rays, i, &skin);
        uint32_t screen = screen_of(&visual);
        visual.mesh = is_skin ? skin.rest : visual.mesh;
        const SceneNode *painted = writes && !is_skin ? paintable(&visual) : NULL;
        int mesh = add_mesh(glb, &visual, is_skin ? MESH_SKIN : screen || painted ? MESH_SCREEN : MESH_PLAIN);
        if (glb->meshes[mesh].primitive_count == 0)
            continue;
        memory_grow(&glb->nodes, &glb->node_capacity, glb->node_count + 1, sizeof *glb->nodes);
        GlbNodeEntry *node = &glb->nodes[glb->node_count++];
        *node = (GlbNodeEntry){
            .solid = visual.solid, .mesh = mesh, .glow = glow_of(&visual), .screen = screen, .skin = -1
        };
        if (painted) {
            node->ink = visual.node->id;
            node->form = painted->type->name;
        }
        memcpy(node->local, visual.local, sizeof node->local);
        if (is_skin)
            node->skin = add_skin(glb, &visual, &skin);
    }
}

// ---- JSON ----

// Solids that carry something seen or move bones, in order; the world itself is -1. Returns how many.
static int list_solids(const Glb *glb, int **solids)
{
    assert_debug(solids);
    int count = 0, max = physics_solid_count(sim_physics(glb->sim));
    bool *is_there = memory_alloc_array((size_t)max + 1, sizeof *is_there);
    for (int i = 0; i < glb->node_count; i++)
        is_there[glb->nodes[i].solid + 1] = true;
    for (int i = 0; i < glb->skin_count; i++)
        for (int k = 0; glb->skins[i].solids && k < glb->skins[i].rest->bone_count; k++)
            is_there[glb->skins[i].solids[k] + 1] |= glb->skins[i].solids[k] >= 0;
    *solids = memory_alloc_array((size_t)max + 1, sizeof **solids);
    for (int i = 0; i <= max; i++)
        if (is_there[i])
            (*solids)[count++] = i - 1;
    free(is_there);
    return count;
}

// Numbers of the nodes that come after all visuals.
static void place_anchors(Glb *glb, int first)
{
    for (int i = 0; i < glb->skin_count; i++) {
        glb->skins[i].anchor = first;
        first += 1 + (glb->skins[i].solids ? 0 : glb->skins[i].rest->bone_count);
    }
}

// ---- motion ----

static bool moves(const GlbMotion *motion, int solid)
{
    assert_debug(solid >= 0 && solid < motion->solid_count);
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
    assert_debug(solid >= 0 && solid < motion->solid_count);
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

static int add_motion(Glb *glb, const GlbMotion *motion, const int *solids, int solid_count, GlbChannel **channels)
{
    int count = 0;
    *channels = NULL;
    if (!motion || motion->frame_count < 2)
        return 0;
    assert(solid_count >= 0);
    float *times = memory_alloc_array((size_t)motion->frame_count, sizeof *times);
    for (int f = 0; f < motion->frame_count; f++)
        times[f] = (float)motion->times[f];
    int input = add_floats(glb, times, motion->frame_count, 1, 0, true);
    free(times);
    *channels = memory_alloc_array(2 * (size_t)solid_count + 1, sizeof **channels);
    for (int i = 0; i < solid_count; i++) {
        if (solids[i] < 0 || solids[i] >= motion->solid_count || !moves(motion, solids[i]))
            continue;
        (*channels)[count++] = (GlbChannel){ 1 + i, input, add_track(glb, motion, solids[i], false), "translation" };
        (*channels)[count++] = (GlbChannel){ 1 + i, input, add_track(glb, motion, solids[i], true), "rotation" };
    }
    return count;
}

// ---- the file ----

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
    for (int i = 0; i < glb->skin_count; i++)
        free(glb->skins[i].solids);
    free(glb->skins);
}

// The bytes come first, the JSON that names them next, and the header last, when their sizes are known.
void glb_write(Sim *sim, const GlbMotion *motion, Text *out)
{
    assert_debug(sim && out);
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers lie in memory as glTF has them");
    Glb glb = { .sim = sim, .rays = rays_create(sim_physics(sim), sim_diags(sim)) };
    rays_update(glb.rays);
    gather(&glb);
    int *solids;
    int solid_count = list_solids(&glb, &solids);
    place_anchors(&glb, 1 + solid_count + glb.node_count);
    GlbChannel *channels;
    int channel_count = add_motion(&glb, motion, solids, solid_count, &channels);
    Text json = { 0 };
    while (glb.bin.length % 4 != 0)
        text_add_char(&glb.bin, '\0');
    glb_write_json(&glb, solids, solid_count, channels, channel_count, &json);
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
