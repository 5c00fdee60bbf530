#include <webots/Robot.hpp>
int main() { webots::Robot robot; return robot.step(32); }
