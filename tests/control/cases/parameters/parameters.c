// Parameters of PROTO instances at run time: whatever is connected to them, through nested and derived PROTOs,
// templates and USE, takes effect in collisions, in what rays and cameras see and in how bodies move; and a reset takes
// it all back.
#include "check.h"

#include <webots/camera.h>
#include <webots/distance_sensor.h>
#include <webots/range_finder.h>
#include <webots/supervisor.h>

static const struct {
    const char *name;
    double before, after;
} sensors[] = {
    { "place", 0.9, 1.4 },   { "size", 0.9, 0.5 },   { "inner", 0.9, 1.4 }, { "template", 0.9, 0.5 },
    { "derived", 0.9, 0.5 }, { "nested", 0.9, 0.5 }, { "used", 0.9, 0.5 },  { "other", 0.9, 0.5 },
};
enum { SENSORS = sizeof sensors / sizeof *sensors };
static WbDeviceTag tags[SENSORS], eye, depth;

static WbFieldRef field(const char *def, const char *name)
{
    return wb_supervisor_node_get_field(wb_supervisor_node_get_from_def(def), name);
}

static void look(int is_after)
{
    check_steps(2);
    for (int i = 0; i < SENSORS; i++)
        check_near(wb_distance_sensor_get_value(tags[i]), is_after ? sensors[i].after : sensors[i].before, 1e-6,
                   sensors[i].name, __LINE__);
    const unsigned char *pixel = wb_camera_get_image(eye);
    CHECK((wb_camera_image_get_red(pixel, 1, 0, 0) > 150) == !is_after);
    CHECK((wb_camera_image_get_green(pixel, 1, 0, 0) > 150) == is_after);
    CHECK_NEAR(wb_range_finder_get_range_image(depth)[0], is_after ? 0.5 : 0.9, 1e-6);
}

static double angle_of_arm(void)
{
    const double *m = wb_supervisor_node_get_orientation(
        wb_supervisor_node_get_from_proto_def(wb_supervisor_node_get_from_def("HANGING"), "ARM"));
    return atan2(m[2], m[0]);
}

static void set_all(void)
{
    wb_supervisor_field_set_sf_vec3f(field("PLACE", "at"), (const double[3]){ 1.5, 0, 0 });
    wb_supervisor_field_set_sf_vec3f(field("SIZE", "extent"), (const double[3]){ 1, 0.2, 0.2 });
    wb_supervisor_field_set_sf_vec3f(field("INNER", "neighbour"), (const double[3]){ 0.5, 1, 0 });
    wb_supervisor_field_set_sf_float(field("TEMPLATE", "depth"), 1);
    wb_supervisor_field_set_sf_float(field("DERIVED", "thickness"), 1);
    wb_supervisor_field_set_sf_float(field("NESTED", "thickness"), 1);
    wb_supervisor_field_set_sf_vec3f(field("USED", "extent"), (const double[3]){ 1, 0.2, 0.2 });
    wb_supervisor_field_set_sf_vec3f(field("OTHER.SHAPE", "size"), (const double[3]){ 1, 0.2, 0.2 });
    wb_supervisor_field_set_sf_color(field("COLOUR", "paint"), (const double[3]){ 0, 1, 0 });
}

// A template that is evaluated anew makes references into any PROTO invalid; asked for again they are good.
static void check_references(void)
{
    WbNodeRef counter = wb_supervisor_node_get_from_def("COUNTER");
    WbFieldRef inside = wb_supervisor_node_get_proto_field(counter, "description");
    WbFieldRef outside = wb_supervisor_node_get_field(counter, "translation");
    CHECK(wb_supervisor_field_get_type(inside) == WB_SF_STRING);
    CHECK_TEXT(wb_supervisor_field_get_sf_string(inside), "0");
    wb_supervisor_field_set_sf_vec3f(outside, (const double[3]){ 0, 61, 0 });
    CHECK(wb_supervisor_field_get_type(inside) == WB_SF_STRING);
    wb_supervisor_field_set_sf_float(field("TEMPLATE", "depth"), 0.7);
    CHECK(wb_supervisor_field_get_type(inside) == WB_NO_FIELD);
    CHECK(wb_supervisor_field_get_type(outside) == WB_SF_VEC3F);
    inside = wb_supervisor_node_get_proto_field(counter, "description");
    CHECK_TEXT(wb_supervisor_field_get_sf_string(inside), "0");
}

int main(void)
{
    wb_robot_init();
    for (int i = 0; i < SENSORS; i++) {
        tags[i] = wb_robot_get_device(sensors[i].name);
        wb_distance_sensor_enable(tags[i], 16);
    }
    eye = wb_robot_get_device("eye");
    wb_camera_enable(eye, 16);
    depth = wb_robot_get_device("used seen");
    wb_range_finder_enable(depth, 16);
    look(0);
    set_all();
    look(1);
    // The arm hangs on its spring where weight and spring balance: k angle = m g r cos(angle).
    wb_supervisor_field_set_sf_float(field("HANGING", "stiffness"), 100);
    wb_supervisor_field_set_sf_float(field("HANGING", "load"), 2);
    check_steps(120);
    double angle = fabs(angle_of_arm());
    CHECK_NEAR(100 * angle, 2 * 9.81 * cos(angle), 0.5);
    // A body that a template makes anew is one body: it stays where it was, and nothing of the old one is left below
    // it.
    WbNodeRef falling = wb_supervisor_node_get_from_def("FALLING");
    for (int i = 0; i < 3; i++) {
        double before = wb_supervisor_node_get_position(falling)[2];
        wb_supervisor_field_set_sf_float(field("FALLING", "depth"), 0.3 + 0.1 * i);
        CHECK_NEAR(wb_supervisor_node_get_position(falling)[2], before, 1e-9);
        check_steps(4);
        CHECK(wb_supervisor_node_get_position(falling)[2] < before);
        CHECK(wb_supervisor_node_get_number_of_contact_points(falling, false) == 0);
    }
    check_references();
    wb_supervisor_simulation_reset();
    check_steps(1);
    CHECK_TEXT(wb_supervisor_field_get_sf_string(
                   wb_supervisor_node_get_proto_field(wb_supervisor_node_get_from_def("COUNTER"), "description")),
               "1");
    look(0);
    return check_done();
}
