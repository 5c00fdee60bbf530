// Webots' api/supervisor_velocity, turned to z up.
#include "check.h"

#include <webots/supervisor.h>

int main(void)
{
    wb_robot_init();
    WbNodeRef k1 = wb_supervisor_node_get_from_def("K1"), k2 = wb_supervisor_node_get_from_def("K2");
    WbNodeRef d1 = wb_supervisor_node_get_from_def("D1"), d2 = wb_supervisor_node_get_from_def("D2");
    wb_supervisor_node_set_velocity(k1, (const double[6]){ 1, 0, 0, 0, 0, 0 });
    wb_supervisor_node_set_velocity(k2, (const double[6]){ 0, 0, 0, 0.5, 0, 1 });
    wb_supervisor_node_set_velocity(d1, (const double[6]){ 1, 0, 0, 0.5, 0, 1 });
    wb_supervisor_node_set_velocity(d2, (const double[6]){ 0, 0, 1, 0, 0, 0 });
    check_steps(20);
    CHECK_VECTOR(wb_supervisor_node_get_position(k1), 0.64, 0, 5, 1e-9);
    CHECK_VECTOR(wb_supervisor_node_get_velocity(k1), 1, 0, 0, 1e-9);
    CHECK_VECTOR(wb_supervisor_node_get_velocity(wb_supervisor_node_get_from_def("CHILD")), 1, 0, 0, 1e-9);
    const double *rotation = wb_supervisor_field_get_sf_rotation(wb_supervisor_node_get_field(k2, "rotation"));
    CHECK_VECTOR(rotation, 0.45, 0, 0.895, 0.01);
    CHECK_NEAR(rotation[3], 0.716, 0.01);
    const double *velocity = wb_supervisor_node_get_velocity(d1);
    CHECK_NEAR(velocity[0], 1, 0.02);
    CHECK_NEAR(velocity[2], -6.28, 0.02);
    CHECK_NEAR(wb_supervisor_node_get_position(d1)[2] - 50, -2.11, 0.02);
    CHECK_NEAR(wb_supervisor_node_get_position(d2)[2] - 50, -1.47, 0.02);
    rotation = wb_supervisor_field_get_sf_rotation(wb_supervisor_node_get_field(d1, "rotation"));
    CHECK_VECTOR(rotation, 0.45, 0, 0.895, 0.01);
    CHECK_NEAR(rotation[3], 0.716, 0.01);
    return check_done();
}
