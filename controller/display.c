// display.c - displays: drawn here, on the processor, into an image of their own (ARGB, top row first). Rows that
// changed go to the simulator with the next step when a shape of the world shows them.
#include "core.h"

#include <webots/display.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wshadow"
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>
#define STB_EASY_FONT_IMPLEMENTATION
#include <stb/stb_easy_font.h>
#pragma GCC diagnostic pop
// stb declares more than it defines, which is said at the end of the file.
#pragma GCC diagnostic ignored "-Wunused-function"

struct WbImageStructPrivate {
    int width, height;
    uint32_t pixels[];
};

typedef struct Canvas {
    int width, height;
    int color;
    double alpha, opacity;
    int font_size;
    int changed_first, changed_end;  // rows that the simulator does not know yet
    uint32_t pixels[];
} Canvas;

static Canvas *canvas(WbDeviceTag tag, const char *who)
{
    CoreDevice *device = core_device(tag, (const WbNodeType[]){ WB_NODE_DISPLAY, WB_NODE_NO_NODE }, who);
    if (device && !device->own) {
        int width = (int)core_constant(device, 0), height = (int)core_constant(device, 1);
        Canvas *fresh = calloc(1, sizeof *fresh + (size_t)width * (size_t)height * sizeof(uint32_t));
        *fresh = (Canvas){
            .width = width, .height = height, .color = 0xffffff, .alpha = 1.0, .opacity = 1.0, .font_size = 8
        };
        for (int i = 0; i < width * height; i++)
            fresh->pixels[i] = 0xff000000u;
        device->own = fresh;
    }
    return device ? device->own : NULL;
}
#define CANVAS(tag) canvas((tag), __func__)

static void row_changed(Canvas *at, int row)
{
    assert_debug(at->changed_first <= at->changed_end);
    assert(row >= 0 && row < at->height);
    if (at->changed_end == at->changed_first)
        at->changed_first = row, at->changed_end = row + 1;
    at->changed_first = int_min(at->changed_first, row);
    at->changed_end = int_max(at->changed_end, row + 1);
}

enum { DRAW, ATTACH };

static void send_rows(WbDeviceTag tag, const Canvas *at, int first, int rows)
{
    assert_debug(at->width > 0);
    assert(first >= 0 && rows >= 0 && first + rows <= at->height);
    size_t count = (size_t)rows * (size_t)at->width;
    unsigned char *bytes = malloc(4 * count);
    for (size_t i = 0; bytes && i < count; i++) {
        uint32_t pixel = at->pixels[(size_t)first * (size_t)at->width + i];
        memcpy(bytes + 4 * i,
               (unsigned char[]){ (unsigned char)(pixel >> 16), (unsigned char)(pixel >> 8), (unsigned char)pixel,
                                  (unsigned char)(pixel >> 24) },
               4);
    }
    if (bytes)
        core_command(tag, DRAW, (double[]){ first, rows }, 2, bytes, (int)(4 * count));
    free(bytes);
}

void core_send_displays(void)
{
    enum { IS_SEEN = 2, BYTES_AT_ONCE = 1 << 20 };
    for (int tag = 1; tag < core.device_count; tag++) {
        CoreDevice *device = &core.devices[tag];
        Canvas *at = device->type == WB_NODE_DISPLAY ? device->own : NULL;
        if (!at || at->changed_first == at->changed_end)
            continue;
        assert(at->changed_first >= 0 && at->changed_end <= at->height);
        int row = at->changed_first, end = at->changed_end, at_once = int_max(BYTES_AT_ONCE / (4 * at->width), 1);
        at->changed_first = at->changed_end = 0;
        for (; core_constant(device, IS_SEEN) != 0.0 && row < end; row += at_once)
            send_rows((WbDeviceTag)tag, at, row, int_min(at_once, end - row));
    }
}

int wb_display_get_width(WbDeviceTag tag)
{
    const Canvas *at = CANVAS(tag);
    return at ? at->width : -1;
}

