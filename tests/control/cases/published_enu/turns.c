// api/motor3_velocity: each axis of a BallJoint in velocity mode; the inertial unit sees the turn that the sensor
// counts.
#include "check.h"

#include <webots/inertial_unit.h>
#include <webots/motor.h>
#include <webots/position_sensor.h>

static void turn_and_return(int motor_number, double speed, int component)
{
    char name[16];
    snprintf(name, sizeof name, "sensor %d", motor_number);
    WbDeviceTag sensor = wb_robot_get_device(name), motor = wb_position_sensor_get_motor(sensor),
                unit = wb_robot_get_device("inertial unit");
    wb_position_sensor_enable(sensor, 32);
    wb_inertial_unit_enable(unit, 32);
    check_steps(1);
    double start = wb_position_sensor_get_value(sensor);
    wb_motor_set_position(motor, INFINITY);
    for (int i = 0; i < 100; i++) {
        wb_motor_set_velocity(motor, speed * fabs(cos(i * 6.283185307179586 / 100)));
        check_steps(1);
    }
    double position = wb_position_sensor_get_value(sensor), expected[4] = { 0 };
    CHECK(position > speed / 2 * 3.2);  // for the fast ones more than two turns
    expected[component] = sin(position / 2);
    expected[3] = cos(position / 2);
    const double *q = wb_inertial_unit_get_quaternion(unit);
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(q[i], expected[i], 0.01);
    wb_motor_set_position(motor, start);
    wb_motor_set_velocity(motor, speed);
    double moved[2] = { 1, 1 };
    for (int i = 0; i < 400 && (moved[0] >= 1e-6 || moved[1] >= 1e-6); i++) {
        check_steps(1);
        moved[1] = moved[0];
        moved[0] = fabs(wb_position_sensor_get_value(sensor) - position);
        position = wb_position_sensor_get_value(sensor);
    }
    CHECK_NEAR(position, start, 0.01);
    CHECK(moved[0] < 1e-6);
}

int main(void)
{
    wb_robot_init();
    for (int i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "motor %d", i);
        wb_motor_set_position(wb_robot_get_device(name), 0);
    }
    turn_and_return(0, 10, 0);
    turn_and_return(2, 10, 2);
    turn_and_return(1, 0.1, 1);
    return check_done();
}
