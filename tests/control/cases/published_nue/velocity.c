// api/motor2_velocity and motor3_velocity. Arguments, in pairs: an axis and the angle of the inertial unit it turns.
#include "check.h"

#include <webots/inertial_unit.h>
#include <webots/motor.h>
#include <webots/position_sensor.h>

#define TURN 6.283185307179586

static void turn_and_return(int axis, int angle)
{
    char name[16];
    snprintf(name, sizeof name, "sensor %d", axis);
    WbDeviceTag sensor = wb_robot_get_device(name), motor = wb_position_sensor_get_motor(sensor),
                unit = wb_robot_get_device("inertial unit");
    wb_position_sensor_enable(sensor, 32);
    wb_inertial_unit_enable(unit, 32);
    check_steps(1);
    double start = wb_position_sensor_get_value(sensor);
    wb_motor_set_position(motor, INFINITY);
    for (int i = 0; i < 100; i++) {
        wb_motor_set_velocity(motor, 10 * fabs(cos(i * TURN / 100)));
        check_steps(1);
    }
    double position = wb_position_sensor_get_value(sensor), before = INFINITY;
    CHECK(position > TURN);  // it counts whole turns
    CHECK_NEAR(wb_inertial_unit_get_roll_pitch_yaw(unit)[angle], remainder(position, TURN), 0.01);
    wb_motor_set_position(motor, start);
    wb_motor_set_velocity(motor, 10);
    for (int i = 0; i < 400 && fabs(position - before) >= 1e-6; i++) {
        check_steps(1);
        before = position;
        position = wb_position_sensor_get_value(sensor);
    }
    CHECK_NEAR(position, start, 0.01);
    CHECK(fabs(position - before) < 1e-6);
}

int main(int argc, char **argv)
{
    wb_robot_init();
    CHECK(argc >= 3);
    for (int i = 1; i + 1 < argc; i += 2)
        turn_and_return(atoi(argv[i]), atoi(argv[i + 1]));
    return check_done();
}
