// A car by the vehicle library, linked as Webots' samples are.
#include <webots/vehicle/Car.hpp>
using namespace webots;
int main() {
  Car *car = new Car();
  car->setCruisingSpeed(30);
  while (car->step() != -1 && car->getTime() < 4)
    car->setSteeringAngle(0.05);
  std::cout << "RESULT " << (car->getCurrentSpeed() > 10) << " " << car->getTargetCruisingSpeed() << " " << (car->getWheelEncoder(Car::WHEEL_REAR_LEFT) > 5)
            << " " << (car->getEngineType() == Car::COMBUSTION_ENGINE) << std::endl;
  delete car;
  return 0;
}
