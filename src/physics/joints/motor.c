// motor.c - motors: fields, coupling by name, commands, and the velocity they ask for in each step.
#include "physics/joints/motor.h"

#include "physics/physics_internal.h"
#include "physics/joints/tuning.h"

#include <assert.h>
#include <string.h>

static_assert((int)MOTOR_FORCE == (int)PHYSICS_MOTOR_FORCE, "one order of modes");

static PhysicsAxis *axis_of(const Physics *physics, int joint, int axis)
{
    assert(joint >= 0 && joint < physics->joint_count && axis >= 0 && axis < PHYSICS_JOINT_AXES);
    return &physics->joints[joint].axes[axis];
}

static PhysicsAxisState *state_of(const Physics *physics, int joint, int axis)
{
    assert_debug(joint >= 0 && joint < physics->joint_count && axis >= 0 && axis < PHYSICS_JOINT_AXES);
    return &physics->joint_states[joint].axes[axis];
}

static bool has_range(const PhysicsAxis *axis) { return axis->motor_min != axis->motor_max; }

// ---- fields ----

static bool is_rotational(const SceneNode *motor) { return scene_node_is(motor, "RotationalMotor"); }

// The range must hold the position the joint starts at; it is widened to it, as the file's author can hardly mean
// otherwise.
static void fit_range(Physics *physics, PhysicsAxis *axis, double position)
{
    assert_debug(axis->motor);
    if (!has_range(axis))
        return;
    SourcePos pos = scene_field_pos(axis->motor, position < axis->motor_min ? "minPosition" : "maxPosition");
    if (position < axis->motor_min) {
        diag_warning(physics->diags, pos, "minPosition %g is above the joint's position %g; using the position",
                     axis->motor_min, position);
        axis->motor_min = position;
        scene_set_float(physics->scene, axis->motor, "minPosition", position);
    } else if (position > axis->motor_max) {
        diag_warning(physics->diags, pos, "maxPosition %g is below the joint's position %g; using the position",
                     axis->motor_max, position);
        axis->motor_max = position;
        scene_set_float(physics->scene, axis->motor, "maxPosition", position);
    }
}

// Motors of bodies have a rotor, and most of them do nothing before their first command.
static void read_body_motor(PhysicsAxis *axis, PhysicsAxisState *state)
{
    assert_debug(axis->motor);
    double ratio = scene_float(axis->motor, "gearRatio");
    axis->rotor = ratio * ratio * scene_float(axis->motor, "rotorInertia");
    const char *actuation = scene_string(axis->motor, "actuation");
    if (!strcmp(actuation, "none") || !strcmp(actuation, "effort")) {
        state->mode = MOTOR_FORCE;
    } else if (!strcmp(actuation, "velocity")) {
        state->mode = MOTOR_VELOCITY;
        state->target_velocity = 0.0;
    }
}

// What the nodes of an axis say; a value that makes no sense is replaced, and said.
void motor_read(Physics *physics, int joint, int axis_index)
{
    PhysicsAxis *axis = axis_of(physics, joint, axis_index);
    PhysicsAxisState *state = state_of(physics, joint, axis_index);
    axis->coupled_next = -1;
    axis->motor_multiplier = 1.0;
    state->mode = MOTOR_POSITION;
    state->target_position = state->position;
    state->acceleration = -1.0;
    const SceneNode *motor = axis->motor;
    if (!motor)
        return;
    axis->motor_min = scene_float(motor, "minPosition");
    axis->motor_max = scene_float(motor, "maxPosition");
    if (axis->motor_min > axis->motor_max) {
        diag_warning(physics->diags, scene_field_pos(motor, "minPosition"),
                     "minPosition %g is above maxPosition %g; no limits are used", axis->motor_min, axis->motor_max);
        axis->motor_min = axis->motor_max = 0.0;
    }
    axis->motor_max_velocity = fabs(scene_float(motor, "maxVelocity"));
    axis->motor_max_force = fabs(scene_float(motor, is_rotational(motor) ? "maxTorque" : "maxForce"));
    axis->motor_multiplier = scene_float(motor, "multiplier");
    if (axis->motor_multiplier == 0.0)
        axis->motor_multiplier = 1.0;
    fit_range(physics, axis, state->position);
    Vec3 gains = scene_vec3(motor, "controlPID");
    state->gains[0] = gains.x;
    state->gains[1] = gains.y;
    state->gains[2] = gains.z;
    state->acceleration = scene_float(motor, "acceleration");
    state->target_velocity = axis->motor_max_velocity;
    state->available_force = axis->motor_max_force;
    if (schema_field(motor->type, "actuation"))
        read_body_motor(axis, state);
    if (scene_list(motor, "muscles")->count)
        diag_note(physics->diags, motor->pos, "muscles are not simulated: they change nothing but the picture");
}

