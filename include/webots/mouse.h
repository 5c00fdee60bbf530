/* mouse.h - mouse. */
#ifndef WEBOTS_MOUSE_H
#define WEBOTS_MOUSE_H

#include <webots/types.h>
#include <webots/mouse_state.h>

#ifdef __cplusplus
extern "C" {
#endif

void wb_mouse_enable(int sampling_period);
void wb_mouse_disable(void);
int wb_mouse_get_sampling_period(void);
void wb_mouse_enable_3d_position(void);
void wb_mouse_disable_3d_position(void);
bool wb_mouse_is_3d_position_enabled(void);
WbMouseState wb_mouse_get_state(void);

#ifdef __cplusplus
}
#endif

#endif
