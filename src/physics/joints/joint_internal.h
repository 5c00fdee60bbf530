// joint_internal.h - what the files of a joint's life share: where its sides stand, how its axes lie now, and which of
// its constraints drives it. Made and placed by joint_make.c, driven before a step by joint_drive.c, read after it by
// joint_measure.c, listed for both by joint_lists.c.
//
// Sides: a constraint goes from the parent's body to the child's, as plugins expect of ODE's joints. Without a parent
// body the two are swapped, so the axis is negated there: then in both cases the raw angle of a hinge is offset -
// position, and its rate is minus the joint's. A slider's axis is negated the other way round: raw displacement is
// position - offset.
#ifndef TALUS_PHYSICS_JOINT_INTERNAL_H
#define TALUS_PHYSICS_JOINT_INTERNAL_H

#include "physics/physics_internal.h"

#include <assert.h>
#include <stdatomic.h>

#define JOINT_GRAIN 64  // joints that a worker takes at a time

// A loop over joints, on several threads.
typedef struct JointWork {
    Physics *physics;
    double dt;
    const int32_t *joints;  // their indices
    atomic_bool has_left;   // some were left for one thread
} JointWork;

// ---- one axis ----

static inline bool joint_axis_has_stops(const PhysicsAxis *axis) { return axis->min_stop != axis->max_stop; }

static inline double joint_axis_damping(const PhysicsAxis *axis, const PhysicsAxisState *state)
{
    return axis->damping + state->brake_damping;
}

// ---- its constraints ----

// The one whose rows have the motor and the stops.
static inline Constraint *joint_driver(const PhysicsJoint *row) { return row->motor ? row->motor : row->constraint; }
// Of an axis against that of its constraint.
static inline double joint_raw_sign(const PhysicsJoint *row) { return row->is_reversed ? -1.0 : 1.0; }
// Stops of one axis, for the offset that it is anchored at; or none while they are open.
void joint_place_stops(const PhysicsJoint *row, const PhysicsJointState *state, int index, bool are_open);

// ---- where it stands ----

static inline const Quat *joint_side_orientation(const Physics *physics, const PhysicsJoint *row, int side)
{
    static const Quat none = { 1.0, 0.0, 0.0, 0.0 };
    assert_debug(side == 0 || side == 1);
    assert_debug(row->body[side] < physics->body_count);
    if (row->body[side] >= 0)
        return &physics->body_states[row->body[side]].orientation;
    int solid = side == 0 ? row->parent : row->child;
    assert_debug(solid < physics->solid_count);
    return solid >= 0 ? &physics->solid_world[solid].q : &none;
}

// The frame that axes and anchor are given in, for a pose of the parent's side (its body's, or without one its
// solid's).
Pose joint_holder(const Physics *physics, const PhysicsJoint *row, Pose parent_side);
// Direction of axis `index` in the frame of the joint when the axes before it stand at their positions.
Vec3 joint_turned_axis(const PhysicsJoint *row, const PhysicsAxisState *axes, int index);
// For rows about an axis that is not at right angles to the others: the vector whose product with the relative angular
// velocity is the rate of that axis, and its length.
Vec3 joint_rate_vector(const Vec3 axes[3], int axis, double *length);

// ---- in a step ----

// Neither side has a body that is awake: its constraint stands still, and so do its positions.
static inline bool joint_is_asleep(const Physics *physics, const PhysicsJoint *row)
{
    for (int side = 1; side >= 0; side--) {  // most joints have a child
        assert_debug(row->body[side] < physics->body_count);
        if (row->body[side] >= 0 && !physics->body_states[row->body[side]].is_disabled)
            return false;
    }
    return true;
}

// Whether its position is read when somebody asks. Angles of several axes depend on each other's way, and what a motor
// gives is measured in every step.
static inline bool joint_is_read_on_demand(const PhysicsJoint *row)
{
    return row->axis_count == 1 && !row->wants_feedback;
}

void joints_list(Physics *physics);                          // brings Physics.joint_lists up to date
void joint_measure(Physics *physics, int joint, double dt);  // positions and velocities, from where its sides stand

#endif
