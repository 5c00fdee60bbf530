#include "check.h"

#include <webots/motor.h>

int main(void)
{
    wb_robot_init();
    check_steps(1);
    wb_motor_set_position(wb_robot_get_device("motor"), 0.1);
    check_steps(15);
    return check_done();
}
