// api/robot_multiple_step: sensors read every third step, whatever the length of the robot's own steps.
#include "check.h"

#include <webots/compass.h>
#include <webots/distance_sensor.h>
#include <webots/gps.h>
#include <webots/touch_sensor.h>

int main(void)
{
    wb_robot_init();
    WbDeviceTag compass = wb_robot_get_device("compass"), gps = wb_robot_get_device("gps");
    WbDeviceTag distance = wb_robot_get_device("distance sensor"), touch = wb_robot_get_device("touch sensor");
    wb_compass_enable(compass, 96);
    wb_gps_enable(gps, 96);
    wb_distance_sensor_enable(distance, 96);
    wb_touch_sensor_enable(touch, 96);
    wb_robot_step(5 * 32);  // moved by the other robot after 96 ms; what was read then still stands
    CHECK_VECTOR(wb_compass_get_values(compass), 1, 0, 0, 0.0001);
    CHECK_NEAR(wb_distance_sensor_get_value(distance), 1000, 0.001);
    CHECK_VECTOR(wb_gps_get_values(gps), 0.1, 0.025178, 0.1, 1e-5);
    CHECK_NEAR(wb_touch_sensor_get_value(touch), 0, 0.001);
    wb_robot_step(32);
    CHECK_VECTOR(wb_compass_get_values(compass), 0.003230, -0.034126, 0.999412, 1e-5);
    CHECK_NEAR(wb_distance_sensor_get_value(distance), 666.766, 0.001);
    CHECK_VECTOR(wb_gps_get_values(gps), -0.049331, 0.025861, 0.101667, 1e-5);
    CHECK_NEAR(wb_touch_sensor_get_value(touch), 5.442, 0.001);
    return check_done();
}
