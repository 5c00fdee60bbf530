#include "check.h"

#include <webots/gps.h>

int main(void)
{
    wb_robot_init();
    WbDeviceTag gps = wb_robot_get_device("gps");
    CHECK(isnan(wb_gps_get_speed(gps)) && isnan(wb_gps_get_speed_vector(gps)[0]));
    wb_gps_enable(gps, 32);
    CHECK(isnan(wb_gps_get_speed(gps)));
    check_steps(1);
    // Gravity has worked for one step.
    CHECK_VECTOR(wb_gps_get_speed_vector(gps), -5, 0, -9.81 * 0.032, 1e-4);
    CHECK_NEAR(wb_gps_get_speed(gps), sqrt(25 + 0.31392 * 0.31392), 1e-4);
    return check_done();
}
