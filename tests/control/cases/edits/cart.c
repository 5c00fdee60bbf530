// Drives while a supervisor changes the robot: readings go on, commands act, devices that come in are found.
#include "check.h"

#include <webots/brake.h>
#include <webots/distance_sensor.h>
#include <webots/gps.h>
#include <webots/motor.h>
#include <webots/position_sensor.h>

static WbDeviceTag gps, ahead, eye, motor, angle;

// Ten steps of driving: place, distance and angle advance as they must.
static void drive(const char *what)
{
    double x = wb_gps_get_values(gps)[0], d = wb_distance_sensor_get_value(ahead),
           a = wb_position_sensor_get_value(angle);
    double seen = wb_distance_sensor_get_value(eye);
    check_steps(10);
    check_near(wb_gps_get_values(gps)[0] - x, 0.0126, 6e-4, what, __LINE__);
    check_near(d - wb_distance_sensor_get_value(ahead), 0.0126, 6e-4, what, __LINE__);
    check_near(seen - wb_distance_sensor_get_value(eye), 0.0126, 6e-4, what, __LINE__);
    check_near(wb_position_sensor_get_value(angle) - a, 0.16, 0.03, what, __LINE__);
}

int main(void)
{
    wb_robot_init();
    gps = wb_robot_get_device("gps");
    ahead = wb_robot_get_device("ahead");
    eye = wb_robot_get_device("eye");
    motor = wb_robot_get_device("motor");
    angle = wb_robot_get_device("angle");
    wb_gps_enable(gps, 16);
    wb_distance_sensor_enable(ahead, 16);
    wb_distance_sensor_enable(eye, 16);
    wb_position_sensor_enable(angle, 16);
    wb_motor_set_position(motor, INFINITY);
    wb_motor_set_velocity(motor, 1);
    int count = wb_robot_get_number_of_devices();
    check_steps(5);
    static const char *const edits[] = { "untouched", "a Solid came", "a PROTO was made anew", "a sensor came",
                                         "a joint went" };
    for (int i = 0; i < 5; i++) {
        drive(edits[i]);
        wb_motor_set_velocity(motor, 1);
        check_steps(10);  // in which the supervisor changes something
    }
    CHECK(wb_robot_get_number_of_devices() == count + 1);
    WbDeviceTag late = wb_robot_get_device("late");
    CHECK(late > 0);
    wb_distance_sensor_enable(late, 16);
    check_steps(2);
    CHECK_NEAR(wb_distance_sensor_get_value(late), wb_distance_sensor_get_value(ahead), 0.01);
    wb_brake_set_damping_constant(wb_robot_get_device("brake"), 3);  // its joint is gone
    check_steps(30);                                                 // the wheel lost its physics, then its device
    wb_motor_set_velocity(motor, 2);
    check_steps(20);
    return check_done();
}
