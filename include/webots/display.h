/* display.h - display: a picture that the controller draws. */
#ifndef WEBOTS_DISPLAY_H
#define WEBOTS_DISPLAY_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { WB_IMAGE_RGB = 3, WB_IMAGE_RGBA = 4, WB_IMAGE_ARGB = 5, WB_IMAGE_BGRA = 6, WB_IMAGE_ABGR = 7 };

int wb_display_get_width(WbDeviceTag tag);
int wb_display_get_height(WbDeviceTag tag);
void wb_display_set_color(WbDeviceTag tag, int color);
void wb_display_set_alpha(WbDeviceTag tag, double alpha);
void wb_display_set_opacity(WbDeviceTag tag, double opacity);
void wb_display_set_font(WbDeviceTag tag, const char *font, int size, bool anti_aliasing);
void wb_display_attach_camera(WbDeviceTag tag, WbDeviceTag camera_tag);
void wb_display_detach_camera(WbDeviceTag tag);
void wb_display_draw_pixel(WbDeviceTag tag, int x, int y);
void wb_display_draw_line(WbDeviceTag tag, int x1, int y1, int x2, int y2);
void wb_display_draw_rectangle(WbDeviceTag tag, int x, int y, int width, int height);
void wb_display_draw_oval(WbDeviceTag tag, int cx, int cy, int a, int b);
void wb_display_draw_polygon(WbDeviceTag tag, const int *x, const int *y, int size);
void wb_display_draw_text(WbDeviceTag tag, const char *text, int x, int y);
void wb_display_fill_rectangle(WbDeviceTag tag, int x, int y, int width, int height);
void wb_display_fill_oval(WbDeviceTag tag, int cx, int cy, int a, int b);
void wb_display_fill_polygon(WbDeviceTag tag, const int *x, const int *y, int size);
WbImageRef wb_display_image_new(WbDeviceTag tag, int width, int height, const void *data, int format);
WbImageRef wb_display_image_load(WbDeviceTag tag, const char *filename);
WbImageRef wb_display_image_copy(WbDeviceTag tag, int x, int y, int width, int height);
void wb_display_image_paste(WbDeviceTag tag, WbImageRef image, int x, int y, bool blend);
/* Before R2018 there was no blend: calls with four arguments cover what is below. */
static inline void wb_display_image_paste_plain(WbDeviceTag tag, WbImageRef image, int x, int y)
{
    wb_display_image_paste(tag, image, x, y, false);
}
#define WB_DISPLAY_SIXTH(a, b, c, d, e, f, ...) f
#define wb_display_image_paste(...)                                                                                    \
    WB_DISPLAY_SIXTH(__VA_ARGS__, wb_display_image_paste, wb_display_image_paste_plain, 0, 0, 0, 0)(__VA_ARGS__)
void wb_display_image_save(WbDeviceTag tag, WbImageRef image, const char *filename);
void wb_display_image_delete(WbDeviceTag tag, WbImageRef image);

#ifdef __cplusplus
}
#endif

#endif
