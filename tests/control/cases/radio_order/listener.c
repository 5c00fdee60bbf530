// Packets are handed over when all robots' commands were heard: what was sent before the first step arrives, and a
// channel that is set in the step of sending counts, wherever the robots stand in the file.
#include "check.h"

#include <webots/receiver.h>

static void expect_both(WbDeviceTag receiver)
{
    CHECK(wb_receiver_get_queue_length(receiver) == 2);
    for (int k = 0; k < 2 && wb_receiver_get_queue_length(receiver); k++) {
        CHECK_TEXT(wb_receiver_get_data(receiver), k ? "b" : "a");
        wb_receiver_next_packet(receiver);
    }
}

int main(void)
{
    wb_robot_init();
    WbDeviceTag receiver = wb_robot_get_device("receiver"), side = wb_robot_get_device("side");
    wb_receiver_enable(receiver, 16);
    wb_receiver_enable(side, 16);
    for (int i = 0; i < 99; i++) {
        bool is_tuned_in = i % 3 == 0;
        wb_receiver_set_channel(side, is_tuned_in ? 5 : 4);
        check_steps(1);
        expect_both(receiver);
        if (is_tuned_in)
            expect_both(side);
        CHECK(wb_receiver_get_queue_length(side) == 0);
    }
    return check_done();
}
