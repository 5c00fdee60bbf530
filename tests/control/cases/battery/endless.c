#include "check.h"

int main(void)
{
    wb_robot_init();
    wb_robot_battery_sensor_enable(32);
    check_steps(3);
    CHECK(wb_robot_battery_sensor_get_value() == -1);
    return check_done();
}
