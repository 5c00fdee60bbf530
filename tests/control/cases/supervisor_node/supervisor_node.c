#include "check.h"

#include <webots/motor.h>
#include <webots/position_sensor.h>
#include <webots/supervisor.h>

static void check_names(void)
{
    WbNodeRef root = wb_supervisor_node_get_root(), thing = wb_supervisor_node_get_from_def("THING"),
              self = wb_supervisor_node_get_self();
    CHECK(wb_supervisor_node_get_id(root) == 0);
    CHECK(wb_supervisor_node_get_type(root) == WB_NODE_GROUP);
    CHECK_TEXT(wb_supervisor_node_get_type_name(root), "Group");
    WbFieldRef children = wb_supervisor_node_get_field(root, "children");
    CHECK(wb_supervisor_field_get_count(children) == 8);
    CHECK(wb_supervisor_node_get_id(wb_supervisor_field_get_mf_node(children, 0)) == 1);
    CHECK(wb_supervisor_node_get_id(wb_supervisor_field_get_mf_node(children, 1)) == 2);
    CHECK(wb_supervisor_node_get_type(wb_supervisor_field_get_mf_node(children, 0)) == WB_NODE_WORLD_INFO);
    CHECK_TEXT(wb_supervisor_node_get_type_name(thing), "Thing");
    CHECK_TEXT(wb_supervisor_node_get_base_type_name(thing), "Solid");
    CHECK(wb_supervisor_node_get_type(thing) == WB_NODE_SOLID && wb_supervisor_node_is_proto(thing)
          && !wb_supervisor_node_is_proto(self));
    CHECK_TEXT(wb_supervisor_node_get_def(thing), "THING");
    CHECK(wb_supervisor_node_get_from_device(0) == self);
    CHECK_TEXT(wb_supervisor_node_get_type_name(wb_supervisor_node_get_from_device(wb_robot_get_device("gps"))), "GPS");
    CHECK(wb_supervisor_node_get_from_id(wb_supervisor_node_get_id(self)) == self);
    CHECK(wb_supervisor_node_get_from_id(100000) == NULL && wb_supervisor_node_get_from_id(-4) == NULL);
    CHECK(wb_supervisor_node_get_from_def("NONE") == NULL && wb_supervisor_node_get_from_def("") == NULL);
    WbNodeRef deep = wb_supervisor_node_get_from_def("GROUP.INNER.DEEP");
    CHECK(deep != NULL && deep == wb_supervisor_node_get_from_def("DEEP"));
    CHECK(wb_supervisor_node_get_from_def("INNER.GROUP.DEEP") == NULL);
    CHECK(wb_supervisor_node_get_parent_node(deep) == wb_supervisor_node_get_from_def("INNER"));
    CHECK(wb_supervisor_node_get_parent_node(root) == NULL);
    CHECK(wb_supervisor_node_get_selected() == NULL);
}

static void check_poses(void)
{
    WbNodeRef deep = wb_supervisor_node_get_from_def("DEEP"), inner = wb_supervisor_node_get_from_def("INNER");
    CHECK_VECTOR(wb_supervisor_node_get_position(deep), 9, 0, 0, 1e-9);
    const double *m = wb_supervisor_node_get_orientation(deep);
    CHECK_NEAR(m[1], -1, 1e-9);
    CHECK_NEAR(m[3], 1, 1e-9);
    const double *pose = wb_supervisor_node_get_pose(deep, inner);
    CHECK_NEAR(pose[7], 1, 1e-9);
    CHECK_NEAR(pose[0], 1, 1e-9);
    CHECK_NEAR(pose[15], 1, 0);
    CHECK_VECTOR(wb_supervisor_node_get_position(wb_supervisor_node_get_from_def("THING")), 5, 0, 0, 0);
    WbNodeRef world = wb_supervisor_field_get_mf_node(
        wb_supervisor_node_get_field(wb_supervisor_node_get_root(), "children"), 0);
    for (int i = 0; i < 3; i++)
        CHECK(isnan(wb_supervisor_node_get_position(world)[i]));
    for (int i = 0; i < 9; i++)
        CHECK(isnan(wb_supervisor_node_get_orientation(world)[i]));
}

