// joint_make.c - the constraints of a joint are made and placed: what holds it, stops, the rows of springs and
// suspension; and they are set again where its sides or its state were changed by hand.
//
// Springs and dampers are motor rows with a target velocity of -erp/dt * position and their own softness (the same row
// as a stop with that ERP and CFM); stops of a second axis or near half a turn are an angular motor's, to which the
// unwrapped angle is given; a hinge on a suspension has one of the suspension's two turning axes locked.
#include "physics/joints/joint_internal.h"

#include "physics/joints/motor.h"
#include "physics/joints/tuning.h"

#include <string.h>

static bool has_suspension(const PhysicsJoint *row)
{
    return row->suspension_spring > 0.0 || row->suspension_damping > 0.0;
}

// ERP and CFM of the row that acts as a spring and damper over a step (implicit Euler).
static void spring_row(double spring, double damping, double dt, double *erp, double *cfm)
{
    assert_debug(dt > 0.0 && (spring > 0.0 || damping > 0.0));
    *cfm = 1.0 / (dt * spring + damping);
    *erp = fmin(dt * spring * *cfm, 1.0);
}

// ---- which constraints it has ----

static bool wants_driver(const PhysicsJoint *row, const PhysicsJointState *state)
{
    if (row->kind == PHYSICS_JOINT_SLIDER)
        return false;
    if (row->kind != PHYSICS_JOINT_HINGE)
        return true;
    if (has_suspension(row))
        return true;
    const PhysicsAxis *axis = &row->axes[0];
    double offset = state->axes[0].offset;
    return joint_axis_has_stops(axis) && (axis->max_stop - offset > STOP_WRAP || offset - axis->min_stop > STOP_WRAP);
}

static bool wants_spring(const PhysicsJoint *row, const PhysicsJointState *state)
{
    for (int i = 0; i < row->axis_count; i++)
        if (row->axes[i].spring > 0.0 || row->axes[i].rotor > 0.0
            || joint_axis_damping(&row->axes[i], &state->axes[i]) > 0.0)
            return true;
    return false;
}

static ConstraintKind kind_of(const PhysicsJoint *row)
{
    switch (row->kind) {
    case PHYSICS_JOINT_HINGE2: return CONSTRAINT_SUSPENSION;
    case PHYSICS_JOINT_SLIDER: return CONSTRAINT_SLIDER;
    case PHYSICS_JOINT_BALL: return CONSTRAINT_BALL;
    default: return has_suspension(row) ? CONSTRAINT_SUSPENSION : CONSTRAINT_HINGE;
    }
}

static Constraint *make(Physics *physics, const PhysicsJoint *row, ConstraintKind kind, int axis_count)
{
    assert_debug(row->body[0] != row->body[1]);
    return constraint_make(physics, kind, row->body[0], row->body[1], axis_count,
                           kind == kind_of(row) ? row->node : NULL);
}

static bool can_be_made(Physics *physics, const PhysicsJoint *row)
{
    if (!row->is_dynamic || row->kind >= PHYSICS_JOINT_FIXED || (row->body[0] < 0 && row->body[1] < 0))
        return false;
    if (row->body[0] == row->body[1]) {
        diag_warning(physics->diags, row->node->pos, "both sides of this joint are the same body; it does nothing");
        return false;
    }
    return true;
}

// ---- placing them ----

