// glb_json.c - the JSON part of a glTF file: nodes, meshes, materials, pictures, accessors, motion.
#include "record/glb_internal.h"

#include <math.h>
#include <string.h>

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

// Nodes: 0 the root, then one for each solid, then the visuals, then the anchor of each skin with bones of its own.
static void write_solid_node(const Glb *glb, JsonWriter *json, int solid, int first_visual)
{
    assert_debug(solid >= -1 && first_visual > 0);
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
    bool has_children = false;  // a list that is empty is none in glTF
    for (int i = 0; i < glb->node_count + glb->skin_count; i++) {
        const GlbNodeEntry *node = i < glb->node_count ? &glb->nodes[i] : NULL;
        const GlbSkinEntry *skin = node ? NULL : &glb->skins[i - glb->node_count];
        if (node ? node->solid != solid || node->skin >= 0 : skin->carrier != solid)
            continue;
        if (!has_children)
            json_begin_array(json, "children");
        has_children = true;
        json_int(json, NULL, node ? first_visual + i : skin->anchor);
    }
    if (has_children)
        json_end_array(json);
    json_end_object(json);
}

static void write_matrix(JsonWriter *json, const double l[12])
{
    static const double identity[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
    if (memcmp(l, identity, sizeof identity) != 0)
        write_numbers(
            json, "matrix",
            (const double[16]){ l[0], l[4], l[8], 0, l[1], l[5], l[9], 0, l[2], l[6], l[10], 0, l[3], l[7], l[11], 1 },
            16);
}

static void write_anchor(const GlbSkinEntry *skin, JsonWriter *json)
{
    int bone_count = skin->solids ? 0 : skin->rest->bone_count;
    json_begin_object(json, NULL);
    json_string(json, "name", scene_string(skin->node, "name"));
    write_matrix(json, skin->local);
    if (bone_count > 0) {
        json_begin_array(json, "children");
        for (int i = 0; i < bone_count; i++)
            json_int(json, NULL, skin->anchor + 1 + i);
        json_end_array(json);
    }
    json_end_object(json);
    for (int i = 0; i < bone_count; i++) {
        const MeshBone *bone = &skin->rest->bones[i];
        json_begin_object(json, NULL);
        json_string(json, "name", bone->name);
        write_pose(json, bone->rest);
        json_begin_object(json, "extras");
        json_int(json, "bone", i);
        json_int(json, "above", bone->parent);
        json_end_object(json);
        json_end_object(json);
    }
}

static void write_extras(const Glb *glb, const GlbNodeEntry *node, JsonWriter *json)
{
    const GlbSkinEntry *skin = node->skin >= 0 ? &glb->skins[node->skin] : NULL;
    if (!node->glow && !node->screen && !node->ink && !skin)
        return;
    json_begin_object(json, "extras");
    if (node->glow)
        json_int(json, "glow", node->glow);
    if (node->screen)
        json_int(json, "screen", node->screen);
    if (node->ink) {
        json_int(json, "ink", node->ink);
        json_string(json, "form", node->form);
    }
    if (skin) {
        json_int(json, "skin", skin->node->id);
        json_int(json, "carrier", skin->carrier);
    }
    json_end_object(json);
}

static int node_of_solid(const int *solids, int solid_count, int solid)
{
    for (int i = 0; i < solid_count; i++)
        if (solids[i] == solid)
            return 1 + i;
    assert_debug(!"a solid that moves bones is listed");
    return 0;
}

static void write_skins(const Glb *glb, JsonWriter *json, const int *solids, int solid_count)
{
    if (glb->skin_count == 0)
        return;
    json_begin_array(json, "skins");
    for (int i = 0; i < glb->skin_count; i++) {
        const GlbSkinEntry *skin = &glb->skins[i];
        json_begin_object(json, NULL);
        json_int(json, "inverseBindMatrices", skin->inverses);
        json_begin_array(json, "joints");
        for (int k = 0; k < skin->rest->bone_count; k++)
            json_int(json, NULL,
                     !skin->solids          ? skin->anchor + 1 + k
                     : skin->solids[k] >= 0 ? node_of_solid(solids, solid_count, skin->solids[k])
                                            : skin->anchor);
        json_int(json, NULL, skin->anchor);
        json_end_array(json);
        json_end_object(json);
    }
    json_end_array(json);
}

// Node 0 turns the world's axes to those of glTF; behind it one node for each solid, then one for each visual in its
// solid's frame.
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
        json_begin_object(json, NULL);
        json_int(json, "mesh", glb->nodes[i].mesh);
        if (glb->nodes[i].skin >= 0)
            json_int(json, "skin", glb->nodes[i].skin);
        else
            write_matrix(json, glb->nodes[i].local);
        write_extras(glb, &glb->nodes[i], json);
        json_end_object(json);
    }
    for (int i = 0; i < glb->skin_count; i++)
        write_anchor(&glb->skins[i], json);
    json_end_array(json);
}

