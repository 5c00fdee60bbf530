// skin.c - Skins: meshes whose bones a controller moves, or solids do. A controller asks for names and places whenever
// it wants to know them; what it sets is kept here until a picture shows it.
#include "devices/devices_internal.h"

#include "base/memory.h"

#include <string.h>

static const Mesh *mesh_of(const DeviceContext *at)
{
    const SceneNode *node = at->info->node;
    const char *url = scene_string(node, "modelUrl");
    ShapeSource source = { physics_scene(at->physics), physics_assets(at->physics), at->devices->diags };
    return *url ? shape_file_mesh(&source, url, shape_naming_file(&source, node, "modelUrl"), NULL,
                                  scene_field_pos(node, "modelUrl"))
                : NULL;
}

static Pose rest_in_parent(const Mesh *mesh, int bone)
{
    assert_debug(bone >= 0 && bone < mesh->bone_count && mesh->bones[bone].parent < mesh->bone_count);
    int parent = mesh->bones[bone].parent;
    return parent < 0 ? mesh->bones[bone].rest
                      : pose_mul(pose_inverse(mesh->bones[parent].rest), mesh->bones[bone].rest);
}

// Those of the model until something was set.
static void bones_in_parents(const DeviceContext *at, const Mesh *mesh, Pose bones[MESH_BONES_MAX])
{
    const SkinState *state = at->state;
    for (int i = 0; i < mesh->bone_count; i++)
        bones[i] = i < state->bone_count ? state->bones[i] : rest_in_parent(mesh, i);
}

// In the frame of the mesh. Exactly at rest where nothing above was moved.
static void bones_in_mesh(const DeviceContext *at, const Mesh *mesh, Pose bones[MESH_BONES_MAX])
{
    assert_debug(mesh->bone_count <= MESH_BONES_MAX);
    bool is_moved[MESH_BONES_MAX];
    Pose own[MESH_BONES_MAX];
    bones_in_parents(at, mesh, own);
    for (int i = 0; i < mesh->bone_count; i++) {
        int parent = mesh->bones[i].parent;
        assert_debug(parent < i);
        Pose rest = rest_in_parent(mesh, i);
        is_moved[i] = memcmp(&own[i], &rest, sizeof rest) || (parent >= 0 && is_moved[parent]);
        bones[i] = !is_moved[i] ? mesh->bones[i].rest : parent >= 0 ? pose_mul(bones[parent], own[i]) : own[i];
    }
}

static bool has_solids(const DeviceContext *at) { return scene_list(at->info->node, "bones")->count > 0; }

int skin_bones(const DeviceContext *at, Pose bones[MESH_BONES_MAX])
{
    const SkinState *state = at->state;
    if (state->bone_count == 0 || has_solids(at))
        return 0;
    const Mesh *mesh = mesh_of(at);
    if (!mesh || mesh->bone_count != state->bone_count)
        return 0;
    bones_in_mesh(at, mesh, bones);
    return mesh->bone_count;
}

int devices_bones(const Devices *devices, int robot, int tag, Pose bones[DEVICE_BONES_MAX])
{
    static_assert((int)DEVICE_BONES_MAX == (int)MESH_BONES_MAX, "a Skin has the bones of its mesh");
    DeviceContext at = device_context((Devices *)devices, robot, tag);
    return at.info->kind != &skin_device || has_solids(&at) ? -1 : skin_bones(&at, bones);
}

static void show_bones(const DeviceContext *at, const Pose *bones, int count)
{
    SkinState *state = at->state;
    const Mesh *mesh = count > 0 ? mesh_of(at) : NULL;
    state->bone_count = mesh && mesh->bone_count == count ? count : 0;
    for (int i = 0; i < state->bone_count; i++) {
        int parent = mesh->bones[i].parent;
        Pose own = parent >= 0 ? pose_mul(pose_inverse(bones[parent]), bones[i]) : bones[i];
        state->bones[i] = pose_is_finite(own) ? own : rest_in_parent(mesh, i);
    }
}

void devices_show_bones(Devices *devices, uint32_t node, const Pose *bones, int count)
{
    assert_debug(count >= 0 && count <= DEVICE_BONES_MAX);
    for (int robot = 0; robot < devices_robot_count(devices); robot++)
        for (int tag = 1; devices_robot_exists(devices, robot) && tag <= devices_count(devices, robot); tag++) {
            DeviceContext at = device_context(devices, robot, tag);
            if (at.info->kind == &skin_device && at.info->node->id == node && !has_solids(&at))
                show_bones(&at, bones, count);
        }
}

// ---- questions ----

static bool is_of_robot(const DeviceContext *at, const SceneNode *node)
{
    while (node && node != at->devices->robots[at->robot].node)
        node = scene_parent(node);
    return node != NULL;
}