int wb_display_get_height(WbDeviceTag tag)
{
    const Canvas *at = CANVAS(tag);
    return at ? at->height : -1;
}

void wb_display_set_color(WbDeviceTag tag, int color)
{
    Canvas *at = CANVAS(tag);
    if (at)
        at->color = color & 0xffffff;
}

void wb_display_set_alpha(WbDeviceTag tag, double alpha)
{
    Canvas *at = CANVAS(tag);
    if (at)
        at->alpha = double_clamp(alpha, 0.0, 1.0);
}

void wb_display_set_opacity(WbDeviceTag tag, double opacity)
{
    Canvas *at = CANVAS(tag);
    if (at)
        at->opacity = double_clamp(opacity, 0.0, 1.0);
}

void wb_display_set_font(WbDeviceTag tag, const char *font, int size, bool anti_aliasing)
{
    Canvas *at = CANVAS(tag);
    (void)font, (void)anti_aliasing;
    if (at && size > 0)
        at->font_size = size;
}

// Where nothing was drawn the camera's picture is seen.
void wb_display_attach_camera(WbDeviceTag tag, WbDeviceTag camera_tag)
{
    Canvas *at = CANVAS(tag);
    if (!at || !CORE_DEVICE(camera_tag, WB_NODE_CAMERA))
        return;
    for (int i = 0; i < at->width * at->height; i++)
        if (at->pixels[i] == 0xff000000u) {
            at->pixels[i] = 0;
            row_changed(at, i / at->width);
        }
    core_command(tag, ATTACH, (double[]){ camera_tag }, 1, NULL, 0);
}

void wb_display_detach_camera(WbDeviceTag tag)
{
    if (CANVAS(tag))
        core_command(tag, ATTACH, (double[]){ 0 }, 1, NULL, 0);
}

// ---- drawing ----

static uint32_t mix(uint32_t under, uint32_t over, double share)
{
    uint32_t result = 0;
    for (int shift = 0; shift < 32; shift += 8) {
        double a = (double)(under >> shift & 0xff), b = (double)(over >> shift & 0xff);
        result |= (uint32_t)(a + (b - a) * share + 0.5) << shift;
    }
    return result;
}

static void plot(Canvas *at, int x, int y)
{
    if (x < 0 || y < 0 || x >= at->width || y >= at->height)
        return;
    uint32_t *pixel = &at->pixels[y * at->width + x];
    uint32_t ink = (uint32_t)(at->alpha * 255.0 + 0.5) << 24 | (uint32_t)at->color;
    *pixel = mix(*pixel, ink, at->opacity);
    row_changed(at, y);
}

void wb_display_draw_pixel(WbDeviceTag tag, int x, int y)
{
    Canvas *at = CANVAS(tag);
    if (at)
        plot(at, x, y);
}

// Lines far outside are cut to the canvas first, so that their length is bounded.
static bool cut(const Canvas *at, double *x1, double *y1, double *x2, double *y2)
{
    double near = 0.0, far = 1.0, dx = *x2 - *x1, dy = *y2 - *y1;
    double p[4] = { -dx, dx, -dy, dy }, q[4] = { *x1 + 1, at->width - *x1, *y1 + 1, at->height - *y1 };
    for (int i = 0; i < 4; i++) {
        if (p[i] == 0.0 && q[i] < 0.0)
            return false;
        if (p[i] < 0.0 && q[i] / p[i] > near)
            near = q[i] / p[i];
        if (p[i] > 0.0 && q[i] / p[i] < far)
            far = q[i] / p[i];
    }
    if (near > far)
        return false;
    double x = *x1, y = *y1;
    *x1 = x + near * dx, *y1 = y + near * dy, *x2 = x + far * dx, *y2 = y + far * dy;
    return true;
}

