// Hears what reaches it, in order.
#include "check.h"

#include <webots/receiver.h>

int main(void)
{
    wb_robot_init();
    WbDeviceTag ear = wb_robot_get_device("receiver");
    wb_receiver_enable(ear, 16);
    char heard[16] = "";
    for (int i = 0; i < 9; i++) {
        check_steps(1);
        for (; wb_receiver_get_queue_length(ear) > 0 && strlen(heard) < 8; wb_receiver_next_packet(ear))
            strcat(heard, wb_receiver_get_data(ear));
    }
    CHECK_TEXT(heard, "bd");
    CHECK(wb_receiver_get_channel(ear) == 7);
    return check_done();
}
