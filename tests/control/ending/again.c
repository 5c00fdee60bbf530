// Resets the world and asks to be started again, twice: each time it starts at time 0 with the ball where it was.
#include <webots/robot.h>
#include <webots/supervisor.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int run = argc > 1 ? atoi(argv[1]) : 0;
    wb_robot_init();
    WbNodeRef self = wb_supervisor_node_get_self(), ball = wb_supervisor_node_get_from_def("BALL");
    printf("run %d starts at %g s, ball at %.9f\n", run, wb_robot_get_time(), wb_supervisor_node_get_position(ball)[2]);
    for (int i = 0; i < 4; i++)
        wb_robot_step(16);
    printf("run %d at %g s, ball at %.9f\n", run, wb_robot_get_time(), wb_supervisor_node_get_position(ball)[2]);
    if (run < 2) {
        char next[2] = { (char)('1' + run), '\0' };
        wb_supervisor_field_set_mf_string(wb_supervisor_node_get_field(self, "controllerArgs"), 0, next);
        wb_supervisor_simulation_reset();
        wb_supervisor_node_restart_controller(self);
    }
    while (wb_robot_step(16) != -1)
        continue;
    wb_robot_cleanup();
    return 0;
}
