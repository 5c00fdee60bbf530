// Sends from before the first step on, always before it steps. One of them is slow: that must not matter.
#include "check.h"

#include <webots/emitter.h>

static volatile double work;

int main(void)
{
    wb_robot_init();
    WbDeviceTag emitter = wb_robot_get_device("emitter"), side = wb_robot_get_device("side");
    bool is_slow = !strcmp(wb_robot_get_name(), "a");
    for (int i = 0; i < 100; i++) {
        for (int k = 0; k < (is_slow == (i % 2 == 0) ? 200000 : 0); k++)
            work += sqrt(k);
        wb_emitter_send(emitter, wb_robot_get_name(), 2);
        wb_emitter_send(side, wb_robot_get_name(), 2);
        check_steps(1);
    }
    return check_done();
}
