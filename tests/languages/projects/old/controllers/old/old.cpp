// A program of 2010: DifferentialWheels, Servo and a camera that measures depths; one header for all devices, one of another system.
#include <webots/DifferentialWheels.hpp>
#include <Math.h>
using namespace webots;
using namespace std;

class Wheels : public DifferentialWheels {
  Servo *servo;
  Camera *depth;
  auto_ptr<int> count;
public:
  Wheels() : count(new int(0)) {
    servo = getServo("servo");
    depth = getCamera("depth");
    servo->enablePosition(32);
    depth->enable(32);
    enableEncoders(32);
  }
  void run() {
    servo->setPosition(0.2);
    setSpeed(10, 20);
    while (*count < 40 && step(32) != -1)
      ++*count;
    char text[100];
    const float *image = depth->getRangeImage();
    sprintf(text, "RESULT %d %d %d %g %d", fabs(servo->getPosition() - 0.2) < 0.01, getRightEncoder() > 1.5 * getLeftEncoder(), getLeftSpeed() == 10,
            depth->getMaxRange(), Camera::rangeImageGetDepth(image, 4, 1, 1) > 2.9f);
    cout << text << endl;
  }
};

int main() {
  Wheels *wheels = new Wheels();
  wheels->run();
  delete wheels;
  return 0;
}
