// api/track, one belt under force control: freely, then braked.
#include "check.h"

#include <webots/brake.h>
#include <webots/motor.h>
#include <webots/supervisor.h>

int main(void)
{
    static const struct {
        double damping, place;
    } phases[] = { { 0, 0.031310 }, { 0, 0.062818 }, { 500, 0.082369 } };
    wb_robot_init();
    WbDeviceTag motor = wb_robot_get_device("linear motor"), brake = wb_robot_get_device("brake");
    wb_robot_step(4 * 32);
    wb_motor_set_force(motor, 20);
    for (int i = 0; i < 3; i++) {
        wb_brake_set_damping_constant(brake, phases[i].damping);
        wb_robot_step(40 * 32);
        CHECK_NEAR(wb_supervisor_node_get_position(wb_supervisor_node_get_self())[0], phases[i].place, 1e-5);
    }
    return check_done();
}
