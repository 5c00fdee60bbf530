/* Drives the cart in a circle and says where the wheels are. */
#include <webots/motor.h>
#include <webots/position_sensor.h>
#include <webots/robot.h>

#include <stdio.h>

int main(void)
{
    wb_robot_init();
    int step = (int)wb_robot_get_basic_time_step();
    WbDeviceTag left = wb_robot_get_device("left motor"), right = wb_robot_get_device("right motor");
    WbDeviceTag sensor = wb_robot_get_device("left sensor");
    wb_position_sensor_enable(sensor, step);
    wb_motor_set_position(left, INFINITY);
    wb_motor_set_position(right, INFINITY);
    wb_motor_set_velocity(left, 4.0);
    wb_motor_set_velocity(right, 6.0);
    int seconds = 0;
    while (wb_robot_step(step) != -1) {
        if (wb_robot_get_time() < seconds + 1)
            continue;
        seconds++;
        printf("%d s: the left wheel has turned %.2f rad\n", seconds, wb_position_sensor_get_value(sensor));
    }
    wb_robot_cleanup();
    return 0;
}
