// joint_frames.c - where the sides of a joint stand, and how its axes lie between them now.
#include "physics/joints/joint_internal.h"

Pose joint_holder(const Physics *physics, const PhysicsJoint *row, Pose parent_side)
{
    if (row->parent < 0)
        return row->frame;
    if (row->body[0] < 0)
        return pose_mul(parent_side, row->frame);
    return pose_mul(parent_side, pose_mul(solid_in_body(&physics->solids[row->parent]), row->frame));
}

Pose joint_side_pose(const Physics *physics, const PhysicsJoint *row, int side)
{
    assert(side == 0 || side == 1);
    if (row->body[side] >= 0)
        return body_pose(physics, row->body[side]);
    int solid = side == 0 ? row->parent : row->child;
    return solid >= 0 ? physics->solid_world[solid] : POSE_IDENTITY;
}

Vec3 joint_turned_axis(const PhysicsJoint *row, const PhysicsAxisState *axes, int index)
{
    assert(index >= 0 && index < row->axis_count);
    Vec3 axis = row->axes[index].axis;
    for (int i = index - 1; i >= 0; i--)
        axis = quat_rotate(quat_from_axis_angle(row->axes[i].axis, axes[i].position), axis);
    return axis;
}

Vec3 joint_rate_vector(const Vec3 axes[3], int axis, double *length)
{
    assert(axis >= 0 && axis < 3);
    Vec3 reciprocal = vec3_cross(axes[(axis + 1) % 3], axes[(axis + 2) % 3]);
    double volume = vec3_dot(axes[axis], reciprocal);
    if (fabs(volume) < 1e-3)
        volume = copysign(1e-3, volume);
    reciprocal = vec3_scale(reciprocal, 1.0 / volume);
    *length = vec3_length(reciprocal);
    return reciprocal;
}
