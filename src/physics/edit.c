// The scene changes while it runs, and the run is written back into the scene.
#include "physics/fittings/fittings.h"
#include "physics/physics_internal.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void sync_pose(Physics *physics, int index)
{
    assert_debug(index >= 0 && index < physics->solid_count);
    const PhysicsSolid *solid = &physics->solids[index];
    Pose above = solid->parent >= 0 ? physics->solid_world[solid->parent] : POSE_IDENTITY;
    Pose frame = pose_mul(above, solid_base(solid));
    Pose pose = pose_mul(pose_inverse(frame), physics->solid_world[index]);
    scene_set_vec3(physics->scene, solid->node, "translation", pose.t);
    scene_set_rotation(physics->scene, solid->node, "rotation", quat_to_rotation(pose.q));
}

static void sync_velocity(Physics *physics, int index, const char *field, Vec3 value)
{
    assert_debug(index >= 0 && index < physics->solid_count);
    SceneNode *node = physics->solids[index].node;
    if (vec3_is_equal(scene_vec3(node, field), value))
        return;
    if (vec3_length2(value) == 0.0)
        scene_reset_field(physics->scene, node, field);
    else
        scene_set_vec3(physics->scene, node, field, value);
}

// Solids that never moved keep the numbers of the file.
static bool has_moved(const Physics *physics, int index)
{
    assert_debug(index >= 0 && index < physics->solid_count);
    const PhysicsSolid *solid = &physics->solids[index];
    Pose above = solid->parent >= 0 ? physics->solid_world[solid->parent] : POSE_IDENTITY;
    Pose written = pose_mul(pose_mul(above, solid_base(solid)), scene_pose(solid->node));
    Pose now = physics->solid_world[index];
    Quat turn = quat_mul(quat_conj(written.q), now.q);
    double angle = sqrt(turn.x * turn.x + turn.y * turn.y + turn.z * turn.z);
    return vec3_distance(written.t, now.t) > 1e-15 || angle > 1e-15;
}

void physics_sync_solid(Physics *physics, int index)
{
    assert(index >= 0 && index < physics->solid_count);
    const PhysicsSolid *solid = &physics->solids[index];
    if (!solid->is_alive || (solid->body_owner >= 0 && solid->body_owner != index))
        return;
    solids_refresh(physics);
    if (has_moved(physics, index))
        sync_pose(physics, index);
    const BodyState *state = solid->body >= 0 ? &physics->body_states[solid->body] : NULL;
    sync_velocity(physics, index, "linearVelocity", state ? state->linear : physics->solid_states[index].linear);
    sync_velocity(physics, index, "angularVelocity", state ? state->angular : physics->solid_states[index].angular);
}

void physics_sync_scene(Physics *physics)
{
    for (int i = 0; i < physics->solid_count; i++)
        physics_sync_solid(physics, i);
    for (int i = 0; i < physics->joint_count; i++)
        if (physics->joints[i].is_alive)
            joint_sync_scene(physics, i);
    fittings_sync_scene(physics);
}

// ---- trees that change ----

static int solid_at_or_above(const Physics *physics, const SceneNode *node)
{
    for (const SceneNode *at = scene_actual(node); at; at = scene_parent(at)) {
        int solid = physics_solid_of(physics, at);
        if (solid >= 0)
            return solid;
    }
    return -1;
}

typedef struct KeptJoint {
    const SceneNode *node, *child;  // child: of the end point, NULL without one
    PhysicsJointState state;
    Pose end_point;  // without the error that its bodies stand with
} KeptJoint;

static const SceneNode *end_point_of(const Physics *physics, int joint)
{
    assert_debug(joint >= 0 && joint < physics->joint_count);
    const PhysicsJoint *row = &physics->joints[joint];
    return row->child >= 0 && !row->is_reference ? physics->solids[row->child].node : NULL;
}

