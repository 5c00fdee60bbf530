// wheels.c - robots that were DifferentialWheels nodes in files before R2018b. With physics their wheels are plain
// motors. In kinematic mode the robot is moved on its plane by the speeds of its two wheels; nothing else moves it: it
// does not fall, and where it would run into something it stays. Its frame has x along the axle, y up and the front at
// -z.
#include "devices/devices_internal.h"

#include "physics/fittings/fittings.h"
#include "physics/joints/motor.h"

#include <string.h>

static const SceneNode *drive_of(const Devices *devices, int robot)
{
    assert(robot >= 0 && robot < devices->robot_count);
    return scene_child(devices->robots[robot].node, "differentialWheels");
}

int devices_drive_constants(const Devices *devices, int robot, double values[4])
{
    const SceneNode *drive = drive_of(devices, robot);
    if (!drive)
        return 0;
    values[0] = scene_float(drive, "speedUnit");
    values[1] = scene_float(drive, "maxSpeed");
    values[2] = scene_float(drive, "encoderNoise");
    values[3] = scene_float(drive, "encoderResolution");
    return 4;
}

static double approach(double value, double target, double max)
{
    return value + double_clamp(target - value, -max, max);
}

static void move(Devices *devices, int robot, const SceneNode *drive, const int tags[2])
{
    assert_debug(devices->robots[robot].solid >= 0 && tags[0] > 0 && tags[1] > 0);
    RobotState *state = &devices->robot_states[robot];
    double dt = physics_time_step(devices->physics), noise = scene_float(drive, "slipNoise");
    double radius = scene_float(drive, "wheelRadius"), rolled[2];
    for (int side = 0; side < 2; side++) {
        const DeviceInfo *info = devices_info(devices, robot, tags[side]);
        PhysicsMotor motor = physics_motor(devices->physics, info->joint, info->axis);
        double target = isinf(motor.target_position) ? motor.target_velocity : 0.0;
        state->wheel_speeds[side] = approach(state->wheel_speeds[side], target,
                                             scene_float(drive, "maxAcceleration") * dt);
        rolled[side] = state->wheel_speeds[side] * dt;
    }
    int solid = devices->robots[robot].solid;
    Pose pose = physics_solid_pose(devices->physics, solid);
    // Whatever it touched from the start is its floor. What it ran into with its last move is left again.
    bool is_touching = physics_touch_is_touching(devices->physics, solid), is_stuck = is_touching && state->is_free;
    if (is_stuck)
        pose = state->free_pose;
    state->is_free = !is_touching || is_stuck;
    state->free_pose = pose;
    for (int side = 0; side < 2; side++) {
        const DeviceInfo *info = devices_info(devices, robot, tags[side]);
        if (is_stuck)
            rolled[side] = 0.0;
        state->wheel_angles[side] += rolled[side];
        // The wheel shows what the drive does; its own motor must not add to it.
        physics_motor_set_power(devices->physics, info->joint, info->axis, false);
        physics_joint_set_position(devices->physics, info->joint, info->axis, state->wheel_angles[side]);
        Random *random = &devices->states[devices->robots[robot].first_device + tags[side] - 1].random;
        if (noise > 0.0)
            rolled[side] *= 1.0 + noise * (2.0 * random_uniform(random) - 1.0);
    }
    double ahead = 0.5 * radius * (rolled[0] + rolled[1]),
           turn = radius * (rolled[1] - rolled[0]) / scene_float(drive, "axleLength");
    // Along the chord of the arc.
    Quat half = quat_from_axis_angle(vec3(0, 1, 0), 0.5 * turn);
    pose.t = vec3_add(pose.t, quat_rotate(quat_mul(pose.q, half), vec3(0, 0, -ahead)));
    pose.q = quat_normalized(quat_mul(quat_mul(pose.q, half), half));
    physics_solid_set_pose(devices->physics, solid, pose);
}

void devices_drive(Devices *devices)
{
    for (int robot = 0; robot < devices->robot_count; robot++) {
        const SceneNode *drive = devices->robots[robot].is_alive ? drive_of(devices, robot) : NULL;
        if (!drive || devices->robots[robot].solid < 0 || strcmp(scene_string(drive, "mode"), "kinematic"))
            continue;
        int tags[2] = { devices_find(devices, robot, scene_string(drive, "leftMotor")),
                        devices_find(devices, robot, scene_string(drive, "rightMotor")) };
        if (tags[0] > 0 && tags[1] > 0 && devices_info(devices, robot, tags[0])->joint >= 0
            && devices_info(devices, robot, tags[1])->joint >= 0)
            move(devices, robot, drive, tags);
    }
}
