// A trot: the feet of one diagonal swing forward while those of the other push back.
#include <webots/gps.h>
#include <webots/motor.h>
#include <webots/robot.h>

#include <math.h>
#include <stdio.h>

int main(void)
{
    static const struct {
        const char *name;
        double phase;
    } legs[4] = {
        { "front left", 0 },
        { "front right", 0.5 },
        { "rear left", 0.5 },
        { "rear right", 0 },
    };
    wb_robot_init();
    int step = (int)wb_robot_get_basic_time_step();
    WbDeviceTag hips[4], knees[4], gps = wb_robot_get_device("gps");
    wb_gps_enable(gps, step);
    for (int i = 0; i < 4; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s hip", legs[i].name);
        hips[i] = wb_robot_get_device(name);
        snprintf(name, sizeof name, "%s knee", legs[i].name);
        knees[i] = wb_robot_get_device(name);
    }
    double report = 5, length = 0.2;
    while (wb_robot_step(step) != -1) {
        double time = wb_robot_get_time(), amplitude = fmin(time, 1) * 0.06;
        for (int i = 0; i < 4; i++) {
            double phase = fmod(1.5 * time + legs[i].phase, 1);
            // Foot relative to the hip: back on the ground, forward in the air.
            double x = phase < 0.5 ? amplitude * (1 - 4 * phase) : amplitude * (4 * phase - 3);
            double z = -0.35 + (phase < 0.5 ? 0 : 0.06 * sin(2 * M_PI * (phase - 0.5)) * fmin(time, 1));
            double distance = hypot(x, z), bend = 2 * acos(fmin(distance / (2 * length), 1));
            wb_motor_set_position(hips[i], atan2(-x, -z) - 0.5 * bend);
            wb_motor_set_position(knees[i], bend);
        }
        if (time >= report) {
            const double *at = wb_gps_get_values(gps);
            printf("walked %.2f m, height %.2f\n", at[0], at[2]);
            report += 5;
        }
    }
    wb_robot_cleanup();
    return 0;
}
