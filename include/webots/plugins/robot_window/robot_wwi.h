/* plugins/robot_window/robot_wwi.h - messages to and from the robot window. */
#ifndef WEBOTS_PLUGINS_ROBOT_WINDOW_ROBOT_WWI_H
#define WEBOTS_PLUGINS_ROBOT_WINDOW_ROBOT_WWI_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

const char *wb_robot_wwi_receive(int *size);
const char *wb_robot_wwi_receive_text(void);
void wb_robot_wwi_send(const char *data, int size);
void wb_robot_wwi_send_text(const char *text);

#ifdef __cplusplus
}
#endif

#endif
