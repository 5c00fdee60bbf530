// Takes pictures of a falling box: by full name and in its own folder, in both formats, and with names that cannot be.
#include <webots/supervisor.h>

#include "check.h"

int main(int argc, char **argv)
{
    wb_robot_init();
    char path[4096];
    check_steps(20);
    snprintf(path, sizeof path, "%s/moment.png", argc > 1 ? argv[1] : ".");
    wb_supervisor_export_image(path, 100);
    wb_supervisor_export_image("fine.jpg", 95);
    wb_supervisor_export_image("coarse.jpeg", 5);
    wb_supervisor_export_image("picture.gif", 50);
    wb_supervisor_export_image("no/such/folder/picture.png", 50);
    wb_supervisor_export_image("", 50);
    wb_supervisor_export_image(NULL, 50);
    CHECK(!wb_supervisor_animation_start_recording("animation.gif"));
    check_steps(1);
    return check_done();
}
