// Motors whose names share what stands before "::" follow each other, each with its multiplier.
#include "check.h"

#include <webots/motor.h>
#include <webots/position_sensor.h>

int main(void)
{
    static const char *const names[5] = { "motor::a", "motor::b", "motor::c", "motor::d", "other" };
    static const double factors[5] = { 1, 2, -2, 0.5, 0 };
    WbDeviceTag motors[5], sensors[5];
    wb_robot_init();
    for (int i = 0; i < 5; i++) {
        motors[i] = wb_robot_get_device(names[i]);
        sensors[i] = wb_motor_get_position_sensor(motors[i]);
        wb_position_sensor_enable(sensors[i], 16);
    }
    CHECK_NEAR(wb_motor_get_multiplier(motors[2]), -2, 0);
    wb_motor_set_position(motors[0], INFINITY);
    wb_motor_set_velocity(motors[0], 0.2);
    for (int i = 1; i < 4; i++) {
        CHECK(isinf(wb_motor_get_target_position(motors[i])));
        CHECK_NEAR(wb_motor_get_velocity(motors[i]), 0.2 * factors[i], 1e-12);
    }
    CHECK_NEAR(wb_motor_get_velocity(motors[4]), wb_motor_get_max_velocity(motors[4]), 0);
    for (int step = 0; step < 100; step++) {
        check_steps(1);
        double first = wb_position_sensor_get_value(sensors[0]);
        for (int i = 1; i < 5; i++)
            CHECK_NEAR(wb_position_sensor_get_value(sensors[i]), factors[i] * first, 1e-9);
    }
    CHECK_NEAR(wb_position_sensor_get_value(sensors[0]), 0.32, 0.005);
    wb_motor_set_velocity(motors[0], 10);
    wb_motor_set_position(motors[0], 0.5);
    for (int i = 1; i < 4; i++)
        CHECK_NEAR(wb_motor_get_target_position(motors[i]), 0.5 * factors[i], 1e-12);
    CHECK_NEAR(wb_motor_get_target_position(motors[4]), 0, 0);
    check_steps(150);
    for (int i = 0; i < 5; i++)
        CHECK_NEAR(wb_position_sensor_get_value(sensors[i]), factors[i] * 0.5, 1e-4);
    return check_done();
}
