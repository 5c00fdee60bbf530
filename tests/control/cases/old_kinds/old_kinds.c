// Up to R2018b there were three kinds of robots; the robot's own question and the supervisor's get the same answer.
#include "check.h"

#include <webots/supervisor.h>

int main(void)
{
    wb_robot_init();
    CHECK(wb_robot_get_type() == WB_NODE_SUPERVISOR);
    CHECK(wb_supervisor_node_get_type(wb_supervisor_node_get_self()) == WB_NODE_SUPERVISOR);
    CHECK(wb_supervisor_node_get_type(wb_supervisor_node_get_from_def("WHEELS")) == WB_NODE_DIFFERENTIAL_WHEELS);
    CHECK(wb_supervisor_node_get_type(wb_supervisor_node_get_from_def("PLAIN")) == WB_NODE_ROBOT);
    check_steps(1);
    return check_done();
}
