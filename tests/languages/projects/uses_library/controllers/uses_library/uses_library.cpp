// A library of the project's own, built by Webots' Makefile, linked by name and found when the program runs.
#include <gait.hpp>
#include <webots/Robot.hpp>
int main() {
  webots::Robot robot;
  Gait gait(robot.getMotor("motor"));
  robot.step(32);
  const double target = gait.swing(1.0);
  robot.step(32);
  std::cout << "RESULT " << (robot.getMotor("motor")->getTargetPosition() == target) << " " << (target > 0.42) << std::endl;
}