// top -1: of the whole world
static bool joint_is_in(const Physics *physics, const PhysicsJoint *joint, int top)
{
    return joint->is_alive && (top < 0 || (joint->parent >= top && joint->parent < physics->solids[top].end));
}

// What motors were told and where end points belong, by the node of the joint, across a rebuild. Positions come from
// the scene.
static KeptJoint *keep_joints(const Physics *physics, int top, int *count)
{
    joints_refresh((Physics *)physics);
    *count = 0;
    KeptJoint *kept = memory_alloc_array((size_t)physics->joint_count + 1, sizeof(KeptJoint));
    for (int i = 0; i < physics->joint_count; i++)
        if (joint_is_in(physics, &physics->joints[i], top))
            kept[(*count)++] = (KeptJoint){ physics->joints[i].node, end_point_of(physics, i), physics->joint_states[i],
                                            joint_end_point(physics, i) };
    return kept;
}

static void give_back_joints(Physics *physics, const KeptJoint *kept, int count, int first_joint)
{
    for (int i = first_joint; i < physics->joint_count; i++)
        for (int k = 0; k < count; k++) {
            if (kept[k].node != physics->joints[i].node)
                continue;
            for (int axis = 0; axis < PHYSICS_JOINT_AXES; axis++) {
                PhysicsAxisState *to = &physics->joint_states[i].axes[axis], from = kept[k].state.axes[axis];
                from.position = to->position;
                from.offset = to->offset;
                *to = from;
            }
            if (kept[k].child && kept[k].child == end_point_of(physics, i)) {
                joint_put_end_point(physics, i, kept[k].end_point);
                joint_moved(physics, i, true);
            }
            break;
        }
}

typedef struct KeptWeld {
    const SceneNode *node, *parent;
    Pose local;
} KeptWeld;

static const SceneNode *node_above(const Physics *physics, int solid)
{
    return physics->solids[solid].parent >= 0 ? physics->solids[physics->solids[solid].parent].node : NULL;
}

static KeptWeld *keep_welds(const Physics *physics, int top, int *count)
{
    *count = 0;
    KeptWeld *kept = memory_alloc_array((size_t)physics->weld_count + 1, sizeof(KeptWeld));
    int end = top < 0 ? physics->solid_count : physics->solids[top].end;
    for (int i = int_max(top, 0); i < end; i++)
        if (physics->solids[i].is_alive && physics->solids[i].weld >= 0)
            kept[(*count)++] = (KeptWeld){ physics->solids[i].node, node_above(physics, i),
                                           physics->solid_states[i].local };
    return kept;
}

static void give_back_welds(Physics *physics, const KeptWeld *kept, int count)
{
    for (int k = 0; k < count; k++) {
        int solid = kept[k].node->is_removed ? -1 : physics_solid_of(physics, kept[k].node);
        if (solid < 0 || physics->solids[solid].weld < 0 || node_above(physics, solid) != kept[k].parent)
            continue;
        physics->solid_states[solid].local = kept[k].local;
        weld_set(physics, physics->solids[solid].weld);
    }
}

// A whole tree is built anew: masses merge across it, and what was merged may have changed. The scene has the present
// poses, velocities and joint positions. top -1: all of them, in rows without holes.
static void rebuild_tree(Physics *physics, int top)
{
    physics->tree_count++;
    int kept_count, weld_count, first_joint = top < 0 ? 0 : physics->joint_count;
    KeptJoint *kept = keep_joints(physics, top, &kept_count);
    KeptWeld *welds = keep_welds(physics, top, &weld_count);
    if (top < 0) {
        build_again(physics);
    } else {
        SceneNode *node = physics->solids[top].node;
        remove_subtree(physics, top);
        build_subtree(physics, node);
    }
    give_back_joints(physics, kept, kept_count, first_joint);
    give_back_welds(physics, welds, weld_count);
    free(kept);
    free(welds);
}

#define HOLES_ALLOWED 512  // rows; above that, and above twice as many as live, they are taken out