// Attributes that no part of a mesh has are left out: readers tell by that what it is for.
static void write_meshes(const Glb *glb, JsonWriter *json)
{
    json_begin_array(json, "meshes");
    for (int i = 0; i < glb->mesh_count; i++) {
        const GlbMeshEntry *mesh = &glb->meshes[i];
        if (mesh->primitive_count == 0)
            continue;
        json_begin_object(json, NULL);
        json_begin_array(json, "primitives");
        for (int p = mesh->first_primitive; p < mesh->first_primitive + mesh->primitive_count; p++) {
            assert_debug(p < glb->primitive_count);
            const GlbPrimitive *primitive = &glb->primitives[p];
            json_begin_object(json, NULL);
            json_begin_object(json, "attributes");
            json_int(json, "POSITION", primitive->position);
            json_int(json, "NORMAL", primitive->normal);
            if (primitive->texcoord >= 0)
                json_int(json, "TEXCOORD_0", primitive->texcoord);
            if (primitive->joints >= 0) {
                json_int(json, "JOINTS_0", primitive->joints);
                json_int(json, "WEIGHTS_0", primitive->weights);
            }
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
static void write_texture_transform(JsonWriter *json, const GlbMaterial *m)
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

static void write_material(JsonWriter *json, const GlbMaterial *m)
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

// One sampler and one texture for each picture: repeats belong to the sampler, and pictures were merged when both
// agree.
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

// Accessors and the views they look through; both were numbered as they were added.
static void write_accessors(const Glb *glb, JsonWriter *json)
{
    static const char *const widths[] = { "", "SCALAR", "VEC2", "VEC3", "VEC4" };
    json_begin_array(json, "accessors");
    for (int i = 0; i < glb->accessor_count; i++) {
        const GlbAccessor *accessor = &glb->accessors[i];
        json_begin_object(json, NULL);
        json_int(json, "bufferView", accessor->view);
        json_int(json, "componentType", accessor->type);
        json_int(json, "count", accessor->count);
        json_string(json, "type", accessor->width == 16 ? "MAT4" : widths[accessor->width]);
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

// One sampler and one channel for each moving property; all samplers share the times.
static void write_motion(JsonWriter *json, const GlbChannel *channels, int count)
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

static bool has_transforms(const Glb *glb)
{
    for (int i = 0; i < glb->material_count; i++)
        if (glb->materials[i].texture >= 0 && glb->materials[i].has_transform)
            return true;
    return false;
}

// The order of arrays in the file is that of the indices given out while gathering; nothing is sorted here.
void glb_write_json(const Glb *glb, const int *solids, int solid_count, const GlbChannel *channels, int channel_count,
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
    for (int i = 0; i < glb->node_count; i++)  // joints place them, no node above does
        if (glb->nodes[i].skin >= 0)
            json_int(&json, NULL, 1 + solid_count + i);
    json_end_array(&json);
    json_end_object(&json);
    json_end_array(&json);
    write_nodes(glb, &json, solids, solid_count);
    write_skins(glb, &json, solids, solid_count);
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
