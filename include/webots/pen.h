/* pen.h - pen. */
#ifndef WEBOTS_PEN_H
#define WEBOTS_PEN_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

void wb_pen_write(WbDeviceTag tag, bool write);
void wb_pen_set_ink_color(WbDeviceTag tag, int color, double density);

#ifdef __cplusplus
}
#endif

#endif
