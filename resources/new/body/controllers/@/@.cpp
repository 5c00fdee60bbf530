// @: keeps the pole upright by pushing the sled, and the sled near the middle of its rail.
#include <webots/Motor.hpp>
#include <webots/PositionSensor.hpp>
#include <webots/Robot.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

int main()
{
    webots::Robot robot;
    const int step = static_cast<int>(robot.getBasicTimeStep());
    const double dt = step / 1000.0;
    // A motor has the name of its joint; its sensor that name and _sensor.
    webots::Motor *sled = robot.getMotor("SLED");
    webots::PositionSensor *place = robot.getPositionSensor("SLED_sensor"), *tilt = robot.getPositionSensor("POLE_sensor");
    place->enable(step);
    tilt->enable(step);

    double oldX = NAN, oldAngle = NAN;
    int seconds = 0;
    while (robot.step(step) != -1) {
        const double x = place->getValue(), angle = tilt->getValue();
        const double speed = std::isnan(oldX) ? 0.0 : (x - oldX) / dt, rate = std::isnan(oldAngle) ? 0.0 : (angle - oldAngle) / dt;
        oldX = x;
        oldAngle = angle;
        const double force = 40.0 * angle + 6.0 * rate + 4.0 * x + 6.0 * speed;
        sled->setForce(std::min(std::max(force, -100.0), 100.0));
        if (robot.getTime() >= seconds + 1)
            std::printf("%d s: the pole leans %.3f rad, the sled is at %.2f m\n", ++seconds, angle, x);
    }
    return 0;
}
