#include "check.h"

#include <webots/accelerometer.h>
#include <webots/gyro.h>
#include <webots/motor.h>

int main(void)
{
    wb_robot_init();
    WbDeviceTag motor = wb_robot_get_device("rotational motor"), gyro = wb_robot_get_device("gyro");
    wb_motor_set_position(motor, INFINITY);
    wb_motor_set_velocity(motor, 10);
    wb_gyro_enable(gyro, 32);
    WbDeviceTag accelerometer = wb_robot_get_device("accelerometer");
    wb_accelerometer_enable(accelerometer, 32);
    CHECK(isnan(wb_gyro_get_values(gyro)[0]));
    check_steps(1);
    CHECK_VECTOR(wb_accelerometer_get_values(accelerometer), 0, 0, 9.81, 0.001);  // held in its bearing
    CHECK(wb_accelerometer_get_lookup_table(accelerometer)[3] == 1000);
    check_steps(39);
    CHECK_VECTOR(wb_gyro_get_values(gyro), 0, 0, 10, 1e-4);
    return check_done();
}
