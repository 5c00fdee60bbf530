// physics/connector_static_autolock: a falling ball is caught by a connector of the static world and drawn to it.
#include "check.h"

#include <webots/connector.h>
#include <webots/supervisor.h>

int main(void)
{
    wb_robot_init();
    wb_robot_step(102 * 32);
    CHECK_VECTOR(wb_supervisor_node_get_position(wb_supervisor_node_get_from_def("CAUGHT")), 10.25, 0.2, 0, 0.005);
    CHECK(wb_connector_is_locked(wb_robot_get_device("connector")));
    return check_done();
}
