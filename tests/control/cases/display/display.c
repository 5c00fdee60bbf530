// Every drawing function, seen in the picture that it saves.
#include <webots/display.h>

#include "check.h"

#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wsign-compare"
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>

static WbDeviceTag display;

// The pixel of the whole display, or of an image, as 0xAARRGGBB.
static unsigned pixel_of(WbImageRef image, int x, int y)
{
    int width, height, channels;
    wb_display_image_save(display, image, "picture.png");
    unsigned char *data = stbi_load("picture.png", &width, &height, &channels, 4);
    if (!data || x >= width || y >= height)
        return 1;
    const unsigned char *p = data + 4 * (y * width + x);
    unsigned value = (unsigned)p[3] << 24 | (unsigned)p[0] << 16 | (unsigned)p[1] << 8 | p[2];
    stbi_image_free(data);
    return value;
}

static unsigned pixel(int x, int y) { return pixel_of(NULL, x, y); }

static int count(unsigned color)
{
    int found = 0, width, height, channels;
    wb_display_image_save(display, NULL, "picture.png");
    unsigned char *data = stbi_load("picture.png", &width, &height, &channels, 4);
    for (int i = 0; data && i < width * height; i++)
        found += ((unsigned)data[4 * i + 3] << 24 | (unsigned)data[4 * i] << 16 | (unsigned)data[4 * i + 1] << 8
                  | data[4 * i + 2])
                 == color;
    stbi_image_free(data);
    return found;
}

static void clear(void)
{
    wb_display_set_alpha(display, 1.0);
    wb_display_set_opacity(display, 1.0);
    wb_display_set_color(display, 0x000000);
    wb_display_fill_rectangle(display, 0, 0, 40, 30);
    wb_display_set_color(display, 0xff8000);
}

static void shapes(void)
{
    const unsigned ink = 0xffff8000u, paper = 0xff000000u;
    clear();
    wb_display_draw_pixel(display, 3, 4);
    wb_display_draw_pixel(display, -1, 4);
    wb_display_draw_pixel(display, 40, 30);
    CHECK(count(ink) == 1 && pixel(3, 4) == ink && pixel(4, 3) == paper);
    clear();
    wb_display_draw_line(display, 2, 2, 12, 2);
    CHECK(pixel(2, 2) == ink && pixel(12, 2) == ink && pixel(13, 2) == paper && pixel(7, 3) == paper);
    wb_display_draw_line(display, -1000000, 20, 1000000, 20);
    CHECK(pixel(0, 20) == ink && pixel(39, 20) == ink);
    clear();
    wb_display_draw_rectangle(display, 5, 5, 10, 8);
    CHECK(pixel(5, 5) == ink && pixel(14, 12) == ink && pixel(15, 12) == paper && pixel(8, 8) == paper);
    wb_display_fill_rectangle(display, 5, 5, 10, 8);
    CHECK(pixel(8, 8) == ink);
    clear();
    wb_display_draw_oval(display, 20, 15, 8, 5);
    CHECK(pixel(28, 15) == ink && pixel(12, 15) == ink && pixel(20, 10) == ink && pixel(20, 15) == paper
          && pixel(28, 11) == paper);
    wb_display_fill_oval(display, 20, 15, 8, 5);
    CHECK(pixel(20, 15) == ink && pixel(28, 11) == paper);
    clear();
    const int x[3] = { 5, 25, 5 }, y[3] = { 5, 5, 25 };
    wb_display_draw_polygon(display, x, y, 3);
    CHECK(pixel(5, 15) == ink && pixel(15, 5) == ink && pixel(9, 9) == paper && pixel(24, 24) == paper);
    wb_display_fill_polygon(display, x, y, 3);
    CHECK(pixel(9, 9) == ink && pixel(24, 24) == paper);
    clear();
    wb_display_set_font(display, "Arial", 10, true);
    wb_display_draw_text(display, "Hi", 2, 2);
    CHECK(count(ink) > 10 && pixel(39, 29) == paper);
    clear();
    wb_display_set_opacity(display, 0.5);
    wb_display_draw_pixel(display, 1, 1);
    CHECK(pixel(1, 1) == 0xff804000u);
    wb_display_set_opacity(display, 1.0);
    wb_display_set_alpha(display, 0.0);
    wb_display_draw_pixel(display, 1, 1);
    CHECK(pixel(1, 1) >> 24 == 0);
}

static void images(void)
{
    static const unsigned char rgb[6] = { 255, 0, 0, 0, 0, 255 }, argb[4] = { 128, 0, 255, 0 };
    clear();
    WbImageRef two = wb_display_image_new(display, 2, 1, rgb, WB_IMAGE_RGB);
    CHECK(two && pixel_of(two, 0, 0) == 0xffff0000u && pixel_of(two, 1, 0) == 0xff0000ffu);
    wb_display_image_paste(display, two, 10, 10, false);
    wb_display_image_paste(display, two, 39, 29, false);  // half of it is outside
    CHECK(pixel(10, 10) == 0xffff0000u && pixel(11, 10) == 0xff0000ffu && pixel(12, 10) == 0xff000000u
          && pixel(39, 29) == 0xffff0000u);
    WbImageRef half = wb_display_image_new(display, 1, 1, argb, WB_IMAGE_ARGB);
    wb_display_image_paste(display, half, 20, 20, true);
    CHECK((pixel(20, 20) & 0xff00) > 0x7000 && (pixel(20, 20) & 0xff00) < 0x9000);
    WbImageRef copy = wb_display_image_copy(display, 9, 10, 4, 1);
    CHECK(copy && pixel_of(copy, 1, 0) == 0xffff0000u && pixel_of(copy, 0, 0) == 0xff000000u);
    wb_display_image_save(display, copy, "copy.png");
    WbImageRef loaded = wb_display_image_load(display, "copy.png");
    CHECK(loaded && pixel_of(loaded, 2, 0) == 0xff0000ffu);
    CHECK(!wb_display_image_load(display, "nothing.png") && !wb_display_image_new(display, 2, 1, rgb, 99));
    CHECK(!wb_display_image_new(display, 0, 1, rgb, WB_IMAGE_RGB)
          && !wb_display_image_new(display, 2, 1, NULL, WB_IMAGE_RGB));
    CHECK(!wb_display_image_copy(display, 0, 0, -1, 5) && !wb_display_image_load(display, NULL));
    wb_display_image_paste(display, NULL, 0, 0, true);
    wb_display_image_delete(display, two);
    wb_display_image_delete(display, half);
    wb_display_image_delete(display, copy);
    wb_display_image_delete(display, loaded);
    wb_display_image_delete(display, NULL);
}

int main(void)
{
    wb_robot_init();
    display = wb_robot_get_device("display");
    CHECK(wb_display_get_width(display) == 40 && wb_display_get_height(display) == 30);
    CHECK(wb_display_get_width(0) == -1 && wb_display_get_height(wb_robot_get_device("camera")) == -1);
    shapes();
    images();
    wb_display_draw_polygon(display, NULL, NULL, 3);
    wb_display_fill_polygon(display, NULL, NULL, 3);
    wb_display_draw_text(display, NULL, 0, 0);
    wb_display_draw_line(0, 0, 0, 1, 1);
    wb_display_attach_camera(display, wb_robot_get_device("camera"));
    wb_display_detach_camera(display);
    return check_done();
}
