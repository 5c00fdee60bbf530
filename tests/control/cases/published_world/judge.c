// physics/damping: four balls fall; the less a ball is damped the sooner it lands, equal ones land in the same step.
#include "check.h"

#include <webots/supervisor.h>

int main(void)
{
    static const char *const names[4] = { "A", "B", "C", "D" };
    int landed[4] = { 0 };
    wb_robot_init();
    for (int step = 1; step < 550; step++) {
        check_steps(1);
        for (int i = 0; i < 4; i++) {
            int count = 0;
            wb_supervisor_node_get_contact_points(wb_supervisor_node_get_from_def(names[i]), false, &count);
            CHECK(step > 1 || count == 0);
            if (!landed[i] && count > 0)
                landed[i] = step;
        }
    }
    CHECK(landed[1] > 0 && landed[1] < landed[0] && landed[0] == landed[2] && landed[0] < landed[3]);
    return check_done();
}