// What was handed out to a plugin cannot be made again, nor can what is held at this moment.
static bool may_take_out_holes(const Physics *physics)
{
    return !physics->plugin_holds_ode && !fittings_hold(physics) && !pins_hold(physics);
}

static void take_out_holes(Physics *physics)
{
    int live = 0, rows = physics->solid_count + physics->shape_count + physics->joint_count;
    for (int i = 0; i < physics->solid_count; i++)
        live += physics->solids[i].is_alive ? 1 + physics->solids[i].shape_count : 0;
    for (int i = 0; i < physics->joint_count; i++)
        live += physics->joints[i].is_alive;
    if (rows - live <= HOLES_ALLOWED + 2 * live || !may_take_out_holes(physics))
        return;
    physics_sync_scene(physics);
    rebuild_tree(physics, -1);
    physics->is_static_moved = physics->needs_pass = true;
}

// What is only seen, or belongs to the picture of a device: bodies do not depend on it.
static bool is_seen_part(SceneNode *node, void *context)
{
    (void)context;
    if (scene_node_is(node, "Group") && !scene_node_is(node, "Solid") && !scene_node_is(node, "Fluid")
        && !scene_node_is(node, "TrackWheel"))
        return true;  // a Pose, for what is inside
    static const char *const types[] = { "Shape",
                                         "CadShape",
                                         "Light",
                                         "AbstractAppearance",
                                         "Material",
                                         "Texture",
                                         "TextureTransform",
                                         "Geometry",
                                         "Coordinate",
                                         "TextureCoordinate",
                                         "Normal",
                                         "Color",
                                         "Skin",
                                         "Lens",
                                         "LensFlare",
                                         "Focus",
                                         "Zoom",
                                         "Recognition",
                                         "Background",
                                         "Fog",
                                         "Viewpoint" };
    for (int i = 0; i < COUNT_OF(types); i++)
        if (scene_node_is(node, types[i]))
            return true;
    return false;
}

static bool is_only_seen(const SceneNode *node) { return scene_walk((SceneNode *)node, false, is_seen_part, NULL); }

// Trees at the top of the world whose nodes were taken out.
static bool remove_gone_trees(Physics *physics)
{
    bool is_any = false;
    for (int i = 0; i < physics->solid_count; i++) {
        if (!physics->solids[i].is_alive || physics->solids[i].parent >= 0 || !physics->solids[i].node->is_removed)
            continue;
        remove_subtree(physics, i);
        is_any = true;
    }
    return is_any;
}

// Bounding objects may USE what stands elsewhere.
static void reshape_users_of_gone(Physics *physics)
{
    int count = physics->shape_count;
    for (int i = 0; i < count; i++)
        if (physics->shapes[i].is_alive && physics->shapes[i].geometry->is_removed && physics->shapes[i].solid >= 0)
            solid_rebuild_shapes(physics, physics->shapes[i].solid);
}

static void geometry_changed(Physics *physics, const SceneNode *geometry)
{
    mesh_forget(physics, geometry);
    int count = physics->shape_count;
    for (int i = 0; i < count; i++)
        if (physics->shapes[i].is_alive && physics->shapes[i].geometry == geometry && physics->shapes[i].solid >= 0)
            solid_rebuild_shapes(physics, physics->shapes[i].solid);
}

// The points of a geometry came or went, and a bounding object may USE the geometry.
static void points_changed(Physics *physics, const SceneNode *node, const SceneNode *parent)
{
    if (scene_node_is(node, "Coordinate") && parent && scene_node_is(parent, "Geometry"))
        geometry_changed(physics, parent);
}

