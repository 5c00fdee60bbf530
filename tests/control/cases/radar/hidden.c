#include "check.h"

#include <webots/radar.h>
#include <webots/supervisor.h>

int main(void)
{
    wb_robot_init();
    WbDeviceTag with = wb_robot_get_device("with"), without = wb_robot_get_device("without");
    wb_radar_enable(with, 32);
    wb_radar_enable(without, 32);
    check_steps(1);
    CHECK_NEAR(wb_radar_get_number_of_targets(with), 1, 0);
    CHECK_NEAR(wb_radar_get_number_of_targets(without), 3, 0);
    wb_supervisor_node_remove(wb_supervisor_node_get_from_def("FRONT"));
    check_steps(1);
    CHECK_NEAR(wb_radar_get_number_of_targets(with), 2, 0);
    CHECK_NEAR(wb_radar_get_number_of_targets(without), 2, 0);
    return check_done();
}
