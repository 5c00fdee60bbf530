#include "check.h"

#include <webots/receiver.h>

int main(void)
{
    wb_robot_init();
    WbDeviceTag receiver = wb_robot_get_device("receiver");
    wb_receiver_enable(receiver, 16);
    check_steps(1);
    while (wb_receiver_get_queue_length(receiver))  // whoever comes later in the file sent with the receiver already on
        wb_receiver_next_packet(receiver);
    for (int i = 0; i < 99; i++) {
        check_steps(1);
        CHECK(wb_receiver_get_queue_length(receiver) == 2);
        for (int k = 0; k < 2 && wb_receiver_get_queue_length(receiver); k++) {
            CHECK_TEXT(wb_receiver_get_data(receiver), k ? "b" : "a");
            wb_receiver_next_packet(receiver);
        }
    }
    return check_done();
}
