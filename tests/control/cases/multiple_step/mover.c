// Puts the robot of multiple_step.c elsewhere after 96 ms, and leaves.
#include "check.h"

#include <webots/supervisor.h>

int main(void)
{
    wb_robot_init();
    wb_robot_step(3 * 32);
    WbNodeRef walker = wb_supervisor_node_get_from_def("WALKER");
    wb_supervisor_field_set_sf_rotation(wb_supervisor_node_get_field(walker, "rotation"),
                                        (const double[4]){ 0, 1, 0, 1.5708 });
    wb_supervisor_field_set_sf_vec3f(wb_supervisor_node_get_field(walker, "translation"),
                                     (const double[3]){ -0.05, 0.0295, 0.1 });
    return check_done();
}
