// The line is where least comes back: steer towards the darker side.
#include <webots/distance_sensor.h>
#include <webots/gps.h>
#include <webots/motor.h>
#include <webots/robot.h>

#include <math.h>
#include <stdio.h>

int main(void)
{
    WbDeviceTag sensors[3], wheels[2], gps;
    static const char *const names[3] = { "left", "middle", "right" };
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
    for (int i = 0; i < 2; i++)
        wb_motor_set_position(wheels[i], INFINITY);
    double worst = 0, turned = 0, last = NAN, report = 5, memory = 0;
    while (wb_robot_step(step) != -1) {
        double left = wb_distance_sensor_get_value(sensors[0]), middle = wb_distance_sensor_get_value(sensors[1]);
        double right = wb_distance_sensor_get_value(sensors[2]);
        double turn = (right - left) / fmax(fmax(left, right), 1);  // positive: the line is to the left
        if (fabs(turn) > 0.05)
            memory = turn;
        else if (middle > 0.9 * fmax(left, right))
            turn = memory;  // lost: where it went last
        wb_motor_set_velocity(wheels[0], 5 - 4 * turn);
        wb_motor_set_velocity(wheels[1], 5 + 4 * turn);
        const double *at = wb_gps_get_values(gps);
        double angle = atan2(at[1], at[0]);
        if (!isnan(last))
            turned += remainder(angle - last, 2 * M_PI);
        last = angle;
        worst = fmax(worst, fabs(hypot(at[0], at[1]) - 1));
        if (wb_robot_get_time() >= report) {
            printf("turned %.2f rad, never further than %.3f m from the line\n", turned, worst);
            report += 5;
        }
    }
    wb_robot_cleanup();
    return 0;
}