void physics_instance_remade(Physics *physics, SceneNode *instance)
{
    const SceneNode *actual = scene_actual(instance);
    solids_refresh(physics);
    physics_own_rows(physics);
    physics->edit_count++;
    physics->tree_count++;
    odelib_begin(physics);
    physics->is_at_rest = false;
    physics->is_static_moved = true;
    physics->needs_pass |= remove_gone_trees(physics);
    int above = actual ? solid_at_or_above(physics, scene_parent(actual)) : -1;
    if (actual && !actual->in_bounding && !is_only_seen(actual)) {
        if (above >= 0)
            rebuild_tree(physics, physics->solids[above].top);
        else
            build_subtree(physics, instance);
        physics->needs_pass = true;
    }
    reshape_users_of_gone(physics);
    if (actual && (scene_node_is(actual, "ContactProperties") || scene_node_is(actual, "Damping")))
        physics_field_changed(physics, physics->info, "contactProperties");
    take_out_holes(physics);
    odelib_end();
}

// A node came or went below `parent`.
static void fluid_shapes_changed(Physics *physics, const SceneNode *parent)
{
    for (const SceneNode *at = scene_actual(parent); at; at = scene_parent(at))
        if (scene_node_is(at, "Fluid"))
            fluids_changed(physics, at, false);
}

void physics_node_added(Physics *physics, SceneNode *node)
{
    // A USE counts where it stands, not where its node does.
    const SceneNode *actual = scene_actual(node), *parent = scene_parent(node);
    if (!actual)
        return;
    solids_refresh(physics);
    physics_own_rows(physics);
    physics->edit_count++;
    physics->tree_count++;
    odelib_begin(physics);
    physics->is_at_rest = false;
    int above = solid_at_or_above(physics, parent);
    if (node->in_bounding) {
        if (above >= 0)
            solid_rebuild_shapes(physics, above);
    } else if (above < 0) {
        build_subtree(physics, node);
    } else if (!is_only_seen(actual)) {
        physics_sync_scene(physics);
        rebuild_tree(physics, physics->solids[above].top);
    }
    if (scene_node_is(actual, "ContactProperties") || scene_node_is(actual, "Damping"))
        physics_field_changed(physics, physics->info, "contactProperties");
    points_changed(physics, actual, parent);
    fluid_shapes_changed(physics, parent);
    physics->needs_pass = true;
    take_out_holes(physics);
    odelib_end();
}

// What stood in a bounding object costs its solid new shapes, what carries mass or joints the whole tree; what is only
// seen costs nothing.
void physics_node_removed(Physics *physics, SceneNode *node, SceneNode *parent)
{
    const SceneNode *actual = scene_actual(node);
    if (!actual)
        return;
    solids_refresh(physics);
    physics_own_rows(physics);
    physics->edit_count++;
    physics->tree_count++;
    odelib_begin(physics);
    physics->is_at_rest = false;
    int above = solid_at_or_above(physics, parent);
    bool is_seen = above < 0 && remove_gone_trees(physics);
    if (above >= 0 && node->in_bounding)
        solid_rebuild_shapes(physics, above);
    else if (above >= 0 && !is_only_seen(actual)) {
        physics_sync_scene(physics);
        rebuild_tree(physics, physics->solids[above].top);
    }
    for (int i = 0; i < physics->shape_count; i++)
        if (physics->shapes[i].is_alive && physics->shapes[i].fluid >= 0 && physics->shapes[i].geometry->is_removed)
            shape_destroy(physics, i);
    points_changed(physics, actual, scene_actual(parent));
    fluid_shapes_changed(physics, parent);
    reshape_users_of_gone(physics);
    if (scene_node_is(actual, "ContactProperties") || scene_node_is(actual, "Damping"))
        physics_field_changed(physics, physics->info, "contactProperties");
    physics->is_static_moved = true;
    physics->needs_pass |= is_seen;
    take_out_holes(physics);
    odelib_end();
}

// ---- fields that change ----

static void info_changed(Physics *physics)
{
    world_read_info(physics);
    for (int i = 0; i < physics->solid_count; i++)
        if (physics->solids[i].is_alive)
            physics->solids[i].material = contact_material(physics,
                                                           scene_string(physics->solids[i].node, "contactMaterial"));
    for (int i = 0; i < physics->body_count; i++)
        if (physics->bodies[i].is_alive)
            solid_rebuild_mass(physics, physics->bodies[i].solid);
}

