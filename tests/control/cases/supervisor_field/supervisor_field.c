#include "check.h"

#include <webots/supervisor.h>

static WbFieldRef field(const char *def, const char *name)
{
    return wb_supervisor_node_get_field(wb_supervisor_node_get_from_def(def), name);
}

static void check_nothing(void)
{
    CHECK_TEXT(wb_supervisor_field_get_name(NULL), "");
    CHECK(wb_supervisor_field_get_type(NULL) == 0);
    CHECK_TEXT(wb_supervisor_field_get_type_name(NULL), "");
    CHECK(wb_supervisor_field_get_count(NULL) == -1);
    CHECK(field("BALL", "nonsense") == NULL);
    CHECK(wb_supervisor_node_get_field(NULL, "translation") == NULL);
}

static void check_singles(void)
{
    WbFieldRef radius = field("SPHERE", "radius"), subdivision = field("SPHERE", "subdivision"),
               name = field("BALL", "name");
    WbFieldRef translation = field("BALL", "translation"), rotation = field("BALL", "rotation"),
               color = field("PAINT", "diffuseColor");
    CHECK_TEXT(wb_supervisor_field_get_name(radius), "radius");
    CHECK(wb_supervisor_field_get_type(radius) == WB_SF_FLOAT && wb_supervisor_field_get_count(radius) == -1);
    CHECK_TEXT(wb_supervisor_field_get_type_name(translation), "SFVec3f");
    CHECK_NEAR(wb_supervisor_field_get_sf_float(radius), 0.2, 0);
    CHECK(wb_supervisor_field_get_sf_int32(subdivision) == 2);
    CHECK_TEXT(wb_supervisor_field_get_sf_string(name), "ball");
    CHECK_VECTOR(wb_supervisor_field_get_sf_vec3f(translation), 1, 2, 3, 0);
    CHECK_VECTOR(wb_supervisor_field_get_sf_color(color), 0.1, 0.2, 0.3, 1e-12);
    CHECK_VECTOR(wb_supervisor_field_get_sf_rotation(rotation), 0, 0, 1, 1e-8);
    CHECK_NEAR(wb_supervisor_field_get_sf_rotation(rotation)[3], 0.5, 1e-12);
    // A wrong kind gives nothing and changes nothing.
    CHECK(wb_supervisor_field_get_sf_int32(radius) == 0);
    CHECK(wb_supervisor_field_get_sf_vec3f(radius) == NULL);
    wb_supervisor_field_set_sf_bool(radius, true);
    CHECK_NEAR(wb_supervisor_field_get_sf_float(radius), 0.2, 0);
    // What is set is there at once.
    wb_supervisor_field_set_sf_float(radius, 0.4);
    wb_supervisor_field_set_sf_int32(subdivision, 3);
    wb_supervisor_field_set_sf_vec3f(translation, (const double[3]){ 4, 5, 6 });
    wb_supervisor_field_set_sf_string(name, "other");
    wb_supervisor_field_set_sf_color(color, (const double[3]){ 1, 0, 0 });
    CHECK_NEAR(wb_supervisor_field_get_sf_float(radius), 0.4, 0);
    CHECK(wb_supervisor_field_get_sf_int32(subdivision) == 3);
    CHECK_VECTOR(wb_supervisor_field_get_sf_vec3f(translation), 4, 5, 6, 0);
    CHECK_VECTOR(wb_supervisor_field_get_sf_color(color), 1, 0, 0, 0);
    CHECK_TEXT(wb_supervisor_field_get_sf_string(name), "other");
    CHECK_VECTOR(wb_supervisor_node_get_position(wb_supervisor_node_get_from_def("BALL")), 4, 5, 6, 1e-12);
}

static void check_lists(void)
{
    WbNodeRef root = wb_supervisor_node_get_root();
    WbNodeRef world = wb_supervisor_field_get_mf_node(wb_supervisor_node_get_field(root, "children"), 0);
    WbFieldRef info = wb_supervisor_node_get_field(world, "info");
    CHECK(wb_supervisor_field_get_type(info) == WB_MF_STRING && wb_supervisor_field_get_count(info) == 3);
    CHECK_TEXT(wb_supervisor_field_get_mf_string(info, -1), "c");
    CHECK_TEXT(wb_supervisor_field_get_mf_string(info, 0), "a");
    const char *beyond = wb_supervisor_field_get_mf_string(info, 3);
    CHECK(!beyond || !*beyond);
    wb_supervisor_field_set_mf_string(info, 0, "A");
    wb_supervisor_field_set_mf_string(info, -1, "C");
    wb_supervisor_field_set_mf_string(info, 7, "none");
    CHECK_TEXT(wb_supervisor_field_get_mf_string(info, 0), "A");
    CHECK_TEXT(wb_supervisor_field_get_mf_string(info, 2), "C");
    wb_supervisor_field_insert_mf_string(info, 1, "new");
    CHECK(wb_supervisor_field_get_count(info) == 4);
    CHECK_TEXT(wb_supervisor_field_get_mf_string(info, 1), "new");
    wb_supervisor_field_insert_mf_string(info, -1, "end");
    CHECK_TEXT(wb_supervisor_field_get_mf_string(info, 4), "end");
    wb_supervisor_field_remove_mf(info, 1);
    CHECK(wb_supervisor_field_get_count(info) == 4);
    CHECK_TEXT(wb_supervisor_field_get_mf_string(info, 1), "b");
    wb_supervisor_field_remove_mf(info, 99);
    CHECK(wb_supervisor_field_get_count(info) == 4);
    CHECK(wb_supervisor_field_get_mf_node(wb_supervisor_node_get_field(root, "children"), 1000) == NULL);
}