// ---- coupling ----

// Length of the part before "::" in a coupled motor's name, 0 when it has none.
static size_t coupling_length(const char *name)
{
    const char *colons = strstr(name, "::");
    return colons ? (size_t)(colons - name) : 0;
}

static bool are_coupled(const Physics *physics, int joint_a, int axis_a, int joint_b, int axis_b)
{
    const SceneNode *a = axis_of(physics, joint_a, axis_a)->motor, *b = axis_of(physics, joint_b, axis_b)->motor;
    if (!a || !b || a->type != b->type)
        return false;
    int solid_a = physics->joints[joint_a].parent, solid_b = physics->joints[joint_b].parent;
    if (solid_a < 0 || solid_b < 0 || physics->solids[solid_a].robot != physics->solids[solid_b].robot)
        return false;
    const char *name_a = scene_string(a, "name"), *name_b = scene_string(b, "name");
    size_t length = coupling_length(name_a);
    return length && length == coupling_length(name_b) && !strncmp(name_a, name_b, length);
}

// Limits of a follower as the first motor's imply them, by the ratio of the multipliers.
static void follow_limits(Physics *physics, const PhysicsAxis *first, PhysicsAxis *follower)
{
    assert_debug(first != follower && first->motor && follower->motor);
    assert_debug(first->motor_multiplier != 0.0);
    double ratio = follower->motor_multiplier / first->motor_multiplier;
    double low = first->motor_min * ratio, high = first->motor_max * ratio;
    if (ratio < 0.0) {
        double swap = low;
        low = high;
        high = swap;
    }
    double velocity = first->motor_max_velocity * fabs(ratio);
    bool differs = fabs(low - follower->motor_min) > 1e-9 || fabs(high - follower->motor_max) > 1e-9
                   || fabs(velocity - follower->motor_max_velocity) > 1e-9;
    if (differs)
        diag_warning(
            physics->diags, follower->motor->pos,
            "limits of coupled motor '%s' follow those of '%s' by their multipliers: positions %g to %g, velocity %g",
            scene_string(follower->motor, "name"), scene_string(first->motor, "name"), low, high, velocity);
    follower->motor_min = low;
    follower->motor_max = high;
    follower->motor_max_velocity = velocity;
    if (!differs)
        return;
    scene_set_float(physics->scene, follower->motor, "minPosition", low);
    scene_set_float(physics->scene, follower->motor, "maxPosition", high);
    scene_set_float(physics->scene, follower->motor, "maxVelocity", velocity);
}

static void couple_with_earlier(Physics *physics, int joint, int axis)
{
    int self = joint * PHYSICS_JOINT_AXES + axis;
    for (int other = 0; other < self; other++) {
        int other_joint = other / PHYSICS_JOINT_AXES, other_axis = other % PHYSICS_JOINT_AXES;
        if (!are_coupled(physics, joint, axis, other_joint, other_axis))
            continue;
        PhysicsAxis *first = axis_of(physics, other_joint, other_axis), *follower = axis_of(physics, joint, axis);
        follow_limits(physics, first, follower);
        state_of(physics, joint, axis)->target_velocity = follower->motor_max_velocity;
        follower->coupled_next = first->coupled_next >= 0 ? first->coupled_next : other;
        first->coupled_next = self;
        return;
    }
}

void motors_couple(Physics *physics)
{
    for (int joint = 0; joint < physics->joint_count; joint++) {
        for (int axis = 0; axis < physics->joints[joint].axis_count; axis++) {
            const SceneNode *motor = physics->joints[joint].axes[axis].motor;
            if (motor && coupling_length(scene_string(motor, "name"))
                && axis_of(physics, joint, axis)->coupled_next < 0)
                couple_with_earlier(physics, joint, axis);
        }
    }
}

