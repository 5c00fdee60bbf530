// Writes fields of its own devices and of another robot's while the world runs, and counts what that robot hears: see
// listener.c.
#include "check.h"

#include <webots/camera.h>
#include <webots/emitter.h>
#include <webots/supervisor.h>

static WbFieldRef field(const char *def, const char *name)
{
    return wb_supervisor_node_get_field(wb_supervisor_node_get_from_def(def), name);
}

static int kept_red(const unsigned char *pixels)
{
    check_steps(1);
    return wb_camera_image_get_red(pixels, 4, 1, 1);
}

static int red(WbDeviceTag camera)
{
    check_steps(1);
    return wb_camera_image_get_red(wb_camera_get_image(camera), 4, 1, 1);
}

int main(void)
{
    wb_robot_init();
    WbDeviceTag sender = wb_robot_get_device("emitter"), camera = wb_robot_get_device("camera");
    wb_camera_enable(camera, 16);
    check_steps(2);

    // The listener is some 5 m away: the first packet is out of range, the third on another channel, the fifth out of
    // range again.
    wb_emitter_send(sender, "a", 2);
    check_steps(1);
    wb_supervisor_field_set_sf_float(field("SENDER", "range"), 10);
    wb_emitter_send(sender, "b", 2);
    check_steps(1);
    CHECK_NEAR(wb_emitter_get_range(sender), 10, 1e-12);
    wb_supervisor_field_set_sf_int32(field("EAR", "channel"), 7);
    wb_emitter_send(sender, "c", 2);
    check_steps(1);
    wb_supervisor_field_set_sf_int32(field("SENDER", "channel"), 7);
    wb_emitter_send(sender, "d", 2);
    check_steps(1);
    CHECK(wb_emitter_get_channel(sender) == 7);
    wb_emitter_set_range(sender, 1);
    wb_emitter_send(sender, "e", 2);
    check_steps(1);

    // A pointer that was taken once has each new picture.
    const unsigned char *kept = wb_camera_get_image(camera);
    int first = kept_red(kept);
    wb_supervisor_field_set_sf_float(field("EYE", "exposure"), 4);
    CHECK(kept_red(kept) > first + 20);
    wb_supervisor_field_set_sf_float(field("EYE", "exposure"), 1);
    CHECK(kept_red(kept) == first);

    CHECK_NEAR(wb_camera_get_fov(camera), 0.785398, 1e-9);
    wb_supervisor_field_set_sf_float(field("EYE", "fieldOfView"), 1.5);
    int dim = red(camera);
    CHECK_NEAR(wb_camera_get_fov(camera), 1.5, 1e-12);
    wb_supervisor_field_set_sf_float(field("EYE", "exposure"), 4);
    CHECK(red(camera) > dim + 20);
    CHECK_NEAR(wb_camera_get_exposure(camera), 4, 1e-12);
    wb_camera_set_exposure(camera, 1);
    CHECK(red(camera) == dim);
    wb_supervisor_field_set_sf_float(field("FOCUS", "focalDistance"), 2);
    check_steps(1);
    CHECK_NEAR(wb_camera_get_focal_distance(camera), 2, 1e-12);
    wb_supervisor_simulation_reset();
    check_steps(1);
    CHECK_NEAR(wb_camera_get_fov(camera), 0.785398, 1e-9);
    return check_done();
}
