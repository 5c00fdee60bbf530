#include "check.h"

#include <webots/gyro.h>
#include <webots/motor.h>

int main(void)
{
    wb_robot_init();
    WbDeviceTag motor = wb_robot_get_device("rotational motor"), gyro = wb_robot_get_device("gyro");
    wb_motor_set_position(motor, INFINITY);
    wb_motor_set_velocity(motor, 10);
    wb_gyro_enable(gyro, 32);
    CHECK(isnan(wb_gyro_get_values(gyro)[0]));
    check_steps(40);
    CHECK_VECTOR(wb_gyro_get_values(gyro), 0, 0, 10, 1e-4);
    return check_done();
}
