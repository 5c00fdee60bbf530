// A person steers: keys and mouse; a motion is played; colours for the console.
#include <webots/Keyboard.hpp>
#include <webots/Motor.hpp>
#include <webots/Mouse.hpp>
#include <webots/Robot.hpp>
#include <webots/utils/AnsiCodes.hpp>
#include <webots/utils/Motion.hpp>
using namespace webots;
int main() {
  Robot robot;
  robot.getKeyboard()->enable(32);
  robot.getMouse()->enable(32);
  Motion wave("wave.motion");
  wave.play();
  int ups = 0;
  for (int i = 0; i < 20; i++) {
    robot.step(32);
    for (int key = robot.getKeyboard()->getKey(); key != -1; key = robot.getKeyboard()->getKey())
      ups += key == Keyboard::UP;
  }
  const MouseState state = robot.getMouse()->getState();
  std::cout << "RESULT " << (ups > 5) << " " << state.u << " " << wave.isValid() << " " << wave.isOver() << " "
            << robot.getMotor("motor")->getTargetPosition() << " " << std::string(ANSI_RED_FOREGROUND).size() << std::endl;
}
