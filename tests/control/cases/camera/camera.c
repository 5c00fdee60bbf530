// Pictures of cameras, pixel by pixel against the formulas: light L becomes 255 (1 - exp(-L exposure))^(1/2.2), the sky
// keeps its colour.
#include <webots/camera.h>
#include <webots/supervisor.h>

#include "check.h"

enum { WIDTH = 64, HEIGHT = 32 };
static WbDeviceTag camera;

static double exposed(double light, double exposure) { return 255.0 * pow(1.0 - exp(-light * exposure), 1.0 / 2.2); }

static void check_pixel(const unsigned char *picture, int width, int x, int y, double red, double green, double blue,
                        int line)
{
    if (!picture) {
        printf("FAIL line %d: there is no picture\n", line);
        check_mistakes++;
        return;
    }
    check_near(wb_camera_image_get_red(picture, width, x, y), red, 0.51, "red", line);
    check_near(wb_camera_image_get_green(picture, width, x, y), green, 0.51, "green", line);
    check_near(wb_camera_image_get_blue(picture, width, x, y), blue, 0.51, "blue", line);
}
#define CHECK_PIXEL(picture, width, x, y, red, green, blue)                                                            \
    check_pixel(picture, width, x, y, red, green, blue, __LINE__)

// The field of view is a right angle, so a point (d, y, z) lies at the column WIDTH/2 (1 - y/d) and the row HEIGHT/2 -
// WIDTH/2 z/d.
static void colours(void)
{
    const unsigned char *picture = wb_camera_get_image(camera);
    CHECK_PIXEL(picture, WIDTH, 1, 1, 0.4 * 255, 0.7 * 255, 255);  // the sky
    CHECK_PIXEL(picture, WIDTH, 16, 8, 207, 0, 0);                 // left and high, as published: all that glows at 1
    double lit = exposed(0.5, 1.0);
    CHECK_PIXEL(picture, WIDTH, 48, 24, lit, lit, lit);  // right and low, cos 60 degrees
    CHECK_PIXEL(picture, WIDTH, 32, 24, 0, 0, 0);        // in the shade
    double sky_red = -log(1.0 - pow(0.4, 2.2)), sky_green = -log(1.0 - pow(0.7, 2.2));
    CHECK_PIXEL(picture, WIDTH, 32, 4, exposed(0.5 * sky_red, 1.0), exposed(0.5 + 0.5 * sky_green, 1.0),
                255);  // through the glass
}

// Column 0 looks straight back; columns run from there over the left side.
static void all_around(void)
{
    const unsigned char *picture = wb_camera_get_image(wb_robot_get_device("all around"));
    CHECK_PIXEL(picture, 64, 0, 1, 0, 0, 207);
    CHECK_PIXEL(picture, 64, 63, 1, 0.4 * 255, 0.7 * 255, 255);
    CHECK_PIXEL(picture, 64, 16, 1, 0.4 * 255, 0.7 * 255, 255);
}

static void noise(void)
{
    const unsigned char *picture = wb_camera_get_image(wb_robot_get_device("noisy"));
    double sum = 0.0, squares = 0.0;
    for (int i = 0; picture && i < 64 * 64; i++) {
        double away = picture[4 * i + 2] / 255.0 - 0.4;  // red: never cut at 0 or 1
        sum += away;
        squares += away * away;
    }
    CHECK_NEAR(sum / 4096, 0.0, 0.006);
    CHECK_NEAR(sqrt(squares / 4096), 0.1, 0.005);
}

static void settings(void)
{
    wb_camera_set_exposure(camera, 2.0);
    wb_camera_set_fov(
        camera, 2.0 * atan(0.5));  // everything is twice as large: the red square leaves, the glass stays in its column
    check_steps(1);
    const unsigned char *picture = wb_camera_get_image(camera);
    CHECK(picture && wb_camera_image_get_blue(picture, WIDTH, 16, 8) == 255);
    CHECK_PIXEL(picture, WIDTH, 2, 1, exposed(1.0, 2.0), 0, 0);
    wb_camera_set_exposure(camera, 1.0);
    wb_camera_set_fov(camera, 1.5707963);
    check_steps(1);
}

static void segments(void)
{
    CHECK(!wb_camera_recognition_get_segmentation_image(camera));
    wb_camera_recognition_enable(camera, 32);
    wb_camera_recognition_enable_segmentation(camera);
    check_steps(1);
    CHECK(wb_camera_recognition_is_segmentation_enabled(camera)
          && wb_camera_recognition_get_number_of_objects(camera) == 1);
    const unsigned char *picture = wb_camera_recognition_get_segmentation_image(camera);
    CHECK_PIXEL(picture, WIDTH, 16, 8, 0, 255, 0);
    CHECK_PIXEL(picture, WIDTH, 48, 24, 0, 0, 0);
    CHECK_PIXEL(picture, WIDTH, 1, 1, 0, 0, 0);
    CHECK(wb_camera_recognition_save_segmentation_image(camera, "segments.png", 100) == 0);
    wb_camera_recognition_disable_segmentation(camera);
    check_steps(1);
    CHECK(!wb_camera_recognition_get_segmentation_image(camera)
          && wb_camera_recognition_get_number_of_objects(camera) == 1);
}

static void saved(void)
{
    unsigned char head[4] = { 0 };
    CHECK(wb_camera_save_image(camera, "picture.png", 100) == 0
          && wb_camera_save_image(camera, "picture.jpg", 1000) == 0);
    CHECK(wb_camera_save_image(camera, "no/such/folder/picture.png", 100) == -1
          && wb_camera_save_image(camera, NULL, 100) == -1);
    FILE *file = fopen("picture.png", "rb");
    CHECK(file && fread(head, 1, 4, file) == 4 && !memcmp(head, "\x89PNG", 4));
    if (file)
        fclose(file);
}

// What a supervisor changes is seen in the next picture.
static void changes(void)
{
    WbNodeRef red = wb_supervisor_node_get_from_def("RED");
    WbFieldRef place = wb_supervisor_node_get_field(red, "translation"),
               top = wb_supervisor_node_get_field(wb_supervisor_node_get_root(), "children");
    wb_supervisor_field_set_sf_vec3f(place, (const double[3]){ 4, 2, -1 });
    wb_supervisor_field_import_mf_node_from_string(
        top, -1,
        "Solid { translation 4 2 1 name \"new\" children [ Shape { appearance Appearance { "
        "material Material { diffuseColor 0 0 0 emissiveColor 0 0 1 } } geometry Sphere { radius 0.3 } } ] }");
    check_steps(1);
    const unsigned char *picture = wb_camera_get_image(camera);
    CHECK_PIXEL(picture, WIDTH, 16, 24, 207, 0, 0);
    CHECK_PIXEL(picture, WIDTH, 16, 8, 0, 0, 207);
    wb_supervisor_node_remove(red);
    check_steps(1);
    CHECK_PIXEL(wb_camera_get_image(camera), WIDTH, 16, 24, 0.4 * 255, 0.7 * 255, 255);
}

int main(void)
{
    wb_robot_init();
    camera = wb_robot_get_device("camera");
    wb_camera_enable(camera, 32);
    wb_camera_enable(wb_robot_get_device("all around"), 32);
    wb_camera_enable(wb_robot_get_device("noisy"), 32);
    check_steps(1);
    colours();
    all_around();
    noise();
    settings();
    segments();
    saved();
    changes();
    return check_done();
}
