// Moves the tip along a circle: two angles from two lengths.
#include <webots/gps.h>
#include <webots/motor.h>
#include <webots/robot.h>

#include <math.h>
#include <stdio.h>

int main(void)
{
    wb_robot_init();
    int step = (int)wb_robot_get_basic_time_step();
    WbDeviceTag shoulder = wb_robot_get_device("shoulder"), elbow = wb_robot_get_device("elbow"),
                tip = wb_robot_get_device("tip");
    wb_gps_enable(tip, step);
    double worst = 0, report = 5;
    while (wb_robot_step(step) != -1) {
        double time = wb_robot_get_time(), x = 0.6 + 0.15 * cos(time), z = 0.15 * sin(time), length = 0.5;
        double bend = acos((x * x + z * z) / (2 * length * length) - 1);
        wb_motor_set_position(elbow, -bend);
        wb_motor_set_position(shoulder, atan2(z, x) + atan2(length * sin(bend), length + length * cos(bend)));
        const double *at = wb_gps_get_values(tip);
        if (time > 2)
            worst = fmax(worst, fabs(hypot(at[0] - 0.6, at[2] - 0.1) - 0.15));
        if (time >= report) {
            printf("tip at %.3f %.3f, never further than %.4f m from the circle\n", at[0], at[2], worst);
            report += 5;
        }
    }
    wb_robot_cleanup();
    return 0;
}
