// @: the loop that every robot program is: wait for the next step, read sensors, command motors.
#include <webots/Robot.hpp>

#include <cstdio>

int main()
{
    webots::Robot robot;
    const int step = static_cast<int>(robot.getBasicTimeStep());
    std::printf("%s starts\n", robot.getName().c_str());
    while (robot.step(step) != -1) {
        // Read sensors, command motors.
    }
    return 0;
}
