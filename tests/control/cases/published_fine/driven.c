// api/track, two belts: 20 steps under position control, then turning on the spot.
#include "check.h"

#include <webots/motor.h>
#include <webots/position_sensor.h>
#include <webots/supervisor.h>

int main(void)
{
    static const char *const names[2] = { "left motor", "right motor" };
    WbDeviceTag motors[2], sensors[2];
    wb_robot_init();
    for (int i = 0; i < 2; i++) {
        motors[i] = wb_robot_get_device(names[i]);
        sensors[i] = wb_motor_get_position_sensor(motors[i]);
        wb_position_sensor_enable(sensors[i], 32);
    }
    wb_robot_step(32);
    for (int step = 1; step <= 20; step++) {
        for (int i = 0; i < 2; i++)
            wb_motor_set_position(motors[i], 0.01 * step);
        wb_robot_step(32);
    }
    double gone[2];
    for (int i = 0; i < 2; i++)
        CHECK_NEAR(gone[i] = wb_position_sensor_get_value(sensors[i]), 0.174772, 1e-5);
    CHECK_NEAR(wb_supervisor_node_get_position(wb_supervisor_node_get_self())[0], 0.172570, 1e-4);
    CHECK_NEAR(wb_supervisor_node_get_position(wb_supervisor_node_get_self())[2], 0, 1e-4);
    for (int i = 0; i < 2; i++) {
        wb_motor_set_position(motors[i], INFINITY);
        wb_motor_set_velocity(motors[i], i ? -0.2 : 0.2);
    }
    wb_robot_step(100 * 32);
    CHECK_NEAR(wb_position_sensor_get_value(sensors[0]), gone[0] + 0.64, 1e-5);
    CHECK_NEAR(wb_position_sensor_get_value(sensors[1]), gone[1] - 0.64, 1e-5);
    const double *turned = wb_supervisor_node_get_orientation(wb_supervisor_node_get_self());
    // Published -1.097467 +- 1e-4 for belts of many triangles; boxes that touch the floor at the same places come this
    // near.
    CHECK_NEAR(atan2(turned[2], turned[0]), -1.097467, 5e-4);
    return check_done();
}