static void line(Canvas *at, int xa, int ya, int xb, int yb)
{
    double x1 = xa, y1 = ya, x2 = xb, y2 = yb;
    if (!cut(at, &x1, &y1, &x2, &y2))
        return;
    double dx = x2 - x1, dy = y2 - y1;
    int steps = (int)(__builtin_fabs(dx) > __builtin_fabs(dy) ? __builtin_fabs(dx) : __builtin_fabs(dy)) + 1;
    for (int i = 0; i <= steps; i++)
        plot(at, (int)__builtin_lround(x1 + dx * i / steps), (int)__builtin_lround(y1 + dy * i / steps));
}

static void span(Canvas *at, int x1, int x2, int y)
{
    for (int x = int_max(x1, 0); x <= int_min(x2, at->width - 1); x++)
        plot(at, x, y);
}

void wb_display_draw_line(WbDeviceTag tag, int x1, int y1, int x2, int y2)
{
    Canvas *at = CANVAS(tag);
    if (at)
        line(at, x1, y1, x2, y2);
}

void wb_display_draw_rectangle(WbDeviceTag tag, int x, int y, int width, int height)
{
    Canvas *at = CANVAS(tag);
    if (!at || width < 1 || height < 1)
        return;
    line(at, x, y, x + width - 1, y);
    line(at, x, y + height - 1, x + width - 1, y + height - 1);
    line(at, x, y, x, y + height - 1);
    line(at, x + width - 1, y, x + width - 1, y + height - 1);
}

void wb_display_fill_rectangle(WbDeviceTag tag, int x, int y, int width, int height)
{
    Canvas *at = CANVAS(tag);
    for (int row = int_max(y, 0); at && row < int_min(y + height, at->height); row++)
        span(at, x, x + width - 1, row);
}

// Half the width of an oval at the outer edge of a row, as Webots rounds it.
static int oval_reach(int a, int b, int dy)
{
    int away = dy < 0 ? -dy : dy;
    double share = b > 0 ? (away + 0.5) / b : 0.0;
    return away > b ? -1 : share >= 1.0 ? 0 : (int)(a * __builtin_sqrt(1.0 - share * share) + 0.5);
}

void wb_display_fill_oval(WbDeviceTag tag, int cx, int cy, int a, int b)
{
    Canvas *at = CANVAS(tag);
    for (int y = at && a >= 0 && b >= 0 ? int_max(cy - b, 0) : 0;
         at && a >= 0 && b >= 0 && y <= int_min(cy + b, at->height - 1); y++) {
        int reach = oval_reach(a, b, y - cy);
        if (reach >= 0)
            span(at, cx - reach, cx + reach, y);
    }
}

void wb_display_draw_oval(WbDeviceTag tag, int cx, int cy, int a, int b)
{
    Canvas *at = CANVAS(tag);
    if (!at || a < 0 || b < 0)
        return;
    int corners = int_min(int_max(8, 2 * int_max(a, b)), 720);
    int px = cx + a, py = cy;
    for (int i = 1; i <= corners; i++) {
        double angle = 2.0 * 3.14159265358979 * i / corners;
        int x = cx + (int)__builtin_lround(a * __builtin_cos(angle)),
            y = cy + (int)__builtin_lround(b * __builtin_sin(angle));
        line(at, px, py, x, y);
        px = x, py = y;
    }
}

void wb_display_draw_polygon(WbDeviceTag tag, const int *x, const int *y, int size)
{
    Canvas *at = CANVAS(tag);
    for (int i = 0; at && x && y && i < size; i++)
        line(at, x[i], y[i], x[(i + 1) % size], y[(i + 1) % size]);
}

void wb_display_fill_polygon(WbDeviceTag tag, const int *x, const int *y, int size)
{
    Canvas *at = CANVAS(tag);
    for (int row = 0; at && x && y && size > 2 && row < at->height; row++)
        for (int column = 0; column < at->width; column++) {
            bool is_inside = false;
            for (int i = 0, k = size - 1; i < size; k = i++)
                if ((y[i] > row) != (y[k] > row)
                    && column < (double)(x[k] - x[i]) * (row - y[i]) / (y[k] - y[i]) + x[i])
                    is_inside = !is_inside;
            if (is_inside)
                plot(at, column, row);
        }
    wb_display_draw_polygon(tag, x, y, size);
}

