// Twice the same way: once from the start, once after a reset, with nodes added and taken away between.
#include "check.h"

#include <webots/supervisor.h>

static void positions(double out[9])
{
    static const char *const defs[3] = { "A", "B", "C" };
    for (int i = 0; i < 3; i++)
        memcpy(out + 3 * i, wb_supervisor_node_get_position(wb_supervisor_node_get_from_def(defs[i])),
               3 * sizeof(double));
}

static WbFieldRef field(const char *def, const char *name)
{
    return wb_supervisor_node_get_field(wb_supervisor_node_get_from_def(def), name);
}

// physics/ball_joint_reset: the end point's pose after one step.
static void end_point(double out[7])
{
    memcpy(out, wb_supervisor_field_get_sf_vec3f(field("END", "translation")), 3 * sizeof(double));
    memcpy(out + 3, wb_supervisor_field_get_sf_rotation(field("END", "rotation")), 4 * sizeof(double));
}

int main(void)
{
    wb_robot_init();
    double first[9], second[9], ends[2][7];
    check_steps(1);
    end_point(ends[0]);
    check_steps(39);
    positions(first);
    wb_supervisor_field_import_mf_node_from_string(
        wb_supervisor_node_get_field(wb_supervisor_node_get_root(), "children"), -1,
        "DEF EXTRA Solid { translation 0 0 4 boundingObject Sphere { } physics Physics { } name \"extra\" }");
    check_steps(10);
    // What a supervisor wrote there outlives the reset.
    wb_supervisor_field_set_sf_string(field("WORKER", "description"), "changed");
    wb_supervisor_field_insert_mf_string(field("WORKER", "controllerArgs"), 0, "more");
    wb_supervisor_simulation_reset();
    wb_supervisor_node_restart_controller(wb_supervisor_node_get_from_def("WORKER"));
    check_steps(1);
    CHECK(wb_supervisor_node_get_from_def("EXTRA") == NULL);
    CHECK_NEAR(wb_robot_get_time(), 0.032, 1e-9);
    CHECK_TEXT(wb_supervisor_field_get_sf_string(field("WORKER", "description")), "changed");
    CHECK(wb_supervisor_field_get_count(field("WORKER", "controllerArgs")) == 1);
    end_point(ends[1]);
    for (int i = 0; i < 7; i++)
        CHECK_NEAR(ends[1][i], ends[0][i], 1e-10);
    check_steps(39);
    positions(second);
    for (int i = 0; i < 9; i++)
        CHECK_NEAR(second[i], first[i], 1e-6);
    wb_supervisor_simulation_reset_physics();
    check_steps(30);
    return check_done();
}
