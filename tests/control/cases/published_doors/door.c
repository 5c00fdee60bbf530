// physics/hinge_joint_damping and hinge_joint_slot: a falling door meets the bumper in exactly the published step.
#include "check.h"

#include <webots/touch_sensor.h>

int main(int argc, char **argv)
{
    wb_robot_init();
    CHECK(argc == 2);
    WbDeviceTag bumper = wb_robot_get_device("touch sensor");
    wb_touch_sensor_enable(bumper, 32);
    do
        check_steps(1);
    while (wb_touch_sensor_get_value(bumper) == 0 && wb_robot_get_time() < 2);
    CHECK_NEAR(wb_robot_get_time(), atof(argv[1]), 1e-9);
    return check_done();
}
