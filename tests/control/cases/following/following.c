// A Viewpoint goes along with the solid that it follows, and its fields say so: in a PROTO with a template that is made
// anew, after it was put elsewhere, when it is told to follow another, mounted on it, and after a reset. Values beyond
// their range are mended when set.
#include "check.h"

#include <webots/supervisor.h>

static WbFieldRef field(const char *def, const char *name)
{
    return wb_supervisor_node_get_field(wb_supervisor_node_get_from_def(def), name);
}

static double height(const char *def, const char *name)
{
    return wb_supervisor_field_get_sf_vec3f(field(def, name))[2];
}

int main(void)
{
    wb_robot_init();
    WbNodeRef box = wb_supervisor_node_get_from_def("BOX");
    CHECK(height("EYE", "place") == 10);
    check_steps(10);
    double fall = 10 - height("BALL", "translation");
    CHECK(fall > 0.5);
    CHECK_NEAR(height("EYE", "place"), 10 - fall, 1e-12);
    wb_supervisor_field_set_sf_float(field("EYE", "opening"), 0.78);
    check_steps(5);
    fall = 10 - height("BALL", "translation");
    CHECK_NEAR(height("EYE", "place"), 10 - fall, 1e-12);
    // From where it is put it goes along as before, also when nobody looks for a while.
    wb_supervisor_field_set_sf_vec3f(field("EYE", "place"), (const double[3]){ 0, -2, 50 });
    CHECK(height("EYE", "place") == 50);
    check_steps(5);
    CHECK_NEAR(height("EYE", "place"), 50 - (10 - height("BALL", "translation") - fall), 1e-12);
    // A solid that its template makes anew is the same to it.
    wb_supervisor_field_set_sf_string(field("EYE", "whom"), "drop");
    double above = height("EYE", "place") - height("DROP", "translation");
    wb_supervisor_field_set_sf_float(field("DROP", "size"), 0.2);
    check_steps(5);
    CHECK_NEAR(height("EYE", "place") - height("DROP", "translation"), above, 1e-12);
    wb_supervisor_field_set_sf_string(field("EYE", "whom"), "box");
    double there = height("EYE", "place");
    check_steps(5);
    CHECK_NEAR(height("EYE", "place"), there, 1e-12);
    wb_supervisor_field_set_sf_vec3f(wb_supervisor_node_get_field(box, "translation"), (const double[3]){ 3, 1, 2 });
    check_steps(1);
    CHECK_NEAR(height("EYE", "place"), there + 2, 1e-12);
    CHECK_NEAR(wb_supervisor_field_get_sf_vec3f(field("EYE", "place"))[1], -1, 1e-12);
    // Mounted, it turns too: a quarter about z takes it from the box's -y side to its +x side.
    wb_supervisor_field_set_sf_string(field("EYE", "way"), "Mounted Shot");
    wb_supervisor_field_set_sf_vec3f(field("EYE", "place"), (const double[3]){ 3, 0, 2 });
    check_steps(1);
    wb_supervisor_field_set_sf_rotation(wb_supervisor_node_get_field(box, "rotation"),
                                        (const double[4]){ 0, 0, 1, M_PI_2 });
    check_steps(1);
    const double *place = wb_supervisor_field_get_sf_vec3f(field("EYE", "place"));
    CHECK_NEAR(place[0], 4, 1e-12);
    CHECK_NEAR(place[1], 1, 1e-12);
    CHECK_NEAR(wb_supervisor_field_get_sf_rotation(field("EYE", "turn"))[3], M_PI_2, 1e-9);
    wb_supervisor_field_set_sf_rotation(wb_supervisor_node_get_field(box, "rotation"), (const double[4]){ 0, 0, 1, 0 });
    check_steps(1);
    CHECK_NEAR(wb_supervisor_field_get_sf_rotation(field("EYE", "turn"))[3], 0, 1e-9);
    CHECK_NEAR(wb_supervisor_field_get_sf_vec3f(field("EYE", "place"))[1], 0, 1e-12);

    WbFieldRef filtering = field("IMAGE", "filtering"), radius = field("SPHERE", "radius");
    wb_supervisor_field_set_sf_int32(filtering, 2);
    wb_supervisor_field_set_sf_float(radius, 0.5);
    check_steps(1);
    CHECK(wb_supervisor_field_get_sf_int32(filtering) == 2 && wb_supervisor_field_get_sf_float(radius) == 0.5);
    wb_supervisor_field_set_sf_int32(filtering, -2);
    wb_supervisor_field_set_sf_float(radius, -1);
    check_steps(1);
    CHECK(wb_supervisor_field_get_sf_int32(filtering) == 4 && wb_supervisor_field_get_sf_float(radius) == 1);
    wb_supervisor_field_set_sf_float(field("EYE", "close"), -3);
    check_steps(1);
    CHECK(wb_supervisor_field_get_sf_float(field("EYE", "close")) == 0.05);
    wb_supervisor_simulation_reset();
    check_steps(1);
    fall = 10 - height("BALL", "translation");
    CHECK(fall >= 0 && fall < 0.05);
    CHECK_NEAR(height("EYE", "place"), 10, 1e-12);
    return check_done();
}
