/* device/display.h - the names that releases before 6 had. */
#ifndef DEVICE_DISPLAY_H
#define DEVICE_DISPLAY_H

#include <device/types.h>
#include <webots/display.h>

#define display_get_width wb_display_get_width
#define display_get_height wb_display_get_height
#define display_set_color wb_display_set_color
#define display_set_alpha wb_display_set_alpha
#define display_set_opacity wb_display_set_opacity
#define display_set_font wb_display_set_font
#define display_attach_camera wb_display_attach_camera
#define display_detach_camera wb_display_detach_camera
#define display_draw_pixel wb_display_draw_pixel
#define display_draw_line wb_display_draw_line
#define display_draw_rectangle wb_display_draw_rectangle
#define display_draw_oval wb_display_draw_oval
#define display_draw_polygon wb_display_draw_polygon
#define display_draw_text wb_display_draw_text
#define display_fill_rectangle wb_display_fill_rectangle
#define display_fill_oval wb_display_fill_oval
#define display_fill_polygon wb_display_fill_polygon
#define display_image_new wb_display_image_new
#define display_image_load wb_display_image_load
#define display_image_copy wb_display_image_copy
#define display_image_paste wb_display_image_paste
#define display_image_save wb_display_image_save
#define display_image_delete wb_display_image_delete

#endif
