/* @: drives ahead and turns away from what the three distance sensors see. */
#include <webots/distance_sensor.h>
#include <webots/gps.h>
#include <webots/motor.h>
#include <webots/robot.h>

#include <math.h>
#include <stdio.h>

#define CRUISE 6.0 /* speed of the wheels, rad/s */
#define NEAR 0.35  /* m: closer than this it turns away */

int main(void)
{
    wb_robot_init();
    const int step = (int)wb_robot_get_basic_time_step();
    const char *const names[] = { "front", "front left", "front right" };
    WbDeviceTag eyes[3], left = wb_robot_get_device("left motor"), right = wb_robot_get_device("right motor");
    for (int i = 0; i < 3; i++) {
        eyes[i] = wb_robot_get_device(names[i]);
        wb_distance_sensor_enable(eyes[i], step);
    }
    WbDeviceTag gps = wb_robot_get_device("gps");
    wb_gps_enable(gps, step);
    wb_motor_set_position(left, INFINITY); /* turn for ever, at the velocity that is set */
    wb_motor_set_position(right, INFINITY);

    double turn = 0.0, travelled = 0.0, old_x = NAN, old_y = NAN;
    int seconds = 0;
    while (wb_robot_step(step) != -1) {
        double ahead = wb_distance_sensor_get_value(eyes[0]);
        double left_side = wb_distance_sensor_get_value(eyes[1]), right_side = wb_distance_sensor_get_value(eyes[2]);
        double nearest = fmin(ahead, fmin(left_side, right_side));
        if (nearest > 1.2 * NEAR)
            turn = 0.0;
        else if (turn == 0.0 && nearest < NEAR) /* keep turning to one side until the way is free */
            turn = left_side > right_side ? 4.0 : -4.0;
        wb_motor_set_velocity(left, (turn == 0.0 ? CRUISE : 0.0) - turn);
        wb_motor_set_velocity(right, (turn == 0.0 ? CRUISE : 0.0) + turn);

        const double *at = wb_gps_get_values(gps);
        if (!isnan(old_x))
            travelled += hypot(at[0] - old_x, at[1] - old_y);
        old_x = at[0];
        old_y = at[1];
        if (wb_robot_get_time() >= seconds + 1) {
            seconds++;
            printf("%d s: travelled %.2f m, nearest thing %.2f m away\n", seconds, travelled, nearest);
        }
    }
    wb_robot_cleanup();
    return 0;
}
