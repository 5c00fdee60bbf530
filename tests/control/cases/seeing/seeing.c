// Cameras, range finders and lidars: the facts they have and the settings they take, whether there are pictures or not;
// and devices that are only heard or drawn: they are there, and nothing comes of them.
#include <webots/camera.h>
#include <webots/lidar.h>
#include <webots/range_finder.h>
#include <webots/skin.h>
#include <webots/speaker.h>

#include "check.h"

static void camera(void)
{
    WbDeviceTag plain = wb_robot_get_device("camera"), good = wb_robot_get_device("good camera");
    CHECK(wb_camera_get_width(plain) == 32 && wb_camera_get_height(plain) == 16 && wb_camera_get_fov(plain) == 0.9
          && wb_camera_get_near(plain) == 0.02);
    CHECK(wb_camera_get_sampling_period(plain) == 0 && wb_camera_get_width(0) == 0 && wb_camera_get_fov(60000) == 0);
    wb_camera_enable(plain, 64);
    CHECK(wb_camera_get_sampling_period(plain) == 64);
    wb_camera_enable(plain, -1);
    CHECK(wb_camera_get_sampling_period(plain) == 64);
    wb_camera_disable(plain);
    CHECK(wb_camera_get_sampling_period(plain) == 0);
    CHECK(wb_camera_get_exposure(plain) == 1.5);
    wb_camera_set_exposure(plain, 2.0);
    CHECK(wb_camera_get_exposure(plain) == 2.0);
    // Without a zoom and a focus nothing can be set.
    CHECK(wb_camera_get_min_fov(plain) == 0.9 && wb_camera_get_max_fov(plain) == 0.9);
    wb_camera_set_fov(plain, 0.5);
    CHECK(wb_camera_get_fov(plain) == 0.9);
    CHECK(wb_camera_get_min_fov(good) == 0.4 && wb_camera_get_max_fov(good) == 1.1);
    wb_camera_set_fov(good, 0.5);
    CHECK(wb_camera_get_fov(good) == 0.5);
    wb_camera_set_fov(good, 2.0);
    CHECK(wb_camera_get_fov(good) == 0.5);
    CHECK(wb_camera_get_focal_length(good) == 0.035 && wb_camera_get_focal_distance(good) == 0.5);
    CHECK(wb_camera_get_min_focal_distance(good) == 0.1 && wb_camera_get_max_focal_distance(good) == 2);
    wb_camera_set_focal_distance(good, 1.5);
    CHECK(wb_camera_get_focal_distance(good) == 1.5);
    wb_camera_set_focal_distance(good, 5);
    wb_camera_set_focal_distance(plain, 1);
    CHECK(wb_camera_get_focal_distance(good) == 1.5 && wb_camera_get_focal_distance(plain) == 0);
    CHECK(!wb_camera_has_recognition(plain) && wb_camera_has_recognition(good));
    wb_camera_recognition_enable(plain, 32);
    wb_camera_recognition_enable(good, 32);
    CHECK(wb_camera_recognition_get_sampling_period(plain) == 0
          && wb_camera_recognition_get_sampling_period(good) == 32);
    wb_camera_recognition_disable(good);
    CHECK(wb_camera_recognition_get_sampling_period(good) == 0);
    CHECK(!wb_camera_recognition_has_segmentation(plain) && wb_camera_recognition_has_segmentation(good));
    wb_camera_recognition_enable_segmentation(plain);
    CHECK(!wb_camera_recognition_is_segmentation_enabled(plain));
    wb_camera_recognition_enable_segmentation(good);
    wb_camera_recognition_disable_segmentation(good);
    CHECK(!wb_camera_recognition_is_segmentation_enabled(good));
}

