// joint_ode.c - joints as constraints: holding, stops, motors, springs, suspension, and reading positions back.
//
// Sides: a constraint goes from the parent's body to the child's, as plugins expect of ODE's joints. Without a parent
// body the two are swapped, so the axis is negated there: then in both cases the raw angle of a hinge is offset -
// position, and its rate is minus the joint's. A slider's axis is negated the other way round: raw displacement is
// position - offset.
//
// Springs and dampers are motor rows with a target velocity of -erp/dt * position and their own softness (the same row
// as a stop with that ERP and CFM); stops of a second axis or near half a turn are an angular motor's, to which the
// unwrapped angle is given; a hinge on a suspension has one of the suspension's two turning axes locked.
#include "physics/physics_internal.h"

#include "base/cpu.h"
#include "base/memory.h"
#include "physics/mirror.h"
#include "physics/joints/motor.h"
#include "physics/joints/tuning.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#define JOINT_GRAIN 64  // joints that a worker takes at a time

static bool has_suspension(const PhysicsJoint *row)
{
    return row->suspension_spring > 0.0 || row->suspension_damping > 0.0;
}

static double damping_of(const PhysicsAxis *axis, const PhysicsAxisState *state)
{
    return axis->damping + state->brake_damping;
}

static bool has_stops(const PhysicsAxis *axis) { return axis->min_stop != axis->max_stop; }

// ERP and CFM of the row that acts as a spring and damper over a step (implicit Euler).
static void spring_row(double spring, double damping, double dt, double *erp, double *cfm)
{
    *cfm = 1.0 / (dt * spring + damping);
    *erp = fmin(dt * spring * *cfm, 1.0);
}

// ---- frames ----

// The frame that axes and anchor are given in, for a pose of the parent's side (its body's, or without one its
// solid's).
static Pose holder_of(const Physics *physics, const PhysicsJoint *row, Pose parent_side)
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

static const Quat *side_orientation(const Physics *physics, const PhysicsJoint *row, int side)
{
    static const Quat none = { 1.0, 0.0, 0.0, 0.0 };
    if (row->body[side] >= 0)
        return &physics->body_states[row->body[side]].orientation;
    int solid = side == 0 ? row->parent : row->child;
    return solid >= 0 ? &physics->solid_world[solid].q : &none;
}

static const Vec3 *side_position(const Physics *physics, const PhysicsJoint *row, int side)
{
    static const Vec3 none = { 0.0, 0.0, 0.0 };
    if (row->body[side] >= 0)
        return &physics->body_states[row->body[side]].position;
    int solid = side == 0 ? row->parent : row->child;
    return solid >= 0 ? &physics->solid_world[solid].t : &none;
}

// Direction of axis `index` in the frame of the joint when the axes before it stand at their positions.
static Vec3 turned_axis(const PhysicsJoint *row, const PhysicsAxisState *axes, int index)
{
    assert(index >= 0 && index < row->axis_count);
    Vec3 axis = row->axes[index].axis;
    for (int i = index - 1; i >= 0; i--)
        axis = quat_rotate(quat_from_axis_angle(row->axes[i].axis, axes[i].position), axis);
    return axis;
}

static double raw_sign(const PhysicsJoint *row) { return row->is_reversed ? -1.0 : 1.0; }

// ---- making ----

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
    return has_stops(axis) && (axis->max_stop - offset > STOP_WRAP || offset - axis->min_stop > STOP_WRAP);
}