// Anchors the constraint for the poses in state->anchored.
static void place_constraint(Physics *physics, const PhysicsJoint *row, const PhysicsJointState *state, Pose holder)
{
    assert_debug(row->constraint);
    ConstraintPlace place = { .side = { state->anchored[0], state->anchored[1] },
                              .anchor = pose_apply(holder, row->anchor),
                              .axis = vec3_scale(quat_rotate(holder.q, row->axes[0].axis), joint_raw_sign(row)) };
    // A swapped slider's rows turn their axis round themselves, so here the sign is the same for both.
    if (row->kind == PHYSICS_JOINT_SLIDER)
        place.axis = vec3_neg(quat_rotate(holder.q, row->axes[0].axis));
    if (row->constraint->kind == CONSTRAINT_SUSPENSION) {
        // It slides along the suspension and turns about two axes; a plain hinge locks the first of them.
        place.second = place.axis;
        place.slide = quat_rotate(holder.q, row->suspension_axis);
        row->constraint->locks_first = row->kind == PHYSICS_JOINT_HINGE;
        if (row->kind == PHYSICS_JOINT_HINGE)
            place.axis = vec3_orthogonal(place.second);
        else
            place.second = quat_rotate(holder.q, joint_turned_axis(row, state->axes, 1));
        if (has_suspension(row))
            spring_row(row->suspension_spring, row->suspension_damping, physics->dt, &row->constraint->slide_erp,
                       &row->constraint->slide_cfm);
    }
    constraint_anchor(physics, row->constraint, &place);
}

// A motor's axis for the poses in state->anchored.
static void turn_motor(Physics *physics, const PhysicsJointState *state, Constraint *motor, int axis, int relative,
                       Vec3 world)
{
    assert_debug(axis >= 0 && axis < motor->axis_count);
    constraint_set_motor_axis(motor, axis, relative, world, state->anchored);
    constraint_tell_motor_axis(physics, motor, axis);
}

static void place_beside(Physics *physics, const PhysicsJoint *row, const PhysicsJointState *state, Constraint *motor,
                         Pose holder)
{
    for (int i = 0; i < row->axis_count; i++) {
        Vec3 axis = vec3_scale(quat_rotate(holder.q, joint_turned_axis(row, state->axes, i)), joint_raw_sign(row));
        // The first axis rides on the parent, the last on the child; those between are set anew in every step.
        bool on_parent = i == 0, on_child = i > 0 && i == row->axis_count - 1;
        int relative = row->kind == PHYSICS_JOINT_BALL ? 0
                       : on_parent                     ? (row->is_reversed ? 0 : 1)
                       : on_child                      ? (row->is_reversed ? 1 : 2)
                                                       : 0;
        turn_motor(physics, state, motor, i, relative, axis);
    }
}

void joint_place_stops(const PhysicsJoint *row, const PhysicsJointState *state, int index, bool are_open)
{
    assert(index >= 0 && index < row->axis_count);
    const PhysicsAxis *axis = &row->axes[index];
    double offset = state->axes[index].offset;
    bool is_slider = row->kind == PHYSICS_JOINT_SLIDER;
    Constraint *driver = joint_driver(row);
    double low = -INFINITY, high = INFINITY;
    if (joint_axis_has_stops(axis) && !are_open) {
        bool unwrapped = driver == row->motor;
        low = is_slider ? axis->min_stop - offset : offset - axis->max_stop;
        high = is_slider ? axis->max_stop - offset : offset - axis->min_stop;
        if (unwrapped) {  // the motor is told offset-free angles: minus the position
            low = -axis->max_stop;
            high = -axis->min_stop;
        }
    }
    constraint_set(driver, index, CONSTRAINT_HIGH, high);
    constraint_set(driver, index, CONSTRAINT_LOW, low);
}

static void place_stops(const PhysicsJoint *row, const PhysicsJointState *state)
{
    for (int i = 0; i < row->axis_count; i++) {
        const PhysicsAxis *axis = &row->axes[i];
        Constraint *driver = joint_driver(row);
        if (driver == row->constraint && row->kind != PHYSICS_JOINT_HINGE && row->kind != PHYSICS_JOINT_SLIDER)
            continue;
        joint_place_stops(row, state, i, false);
        if (axis->stop_erp >= 0.0)
            constraint_set(driver, i, CONSTRAINT_STOP_ERP, axis->stop_erp);
        if (axis->stop_cfm >= 0.0)
            constraint_set(driver, i, CONSTRAINT_STOP_CFM, axis->stop_cfm);
    }
}

