#include "check.h"

#include <webots/distance_sensor.h>

int main(void)
{
    static const double before[3] = { 350, 350, 1000 }, after[3] = { 350, 1000, 350 };
    static const char *const names[3] = { "ir1", "ir2", "ir3" };
    wb_robot_init();
    WbDeviceTag tags[3];
    for (int i = 0; i < 3; i++) {
        tags[i] = wb_robot_get_device(names[i]);
        wb_distance_sensor_enable(tags[i], 32);
    }
    check_steps(1);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(wb_distance_sensor_get_value(tags[i]), before[i], 50);
    check_steps(10);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(wb_distance_sensor_get_value(tags[i]), after[i], 50);
    return check_done();
}
