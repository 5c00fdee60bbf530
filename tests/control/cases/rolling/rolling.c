// physics/rolling_friction: nine balls set spinning by the supervisor; order after 100 steps, states after 200.
#include "check.h"

#include <webots/supervisor.h>

static const struct {
    double position[3], velocity[6];
} published[] = {
    { { -5.822856, -3, 0.498430 }, { 5.957204, 0, 0, 0, 11.951927, 0 } },
    { { -14.564553, 0, 0.498392 }, { 4.164077, 0, 0.000304, 0, 8.355176, 0 } },
    { { -25.145860, 3, 1.942235 }, { 1.817242, 0, -0.368373, 0, 3.719816, 0 } },
    { { -16, -8, 1.498430 }, { 0, 0, 0, 0, 0, 25 } },
    { { -14, -8, 1.498430 }, { 0, 0, 0, 0, 0, 6.164800 } },
    { { -12, -8, 1.498430 }, { 0, 0, 0, 0, 0, 0 } },
    { { -5.822856, -27.511330, 0.498430 }, { 5.957204, 3.686891, 0, -7.397003, 11.951927, -3.446233 } },
    { { 1.171054, -19.324655, 0.498430 }, { 7.029157, 0, 0, 0, 0, -4.455340 } },
    { { 1.171054, -13.936790, 0.498430 }, { 7.029157, 0, 0, 0, 0, -4.867729 } },
};
enum { BALLS = sizeof published / sizeof *published };

int main(void)
{
    WbNodeRef balls[BALLS];
    wb_robot_init();
    for (int i = 0; i < BALLS; i++) {
        char name[16];
        snprintf(name, sizeof name, "BALL_%d", i + 1);
        balls[i] = wb_supervisor_node_get_from_def(name);
        if (i >= 3)
            wb_supervisor_node_set_velocity(balls[i], i < 6 ? (const double[6]){ 0, 0, 0, 0, 0, 25 }
                                                            : (const double[6]){ 0, 0, 0, -25, 0, 0 });
    }
    check_steps(100);
    for (int i = 0; i < 2; i++)  // the more it rubs, the less it has rolled or still spins
        CHECK(wb_supervisor_node_get_position(balls[i])[0] > wb_supervisor_node_get_position(balls[i + 1])[0]);
    for (int i = 3; i < 5; i++)
        CHECK(wb_supervisor_node_get_velocity(balls[i])[5] > wb_supervisor_node_get_velocity(balls[i + 1])[5]);
    check_steps(100);
    for (int i = 0; i < BALLS; i++) {
        for (int k = 0; k < 3; k++)
            CHECK_NEAR(wb_supervisor_node_get_position(balls[i])[k], published[i].position[k], 1e-6);
        for (int k = 0; k < 6; k++)
            CHECK_NEAR(wb_supervisor_node_get_velocity(balls[i])[k], published[i].velocity[k], 1e-6);
    }
    return check_done();
}
