// physics/kinematic_geometry_update: a body sleeps on a box without physics; the box shrinks; within 512 ms the body
// moves.
#include "check.h"

#include <webots/supervisor.h>

static double height(void) { return wb_supervisor_node_get_position(wb_supervisor_node_get_from_def("SLEEPER"))[1]; }

int main(void)
{
    wb_robot_init();
    check_steps(63);
    double before = height();
    CHECK_NEAR(before, 0.7, 0.01);
    check_steps(1);
    CHECK_NEAR(height(), before, 0);
    wb_supervisor_field_set_sf_vec3f(wb_supervisor_node_get_field(wb_supervisor_node_get_from_def("PILLAR"), "size"),
                                     (const double[3]){ 1, 0.5, 1 });
    check_steps(16);
    CHECK(before - height() > 0.01);
    return check_done();
}
