// 100 W for the processor, and 100 W for every Nm of the motor, which holds 2 kg at 0.5 m: about 981 W more.
#include "check.h"

#include <webots/motor.h>
#include <webots/position_sensor.h>

int main(void)
{
    wb_robot_init();
    WbDeviceTag sensor = wb_robot_get_device("position sensor");
    wb_position_sensor_enable(sensor, 32);
    CHECK(isnan(wb_robot_battery_sensor_get_value()));
    wb_robot_battery_sensor_enable(32);
    CHECK(wb_robot_battery_sensor_get_sampling_period() == 32);
    check_steps(5);
    double before = wb_robot_battery_sensor_get_value();
    check_steps(5);
    CHECK_NEAR((before - wb_robot_battery_sensor_get_value()) / (5 * 0.032), 100 + 100 * 2 * 9.81 * 0.5, 15);
    CHECK_NEAR(wb_position_sensor_get_value(sensor), 0, 0.01);
    check_steps(20);
    CHECK_NEAR(wb_robot_battery_sensor_get_value(), 0, 0.001);
    double last = wb_position_sensor_get_value(sensor);
    check_steps(10);
    CHECK(wb_position_sensor_get_value(sensor) == last);  // without power nothing is measured
    return check_done();
}
