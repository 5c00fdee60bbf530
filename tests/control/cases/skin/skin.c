// Skins: names and places of bones, what follows when a controller or a joint moves one, and that cameras see it. The
// worm stands along z, 1.2 m high, with bones from 0, 0.4 and 0.8 m.
#include <webots/camera.h>
#include <webots/motor.h>
#include <webots/skin.h>

#include "check.h"

enum { SIDE = 64, STEP = 32 };
static WbDeviceTag camera;

// What is seen of a point that stands 1.2 m ahead, as high above the ground and as far to the left.
static const unsigned char *seen(double left, double height)
{
    const unsigned char *picture = wb_camera_get_image(camera);
    int column = (int)(SIDE / 2 * (1.0 - left / 1.2)), row = (int)(SIDE / 2 * (1.0 - (height - 0.6) / 1.2));
    return picture + 4 * (row * SIDE + column);
}
#define CHECK_SEEN(left, height, what)                                                                                 \
    CHECK((seen(left, height)[2] > 100) == ((what) == 'r' || (what) == 'y')                                            \
          && (seen(left, height)[1] > 100) == ((what) == 'g' || (what) == 'y')                                         \
          && (seen(left, height)[0] > 100) == ((what) == 's'))

static void bones(WbDeviceTag skin)
{
    static const char *const names[] = { "root", "spine", "neck" };
    CHECK(wb_skin_get_bone_count(skin) == 3);
    for (int i = 0; i < 3; i++) {
        CHECK_TEXT(wb_skin_get_bone_name(skin, i), names[i]);
        CHECK_VECTOR(wb_skin_get_bone_position(skin, i, true), 0, 0, 0.4 * i, 1e-6);
        CHECK_VECTOR(wb_skin_get_bone_position(skin, i, false), 0, 0, i ? 0.4 : 0, 1e-6);
        CHECK_NEAR(wb_skin_get_bone_orientation(skin, i, true)[3], 0, 1e-6);
    }
    CHECK_TEXT(wb_skin_get_bone_name(skin, 3), "");
    CHECK(!wb_skin_get_bone_position(skin, -1, true));
}

static void turn(WbDeviceTag free, WbDeviceTag driven)
{
    static const double left[4] = { 1, 0, 0, -M_PI_2 };
    CHECK_SEEN(0.4, 1.1, 'r');
    CHECK_SEEN(-0.4, 0.6, 'g');
    CHECK_SEEN(-0.4, 1.1, 'y');  // its head has a material, and so an appearance, of its own
    CHECK_SEEN(1.0, 0.4, 's');
    wb_skin_set_bone_orientation(free, 1, left, false);
    CHECK_VECTOR(wb_skin_get_bone_position(free, 2, true), 0, 0.4, 0.4, 1e-6);
    CHECK_VECTOR(wb_skin_get_bone_position(free, 2, false), 0, 0, 0.4, 1e-6);
    CHECK_NEAR(wb_skin_get_bone_orientation(free, 2, true)[3], M_PI_2, 1e-6);
    CHECK_NEAR(wb_skin_get_bone_orientation(free, 2, false)[3], 0, 1e-6);
    wb_skin_set_bone_orientation(driven, 1, left, false);  // its joints move it, which is said
    wb_motor_set_position(wb_robot_get_device("motor"), M_PI_2);
    wb_robot_step(10 * STEP);
    CHECK_SEEN(0.4, 1.1, 's');
    CHECK_SEEN(0.4, 0.2, 'r');
    CHECK_SEEN(1.0, 0.4, 'r');
    CHECK_SEEN(-0.4, 1.1, 's');
    CHECK_SEEN(-0.4, 0.2, 'g');
    CHECK_SEEN(-1.0, 0.4, 'y');
    CHECK_VECTOR(wb_skin_get_bone_position(driven, 2, true), 0, -0.4, 0.4, 1e-3);
}

static void move(WbDeviceTag free)
{
    // In the frame of the Skin, whatever the bone above it does.
    wb_skin_set_bone_orientation(free, 2, (const double[4]){ 1, 0, 0, 0 }, true);
    CHECK_NEAR(wb_skin_get_bone_orientation(free, 2, false)[3], M_PI_2, 1e-6);
    wb_skin_set_bone_position(free, 2, (const double[3]){ 0, 0.5, 0.6 }, true);
    CHECK_VECTOR(wb_skin_get_bone_position(free, 2, true), 0, 0.5, 0.6, 1e-6);
    wb_robot_step(2 * STEP);
    CHECK_SEEN(0.9, 0.8, 'r');
    CHECK_SEEN(1.0, 0.4, 's');
    wb_skin_set_bone_position(free, 99, (const double[3]){ 0 }, true);
    wb_skin_set_bone_position(free, 0, (const double[3]){ NAN, 0, 0 }, true);
    wb_robot_step(2 * STEP);
    CHECK_SEEN(0.9, 0.8, 'r');
}

int main(void)
{
    wb_robot_init();
    camera = wb_robot_get_device("camera");
    WbDeviceTag free = wb_robot_get_device("free"), driven = wb_robot_get_device("driven");
    wb_camera_enable(camera, STEP);
    wb_robot_step(STEP);
    bones(free);
    bones(driven);
    CHECK(wb_skin_get_bone_count(wb_robot_get_device("bare")) == 0);
    turn(free, driven);
    move(free);
    return check_done();
}