// ---- the step ----

static double limit_acceleration(const PhysicsAxisState *state, double command, double dt)
{
    assert_debug(dt > 0.0);
    if (state->acceleration < 0.0)
        return command;
    double max = state->acceleration * dt;
    return double_clamp(command, state->command_velocity - max, state->command_velocity + max);
}

double motor_velocity(Physics *physics, int joint, int axis, double dt)
{
    PhysicsAxisState *state = state_of(physics, joint, axis);
    double command = state->target_velocity;
    if (state->mode == MOTOR_POSITION) {
        double error = state->target_position - state->position;
        state->integral += error * dt;
        double rate = (error - state->last_error) / dt;
        state->last_error = error;
        double speed = fabs(state->target_velocity);
        double wanted = state->gains[0] * error + state->gains[1] * state->integral + state->gains[2] * rate;
        command = double_clamp(wanted, -speed, speed);
    }
    command = limit_acceleration(state, command, dt);
    if (state->available_force <= 0.0 || state->is_without_power)
        command = 0.0;
    state->command_velocity = command;
    return command;
}

// As a motor with physics would, within its speed and acceleration, and never past the target; a force means nothing
// here.
void motor_move_kinematic(Physics *physics, int joint, int axis_index, double dt)
{
    assert_debug(dt > 0.0 && !physics->joints[joint].constraint);
    const PhysicsAxis *axis = axis_of(physics, joint, axis_index);
    PhysicsAxisState *state = state_of(physics, joint, axis_index);
    state->velocity = 0.0;
    if (state->mode == MOTOR_FORCE || state->available_force <= 0.0 || state->is_without_power) {
        state->command_velocity = 0.0;
        return;
    }
    double distance = state->mode == MOTOR_POSITION ? state->target_position - state->position : 0.0;
    double wanted = state->target_velocity;
    if (state->mode == MOTOR_POSITION) {
        if (fabs(distance) < KINEMATIC_TOLERANCE) {
            state->command_velocity = 0.0;
            return;
        }
        wanted = copysign(fabs(state->target_velocity), distance);
    }
    double limit = state->acceleration < 0.0 ? state->available_force
                                             : fmin(state->acceleration, state->available_force);
    double max = limit * dt;
    state->command_velocity = state->acceleration < 0.0
                                  ? wanted
                                  : double_clamp(wanted, state->command_velocity - max, state->command_velocity + max);
    double move = state->command_velocity * dt;
    if (state->mode == MOTOR_POSITION && fabs(move) > fabs(distance) && move * distance > 0.0)
        move = distance;
    double target = state->position + move;
    if (has_range(axis))
        target = double_clamp(target, axis->motor_min, axis->motor_max);
    state->velocity = (target - state->position) / dt;
    state->position = target;
}

// ---- commands ----

bool physics_axis_of(const Physics *physics, const SceneNode *device, int *joint, int *axis)
{
    for (int i = 0; i < physics->joint_count; i++) {
        if (!physics->joints[i].is_alive)
            continue;
        for (int k = 0; k < physics->joints[i].axis_count; k++) {
            const PhysicsAxis *row = &physics->joints[i].axes[k];
            if (device != row->motor && device != row->sensor && device != row->brake)
                continue;
            *joint = i;
            *axis = k;
            return true;
        }
    }
    return false;
}

void physics_motor_command(Physics *physics, int joint, int axis, const PhysicsMotor *motor)
{
    PhysicsAxisState *state = state_of(physics, joint, axis);
    state->mode = (int)motor->mode;
    if (motor->mode != PHYSICS_MOTOR_VELOCITY)
        state->target_position = motor->target_position;
    state->target_velocity = motor->target_velocity;
    state->acceleration = motor->acceleration;
    state->available_force = motor->available_force;
    state->force_command = motor->force;
}

