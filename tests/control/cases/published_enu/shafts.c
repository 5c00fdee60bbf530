// physics/hinge_2_joint_damping_axis: the brake of the second axis acts alike wherever the first axis stands.
#include "check.h"

#include <webots/brake.h>
#include <webots/motor.h>
#include <webots/position_sensor.h>
#include <webots/supervisor.h>

static double speed(const char *def)
{
    const double *v = wb_supervisor_node_get_velocity(wb_supervisor_node_get_from_def(def));
    return sqrt(v[3] * v[3] + v[4] * v[4] + v[5] * v[5]);
}

int main(void)
{
    wb_robot_init();
    WbDeviceTag drives[2] = { wb_robot_get_device("drive 1"), wb_robot_get_device("drive 2") },
                turned = wb_robot_get_device("turn sensor");
    for (int i = 0; i < 2; i++) {
        wb_motor_set_position(drives[i], INFINITY);
        wb_motor_set_velocity(drives[i], 0);
        wb_brake_set_damping_constant(wb_motor_get_brake(drives[i]), 28);
    }
    wb_position_sensor_enable(turned, 32);
    wb_motor_set_position(wb_robot_get_device("turn"), 1.57);
    check_steps(33);
    CHECK_NEAR(wb_position_sensor_get_value(turned), 1.57, 0.01);
    for (int coasting = 0; coasting < 2; coasting++) {
        for (int i = 0; i < 2; i++) {
            wb_motor_set_velocity(drives[i], coasting ? 0 : 6.28);
            if (coasting)
                wb_motor_set_available_torque(drives[i], 0);
        }
        double fastest = 0, slowest = INFINITY;
        for (int step = 0; step < 32; step++) {
            check_steps(1);
            CHECK_NEAR(speed("SHAFT2"), speed("SHAFT1"), 0.001);
            fastest = fmax(fastest, speed("SHAFT1"));
            slowest = fmin(slowest, speed("SHAFT1"));
        }
        CHECK(coasting ? slowest < 0.9 * fastest : fastest > 2);
    }
    return check_done();
}