static void check_fields_of_nodes(void)
{
    WbNodeRef ball = wb_supervisor_node_get_from_def("BALL"), thing = wb_supervisor_node_get_from_def("THING");
    int count = wb_supervisor_node_get_number_of_fields(ball);
    CHECK(count > 10);
    CHECK_TEXT(wb_supervisor_field_get_name(wb_supervisor_node_get_field_by_index(ball, 0)), "translation");
    CHECK_TEXT(wb_supervisor_field_get_name(wb_supervisor_node_get_field_by_index(ball, 1)), "rotation");
    CHECK(wb_supervisor_node_get_field_by_index(ball, -1) == NULL
          && wb_supervisor_node_get_field_by_index(ball, count) == NULL);
    CHECK(wb_supervisor_node_get_number_of_fields(thing) == 3);
    CHECK_TEXT(wb_supervisor_field_get_name(wb_supervisor_node_get_field_by_index(thing, 2)), "size");
    CHECK_NEAR(wb_supervisor_field_get_sf_float(wb_supervisor_node_get_field(thing, "size")), 0.3, 0);
    // What a PROTO has inside can be looked at, not changed.
    WbFieldRef inside = wb_supervisor_node_get_base_node_field(thing, "name");
    CHECK_TEXT(wb_supervisor_field_get_sf_string(inside), "thing");
    wb_supervisor_field_set_sf_string(inside, "changed");
    CHECK_TEXT(wb_supervisor_field_get_sf_string(inside), "thing");
    CHECK(wb_supervisor_node_get_number_of_base_node_fields(thing) > 10);
    CHECK(wb_supervisor_node_get_from_proto_def(thing, "INSIDE") != NULL);
    CHECK(wb_supervisor_node_get_from_proto_def(ball, "INSIDE") == NULL);
    wb_supervisor_field_set_sf_float(wb_supervisor_node_get_field(thing, "size"), 0.7);
    wb_robot_step(32);
    WbNodeRef box = wb_supervisor_node_get_from_proto_def(thing, "INSIDE");
    CHECK(box != NULL);
    CHECK_NEAR(wb_supervisor_field_get_sf_vec3f(wb_supervisor_node_get_base_node_field(box, "size")
                                                    ? wb_supervisor_node_get_base_node_field(box, "size")
                                                    : wb_supervisor_node_get_field(box, "size"))[0],
               0.7, 1e-12);
}

static void check_tracking(void)
{
    WbFieldRef translation = field("BALL", "translation");
    wb_supervisor_field_enable_sf_tracking(translation, 32);
    for (int i = 0; i < 4; i++) {
        wb_supervisor_field_set_sf_vec3f(translation, (const double[3]){ i, 0, 0 });
        wb_robot_step(32);
        CHECK_VECTOR(wb_supervisor_field_get_sf_vec3f(translation), i, 0, 0, 1e-12);
    }
    wb_supervisor_node_remove(wb_supervisor_node_get_from_def("BALL"));
    wb_robot_step(32);
    CHECK(wb_supervisor_node_get_from_def("BALL") == NULL);
    CHECK(wb_supervisor_field_get_sf_vec3f(translation) == NULL || true);  // must not crash
}

int main(void)
{
    wb_robot_init();
    CHECK_NEAR(wb_robot_get_time(), 0, 0);
    check_nothing();
    check_singles();
    check_lists();
    check_fields_of_nodes();
    check_tracking();
    // The right to supervise can be given away.
    wb_supervisor_field_set_sf_bool(wb_supervisor_node_get_field(wb_supervisor_node_get_self(), "supervisor"), false);
    WbNodeRef self = wb_supervisor_node_get_self();
    wb_robot_step(32);
    CHECK(!wb_robot_get_supervisor());
    CHECK(wb_supervisor_node_get_id(self) == -1);
    return check_done();
}
