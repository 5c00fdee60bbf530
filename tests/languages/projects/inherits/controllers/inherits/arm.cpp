#include "arm.hpp"

Arm::Arm() : mSensor(NULL), mMotor(NULL), mSteps(0) {
  mSensor = dynamic_cast<CountingSensor *>(getDistanceSensor("distance"));
  mMotor = getMotor("motor");
  mSensor->enable(32);
}

int Arm::step(int duration) {
  mSteps++;
  return Robot::step(duration);
}

void Arm::run() {
  mMotor->setPosition(0.1 * TURNS);
  for (int i = 0; i < 5; i++) {
    step(32);
    mSensor->read();
  }
  std::cout << "RESULT " << mSteps << " " << mSensor->reads << " " << mSensor->read() << " " << mMotor->getTargetPosition() << std::endl;
}
