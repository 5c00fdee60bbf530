// States of any node are kept and put back; joints stay within their stops; a force acts at the solid's own centre;
// nodes are hidden from a camera; the viewpoint moves to a node; real time is not faster than the clock.
#include "check.h"

#include <webots/camera.h>
#include <webots/supervisor.h>

#include <time.h>

static WbNodeRef def(const char *name) { return wb_supervisor_node_get_from_def(name); }

static WbFieldRef field(const char *node, const char *name) { return wb_supervisor_node_get_field(def(node), name); }

static int red(WbDeviceTag camera) { return wb_camera_image_get_red(wb_camera_get_image(camera), 1, 0, 0); }

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(void)
{
    wb_robot_init();
    WbDeviceTag eye = wb_robot_get_device("eye"), twin = wb_robot_get_device("twin");
    wb_camera_enable(eye, 16);
    wb_camera_enable(twin, 16);
    check_steps(2);
    CHECK(red(eye) > 150 && red(twin) > 150);
    wb_supervisor_node_set_visibility(def("BALL"), def("EYE"), false);
    check_steps(2);
    CHECK(red(eye) < 50 && red(twin) > 150);
    wb_supervisor_node_set_visibility(def("BALL"), def("EYE"), true);
    check_steps(2);
    CHECK(red(eye) > 150);

    // A plain Pose with what is in it: its place, the body below, the lamp.
    wb_supervisor_node_save_state(def("GROUP"), "here");
    wb_supervisor_node_set_velocity(def("A"), (const double[6]){ 1, 0, 0, 0, 0, 0 });
    wb_supervisor_field_set_sf_vec3f(field("GROUP", "translation"), (const double[3]){ 0, 0, 4 });
    wb_supervisor_field_set_sf_bool(field("LAMP", "on"), false);
    check_steps(10);
    CHECK_NEAR(wb_supervisor_node_get_position(def("A"))[2], 4, 1e-9);
    wb_supervisor_node_load_state(def("GROUP"), "here");
    CHECK_VECTOR(wb_supervisor_node_get_position(def("A")), 0, 5, 1, 1e-9);
    CHECK_NEAR(wb_supervisor_node_get_velocity(def("A"))[0], 0, 1e-12);
    CHECK_NEAR(wb_supervisor_field_get_sf_vec3f(field("GROUP", "translation"))[2], 1, 1e-12);
    CHECK(wb_supervisor_field_get_sf_bool(field("LAMP", "on")));

    // A joint by itself, and its stops.
    wb_supervisor_node_set_joint_position(def("JOINT"), 0.1, 1);
    wb_supervisor_node_save_state(def("JOINT"), "bent");
    wb_supervisor_node_set_joint_position(def("JOINT"), 5, 1);
    CHECK_NEAR(wb_supervisor_field_get_sf_float(field("AXIS", "position")), 0.25, 1e-9);
    wb_supervisor_node_set_joint_position(def("JOINT"), -5, 1);
    CHECK_NEAR(wb_supervisor_field_get_sf_float(field("AXIS", "position")), -0.5, 1e-9);
    wb_supervisor_node_load_state(def("JOINT"), "bent");
    CHECK_NEAR(wb_supervisor_field_get_sf_float(field("AXIS", "position")), 0.1, 1e-9);

    // Half of a rigid pair is pushed: it turns, about the centre between the two.
    wb_supervisor_node_add_force(def("ARM"), (const double[3]){ 0, 10, 0 }, false);
    check_steps(1);
    CHECK(wb_supervisor_node_get_velocity(def("PAIR"))[5] > 0.01);
    CHECK_NEAR(wb_supervisor_node_get_velocity(def("PAIR"))[4], 0, 1e-9);

    // The viewpoint looks on along x and stands before the ball of radius 2 (the corners of its box are at 2 sqrt 3).
    wb_supervisor_node_move_viewpoint(def("FAR_ONE"));
    const double *place = wb_supervisor_field_get_sf_vec3f(field("VIEW", "position"));
    CHECK(place[0] > 35 && place[0] < 48);
    CHECK_NEAR(place[1], 0, 1e-6);
    CHECK_NEAR(place[2], 0, 1e-6);

    double before = seconds(), simulated = wb_robot_get_time();
    wb_supervisor_simulation_set_mode(WB_SUPERVISOR_SIMULATION_MODE_REAL_TIME);
    check_steps(20);
    CHECK(seconds() - before > 0.9 * (wb_robot_get_time() - simulated) - 0.03);
    wb_supervisor_simulation_set_mode(WB_SUPERVISOR_SIMULATION_MODE_FAST);
    check_steps(1);
    return check_done();
}
