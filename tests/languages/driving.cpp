// driving.cpp - a car is driven, in C++; see driving.c.
#include "behaviour.h"

#include <webots/vehicle/Car.hpp>

using namespace webots;

static void drive(Car &car, const char *label, int steps)
{
  for (int i = 0; i < steps; i++)
    car.step();
  SAY(label, car.getCurrentSpeed(), car.getSteeringAngle(), car.getThrottle(), car.getBrakeIntensity(), car.getRpm(), double(car.getGear()),
      car.getWheelEncoder(Car::WHEEL_REAR_LEFT), car.getWheelSpeed(Car::WHEEL_FRONT_RIGHT), car.getLeftSteeringAngle(), car.getRightSteeringAngle(),
      double(car.getBrakeLights()), double(car.getBackwardsLights()));
}

int main()
{
  Car car;
  car.setCruisingSpeed(20);
  drive(car, "cruising", 40);
  car.setSteeringAngle(0.2);
  car.setIndicator(Driver::INDICATOR_RIGHT);
  drive(car, "turning", 30);
  car.setBrakeIntensity(0.6);
  drive(car, "braking", 20);
  car.setBrakeIntensity(0);
  car.setThrottle(0.4);
  car.setGear(1);
  drive(car, "by throttle", 30);
  car.setGear(-1);
  drive(car, "backwards", 20);
  SAY("done", 1);
  return 0;
}
