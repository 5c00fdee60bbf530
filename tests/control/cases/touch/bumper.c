#include "check.h"

#include <webots/touch_sensor.h>

int main(void)
{
    wb_robot_init();
    WbDeviceTag sensor = wb_robot_get_device("touch sensor");
    CHECK(wb_touch_sensor_get_type(sensor) == WB_TOUCH_SENSOR_BUMPER);
    CHECK(isnan(wb_touch_sensor_get_value(sensor)));
    wb_touch_sensor_enable(sensor, 16);
    check_steps(5);
    CHECK(wb_touch_sensor_get_value(sensor) == 0);
    check_steps(20);
    CHECK(wb_touch_sensor_get_value(sensor) == 1);
    return check_done();
}
