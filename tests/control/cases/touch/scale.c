#include "check.h"

#include <webots/touch_sensor.h>

int main(void)
{
    wb_robot_init();
    WbDeviceTag sensor = wb_robot_get_device("touch sensor");
    CHECK(wb_touch_sensor_get_type(sensor) == WB_TOUCH_SENSOR_FORCE);
    CHECK(wb_touch_sensor_get_lookup_table_size(sensor) == 2 && wb_touch_sensor_get_lookup_table(sensor)[3] == 5000);
    wb_touch_sensor_enable(sensor, 16);
    check_steps(5);
    CHECK_NEAR(wb_touch_sensor_get_value(sensor), 0, 0.001);
    check_steps(100);
    CHECK_NEAR(wb_touch_sensor_get_value(sensor), 981, 1);
    return check_done();
}
