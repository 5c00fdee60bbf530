// Built by CMake, which looks for headers and libraries where Webots has them.
#include <greeting.hpp>
#include <webots/Robot.hpp>
int main() {
  webots::Robot robot;
  robot.step(32);
  std::cout << "RESULT " << greeting() << " " << robot.getTime() << std::endl;
}
