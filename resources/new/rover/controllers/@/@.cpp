// @: drives ahead and turns away from what the three distance sensors see.
#include <webots/DistanceSensor.hpp>
#include <webots/GPS.hpp>
#include <webots/Motor.hpp>
#include <webots/Robot.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

int main()
{
    const double cruise = 6.0;  // speed of the wheels, rad/s
    const double near = 0.35;   // m: closer than this it turns away

    webots::Robot robot;
    const int step = static_cast<int>(robot.getBasicTimeStep());
    webots::DistanceSensor *eyes[3] = { robot.getDistanceSensor("front"), robot.getDistanceSensor("front left"),
                                        robot.getDistanceSensor("front right") };
    for (webots::DistanceSensor *eye : eyes)
        eye->enable(step);
    webots::GPS *gps = robot.getGPS("gps");
    gps->enable(step);
    webots::Motor *left = robot.getMotor("left motor"), *right = robot.getMotor("right motor");
    left->setPosition(INFINITY);  // turn for ever, at the velocity that is set
    right->setPosition(INFINITY);

    double turn = 0.0, travelled = 0.0, oldX = NAN, oldY = NAN;
    int seconds = 0;
    while (robot.step(step) != -1) {
        const double leftSide = eyes[1]->getValue(), rightSide = eyes[2]->getValue();
        const double nearest = std::min({ eyes[0]->getValue(), leftSide, rightSide });
        if (nearest > 1.2 * near)
            turn = 0.0;
        else if (turn == 0.0 && nearest < near)  // keep turning to one side until the way is free
            turn = leftSide > rightSide ? 4.0 : -4.0;
        left->setVelocity((turn == 0.0 ? cruise : 0.0) - turn);
        right->setVelocity((turn == 0.0 ? cruise : 0.0) + turn);

        const double *at = gps->getValues();
        if (!std::isnan(oldX))
            travelled += std::hypot(at[0] - oldX, at[1] - oldY);
        oldX = at[0];
        oldY = at[1];
        if (robot.getTime() >= seconds + 1)
            std::printf("%d s: travelled %.2f m, nearest thing %.2f m away\n", ++seconds, travelled, nearest);
    }
    return 0;
}
