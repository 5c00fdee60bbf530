// C++ that calls the functions of C: USE_C_API.
#include <webots/emitter.h>
#include <webots/robot.h>
#include <string>
int main() {
  wb_robot_init();
  WbDeviceTag emitter = wb_robot_get_device("emitter");
  const std::string text = "good day";
  do
    wb_emitter_send(emitter, text.c_str(), static_cast<int>(text.size()) + 1);
  while (wb_robot_step(32) != -1);
  wb_robot_cleanup();
}