static int solid_named(const DeviceContext *at, const char *name)
{
    for (int i = 0; i < physics_solid_count(at->physics); i++) {
        const SceneNode *node = physics_solid_exists(at->physics, i) ? physics_solid_node(at->physics, i) : NULL;
        if (node && !strcmp(scene_string(node, "name"), name) && is_of_robot(at, node))
            return i;
    }
    return -1;
}

// Bones that solids move: where those are, in the frame of the Skin.
static void bones_of_solids(const DeviceContext *at, const Mesh *mesh, Pose bones[MESH_BONES_MAX])
{
    assert_debug(mesh->bone_count <= MESH_BONES_MAX);
    const SceneNode *node = at->info->node;
    Pose skin = pose_mul(
        device_frame(at, scene_parent(node)),
        (Pose){ scene_vec3(node, "translation"), quat_from_rotation(scene_rotation(node, "rotation")) });
    for (int i = 0; i < mesh->bone_count; i++) {
        int solid = solid_named(at, mesh->bones[i].name);
        bones[i] = solid >= 0 ? pose_mul(pose_inverse(skin), physics_solid_pose(at->physics, solid))
                              : mesh->bones[i].rest;
    }
}

static void put_pose(Pose pose, double to[7])
{
    Rotation turn = quat_to_rotation(pose.q);
    const double numbers[7] = { pose.t.x, pose.t.y, pose.t.z, turn.x, turn.y, turn.z, turn.angle };
    memcpy(to, numbers, sizeof numbers);
}

// 0: position and rotation of each bone, in the frame of the Skin and then in that of its parent. 1: their names, each
// ended by a NUL.
static void skin_tell(DeviceContext *at, int number)
{
    const Mesh *mesh = mesh_of(at);
    int count = mesh ? mesh->bone_count : 0;
    if (number == 1) {
        size_t size = 0;
        for (int i = 0; i < count; i++)
            size += strlen(mesh->bones[i].name) + 1;
        char *to = device_image(at, number, (int)size);
        for (int i = 0; i < count; i++) {
            size_t length = strlen(mesh->bones[i].name) + 1;
            memcpy(to, mesh->bones[i].name, length);
            to += length;
        }
        return;
    }
    double(*to)[14] = device_image(at, number, count * (int)sizeof *to);
    Pose bones[MESH_BONES_MAX];
    if (count > 0 && has_solids(at))
        bones_of_solids(at, mesh, bones);
    else if (count > 0)
        bones_in_mesh(at, mesh, bones);
    for (int i = 0; i < count; i++) {
        int parent = mesh->bones[i].parent;
        put_pose(bones[i], to[i]);
        put_pose(parent >= 0 ? pose_mul(pose_inverse(bones[parent]), bones[i]) : bones[i], to[i] + 7);
    }
}

// ---- orders ----

// One bone takes a place or a direction, in the frame of its parent or of the Skin; the bones below go with it.
static const char *skin_command(DeviceContext *at, int command, const double *numbers, int count, const void *bytes,
                                int byte_count)
{
    enum { SET_POSITION, SET_ORIENTATION };
    const Mesh *mesh = mesh_of(at);
    SkinState *state = at->state;
    Pose bones[MESH_BONES_MAX], own[MESH_BONES_MAX];
    (void)bytes, (void)byte_count;
    if (command < SET_POSITION || command > SET_ORIENTATION || count < (command == SET_POSITION ? 5 : 6))
        return "a skin knows no such command";
    for (int i = 0; i < count; i++)
        if (!(fabs(numbers[i]) <= LIMIT_COORDINATE))
            return "numbers must be finite";
    if (!mesh || mesh->bone_count == 0)
        return "its model has no bones";
    if (has_solids(at))
        return "its bones are moved by solids";
    if (!(numbers[0] >= 0.0 && numbers[0] < mesh->bone_count))
        return "there is no bone with this index";
    int index = (int)numbers[0], parent = mesh->bones[index].parent;
    bool is_absolute = numbers[1] != 0.0;
    bones_in_parents(at, mesh, own);
    bones_in_mesh(at, mesh, bones);
    Pose *bone = is_absolute ? &bones[index] : &own[index];
    if (command == SET_POSITION)
        bone->t = vec3(numbers[2], numbers[3], numbers[4]);
    else
        bone->q = quat_from_rotation((Rotation){ numbers[2], numbers[3], numbers[4], numbers[5] });
    if (is_absolute)
        own[index] = parent >= 0 ? pose_mul(pose_inverse(bones[parent]), bones[index]) : bones[index];
    state->bone_count = mesh->bone_count;
    memcpy(state->bones, own, (size_t)mesh->bone_count * sizeof *own);
    return NULL;
}

const DeviceKind skin_device = {
    .type = "Skin",
    .code = WB_NODE_SKIN,
    .state_size = sizeof(SkinState),
    .command = skin_command,
    .tell = skin_tell,
};
