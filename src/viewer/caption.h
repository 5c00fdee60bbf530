// caption.h - words over a picture: labels of supervisors and the speed of a movie, in a plain bitmap font.
#ifndef TALUS_VIEWER_CAPTION_H
#define TALUS_VIEWER_CAPTION_H

#include "base/common.h"

typedef struct Caption {
    const char *text;  // lines are separated by \n; bytes beyond ASCII are shown as ?
    double x, y;       // of its top left corner, in shares of the picture's width and height
    double size;       // height of a line in shares of the picture's height
    bool is_at_right;  // x is that of its right end instead
    uint32_t rgba;
} Caption;

// Lays it over red, green, blue and alpha, rows from the top; what lies outside is cut off.
void caption_draw(uint8_t *pixels, int width, int height, const Caption *caption);

#endif
