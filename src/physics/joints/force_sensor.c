// force_sensor.c - what a ForceTorqueSensor feels: the wrench that its link, with all that hangs on it, exerts on the
// link above through their joint. It is the sum of what the constraints between the two bodies gave in the last step
// and of the motor's own torque.
#include "physics/joints/motor.h"
#include "physics/physics_internal.h"

#include <assert.h>

// The joint through which the link of a sensor hangs on its parent; -1: it is rigid with the robot's base.
static int joint_above(const Physics *physics, int sensor)
{
    int link = physics->solids[sensor].parent;
    int body_owner = link >= 0 ? physics->solids[link].body_owner : -1;
    return body_owner >= 0 ? physics->solids[body_owner].joint : -1;
}

void force_sensors_build(Physics *physics, int first_solid, int end)
{
    for (int i = first_solid; i < end; i++) {
        if (!scene_node_is(physics->solids[i].node, "ForceTorqueSensor"))
            continue;
        int joint = joint_above(physics, i);
        if (joint >= 0 && physics->joints[joint].constraint)
            physics_motor_want_feedback(physics, joint, true);
        else
            diag_warning(physics->diags, physics->solids[i].node->pos, "'%s' sits on no joint; it reads nothing",
                         solid_label(physics, i));
    }
}

static Vec3 held_within(Vec3 value, Vec3 bound)
{
    for (int i = 0; i < 3; i++) {
        double max = (&bound.x)[i];
        if (max >= 0.0)
            (&value.x)[i] = double_clamp((&value.x)[i], -max, max);
    }
    return value;
}

bool physics_force_sensor(const Physics *physics, int solid, Vec3 *force, Vec3 *torque)
{
    assert(solid >= 0 && solid < physics->solid_count);
    *force = *torque = VEC3_ZERO;
    int joint = joint_above(physics, solid);
    const PhysicsJoint *row = joint >= 0 ? &physics->joints[joint] : NULL;
    if (!row || !row->constraint || row->body[1] < 0)
        return false;
    Vec3 push = VEC3_ZERO, turn = VEC3_ZERO;  // on the child, the turn about its centre of mass
    const Constraint *sources[3] = { row->constraint, row->motor, row->spring };
    for (int i = 0; i < 3; i++) {
        if (!sources[i])
            continue;
        const ConstraintWrenches *wrenches = &sources[i]->wrenches;
        const double *f = row->is_reversed ? wrenches->f1 : wrenches->f2,
                     *t = row->is_reversed ? wrenches->t1 : wrenches->t2;
        push = vec3_add(push, vec3(f[0], f[1], f[2]));
        turn = vec3_add(turn, vec3(t[0], t[1], t[2]));
    }
    joint_drive_wrench(physics, joint, &push, &turn);
    solids_refresh(physics);
    Pose sensor = physics->solid_world[solid], child = body_pose(physics, row->body[1]);
    Vec3 about = vec3_add(turn, vec3_cross(vec3_sub(child.t, sensor.t), push));
    const SceneNode *node = physics->solids[solid].node;
    *force = held_within(quat_unrotate(sensor.q, vec3_neg(push)), scene_vec3(node, "maxForce"));
    *torque = held_within(quat_unrotate(sensor.q, vec3_neg(about)), scene_vec3(node, "maxTorque"));
    return true;
}
