// Drives ahead; what the sensors see on one side slows the wheel of the other side.
#include <webots/distance_sensor.h>
#include <webots/gps.h>
#include <webots/motor.h>
#include <webots/robot.h>

#include <math.h>
#include <stdio.h>

int main(void)
{
    static const char *const names[3] = { "front", "left", "right" };
    WbDeviceTag sensors[3], wheels[2], gps;
    wb_robot_init();
    int step = (int)wb_robot_get_basic_time_step();
    for (int i = 0; i < 3; i++) {
        sensors[i] = wb_robot_get_device(names[i]);
        wb_distance_sensor_enable(sensors[i], step);
    }
    wheels[0] = wb_robot_get_device("left wheel motor");
    wheels[1] = wb_robot_get_device("right wheel motor");
    gps = wb_robot_get_device("gps");
    wb_gps_enable(gps, step);
    for (int i = 0; i < 2; i++) {
        wb_motor_set_position(wheels[i], INFINITY);
        wb_motor_set_velocity(wheels[i], 0);
    }
    double travelled = 0, nearest = 10, escape = 0, last[2] = { NAN, NAN }, report = 5;
    while (wb_robot_step(step) != -1) {
        double front = wb_distance_sensor_get_value(sensors[0]), left = wb_distance_sensor_get_value(sensors[1]);
        double right = wb_distance_sensor_get_value(sensors[2]), most = 8;
        // Once it turns away it goes on to the same side until the way is free.
        if (fmin(front, fmin(left, right)) > 0.4)
            escape = 0;
        else if (escape == 0 && (front < 0.35 || fmin(left, right) < 0.2))
            escape = left > right ? 5 : -5;
        double turn = escape != 0 ? escape : 4 * fmax(0.4 - right, 0) - 4 * fmax(0.4 - left, 0);  // to the left
        double ahead = escape != 0 ? 0 : most;
        wb_motor_set_velocity(wheels[0], ahead - turn);
        wb_motor_set_velocity(wheels[1], ahead + turn);
        const double *at = wb_gps_get_values(gps);
        if (!isnan(last[0]))
            travelled += hypot(at[0] - last[0], at[1] - last[1]);
        last[0] = at[0];
        last[1] = at[1];
        nearest = fmin(nearest, fmin(front, fmin(left, right)));
        if (wb_robot_get_time() >= report) {
            printf("travelled %.2f m, nearest %.2f m, at %.2f %.2f\n", travelled, nearest, at[0], at[1]);
            report += 5;
        }
    }
    wb_robot_cleanup();
    return 0;
}
