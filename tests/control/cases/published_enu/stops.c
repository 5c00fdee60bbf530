// physics/joint_hard_limits_after_move: joints driven against their stops stay there, also after the robot was put
// elsewhere.
#include "check.h"

#include <webots/motor.h>
#include <webots/position_sensor.h>
#include <webots/supervisor.h>

int main(void)
{
    static const char *const names[3] = { "slider", "hinge", "hinge2" };
    WbDeviceTag sensors[3];
    wb_robot_init();
    for (int i = 0; i < 3; i++) {
        WbDeviceTag motor = wb_robot_get_device(names[i]);
        sensors[i] = wb_motor_get_position_sensor(motor);
        wb_position_sensor_enable(sensors[i], 32);
        wb_motor_set_position(motor, INFINITY);
        wb_motor_set_velocity(motor, i ? 1 : 2);
    }
    for (int moved = 0; moved < 2; moved++) {
        check_steps(60);
        for (int i = 0; i < 3; i++)
            CHECK_NEAR(wb_position_sensor_get_value(sensors[i]), 0.4, 0.01);
        WbNodeRef self = wb_supervisor_node_get_self();
        wb_supervisor_field_set_sf_vec3f(wb_supervisor_node_get_field(self, "translation"),
                                         (const double[3]){ 5, -20, 3 });
        wb_supervisor_field_set_sf_rotation(wb_supervisor_node_get_field(self, "rotation"),
                                            (const double[4]){ 0, 0, 1, 1.2 });
    }
    return check_done();
}
