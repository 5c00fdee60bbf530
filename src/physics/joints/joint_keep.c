// joint_keep.c - what a joint in motion is at, as numbers in a hidden field of its node, so that a saved world goes on
// exactly. Poses, velocities and positions do not say all of it: a joint under load stands a little open, and made anew
// it would take the gap for its own shape; and motors follow what they were told. The numbers belong to one moment:
// they count only while both sides of the joint stand where they stood then, so whoever edits the file is free to
// forget about them.
#include "physics/joints/joint.h"
#include "physics/physics_internal.h"
#include "physics/joints/tuning.h"

#include <string.h>

enum { POSE_NUMBERS = 7, AXIS_NUMBERS = 17, KEPT_MAX = 5 * POSE_NUMBERS + PHYSICS_JOINT_AXES * AXIS_NUMBERS };
static const char *const field = "motion";

static int kept_count(const PhysicsJoint *row) { return 5 * POSE_NUMBERS + row->axis_count * AXIS_NUMBERS; }

static bool is_kept(const PhysicsJoint *row)
{
    if (!row->is_alive || row->kind >= PHYSICS_JOINT_FIXED || row->parent < 0 || !schema_field(row->node->type, field))
        return false;
    bool has_motor = false;
    for (int i = 0; i < row->axis_count; i++)
        has_motor = has_motor || row->axes[i].motor;
    return row->constraint || has_motor;
}

static double *put_pose(double *out, Pose pose)
{
    const double numbers[POSE_NUMBERS] = { pose.t.x, pose.t.y, pose.t.z, pose.q.w, pose.q.x, pose.q.y, pose.q.z };
    memcpy(out, numbers, sizeof numbers);
    return out + POSE_NUMBERS;
}

static Pose take_pose(const double *in) { return (Pose){ vec3(in[0], in[1], in[2]), { in[3], in[4], in[5], in[6] } }; }

static double *put_axis(double *out, const PhysicsAxisState *axis)
{
    const double numbers[AXIS_NUMBERS] = { axis->position,
                                           axis->velocity,
                                           axis->offset,
                                           axis->feedback,
                                           axis->target_position,
                                           axis->target_velocity,
                                           axis->command_velocity,
                                           axis->acceleration,
                                           axis->available_force,
                                           axis->force_command,
                                           axis->gains[0],
                                           axis->gains[1],
                                           axis->gains[2],
                                           axis->integral,
                                           axis->last_error,
                                           axis->brake_damping,
                                           axis->mode };
    memcpy(out, numbers, sizeof numbers);
    return out + AXIS_NUMBERS;
}

// False: the numbers are none that this joint can be at.
static bool take_axis(const double *in, PhysicsAxisState *axis)
{
    PhysicsAxisState kept = { .position = in[0],
                              .velocity = in[1],
                              .offset = in[2],
                              .feedback = in[3],
                              .target_position = in[4],
                              .target_velocity = in[5],
                              .command_velocity = in[6],
                              .acceleration = in[7],
                              .available_force = in[8],
                              .force_command = in[9],
                              .gains = { in[10], in[11], in[12] },
                              .integral = in[13],
                              .last_error = in[14],
                              .brake_damping = in[15],
                              .mode = in[16] >= MOTOR_POSITION && in[16] <= MOTOR_FORCE ? (int32_t)in[16] : -1 };
    bool is_sound = joint_axis_is_sound(&kept) && kept.brake_damping >= 0.0;
    if (is_sound)
        *axis = kept;
    return is_sound;
}

void physics_keep_joints(Physics *physics)
{
    joints_refresh(physics);
    for (int joint = 0; joint < physics->joint_count; joint++) {
        const PhysicsJoint *row = &physics->joints[joint];
        if (!is_kept(row))
            continue;
        const PhysicsJointState *state = &physics->joint_states[joint];
        double numbers[KEPT_MAX], *out = numbers;
        for (int side = 0; side < 2; side++)
            out = put_pose(out, joint_side_pose(physics, row, side));
        for (int side = 0; side < 2; side++)
            out = put_pose(out, row->constraint ? state->anchored[side] : POSE_IDENTITY);
        out = put_pose(out, state->zero);
        for (int i = 0; i < row->axis_count; i++)
            out = put_axis(out, &state->axes[i]);
        assert(out - numbers == kept_count(row));
        // A field cannot hold what is no number: the joint is then read from the scene alone, as one without the field.
        bool is_finite = true;
        for (const double *at = numbers; at < out; at++)
            is_finite = is_finite && isfinite(*at);
        if (!is_finite) {
            scene_reset_field(physics->scene, row->node, field);
            continue;
        }
        FieldList *list = scene_list_edit(physics->scene, row->node, field);
        scene_list_reserve(physics->scene, list, FIELD_SF_FLOAT, kept_count(row));
        list->count = kept_count(row);
        memcpy(list->numbers, numbers, (size_t)list->count * sizeof *numbers);
    }
}

static bool is_at(Pose pose, Pose there)
{
    double cosine = pose.q.w * there.q.w + pose.q.x * there.q.x + pose.q.y * there.q.y + pose.q.z * there.q.z;
    return vec3_distance(pose.t, there.t) <= SAME_KEPT_PLACE && fabs(cosine) >= 1.0 - SAME_KEPT_PLACE;
}

// False: the numbers are none of a joint. Numbers of another place are fine, and left alone.
static bool resume(Physics *physics, int joint, const double *in)
{
    assert_debug(joint >= 0 && joint < physics->joint_count);
    joints_refresh(physics);
    PhysicsJoint *row = &physics->joints[joint];
    PhysicsJointState kept = physics->joint_states[joint];
    bool is_here = true;
    for (int side = 0; side < 2; side++, in += POSE_NUMBERS) {
        if (!state_pose_is_sound(take_pose(in)))
            return false;
        is_here = is_here && is_at(take_pose(in), joint_side_pose(physics, row, side));
    }
    for (int side = 0; side < 2; side++, in += POSE_NUMBERS) {
        if (!state_pose_is_sound(take_pose(in)))
            return false;
        kept.anchored[side] = take_pose(in);
    }
    kept.zero = take_pose(in);
    in += POSE_NUMBERS;
    if (!state_pose_is_sound(kept.zero))
        return false;
    for (int i = 0; i < row->axis_count; i++, in += AXIS_NUMBERS) {
        is_here = is_here && in[0] == kept.axes[i].position;
        if (!take_axis(in, &kept.axes[i]))
            return false;
    }
    if (!is_here)
        return true;
    physics->joint_states[joint] = kept;
    if (!row->constraint)
        return true;
    joint_unmake(physics, joint);
    joint_make(physics, joint);  // a brake wants a damper beside the joint
    physics->joint_states[joint] = kept;
    joint_restored(physics, joint);
    return true;
}

void joints_resume(Physics *physics)
{
    for (int joint = 0; joint < physics->joint_count; joint++) {
        const PhysicsJoint *row = &physics->joints[joint];
        const FieldList *list = is_kept(row) ? scene_list(row->node, field) : NULL;
        if (!list || list->count == 0)
            continue;
        if (list->count != kept_count(row) || !resume(physics, joint, list->numbers))
            diag_warning(physics->diags, scene_field_pos(row->node, field),
                         "the saved motion does not fit this joint; it starts from its pose and velocities alone");
    }
}
