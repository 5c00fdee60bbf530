// Several sources in C and C++ without a Makefile: all of the folder but what is a program of its own.
#include <webots/Robot.hpp>
extern "C" int twice(int number);
int three();
int main() {
  webots::Robot robot;
  robot.step(32);
  std::cout << "RESULT " << twice(three()) << " " << robot.getName() << std::endl;
}
