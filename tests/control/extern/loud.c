// Gives the robot OTHER eight megabytes of customData, which its controller is sent with its next state, then counts
// its steps.
#include <webots/robot.h>
#include <webots/supervisor.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    enum { SIZE = 7 << 20 };
    wb_robot_init();
    char *text = malloc(SIZE + 1);
    memset(text, 'x', SIZE);
    text[SIZE] = '\0';
    WbNodeRef other = wb_supervisor_node_get_from_def("OTHER");
    wb_supervisor_field_set_sf_string(wb_supervisor_node_get_field(other, "customData"), text);
    free(text);
    int steps = 0;
    while (wb_robot_step(16) != -1)
        steps++;
    printf("%d steps\n", steps);
    wb_robot_cleanup();
    return 0;
}
