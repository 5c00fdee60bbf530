// The halves of a step: what is commanded between them acts in the next step, readings stay those of the last one, and
// a question between them is answered as after the second half.
#include "check.h"

#include <webots/motor.h>
#include <webots/position_sensor.h>
#include <webots/supervisor.h>

static double angle_after(WbDeviceTag sensor, WbDeviceTag motor, double speed)
{
    CHECK(wb_robot_step_begin(16) == 0);
    double before = wb_position_sensor_get_value(sensor), time = wb_robot_get_time();
    wb_motor_set_velocity(motor, speed);
    CHECK(wb_robot_get_time() == time && wb_position_sensor_get_value(sensor) == before);
    CHECK(wb_robot_step_end() == 0);
    CHECK_NEAR(wb_robot_get_time(), time + 0.016, 1e-12);
    return wb_position_sensor_get_value(sensor);
}

int main(void)
{
    wb_robot_init();
    WbDeviceTag motor = wb_robot_get_device("motor"), sensor = wb_robot_get_device("sensor");
    wb_position_sensor_enable(sensor, 16);
    wb_motor_set_position(motor, INFINITY);
    wb_motor_set_velocity(motor, 0.0);
    wb_robot_step(16);
    CHECK_NEAR(angle_after(sensor, motor, 1.0), 0.0, 1e-12);
    CHECK_NEAR(angle_after(sensor, motor, 0.0), 0.016, 1e-9);
    CHECK_NEAR(angle_after(sensor, motor, 2.0), 0.016, 1e-9);
    CHECK_NEAR(angle_after(sensor, motor, 0.0), 0.048, 1e-9);
    // A question takes the answer of the step that was begun.
    CHECK(wb_robot_step_begin(16) == 0);
    double time = wb_robot_get_time();
    CHECK(wb_supervisor_node_get_self() != NULL
          && wb_supervisor_node_get_position(wb_supervisor_node_get_self()) != NULL);
    CHECK(wb_robot_step_end() == 0);
    CHECK_NEAR(wb_robot_get_time(), time + 0.016, 1e-12);
    CHECK(wb_robot_step_end() == -1);  // nothing was begun
    CHECK(wb_robot_step(16) == 0);
    return check_done();
}
