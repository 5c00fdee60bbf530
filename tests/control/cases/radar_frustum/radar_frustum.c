// Every second of six solids reaches into the field of view; they are taken away one after the other.
#include "check.h"

#include <webots/radar.h>
#include <webots/supervisor.h>

int main(void)
{
    static const char *const names[6] = { "VISIBLE_SPHERE",  "NOT_VISIBLE_SPHERE", "VISIBLE_BOX",
                                          "NOT_VISIBLE_BOX", "VISIBLE_CAPSULE",    "NOT_VISIBLE_CAPSULE" };
    wb_robot_init();
    WbDeviceTag radar = wb_robot_get_device("radar");
    wb_radar_enable(radar, 96);
    for (int i = 0; i < 2; i++) {
        check_steps(1);
        CHECK(wb_radar_get_number_of_targets(radar) == 0);
    }
    check_steps(1);
    for (int i = 0; i < 6; i++) {
        CHECK_NEAR(wb_radar_get_number_of_targets(radar), (6 - i) / 2, 0);
        wb_supervisor_node_remove(wb_supervisor_node_get_from_def(names[i]));
        wb_robot_step(64);
        CHECK_NEAR(wb_radar_get_number_of_targets(radar), (6 - i) / 2, 0);
        check_steps(1);
        CHECK_NEAR(wb_radar_get_number_of_targets(radar), (5 - i) / 2, 0);
    }
    return check_done();
}
