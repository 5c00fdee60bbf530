// physics/coupled_motor: what is told to one motor holds for all of its group, each with its multiplier;
// so the limits of the others follow those of the first.
#include "check.h"

#include <webots/motor.h>
#include <webots/position_sensor.h>

enum { COUNT = 5 };
static const double factors[COUNT] = { 1, 0.5, 4, -0.5, -4 };
static WbDeviceTag motors[COUNT], sensors[COUNT];

static void check_ratios(double tolerance)
{
    double first = wb_position_sensor_get_value(sensors[0]);
    for (int i = 1; i < COUNT; i++)
        CHECK_NEAR(wb_position_sensor_get_value(sensors[i]), factors[i] * first, tolerance);
}

int main(void)
{
    wb_robot_init();
    for (int i = 0; i < COUNT; i++) {
        char name[16];
        snprintf(name, sizeof name, "motor::%d", i);
        motors[i] = wb_robot_get_device(name);
        sensors[i] = wb_motor_get_position_sensor(motors[i]);
        wb_position_sensor_enable(sensors[i], 16);
        CHECK_NEAR(wb_motor_get_multiplier(motors[i]), factors[i], 0);
        CHECK_NEAR(wb_motor_get_max_velocity(motors[i]), 10 * fabs(factors[i]), 1e-12);
        CHECK_NEAR(wb_motor_get_min_position(motors[i]), factors[i] * (factors[i] > 0 ? -20 : 30), 1e-12);
        CHECK_NEAR(wb_motor_get_max_position(motors[i]), factors[i] * (factors[i] > 0 ? 30 : -20), 1e-12);
    }
    wb_motor_set_position(motors[0], INFINITY);
    wb_motor_set_velocity(motors[0], 0.5);
    for (int step = 0; step < 250; step++) {
        check_steps(1);
        check_ratios(1e-10);
    }
    CHECK_NEAR(wb_position_sensor_get_value(sensors[0]), 2, 0.01);
    wb_motor_set_velocity(motors[0], 2);
    wb_motor_set_position(motors[0], 1);
    for (int round = 0; round < 2; round++) {
        check_steps(100);
        check_ratios(1e-7);
    }
    CHECK_NEAR(wb_position_sensor_get_value(sensors[0]), 1, 1e-3);
    return check_done();
}
