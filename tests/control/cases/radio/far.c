#include "check.h"

#include <webots/receiver.h>

int main(void)
{
    wb_robot_init();
    WbDeviceTag radio = wb_robot_get_device("radio"), light = wb_robot_get_device("light");
    check_steps(1);
    wb_receiver_enable(radio, 32);
    wb_receiver_enable(light, 32);
    check_steps(2);
    CHECK(wb_receiver_get_queue_length(radio) == 3);
    CHECK_TEXT(wb_receiver_get_data(radio), "near");  // the range counts that the emitter has at the end of the step
    wb_receiver_next_packet(radio);
    CHECK_TEXT(wb_receiver_get_data(radio), "both");
    CHECK_NEAR(wb_receiver_get_signal_strength(radio), 1 / 2.25, 1e-9);
    CHECK_VECTOR(wb_receiver_get_emitter_direction(radio), 0, 1, 0, 1e-9);
    CHECK(wb_receiver_get_queue_length(light) == 0);  // a wall stands between
    return check_done();
}
