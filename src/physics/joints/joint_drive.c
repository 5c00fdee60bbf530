// joint_drive.c - before a step: what motors are told goes into their rows, springs follow their positions, motors in
// force mode push, and joints without physics move what hangs on them.
#include "physics/joints/joint_internal.h"

#include "physics/joints/motor.h"
#include "physics/joints/tuning.h"

// Turns the three rows of a ball joint's motors into the directions that its angles change about now.
static void turn_ball_rows(Physics *physics, int joint, double lengths[3], Vec3 rates[3])
{
    assert_debug(physics->joints[joint].kind == PHYSICS_JOINT_BALL && physics->joints[joint].axis_count == 3);
    PhysicsJoint *row = &physics->joints[joint];
    const PhysicsJointState *state = &physics->joint_states[joint];
    Pose holder = joint_holder(physics, row, joint_side_pose(physics, row, 0));
    Vec3 axes[3];
    for (int i = 0; i < 3; i++)
        axes[i] = quat_rotate(holder.q, joint_turned_axis(row, state->axes, i));
    for (int i = 0; i < 3; i++) {
        rates[i] = joint_rate_vector(axes, i, &lengths[i]);
        Vec3 unit = vec3_scale(rates[i], joint_raw_sign(row) / lengths[i]);
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
    assert_debug(axis >= 0 && axis < physics->joints[joint].axis_count);
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
        direction = quat_rotate(*joint_side_orientation(physics, row, 0), joint_placing(row)->axis[0]);
    } else {
        Pose holder = joint_holder(physics, row, joint_side_pose(physics, row, 0));
        direction = quat_rotate(holder.q, joint_turned_axis(row, state->axes, axis));
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
    Pose holder = joint_holder(physics, row, joint_side_pose(physics, row, 0));
    for (int i = 0; i < row->axis_count && row->kind != PHYSICS_JOINT_BALL; i++) {
        const PhysicsAxisState *axis = &state->axes[i];
        if (!row->axes[i].motor || axis->mode != MOTOR_FORCE || axis->is_without_power)
            continue;
        Vec3 push = vec3_scale(quat_rotate(holder.q, joint_turned_axis(row, state->axes, i)), axis->force_command);
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
    assert_debug(dt > 0.0);
    PhysicsJoint *row = &physics->joints[joint];
    if ((row->kind != PHYSICS_JOINT_HINGE && row->kind != PHYSICS_JOINT_SLIDER)
        || !joint_axis_has_stops(&row->axes[axis]))
        return velocity;
    const PhysicsJointState *state = &physics->joint_states[joint];
    bool are_open = force >= UNLIMITED_FORCE;
    if (are_open || row->axes[axis].stops_are_open)
        joint_place_stops(row, state, axis, are_open);
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
    Constraint *driver = joint_driver(row);
    if (row->motor) {
        constraint_set_angle(row->motor, axis, -state->position / length);
        if (length != 1.0 && joint_axis_has_stops(&row->axes[axis])) {
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
    assert_debug(row->is_sprung_inside || row->spring);
    const PhysicsAxisState *state = &physics->joint_states[joint].axes[axis];
    double constant = row->axes[axis].spring, damping = joint_axis_damping(&row->axes[axis], state),
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

// A motor that goes to a position, a spring, and a stop that an unwrapped angle or the motor itself keeps: the row of
// any other stop finds the angle where it needs it.
static bool is_driven_by_position(const PhysicsJoint *row, const PhysicsJointState *state)
{
    const PhysicsAxis *axis = &row->axes[0];
    bool is_itself_a_stop = fmax(axis->static_friction, state->axes[0].available_force) >= UNLIMITED_FORCE;
    return row->motor || row->spring || row->is_sprung_inside || (is_itself_a_stop && joint_axis_has_stops(axis))
           || (axis->motor && state->axes[0].mode == MOTOR_POSITION);
}

// The push of a motor with one axis on both sides, in a plain world.
static inline void push_sides(Physics *physics, const PhysicsJoint *row, double force)
{
    Vec3 push = vec3_scale(quat_rotate(*joint_side_orientation(physics, row, 0), joint_placing(row)->axis[0]), force);
    if (row->kind == PHYSICS_JOINT_SLIDER && row->body[0] < 0 && row->body[1] >= 0) {
        BodyState *body = &physics->body_states[row->body[1]];
        body->force = vec3_add(body->force, push);
        return;
    }
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
static inline void drive_bare(Physics *physics, int joint, double dt)
{
    assert_debug(physics->joints[joint].is_bare_motor && physics->joints[joint].constraint);
    const PhysicsJoint *row = &physics->joints[joint];
    PhysicsAxisState *state = &physics->joint_states[joint].axes[0];
    double velocity = 0.0, force = row->axes[0].static_friction;
    if (row->axes[0].motor && state->mode == MOTOR_FORCE) {
        state->command_velocity = 0.0;
        if (state->force_command != 0.0 && !state->is_without_power)
            push_sides(physics, row, state->force_command);
    } else if (row->axes[0].motor) {
        if (physics->unread_steps > 0 && state->mode == MOTOR_POSITION)
            joint_measure(physics, joint, 0.0);
        velocity = motor_velocity(physics, joint, 0, dt);
        force = fmax(force, state->is_without_power ? 0.0 : state->available_force);
    }
    ConstraintAxis *axis = &row->constraint->axes[0];
    axis->velocity = row->kind == PHYSICS_JOINT_SLIDER ? velocity : -velocity;
    axis->max_force = force;
}

static __attribute__((noinline)) void drive_any(Physics *physics, int joint, double dt)
{
    const PhysicsJoint *row = &physics->joints[joint];
    if (physics->unread_steps > 0 && joint_is_read_on_demand(row)
        && is_driven_by_position(row, &physics->joint_states[joint]))
        joint_measure(physics, joint, 0.0);
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

static inline void prestep_dynamic(Physics *physics, int joint, double dt)
{
    if (physics->joints[joint].is_bare_motor)
        drive_bare(physics, joint, dt);
    else
        drive_any(physics, joint, dt);
}

static void move_kinematic(Physics *physics, int joint, double dt)
{
    assert_debug(!physics->joints[joint].constraint);
    const PhysicsJoint *row = &physics->joints[joint];
    for (int i = 0; i < row->axis_count; i++)
        if (row->axes[i].motor)
            motor_move_kinematic(physics, joint, i, dt);
    joint_pose_child(physics, joint);
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

// ---- all of them ----

static void prestep_range(int begin, int end, int worker, void *context)
{
    JointWork *work = context;
    Physics *physics = work->physics;
    (void)worker;
    for (int i = begin; i < end; i++) {
        int joint = work->joints[i];
        if (joint_is_asleep(physics, &physics->joints[joint]))
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
        else if (!joint_is_asleep(physics, row) && (!just_forces || drives_by_force(physics, joint)))
            prestep_dynamic(physics, joint, dt);
    }
}

void joints_prestep(Physics *physics, double dt)
{
    assert(dt > 0.0);
    joints_list(physics);
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
