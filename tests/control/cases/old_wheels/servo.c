#include "check.h"

#include <webots/servo.h>

int main(void)
{
    wb_robot_init();
    WbDeviceTag servo = wb_robot_get_device("servo");
    CHECK(wb_servo_get_type(servo) == WB_SERVO_ROTATIONAL);
    CHECK(wb_servo_get_min_position(servo) == 0 && wb_servo_get_max_position(servo) == 0);
    wb_servo_enable_position(servo, 32);
    wb_servo_enable_motor_force_feedback(servo, 32);
    CHECK(wb_servo_get_position_sampling_period(servo) == 32
          && wb_servo_get_motor_force_feedback_sampling_period(servo) == 32);
    wb_servo_set_acceleration(servo, 100);
    wb_servo_set_control_p(servo, 10);
    wb_servo_set_motor_force(servo, 90);
    wb_servo_set_velocity(servo, 5);
    wb_servo_set_position(servo, 0.5);
    CHECK_NEAR(wb_servo_get_target_position(servo), 0.5, 0);
    check_steps(60);
    CHECK_NEAR(wb_servo_get_position(servo), 0.5, 0.01);
    CHECK(!isnan(wb_servo_get_motor_force_feedback(servo)));
    wb_servo_disable_motor_force_feedback(servo);
    wb_servo_set_force(servo, 0.001);
    check_steps(10);
    wb_servo_disable_position(servo);
    return check_done();
}
