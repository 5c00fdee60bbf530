#include "check.h"

#include <webots/radar.h>
#include <webots/supervisor.h>

int main(void)
{
    wb_robot_init();
    WbDeviceTag radar = wb_robot_get_device("radar");
    WbNodeRef target = wb_supervisor_node_get_from_def("RADAR_TARGET");
    wb_radar_enable(radar, 32);
    check_steps(1);
    CHECK(wb_radar_get_number_of_targets(radar) == 1);
    CHECK_NEAR(wb_radar_get_targets(radar)[0].distance, 0.65, 1e-9);
    wb_supervisor_node_set_velocity(target, (const double[6]){ 1.5, 0, 0, 0, 0, 0 });
    check_steps(1);
    CHECK_NEAR(wb_radar_get_targets(radar)[0].speed, 1.5, 0.001);  // it goes away
    wb_supervisor_node_set_velocity(wb_supervisor_node_get_self(), (const double[6]){ 0.75, 0, 0, 0, 0, 0 });
    check_steps(1);
    CHECK_NEAR(wb_radar_get_targets(radar)[0].speed, 0.75, 0.001);
    return check_done();
}
