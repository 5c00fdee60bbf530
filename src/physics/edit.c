// The scene changes while it runs, and the run is written back into the scene.
#include "physics/physics_internal.h"

#include <string.h>

static void sync_pose(Physics *physics, int index)
{
    const PhysicsSolid *solid = &physics->solids[index];
    Pose above = solid->parent >= 0 ? physics->solid_world[solid->parent] : POSE_IDENTITY;
    Pose frame = pose_mul(above, solid->base);
    Pose pose = pose_mul(pose_inverse(frame), physics->solid_world[index]);
    scene_set_vec3(physics->scene, solid->node, "translation", pose.t);
    scene_set_rotation(physics->scene, solid->node, "rotation", quat_to_rotation(pose.q));
}

static void sync_velocity(Physics *physics, int index, const char *field, Vec3 value)
{
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
    const PhysicsSolid *solid = &physics->solids[index];
    Pose above = solid->parent >= 0 ? physics->solid_world[solid->parent] : POSE_IDENTITY;
    Pose written = pose_mul(pose_mul(above, solid->base), scene_pose(solid->node));
    Pose now = physics->solid_world[index];
    Quat turn = quat_mul(quat_conj(written.q), now.q);
    double angle = sqrt(turn.x * turn.x + turn.y * turn.y + turn.z * turn.z);
    return vec3_distance(written.t, now.t) > 1e-15 || angle > 1e-15;
}

void physics_sync_scene(Physics *physics)
{
    for (int i = 0; i < physics->solid_count; i++) {
        const PhysicsSolid *solid = &physics->solids[i];
        if (!solid->is_alive || (solid->merger >= 0 && solid->merger != i))
            continue;
        if (has_moved(physics, i))
            sync_pose(physics, i);
        const BodyState *state = solid->body >= 0 ? &physics->body_states[solid->body] : NULL;
        sync_velocity(physics, i, "linearVelocity", state ? state->linear : physics->solid_states[i].linear);
        sync_velocity(physics, i, "angularVelocity", state ? state->angular : physics->solid_states[i].angular);
    }
    for (int i = 0; i < physics->joint_count; i++)
        if (physics->joints[i].is_alive)
            joint_sync_scene(physics, i);
    machines_sync_scene(physics);
}

// A whole tree is built anew: masses merge across it, and what was merged may have changed.
static void rebuild_tree(Physics *physics, int top)
{
    SceneNode *node = physics->solids[top].node;
    remove_subtree(physics, top);
    build_subtree(physics, node);
}

static int solid_at_or_above(const Physics *physics, const SceneNode *node)
{
    for (const SceneNode *at = scene_actual(node); at; at = scene_parent(at)) {
        int solid = physics_solid_of(physics, at);
        if (solid >= 0)
            return solid;
    }
    return -1;
}

void physics_node_added(Physics *physics, SceneNode *node)
{
    odelib_begin(physics);
    const SceneNode *parent = scene_parent(scene_actual(node));
    int above = parent ? solid_at_or_above(physics, parent) : -1;
    if (above >= 0) {
        physics_sync_scene(physics);
        rebuild_tree(physics, physics->solids[above].top);
    } else {
        build_subtree(physics, node);
    }
    physics->needs_pass = true;
    odelib_end();
}

void physics_node_removed(Physics *physics, SceneNode *node)
{
    odelib_begin(physics);
    (void)node;
    odelib_end();
}

void physics_field_changed(Physics *physics, SceneNode *node, const char *field)
{
    (void)physics, (void)node, (void)field;
}
