// A class of its own that is a Robot, in several sources that the Makefile names; it overrides step and what makes a sensor.
#include "arm.hpp"

int main() {
  Arm arm;
  arm.run();
  return 0;
}
