// api/asymmetric_friction: boxes on a slanted plane with friction that differs by direction.
#include "check.h"

#include <webots/supervisor.h>

int main(void)
{
    wb_robot_init();
    for (int step = 0; step < 40; step++)
        wb_robot_step(64);
    CHECK_VECTOR(wb_supervisor_node_get_position(wb_supervisor_node_get_from_def("BOX1")), 1.353466, -1.088782,
                 -0.527743, 0.001);
    CHECK_VECTOR(wb_supervisor_node_get_position(wb_supervisor_node_get_from_def("BOX2")), -0.798742, -0.927224,
                 0.699450, 0.001);
    return check_done();
}
