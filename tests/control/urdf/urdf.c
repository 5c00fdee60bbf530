// Writes itself as URDF, moves, and says where its joints and its tip then are.
#include <webots/motor.h>
#include <webots/position_sensor.h>
#include <webots/supervisor.h>

#include "check.h"

int main(void)
{
    static const struct {
        const char *motor;
        double target;
    } joints[] = { { "shoulder", -0.6 }, { "lift", 0.2 }, { "pan", 0.8 }, { "tilt", -0.3 } };
    wb_robot_init();
    FILE *file = fopen("robot.urdf", "w");
    fputs(wb_robot_get_urdf("x_"), file);
    fclose(file);
    CHECK(strlen(wb_robot_get_urdf(NULL)) > 100 && !strstr(wb_robot_get_urdf(NULL), "x_base_link"));
    for (int i = 0; i < 4; i++) {
        wb_motor_set_position(wb_robot_get_device(joints[i].motor), joints[i].target);
        wb_position_sensor_enable(wb_motor_get_position_sensor(wb_robot_get_device(joints[i].motor)), 16);
    }
    check_steps(300);
    for (int i = 0; i < 4; i++)
        printf("joint x_%s %.9g\n", joints[i].motor,
               wb_position_sensor_get_value(wb_motor_get_position_sensor(wb_robot_get_device(joints[i].motor))));
    const double *pose = wb_supervisor_node_get_pose(wb_supervisor_node_get_from_def("TIP"),
                                                     wb_supervisor_node_get_self());
    printf("tip");
    for (int i = 0; i < 16; i++)
        printf(" %.9g", pose[i]);
    printf("\n");
    return check_done();
}
