#ifndef ARM_HPP
#define ARM_HPP
#include <webots/DistanceSensor.hpp>
#include <webots/Motor.hpp>
#include <webots/Robot.hpp>

// A sensor that counts how often it is read, made by the robot itself.
class CountingSensor : public webots::DistanceSensor {
public:
  explicit CountingSensor(const std::string &name) : webots::DistanceSensor(name), reads(0) {}
  double read() { reads++; return getValue(); }
  int reads;
};

class Arm : public webots::Robot {
public:
  Arm();
  virtual ~Arm() {}
  int step(int duration);
  void run();

protected:
  virtual webots::DistanceSensor *createDistanceSensor(const std::string &name) const { return new CountingSensor(name); }

private:
  CountingSensor *mSensor;
  webots::Motor *mMotor;
  int mSteps;
};
#endif
