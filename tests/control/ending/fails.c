// Ends in the way that its argument says: with a status after or without wb_robot_cleanup(), never, by loading the
// world again, with the world paused.
#include <webots/robot.h>
#include <webots/supervisor.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    wb_robot_init();
    printf("starts at %g s\n", wb_robot_get_time());
    for (int i = 0; i < 5; i++)
        wb_robot_step(16);
    if (!strcmp(how, "stuck"))
        for (;;)
            pause();
    if (!strcmp(how, "reload"))
        wb_supervisor_world_reload();
    if (!strcmp(how, "pause") || !strcmp(how, "resume"))
        wb_supervisor_simulation_set_mode(WB_SUPERVISOR_SIMULATION_MODE_PAUSE);
    if (!strcmp(how, "resume")) {
        for (int i = 0; i < 3; i++)
            wb_robot_step(0);
        printf("time stands at %g s\n", wb_robot_get_time());
        wb_supervisor_simulation_set_mode(WB_SUPERVISOR_SIMULATION_MODE_FAST);
    }
    if (!strcmp(how, "well") || !strcmp(how, "pause") || !strcmp(how, "resume"))
        while (wb_robot_step(16) != -1)
            continue;
    if (strcmp(how, "return"))
        wb_robot_cleanup();
    return !strcmp(how, "cleanup") || !strcmp(how, "return") ? 3 : 0;
}
