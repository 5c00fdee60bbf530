/* Asks the plugin for a push every step and prints the heights it answers with. */
#include <stdio.h>
#include <webots/emitter.h>
#include <webots/receiver.h>
#include <webots/robot.h>

int main(void)
{
    wb_robot_init();
    const int step = (int)wb_robot_get_basic_time_step();
    const WbDeviceTag emitter = wb_robot_get_device("emitter"), receiver = wb_robot_get_device("receiver");
    wb_receiver_enable(receiver, step);
    for (int count = 0; wb_robot_step(step) != -1; count++) {
        const double force = 100.0;
        wb_emitter_send(emitter, &force, sizeof force);
        while (wb_receiver_get_queue_length(receiver) > 0) {
            if (count % 20 == 0)
                printf("height %.3f\n", *(const double *)wb_receiver_get_data(receiver));
            wb_receiver_next_packet(receiver);
        }
    }
    wb_robot_cleanup();
    return 0;
}
