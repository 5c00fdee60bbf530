#include "check.h"

#include <webots/gps.h>

int main(void)
{
    wb_robot_init();
    CHECK_TEXT(wb_robot_get_name(), "inner");
    WbDeviceTag gps = wb_robot_get_device("own");
    CHECK(gps == 1 && wb_robot_get_device("fourth") == 0);
    wb_gps_enable(gps, 32);
    check_steps(5);
    double before = wb_gps_get_values(gps)[0];
    check_steps(1);  // the supervisor moves the outer robot at 1 m/s
    CHECK_NEAR(wb_gps_get_values(gps)[0] - before, 0.032, 1e-12);
    return check_done();
}
