#ifndef GAIT_HPP
#define GAIT_HPP
#include <webots/Motor.hpp>
// Swings a motor; shared by the controllers of a project.
class Gait {
public:
  explicit Gait(webots::Motor *motor) : mMotor(motor) {}
  double swing(double time);
private:
  webots::Motor *mMotor;
};
#endif
