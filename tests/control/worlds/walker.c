// From the first world to the second, once around by a reload, then to the end with a status of its own.
#include <webots/robot.h>
#include <webots/supervisor.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    wb_robot_init();
    const char *world = wb_robot_get_world_path();
    printf("in %s\n", strrchr(world, '/') + 1);
    wb_robot_step(32);
    if (strstr(world, "first.wbt")) {
        wb_supervisor_load_world("../../worlds/second.wbt");
    } else if (access("been_here", F_OK) < 0) {
        FILE *mark = fopen("been_here", "w");
        fclose(mark);
        wb_supervisor_simulation_revert();  // the older name
    } else {
        wb_supervisor_simulation_quit(7);
    }
    while (wb_robot_step(32) != -1)
        continue;
    wb_robot_cleanup();
    return 0;
}
