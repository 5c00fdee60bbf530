#include "check.h"

#include <unistd.h>
#include <webots/supervisor.h>

int main(void)
{
    wb_robot_init();
    wb_supervisor_node_set_velocity(wb_supervisor_node_get_from_def("B"), (const double[6]){ 1, 0, 0, 0, 0, 0 });
    WbFieldRef data = wb_supervisor_node_get_field(wb_supervisor_node_get_from_def("A"), "customData");
    wb_supervisor_field_set_sf_string(data, "3 + 4");
    check_steps(7);
    CHECK_TEXT(wb_supervisor_field_get_sf_string(data), "7");
    for (int i = 0; i < 50; i++) {
        usleep(2000);  // so that the free one finds time to run
        check_steps(1);
    }
    return check_done();
}
