// joints.c - devices of joints: motors, position sensors, brakes.
#include "devices/devices_internal.h"

#include "physics/joints/motor.h"

#include <webots/nodes.h>

// ---- motors ----

enum {
    MOTOR_SET_POSITION,
    MOTOR_SET_VELOCITY,
    MOTOR_SET_ACCELERATION,
    MOTOR_SET_AVAILABLE_FORCE,
    MOTOR_SET_FORCE,
    MOTOR_SET_PID
};

static const char *motor_command(DeviceContext *at, int command, const double *numbers, int count, const void *bytes,
                                 int byte_count)
{
    (void)bytes, (void)byte_count;
    int joint = at->info->joint, axis = at->info->axis;
    if (joint < 0)
        return "the motor drives nothing";
    if (count < (command == MOTOR_SET_PID ? 3 : 1))
        return "a number is missing";
    switch (command) {
    case MOTOR_SET_POSITION: return physics_motor_set_position(at->physics, joint, axis, numbers[0]);
    case MOTOR_SET_VELOCITY: return physics_motor_set_velocity(at->physics, joint, axis, numbers[0]);
    case MOTOR_SET_ACCELERATION: return physics_motor_set_acceleration(at->physics, joint, axis, numbers[0]);
    case MOTOR_SET_AVAILABLE_FORCE: return physics_motor_set_available_force(at->physics, joint, axis, numbers[0]);
    case MOTOR_SET_FORCE: return physics_motor_set_force(at->physics, joint, axis, numbers[0]);
    case MOTOR_SET_PID: return physics_motor_set_gains(at->physics, joint, axis, numbers[0], numbers[1], numbers[2]);
    default: return "no such command";
    }
}

// What it takes from the battery depends on its torque.
static bool draws_power(const DeviceContext *at)
{
    return robot_has_battery(at->devices, at->robot) && scene_float(at->info->node, "consumptionFactor") > 0.0;
}

static void motor_enabled(DeviceContext *at, int channel, bool is_on)
{
    (void)channel;
    if (at->info->joint >= 0)
        physics_motor_want_feedback(at->physics, at->info->joint, is_on || draws_power(at));
}

static void motor_start(DeviceContext *at)
{
    if (at->info->joint >= 0 && draws_power(at))
        physics_motor_want_feedback(at->physics, at->info->joint, true);
}

static int motor_sample(DeviceContext *at, int channel, double *reading)
{
    (void)channel;
    reading[0] = at->info->joint >= 0 ? physics_motor(at->physics, at->info->joint, at->info->axis).feedback : NAN;
    return 1;
}

// Tags of the other devices on the same axis: motor, position sensor, brake; 0 when absent.
static void axis_tags(const DeviceContext *at, double tags[3])
{
    static const char *const types[3] = { "Motor", "PositionSensor", "Brake" };
    for (int i = 0; i < 3; i++)
        tags[i] = 0;
    if (at->info->joint < 0)
        return;
    for (int tag = 1; tag <= devices_count(at->devices, at->robot); tag++) {
        const DeviceInfo *other = devices_info(at->devices, at->robot, tag);
        for (int i = 0; i < 3; i++)
            if (other->joint == at->info->joint && other->axis == at->info->axis
                && scene_node_is(other->node, types[i]))
                tags[i] = tag;
    }
}

static bool is_linear(const DeviceContext *at)
{
    if (at->info->joint < 0)
        return scene_node_is(at->info->node, "LinearMotor");
    PhysicsJointKind kind = physics_joint_kind(at->physics, at->info->joint);
    return kind == PHYSICS_JOINT_SLIDER || kind == PHYSICS_JOINT_TRACK;
}

// Common to the three: is linear, tag of motor, of position sensor, of brake.
static int axis_constants(DeviceContext *at, double *values, int capacity)
{
    if (capacity < 4)
        return 0;
    values[0] = is_linear(at);
    axis_tags(at, values + 1);
    return 4;
}

// Further: min and max position, max velocity, max force, multiplier, acceleration, P, I, D, target position and
// velocity.
static int motor_constants(DeviceContext *at, double *values, int capacity)
{
    int count = axis_constants(at, values, capacity);
    if (capacity < 15 || at->info->joint < 0)
        return count;
    PhysicsMotor motor = physics_motor(at->physics, at->info->joint, at->info->axis);
    double more[11] = { motor.min_position, motor.max_position,    motor.max_velocity,   motor.max_force,
                        motor.multiplier,   motor.acceleration,    motor.gains[0],       motor.gains[1],
                        motor.gains[2],     motor.target_position, motor.target_velocity };
    assert_debug(count + 11 <= capacity);
    for (int i = 0; i < 11; i++)
        values[count++] = more[i];
    return count;
}

const DeviceKind rotational_motor_device = {
    .type = "RotationalMotor",
    .code = WB_NODE_ROTATIONAL_MOTOR,
    .channels = 1,
    .start = motor_start,
    .sample = motor_sample,
    .constants = motor_constants,
    .command = motor_command,
    .enabled = motor_enabled,
};
const DeviceKind linear_motor_device = {
    .type = "LinearMotor",
    .code = WB_NODE_LINEAR_MOTOR,
    .channels = 1,
    .start = motor_start,
    .sample = motor_sample,
    .constants = motor_constants,
    .command = motor_command,
    .enabled = motor_enabled,
};

// ---- position sensors ----

static int position_sensor_sample(DeviceContext *at, int channel, double *reading)
{
    assert_debug(channel == 0 && reading);
    if (at->info->joint < 0) {
        reading[0] = NAN;
        return 1;
    }
    double position = physics_joint_position(at->physics, at->info->joint, at->info->axis);
    double noise = scene_float(at->info->node, "noise");
    if (noise > 0.0)
        position += noise * random_gaussian(at->random);
    reading[0] = device_rounded(position, scene_float(at->info->node, "resolution"));
    return 1;
}

const DeviceKind position_sensor_device = {
    .type = "PositionSensor",
    .code = WB_NODE_POSITION_SENSOR,
    .channels = 1,
    .sample = position_sensor_sample,
    .constants = axis_constants,
};

// ---- brakes ----

static const char *brake_command(DeviceContext *at, int command, const double *numbers, int count, const void *bytes,
                                 int byte_count)
{
    (void)command, (void)bytes, (void)byte_count;
    if (count < 1 || !(numbers[0] >= 0.0) || isinf(numbers[0]))
        return "the damping constant must be a positive number or zero";
    if (at->info->joint < 0)
        return "the brake is on no joint";
    physics_brake_set_damping(at->physics, at->info->joint, at->info->axis, numbers[0]);
    return NULL;
}

const DeviceKind brake_device = {
    .type = "Brake",
    .code = WB_NODE_BRAKE,
    .constants = axis_constants,
    .command = brake_command,
};
