// api/vacuum_gripper: the load stays when the gripper is off, goes along when it is on, and falls back.
#include "check.h"

#include <webots/motor.h>
#include <webots/supervisor.h>
#include <webots/vacuum_gripper.h>

static double height(void) { return wb_supervisor_node_get_position(wb_supervisor_node_get_from_def("LOAD"))[2]; }

int main(void)
{
    wb_robot_init();
    WbDeviceTag lift = wb_robot_get_device("lift"), cup = wb_robot_get_device("cup");
    wb_vacuum_gripper_enable_presence(cup, 32);
    check_steps(20);
    double start = height();
    wb_motor_set_position(lift, 0.1);
    check_steps(50);
    CHECK_NEAR(height(), start, 0.002);
    wb_motor_set_position(lift, -0.002);
    check_steps(60);
    wb_vacuum_gripper_turn_on(cup);
    check_steps(1);
    CHECK(wb_vacuum_gripper_get_presence(cup) && wb_vacuum_gripper_is_on(cup));
    double held = height();
    wb_motor_set_position(lift, 0.098);
    check_steps(50);
    CHECK_NEAR(height() - held, 0.1, 0.002);
    wb_vacuum_gripper_turn_off(cup);
    check_steps(1);
    CHECK(!wb_vacuum_gripper_get_presence(cup) && !wb_vacuum_gripper_is_on(cup));
    check_steps(30);
    CHECK_NEAR(height(), start, 0.002);
    return check_done();
}
