#include "check.h"

#include <webots/gps.h>
#include <webots/supervisor.h>

int main(void)
{
    wb_robot_init();
    WbDeviceTag gps = wb_robot_get_device("gps");
    const double velocity[6] = { 0, -5, 0, 0, 0, 0 };
    wb_supervisor_node_set_velocity(wb_supervisor_node_get_self(), velocity);
    wb_gps_enable(gps, 32);
    check_steps(1);
    CHECK(isnan(wb_gps_get_speed(gps)));
    check_steps(1);
    CHECK_VECTOR(wb_gps_get_speed_vector(gps), 0, -5, 0, 1e-4);
    CHECK_NEAR(wb_gps_get_speed(gps), 5, 1e-4);
    return check_done();
}
