// Whoever is no supervisor gets nothing, and no harm is done.
#include "check.h"

#include <webots/supervisor.h>

int main(void)
{
    wb_robot_init();
    CHECK(!wb_robot_get_supervisor());
    CHECK(wb_supervisor_node_get_root() == NULL && wb_supervisor_node_get_self() == NULL);
    CHECK(wb_supervisor_node_get_from_def("BOX") == NULL && wb_supervisor_node_get_from_id(1) == NULL);
    check_steps(1);
    return check_done();
}
