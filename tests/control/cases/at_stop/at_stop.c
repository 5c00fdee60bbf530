// A joint that is put beyond its stop stands at the stop, and its load does not carry it on.
#include "check.h"

#include <webots/supervisor.h>

int main(void)
{
    wb_robot_init();
    WbNodeRef ball = wb_supervisor_node_get_from_def("BALL"), lift = wb_supervisor_node_get_from_def("LIFT");
    check_steps(3);
    wb_supervisor_node_set_joint_position(wb_supervisor_node_get_from_def("HINGE"), 0.6, 1);
    wb_supervisor_node_set_joint_position(wb_supervisor_node_get_from_def("SLIDER"), 0.6, 1);
    for (int i = 0; i < 10; i++) {
        check_steps(1);
        CHECK_VECTOR(wb_supervisor_node_get_position(ball), 0.4 * sin(0.4), 0, 0.4 * cos(0.4), 2e-4);
        CHECK_VECTOR(wb_supervisor_node_get_position(lift), 1, 0, 0.7, 2e-4);
    }
    return check_done();
}
