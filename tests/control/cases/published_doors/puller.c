// physics/connector_detach: a force that grows by 0.1 N a step parts two connectors of 1 N each in the step it
// reaches 2.1 N.
#include "check.h"

#include <webots/connector.h>
#include <webots/supervisor.h>

static double distance(void)
{
    WbNodeRef held = wb_supervisor_node_get_from_def("HELD");
    return wb_supervisor_node_get_position(wb_supervisor_node_get_self())[0] - wb_supervisor_node_get_position(held)[0];
}

int main(void)
{
    wb_robot_init();
    WbDeviceTag connector = wb_robot_get_device("frame connector");
    wb_connector_enable_presence(connector, 32);
    check_steps(1);
    CHECK(wb_connector_get_presence(connector) == 1);
    double start = distance(), force = 0;
    wb_connector_lock(connector);
    check_steps(1);
    do {
        force += 0.1;
        wb_supervisor_node_add_force(wb_supervisor_node_get_self(), (const double[3]){ 0, 0, -force }, true);
        check_steps(1);
    } while (wb_connector_get_presence(connector) == 1 && wb_robot_get_time() < 2);
    CHECK_NEAR(wb_robot_get_time(), 0.736, 1e-9);
    CHECK_NEAR(force, 2.1, 1e-9);
    CHECK(distance() > start + 0.01);
    return check_done();
}
