// Fields inside of PROTOs and the ones of the scene tree that they are connected to; what is counted; rotations as they
// are given.
#include "check.h"

#include <webots/device.h>
#include <webots/supervisor.h>

int main(void)
{
    wb_robot_init();
    WbNodeRef outer = wb_supervisor_node_get_from_def("OUTER"), solid = wb_supervisor_node_get_from_def("SOLID");
    CHECK(wb_supervisor_node_get_number_of_fields(solid) == 17);
    CHECK(wb_supervisor_node_get_number_of_base_node_fields(outer) == 17);
    CHECK(wb_supervisor_node_get_field_by_index(solid, 16) != NULL);
    CHECK(wb_supervisor_node_get_field_by_index(solid, 17) == NULL);
    for (int i = 0; i < 17; i++)
        CHECK(strcmp(wb_supervisor_field_get_name(wb_supervisor_node_get_field_by_index(solid, i)), "scale") != 0);

    WbFieldRef size = wb_supervisor_node_get_field(outer, "size"),
               base = wb_supervisor_node_get_base_node_field(outer, "translationStep");
    WbProtoRef inner = wb_supervisor_proto_get_parent(wb_supervisor_node_get_proto(outer));
    WbFieldRef step = wb_supervisor_proto_get_field(inner, "step"),
               other = wb_supervisor_proto_get_field(inner, "other");
    CHECK(wb_supervisor_field_get_actual_field(size) == size);
    CHECK(wb_supervisor_field_get_actual_field(step) == size);
    CHECK(wb_supervisor_field_get_actual_field(base) == size);
    CHECK(wb_supervisor_field_get_actual_field(other) == NULL);
    CHECK(wb_supervisor_field_get_actual_field(wb_supervisor_node_get_base_node_field(outer, "radarCrossSection"))
          == NULL);
    WbFieldRef same = wb_supervisor_proto_get_field(wb_supervisor_node_get_proto(outer), "size");
    wb_supervisor_field_set_sf_float(same, 5);  // refused: it is read through the PROTO
    CHECK_NEAR(wb_supervisor_field_get_sf_float(size), 0.01, 0);
    wb_supervisor_field_set_sf_float(wb_supervisor_field_get_actual_field(base), 7);
    CHECK_NEAR(wb_supervisor_field_get_sf_float(size), 7, 0);
    CHECK_NEAR(wb_supervisor_field_get_sf_float(step), 7, 0);
    CHECK_NEAR(wb_supervisor_field_get_sf_float(base), 7, 0);

    // A list of rotations is what was given; a single one has a unit axis, and digits that are right stay.
    WbFieldRef turns = wb_supervisor_node_get_field(wb_supervisor_node_get_from_def("SPLINE"), "turns");
    CHECK_NEAR(wb_supervisor_field_get_mf_rotation(turns, 0)[2], 3, 0);
    wb_supervisor_field_set_mf_rotation(turns, 1, (const double[4]){ 0, 5, 0, 1 });
    CHECK_NEAR(wb_supervisor_field_get_mf_rotation(turns, 1)[1], 5, 0);
    const double *view = wb_supervisor_field_get_sf_rotation(
        wb_supervisor_node_get_field(wb_supervisor_node_get_from_def("VIEW"), "orientation"));
    CHECK_NEAR(view[0], -0.15446004944406294, 0);
    CHECK_NEAR(view[1], -0.9863303157332812, 0);

    // The node of a device: those that the scene tree shows, and those of the robot's own PROTO.
    CHECK(wb_supervisor_node_get_from_device(wb_robot_get_device("hidden")) == NULL);

    // Numbers that no file may have are refused where they are set.
    WbFieldRef place = wb_supervisor_node_get_field(solid, "translation");
    wb_supervisor_field_set_sf_vec3f(place, (const double[3]){ 1e308, 0, 0 });
    CHECK_NEAR(wb_supervisor_field_get_sf_vec3f(place)[0], 0, 0);

    // A pose wants a node that has one and is there.
    CHECK(isnan(wb_supervisor_node_get_pose(wb_supervisor_node_get_from_def("VIEW"), NULL)[0]));
    wb_supervisor_node_remove(outer);
    CHECK(isnan(wb_supervisor_node_get_pose(solid, outer)[0]));
    CHECK(!isnan(wb_supervisor_node_get_pose(solid, NULL)[0]));
    check_steps(1);
    return check_done();
}
