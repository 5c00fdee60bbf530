#include "gait.hpp"
double Gait::swing(double time) {
  const double target = 0.5 * sin(time);
  mMotor->setPosition(target);
  return target;
}
