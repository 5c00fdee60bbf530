/* @: climbs to one metre and flies over the four pads. Each loop turns an error into what the next one should reach:
 * place -> velocity -> tilt -> torque -> thrust of each rotor. */
#include <webots/gps.h>
#include <webots/gyro.h>
#include <webots/inertial_unit.h>
#include <webots/motor.h>
#include <webots/robot.h>

#include <math.h>
#include <stdio.h>

#define HEIGHT 1.0 /* m */
#define PERIOD 4.0 /* s from pad to pad */
#define WEIGHT 9.81
#define THRUST_CONSTANT 0.0002 /* of the Propellers: thrust = constant x velocity^2 */

static double clamp(double value, double limit) { return fmin(fmax(value, -limit), limit); }

int main(void)
{
    /* Two propellers turn the other way round, so that their torques about the vertical cancel. */
    static const struct {
        const char *name;
        double x, y, spin;
    } rotors[4] = {
        { "front left", 1, 1, 1 },
        { "front right", 1, -1, -1 },
        { "rear left", -1, 1, -1 },
        { "rear right", -1, -1, 1 },
    };
    static const double pads[4][2] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 1 } };
    wb_robot_init();
    const int step = (int)wb_robot_get_basic_time_step();
    WbDeviceTag motors[4], unit = wb_robot_get_device("inertial unit"), gyro = wb_robot_get_device("gyro"),
                           gps = wb_robot_get_device("gps");
    wb_inertial_unit_enable(unit, step);
    wb_gyro_enable(gyro, step);
    wb_gps_enable(gps, step);
    for (int i = 0; i < 4; i++) {
        motors[i] = wb_robot_get_device(rotors[i].name);
        wb_motor_set_position(motors[i], INFINITY);
        wb_motor_set_velocity(motors[i], 0.0);
    }

    int seconds = 0;
    while (wb_robot_step(step) != -1) {
        const double *angles = wb_inertial_unit_get_roll_pitch_yaw(unit), *rates = wb_gyro_get_values(gyro);
        const double *at = wb_gps_get_values(gps), *speed = wb_gps_get_speed_vector(gps);
        const double *pad = pads[(int)(wb_robot_get_time() / PERIOD) % 4];

        double forward = clamp(1.2 * (pad[0] - at[0]), 0.8) - speed[0];
        double leftward = clamp(1.2 * (pad[1] - at[1]), 0.8) - speed[1];
        double pitch = 4.0 * (clamp(0.25 * forward, 0.25) - angles[1]) - 0.6 * rates[1]; /* nose down: forward */
        double roll = 4.0 * (clamp(-0.25 * leftward, 0.25) - angles[0]) - 0.6 * rates[0];
        double yaw = -0.5 * angles[2] - 0.3 * rates[2];
        double lift = WEIGHT + clamp(4.0 * (HEIGHT - at[2]) - 4.0 * speed[2], 6.0);
        for (int i = 0; i < 4; i++) {
            double thrust = 0.25 * lift + rotors[i].y * roll - rotors[i].x * pitch - rotors[i].spin * yaw;
            double velocity = sqrt(fmin(fmax(thrust, 0.0), 20.0) / THRUST_CONSTANT);
            wb_motor_set_velocity(motors[i], rotors[i].spin * velocity);
        }
        if (wb_robot_get_time() >= seconds + 1) {
            seconds++;
            printf("%d s: at %.2f %.2f, height %.2f m\n", seconds, at[0], at[1], at[2]);
        }
    }
    wb_robot_cleanup();
    return 0;
}
