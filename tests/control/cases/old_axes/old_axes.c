// Supervisors in a world with y up (before R2022a) meet the nodes, the places and the turns of its file: those of
// robots of the library, of PROTOs around them, of cameras, and of shapes that are put upright inside; what they set
// and import means the same.
#include "check.h"

#include <webots/supervisor.h>

static WbNodeRef def(const char *name) { return wb_supervisor_node_get_from_def(name); }

static void check_rotation(const char *name, const char *field, double x, double y, double z, double angle,
                           double tolerance)
{
    const double *r = wb_supervisor_field_get_sf_rotation(wb_supervisor_node_get_field(def(name), field));
    double sign = r[0] * x + r[1] * y + r[2] * z < 0 ? -1 : 1;
    check_vector(r, (double[3]){ sign * x, sign * y, sign * z }, tolerance, name, __LINE__);
    check_near(sign * r[3], angle, tolerance, name, __LINE__);
}

static void check_upright(const char *name)
{
    const double *m = wb_supervisor_node_get_orientation(def(name));
    check_vector((const double[3]){ m[1], m[4], m[7] }, (const double[3]){ 0, 1, 0 }, 1e-3, name, __LINE__);
}

int main(void)
{
    wb_robot_init();
    check_rotation("PUCK", "rotation", 0, 1, 0, 0.5, 1e-12);
    check_rotation("AROUND", "turn", 0, 1, 0, 0.25, 1e-12);
    check_rotation("EYE", "rotation", 0, 1, 0, 0.75, 1e-12);
    check_rotation("LOOKOUT", "aim", 0, 1, 0, 0.3, 1e-12);
    check_rotation("HOOD", "rotation", 0, 0, 1, 0.5, 1e-12);
    CHECK_VECTOR(wb_supervisor_field_get_sf_vec3f(wb_supervisor_node_get_field(def("HOOD"), "translation")), 0, 0, -0.1,
                 1e-12);
    WbFieldRef view = wb_supervisor_node_get_field(
        wb_supervisor_field_get_mf_node(wb_supervisor_node_get_field(wb_supervisor_node_get_root(), "children"), 1),
        "orientation");
    const double *turn = wb_supervisor_field_get_sf_rotation(view);
    CHECK_NEAR(turn[0] * turn[3], -0.5, 1e-12);
    check_steps(20);
    check_rotation("PUCK", "rotation", 0, 1, 0, 0.5, 1e-3);
    check_rotation("AROUND", "turn", 0, 1, 0, 0.25, 1e-3);
    check_upright("PUCK");
    check_upright("AROUND");
    // The camera looks along -z of its own frame, turned about y; so does the one whose turn comes from a parameter.
    const double *m = wb_supervisor_node_get_orientation(def("EYE"));
    CHECK_NEAR(-m[2], -sin(0.75), 1e-9);
    CHECK_NEAR(-m[8], -cos(0.75), 1e-9);
    m = wb_supervisor_node_get_orientation(wb_supervisor_node_get_from_proto_def(def("LOOKOUT"), "INNER"));
    CHECK_NEAR(-m[2], -sin(0.3), 1e-9);
    CHECK_NEAR(-m[8], -cos(0.3), 1e-9);
    // What is set means the same.
    wb_supervisor_field_set_sf_rotation(wb_supervisor_node_get_field(def("PUCK"), "rotation"),
                                        (const double[4]){ 0, 1, 0, 1 });
    wb_supervisor_field_set_sf_rotation(wb_supervisor_node_get_field(def("AROUND"), "turn"),
                                        (const double[4]){ 0, 1, 0, 1 });
    wb_supervisor_field_set_sf_rotation(wb_supervisor_node_get_field(def("EYE"), "rotation"),
                                        (const double[4]){ 0, 1, 0, 1 });
    wb_supervisor_node_reset_physics(def("PUCK"));
    wb_supervisor_node_reset_physics(def("AROUND"));
    check_steps(40);
    check_rotation("PUCK", "rotation", 0, 1, 0, 1, 1e-3);
    check_rotation("AROUND", "turn", 0, 1, 0, 1, 1e-3);
    check_rotation("EYE", "rotation", 0, 1, 0, 1, 1e-12);
    check_upright("PUCK");
    check_upright("AROUND");
    CHECK_NEAR(wb_supervisor_node_get_position(def("PUCK"))[1], 0, 2e-3);
    CHECK_NEAR(wb_supervisor_node_get_position(def("AROUND"))[1], 0, 2e-3);
    // A Shape that stands upright inside is a Shape in its place.
    WbFieldRef children = wb_supervisor_node_get_field(def("POST"), "children");
    WbNodeRef shape = wb_supervisor_field_get_mf_node(children, 0);
    CHECK(wb_supervisor_field_get_count(children) == 1);
    CHECK(wb_supervisor_node_get_type(shape) == WB_NODE_SHAPE);
    CHECK(shape == def("ROUND"));
    CHECK_TEXT(wb_supervisor_node_get_def(shape), "ROUND");
    CHECK(wb_supervisor_node_get_parent_node(shape) == def("POST"));
    CHECK(wb_supervisor_field_get_sf_node(wb_supervisor_node_get_field(shape, "appearance")) == def("LOOK"));
    WbNodeRef bounding = wb_supervisor_field_get_sf_node(wb_supervisor_node_get_field(def("POST"), "boundingObject"));
    CHECK(wb_supervisor_node_get_type(bounding) == WB_NODE_CYLINDER);
    // What is imported stands along y too: it rests on its flat end.
    wb_supervisor_field_import_mf_node_from_string(
        wb_supervisor_node_get_field(wb_supervisor_node_get_root(), "children"), -1,
        "DEF TIN Solid { translation -2 0.21 0 name \"tin\" children [ Shape { geometry Cylinder { height 0.4 radius 0.05 } } ]"
        " boundingObject Cylinder { height 0.4 radius 0.05 } physics Physics { } }");
    check_steps(60);
    CHECK_NEAR(wb_supervisor_node_get_position(def("TIN"))[1], 0.2, 2e-3);
    wb_supervisor_node_remove(shape);
    CHECK(wb_supervisor_field_get_count(children) == 0);
    return check_done();
}