static void ranges(void)
{
    WbDeviceTag finder = wb_robot_get_device("range finder"), lidar = wb_robot_get_device("lidar");
    CHECK(wb_range_finder_get_width(finder) == 20 && wb_range_finder_get_height(finder) == 10
          && wb_range_finder_get_fov(finder) == 0.7);
    CHECK(wb_range_finder_get_min_range(finder) == 0.05 && wb_range_finder_get_max_range(finder) == 3
          && wb_range_finder_get_width(lidar) == 0);
    wb_range_finder_enable(finder, 32);
    CHECK(wb_range_finder_get_sampling_period(finder) == 32);
    wb_range_finder_disable(finder);
    CHECK(wb_range_finder_get_sampling_period(finder) == 0);
    CHECK(wb_lidar_get_horizontal_resolution(lidar) == 64 && wb_lidar_get_number_of_layers(lidar) == 4
          && wb_lidar_get_fov(lidar) == 1.2);
    CHECK(wb_lidar_get_vertical_fov(lidar) == 0.3 && wb_lidar_get_min_range(lidar) == 0.1
          && wb_lidar_get_max_range(lidar) == 5);
    CHECK(wb_lidar_get_number_of_points(lidar) == 256);
    CHECK(wb_lidar_get_frequency(lidar) == 12 && wb_lidar_get_min_frequency(lidar) == 5
          && wb_lidar_get_max_frequency(lidar) == 30);
    wb_lidar_set_frequency(lidar, 20);
    wb_lidar_set_frequency(lidar, 31);
    wb_lidar_set_frequency(finder, 20);
    CHECK(wb_lidar_get_frequency(lidar) == 20);
    wb_lidar_enable(lidar, 64);
    CHECK(wb_lidar_get_sampling_period(lidar) == 64 && !wb_lidar_is_point_cloud_enabled(lidar));
    wb_lidar_enable_point_cloud(lidar);
    CHECK(wb_lidar_is_point_cloud_enabled(lidar) && !wb_lidar_is_point_cloud_enabled(finder));
    wb_lidar_disable_point_cloud(lidar);
    CHECK(!wb_lidar_is_point_cloud_enabled(lidar));
    wb_lidar_disable(lidar);
    CHECK(wb_lidar_get_sampling_period(lidar) == 0);
}

static void silent(void)
{
    WbDeviceTag skin = wb_robot_get_device("skin"), speaker = wb_robot_get_device("speaker");
    CHECK(skin && speaker);
    CHECK(wb_skin_get_bone_count(skin) == 0 && wb_skin_get_bone_count(speaker) == 0);
    CHECK_TEXT(wb_skin_get_bone_name(skin, 0), "");
    CHECK(!wb_skin_get_bone_position(skin, 0, true) && !wb_skin_get_bone_orientation(skin, -1, false));
    wb_skin_set_bone_position(skin, 7, (const double[3]){ 0 }, true);
    wb_skin_set_bone_orientation(skin, 7, (const double[4]){ 0, 0, 1, 0 }, true);
    CHECK(!wb_speaker_is_sound_playing(speaker, "beep.wav") && !wb_speaker_is_speaking(speaker)
          && !wb_speaker_is_speaking(skin));
    CHECK_TEXT(wb_speaker_get_engine(speaker), "pico");
    CHECK_TEXT(wb_speaker_get_language(speaker), "en-US");
}

// Pictures are black until the first is due, and only there after a step; depths of an empty world are out of range.
static void nothing_seen(void)
{
    WbDeviceTag plain = wb_robot_get_device("camera"), finder = wb_robot_get_device("range finder"),
                lidar = wb_robot_get_device("lidar");
    CHECK(!wb_camera_get_image(plain));
    wb_camera_enable(plain, 128);
    wb_range_finder_enable(finder, 32);
    wb_lidar_enable(lidar, 32);
    CHECK(!wb_camera_get_image(plain));
    check_steps(1);
    const unsigned char *picture = wb_camera_get_image(plain);
    CHECK(picture && wb_camera_image_get_gray(picture, 32, 31, 15) == 0);
    CHECK(isinf(wb_range_finder_image_get_depth(wb_range_finder_get_range_image(finder), 20, 19, 9)));
    CHECK(isinf(wb_lidar_get_range_image(lidar)[255]) && !wb_lidar_get_layer_range_image(lidar, 4)
          && !wb_lidar_get_layer_range_image(lidar, -1));
    CHECK(!wb_camera_get_image(lidar) && !wb_lidar_get_point_cloud(plain));
}

int main(void)
{
    wb_robot_init();
    camera();
    ranges();
    silent();
    nothing_seen();
    check_steps(3);
    return check_done();
}