Pose solid_frame(const Physics *physics, int index)
{
    assert(index >= 0 && index < physics->solid_count);
    const PhysicsSolid *solid = &physics->solids[index];
    solids_refresh(physics);
    Pose above = solid->parent >= 0 ? physics->solid_world[solid->parent] : POSE_IDENTITY;
    return pose_mul(above, solid_base(solid));
}

// Of an end point's pose one field was given; the other one in the scene is where forces hold it, which is no shape of
// the joint.
static void pose_field_changed(Physics *physics, int index, bool is_translation)
{
    assert_debug(index >= 0 && index < physics->solid_count);
    const PhysicsSolid *solid = &physics->solids[index];
    Pose given = scene_pose(solid->node), in_joint = given;
    if (solid->joint >= 0) {
        in_joint = joint_end_point(physics, solid->joint);
        if (is_translation)
            in_joint.t = given.t;
        else
            in_joint.q = given.q;
    }
    solid_put(physics, index, pose_mul(solid_frame(physics, index), given), &in_joint);
}

static void solid_changed(Physics *physics, int index, const char *field)
{
    assert_debug(index >= 0 && index < physics->solid_count);
    PhysicsSolid *solid = &physics->solids[index];
    if (!strcmp(field, "translation") || !strcmp(field, "rotation")) {
        pose_field_changed(physics, index, *field == 't');
    } else if (!strcmp(field, "linearVelocity") || !strcmp(field, "angularVelocity")) {
        physics_solid_set_velocity(physics, index, scene_vec3(solid->node, "linearVelocity"),
                                   scene_vec3(solid->node, "angularVelocity"));
    } else if (!strcmp(field, "on") && physics_solid_has_switch(solid->node)) {
        physics_switch_turn(physics, index, scene_bool(solid->node, "on"));
    } else if (!strcmp(field, "on") && scene_node_is(solid->node, "Holder")) {
        physics_gripper_turn(physics, index, scene_bool(solid->node, "on"));
    } else if (!strcmp(field, "contactMaterial")) {
        solid->material = contact_material(physics, scene_string(solid->node, field));
    } else if (!strcmp(field, "boundingObject")) {
        solid_rebuild_shapes(physics, index);
    } else if (!strcmp(field, "physics")) {
        physics_sync_scene(physics);
        rebuild_tree(physics, solid->top);
    } else if (!strcmp(field, "selfCollision")) {
        solid->allows_self_collision = scene_bool(solid->node, field);
    }
}

// The pose of everything between a solid and the solid above it.
static Pose base_of(const Physics *physics, const SceneNode *node)
{
    Pose base = POSE_IDENTITY;
    for (const SceneNode *at = scene_parent(node); at && physics_solid_of(physics, at) < 0; at = scene_parent(at))
        if (scene_node_is(at, "Pose"))
            base = pose_mul(scene_pose(at), base);
    return base;
}

// Whether a node stands in what a bounding object is made of, from the geometry up to the solid that has it in its
// tree. (That one may only show it, and another solid USE it.)
static bool holds_geometry(const SceneNode *node, const SceneNode *geometry)
{
    for (const SceneNode *at = geometry; at && !scene_node_is(at, "Solid"); at = scene_parent(at))
        if (at == node)
            return true;
    return false;
}

static void reshape_users_of(Physics *physics, const SceneNode *node)
{
    int count = physics->shape_count;
    for (int i = 0; i < count; i++)
        if (physics->shapes[i].is_alive && physics->shapes[i].solid >= 0
            && holds_geometry(node, physics->shapes[i].geometry))
            solid_rebuild_shapes(physics, physics->shapes[i].solid);
}

