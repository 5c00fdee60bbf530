/* servo.h - servo: motor and position sensor in one, as releases up to 8 had it. */
#ifndef WEBOTS_SERVO_H
#define WEBOTS_SERVO_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WB_SERVO_INFINITY INFINITY
enum { WB_SERVO_ROTATIONAL = 0, WB_SERVO_LINEAR = 1 };

void wb_servo_set_position(WbDeviceTag tag, double position);
double wb_servo_get_target_position(WbDeviceTag tag);
void wb_servo_set_velocity(WbDeviceTag tag, double velocity);
void wb_servo_set_acceleration(WbDeviceTag tag, double acceleration);
void wb_servo_set_motor_force(WbDeviceTag tag, double force);
void wb_servo_set_control_p(WbDeviceTag tag, double p);
double wb_servo_get_min_position(WbDeviceTag tag);
double wb_servo_get_max_position(WbDeviceTag tag);
void wb_servo_enable_position(WbDeviceTag tag, int sampling_period);
void wb_servo_disable_position(WbDeviceTag tag);
int wb_servo_get_position_sampling_period(WbDeviceTag tag);
double wb_servo_get_position(WbDeviceTag tag);
void wb_servo_enable_motor_force_feedback(WbDeviceTag tag, int sampling_period);
void wb_servo_disable_motor_force_feedback(WbDeviceTag tag);
int wb_servo_get_motor_force_feedback_sampling_period(WbDeviceTag tag);
double wb_servo_get_motor_force_feedback(WbDeviceTag tag);
void wb_servo_set_force(WbDeviceTag tag, double force);
int wb_servo_get_type(WbDeviceTag tag);

#ifdef __cplusplus
}
#endif

#endif
