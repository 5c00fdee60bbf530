// api/robot_nested: the robot inside goes along, and its devices are its own.
#include "check.h"

#include <webots/supervisor.h>

int main(void)
{
    wb_robot_init();
    CHECK(wb_robot_get_device("hidden") == 0 && wb_robot_get_number_of_devices() == 0);
    WbNodeRef inner = wb_supervisor_node_get_from_def("OUTER.INNER");
    double before = wb_supervisor_node_get_position(inner)[0];
    wb_supervisor_node_set_velocity(wb_supervisor_node_get_self(), (const double[6]){ 1, 0, 0, 0, 0, 0 });
    check_steps(1);
    CHECK_NEAR(wb_supervisor_node_get_position(inner)[0] - before, 0.016, 1e-12);
    return check_done();
}
