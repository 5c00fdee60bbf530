// Apertures bound infra-red light on both sides, and mean nothing to radio and serial lines.
#include "check.h"

#include <webots/receiver.h>

int main(void)
{
    static const char *const names[4] = { "r1", "r2", "r3", "r4" };
    static const struct {
        const char *robot;
        int counts[4];
    } expected[] = {
        { "ahead", { 1, 1, 1, 1 } },   // within both cones
        { "beside", { 0, 1, 1, 1 } },  // outside of the narrow emitter's cone
        { "away", { 0, 0, 1, 1 } },    // the emitter is outside of the receivers' cones
    };
    wb_robot_init();
    WbDeviceTag tags[4];
    for (int i = 0; i < 4; i++) {
        tags[i] = wb_robot_get_device(names[i]);
        wb_receiver_enable(tags[i], 32);
    }
    check_steps(2);
    CHECK(wb_receiver_get_queue_length(tags[3]) == 0);  // 40 ms: its last bit comes in the second step
    check_steps(2);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 4 && !strcmp(wb_robot_get_name(), expected[k].robot); i++)
            CHECK_NEAR(wb_receiver_get_queue_length(tags[i]), expected[k].counts[i], 0);
    return check_done();
}