static bool wants_spring(const PhysicsJoint *row, const PhysicsJointState *state)
{
    for (int i = 0; i < row->axis_count; i++)
        if (row->axes[i].spring > 0.0 || row->axes[i].rotor > 0.0 || damping_of(&row->axes[i], &state->axes[i]) > 0.0)
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

static Constraint *driver_of(const PhysicsJoint *row) { return row->motor ? row->motor : row->constraint; }

// Anchors the constraint for the poses in state->anchored.
static void place_constraint(Physics *physics, const PhysicsJoint *row, const PhysicsJointState *state, Pose holder)
{
    ConstraintPlace place = { .side = { state->anchored[0], state->anchored[1] },
                              .anchor = pose_apply(holder, row->anchor),
                              .axis = vec3_scale(quat_rotate(holder.q, row->axes[0].axis), raw_sign(row)) };
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
            place.second = quat_rotate(holder.q, turned_axis(row, state->axes, 1));
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
    constraint_set_motor_axis(motor, axis, relative, world, state->anchored);
    constraint_tell_motor_axis(physics, motor, axis);
}

static void place_beside(Physics *physics, const PhysicsJoint *row, const PhysicsJointState *state, Constraint *motor,
                         Pose holder)
{
    for (int i = 0; i < row->axis_count; i++) {
        Vec3 axis = vec3_scale(quat_rotate(holder.q, turned_axis(row, state->axes, i)), raw_sign(row));
        // The first axis rides on the parent, the last on the child; those between are set anew in every step.
        bool on_parent = i == 0, on_child = i > 0 && i == row->axis_count - 1;
        int relative = row->kind == PHYSICS_JOINT_BALL ? 0
                       : on_parent                     ? (row->is_reversed ? 0 : 1)
                       : on_child                      ? (row->is_reversed ? 1 : 2)
                                                       : 0;
        turn_motor(physics, state, motor, i, relative, axis);
    }
}

static void place_stops_of_axis(const PhysicsJoint *row, const PhysicsJointState *state, int index, bool are_open)
{
    assert(index >= 0 && index < row->axis_count);
    const PhysicsAxis *axis = &row->axes[index];
    double offset = state->axes[index].offset;
    bool is_slider = row->kind == PHYSICS_JOINT_SLIDER;
    Constraint *driver = driver_of(row);
    double low = -INFINITY, high = INFINITY;
    if (has_stops(axis) && !are_open) {
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
        Constraint *driver = driver_of(row);
        if (driver == row->constraint && row->kind != PHYSICS_JOINT_HINGE && row->kind != PHYSICS_JOINT_SLIDER)
            continue;
        place_stops_of_axis(row, state, i, false);
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
    Pose holder = holder_of(physics, row, parent_side);
    place_constraint(physics, row, state, holder);
    if (row->motor)
        place_beside(physics, row, state, row->motor, holder);
    if (row->spring && row->kind != PHYSICS_JOINT_SLIDER)
        place_beside(physics, row, state, row->spring, holder);
    if (row->spring && row->kind == PHYSICS_JOINT_SLIDER) {
        Vec3 axis = vec3_scale(quat_rotate(holder.q, row->axes[0].axis), -raw_sign(row));
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
    const PhysicsJoint *row = &physics->joints[joint];
    PhysicsJointState *state = &physics->joint_states[joint];
    double offsets[PHYSICS_JOINT_AXES] = { 0.0 };
    for (int i = 0; i < row->axis_count; i++)
        offsets[i] = state->axes[i].offset;
    state->anchored[0] = joint_side_pose(physics, row, 0);
    Pose child = pose_mul(holder_of(physics, row, state->anchored[0]),
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
    joints_changed(physics);
    row->is_dynamic = row->parent >= 0 && (row->body[1] >= 0 || (row->child_is_world && row->body[0] >= 0));
    if (!can_be_made(physics, row))
        return;
    joints_refresh(physics);
    row->is_reversed = row->body[0] < 0;
    if (row->kind == PHYSICS_JOINT_HINGE2 && row->is_reversed)
        diag_note(physics->diags, row->node->pos, "a Hinge2Joint without a dynamic parent turns against the world");
    for (int i = 0; i < row->axis_count; i++)
        state->axes[i].offset = state->axes[i].position;
    row->constraint = make(physics, row, kind_of(row),
                           row->kind == PHYSICS_JOINT_HINGE || row->kind == PHYSICS_JOINT_SLIDER);
    row->motor = wants_driver(row, state) ? make(physics, row, CONSTRAINT_ANGULAR_MOTOR, row->axis_count) : NULL;
    const PhysicsAxis *axis = &row->axes[0];
    row->is_sprung_inside = row->kind == PHYSICS_JOINT_SLIDER && wants_spring(row, state) && !axis->motor
                            && axis->static_friction <= 0.0 && !has_stops(axis);
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

void physics_brake_set_damping(Physics *physics, int joint, int axis, double damping)
{
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

// ---- before the step ----

// For rows about an axis that is not at right angles to the others: the vector whose product with the relative angular
// velocity is the rate of that axis, and its length.
static Vec3 rate_vector(const Vec3 axes[3], int axis, double *length)
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

// Turns the three rows of a ball joint's motors into the directions that its angles change about now.
static void turn_ball_rows(Physics *physics, int joint, double lengths[3], Vec3 rates[3])
{
    PhysicsJoint *row = &physics->joints[joint];
    const PhysicsJointState *state = &physics->joint_states[joint];
    Pose holder = holder_of(physics, row, joint_side_pose(physics, row, 0));
    Vec3 axes[3];
    for (int i = 0; i < 3; i++)
        axes[i] = quat_rotate(holder.q, turned_axis(row, state->axes, i));
    for (int i = 0; i < 3; i++) {
        rates[i] = rate_vector(axes, i, &lengths[i]);
        Vec3 unit = vec3_scale(rates[i], raw_sign(row) / lengths[i]);
        if (row->motor)
            constraint_turn_motor(physics, row->motor, i, 0, unit);
        if (row->spring)
            constraint_turn_motor(physics, row->spring, i, 0, unit);
    }
}

static void add_torque(Physics *physics, const PhysicsJoint *row, Vec3 torque)
{
    if (row->body[1] >= 0)
        body_add_torque(physics, row->body[1], torque);
    if (row->body[0] >= 0)
        body_add_torque(physics, row->body[0], vec3_neg(torque));
}

// A slider's force acts on one line, so it turns nothing.
static void add_force(Physics *physics, const PhysicsJoint *row, Vec3 force)
{
    if (row->body[1] >= 0)
        body_add_force(physics, row->body[1], force);
    if (row->body[0] >= 0)
        body_add_force_at(physics, row->body[0], vec3_neg(force), joint_side_pose(physics, row, 1).t);
}

static void drive_by_force(Physics *physics, int joint, int axis, Vec3 ball_rate)
{
    const PhysicsJoint *row = &physics->joints[joint];
    const PhysicsJointState *state = &physics->joint_states[joint];
    double force = state->axes[axis].is_without_power ? 0.0 : state->axes[axis].force_command;
    if (force == 0.0)
        return;
    if (row->kind == PHYSICS_JOINT_BALL) {
        add_torque(physics, row, vec3_scale(ball_rate, force));
        return;
    }
    Vec3 direction;
    if (row->axis_count == 1) {
        direction = quat_rotate(*side_orientation(physics, row, 0), joint_placing(row)->axis[0]);
    } else {
        Pose holder = holder_of(physics, row, joint_side_pose(physics, row, 0));
        direction = quat_rotate(holder.q, turned_axis(row, state->axes, axis));
    }
    if (row->kind == PHYSICS_JOINT_SLIDER)
        add_force(physics, row, vec3_scale(direction, force));
    else
        add_torque(physics, row, vec3_scale(direction, force));
}

void joint_drive_wrench(const Physics *physics, int joint, Vec3 *force, Vec3 *torque)
{
    assert(joint >= 0 && joint < physics->joint_count);
    const PhysicsJoint *row = &physics->joints[joint];
    const PhysicsJointState *state = &physics->joint_states[joint];
    Pose holder = holder_of(physics, row, joint_side_pose(physics, row, 0));
    for (int i = 0; i < row->axis_count && row->kind != PHYSICS_JOINT_BALL; i++) {
        const PhysicsAxisState *axis = &state->axes[i];
        if (!row->axes[i].motor || axis->mode != MOTOR_FORCE || axis->is_without_power)
            continue;
        Vec3 push = vec3_scale(quat_rotate(holder.q, turned_axis(row, state->axes, i)), axis->force_command);
        if (row->kind == PHYSICS_JOINT_SLIDER)
            *force = vec3_add(*force, push);
        else
            *torque = vec3_add(*torque, push);
    }
}

// A motor without a limit of force is itself a stop: it is not told to leave the range. At a stop the row would add the
// motor's whole force to the bodies, which no number can hold here, so that the stop is open meanwhile.

static double within_stops(Physics *physics, int joint, int axis, double velocity, double force, double dt)
{
    PhysicsJoint *row = &physics->joints[joint];
    if ((row->kind != PHYSICS_JOINT_HINGE && row->kind != PHYSICS_JOINT_SLIDER) || !has_stops(&row->axes[axis]))
        return velocity;
    const PhysicsJointState *state = &physics->joint_states[joint];
    bool are_open = force >= UNLIMITED_FORCE;
    if (are_open || row->axes[axis].stops_are_open)
        place_stops_of_axis(row, state, axis, are_open);
    row->axes[axis].stops_are_open = are_open;
    if (!are_open)
        return velocity;
    double position = state->axes[axis].position, low = (row->axes[axis].min_stop - position) / dt,
           high = (row->axes[axis].max_stop - position) / dt;
    // Where it starts outside of its range it comes back as from any error of a joint.
    low *= low > 0.0 ? physics->erp : 1.0;
    high *= high < 0.0 ? physics->erp : 1.0;
    return double_clamp(velocity, low, high);
}

// Motor row of one axis: velocity and the most force it may take.
static void drive(Physics *physics, int joint, int axis, double dt, double length, Vec3 ball_rate)
{
    assert(axis >= 0 && axis < physics->joints[joint].axis_count);
    PhysicsJoint *row = &physics->joints[joint];
    PhysicsAxisState *state = &physics->joint_states[joint].axes[axis];
    double velocity = 0.0, force = row->axes[axis].static_friction;
    if (row->axes[axis].motor && state->mode == MOTOR_FORCE) {
        state->command_velocity = 0.0;
        drive_by_force(physics, joint, axis, ball_rate);
    } else if (row->axes[axis].motor) {
        velocity = motor_velocity(physics, joint, axis, dt);
        force = fmax(force, state->is_without_power ? 0.0 : state->available_force);
    }
    velocity = within_stops(physics, joint, axis, velocity, force, dt);
    double sign = row->kind == PHYSICS_JOINT_SLIDER ? 1.0 : -1.0;
    Constraint *driver = driver_of(row);
    if (row->motor) {
        constraint_set_angle(row->motor, axis, -state->position / length);
        if (length != 1.0 && has_stops(&row->axes[axis])) {
            constraint_set(driver, axis, CONSTRAINT_HIGH, -row->axes[axis].min_stop / length);
            constraint_set(driver, axis, CONSTRAINT_LOW, -row->axes[axis].max_stop / length);
        }
    }
    if (!row->is_sprung_inside)
        constraint_set_motor(driver, axis, sign * velocity / length, force);
}

static void spring(Physics *physics, int joint, int axis, double dt, double length)
{
    assert(axis >= 0 && axis < physics->joints[joint].axis_count);
    PhysicsJoint *row = &physics->joints[joint];
    const PhysicsAxisState *state = &physics->joint_states[joint].axes[axis];
    double constant = row->axes[axis].spring, damping = damping_of(&row->axes[axis], state),
           rotor = row->axes[axis].rotor;
    Constraint *target = row->is_sprung_inside ? row->constraint : row->spring;
    if (constant <= 0.0 && damping <= 0.0 && rotor <= 0.0) {
        constraint_set(target, axis, CONSTRAINT_MAX_FORCE, 0.0);
        return;
    }
    // Spring, damper and rotor over one step, all implicit: the force is -k (x + dt v) - c v - J (v - v0) / dt.
    double stiffness = dt * constant + damping + rotor / dt, cfm = 1.0 / stiffness;
    double velocity = (rotor / dt * state->velocity - constant * state->position) * cfm;
    double sign = row->kind == PHYSICS_JOINT_SLIDER ? 1.0 : -1.0;
    constraint_set(target, axis, CONSTRAINT_VELOCITY, sign * velocity / length);
    constraint_set(target, axis, CONSTRAINT_CFM, cfm / (length * length));
    constraint_set(target, axis, CONSTRAINT_MAX_FORCE, INFINITY);
}

// A hinge or slider that nothing drives or springs: its row is that of static friction, set once.
static bool is_passive(const PhysicsJoint *row)
{
    const Constraint *held = row->constraint;
    const PhysicsAxis *axis = &row->axes[0];
    return held && row->axis_count == 1 && !axis->motor && !row->motor && !row->spring && !row->is_sprung_inside
           && !held->ode && row->kind < PHYSICS_JOINT_FIXED && axis->static_friction < UNLIMITED_FORCE
           && !axis->stops_are_open;
}

static void drive_passive(const PhysicsJoint *row)
{
    ConstraintAxis *held = &row->constraint->axes[0];
    held->velocity = row->kind == PHYSICS_JOINT_SLIDER ? 0.0 : -0.0;
    held->max_force = row->axes[0].static_friction;
}

// Whether its position is read when somebody asks. Angles of several axes depend on each other's way, and what a motor
// gives is measured in every step.
static bool is_read_on_demand(const PhysicsJoint *row) { return row->axis_count == 1 && !row->wants_feedback; }

static void read_joint(Physics *physics, int joint, double dt);

// A motor that goes to a position, a spring, and a stop that an unwrapped angle or the motor itself keeps.
static bool is_driven_by_position(const PhysicsJoint *row, const PhysicsJointState *state)
{
    const PhysicsAxis *axis = &row->axes[0];
    return row->motor || row->spring || row->is_sprung_inside || has_stops(axis)
           || (axis->motor && state->axes[0].mode == MOTOR_POSITION);
}

static bool is_bare_motor(const Physics *physics, const PhysicsJoint *row)
{
    return !mirror_is_open(physics) && row->axis_count == 1 && !row->motor && !row->spring && !row->is_sprung_inside
           && row->kind < PHYSICS_JOINT_FIXED && !has_stops(&row->axes[0]);
}

// The push of a motor with one axis on both sides, in a plain world.
static void push_sides(Physics *physics, const PhysicsJoint *row, double force)
{
    Vec3 push = vec3_scale(quat_rotate(*side_orientation(physics, row, 0), joint_placing(row)->axis[0]), force);
    if (row->kind == PHYSICS_JOINT_SLIDER) {
        add_force(physics, row, push);
        return;
    }
    for (int side = 0; side < 2; side++) {
        if (row->body[side] < 0)
            continue;
        assert_debug(row->body[side] < physics->body_count);
        BodyState *body = &physics->body_states[row->body[side]];
        body->torque = side == 1 ? vec3_add(body->torque, push) : vec3_sub(body->torque, push);
    }
}

// As drive(), for the common joint of a robot: an axis with a motor and neither spring nor stops.
static void drive_bare(Physics *physics, int joint, double dt)
{
    const PhysicsJoint *row = &physics->joints[joint];
    PhysicsAxisState *state = &physics->joint_states[joint].axes[0];
    double velocity = 0.0, force = row->axes[0].static_friction;
    if (row->axes[0].motor && state->mode == MOTOR_FORCE) {
        state->command_velocity = 0.0;
        if (state->force_command != 0.0 && !state->is_without_power)
            push_sides(physics, row, state->force_command);
    } else if (row->axes[0].motor) {
        if (physics->unread_steps > 0 && state->mode == MOTOR_POSITION)
            read_joint(physics, joint, 0.0);
        velocity = motor_velocity(physics, joint, 0, dt);
        force = fmax(force, state->is_without_power ? 0.0 : state->available_force);
    }
    ConstraintAxis *axis = &row->constraint->axes[0];
    axis->velocity = row->kind == PHYSICS_JOINT_SLIDER ? velocity : -velocity;
    axis->max_force = force;
}

static void prestep_dynamic(Physics *physics, int joint, double dt)
{
    const PhysicsJoint *row = &physics->joints[joint];
    if (row->is_bare_motor) {
        drive_bare(physics, joint, dt);
        return;
    }
    if (physics->unread_steps > 0 && is_read_on_demand(row)
        && is_driven_by_position(row, &physics->joint_states[joint]))
        read_joint(physics, joint, 0.0);
    double lengths[3] = { 1.0, 1.0, 1.0 };
    Vec3 rates[3] = { VEC3_ZERO, VEC3_ZERO, VEC3_ZERO };
    if (row->kind == PHYSICS_JOINT_BALL)
        turn_ball_rows(physics, joint, lengths, rates);
    for (int i = 0; i < row->axis_count; i++) {
        drive(physics, joint, i, dt, lengths[i], rates[i]);
        if (row->spring || row->is_sprung_inside)
            spring(physics, joint, i, dt, lengths[i]);
    }
}

static bool is_asleep(const Physics *physics, const PhysicsJoint *row)
{
    for (int side = 1; side >= 0; side--)  // most joints have a child
        if (row->body[side] >= 0 && !physics->body_states[row->body[side]].is_disabled)
            return false;
    return true;
}

// Without physics: its motor moves the end point, with all that hangs on it.
static bool is_kinematic(const Physics *physics, const PhysicsJoint *row)
{
    if (!row->is_alive || row->constraint || row->is_dynamic || row->kind >= PHYSICS_JOINT_FIXED || row->child < 0
        || physics->solids[row->child].body >= 0)
        return false;
    for (int i = 0; i < row->axis_count; i++)
        if (row->axes[i].motor)
            return true;
    return false;
}

static void move_kinematic(Physics *physics, int joint, double dt)
{
    const PhysicsJoint *row = &physics->joints[joint];
    for (int i = 0; i < row->axis_count; i++)
        if (row->axes[i].motor)
            motor_move_kinematic(physics, joint, i, dt);
    joint_pose_child(physics, joint);
}

static bool is_simulated(const PhysicsJoint *row)
{
    return row->is_alive && row->kind < PHYSICS_JOINT_FIXED && row->constraint;
}

// Several motors may push the same body, so these take turns.
static bool drives_by_force(const Physics *physics, int joint)
{
    const PhysicsJoint *row = &physics->joints[joint];
    for (int i = 0; i < row->axis_count; i++)
        if (row->axes[i].motor && physics->joint_states[joint].axes[i].mode == MOTOR_FORCE)
            return true;
    return false;
}

// ---- lists: joints that a step has something to do for ----

void joints_changed(Physics *physics) { physics->joint_lists.is_valid = false; }

static bool lists_are_valid(const Physics *physics)
{
    const JointLists *lists = &physics->joint_lists;
    return lists->is_valid && lists->joint_count == physics->joint_count && lists->edit_count == physics->edit_count
           && lists->is_mirrored == mirror_is_open(physics);
}

// What decides is what the joints are, not what their motors are told: a step asks that of those which are listed.
static void list_joints(Physics *physics)
{
    JointLists *lists = &physics->joint_lists;
    if (lists_are_valid(physics))
        return;
    memory_grow(&lists->driven, &lists->driven_capacity, physics->joint_count, sizeof *lists->driven);
    memory_grow(&lists->watched, &lists->watched_capacity, physics->joint_count, sizeof *lists->watched);
    lists->driven_count = lists->watched_count = 0;
    lists->has_kinematic = false;
    for (int joint = 0; joint < physics->joint_count; joint++) {
        PhysicsJoint *row = &physics->joints[joint];
        row->is_bare_motor = is_bare_motor(physics, row);
        bool moves_solids = is_kinematic(physics, row);
        lists->has_kinematic |= moves_solids;
        if (is_simulated(row) && is_passive(row))
            drive_passive(row);
        else if (is_simulated(row) || moves_solids)
            lists->driven[lists->driven_count++] = joint;
        if (row->is_alive && row->constraint && !is_read_on_demand(row))
            lists->watched[lists->watched_count++] = joint;
    }
    lists->joint_count = physics->joint_count;
    lists->edit_count = physics->edit_count;
    lists->is_mirrored = mirror_is_open(physics);
    lists->is_valid = true;
}

// A loop over joints, on several threads; true when some were left for one.
typedef struct JointWork {
    Physics *physics;
    double dt;
    const int32_t *joints;  // their indices
    atomic_bool has_left;
} JointWork;

static void prestep_range(int begin, int end, int worker, void *context)
{
    JointWork *work = context;
    Physics *physics = work->physics;
    (void)worker;
    for (int i = begin; i < end; i++) {
        int joint = work->joints[i];
        if (is_asleep(physics, &physics->joints[joint]))
            continue;
        if (drives_by_force(physics, joint))
            atomic_store(&work->has_left, true);
        else
            prestep_dynamic(physics, joint, work->dt);
    }
}

// All of them one after the other, or just those that push bodies.
static void prestep_in_turn(Physics *physics, double dt, bool just_forces)
{
    const JointLists *lists = &physics->joint_lists;
    for (int i = 0; i < lists->driven_count; i++) {
        int joint = lists->driven[i];
        const PhysicsJoint *row = &physics->joints[joint];
        if (!row->constraint)
            move_kinematic(physics, joint, dt);
        else if (!is_asleep(physics, row) && (!just_forces || drives_by_force(physics, joint)))
            prestep_dynamic(physics, joint, dt);
    }
}

void joints_prestep(Physics *physics, double dt)
{
    list_joints(physics);
    const JointLists *lists = &physics->joint_lists;
    // Those that move solids move what other joints look at: then all go one after the other.
    if (lists->has_kinematic || !physics->pool) {
        prestep_in_turn(physics, dt, false);
        return;
    }
    JointWork work = { .physics = physics, .dt = dt, .joints = lists->driven };
    pool_for(physics->pool, lists->driven_count, JOINT_GRAIN, prestep_range, &work);
    if (work.has_left)
        prestep_in_turn(physics, dt, true);
}

// ---- after the step ----

static double nearest_turn(double angle, double estimate)
{
    double turns = (estimate - angle) / (2.0 * M_PI);
    return fabs(turns) < 0.5 ? angle + 0.0 : angle + 2.0 * M_PI * round(turns);
}

static double quat_dot(Quat a, Quat b) { return a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z; }

static double twist_about(Quat turn, Vec3 axis)
{
    return 2.0 * atan2(turn.x * axis.x + turn.y * axis.y + turn.z * axis.z, turn.w);
}

// Turn of the child since position zero of all axes, in the frame of the parent's side.
static Quat turn_from_zero(const PhysicsJoint *row, const PhysicsJointState *state, Quat now)
{
    Quat at_offsets = QUAT_IDENTITY;
    for (int i = 0; i < row->axis_count; i++)
        at_offsets = quat_mul(at_offsets, quat_from_axis_angle(joint_placing(row)->axis[i], state->axes[i].offset));
    return quat_mul(quat_mul(now, quat_conj(joint_placing(row)->turn)), at_offsets);
}

// For two axes: the first angle is the one that carries the second axis, the rest is about the second.
static void two_angles(const PhysicsJoint *row, Quat turn, double angles[3])
{
    Vec3 first = joint_placing(row)->axis[0], second = joint_placing(row)->axis[1];
    Vec3 carried = quat_rotate(turn, second);
    Vec3 from = vec3_mad(second, first, -vec3_dot(first, second)),
         to = vec3_mad(carried, first, -vec3_dot(first, carried));
    angles[0] = atan2(vec3_dot(first, vec3_cross(from, to)), vec3_dot(from, to));
    angles[1] = twist_about(quat_mul(quat_from_axis_angle(first, -angles[0]), turn), second);
}

// For three axes at right angles, turned one after the other.
static void three_angles(const PhysicsJoint *row, Quat turn, double angles[3])
{
    const Vec3 *e = joint_placing(row)->axis;
    Vec3 first = quat_rotate(turn, e[0]), second = quat_rotate(turn, e[1]), third = quat_rotate(turn, e[2]);
    angles[1] = asin(double_clamp(vec3_dot(e[0], third), -1.0, 1.0));
    angles[0] = atan2(-vec3_dot(e[1], third), vec3_dot(e[2], third));
    angles[2] = atan2(-vec3_dot(e[0], second), vec3_dot(e[0], first));
}

// A step turns a body by 2 atan(rate dt / 2), which is less than rate dt by a part of (rate dt)^2 / 12. Webots read
// hinges by their rates, the sum of rate dt, up to R2023a, unless a motor was told a position; since R2023b it reads
// where they stand. The file's release decides.
static void count_rate(const Physics *physics, const PhysicsAxis *axis, PhysicsAxisState *state, double lead)
{
    bool is_told_a_position = axis->motor && state->mode == MOTOR_POSITION && isfinite(state->target_position);
    state->surplus = physics->reads_rates && !is_told_a_position ? state->surplus + lead : 0.0;
}

// Rate of the child against the parent, in the world.
static Vec3 turning_rate(const Physics *physics, const PhysicsJoint *row)
{
    Vec3 rate = row->body[1] >= 0 ? physics->body_states[row->body[1]].angular : VEC3_ZERO;
    return row->body[0] >= 0 ? vec3_sub(rate, physics->body_states[row->body[0]].angular) : rate;
}

// The angle from how the child stands against the parent, the rate from both angular velocities: one axis, the common
// case, without any turning of frames.
static CPU_SHARED void read_turn(Physics *physics, int joint, double dt)
{
    const PhysicsJoint *row = &physics->joints[joint];
    PhysicsAxisState *axis = &physics->joint_states[joint].axes[0];
    Quat parent = *side_orientation(physics, row, 0), child = *side_orientation(physics, row, 1);
    Quat now = quat_mul(quat_conj(parent), child);
    double angle = axis->offset
                   + 2.0 * atan2(quat_dot(joint_placing(row)->sine, now), quat_dot(joint_placing(row)->cosine, now));
    double velocity = vec3_dot(joint_placing(row)->axis[0], quat_unrotate(parent, turning_rate(physics, row)));
    double before = axis->position, expected = before + velocity * dt, position = nearest_turn(angle, expected);
    axis->velocity = velocity;
    axis->position = position;
    count_rate(physics, &row->axes[0], axis, expected - before - (position - before));
}

// The same for two and three axes.
static void read_turns(Physics *physics, int joint, double dt)
{
    PhysicsJoint *row = &physics->joints[joint];
    PhysicsJointState *state = &physics->joint_states[joint];
    assert_debug(row->axis_count > 1);
    const Quat *parent = side_orientation(physics, row, 0), *child = side_orientation(physics, row, 1);
    Vec3 rate = quat_unrotate(*parent, turning_rate(physics, row));
    double angles[3] = { 0.0 };
    Quat turn = turn_from_zero(row, state, quat_mul(quat_conj(*parent), *child));
    (row->axis_count == 2 ? two_angles : three_angles)(row, turn, angles);
    Vec3 axes[3];
    axes[0] = joint_placing(row)->axis[0];
    axes[1] = quat_rotate(quat_from_axis_angle(axes[0], angles[0]), joint_placing(row)->axis[1]);
    axes[2] = row->axis_count == 3 ? quat_rotate(turn, joint_placing(row)->axis[2]) : vec3_cross(axes[0], axes[1]);
    for (int i = 0; i < row->axis_count; i++) {
        double length;
        state->axes[i].velocity = vec3_dot(rate_vector(axes, i, &length), rate);
    }
    for (int i = 0; i < row->axis_count; i++) {
        PhysicsAxisState *axis = &state->axes[i];
        double before = axis->position, expected = axis->position + axis->velocity * dt;
        axis->position = nearest_turn(angles[i], expected);
        count_rate(physics, &row->axes[i], axis, expected - before - (axis->position - before));
    }
}

static CPU_SHARED void read_slide(Physics *physics, int joint)
{
    const PhysicsJoint *row = &physics->joints[joint];
    PhysicsAxisState *axis = &physics->joint_states[joint].axes[0];
    Vec3 arm = vec3_sub(*side_position(physics, row, 1), *side_position(physics, row, 0)),
         direction = quat_rotate(*side_orientation(physics, row, 0), joint_placing(row)->axis[0]);
    axis->position = axis->offset + vec3_dot(direction, arm) - joint_placing(row)->slide;
    Vec3 rate = row->body[1] >= 0 ? physics->body_states[row->body[1]].linear : VEC3_ZERO;
    if (row->body[0] >= 0) {
        const BodyState *body = &physics->body_states[row->body[0]];
        rate = vec3_sub(rate, vec3_add(body->linear, vec3_cross(body->angular, arm)));
    }
    axis->velocity = vec3_dot(direction, rate);
}

// Force or torque that the joint exerts on the child along the axis: what holds and drives it.
static void read_feedback(Physics *physics, int joint)
{
    assert(physics->joints[joint].constraint);
    PhysicsJoint *row = &physics->joints[joint];
    PhysicsJointState *state = &physics->joint_states[joint];
    const ConstraintWrenches *sources[2] = { &row->constraint->wrenches, row->motor ? &row->motor->wrenches : NULL };
    Pose parent = joint_side_pose(physics, row, 0), child = joint_side_pose(physics, row, 1);
    Pose holder = holder_of(physics, row, parent);
    Vec3 arm = vec3_sub(pose_apply(holder, row->anchor), child.t);
    Vec3 force = VEC3_ZERO, torque = VEC3_ZERO;
    for (int i = 0; i < 2; i++) {
        if (!sources[i])
            continue;
        const double *f = row->is_reversed ? sources[i]->f1 : sources[i]->f2;
        const double *t = row->is_reversed ? sources[i]->t1 : sources[i]->t2;
        Vec3 f3 = vec3(f[0], f[1], f[2]);
        force = vec3_add(force, f3);
        torque = vec3_add(torque, vec3_sub(vec3(t[0], t[1], t[2]), vec3_cross(arm, f3)));
    }
    for (int i = 0; i < row->axis_count; i++) {
        Vec3 axis = quat_rotate(holder.q, turned_axis(row, state->axes, i));
        state->axes[i].feedback = vec3_dot(axis, row->kind == PHYSICS_JOINT_SLIDER ? force : torque);
    }
}

// A world that starts in motion, as a saved one does, knows the rates of its joints before the first step.
void joints_start(Physics *physics)
{
    for (int joint = 0; joint < physics->joint_count; joint++) {
        const PhysicsJoint *row = &physics->joints[joint];
        if (!row->is_alive || !row->constraint)
            continue;
        PhysicsJointState before = physics->joint_states[joint];
        read_joint(physics, joint, 0.0);
        for (int i = 0; i < row->axis_count; i++) {
            physics->joint_states[joint].axes[i].position = before.axes[i].position;
            physics->joint_states[joint].axes[i].surplus = before.axes[i].surplus;
        }
    }
}

static void read_joint(Physics *physics, int joint, double dt)
{
    if (physics->joints[joint].kind == PHYSICS_JOINT_SLIDER)
        read_slide(physics, joint);
    else if (physics->joints[joint].axis_count == 1)
        read_turn(physics, joint, dt);
    else
        read_turns(physics, joint, dt);
}

static void read_after_step(Physics *physics, int joint, double dt)
{
    const PhysicsJoint *row = &physics->joints[joint];
    if (!row->constraint || !row->is_alive || is_asleep(physics, row))
        return;
    read_joint(physics, joint, dt);
    if (row->wants_feedback)
        read_feedback(physics, joint);
}

static void poststep_all_range(int begin, int end, int worker, void *context)
{
    const JointWork *work = context;
    (void)worker;
    for (int joint = begin; joint < end; joint++)
        read_after_step(work->physics, joint, work->dt);
}

static void poststep_range(int begin, int end, int worker, void *context)
{
    const JointWork *work = context;
    (void)worker;
    for (int i = begin; i < end; i++)
        read_after_step(work->physics, work->joints[i], work->dt);
}

// An angle is told from the one that was read last, less than half a turn away. So long as no body has turned far,
// steps may pass; the result is the same to the last bit. Sums of rates miss no step, and at the rim others move the
// bodies.
void joints_poststep(Physics *physics, double dt)
{
    list_joints(physics);
    const JointLists *lists = &physics->joint_lists;
    JointWork work = { .physics = physics, .dt = dt, .joints = lists->watched };
    double turn = physics->unread_turn + physics->step_turn;
    bool may_wait = !mirror_is_open(physics) && !physics->reads_rates && turn <= MAX_UNREAD_TURN;
    if (may_wait)
        pool_for(physics->pool, lists->watched_count, JOINT_GRAIN, poststep_range, &work);
    else
        pool_for(physics->pool, physics->joint_count, JOINT_GRAIN, poststep_all_range, &work);
    physics->unread_steps = may_wait ? physics->unread_steps + 1 : 0;
    physics->unread_turn = may_wait ? turn : 0.0;
}

void joint_refresh(Physics *physics, int joint)
{
    assert(joint >= 0 && joint < physics->joint_count);
    if (is_read_on_demand(&physics->joints[joint]))
        joints_refresh(physics);
}

static CPU_SHARED void read_on_demand(Physics *physics)
{
    for (int joint = 0; joint < physics->joint_count; joint++) {
        const PhysicsJoint *row = &physics->joints[joint];
        if (!row->is_alive || !row->constraint || !is_read_on_demand(row) || is_asleep(physics, row))
            continue;
        if (row->kind == PHYSICS_JOINT_SLIDER)
            read_slide(physics, joint);
        else
            read_turn(physics, joint, 0.0);
    }
}

static void read_on_demand_plain(Physics *physics) { read_on_demand(physics); }
static CPU_WIDE void read_on_demand_wide(Physics *physics) { read_on_demand(physics); }

void joints_refresh(Physics *physics)
{
    if (physics->unread_steps == 0)
        return;
    physics->unread_steps = 0;
    physics->unread_turn = 0.0;
    if (cpu_has_avx2())
        read_on_demand_wide(physics);
    else
        read_on_demand_plain(physics);
}

void physics_joint_set_position(Physics *physics, int joint, int axis, double position)
{
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
