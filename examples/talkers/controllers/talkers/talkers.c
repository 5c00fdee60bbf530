// The caller counts and moves away at 1 m/s; the answerer sends every number back with how loud it was.
#include <webots/emitter.h>
#include <webots/receiver.h>
#include <webots/robot.h>
#include <webots/supervisor.h>

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    wb_robot_init();
    int step = (int)wb_robot_get_basic_time_step(), number = 0, answers = 0;
    int calls = argc > 1 && !strcmp(argv[1], "call");
    WbDeviceTag emitter = wb_robot_get_device("emitter"), receiver = wb_robot_get_device("receiver");
    wb_receiver_enable(receiver, step);
    if (calls) {
        const double velocity[6] = { -1, 0, 0, 0, 0, 0 };
        wb_supervisor_node_set_velocity(wb_supervisor_node_get_self(), velocity);
    }
    while (wb_robot_step(step) != -1) {
        char text[64];
        if (calls) {
            snprintf(text, sizeof text, "%d", number++);
            wb_emitter_send(emitter, text, (int)strlen(text) + 1);
        }
        for (; wb_receiver_get_queue_length(receiver) > 0; wb_receiver_next_packet(receiver)) {
            const char *heard = wb_receiver_get_data(receiver);
            answers++;
            if (calls)
                continue;
            snprintf(text, sizeof text, "%s %.3f", heard, wb_receiver_get_signal_strength(receiver));
            wb_emitter_send(emitter, text, (int)strlen(text) + 1);
        }
        if (number == 90)
            printf("called %d times, %d answers\n", number, answers);
    }
    wb_robot_cleanup();
    return 0;
}
