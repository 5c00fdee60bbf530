// picture_effects.c - what lens, film and electronics make of the light of a picture: glow, flare, focus, blur of
// motion, noise, mask.
#include "devices/picture_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

// ---- what lenses do ----

static int place_in(int x, int count) { return int_max(int_min(x, count - 1), 0); }

// A blur of 1 4 6 4 1 in one direction, `step` pixels apart.
static void blur_one_way(const float *from, float *to, int width, int height, int dx, int dy)
{
    assert_debug(from != to && width > 0 && height > 0);
    static const float weights[5] = { 0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f };
    for (int row = 0; row < height; row++)
        for (int column = 0; column < width; column++) {
            float *out = to + 3 * ((size_t)row * (size_t)width + (size_t)column);
            out[0] = out[1] = out[2] = 0.0f;
            for (int k = -2; k <= 2; k++) {
                const float *in = from
                                  + 3
                                        * ((size_t)place_in(row + k * dy, height) * (size_t)width
                                           + (size_t)place_in(column + k * dx, width));
                for (int c = 0; c < 3; c++)
                    out[c] += weights[k + 2] * in[c];
            }
        }
}

static void blur(float *image, float *scratch, int width, int height, int step)
{
    blur_one_way(image, scratch, width, height, step, 0);
    blur_one_way(scratch, image, width, height, 0, step);
}

// The part of a picture in which something glows.
typedef struct Part {
    int left, top, width, height;
} Part;

static Part bright_part(const float *light, int width, int height, double threshold)
{
    int low[2] = { width, height }, high[2] = { -1, -1 };
    for (int row = 0; row < height; row++)
        for (int column = 0; column < width; column++, light += 3) {
            if (0.2126 * (double)light[0] + 0.7152 * (double)light[1] + 0.0722 * (double)light[2] <= threshold)
                continue;
            low[0] = int_min(low[0], column), high[0] = int_max(high[0], column);
            low[1] = int_min(low[1], row), high[1] = row;
        }
    enum { REACH = 2 * (1 + 2 + 4) };  // of the blurs together
    int left = int_max(low[0] - REACH, 0), top = int_max(low[1] - REACH, 0);
    return (Part){ left, top, int_min(high[0] + REACH, width - 1) - left + 1,
                   int_min(high[1] + REACH, height - 1) - top + 1 };
}

// What is brighter than the threshold glows over its surroundings, in three widths.
void effect_bloom(float *light, int width, int height, double threshold)
{
    assert_debug(light && width > 0 && height > 0);
    Part part = bright_part(light, width, height, threshold);
    if (part.width <= 0 || part.height <= 0)
        return;
    size_t row_count = 3 * (size_t)part.width, count = row_count * (size_t)part.height;
    float *bright = memory_alloc_array(count, sizeof *bright), *scratch = memory_alloc_array(count, sizeof *scratch);
    for (int row = 0; row < part.height; row++) {
        const float *from = light + 3 * ((size_t)(part.top + row) * (size_t)width + (size_t)part.left);
        float *to = bright + (size_t)row * row_count;
        for (size_t i = 0; i < row_count; i += 3) {
            bool glows = 0.2126 * (double)from[i] + 0.7152 * (double)from[i + 1] + 0.0722 * (double)from[i + 2]
                         > threshold;
            for (size_t c = i; c < i + 3; c++)
                to[c] = glows ? from[c] : 0.0f;
        }
    }
    for (int step = 1; step <= 4; step *= 2) {
        blur(bright, scratch, part.width, part.height, step);
        for (int row = 0; row < part.height; row++) {
            float *to = light + 3 * ((size_t)(part.top + row) * (size_t)width + (size_t)part.left);
            for (size_t i = 0; i < row_count; i++)
                to[i] += 0.3f * bright[(size_t)row * row_count + i];
        }
    }
    free(bright);
    free(scratch);
}

// From -1 (nearer by the focal length) over 0 (sharp) to 1.5 (far away).
static double sharpness_lost(const Picture *picture, double depth)
{
    double away = (depth + picture->near - picture->focal_distance) / picture->focal_length;
    return fmin(away, 1.5);
}

