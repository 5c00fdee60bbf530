// A supervisor that resets the world and starts itself anew begins at time 0, with everything where it was.
#include "check.h"

#include <webots/supervisor.h>

int main(void)
{
    wb_robot_init();
    WbNodeRef self = wb_supervisor_node_get_self();
    WbFieldRef description = wb_supervisor_node_get_field(self, "description");
    size_t runs = strlen(wb_supervisor_field_get_sf_string(description));
    const double *place = wb_supervisor_node_get_position(wb_supervisor_node_get_from_def("STONE"));
    CHECK_NEAR(wb_robot_get_time(), 0.0, 0.0);
    CHECK_NEAR(place[2], 10.0, 0.0);
    check_steps(20);
    CHECK_NEAR(wb_robot_get_time(), 0.16, 1e-12);
    // What the fall is after 20 steps of semi-implicit integration: g h^2 n (n + 1) / 2.
    CHECK_NEAR(wb_supervisor_node_get_position(wb_supervisor_node_get_from_def("STONE"))[2],
               10.0 - 9.81 * 0.008 * 0.008 * 210, 1e-6);
    if (runs == 2)
        return check_done();
    if (check_mistakes)
        return EXIT_FAILURE;
    wb_supervisor_field_set_sf_string(description, runs ? "xx" : "x");
    wb_supervisor_simulation_reset();
    wb_supervisor_node_restart_controller(self);
    while (wb_robot_step(8) != -1) {}
    wb_robot_cleanup();
    return 0;
}
