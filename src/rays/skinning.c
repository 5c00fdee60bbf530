// skinning.c - Skins that follow their bones. Each part has a mesh of its own, which is bent anew when a bone moved: by
// solids that carry the names of the bones, or by what devices say of them.
#include "rays/rays_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct Skin {
    const SceneNode *node;
    uint32_t id;  // of the node: another may come to lie at its place
    const Mesh *rest;
    Mesh *bent;
    int tree;             // among the meshes of the rays
    int carrier;          // solid that carries the Skin, -1: the world
    Affine local;         // in its frame
    int *solids;          // that move the bones; NULL: others do. -1: this bone stays with the Skin
    Affine *fixed;        // from the mesh's frame at rest into that of the solid
    MeshMotion *motions;  // of the bones, as the mesh is bent
    MeshMotion *next;
} Skin;

static Skin *skin_of(const Rays *rays, const SceneNode *node, const Mesh *mesh)
{
    for (int i = 0; i < rays->skin_count; i++)
        if (rays->skins[i]->node == node && rays->skins[i]->id == node->id && rays->skins[i]->rest == mesh)
            return rays->skins[i];
    return NULL;
}

// ---- which solid moves a bone ----

static bool is_below(const SceneNode *node, const SceneNode *top)
{
    while (node && node != top)
        node = scene_parent(node);
    return node != NULL;
}

static const SceneNode *top_solid(const SceneNode *node)
{
    const SceneNode *top = node;
    for (; node; node = scene_parent(node))
        if (node->type && scene_node_is(node, "Solid"))
            top = node;
    return top;
}

static int solid_named(const Rays *rays, const SceneNode *top, const char *name)
{
    for (int i = 0; i < physics_solid_count(rays->physics); i++) {
        if (!physics_solid_exists(rays->physics, i))
            continue;
        const SceneNode *node = physics_solid_node(rays->physics, i);
        if (!strcmp(scene_string(node, "name"), name) && is_below(node, top))
            return i;
    }
    return -1;
}

static bool names_bone(const FieldList *bones, const char *name)
{
    for (int i = 0; i < bones->count; i++) {
        const SceneNode *reference = scene_list_node(bones, i);
        if (reference && reference->type && scene_node_is(reference, "SolidReference")
            && !strcmp(scene_string(reference, "solidName"), name))
            return true;
    }
    return false;
}

// As the file has them, joints where they are there.
static Pose frame_in_file(const SceneNode *node)
{
    Pose pose = POSE_IDENTITY;
    for (; node; node = scene_parent(node))
        if (node->type && scene_node_is(node, "Pose"))
            pose = pose_mul(scene_pose(node), pose);
    return pose;
}

static Affine affine_inverse(Affine a)
{
    Affine inverse = { MAT3_IDENTITY, VEC3_ZERO };
    if (!mat3_inverse(a.m, &inverse.m))
        return inverse;
    inverse.t = vec3_neg(mat3_apply(inverse.m, a.t));
    return inverse;
}

// Again with every list: solids may be others. Bones whose solids are not there stay with the Skin.
static int find_solids(Rays *rays, Skin *skin)
{
    assert_debug(skin->solids);
    const FieldList *bones = scene_list(skin->node, "bones");
    const SceneNode *top = top_solid(skin->node);
    int missing = 0;
    for (int i = 0; i < skin->rest->bone_count; i++) {
        const char *name = skin->rest->bones[i].name;
        skin->solids[i] = names_bone(bones, name) ? solid_named(rays, top, name) : -1;
        missing += skin->solids[i] < 0;
    }
    return missing;
}

// As the file has Skin and solids they belong together.
static void fix_to_solids(Rays *rays, Skin *skin)
{
    const SceneNode *carrier = skin->carrier >= 0 ? physics_solid_node(rays->physics, skin->carrier) : NULL;
    Affine placed = affine_mul(affine_of_pose(frame_in_file(carrier)), skin->local);
    skin->solids = memory_alloc_array((size_t)skin->rest->bone_count, sizeof *skin->solids);
    skin->fixed = memory_alloc_array((size_t)skin->rest->bone_count, sizeof *skin->fixed);
    int missing = find_solids(rays, skin);
    for (int i = 0; i < skin->rest->bone_count; i++)
        if (skin->solids[i] >= 0)
            skin->fixed[i] = affine_mul(
                affine_of_pose(pose_inverse(frame_in_file(physics_solid_node(rays->physics, skin->solids[i])))),
                placed);
    if (missing > 0)
        diag_warning(
            rays->diags, scene_field_pos(skin->node, "bones"),
            "%d of the %d bones of the model have no solid of their name among the bones; they stay with the Skin",
            missing, skin->rest->bone_count);
}

// ---- bending ----