PhysicsMotor physics_motor(const Physics *physics, int joint, int axis_index)
{
    const PhysicsAxis *axis = axis_of(physics, joint, axis_index);
    const PhysicsAxisState *state = state_of(physics, joint, axis_index);
    return (PhysicsMotor){
        .mode = (PhysicsMotorMode)state->mode,
        .target_position = state->mode == MOTOR_VELOCITY ? INFINITY : state->target_position,
        .target_velocity = state->target_velocity,
        .acceleration = state->acceleration,
        .available_force = state->available_force,
        .force = state->force_command,
        .min_position = axis->motor_min,
        .max_position = axis->motor_max,
        .max_velocity = axis->motor_max_velocity,
        .max_force = axis->motor_max_force,
        .multiplier = axis->motor_multiplier,
        .gains = { state->gains[0], state->gains[1], state->gains[2] },
        .feedback = state->feedback,
    };
}

static void wake(Physics *physics, int joint)
{
    assert_debug(joint >= 0 && joint < physics->joint_count);
    for (int side = 0; side < 2; side++)
        if (physics->joints[joint].body[side] >= 0)
            body_wake(physics, physics->joints[joint].body[side]);
}

// Calls `set` for the motor itself and for all that are coupled to it, with the value scaled to each.
typedef const char *(*SetOne)(Physics *physics, int joint, int axis, double value);

static const char *set_coupled(Physics *physics, int joint, int axis, double value, SetOne set)
{
    assert_debug(set && !isnan(value));
    const char *problem = set(physics, joint, axis, value);
    wake(physics, joint);
    if (axis_of(physics, joint, axis)->coupled_next < 0)
        return problem;
    int self = joint * PHYSICS_JOINT_AXES + axis;
    double unit = value / axis_of(physics, joint, axis)->motor_multiplier;
    for (int next = axis_of(physics, joint, axis)->coupled_next; next >= 0 && next != self;) {
        int other = next / PHYSICS_JOINT_AXES, other_axis = next % PHYSICS_JOINT_AXES;
        set(physics, other, other_axis, unit * axis_of(physics, other, other_axis)->motor_multiplier);
        wake(physics, other);
        next = axis_of(physics, other, other_axis)->coupled_next;
    }
    return problem;
}

static const char *set_position(Physics *physics, int joint, int axis_index, double position)
{
    const PhysicsAxis *axis = axis_of(physics, joint, axis_index);
    PhysicsAxisState *state = state_of(physics, joint, axis_index);
    state->force_command = 0.0;
    if (isinf(position)) {
        state->mode = MOTOR_VELOCITY;
        return NULL;
    }
    if (state->mode != MOTOR_POSITION) {
        state->integral = 0.0;
        state->last_error = 0.0;
    }
    state->mode = MOTOR_POSITION;
    state->target_position = has_range(axis) ? double_clamp(position, axis->motor_min, axis->motor_max) : position;
    return state->target_position != position ? "the position is outside minPosition and maxPosition" : NULL;
}

const char *physics_motor_set_position(Physics *physics, int joint, int axis, double position)
{
    if (isnan(position))
        return "the position is not a number";
    // The file's numbers are in joint units; a command of a motor with a multiplier is scaled by it.
    double scaled = position * axis_of(physics, joint, axis)->motor_multiplier;
    return set_coupled(physics, joint, axis, scaled, set_position);
}

static const char *set_velocity(Physics *physics, int joint, int axis_index, double velocity)
{
    const PhysicsAxis *axis = axis_of(physics, joint, axis_index);
    double max = axis->motor_max_velocity;
    state_of(physics, joint, axis_index)->target_velocity = double_clamp(velocity, -max, max);
    if (fabs(velocity) <= max)
        return NULL;
    // The limit and not the command: a robot that asks for another velocity in each step is told once.
    static _Thread_local char said[64];
    snprintf(said, sizeof said, "the velocity is above maxVelocity, which is %g", max);
    return said;
}

const char *physics_motor_set_velocity(Physics *physics, int joint, int axis, double velocity)
{
    if (!isfinite(velocity))
        return "the velocity is not a finite number";
    return set_coupled(physics, joint, axis, velocity * axis_of(physics, joint, axis)->motor_multiplier, set_velocity);
}

static const char *set_acceleration(Physics *physics, int joint, int axis, double acceleration)
{
    state_of(physics, joint, axis)->acceleration = acceleration;
    return NULL;
}

