#include "check.h"

#include <webots/motor.h>
#include <webots/position_sensor.h>

int main(void)
{
    wb_robot_init();
    WbDeviceTag motor = wb_robot_get_device("rotational motor"), sensor = wb_robot_get_device("position sensor");
    wb_position_sensor_enable(sensor, 32);
    wb_robot_battery_sensor_enable(32);
    wb_motor_set_position(motor, 2 * M_PI);
    check_steps(1);
    CHECK_NEAR(wb_robot_battery_sensor_get_value(), 504, 1);
    check_steps(10);
    CHECK_NEAR(wb_robot_battery_sensor_get_value(), 0, 0.001);
    double before = wb_position_sensor_get_value(sensor);
    check_steps(20);
    CHECK_NEAR(wb_position_sensor_get_value(sensor), before, 0.5);  // it comes to rest far from where it was sent
    CHECK(wb_position_sensor_get_value(sensor) < 2 * M_PI - 0.5);
    return check_done();
}