static void bend(Rays *rays, Skin *skin)
{
    assert_debug(skin->tree >= 0 && skin->tree < rays->mesh_count);
    size_t size = (size_t)skin->rest->bone_count * sizeof *skin->motions;
    if (!memcmp(skin->motions, skin->next, size))
        return;
    memcpy(skin->motions, skin->next, size);
    mesh_bend(skin->bent, skin->rest, skin->motions);
    rays_tree_changed(rays, skin->tree);
    for (int i = 0; i < rays->visual_count; i++)
        if (rays->visuals[i].mesh == skin->tree) {
            rays->visuals[i].form.low = skin->bent->low;
            rays->visuals[i].form.high = skin->bent->high;
            rays->visuals[i].is_stale = true;
        }
}

void skins_place(Rays *rays, const Pose *solids, int solid_count)
{
    for (int i = 0; i < rays->skin_count; i++) {
        Skin *skin = rays->skins[i];
        if (!skin->solids || skin->carrier >= solid_count)
            continue;
        Affine inwards = affine_inverse(
            affine_mul(affine_of_pose(skin->carrier >= 0 ? solids[skin->carrier] : POSE_IDENTITY), skin->local));
        for (int k = 0; k < skin->rest->bone_count; k++) {
            int solid = skin->solids[k];
            if (solid < 0 || solid >= solid_count || !pose_is_finite(solids[solid]))
                continue;
            Affine motion = affine_mul(inwards, affine_mul(affine_of_pose(solids[solid]), skin->fixed[k]));
            skin->next[k] = (MeshMotion){ motion.m, motion.t };
        }
        bend(rays, skin);
    }
}

static void set_bones(Rays *rays, Skin *skin, const Pose *bones, int count)
{
    assert_debug(bones || count == 0);
    for (int i = 0; i < skin->rest->bone_count; i++) {
        Pose rest = skin->rest->bones[i].rest, motion = pose_mul(i < count ? bones[i] : rest, pose_inverse(rest));
        skin->next[i] = i < count && memcmp(&bones[i], &rest, sizeof rest) && pose_is_finite(motion)
                            ? (MeshMotion){ mat3_from_quat(motion.q), motion.t }
                            : (MeshMotion){ MAT3_IDENTITY, VEC3_ZERO };
    }
    bend(rays, skin);
}

void rays_set_bones(Rays *rays, const SceneNode *node, const Pose *bones, int count)
{
    for (int i = 0; i < rays->skin_count; i++)
        if (rays->skins[i]->node == node && !rays->skins[i]->solids)
            set_bones(rays, rays->skins[i], bones, count);
}

bool rays_describe_skin(const Rays *rays, int visual, RaysSkin *skin)
{
    assert(visual >= 0 && visual < rays->visual_count);
    for (int i = 0; i < rays->skin_count; i++)
        if (rays->skins[i]->tree == rays->visuals[visual].mesh && rays->skins[i]->node == rays->visuals[visual].node) {
            *skin = (RaysSkin){ rays->skins[i]->rest, rays->skins[i]->solids };
            return true;
        }
    return false;
}

// ---- life ----

static void free_skin(Skin *skin)
{
    mesh_bend_deinit(skin->bent);
    free(skin->bent);
    free(skin->solids);
    free(skin->fixed);
    free(skin->motions);
    free(skin->next);
    free(skin);
}

static Skin *new_skin(Rays *rays, const SceneNode *node, const Mesh *mesh)
{
    Skin *skin = memory_alloc(sizeof *skin);
    *skin = (Skin){ .node = node, .id = node->id, .rest = mesh, .bent = memory_alloc(sizeof *skin->bent) };
    mesh_bend_init(skin->bent, mesh);
    skin->tree = rays_tree_that_changes(rays, skin->bent);
    skin->motions = memory_alloc_array((size_t)mesh->bone_count, sizeof *skin->motions);
    skin->next = memory_alloc_array((size_t)mesh->bone_count, sizeof *skin->next);
    for (int i = 0; i < mesh->bone_count; i++)
        skin->motions[i] = skin->next[i] = (MeshMotion){ MAT3_IDENTITY, VEC3_ZERO };
    memory_grow(&rays->skins, &rays->skin_capacity, rays->skin_count + 1, sizeof *rays->skins);
    return rays->skins[rays->skin_count++] = skin;
}

int skin_tree(Rays *rays, const SceneNode *node, const Mesh *mesh, int carrier, Affine local)
{
    assert_debug(carrier >= -1);
    assert(mesh->bone_count > 0 && mesh->influences);
    Skin *skin = skin_of(rays, node, mesh);
    bool is_new = !skin;
    if (is_new)
        skin = new_skin(rays, node, mesh);
    skin->carrier = carrier;
    skin->local = local;
    if (is_new && scene_list(node, "bones")->count > 0)
        fix_to_solids(rays, skin);
    else if (skin->solids)
        find_solids(rays, skin);
    return skin->tree;
}

void skins_free(Rays *rays)
{
    for (int i = 0; i < rays->skin_count; i++)
        free_skin(rays->skins[i]);
    free(rays->skins);
}
