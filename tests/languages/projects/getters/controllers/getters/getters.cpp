// Typed getters of older releases, pointers kept in plain variables, a loop until -1. There is no Makefile.
#include <webots/DistanceSensor.hpp>
#include <webots/Motor.hpp>
#include <webots/PositionSensor.hpp>
#include <webots/Robot.hpp>

#define TIME_STEP 32

using namespace webots;
using namespace std;

int main(int argc, char **argv) {
  Robot *robot = new Robot();
  DistanceSensor *distance = robot->getDistanceSensor("distance");
  Motor *motor = robot->getMotor("motor");
  PositionSensor *position = robot->getPositionSensor("position");
  distance->enable(TIME_STEP);
  position->enable(TIME_STEP);
  motor->setPosition(INFINITY);
  motor->setVelocity(1.0);
  int steps = 0;
  while (robot->step(TIME_STEP) != -1 && position->getValue() < 0.5)
    steps++;
  cout << "RESULT " << distance->getValue() << " " << (position->getValue() >= 0.5) << " " << (steps > 10) << " " << (robot->getMotor("distance") == NULL) << endl;
  delete robot;
  return 0;
}
