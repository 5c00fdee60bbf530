// api/motor2: a weak motor on the second axis of a Hinge2Joint. The published place is the one 21 steps after the
// command.
#include "check.h"

#include <webots/motor.h>
#include <webots/position_sensor.h>

int main(void)
{
    wb_robot_init();
    WbDeviceTag sensor = wb_robot_get_device("second sensor"), motor = wb_position_sensor_get_motor(sensor);
    CHECK(motor && motor == wb_robot_get_device("second"));
    check_steps(1);
    CHECK(isnan(wb_position_sensor_get_value(sensor)) && isnan(wb_motor_get_torque_feedback(motor)));
    CHECK(wb_motor_get_torque_feedback_sampling_period(motor) == 0);
    CHECK_NEAR(wb_motor_get_max_position(motor), 1.58, 0);
    CHECK_NEAR(wb_motor_get_min_position(motor), -1.53, 0);
    wb_position_sensor_enable(sensor, 32);
    wb_motor_enable_torque_feedback(motor, 32);
    wb_motor_set_control_pid(motor, 15, 5, 1);
    wb_motor_set_available_torque(motor, 0.5);
    wb_motor_set_acceleration(motor, 5);
    wb_motor_set_position(motor, 1.5707963267948966);
    check_steps(1);
    CHECK_NEAR(wb_motor_get_target_position(motor), 1.5707963267948966, 0);
    check_steps(20);
    CHECK_NEAR(wb_position_sensor_get_value(sensor), 0.137485, 0.001);
    CHECK_NEAR(wb_motor_get_torque_feedback(motor), 0.500022, 1e-4);
    check_steps(1);
    wb_motor_set_torque(motor, 0.5);
    check_steps(20);
    CHECK_NEAR(wb_motor_get_torque_feedback(motor), 1.15779e-07, 1e-4);
    return check_done();
}
