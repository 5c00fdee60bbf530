// The numbers and tolerances are those of Webots' api/motor; as there, the base stands on a floor and is free.
#include "check.h"

#include <webots/brake.h>
#include <webots/motor.h>
#include <webots/position_sensor.h>

int main(void)
{
    wb_robot_init();
    WbDeviceTag motor = wb_robot_get_device("rotational motor"), sensor = wb_robot_get_device("position sensor"),
                brake = wb_robot_get_device("brake");
    CHECK(motor && sensor && brake);
    CHECK(isnan(wb_position_sensor_get_value(sensor)));
    CHECK(isnan(wb_motor_get_torque_feedback(motor)));
    CHECK(wb_motor_get_torque_feedback_sampling_period(motor) == 0);
    CHECK_NEAR(wb_motor_get_min_position(motor), -1.63, 0);
    CHECK_NEAR(wb_motor_get_max_position(motor), 1.51, 0);
    CHECK_NEAR(wb_motor_get_acceleration(motor), 5, 0);
    CHECK_NEAR(wb_motor_get_max_velocity(motor), 20, 0);
    CHECK_NEAR(wb_motor_get_max_torque(motor), 100, 0);
    CHECK_NEAR(wb_motor_get_available_torque(motor), 100, 0);
    CHECK_NEAR(wb_motor_get_multiplier(motor), 1, 0);
    CHECK(wb_motor_get_type(motor) == WB_ROTATIONAL && wb_position_sensor_get_type(sensor) == WB_ROTATIONAL
          && wb_brake_get_type(brake) == WB_ROTATIONAL);
    CHECK(wb_motor_get_position_sensor(motor) == sensor && wb_motor_get_brake(motor) == brake);
    CHECK(wb_position_sensor_get_motor(sensor) == motor && wb_position_sensor_get_brake(sensor) == brake);
    CHECK(wb_brake_get_motor(brake) == motor && wb_brake_get_position_sensor(brake) == sensor);
    wb_position_sensor_enable(sensor, 32);
    wb_motor_enable_torque_feedback(motor, 32);
    CHECK(wb_motor_get_torque_feedback_sampling_period(motor) == 32
          && wb_position_sensor_get_sampling_period(sensor) == 32);
    wb_motor_set_control_pid(motor, 15, 5, 1);
    wb_motor_set_available_torque(motor, 50);
    CHECK_NEAR(wb_motor_get_available_torque(motor), 50, 0);
    wb_motor_set_position(motor, 100);
    CHECK_NEAR(wb_motor_get_target_position(motor), 1.51, 0);
    check_steps(21);
    CHECK_NEAR(wb_position_sensor_get_value(sensor), 1.18212, 0.001);
    CHECK_NEAR(wb_motor_get_torque_feedback(motor), 0.0268543, 0.001);
    wb_motor_set_velocity(motor, 18);
    wb_motor_set_acceleration(motor, 4.8);
    CHECK_NEAR(wb_motor_get_velocity(motor), 18, 0);
    CHECK_NEAR(wb_motor_get_acceleration(motor), 4.8, 0);
    wb_position_sensor_disable(sensor);
    CHECK(wb_position_sensor_get_sampling_period(sensor) == 0);
    wb_motor_set_position(0, 1);  // neither of these may do harm
    wb_motor_set_position(sensor, 1);
    CHECK(wb_motor_get_position_sensor(wb_robot_get_device("lonely")) == 0);
    return check_done();
}
