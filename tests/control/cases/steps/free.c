// It is never waited for, so it only sees that time passes.
#include "check.h"

int main(void)
{
    wb_robot_init();
    CHECK(!wb_robot_get_synchronization());
    double last = wb_robot_get_time();
    for (int i = 0; i < 5; i++) {
        int late = wb_robot_step(32);
        if (late < 0)
            break;
        CHECK(wb_robot_get_time() >= last);
        last = wb_robot_get_time();
    }
    return check_done();
}
