/* @: a trot. The feet of one diagonal swing forward while those of the other push back. */
#include <webots/gps.h>
#include <webots/motor.h>
#include <webots/robot.h>

#include <math.h>
#include <stdio.h>

#define LINK 0.2       /* m: thigh and shank are equally long */
#define STANCE 0.35    /* m from hip to foot */
#define STRIDE 0.06    /* m that a foot goes before and behind its hip */
#define LIFT 0.06      /* m that a foot is lifted */
#define FREQUENCY 1.5  /* strides a second */

/* Angles of hip and knee that bring the foot to a place relative to the hip. */
static void solve(double x, double z, double *hip, double *knee)
{
    *knee = 2.0 * acos(fmin(hypot(x, z) / (2.0 * LINK), 1.0));
    *hip = atan2(-x, -z) - 0.5 * *knee;
}

int main(void)
{
    static const struct {
        const char *name;
        double phase;
    } legs[4] = { { "front left", 0.0 }, { "front right", 0.5 }, { "rear left", 0.5 }, { "rear right", 0.0 } };
    wb_robot_init();
    const int step = (int)wb_robot_get_basic_time_step();
    WbDeviceTag hips[4], knees[4], gps = wb_robot_get_device("gps");
    wb_gps_enable(gps, step);
    for (int i = 0; i < 4; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s hip", legs[i].name);
        hips[i] = wb_robot_get_device(name);
        snprintf(name, sizeof name, "%s knee", legs[i].name);
        knees[i] = wb_robot_get_device(name);
    }

    int seconds = 0;
    while (wb_robot_step(step) != -1) {
        const double time = wb_robot_get_time(), start = fmin(time, 1.0); /* small strides first */
        for (int i = 0; i < 4; i++) {
            double phase = fmod(FREQUENCY * time + legs[i].phase, 1.0), x, z = -STANCE, hip, knee;
            if (phase < 0.5) { /* on the ground, backwards */
                x = start * STRIDE * (1.0 - 4.0 * phase);
            } else { /* in the air, forwards */
                x = start * STRIDE * (4.0 * phase - 3.0);
                z += start * LIFT * sin(2.0 * M_PI * (phase - 0.5));
            }
            solve(x, z, &hip, &knee);
            wb_motor_set_position(hips[i], hip);
            wb_motor_set_position(knees[i], knee);
        }
        if (time >= seconds + 1) {
            const double *at = wb_gps_get_values(gps);
            seconds++;
            printf("%d s: walked %.2f m, back %.2f m above the floor\n", seconds, at[0], at[2]);
        }
    }
    wb_robot_cleanup();
    return 0;
}
