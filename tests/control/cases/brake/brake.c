#include "check.h"

#include <webots/brake.h>
#include <webots/position_sensor.h>

int main(void)
{
    wb_robot_init();
    WbDeviceTag sensors[4], brakes[4] = { 0 };
    char name[16];
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "sensor %d", i);
        sensors[i] = wb_robot_get_device(name);
        wb_position_sensor_enable(sensors[i], 32);
        snprintf(name, sizeof name, "brake %d", i);
        if (i > 0)
            brakes[i] = wb_robot_get_device(name);
    }
    CHECK(wb_brake_get_position_sensor(brakes[2]) == sensors[2]);
    CHECK(wb_position_sensor_get_brake(sensors[0]) == 0 && wb_position_sensor_get_motor(sensors[0]) == 0);
    wb_brake_set_damping_constant(brakes[1], 0);
    wb_brake_set_damping_constant(brakes[2], 1);
    wb_brake_set_damping_constant(brakes[3], 10000);
    check_steps(8);
    double at[4];
    for (int i = 0; i < 4; i++)
        at[i] = fabs(wb_position_sensor_get_value(sensors[i]));
    CHECK_NEAR(at[1], at[0], 0.01);
    CHECK(at[0] > 0.5 && at[2] < at[0] - 0.05 && at[2] > 0.05);
    CHECK_NEAR(at[3], 0, 0.001);
    CHECK(wb_brake_get_position_sensor(brakes[3]) == sensors[3]);
    return check_done();
}
