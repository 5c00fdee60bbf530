// Sensors see the world as it is after the step that moved them.
#include "check.h"

#include <webots/distance_sensor.h>

int main(void)
{
    wb_robot_init();
    bool is_rover = !strcmp(wb_robot_get_name(), "rover");
    WbDeviceTag tag = wb_robot_get_device(is_rover ? "generic" : "distance sensor"),
                infra = is_rover ? wb_robot_get_device("infra") : 0;
    wb_distance_sensor_enable(tag, 32);
    if (infra)
        wb_distance_sensor_enable(infra, 32);
    for (int i = 1; i <= 20; i++) {
        check_steps(1);
        CHECK_NEAR(wb_distance_sensor_get_value(tag), 2 - 0.032 * i, 1e-6);
        if (infra)
            CHECK_NEAR(wb_distance_sensor_get_value(infra), 2 - 0.032 * i, 1e-6);
    }
    return check_done();
}