// Sets its constraints for the poses in state->anchored.
static void place(Physics *physics, int joint)
{
    assert(physics->joints[joint].constraint);
    PhysicsJoint *row = &physics->joints[joint];
    // The bodies stand as they did when the axes stood at their offsets, whatever their positions are now.
    PhysicsJointState then = physics->joint_states[joint];
    const PhysicsJointState *state = &then;
    for (int i = 0; i < row->axis_count; i++)
        then.axes[i].position = then.axes[i].offset;
    Pose parent_side = state->anchored[0], child_side = state->anchored[1];
    Pose holder = joint_holder(physics, row, parent_side);
    place_constraint(physics, row, state, holder);
    if (row->motor)
        place_beside(physics, row, state, row->motor, holder);
    if (row->spring && row->kind != PHYSICS_JOINT_SLIDER)
        place_beside(physics, row, state, row->spring, holder);
    if (row->spring && row->kind == PHYSICS_JOINT_SLIDER) {
        Vec3 axis = vec3_scale(quat_rotate(holder.q, row->axes[0].axis), -joint_raw_sign(row));
        turn_motor(physics, state, row->spring, 0, row->is_reversed ? 0 : 1, axis);
    }
    place_stops(row, state);
    memcpy(row->placed, state->anchored, sizeof row->placed);
    Quat to_parent = quat_conj(parent_side.q);
    JointPlacing *placing = &row->own_placing;
    row->shared_placing = NULL;
    placing->turn = placing->cosine = quat_mul(to_parent, child_side.q);
    for (int i = 0; i < row->axis_count; i++)
        placing->axis[i] = quat_rotate(to_parent, quat_rotate(holder.q, row->axes[i].axis));
    // The vector part of a product with the conjugate turn, along the axis: each component of the turn now has its
    // share.
    Quat c = quat_conj(placing->turn);
    Vec3 a = placing->axis[0];
    placing->sine = (Quat){ c.x * a.x + c.y * a.y + c.z * a.z, c.w * a.x - c.z * a.y + c.y * a.z,
                            c.z * a.x + c.w * a.y - c.x * a.z, -c.y * a.x + c.x * a.y + c.w * a.z };
    placing->slide = vec3_dot(placing->axis[0], quat_rotate(to_parent, vec3_sub(child_side.t, parent_side.t)));
}

// The parent's side is where it is; the child's is where the scene's numbers put it at the offsets, whatever pose
// forces and the suspension hold it in now.
static void anchor(Physics *physics, int joint)
{
    assert_debug(physics->joints[joint].constraint);
    const PhysicsJoint *row = &physics->joints[joint];
    PhysicsJointState *state = &physics->joint_states[joint];
    double offsets[PHYSICS_JOINT_AXES] = { 0.0 };
    for (int i = 0; i < row->axis_count; i++)
        offsets[i] = state->axes[i].offset;
    state->anchored[0] = joint_side_pose(physics, row, 0);
    Pose child = pose_mul(joint_holder(physics, row, state->anchored[0]),
                          pose_mul(joint_motion(row, offsets), state->zero));
    if (row->body[1] >= 0)
        child = pose_mul(child, pose_inverse(solid_in_body(&physics->solids[row->child])));
    child.q = quat_normalized(child.q);
    state->anchored[1] = child;
    place(physics, joint);
}

