#include "check.h"

#include <webots/receiver.h>

static void expect(WbDeviceTag tag, const char *text)
{
    CHECK(wb_receiver_get_queue_length(tag) > 0);
    if (wb_receiver_get_queue_length(tag) == 0)
        return;
    CHECK_TEXT(wb_receiver_get_data(tag), text);
    CHECK(wb_receiver_get_data_size(tag) == (int)strlen(text) + 1);
    wb_receiver_next_packet(tag);
}

int main(void)
{
    wb_robot_init();
    WbDeviceTag radio = wb_robot_get_device("radio"), light = wb_robot_get_device("light"),
                slow = wb_robot_get_device("slow");
    WbDeviceTag all = wb_robot_get_device("all"), off = wb_robot_get_device("off");
    CHECK(wb_receiver_get_sampling_period(radio) == 0 && wb_receiver_get_channel(all) == -1);
    check_steps(1);
    CHECK(wb_receiver_get_queue_length(radio) == 0);
    wb_receiver_enable(radio, 32);
    wb_receiver_enable(light, 32);
    wb_receiver_enable(slow, 32);
    wb_receiver_enable(all, 32);
    wb_receiver_enable(off, 32);
    wb_receiver_disable(off);
    CHECK(wb_receiver_get_sampling_period(radio) == 32);
    check_steps(1);
    CHECK(wb_receiver_get_queue_length(radio) == 0);  // nothing from before
    check_steps(1);
    // 5 + 5 + 4 bytes fit into 16
    CHECK(wb_receiver_get_queue_length(radio) == 3);
    CHECK_NEAR(wb_receiver_get_signal_strength(radio), 2.7778, 1e-4);
    CHECK_VECTOR(wb_receiver_get_emitter_direction(radio), -1, 0, 0, 1e-12);
    expect(radio, "near");
    expect(radio, "both");
    expect(radio, "any");
    CHECK(wb_receiver_get_queue_length(radio) == 0);
    expect(light, "light");
    CHECK(wb_receiver_get_queue_length(slow) == 1);  // the broadcast
    expect(slow, "any");
    expect(all, "near");
    expect(all, "both");
    expect(all, "seven");
    expect(all, "any");
    expect(all, "fits");
    CHECK(wb_receiver_get_queue_length(all) == 0);
    check_steps(1);
    CHECK(wb_receiver_get_queue_length(slow) == 0);
    check_steps(1);
    expect(slow, "1234567");
    expect(all, "1234567");
    CHECK(wb_receiver_get_queue_length(off) == 0);
    CHECK(wb_receiver_get_data_size(radio) == -1 && !wb_receiver_get_data(radio)
          && !wb_receiver_get_emitter_direction(radio));
    CHECK(isnan(wb_receiver_get_signal_strength(radio)));
    wb_receiver_set_channel(off, 9);
    CHECK(wb_receiver_get_channel(off) == 9);
    wb_receiver_next_packet(off);  // an empty queue stays one
    return check_done();
}
