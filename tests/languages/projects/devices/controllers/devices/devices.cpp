// getDevice and casts, as programs since R2021b write; the Makefile of Webots' wizard; a draft with a main of its own lies beside.
#include <webots/DistanceSensor.hpp>
#include <webots/LED.hpp>
#include <webots/Motor.hpp>
#include <webots/Robot.hpp>

#include <cstdio>
#include <memory>

int main() {
  std::unique_ptr<webots::Robot> robot(new webots::Robot);
  const int timeStep = static_cast<int>(robot->getBasicTimeStep());
  auto *sensor = static_cast<webots::DistanceSensor *>(robot->getDevice("distance"));
  auto *motor = dynamic_cast<webots::Motor *>(robot->getDevice("motor"));
  auto *led = dynamic_cast<webots::LED *>(robot->getDevice("led"));
  sensor->enable(timeStep);
  led->set(1);
  motor->setPosition(0.25);
  for (int i = 0; i < 30; ++i)
    robot->step(timeStep);
  printf("RESULT %s %d %g %d %g %d\n", motor->getName().c_str(), motor->getType() == webots::Motor::ROTATIONAL, sensor->getValue(), led->get(),
         motor->getTargetPosition(), robot->getNumberOfDevices());
  return 0;
}
