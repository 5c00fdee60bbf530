#include <webots/Receiver.hpp>
#include <webots/Robot.hpp>
int main() {
  webots::Robot robot;
  webots::Receiver *receiver = robot.getReceiver("receiver");
  receiver->enable(32);
  while (robot.step(32) != -1 && receiver->getQueueLength() == 0)
    ;
  std::cout << "RESULT " << static_cast<const char *>(receiver->getData()) << " " << receiver->getDataSize() << std::endl;
}