void joint_make(Physics *physics, int joint)
{
    assert(joint >= 0 && joint < physics->joint_count);
    PhysicsJoint *row = &physics->joints[joint];
    PhysicsJointState *state = &physics->joint_states[joint];
    assert(!row->constraint && !row->motor && !row->spring);  // joint_unmake() comes before
    joints_changed(physics);
    row->is_dynamic = row->parent >= 0 && (row->body[1] >= 0 || (row->child_is_world && row->body[0] >= 0));
    if (!can_be_made(physics, row))
        return;
    joints_refresh(physics);
    row->is_reversed = row->body[0] < 0;
    if (row->kind == PHYSICS_JOINT_HINGE2 && row->is_reversed)
        diag_note(physics->diags, row->node->pos, "a Hinge2Joint without a dynamic parent turns against the world");
    // The constraint's angles are zero where it is made, whatever the positions are there.
    for (int i = 0; i < row->axis_count; i++)
        state->axes[i].offset = state->axes[i].position;
    row->constraint = make(physics, row, kind_of(row),
                           row->kind == PHYSICS_JOINT_HINGE || row->kind == PHYSICS_JOINT_SLIDER);
    row->motor = wants_driver(row, state) ? make(physics, row, CONSTRAINT_ANGULAR_MOTOR, row->axis_count) : NULL;
    // A slider's own motor row is free to be its spring where no motor, friction or stop wants it: one constraint less.
    const PhysicsAxis *axis = &row->axes[0];
    row->is_sprung_inside = row->kind == PHYSICS_JOINT_SLIDER && wants_spring(row, state) && !axis->motor
                            && axis->static_friction <= 0.0 && !joint_axis_has_stops(axis);
    row->spring = NULL;
    if (wants_spring(row, state) && !row->is_sprung_inside)
        row->spring = make(physics, row,
                           row->kind == PHYSICS_JOINT_SLIDER ? CONSTRAINT_LINEAR_MOTOR : CONSTRAINT_ANGULAR_MOTOR,
                           row->axis_count);
    if (row->wants_feedback)
        physics_motor_want_feedback(physics, joint, true);
    anchor(physics, joint);
}

void joint_unmake(Physics *physics, int joint)
{
    assert(joint >= 0 && joint < physics->joint_count);
    PhysicsJoint *row = &physics->joints[joint];
    Constraint **const constraints[] = { &row->constraint, &row->motor, &row->spring };
    joints_changed(physics);
    for (int i = 0; i < COUNT_OF(constraints); i++) {
        constraint_unmake(physics, *constraints[i]);
        *constraints[i] = NULL;
    }
}

void joint_moved(Physics *physics, int joint, bool is_rigid)
{
    assert(joint >= 0 && joint < physics->joint_count);
    const PhysicsJoint *row = &physics->joints[joint];
    if (!row->constraint)
        return;
    if (!is_rigid && row->is_reference)
        joint_close_loop(physics, joint);
    anchor(physics, joint);
}

void joint_restored(Physics *physics, int joint)
{
    assert(joint >= 0 && joint < physics->joint_count);
    PhysicsJoint *row = &physics->joints[joint];
    const PhysicsJointState *state = &physics->joint_states[joint];
    if (!row->constraint)
        return;
    if (memcmp(row->placed, state->anchored, sizeof row->placed))
        place(physics, joint);
}

// ---- what is set by hand ----

void physics_joint_set_position(Physics *physics, int joint, int axis, double position)
{
    assert(axis >= 0 && axis < physics->joints[joint].axis_count);
    assert(joint >= 0 && joint < physics->joint_count);
    PhysicsJoint *row = &physics->joints[joint];
    PhysicsAxisState *state = &physics->joint_states[joint].axes[axis];
    if (!isfinite(position))
        return;
    joints_refresh(physics);
    state->position = position;
    state->surplus = 0.0;
    if (state->mode == MOTOR_POSITION)
        state->target_position = position;
    joint_pose_child(physics, joint);
    joint_moved(physics, joint, false);
    for (int side = 0; side < 2; side++)
        if (row->body[side] >= 0)
            body_wake(physics, row->body[side]);
}

void physics_brake_set_damping(Physics *physics, int joint, int axis, double damping)
{
    assert(axis >= 0 && axis < PHYSICS_JOINT_AXES);
    assert(joint >= 0 && joint < physics->joint_count);
    PhysicsJoint *row = &physics->joints[joint];
    PhysicsAxisState *state = &physics->joint_states[joint].axes[axis];
    if (!(damping >= 0.0) || state->brake_damping == damping)
        return;
    state->brake_damping = damping;
    bool has_row = row->spring || row->is_sprung_inside;
    if (row->constraint && !has_row) {
        joint_unmake(physics, joint);
        joint_make(physics, joint);
    }
    for (int side = 0; side < 2; side++)
        if (row->body[side] >= 0)
            body_wake(physics, row->body[side]);
}
