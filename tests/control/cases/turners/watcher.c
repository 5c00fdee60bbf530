// physics/ball_joint_vs_hinge_joints: a ball joint with three motors moves its end as three hinges do, with and without
// physics.
#include "check.h"

#include <webots/supervisor.h>

static void offset(const char *robot, double out[3])
{
    char name[32];
    snprintf(name, sizeof name, "%s_MARKER", robot);
    memcpy(out, wb_supervisor_node_get_position(wb_supervisor_node_get_from_def(name)), 3 * sizeof(double));
    const double *base = wb_supervisor_node_get_position(wb_supervisor_node_get_from_def(robot));
    for (int i = 0; i < 3; i++)
        out[i] -= base[i];
}

int main(void)
{
    static const char *const others[3] = { "BALL", "BALL_K", "HINGE_K" };
    double worst = 0;
    wb_robot_init();
    for (int step = 0; step < 188; step++) {
        check_steps(1);
        double reference[3], other[3];
        offset("HINGE", reference);
        for (int i = 0; i < 3; i++) {
            offset(others[i], other);
            for (int k = 0; k < 3; k++)
                worst = fmax(worst, fabs(other[k] - reference[k]));
        }
    }
    CHECK_NEAR(worst, 0, 0.02);
    CHECK_VECTOR(wb_supervisor_node_get_position(wb_supervisor_node_get_from_def("BALL_MARKER")), 0.129531, 0.155783,
                 0.223086, 0.001);
    return check_done();
}
