// api/center_of_mass_and_contact_points: a box on four cylinders, a fifth one merged into it.
#include "check.h"

#include <webots/supervisor.h>

int main(void)
{
    wb_robot_init();
    WbNodeRef table = wb_supervisor_node_get_from_def("TABLE"), fifth = wb_supervisor_node_get_from_def("FIFTH");
    check_steps(1);
    const double *center = wb_supervisor_node_get_center_of_mass(table);
    CHECK_NEAR(fabs(center[0]) + fabs(center[1] - 0.067383) + fabs(center[2] - 10), 0, 1e-5);
    int own = 0, all = 0, of_fifth = 0;
    wb_supervisor_node_get_contact_points(table, false, &own);
    WbContactPoint *points = wb_supervisor_node_get_contact_points(table, true, &all);
    CHECK(own == 16 && all == 20);
    for (int i = 0; i < all; i++) {
        CHECK(points[i].node_id == wb_supervisor_node_get_id(table)
              || points[i].node_id == wb_supervisor_node_get_id(fifth));
        of_fifth += points[i].node_id == wb_supervisor_node_get_id(fifth);
    }
    CHECK(of_fifth == 4);
    CHECK(wb_supervisor_node_get_number_of_contact_points(table, false) == 16);
    CHECK(wb_supervisor_node_get_contact_point_node(table, 0) == table);
    CHECK(wb_supervisor_node_get_number_of_contact_points(table, true) == 20);
    CHECK(wb_supervisor_node_get_static_balance(table));
    return check_done();
}
