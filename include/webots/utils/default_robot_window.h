/* utils/default_robot_window.h - default robot window. */
#ifndef WEBOTS_UTILS_DEFAULT_ROBOT_WINDOW_H
#define WEBOTS_UTILS_DEFAULT_ROBOT_WINDOW_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

void wbu_default_robot_window_configure(void);
void wbu_default_robot_window_update(void);

#ifdef __cplusplus
}
#endif

#endif