// Each pixel gathers from a disc that grows with its distance from the focus, up to 5 pixels at one focal length; what
// is sharp and nearer does not bleed into what lies behind.
void effect_defocus(const Picture *picture, float *light, const float *depth)
{
    assert_debug(depth && picture->focal_distance > 0.0);
    enum { TAPS = 12 };
    int width = picture->view.width, height = picture->view.height;
    size_t count = 3 * (size_t)width * (size_t)height;
    float *sharp = memory_alloc_array(count, sizeof *sharp), *soft = memory_alloc_array(count, sizeof *soft),
          *scratch = memory_alloc_array(count, sizeof *scratch);
    memcpy(sharp, light, count * sizeof *sharp);
    memcpy(soft, light, count * sizeof *soft);
    blur(soft, scratch, width, height, 1);
    blur(soft, scratch, width, height, 2);
    for (int row = 0; row < height; row++)
        for (int column = 0; column < width; column++) {
            size_t at = (size_t)row * (size_t)width + (size_t)column;
            double own = sharpness_lost(picture, (double)depth[at]), radius = 5.0 * fabs(own), sum[3] = { 0 },
                   weight = 0.0;
            for (int k = 0; k < TAPS; k++) {
                double reach = 0.5 * radius * sqrt(k / (double)TAPS), angle = 2.39996 * k;  // a sunflower's seeds
                size_t tap = (size_t)place_in(row + (int)lround(reach * sin(angle)), height) * (size_t)width
                             + (size_t)place_in(column + (int)lround(reach * cos(angle)), width);
                double lost = sharpness_lost(picture, (double)depth[tap]), share = fmin(fabs(lost), 1.0);
                double counts = lost >= 0.5 * own + 0.5 ? 1.0 : fmax(fabs(lost), 1e-6);
                for (size_t c = 0; c < 3; c++)
                    sum[c] += counts
                              * ((double)sharp[3 * tap + c]
                                 + share * ((double)soft[3 * tap + c] - (double)sharp[3 * tap + c]));
                weight += counts;
            }
            for (size_t c = 0; c < 3; c++)
                light[3 * at + c] = (float)(sum[c] / weight);
        }
    free(sharp);
    free(soft);
    free(scratch);
}

// Ghosts of bright pixels on the line through the middle, and their glow.
void effect_flare(const Picture *picture, float *light)
{
    int width = picture->view.width, height = picture->view.height;
    size_t count = 3 * (size_t)width * (size_t)height;
    float *ghosts = memory_alloc_array(count, sizeof *ghosts), *scratch = memory_alloc_array(count, sizeof *scratch);
    for (int row = 0; row < height; row++)
        for (int column = 0; column < width; column++)
            for (int k = 1; k <= picture->flare_ghosts; k++) {
                double share = 1.0 - k * picture->flare_dispersal,
                       x = 0.5 * width - share * (column + 0.5 - 0.5 * width),
                       y = 0.5 * height - share * (row + 0.5 - 0.5 * height);
                if (x < 0.0 || y < 0.0 || x >= width || y >= height)
                    continue;
                const float *from = light + 3 * ((size_t)y * (size_t)width + (size_t)x);
                float *to = ghosts + 3 * ((size_t)row * (size_t)width + (size_t)column);
                for (int c = 0; c < 3; c++)
                    to[c] += (float)(picture->flare_scale * fmax((double)from[c] + picture->flare_bias, 0.0));
            }
    blur(ghosts, scratch, width, height, 1);
    blur(ghosts, scratch, width, height, 2);
    for (size_t i = 0; i < count; i++)
        light[i] += ghosts[i];
    free(ghosts);
    free(scratch);
}

// What is left of the pictures before, which must have been made.
void effect_trail(const Picture *picture, Device *device, float *light)
{
    assert_debug(device);
    int count = 3 * picture->view.width * picture->view.height;
    bool is_first = device->trail_count != count || picture->is_first;
    memory_grow(&device->trail, &device->trail_capacity, count, sizeof *device->trail);
    for (int i = 0; i < count; i++) {
        if (!is_first)
            light[i] += (float)picture->blur * (device->trail[i] - light[i]);
        device->trail[i] = light[i];
    }
    device->trail_count = count;
}

bool effects_need_light(const Picture *picture)
{
    return picture->bloom >= 0.0 || picture->focal_distance > 0.0 || picture->blur > 0.0 || picture->flare_ghosts > 0;
}

// ---- electronics ----

// Each row has a noise of its own, so that rows may be made in any order.
void effect_noise(const Picture *picture, uint8_t *pixels)
{
    for (int row = 0; row < picture->view.height; row++) {
        Random random;
        random_seed(&random, picture->seed + (uint64_t)row, "row");
        for (int column = 0; column < picture->view.width; column++, pixels += 4)
            for (int c = 2; c >= 0; c--)
                pixels[c] = byte_of(pixels[c] / 255.0 + picture->noise * random_gaussian(&random));
    }
}

// An image laid over the picture at a place that is another in each picture; small ones are repeated.
void effect_mask(const Picture *picture, uint8_t *pixels)
{
    const Image *mask = picture->mask;
    assert_debug(mask && mask->width > 0 && mask->height > 0);
    double width = picture->view.width, height = picture->view.height,
           factor[2] = { width / mask->width, height / mask->height };
    if (mask->width < width || mask->height < height) {
        bool is_wider = mask->width - width > mask->height - height;
        factor[0] = is_wider ? width / height : 1.0;
        factor[1] = is_wider ? 1.0 : height / width;
    }
    for (int row = 0; row < picture->view.height; row++)
        for (int column = 0; column < picture->view.width; column++, pixels += 4) {
            double u = ((column + 0.5) / width + picture->mask_place[0]) * factor[0],
                   v = ((row + 0.5) / height + picture->mask_place[1]) * factor[1];
            int x = place_in((int)((u - floor(u)) * mask->width), mask->width),
                y = place_in((int)((v - floor(v)) * mask->height), mask->height);
            const uint8_t *over = mask->pixels + 4 * ((size_t)y * (size_t)mask->width + (size_t)x);
            for (int c = 0; c < 3; c++)
                pixels[2 - c] = (uint8_t)(pixels[2 - c] + (over[c] - pixels[2 - c]) * over[3] / 255.0 + 0.5);
        }
}