static void check_physics(void)
{
    WbNodeRef box = wb_supervisor_node_get_from_def("BOX");
    check_steps(5);
    CHECK_VECTOR(wb_supervisor_node_get_center_of_mass(box), 0, 5, 0.05, 1e-3);
    CHECK(wb_supervisor_node_get_static_balance(box));
    int count = -1;
    WbContactPoint *points = wb_supervisor_node_get_contact_points(box, false, &count);
    CHECK(count >= 3);
    for (int i = 0; i < count; i++) {
        CHECK_NEAR(points[i].point[2], 0, 0.01);
        CHECK(points[i].node_id == wb_supervisor_node_get_id(box));
    }
    wb_supervisor_node_save_state(box, "here");
    const double push[3] = { 100, 0, 0 };
    wb_supervisor_node_add_force(box, push, false);
    check_steps(1);
    double speed = wb_supervisor_node_get_velocity(box)[0];
    CHECK(speed > 2.5 && speed < 3.3);  // 100 N for 32 ms on 1 kg, less friction
    check_steps(10);
    CHECK(wb_supervisor_node_get_position(box)[0] > 0.1);
    wb_supervisor_node_load_state(box, "here");
    wb_supervisor_node_reset_physics(box);
    CHECK_VECTOR(wb_supervisor_node_get_position(box), 0, 5, 0.05, 1e-3);
    check_steps(1);
    CHECK_VECTOR(wb_supervisor_node_get_velocity(box), 0, 0, 0, 0.02);
    wb_supervisor_node_add_torque(box, (const double[3]){ 0, 0, 1 }, false);
    wb_supervisor_node_add_force_with_offset(box, (const double[3]){ 0, 0, 1 }, (const double[3]){ 0.01, 0, 0 }, true);
    check_steps(1);
    CHECK(wb_supervisor_node_get_velocity(box)[5] > 0.5);
}

// "__init__" is how a node came into the world: poses, joints and what motors were told.
static void check_first_state(void)
{
    WbDeviceTag motor = wb_robot_get_device("rotational motor"), sensor = wb_robot_get_device("position sensor");
    wb_position_sensor_enable(sensor, 32);
    wb_motor_set_position(motor, 0.5);
    check_steps(20);
    CHECK_NEAR(wb_position_sensor_get_value(sensor), 0.5, 1e-3);
    wb_supervisor_node_load_state(wb_supervisor_node_get_self(), "__init__");
    wb_supervisor_node_load_state(wb_supervisor_node_get_from_def("BOX"), "__init__");
    CHECK_VECTOR(wb_supervisor_node_get_position(wb_supervisor_node_get_from_def("BOX")), 0, 5, 0.05, 1e-12);
    check_steps(1);
    CHECK_NEAR(wb_position_sensor_get_value(sensor), 0.0, 1e-3);
    check_steps(20);
    CHECK_NEAR(wb_position_sensor_get_value(sensor), 0.0, 1e-3);
}

static void check_editing(void)
{
    WbFieldRef children = wb_supervisor_node_get_field(wb_supervisor_node_get_root(), "children");
    int before = wb_supervisor_field_get_count(children);
    wb_supervisor_field_import_mf_node_from_string(
        children, -1,
        "DEF NEW Solid { translation 0 0 7 name \"new\" boundingObject Sphere { radius 0.1 } physics Physics { } }");
    CHECK(wb_supervisor_field_get_count(children) == before + 1);
    WbNodeRef added = wb_supervisor_node_get_from_def("NEW");
    CHECK(added != NULL);
    CHECK_VECTOR(wb_supervisor_node_get_position(added), 0, 0, 7, 1e-12);
    check_steps(4);
    CHECK_NEAR(wb_supervisor_node_get_position(added)[2], 7 - 9.81 * 0.032 * 0.032 * 10, 1e-6);
    wb_supervisor_node_load_state(added, "__init__");
    CHECK_VECTOR(wb_supervisor_node_get_position(added), 0, 0, 7, 1e-12);
    char *text = (char *)wb_supervisor_node_export_string(added);
    CHECK(text && strstr(text, "Solid {") && strstr(text, "DEF NEW"));
    wb_supervisor_field_import_mf_node_from_string(children, -1, "Nonsense { broken");
    CHECK(wb_supervisor_field_get_count(children) == before + 1);
    wb_supervisor_node_remove(added);
    CHECK(wb_supervisor_field_get_count(children) == before);
    CHECK(wb_supervisor_node_get_from_def("NEW") == NULL);
    check_steps(2);
}

int main(void)
{
    wb_robot_init();
    CHECK_NEAR(wb_robot_get_time(), 0, 0);
    check_names();
    check_poses();
    check_physics();
    check_first_state();
    check_editing();
    CHECK(wb_supervisor_simulation_get_mode() == WB_SUPERVISOR_SIMULATION_MODE_FAST);
    wb_supervisor_set_label(0, "text", 0.1, 0.1, 0.1, 0xff0000, 0, "Arial");
    return check_done();
}
