#include "check.h"

#include <webots/emitter.h>

int main(void)
{
    static const char *const names[4] = { "narrow", "wide", "radio", "serial" };
    wb_robot_init();
    check_steps(1);
    for (int i = 0; i < 4; i++)
        CHECK(wb_emitter_send(wb_robot_get_device(names[i]), "0123456789abcdef", 16)
              == 1);  // serial: 160 bits at 4000 a second
    check_steps(6);
    return check_done();
}
