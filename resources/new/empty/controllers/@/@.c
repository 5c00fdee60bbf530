/* @: the loop that every robot program is: wait for the next step, read sensors, command motors. */
#include <webots/robot.h>

#include <stdio.h>

int main(void)
{
    wb_robot_init();
    const int step = (int)wb_robot_get_basic_time_step();
    printf("%s starts\n", wb_robot_get_name());
    while (wb_robot_step(step) != -1) {
        /* Read sensors, command motors. */
    }
    wb_robot_cleanup();
    return 0;
}