const char *physics_motor_set_acceleration(Physics *physics, int joint, int axis, double acceleration)
{
    if (isnan(acceleration) || (acceleration < 0.0 && acceleration != -1.0))
        return "the acceleration must be positive, or -1 for no limit";
    if (acceleration < 0.0 || isinf(acceleration)) {
        set_acceleration(physics, joint, axis, -1.0);
        return NULL;
    }
    return set_acceleration(physics, joint, axis, acceleration);
}

static const char *set_available_force(Physics *physics, int joint, int axis_index, double force)
{
    const PhysicsAxis *axis = axis_of(physics, joint, axis_index);
    double magnitude = fabs(force);
    state_of(physics, joint, axis_index)->available_force = fmin(magnitude, axis->motor_max_force);
    return magnitude > axis->motor_max_force ? "the force is above the motor's maximum" : NULL;
}

const char *physics_motor_set_available_force(Physics *physics, int joint, int axis, double force)
{
    if (isnan(force) || force < 0.0)
        return "the available force must be positive or zero";
    const char *problem = set_available_force(physics, joint, axis, force);
    wake(physics, joint);
    return problem;
}

static const char *set_force(Physics *physics, int joint, int axis, double force)
{
    PhysicsAxisState *state = state_of(physics, joint, axis);
    double max = state->available_force;
    state->mode = MOTOR_FORCE;
    state->force_command = double_clamp(force, -max, max);
    return fabs(force) > max ? "the force is above the available force" : NULL;
}

const char *physics_motor_set_force(Physics *physics, int joint, int axis, double force)
{
    if (!isfinite(force))
        return "the force is not a finite number";
    return set_coupled(physics, joint, axis, force * axis_of(physics, joint, axis)->motor_multiplier, set_force);
}

// Those of a whole robot before every step: both sides of a joint wake as by wake(), most of them being awake.
void physics_motor_set_forces(Physics *physics, const PhysicsAxisRef *axes, int count, const double *forces)
{
    assert_debug(count >= 0 && ((axes && forces) || count == 0));
    for (int i = 0; i < count; i++) {
        int joint = axes[i].joint, axis = axes[i].axis;
        assert(joint >= 0 && joint < physics->joint_count && axis >= 0 && axis < PHYSICS_JOINT_AXES);
        const PhysicsJoint *row = &physics->joints[joint];
        const PhysicsAxis *motor = &row->axes[axis];
        double force = double_clamp(forces[i], -motor->motor_max_force, motor->motor_max_force);
        if (motor->coupled_next >= 0 || !isfinite(force)) {
            physics_motor_set_force(physics, joint, axis, force);
            continue;
        }
        PhysicsAxisState *state = &physics->joint_states[joint].axes[axis];
        double max = state->available_force;
        state->mode = MOTOR_FORCE;
        state->force_command = double_clamp(force * motor->motor_multiplier, -max, max);
        for (int side = 0; side < 2; side++)
            if (row->body[side] >= 0)
                body_wake(physics, row->body[side]);
    }
}

const char *physics_motor_set_gains(Physics *physics, int joint, int axis, double p, double i, double d)
{
    if (!isfinite(p) || !isfinite(i) || !isfinite(d) || p <= 0.0 || i < 0.0 || d < 0.0)
        return "gains must be finite, P positive, I and D not negative";
    PhysicsAxisState *state = state_of(physics, joint, axis);
    state->gains[0] = p;
    state->gains[1] = i;
    state->gains[2] = d;
    return NULL;
}

void physics_motor_want_feedback(Physics *physics, int joint, bool want)
{
    assert(joint >= 0 && joint < physics->joint_count);
    PhysicsJoint *row = &physics->joints[joint];
    if (row->wants_feedback != want) {
        joints_refresh(physics);  // which joints are read when somebody asks is about to change
        joints_changed(physics);
    }
    row->wants_feedback = want;
    Constraint *const constraints[] = { row->constraint, row->motor, row->spring };
    for (int i = 0; i < COUNT_OF(constraints); i++)
        if (constraints[i])
            constraint_want_wrenches(constraints[i], want);
}

void physics_motor_set_power(Physics *physics, int joint, int axis, bool has_power)
{
    state_of(physics, joint, axis)->is_without_power = !has_power;
}
