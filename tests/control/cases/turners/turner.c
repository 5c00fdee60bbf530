// One after the other the three axes go to their targets.
#include "check.h"

#include <webots/motor.h>
#include <webots/position_sensor.h>

int main(void)
{
    static const double targets[3] = { 1.01, 0.6, -2.45 };
    WbDeviceTag motors[3], sensors[3];
    wb_robot_init();
    for (int i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "motor %d", i);
        motors[i] = wb_robot_get_device(name);
        sensors[i] = wb_motor_get_position_sensor(motors[i]);
        wb_position_sensor_enable(sensors[i], 32);
    }
    int stage = -1;
    for (int step = 0; step < 188; step++) {
        check_steps(1);
        if (stage >= 0 && stage < 3 && fabs(wb_position_sensor_get_value(sensors[stage]) - targets[stage]) > 0.01)
            continue;
        if (stage < 3 && ++stage < 3)
            wb_motor_set_position(motors[stage], targets[stage]);
    }
    CHECK(stage == 3);
    return check_done();
}
