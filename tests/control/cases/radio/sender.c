#include "check.h"

#include <webots/emitter.h>
#include <webots/receiver.h>

int main(void)
{
    wb_robot_init();
    WbDeviceTag radio = wb_robot_get_device("radio"), light = wb_robot_get_device("light"),
                slow = wb_robot_get_device("slow");
    WbDeviceTag small = wb_robot_get_device("small"), own = wb_robot_get_device("own");
    wb_receiver_enable(own, 32);
    CHECK(wb_emitter_get_buffer_size(radio) == -1 && wb_emitter_get_buffer_size(small) == 8);
    CHECK(wb_emitter_get_channel(radio) == 1 && wb_emitter_get_range(radio) == 1);
    CHECK(wb_emitter_send(radio, "lost", 5) == 1);  // the others have not enabled theirs
    check_steps(2);
    // step 2: the range that is set last holds for both
    CHECK(wb_emitter_send(radio, "near", 5) == 1);
    wb_emitter_set_range(radio, 5);
    CHECK(wb_emitter_get_range(radio) == 2);
    CHECK(wb_emitter_send(radio, "both", 5) == 1);
    wb_emitter_set_range(radio, -0.33);
    CHECK(wb_emitter_get_range(radio) == 2);  // refused
    wb_emitter_set_channel(radio, 7);
    CHECK(wb_emitter_get_channel(radio) == 7);
    wb_emitter_send(radio, "seven", 6);  // for those who listen to all
    wb_emitter_set_channel(radio, WB_CHANNEL_BROADCAST);
    wb_emitter_send(radio, "any", 4);
    wb_emitter_send(light, "light", 6);
    wb_emitter_send(slow, "1234567", 8);  // 80 bits: 80 ms, three steps
    CHECK(wb_emitter_send(small, "too much for it", 16) == 0);
    CHECK(wb_emitter_send(small, "fits", 5) == 1);
    CHECK(wb_emitter_send(small, "full", 5) == 0);
    check_steps(6);
    CHECK(wb_receiver_get_queue_length(own) == 0);
    return check_done();
}