static bool is_right_below(const Physics *physics, const SceneNode *node, const SceneNode *pose)
{
    const SceneNode *at = scene_parent(node);
    while (at && at != pose && physics_solid_of(physics, at) < 0)
        at = scene_parent(at);
    return at == pose;
}

// A Pose that is no solid moved: the joints and solids right below it follow, and what a bounding object has of it.
static void pose_changed(Physics *physics, const SceneNode *node)
{
    reshape_users_of(physics, node);
    for (int i = 0; i < physics->joint_count; i++)
        if (physics->joints[i].is_alive && is_right_below(physics, physics->joints[i].node, node))
            physics->joints[i].frame = base_of(physics, physics->joints[i].node);
    for (int i = 0; i < physics->solid_count; i++) {
        PhysicsSolid *solid = &physics->solids[i];
        if (!solid->is_alive || !is_right_below(physics, solid->node, node))
            continue;
        Pose local = pose_mul(pose_inverse(solid_frame(physics, i)), physics->solid_world[i]);
        pose_store(physics->arena, &solid->base, base_of(physics, solid->node));
        solid_put(physics, i, pose_mul(solid_frame(physics, i), local), NULL);
    }
}

static int joint_at_or_above(const Physics *physics, const SceneNode *node)
{
    for (const SceneNode *at = node; at && !scene_node_is(at, "Solid"); at = scene_parent(at))
        if (scene_node_is(at, "Joint"))
            return physics_joint_of(physics, at);
    return -1;
}

uint64_t physics_edit_count(const Physics *physics) { return physics->edit_count; }

uint64_t physics_tree_count(const Physics *physics) { return physics->tree_count; }

static bool is_motion(const SceneNode *node, const char *field)
{
    return scene_node_is(node, "Solid") && (!strcmp(field, "translation") || !strcmp(field, "rotation"));
}

// Joints take CFM and ERP when they are made: all are made anew.
static void world_changed(Physics *physics, const char *field)
{
    info_changed(physics);
    if (strcmp(field, "CFM") && strcmp(field, "ERP"))
        return;
    physics_sync_scene(physics);
    int count = physics->solid_count;
    for (int i = 0; i < count; i++)
        if (physics->solids[i].is_alive && physics->solids[i].parent < 0)
            rebuild_tree(physics, i);
    physics->needs_pass = true;
}

// The narrowest owner that knows the field makes itself anew: the world, a solid, a joint, a geometry, a mass, a shape
// or everything below a Pose.
void physics_field_changed(Physics *physics, SceneNode *node, const char *field)
{
    node = scene_actual(node);
    if (!node)
        return;
    solids_refresh(physics);
    physics_own_rows(physics);
    physics->edit_count += !is_motion(node, field);
    odelib_begin(physics);
    physics->is_at_rest = false;
    int solid = physics_solid_of(physics, node), above = solid_at_or_above(physics, node);
    int joint = joint_at_or_above(physics, node);
    bool is_info = scene_node_is(node, "WorldInfo") || scene_node_is(node, "ContactProperties");
    if (is_info)
        world_changed(physics, field);
    else if (solid >= 0)
        solid_changed(physics, solid, field);
    else if (joint >= 0)
        joint_field_changed(physics, joint, node, field);
    else if (scene_node_is(node, "Geometry"))
        geometry_changed(physics, node);
    else if (scene_node_is(node, "Coordinate"))
        geometry_changed(physics, scene_parent(node));
    else if ((scene_node_is(node, "Physics") || scene_node_is(node, "Damping")) && above >= 0)
        solid_rebuild_mass(physics, above);
    else if (scene_node_is(node, "Damping"))
        info_changed(physics);
    else if (node->in_bounding && above >= 0)
        solid_rebuild_shapes(physics, above);
    else if (scene_node_is(node, "Pose"))
        pose_changed(physics, node);
    fluids_changed(physics, node, !strcmp(field, "translation") || !strcmp(field, "rotation"));
    odelib_end();
}
