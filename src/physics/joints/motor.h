// motor.h - what drives the axes of joints, tracks and propellers: commands in, state out. An axis is named by the
// joint and its number; tracks and propellers are joints of their own kind with one axis. Commands act from the next
// step on. Values are in the motor's own unit: rad, rad/s, N m for rotational motors, m, m/s, N for linear ones. A
// command on one of several coupled motors ("name::part" in one robot) reaches all of them, each scaled by its
// multiplier.
#ifndef TALUS_PHYSICS_MOTOR_H
#define TALUS_PHYSICS_MOTOR_H

#include "physics/physics.h"

// The axis that a motor, position sensor or brake node belongs to. False when it is on none.
bool physics_axis_of(const Physics *physics, const SceneNode *device, int *joint, int *axis);

typedef enum PhysicsMotorMode { PHYSICS_MOTOR_POSITION, PHYSICS_MOTOR_VELOCITY, PHYSICS_MOTOR_FORCE } PhysicsMotorMode;

typedef struct PhysicsMotor {
    PhysicsMotorMode mode;
    double target_position;  // INFINITY in velocity mode
    double target_velocity;
    double acceleration;  // -1: unlimited
    double available_force;
    double force;                       // the command, in force mode
    double min_position, max_position;  // no limit when both are 0
    double max_velocity, max_force, multiplier;
    double gains[3];
    double feedback;  // force or torque on the joint in the last step, along the axis
} PhysicsMotor;
PhysicsMotor physics_motor(const Physics *physics, int joint, int axis);
void physics_motor_command(Physics *physics, int joint, int axis,
                           const PhysicsMotor *motor);  // the commands of one read before, again

// Each returns what is wrong with the value in words (it has then been clipped or refused), or NULL.
const char *physics_motor_set_position(Physics *physics, int joint, int axis,
                                       double position);  // INFINITY: velocity mode
const char *physics_motor_set_velocity(Physics *physics, int joint, int axis, double velocity);
const char *physics_motor_set_acceleration(Physics *physics, int joint, int axis, double acceleration);
const char *physics_motor_set_available_force(Physics *physics, int joint, int axis, double force);
const char *physics_motor_set_force(Physics *physics, int joint, int axis, double force);
// Of many motors; what is above a motor's maximum is the maximum.
void physics_motor_set_forces(Physics *physics, const PhysicsAxisRef *axes, int count, const double *forces);
const char *physics_motor_set_gains(Physics *physics, int joint, int axis, double p, double i, double d);
void physics_motor_want_feedback(Physics *physics, int joint, bool want);
void physics_brake_set_damping(Physics *physics, int joint, int axis, double damping);
// A robot with an empty battery: its motors give nothing until power is back.
void physics_motor_set_power(Physics *physics, int joint, int axis, bool has_power);

#endif
