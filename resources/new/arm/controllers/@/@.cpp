// @: moves the tip of the arm from one mark to the next, by inverse kinematics.
#include <webots/GPS.hpp>
#include <webots/Motor.hpp>
#include <webots/Robot.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace {

struct Mark {
    const char *name;
    double x, y, z;
};

// Angles of waist, shoulder and elbow that bring the tip to a place: a triangle of two equal sides.
std::array<double, 3> solve(const Mark &mark)
{
    const double shoulderHeight = 0.25, link = 0.4;  // m; the upper arm is as long as the forearm
    const double out = std::hypot(mark.x, mark.y), up = mark.z - shoulderHeight;
    const double bend = 2.0 * std::acos(std::min(std::hypot(out, up) / (2.0 * link), 1.0));
    return { { std::atan2(mark.y, mark.x), std::atan2(up, out) + 0.5 * bend, -bend } };
}

}  // namespace

int main()
{
    const Mark marks[] = { { "red", 0.55, 0.2, 0.25 }, { "green", 0.45, -0.35, 0.45 }, { "blue", 0.3, 0.35, 0.65 } };
    const double period = 3.0;  // s for each mark

    webots::Robot robot;
    const int step = static_cast<int>(robot.getBasicTimeStep());
    webots::Motor *motors[3] = { robot.getMotor("waist"), robot.getMotor("shoulder"), robot.getMotor("elbow") };
    webots::GPS *tip = robot.getGPS("tip");
    tip->enable(step);

    int reached = 0;
    std::array<double, 3> angles = solve(marks[0]);
    while (robot.step(step) != -1) {
        for (int i = 0; i < 3; i++)
            motors[i]->setPosition(angles[i]);
        if (robot.getTime() < period * (reached + 1))
            continue;
        const Mark &mark = marks[reached % 3];
        const double *at = tip->getValues();
        const double away = std::hypot(std::hypot(at[0] - mark.x, at[1] - mark.y), at[2] - mark.z);
        std::printf("%s: %.1f mm from the mark\n", mark.name, 1000.0 * away);
        angles = solve(marks[++reached % 3]);
    }
    return 0;
}
