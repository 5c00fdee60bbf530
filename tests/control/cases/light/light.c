// A point and a spot light, one sensor facing them and one turned away, which gets the ambient part alone.
#include "check.h"

#include <webots/light_sensor.h>

int main(void)
{
    wb_robot_init();
    WbDeviceTag ls0 = wb_robot_get_device("ls0"), ls1 = wb_robot_get_device("ls1");
    CHECK(wb_light_sensor_get_lookup_table_size(ls0) == 2 && wb_light_sensor_get_lookup_table(ls0)[3] == 10);
    CHECK(isnan(wb_light_sensor_get_value(ls0)) && isnan(wb_light_sensor_get_value(ls1)));
    wb_light_sensor_enable(ls0, 32);
    wb_light_sensor_enable(ls1, 64);
    CHECK(isnan(wb_light_sensor_get_value(ls0)));
    check_steps(1);
    CHECK(isnan(wb_light_sensor_get_value(ls1)));
    for (int i = 0; i < 9; i++) {
        CHECK_NEAR(wb_light_sensor_get_value(ls0), 279.21, 0.001);
        check_steps(1);
        CHECK_NEAR(wb_light_sensor_get_value(ls1), 102.4, 0.001);
    }
    return check_done();
}
