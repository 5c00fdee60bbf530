// Keeps level and holds one metre. Two propellers turn the other way round, so their blades and signs are mirrored.
#include <webots/gps.h>
#include <webots/gyro.h>
#include <webots/inertial_unit.h>
#include <webots/motor.h>
#include <webots/robot.h>

#include <math.h>
#include <stdio.h>

int main(void)
{
    static const struct {
        const char *name;
        double spin, roll, pitch;
    } rotors[4] = {
        { "front left", 1, -1, 1 },
        { "front right", -1, 1, 1 },
        { "rear left", -1, -1, -1 },
        { "rear right", 1, 1, -1 },
    };
    wb_robot_init();
    int step = (int)wb_robot_get_basic_time_step();
    WbDeviceTag motors[4], unit = wb_robot_get_device("inertial unit"), gyro = wb_robot_get_device("gyro"),
                           gps = wb_robot_get_device("gps");
    wb_inertial_unit_enable(unit, step);
    wb_gyro_enable(gyro, step);
    wb_gps_enable(gps, step);
    for (int i = 0; i < 4; i++) {
        motors[i] = wb_robot_get_device(rotors[i].name);
        wb_motor_set_position(motors[i], INFINITY);
        wb_motor_set_velocity(motors[i], 0);
    }
    double report = 5;
    while (wb_robot_step(step) != -1) {
        const double *angles = wb_inertial_unit_get_roll_pitch_yaw(unit), *rates = wb_gyro_get_values(gyro);
        const double *at = wb_gps_get_values(gps), *speed = wb_gps_get_speed_vector(gps);
        double lift = fmin(fmax(9.81 + 4 * (1 - at[2]) - 4 * speed[2], 2), 18);
        double roll = -2 * angles[0] - 0.6 * rates[0], pitch = -2 * angles[1] - 0.6 * rates[1], yaw = -0.3 * rates[2];
        for (int i = 0; i < 4; i++) {
            // Left rotors push the left side up: that is a positive roll torque (about x) taken away.
            double thrust = 0.25 * lift - rotors[i].roll * roll - rotors[i].pitch * pitch - rotors[i].spin * yaw;
            wb_motor_set_velocity(motors[i], rotors[i].spin * sqrt(fmin(fmax(thrust, 0), 20) / 0.0002));
        }
        if (wb_robot_get_time() >= report) {
            printf("height %.3f, tilt %.4f, away %.3f\n", at[2], hypot(angles[0], angles[1]), hypot(at[0], at[1]));
            report += 5;
        }
    }
    wb_robot_cleanup();
    return 0;
}
