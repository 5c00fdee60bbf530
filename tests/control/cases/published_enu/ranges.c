// api/joints_motor_min_max_position: a position outside the motor's range at load widens the range.
#include "check.h"

#include <webots/motor.h>

static void check_range(const char *joint, int axis)
{
    char name[32];
    snprintf(name, sizeof name, "%s low %d", joint, axis);
    WbDeviceTag low = wb_robot_get_device(name);
    snprintf(name, sizeof name, "%s high %d", joint, axis);
    WbDeviceTag high = wb_robot_get_device(name);
    CHECK(low && high);
    CHECK_NEAR(wb_motor_get_min_position(low), -0.2 - 0.1 * axis, 1e-12);
    CHECK_NEAR(wb_motor_get_max_position(low), 0.1, 0);
    CHECK_NEAR(wb_motor_get_min_position(high), -0.1, 0);
    CHECK_NEAR(wb_motor_get_max_position(high), 0.2 + 0.1 * axis, 1e-12);
}

int main(void)
{
    static const struct {
        const char *name;
        int axes;
    } joints[] = { { "slider", 1 }, { "hinge", 1 }, { "hinge2", 2 }, { "ball", 3 } };
    wb_robot_init();
    check_steps(1);
    for (int i = 0; i < 4; i++)
        for (int axis = 0; axis < joints[i].axes; axis++)
            check_range(joints[i].name, axis);
    return check_done();
}
