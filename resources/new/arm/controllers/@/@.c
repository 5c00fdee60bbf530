/* @: moves the tip of the arm from one mark to the next, by inverse kinematics. */
#include <webots/gps.h>
#include <webots/motor.h>
#include <webots/robot.h>

#include <math.h>
#include <stdio.h>

#define SHOULDER_HEIGHT 0.25 /* m above the floor */
#define LINK 0.4             /* m: the upper arm is as long as the forearm */
#define PERIOD 3.0           /* s for each mark */

typedef struct Mark {
    const char *name;
    double x, y, z;
} Mark;

/* Angles of waist, shoulder and elbow that bring the tip to a place: a triangle of two equal sides. */
static void solve(const Mark *mark, double angles[3])
{
    double out = hypot(mark->x, mark->y), up = mark->z - SHOULDER_HEIGHT;
    double bend = 2.0 * acos(fmin(hypot(out, up) / (2.0 * LINK), 1.0));
    angles[0] = atan2(mark->y, mark->x);
    angles[1] = atan2(up, out) + 0.5 * bend;
    angles[2] = -bend;
}

int main(void)
{
    static const Mark marks[] = { { "red", 0.55, 0.2, 0.25 }, { "green", 0.45, -0.35, 0.45 }, { "blue", 0.3, 0.35, 0.65 } };
    static const char *const names[] = { "waist", "shoulder", "elbow" };
    wb_robot_init();
    const int step = (int)wb_robot_get_basic_time_step();
    WbDeviceTag motors[3], tip = wb_robot_get_device("tip");
    for (int i = 0; i < 3; i++)
        motors[i] = wb_robot_get_device(names[i]);
    wb_gps_enable(tip, step);

    int reached = 0;
    double angles[3];
    solve(&marks[0], angles);
    while (wb_robot_step(step) != -1) {
        for (int i = 0; i < 3; i++)
            wb_motor_set_position(motors[i], angles[i]);
        if (wb_robot_get_time() < PERIOD * (reached + 1))
            continue;
        const Mark *mark = &marks[reached % 3];
        const double *at = wb_gps_get_values(tip);
        double away = sqrt(pow(at[0] - mark->x, 2) + pow(at[1] - mark->y, 2) + pow(at[2] - mark->z, 2));
        printf("%s: %.1f mm from the mark\n", mark->name, 1000.0 * away);
        solve(&marks[++reached % 3], angles);
    }
    wb_robot_cleanup();
    return 0;
}
