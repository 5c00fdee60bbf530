#include "check.h"

#include <webots/motor.h>
#include <webots/position_sensor.h>

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    wb_robot_init();
    WbDeviceTag motor = wb_robot_get_device("rotational motor"), sensor = wb_robot_get_device("position sensor");
    wb_position_sensor_enable(sensor, 32);
    wb_motor_set_position(motor, INFINITY);
    wb_motor_set_velocity(motor, 1);
    double sum = 0;
    // It is started again by the supervisor; the second one ends by itself.
    for (int i = 0; i < 60; i++) {
        if (wb_robot_step(32) == -1) {
            printf("ended early at %g\n", wb_robot_get_time());
            wb_robot_cleanup();
            return 0;
        }
        sum += wb_position_sensor_get_value(sensor);
    }
    printf("sum %.17g\n", sum);
    return check_done();
}
