// caption.c - quads of stb's bitmap font, scaled and blended over a picture.
#include "viewer/caption.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wshadow"
#include <stb/stb_easy_font.h>
#pragma GCC diagnostic pop

enum { LINE_PIXELS = 12, TEXT_MAX = 2000, QUAD_BYTES = 64, QUADS_PER_LETTER = 8 };

static void fill(uint8_t *pixels, int width, int height, const double corners[4], uint32_t rgba)
{
    assert_debug(width > 0 && height > 0);
    int left = int_max((int)floor(corners[0]), 0), top = int_max((int)floor(corners[1]), 0);
    int right = int_min((int)ceil(corners[2]), width), bottom = int_min((int)ceil(corners[3]), height);
    unsigned alpha = rgba & 255;
    for (int y = top; y < bottom; y++)
        for (int x = left; x < right; x++) {
            uint8_t *pixel = pixels + 4 * ((size_t)y * (size_t)width + (size_t)x);
            for (int k = 0; k < 3; k++) {
                unsigned color = rgba >> (24 - 8 * k) & 255;
                pixel[k] = (uint8_t)((color * alpha + pixel[k] * (255 - alpha) + 127) / 255);
            }
        }
}

void caption_draw(uint8_t *pixels, int width, int height, const Caption *caption)
{
    assert(pixels && caption->text);
    char text[TEXT_MAX + 1];
    size_t length = strnlen(caption->text, TEXT_MAX);
    bool is_sound = isfinite(caption->x) && isfinite(caption->y) && caption->size > 0.0 && caption->size <= 10.0
                    && fabs(caption->x) <= 100.0 && fabs(caption->y) <= 100.0;
    if (length == 0 || !is_sound)
        return;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)caption->text[i];
        text[i] = c == '\n' || (c >= ' ' && c < 127) ? (char)c : '?';
    }
    text[length] = '\0';
    size_t room = length * QUADS_PER_LETTER * QUAD_BYTES;
    char *quads = memory_alloc_raw(room);
    int count = stb_easy_font_print(0, 0, text, NULL, quads, (int)room);
    double scale = caption->size * height / LINE_PIXELS;
    double left = caption->x * width - (caption->is_at_right ? scale * stb_easy_font_width(text) : 0.0);
    double top = caption->y * height;
    for (int i = 0; i < count; i++) {
        float q[4][4];  // four corners of x, y, z and a colour
        memcpy(q, quads + (size_t)i * QUAD_BYTES, sizeof q);
        fill(pixels, width, height,
             (const double[4]){ left + scale * (double)q[0][0], top + scale * (double)q[0][1],
                                left + scale * (double)q[2][0], top + scale * (double)q[2][1] },
             caption->rgba);
    }
    free(quads);
}
