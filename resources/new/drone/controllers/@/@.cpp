// @: climbs to one metre and flies over the four pads. Each loop turns an error into what the next one should reach:
// place -> velocity -> tilt -> torque -> thrust of each rotor.
#include <webots/GPS.hpp>
#include <webots/Gyro.hpp>
#include <webots/InertialUnit.hpp>
#include <webots/Motor.hpp>
#include <webots/Robot.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace {

const double height = 1.0;               // m
const double period = 4.0;               // s from pad to pad
const double weight = 9.81;              // N
const double thrustConstant = 0.0002;    // of the Propellers: thrust = constant x velocity^2

// Two propellers turn the other way round, so that their torques about the vertical cancel.
struct Rotor {
    const char *name;
    double x, y, spin;
};
const Rotor rotors[4] = { { "front left", 1, 1, 1 }, { "front right", 1, -1, -1 }, { "rear left", -1, 1, -1 }, { "rear right", -1, -1, 1 } };
const double pads[4][2] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 1 } };

double clamp(double value, double limit) { return std::min(std::max(value, -limit), limit); }

}  // namespace

int main()
{
    webots::Robot robot;
    const int step = static_cast<int>(robot.getBasicTimeStep());
    webots::InertialUnit *unit = robot.getInertialUnit("inertial unit");
    webots::Gyro *gyro = robot.getGyro("gyro");
    webots::GPS *gps = robot.getGPS("gps");
    unit->enable(step);
    gyro->enable(step);
    gps->enable(step);
    webots::Motor *motors[4];
    for (int i = 0; i < 4; i++) {
        motors[i] = robot.getMotor(rotors[i].name);
        motors[i]->setPosition(INFINITY);
        motors[i]->setVelocity(0.0);
    }

    int seconds = 0;
    while (robot.step(step) != -1) {
        const double *angles = unit->getRollPitchYaw(), *rates = gyro->getValues();
        const double *at = gps->getValues(), *speed = gps->getSpeedVector();
        const double *pad = pads[static_cast<int>(robot.getTime() / period) % 4];

        const double forward = clamp(1.2 * (pad[0] - at[0]), 0.8) - speed[0];
        const double leftward = clamp(1.2 * (pad[1] - at[1]), 0.8) - speed[1];
        const double pitch = 4.0 * (clamp(0.25 * forward, 0.25) - angles[1]) - 0.6 * rates[1];  // nose down: forward
        const double roll = 4.0 * (clamp(-0.25 * leftward, 0.25) - angles[0]) - 0.6 * rates[0];
        const double yaw = -0.5 * angles[2] - 0.3 * rates[2];
        const double lift = weight + clamp(4.0 * (height - at[2]) - 4.0 * speed[2], 6.0);
        for (int i = 0; i < 4; i++) {
            const double thrust = 0.25 * lift + rotors[i].y * roll - rotors[i].x * pitch - rotors[i].spin * yaw;
            motors[i]->setVelocity(rotors[i].spin * std::sqrt(std::min(std::max(thrust, 0.0), 20.0) / thrustConstant));
        }
        if (robot.getTime() >= seconds + 1)
            std::printf("%d s: at %.2f %.2f, height %.2f m\n", ++seconds, at[0], at[1], at[2]);
    }
    return 0;
}