void wb_display_draw_text(WbDeviceTag tag, const char *text, int x, int y)
{
    Canvas *at = CANVAS(tag);
    if (!at || !text)
        return;
    enum { ROOM = 1 << 18 };
    char *vertices = malloc(ROOM);
    char *copy = strdup(text);
    int quads = stb_easy_font_print(0, 0, copy, NULL, vertices, ROOM);
    double scale = at->font_size / 8.0;
    for (int i = 0; i < quads; i++) {
        float corners[4][4];
        memcpy(corners, vertices + (size_t)i * sizeof corners, sizeof corners);
        for (int row = (int)(corners[0][1] * scale); row < (int)(corners[2][1] * scale + 0.999); row++)
            span(at, x + (int)(corners[0][0] * scale), x + (int)(corners[2][0] * scale + 0.999) - 1, y + row);
    }
    free(copy);
    free(vertices);
}

// ---- images ----

static WbImageRef new_image(int width, int height)
{
    assert_debug(width > 0 && height > 0);
    WbImageRef image = calloc(1, sizeof *image + (size_t)width * (size_t)height * sizeof(uint32_t));
    image->width = width;
    image->height = height;
    return image;
}

// Where red, green, blue and alpha stand in a pixel of each format; -1: absent.
static const struct {
    int format, bytes, place[4];
} formats[] = {
    { WB_IMAGE_RGB, 3, { 0, 1, 2, -1 } }, { WB_IMAGE_RGBA, 4, { 0, 1, 2, 3 } }, { WB_IMAGE_ARGB, 4, { 1, 2, 3, 0 } },
    { WB_IMAGE_BGRA, 4, { 2, 1, 0, 3 } }, { WB_IMAGE_ABGR, 4, { 3, 2, 1, 0 } },
};

WbImageRef wb_display_image_new(WbDeviceTag tag, int width, int height, const void *data, int format)
{
    if (!CANVAS(tag) || width < 1 || height < 1 || width > 16384 || height > 16384 || !data)
        return NULL;
    for (int f = 0; f < COUNT_OF(formats); f++) {
        if (formats[f].format != format)
            continue;
        WbImageRef image = new_image(width, height);
        for (int i = 0; i < width * height; i++) {
            const unsigned char *pixel = (const unsigned char *)data + (size_t)i * (size_t)formats[f].bytes;
            const int *place = formats[f].place;
            uint32_t alpha = place[3] < 0 ? 255 : pixel[place[3]];
            image->pixels[i] = alpha << 24 | (uint32_t)pixel[place[0]] << 16 | (uint32_t)pixel[place[1]] << 8
                               | pixel[place[2]];
        }
        return image;
    }
    core_warn(__func__, "there is no image format %d", format);
    return NULL;
}

WbImageRef wb_display_image_load(WbDeviceTag tag, const char *filename)
{
    int width, height, channels;
    if (!CANVAS(tag) || !filename)
        return NULL;
    unsigned char *data = stbi_load(filename, &width, &height, &channels, 4);
    if (!data) {
        core_warn(__func__, "cannot read the image '%s'", filename);
        return NULL;
    }
    WbImageRef image = wb_display_image_new(tag, width, height, data, WB_IMAGE_RGBA);
    stbi_image_free(data);
    return image;
}

WbImageRef wb_display_image_copy(WbDeviceTag tag, int x, int y, int width, int height)
{
    const Canvas *at = CANVAS(tag);
    if (!at || width < 1 || height < 1 || width > 16384 || height > 16384)
        return NULL;
    WbImageRef image = new_image(width, height);
    assert_debug(image->width == width && image->height == height);
    for (int row = 0; row < height; row++)
        for (int column = 0; column < width; column++)
            if (x + column >= 0 && x + column < at->width && y + row >= 0 && y + row < at->height)
                image->pixels[row * width + column] = at->pixels[(y + row) * at->width + x + column];
    return image;
}

