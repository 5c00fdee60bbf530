// Calls as programs before R2018 wrote them: range finders that are cameras, pasting without blending, labels without a
// font, movies without a caption, an end without a status.
#include "check.h"

#include <webots/camera.h>
#include <webots/display.h>
#include <webots/supervisor.h>
#include <webots/utils/ansi_codes.h>

#include <stdlib.h>

static void range_finder_is_a_camera(void)
{
    WbDeviceTag range = wb_robot_get_device("range"), eye = wb_robot_get_device("eye");
    wb_camera_enable(range, 32);
    CHECK(wb_camera_get_sampling_period(range) == 32);
    CHECK(wb_camera_get_width(range) == 16 && wb_camera_get_height(range) == 8 && wb_camera_get_max_range(range) == 3);
    CHECK_NEAR(wb_camera_get_fov(range), 1, 1e-12);
    check_steps(2);
    const float *image = wb_camera_get_range_image(range);
    CHECK(image != NULL);
    if (image)
        CHECK_NEAR((double)wb_camera_range_image_get_depth(image, 16, 3, 5), 2, 1e-5);
    CHECK(wb_camera_get_range_image(eye) == NULL);  // no range finder
    wb_camera_disable(range);
    CHECK(wb_camera_get_sampling_period(range) == 0);
}

static void fewer_arguments(void)
{
    WbDeviceTag screen = wb_robot_get_device("screen");
    wb_display_set_color(screen, 0xff0000);
    wb_display_fill_rectangle(screen, 0, 0, 2, 2);
    WbImageRef image = wb_display_image_copy(screen, 0, 0, 2, 2);
    wb_display_image_paste(screen, image, 4, 4);
    wb_display_image_paste(screen, image, 6, 6, true);
    wb_display_image_delete(screen, image);
    wb_supervisor_set_label(0, "seven", 0.1, 0.1, 0.1, 0xffffff, 0);
    wb_supervisor_set_label(1, "eight", 0.1, 0.2, 0.1, 0xffffff, 0, "Arial");
}

// Both forms are asked to compile; a run of the case neither films nor quits.
static void movies_and_the_end(bool is_asked)
{
    if (!is_asked)
        return;
    wb_supervisor_start_movie("five.avi", 64, 48, 0, 75);
    wb_supervisor_start_movie("seven.avi", 64, 48, 0, 75, 1, false);
    wb_supervisor_simulation_quit(EXIT_SUCCESS);
    wb_supervisor_simulation_quit();
}

static void colours_in_the_console(void)
{
    ANSI_CLEAR_CONSOLE();
    ANSI_PRINTF_IN_BLACK("%d\n", 1);
    ANSI_PRINTF_IN_YELLOW("%d\n", 2);
    ANSI_PRINTF_IN_MAGENTA("%d\n", 3);
    ANSI_PRINTF_IN_CYAN("%d\n", 4);
    ANSI_PRINTF_IN_WHITE("five");
    printf("\n");
}

int main(int argc, char **argv)
{
    (void)argv;
    wb_robot_init();
    range_finder_is_a_camera();
    fewer_arguments();
    movies_and_the_end(argc > 1);
    colours_in_the_console();
    check_steps(1);
    return check_done();
}
