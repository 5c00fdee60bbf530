// Twice the same way: once from the start, once after a reset, with nodes added and taken away between.
#include "check.h"

#include <webots/supervisor.h>

static void positions(double out[9])
{
    static const char *const defs[3] = { "A", "B", "C" };
    for (int i = 0; i < 3; i++)
        memcpy(out + 3 * i, wb_supervisor_node_get_position(wb_supervisor_node_get_from_def(defs[i])), 3 * sizeof(double));
}

int main(void)
{
    wb_robot_init();
    double first[9], second[9];
    check_steps(40);
    positions(first);
    wb_supervisor_field_import_mf_node_from_string(wb_supervisor_node_get_field(wb_supervisor_node_get_root(), "children"), -1,
                                                   "DEF EXTRA Solid { translation 0 0 4 boundingObject Sphere { } physics Physics { } name \"extra\" }");
    check_steps(10);
    wb_supervisor_simulation_reset();
    wb_supervisor_node_restart_controller(wb_supervisor_node_get_from_def("WORKER"));
    check_steps(1);
    CHECK(wb_supervisor_node_get_from_def("EXTRA") == NULL);
    CHECK_NEAR(wb_robot_get_time(), 0.032, 1e-9);
    check_steps(39);
    positions(second);
    for (int i = 0; i < 9; i++)
        CHECK_NEAR(second[i], first[i], 1e-6);
    wb_supervisor_simulation_reset_physics();
    check_steps(30);
    return check_done();
}
