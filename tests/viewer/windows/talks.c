// talks.c - a robot that answers its window: it echoes each message with the number of the step and of the message in
// that step, turns its wheel at "go" and stands at "stop", and says at every tenth step how far it is.
#include <webots/motor.h>
#include <webots/plugins/robot_window/robot_wwi.h>
#include <webots/robot.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    wb_robot_init();
    int step = (int)wb_robot_get_basic_time_step();
    WbDeviceTag wheel = wb_robot_get_device("wheel");
    wb_motor_set_position(wheel, 1e9);
    wb_motor_set_velocity(wheel, 0.0);
    for (int steps = 1; wb_robot_step(step) != -1; steps++) {
        const char *message;
        for (int number = 0; (message = wb_robot_wwi_receive_text()); number++) {
            size_t size = strlen(message) + 64;
            char *answer = malloc(size);
            snprintf(answer, size, "%d.%d %s", steps, number, message);
            wb_robot_wwi_send_text(answer);
            free(answer);
            if (!strcmp(message, "go") || !strcmp(message, "stop"))
                wb_motor_set_velocity(wheel, strcmp(message, "go") ? 0.0 : 2.0);
            if (!strcmp(message, "raw"))
                wb_robot_wwi_send("\xff\xfe", 2);
        }
        int size;
        if (wb_robot_wwi_receive(&size) || size != 0)
            printf("something is left\n");
        if (steps % 10 == 0) {
            char words[32];
            snprintf(words, sizeof words, "at %d", steps);
            wb_robot_wwi_send(words, (int)strlen(words));
        }
    }
    wb_robot_cleanup();
    return 0;
}
