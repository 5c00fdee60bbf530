// From world to world by the new and the old names, around by reloads, then to the end with a status of its own.
#include <webots/robot.h>
#include <webots/supervisor.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

// How many worlds it has been in: a file remembers, for every world has a new process.
static int count_visit(void)
{
    FILE *file = fopen("visits", "a+");
    fputc('x', file);
    long visits = ftell(file);
    fclose(file);
    return (int)visits;
}

int main(void)
{
    wb_robot_init();
    printf("in %s\n", strrchr(wb_robot_get_world_path(), '/') + 1);
    wb_robot_step(32);
    switch (count_visit()) {
    case 1: wb_supervisor_world_load("../../worlds/second.wbt"); break;
    case 2: wb_supervisor_world_reload(); break;
    case 3: wb_supervisor_simulation_revert(); break;
    case 4: wb_supervisor_load_world("../../worlds/first.wbt"); break;
    default: wb_supervisor_simulation_quit(7); break;
    }
    while (wb_robot_step(32) != -1)
        continue;
    wb_robot_cleanup();
    return 0;
}
