// Three trials; each starts from the state at load, whatever happened before.
#include <webots/robot.h>
#include <webots/supervisor.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    wb_robot_init();
    int step = (int)wb_robot_get_basic_time_step();
    srand(7);
    for (int trial = 1; trial <= 3; trial++) {
        for (int i = 1; i <= 3; i++) {
            char name[16];
            snprintf(name, sizeof name, "BOX%d", i);
            WbNodeRef box = wb_supervisor_node_get_from_def(name);
            double place[3] = { 2.0 * i - 4 + rand() % 100 / 100.0, rand() % 100 / 50.0 - 1, 1 + rand() % 100 / 100.0 };
            double velocity[6] = { 0, 0, 0, rand() % 10 - 5, rand() % 10 - 5, rand() % 10 - 5 };
            wb_supervisor_field_set_sf_vec3f(wb_supervisor_node_get_field(box, "translation"), place);
            wb_supervisor_node_set_velocity(box, velocity);
        }
        for (int i = 0; i < 150; i++)
            if (wb_robot_step(step) == -1)
                return 0;
        const double *at = wb_supervisor_node_get_position(wb_supervisor_node_get_from_def("BOX1"));
        printf("trial %d: box 1 rests at %.3f %.3f %.3f after %.3f s\n", trial, at[0], at[1], at[2],
               wb_robot_get_time());
        wb_supervisor_simulation_reset();
        wb_robot_step(step);
        at = wb_supervisor_node_get_position(wb_supervisor_node_get_from_def("BOX1"));
        printf("reset: box 1 is at %.3f %.3f %.3f at %.3f s\n", at[0], at[1], at[2], wb_robot_get_time());
    }
    wb_supervisor_simulation_quit(EXIT_SUCCESS);
    wb_robot_step(step);
    wb_robot_cleanup();
    return 0;
}