void wb_display_image_paste(WbDeviceTag tag, WbImageRef image, int x, int y, bool blend)
{
    Canvas *at = CANVAS(tag);
    for (int i = 0; at && image && i < image->width * image->height; i++) {
        int column = x + i % image->width, row = y + i / image->width;
        if (column < 0 || row < 0 || column >= at->width || row >= at->height)
            continue;
        uint32_t *pixel = &at->pixels[row * at->width + column];
        double share = blend ? (double)(image->pixels[i] >> 24) / 255.0 : 1.0;
        *pixel = mix(*pixel, image->pixels[i], share * at->opacity);
        row_changed(at, row);
    }
}

void wb_display_image_save(WbDeviceTag tag, WbImageRef image, const char *filename)
{
    const Canvas *at = CANVAS(tag);
    if (!at || !filename)
        return;
    int width = image ? image->width : at->width, height = image ? image->height : at->height;
    const uint32_t *pixels = image ? image->pixels : at->pixels;
    unsigned char *bytes = malloc((size_t)width * (size_t)height * 4);
    for (int i = 0; i < width * height; i++)
        memcpy(bytes + 4 * i,
               (unsigned char[]){ (unsigned char)pixels[i], (unsigned char)(pixels[i] >> 8),
                                  (unsigned char)(pixels[i] >> 16), (unsigned char)(pixels[i] >> 24) },
               4);
    if (!core_save_picture(filename, bytes, width, height, 90))
        core_warn(__func__, "cannot write '%s'", filename);
    free(bytes);
}

void wb_display_image_delete(WbDeviceTag tag, WbImageRef image)
{
    (void)CANVAS(tag);
    free(image);
}

// ---- pictures of other devices ----

static bool is_jpeg_name(const char *path)
{
    const char *suffix = strrchr(path, '.');
    return suffix && (!strcasecmp(suffix, ".jpg") || !strcasecmp(suffix, ".jpeg"));
}

bool core_save_picture(const char *path, const unsigned char *pixels, int width, int height, int quality)
{
    assert_debug(quality >= 1 && quality <= 100);
    assert_debug(path && pixels);
    if (width < 1 || height < 1)
        return false;
    unsigned char *bytes = malloc((size_t)width * (size_t)height * 4);
    for (int i = 0; bytes && i < width * height; i++)
        memcpy(bytes + 4 * i,
               (unsigned char[]){ pixels[4 * i + 2], pixels[4 * i + 1], pixels[4 * i], pixels[4 * i + 3] }, 4);
    int ok = bytes
             && (is_jpeg_name(path) ? stbi_write_jpg(path, width, height, 4, bytes, quality)
                                    : stbi_write_png(path, width, height, 4, bytes, 4 * width));
    free(bytes);
    return ok;
}

static bool write_depth_numbers(const char *path, const float *image, int width, int height)
{
    assert(path && image && width > 0 && height > 0);
    float *colors = malloc((size_t)width * (size_t)height * 3 * sizeof *colors);
    for (int i = 0; colors && i < 3 * width * height; i++)
        colors[i] = image[i / 3];
    bool ok = colors && stbi_write_hdr(path, width, height, 3, colors);
    free(colors);
    return ok;
}

bool core_save_depth(const char *path, const float *image, int width, int height, double low, double high)
{
    assert_debug(path && image);
    const char *suffix = strrchr(path, '.');
    if (width < 1 || height < 1 || !suffix)
        return false;
    if (!strcasecmp(suffix, ".hdr"))
        return write_depth_numbers(path, image, width, height);
    unsigned char *grey = malloc((size_t)width * (size_t)height);
    for (int i = 0; grey && i < width * height; i++) {
        double share = ((double)image[i] - low) / (high - low);
        grey[i] = (unsigned char)(share >= 1.0 ? 255 : share > 0.0 ? 255.0 * share : 0);
    }
    int ok = grey
             && (is_jpeg_name(path)
                     ? stbi_write_jpg(path, width, height, 1, grey, 90)
                     : !strcasecmp(suffix, ".png") && stbi_write_png(path, width, height, 1, grey, width));
    free(grey);
    return ok;
}
