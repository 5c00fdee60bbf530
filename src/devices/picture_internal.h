// picture_internal.h - what the files of a picture share: the job of one picture, and how light becomes bytes.
// picture.c leads; picture_trace.c finds the light, picture_effects.c is lens and electronics, picture_segment.c draws
// in colours of recognition, picture_camera.c reads cameras' fields, picture_people.c serves those who look on.
#ifndef TALUS_DEVICES_PICTURE_INTERNAL_H
#define TALUS_DEVICES_PICTURE_INTERNAL_H

#include "devices/devices_internal.h"

enum { RAYS_AT_ONCE = 64, TONES = 256 };
enum { TILE_WIDTH = 16, TILE_HEIGHT = 4 };  // pixels that are traced together, four by two in a packet of rays

// Where the byte of some light is looked up: by the exponent and the first bits of the light, as a float has them, from
// 2^-21 to 2^4 at exposure 1. So fine that no place holds more than two bytes, and the first lies below all that gives
// a byte above 0.
enum {
    GUESS_BITS = 8,
    GUESS_SHIFT = 23 - GUESS_BITS,
    GUESS_FIRST = (127 - 21) << GUESS_BITS,
    GUESSES = 25 << GUESS_BITS
};

// What the first ray of a pixel saw, for its neighbours.
typedef struct PictureSample {
    int visual;  // -1: the sky
    float distance;
    float full[3];      // its light without shadows
    uint8_t share[3];   // that is left of it, of 255
    uint8_t smooth[3];  // the same of all neighbours on the surface
    int8_t normal[3];   // times 127
    bool is_textured;
} PictureSample;

typedef struct PictureJob {
    const Picture *picture;
    const Rays *rays;
    float *light;  // red, green, blue per pixel; NULL: straight to pixels
    float *depth;  // along the axis; NULL: not wanted
    uint8_t *pixels;
    Mat3 turn;                  // of the picture's pose
    PictureSample *samples;     // of the first ray of each pixel; NULL: not kept
    uint8_t *is_rough;          // pixels that want more rays than one; NULL: none do
    uint8_t *is_dim;            // tiles in which something is in a shadow or near something else
    bool has_shadows, is_flat;  // see RaysStyle
    int bands;
    double exposure;
    float tones[TONES + 1];    // from which light on a byte is at least i; after the last: never
    uint8_t guesses[GUESSES];  // the byte at the least light of each place, see picture_guess
} PictureJob;

// A picture's rays by what stays the same for all of them.
typedef struct PictureEye {
    const Picture *picture;
    const Mat3 *turn;
    bool is_plain;           // no lens, on a plane
    double step, left, top;  // of the plane at distance 1
} PictureEye;

static inline uint8_t byte_of(double color) { return (uint8_t)(255.0 * double_clamp(color, 0.0, 1.0) + 0.5); }

static inline int picture_guess(float light)
{
    union {
        float number;
        uint32_t bits;
    } as = { .number = light };
    return int_max(int_min((int)(as.bits >> GUESS_SHIFT) - GUESS_FIRST, GUESSES - 1), 0);
}

static inline uint8_t exposed(const PictureJob *job, float light)
{
    int byte = job->guesses[picture_guess(light > 0.0f ? light * (float)job->exposure : 0.0f)];
    return (uint8_t)(byte + (light >= job->tones[byte + 1]));
}

static inline void write_pixel(uint8_t *pixel, uint8_t red, uint8_t green, uint8_t blue)
{
    pixel[0] = blue;
    pixel[1] = green;
    pixel[2] = red;
    pixel[3] = 255;
}

static inline size_t picture_pixel(const PictureJob *job, int column, int row)
{
    assert_debug(column >= 0 && column < job->picture->view.width && row >= 0 && row < job->picture->view.height);
    return (size_t)row * (size_t)job->picture->view.width + (size_t)column;
}

static inline int tile_columns(const PictureJob *job)
{
    return (job->picture->view.width + TILE_WIDTH - 1) / TILE_WIDTH;
}
static inline int tile_rows(const PictureJob *job)
{
    return (job->picture->view.height + TILE_HEIGHT - 1) / TILE_HEIGHT;
}

// ---- picture_trace.c ----
void picture_tones(double exposure, float tones[TONES + 1]);
void picture_guesses(const float tones[TONES + 1], double exposure, uint8_t guesses[GUESSES]);
PictureEye picture_eye(const PictureJob *job);
Ray picture_ray(const PictureEye *eye, double x, double y, int samples);  // through a place of the picture
// The pixels of a tile, those of a packet beside each other. Returns how many.
int picture_tile(const ImageView *view, int left, int top, int pixels[RAYS_AT_ONCE][2]);
void picture_prepare_flat(PictureJob *job, Rays *rays);  // where the picture is flat
void picture_trace(PictureJob *job, struct Pool *pool);  // light of all pixels, or their bytes where no effect wants it

// ---- picture_segment.c ----
void picture_draw_segments(const PictureJob *job, struct Pool *pool);

// ---- picture_effects.c ----
bool effects_need_light(const Picture *picture);
void effect_bloom(float *light, int width, int height, double threshold);
void effect_flare(const Picture *picture, float *light);
void effect_defocus(const Picture *picture, float *light, const float *depth);
void effect_trail(const Picture *picture, Device *device, float *light);
void effect_noise(const Picture *picture, uint8_t *pixels);
void effect_mask(const Picture *picture, uint8_t *pixels);

#endif
