// physics/hinge_2_joint_damping: two wheels turn a robot on the spot; damping on the driven axes slows them.
#include "check.h"

#include <webots/gyro.h>
#include <webots/motor.h>
#include <webots/supervisor.h>

int main(void)
{
    static const struct {
        double damping, rate;
    } phases[] = { { 0, 0.696 }, { 20, 0.348 }, { 50, 0.139 } };
    static const char *const parameters[2] = { "DAMPING1", "DAMPING2" }, *const motors[2] = { "drive 1", "drive 2" };
    wb_robot_init();
    WbDeviceTag gyro = wb_robot_get_device("gyro");
    wb_gyro_enable(gyro, 64);
    for (int i = 0; i < 2; i++) {
        wb_motor_set_position(wb_robot_get_device(motors[i]), INFINITY);
        wb_motor_set_velocity(wb_robot_get_device(motors[i]), i ? 1 : -1);
    }
    for (int phase = 0; phase < 3; phase++) {
        for (int i = 0; phase && i < 2; i++)
            wb_supervisor_field_set_sf_float(
                wb_supervisor_node_get_field(wb_supervisor_node_get_from_def(parameters[i]), "dampingConstant"),
                phases[phase].damping);
        for (int step = 0; step < 10; step++) {
            wb_robot_step(64);
            CHECK_NEAR(wb_gyro_get_values(gyro)[1], phases[phase].rate, 0.01);
        }
    }
    return check_done();
}
