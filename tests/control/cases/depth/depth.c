// Range finders and lidars: exact depths and distances of walls, the point cloud that belongs to them, noise and steps.
#include "check.h"

#include <webots/lidar.h>
#include <webots/range_finder.h>
#include <webots/supervisor.h>

#include <unistd.h>

static WbDeviceTag finder, around, brief, lidar, turning, noisy, coarse, tilted, flat;

static void check_finder(void)
{
    const float *image = wb_range_finder_get_range_image(finder);
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 8; x++)  // the front of the nearer block begins 0.05 to the right
            CHECK_NEAR(wb_range_finder_image_get_depth(image, 8, x, y), x < 4 ? 2 : 1.5, 1e-6);
    image = wb_range_finder_get_range_image(brief);
    for (int i = 0; i < 32; i++)
        CHECK(isinf(image[i]));  // 1.5 is too near, 2 too far
    image = wb_range_finder_get_range_image(around);
    // Linear in both angles: a row stands a quarter of the vertical field, 2 pi / 32, from the middle.
    double angle = 0.5 / 64 * 2 * M_PI, slant = 1 / cos(0.25 * 2 * M_PI / 32);
    CHECK_NEAR(image[0], 2 / cos(angle) * slant, 1e-5);  // the seam is behind
    CHECK(isinf(image[16]));                             // to the left
    CHECK_NEAR(image[31], 2 / cos(angle) * slant, 1e-5);
    CHECK_NEAR(image[48], 3.95 / cos(angle) * slant, 1e-5);
    CHECK(wb_range_finder_save_image(finder, "depth.png", 100) == 0 && access("depth.png", R_OK) == 0);
    CHECK(wb_range_finder_save_image(finder, "depth.hdr", 100) == 0 && access("depth.hdr", R_OK) == 0);
    CHECK(wb_range_finder_save_image(finder, "no/such/folder.png", 100) == -1);
}

static void check_lidar(void)
{
    const float *image = wb_lidar_get_range_image(lidar);
    const WbLidarPoint *points = wb_lidar_get_point_cloud(lidar);
    for (int i = 0; i < 300; i++) {
        double up = 0.2 - 0.2 * (i / 100), side = 0.5 * M_PI * (0.5 - (i % 100 + 0.5) / 100);
        double x = points[i].x, y = points[i].y, z = points[i].z;
        CHECK_NEAR(image[i], sqrt(x * x + y * y + z * z), 1e-5);
        CHECK_NEAR(atan2(y, x), side, 1e-5);
        CHECK_NEAR(atan2(z, hypot(x, y)), up, 1e-5);
        CHECK(points[i].layer_id == i / 100);
        if (i % 100 < 50)
            CHECK_NEAR(x, 2, 1e-5);
        else if (i % 100 > 52)
            CHECK_NEAR(x, 1.5, 1e-5);
    }
    CHECK(wb_lidar_get_layer_range_image(lidar, 2)[7] == image[207]
          && wb_lidar_get_layer_point_cloud(lidar, 1)[3].x == points[103].x);
    CHECK(wb_lidar_get_layer_range_image(lidar, 3) == NULL && wb_lidar_get_layer_point_cloud(lidar, -1) == NULL);
    CHECK(wb_lidar_get_point_cloud(turning) == NULL);  // not enabled
    wb_lidar_enable_point_cloud(turning);
    image = wb_lidar_get_range_image(turning);
    CHECK_NEAR(image[200], 2 / cos(M_PI / 400), 1e-5);  // behind
    CHECK(isinf(image[300]));                           // to the left
    for (int i = 0; i < 100;
         i++)  // it begins ahead and goes to the right: the quarter around that is what the fixed one sees
        CHECK_NEAR(image[(350 + i) % 400], wb_lidar_get_layer_range_image(lidar, 1)[i], 1e-5);
    points = wb_lidar_get_point_cloud(turning);
    CHECK_NEAR((double)points[200].x, -2, 1e-5);
    CHECK_NEAR((double)points[10].y, -sin(10.5 * M_PI / 200) * (double)image[10], 1e-5);
    image = wb_lidar_get_range_image(coarse);
    for (int i = 0; i < 10; i++)
        CHECK_NEAR(image[i], i < 6 ? 2.1 : 1.5, 1e-5);
    image = wb_lidar_get_range_image(tilted);
    CHECK_NEAR(image[4], 2 / (cos(0.5) * cos(0.025)), 1e-5);
    image = wb_lidar_get_range_image(flat);
    CHECK_NEAR(image[0], 2, 1e-5);  // depth along the axis
    double sum = 0, squares = 0;
    image = wb_lidar_get_range_image(noisy);
    for (int i = 0; i < 100; i++) {
        double off = (double)image[i] - 2 / cos(0.25 - (i + 0.5) * 0.0025);
        sum += off;
        squares += off * off;
    }
    CHECK_NEAR(sum / 100, 0, 0.02);
    CHECK_NEAR(sqrt(squares / 100), 0.05, 0.015);
}

int main(void)
{
    wb_robot_init();
    finder = wb_robot_get_device("range-finder"), around = wb_robot_get_device("round"),
    brief = wb_robot_get_device("short");
    lidar = wb_robot_get_device("lidar"), turning = wb_robot_get_device("turning"),
    noisy = wb_robot_get_device("noisy");
    coarse = wb_robot_get_device("coarse"), tilted = wb_robot_get_device("tilted"), flat = wb_robot_get_device("flat");
    const WbDeviceTag finders[3] = { finder, around, brief },
                      lidars[6] = { lidar, turning, noisy, coarse, tilted, flat };
    CHECK(wb_range_finder_get_width(finder) == 8 && wb_range_finder_get_height(finder) == 4
          && wb_range_finder_get_max_range(finder) == 5);
    CHECK(wb_lidar_get_horizontal_resolution(lidar) == 100 && wb_lidar_get_number_of_layers(lidar) == 3);
    CHECK(wb_lidar_get_horizontal_resolution(turning) == 400);  // for the whole turn
    wb_lidar_enable_point_cloud(lidar);
    CHECK(wb_lidar_is_point_cloud_enabled(lidar) && wb_lidar_get_number_of_points(lidar) == 300);
    for (int i = 0; i < 3; i++)
        wb_range_finder_enable(finders[i], 64);
    for (int i = 0; i < 6; i++)
        wb_lidar_enable(lidars[i], 64);
    check_steps(1);
    CHECK(wb_lidar_get_range_image(lidar)[0] == 0 && wb_lidar_get_point_cloud(lidar)[5].x == 0);  // not yet
    CHECK(wb_range_finder_get_range_image(finder)[0] == 0);
    check_steps(1);
    check_finder();
    check_lidar();
    wb_supervisor_node_remove(wb_supervisor_node_get_from_def("NEARER"));
    check_steps(2);
    CHECK_NEAR(wb_range_finder_get_range_image(finder)[14], 2, 1e-6);
    wb_lidar_disable_point_cloud(lidar);
    CHECK(!wb_lidar_is_point_cloud_enabled(lidar));
    return check_done();
}
