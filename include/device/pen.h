/* device/pen.h - the names that releases before 6 had. */
#ifndef DEVICE_PEN_H
#define DEVICE_PEN_H

#include <device/types.h>
#include <webots/pen.h>

#define pen_write wb_pen_write
#define pen_set_ink_color wb_pen_set_ink_color

#endif
