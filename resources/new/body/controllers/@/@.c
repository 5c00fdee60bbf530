/* @: keeps the pole upright by pushing the sled, and the sled near the middle of its rail. */
#include <webots/motor.h>
#include <webots/position_sensor.h>
#include <webots/robot.h>

#include <math.h>
#include <stdio.h>

int main(void)
{
    wb_robot_init();
    const int step = (int)wb_robot_get_basic_time_step();
    const double dt = step / 1000.0;
    /* A motor has the name of its joint; its sensor that name and _sensor. */
    WbDeviceTag sled = wb_robot_get_device("SLED"), place = wb_robot_get_device("SLED_sensor"),
                tilt = wb_robot_get_device("POLE_sensor");
    wb_position_sensor_enable(place, step);
    wb_position_sensor_enable(tilt, step);

    double old_x = NAN, old_angle = NAN;
    int seconds = 0;
    while (wb_robot_step(step) != -1) {
        double x = wb_position_sensor_get_value(place), angle = wb_position_sensor_get_value(tilt);
        double speed = isnan(old_x) ? 0.0 : (x - old_x) / dt, rate = isnan(old_angle) ? 0.0 : (angle - old_angle) / dt;
        old_x = x;
        old_angle = angle;
        double force = 40.0 * angle + 6.0 * rate + 4.0 * x + 6.0 * speed;
        wb_motor_set_force(sled, fmin(fmax(force, -100.0), 100.0));
        if (wb_robot_get_time() >= seconds + 1) {
            seconds++;
            printf("%d s: the pole leans %.3f rad, the sled is at %.2f m\n", seconds, angle, x);
        }
    }
    wb_robot_cleanup();
    return 0;
}
