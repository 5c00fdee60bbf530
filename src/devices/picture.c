// picture.c - what cameras see, and people: one ray for each pixel, and four where it differs from its neighbours and
// edges are to be smooth; then what lens, film and electronics make of the light, in the order in which Webots has it:
// glow, focus, blur of motion, exposure, noise, mask.
#include "devices/devices_internal.h"

#include "base/memory.h"
#include "base/pool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PICTURE_PIXELS_MAX = 1 << 21, RAYS_AT_ONCE = 64, TONES = 256 };
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
typedef struct Sample {
    int visual;  // -1: the sky
    float distance;
    float full[3];      // its light without shadows
    uint8_t share[3];   // that is left of it, of 255
    uint8_t smooth[3];  // the same of all neighbours on the surface
    int8_t normal[3];   // times 127
    bool is_textured;
} Sample;

typedef struct Job {
    const Picture *picture;
    const Rays *rays;
    float *light;  // red, green, blue per pixel; NULL: straight to pixels
    float *depth;  // along the axis; NULL: not wanted
    uint8_t *pixels;
    Mat3 turn;                  // of the picture's pose
    Sample *samples;            // of the first ray of each pixel; NULL: not kept
    uint8_t *is_rough;          // pixels that want more rays than one; NULL: none do
    uint8_t *is_dim;            // tiles in which something is in a shadow or near something else
    bool has_shadows, is_flat;  // see RaysStyle
    int bands;
    double exposure;
    float tones[TONES + 1];    // from which light on a byte is at least i; after the last: never
    uint8_t guesses[GUESSES];  // the byte at the least light of each place, see guess_place
} Job;

// ---- light becomes colour ----

static uint8_t byte_of(double color) { return (uint8_t)(255.0 * double_clamp(color, 0.0, 1.0) + 0.5); }

// Exposure and a gamma of 2.2: which byte some light gives is looked up between the lights where the byte grows.
static void tones_of(double exposure, float tones[TONES + 1])
{
    tones[0] = 0.0f;
    tones[TONES] = INFINITY;
    for (int i = 1; i < TONES; i++)
        tones[i] = (float)(-log(1.0 - pow((i - 0.5) / 255.0, 2.2)) / fmax(exposure, 1e-12));
}

static int guess_place(float light)
{
    union {
        float number;
        uint32_t bits;
    } as = { .number = light };
    return int_max(int_min((int)(as.bits >> GUESS_SHIFT) - GUESS_FIRST, GUESSES - 1), 0);
}

static void guesses_of(const float tones[TONES + 1], double exposure, uint8_t guesses[GUESSES])
{
    int byte = 0;
    for (int i = 0; i < GUESSES; i++) {
        union {
            uint32_t bits;
            float number;
        } as = { .bits = (uint32_t)(i + GUESS_FIRST) << GUESS_SHIFT };
        double least = i > 0 ? 0.999999 * (double)as.number / exposure : 0.0;  // the rounding to a float aside
        for (int steps = 0; least >= (double)tones[byte + 1]; steps++, byte++)
            assert(steps == 0);
        guesses[i] = (uint8_t)byte;
    }
}

static inline uint8_t exposed(const Job *job, float light)
{
    int byte = job->guesses[guess_place(light > 0.0f ? light * (float)job->exposure : 0.0f)];
    return (uint8_t)(byte + (light >= job->tones[byte + 1]));
}

static void write_pixel(uint8_t *pixel, uint8_t red, uint8_t green, uint8_t blue)
{
    pixel[0] = blue;
    pixel[1] = green;
    pixel[2] = red;
    pixel[3] = 255;
}

// ---- rays ----

// A picture's rays by what stays the same for all of them.
typedef struct Eye {
    const Picture *picture;
    const Mat3 *turn;
    bool is_plain;           // no lens, on a plane
    double step, left, top;  // of the plane at distance 1
} Eye;

static Eye eye_of(const Job *job)
{
    const ImageView *view = &job->picture->view;
    double step = view->reach / view->width;
    return (Eye){ job->picture, &job->turn,        view->projection == PLANAR && !view->lens.is_there,
                  step,         0.5 * view->reach, 0.5 * step * view->height };
}

static Ray ray_through(const Eye *eye, double x, double y, int samples)
{
    const Picture *picture = eye->picture;
    const double *m = eye->turn->m;
    double spread = picture->spread / samples;
    if (eye->is_plain) {
        double across = eye->left - x * eye->step, above = eye->top - y * eye->step,
               length = sqrt(1.0 + across * across + above * above), slant = 1.0 / length;
        return (Ray){ picture->pose.t,
                      { slant * (m[0] + m[1] * across + m[2] * above), slant * (m[3] + m[4] * across + m[5] * above),
                        slant * (m[6] + m[7] * across + m[8] * above) },
                      picture->near * length,
                      picture->far * length,
                      spread * slant };
    }
    Vec3 direction = image_direction(&picture->view, x, y);
    double slant = picture->view.projection == PLANAR ? fmax(direction.x, 1e-6) : 1.0;
    return (Ray){ picture->pose.t, mat3_apply(*eye->turn, direction), picture->near / slant, picture->far / slant,
                  spread * slant };
}

static RaysStyle style_of(const Job *job)
{
    const Picture *picture = job->picture;
    return (RaysStyle){ .has_shadows = job->has_shadows,
                        .eye = picture->eye,
                        .occlusion = picture->occlusion,
                        .softness = picture->softness,
                        .is_for_people = picture->is_for_people };
}

static bool is_soft(const Picture *picture)
{
    return picture->is_for_people && (picture->occlusion > 0.0 || picture->softness > 0.0);
}

static void put_light(const Job *job, size_t at, const float light[3])
{
    if (job->light)
        memcpy(job->light + 3 * at, light, 3 * sizeof *light);
    if (!job->light || job->is_rough)
        write_pixel(job->pixels + 4 * at, exposed(job, light[0]), exposed(job, light[1]), exposed(job, light[2]));
}

static size_t place_of(const Job *job, int column, int row)
{
    return (size_t)row * (size_t)job->picture->view.width + (size_t)column;
}

// The pixels of a tile, those of a packet beside each other. Returns how many.
static int tile_pixels(const ImageView *view, int left, int top, int pixels[RAYS_AT_ONCE][2])
{
    int count = 0;
    assert(left < view->width && top < view->height);
    for (int i = 0; i < TILE_WIDTH * TILE_HEIGHT; i++) {
        int packet = i / 8, column = left + packet / 2 * 4 + i % 4, row = top + packet % 2 * 2 + i % 8 / 4;
        if (column >= view->width || row >= view->height)
            continue;
        pixels[count][0] = column;
        pixels[count++][1] = row;
    }
    return count;
}

static int tile_columns(const Job *job) { return (job->picture->view.width + TILE_WIDTH - 1) / TILE_WIDTH; }
static int tile_rows(const Job *job) { return (job->picture->view.height + TILE_HEIGHT - 1) / TILE_HEIGHT; }

// Returns whether any of the full light is missing.
static bool keep_sample(Sample *to, const RaySeen *seen)
{
    int dim = 0;
    *to = (Sample){ .visual = seen->visual,
                    .distance = seen->distance,
                    .smooth = { 255, 255, 255 },
                    .is_textured = seen->is_textured };
    for (int c = 0; c < 3; c++) {
        float share = seen->full[c] > 1e-9f && seen->light[c] < seen->full[c] ? seen->light[c] / seen->full[c] : 1.0f;
        to->full[c] = seen->full[c];
        to->share[c] = (uint8_t)(255.0f * share + 0.5f);
        to->normal[c] = (int8_t)(127.0f * seen->normal[c]);
        dim |= to->share[c] ^ 255;
    }
    return dim != 0;
}

static void take_tile(const Job *job, const Eye *eye, int left, int top)
{
    const Picture *picture = job->picture;
    Ray rays[RAYS_AT_ONCE];
    RaySeen seen[RAYS_AT_ONCE];
    int pixels[RAYS_AT_ONCE][2], count = tile_pixels(&picture->view, left, top, pixels);
    RaysStyle style = style_of(job);
    Vec3 axis = vec3(job->turn.m[0], job->turn.m[3], job->turn.m[6]);
    bool is_dim = false;
    assert(count > 0);
    style.pixels = (const int(*)[2])pixels;
    for (int i = 0; i < count; i++)
        rays[i] = ray_through(eye, pixels[i][0] + 0.5, pixels[i][1] + 0.5, 1);
    rays_see(job->rays, rays, count, &style, seen);
    for (int i = 0; i < count; i++) {
        size_t at = place_of(job, pixels[i][0], pixels[i][1]);
        bool is_beyond = !(vec3_length2(rays[i].direction) > 0.0);  // the picture: black
        if (job->depth)
            job->depth[at] = (float)((double)seen[i].distance * vec3_dot(rays[i].direction, axis));
        for (int c = 0; is_beyond && c < 3; c++)
            seen[i].light[c] = seen[i].full[c] = 0.0f;
        if (job->samples)
            is_dim |= keep_sample(&job->samples[at], &seen[i]);
        else
            put_light(job, at, seen[i].light);
    }
    if (job->samples)
        job->is_dim[top / TILE_HEIGHT * tile_columns(job) + left / TILE_WIDTH] = is_dim;
}

static void take_tiles(int begin, int end, int worker, void *context)
{
    (void)worker;
    const Job *job = context;
    Eye eye = eye_of(job);
    for (int row = begin; row < end; row++)
        for (int left = 0; left < job->picture->view.width; left += TILE_WIDTH)
            take_tile(job, &eye, left, row * TILE_HEIGHT);
}

// ---- blocks of flat pictures ----

static RaySeen block_lane(const RaysBlock *block, int lane)
{
    RaySeen seen = { .visual = block->visual[lane],
                     .distance = block->distance[lane],
                     .is_textured = block->is_textured[lane] };
    for (int c = 0; c < 3; c++) {
        seen.normal[c] = block->normal[c][lane];
        seen.light[c] = block->light[c][lane];
        seen.full[c] = block->full[c][lane];
    }
    return seen;
}

static float block_depth(const Job *job, float distance, int column, int row)
{
    const ImageView *view = &job->picture->view;
    double step = view->reach / view->width, across = step * (0.5 * view->width - column - 0.5),
           above = step * (0.5 * view->height - row - 0.5);
    return (float)((double)distance / sqrt(1.0 + across * across + above * above));
}

static void take_block(const Job *job, const RaysStyle *style, int column, int row)
{
    RaysBlock block;
    int width = int_min(job->picture->view.width - column, RAYS_BLOCK_WIDTH),
        height = int_min(job->picture->view.height - row, RAYS_BLOCK_HEIGHT);
    bool is_dim = false;
    rays_see_block(job->rays, column, row, style, &block);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int lane = y * RAYS_BLOCK_WIDTH + x;
            size_t at = place_of(job, column + x, row + y);
            if (job->depth)
                job->depth[at] = block_depth(job, block.distance[lane], column + x, row + y);
            if (job->samples) {
                RaySeen seen = block_lane(&block, lane);
                is_dim |= keep_sample(&job->samples[at], &seen);
            } else {
                put_light(job, at, (float[3]){ block.light[0][lane], block.light[1][lane], block.light[2][lane] });
            }
        }
    if (job->samples)
        job->is_dim[row / TILE_HEIGHT * tile_columns(job) + column / TILE_WIDTH] |= is_dim;
}

static void take_bands(int begin, int end, int worker, void *context)
{
    (void)worker;
    const Job *job = context;
    RaysStyle style = style_of(job);
    for (int band = begin; band < end; band++) {
        int top = band * RAYS_BAND_HEIGHT, bottom = int_min(top + RAYS_BAND_HEIGHT, job->picture->view.height);
        rays_flat_fill(job->rays, band);
        for (int row = top; row < bottom; row += RAYS_BLOCK_HEIGHT)
            for (int column = 0; column < job->picture->view.width; column += RAYS_BLOCK_WIDTH)
                take_block(job, &style, column, row);
    }
}

// ---- soft shadows: few rays for each pixel, and those of its neighbours on the same surface ----

static bool is_same_surface(const Sample *a, const Sample *b)
{
    enum { ALIKE = 15320 };  // 0.95 of 127 squared
    return a->visual == b->visual
           && a->normal[0] * b->normal[0] + a->normal[1] * b->normal[1] + a->normal[2] * b->normal[2] > ALIKE
           && fabsf(a->distance - b->distance) < 0.1f * a->distance;
}

static void smooth_pixel(const Job *job, int column, int row, float share[3])
{
    enum { REACH = 2 };
    const Sample *own = &job->samples[place_of(job, column, row)];
    int width = job->picture->view.width, height = job->picture->view.height, count = 0, sum[3] = { 0 };
    int left = int_max(column - REACH, 0), right = int_min(column + REACH, width - 1);
    for (int y = int_max(row - REACH, 0); y <= int_min(row + REACH, height - 1); y++) {
        const Sample *beside = &job->samples[place_of(job, left, y)];
        for (int x = left; x <= right; x++, beside++) {
            if (beside != own && !is_same_surface(own, beside))
                continue;
            for (int c = 0; c < 3; c++)
                sum[c] += beside->share[c];
            count++;
        }
    }
    for (int c = 0; c < 3; c++)
        share[c] = (float)sum[c] / (255.0f * (float)count);
}

static bool is_dim_around(const Job *job, int tile_column, int tile_row)
{
    int columns = tile_columns(job), rows = tile_rows(job);
    bool is_dim = false;
    for (int y = int_max(tile_row - 1, 0); y <= int_min(tile_row + 1, rows - 1); y++)
        for (int x = int_max(tile_column - 1, 0); x <= int_min(tile_column + 1, columns - 1); x++)
            is_dim |= job->is_dim[y * columns + x];
    return is_dim;
}

static void smooth_tile(const Job *job, int tile_column, int tile_row)
{
    bool is_dim = is_dim_around(job, tile_column, tile_row);
    int pixels[RAYS_AT_ONCE][2],
        count = tile_pixels(&job->picture->view, tile_column * TILE_WIDTH, tile_row * TILE_HEIGHT, pixels);
    for (int i = 0; i < count; i++) {
        size_t at = place_of(job, pixels[i][0], pixels[i][1]);
        float share[3] = { 1.0f, 1.0f, 1.0f }, light[3];
        if (is_dim && job->samples[at].visual >= 0)
            smooth_pixel(job, pixels[i][0], pixels[i][1], share);
        for (int c = 0; c < 3; c++) {
            light[c] = job->samples[at].full[c] * share[c];
            job->samples[at].smooth[c] = (uint8_t)(255.0f * share[c] + 0.5f);
        }
        put_light(job, at, light);
    }
}

static void smooth_tiles(int begin, int end, int worker, void *context)
{
    (void)worker;
    for (int row = begin; row < end; row++)
        for (int column = 0; column < tile_columns(context); column++)
            smooth_tile(context, column, row);
}

// ---- edges: more rays where pixels differ from their neighbours ----

static bool differs(const uint8_t *a, const uint8_t *b)
{
    enum { VISIBLE = 6 };
    return abs(a[0] - b[0]) > VISIBLE || abs(a[1] - b[1]) > VISIBLE || abs(a[2] - b[2]) > VISIBLE;
}

// The pattern of an image is no edge: each pixel shows the mean of what it covers.
static bool is_pattern(const Job *job, size_t a, size_t b)
{
    return job->samples && job->samples[a].is_textured && is_same_surface(&job->samples[a], &job->samples[b]);
}

static void find_edges(int begin, int end, int worker, void *context)
{
    (void)worker;
    const Job *job = context;
    int width = job->picture->view.width, height = job->picture->view.height;
    for (int row = begin; row < end; row++)
        for (int column = 0; column < width; column++) {
            size_t own = place_of(job, column, row);
            bool is_rough = false;
            for (int y = int_max(row - 1, 0); y <= int_min(row + 1, height - 1) && !is_rough; y++)
                for (int x = int_max(column - 1, 0); x <= int_min(column + 1, width - 1); x++) {
                    size_t beside = place_of(job, x, y);
                    is_rough |= differs(job->pixels + 4 * own, job->pixels + 4 * beside)
                                && !is_pattern(job, own, beside);
                }
            job->is_rough[own] = is_rough;
        }
}

// The share of the light that pixels beside it have on the same surface. False: none sees it.
static bool share_beside(const Job *job, const int pixel[2], const RaySeen *seen, float share[3])
{
    Sample own;
    const Sample *found = NULL;
    int width = job->picture->view.width, height = job->picture->view.height;
    keep_sample(&own, seen);
    for (int i = 0; i < 9 && !found; i++) {
        static const int order[9][2] = { { 0, 0 }, { 1, 0 },  { -1, 0 }, { 0, 1 },  { 0, -1 },
                                         { 1, 1 }, { -1, 1 }, { 1, -1 }, { -1, -1 } };
        int x = pixel[0] + order[i][0], y = pixel[1] + order[i][1];
        if (x >= 0 && y >= 0 && x < width && y < height && is_same_surface(&own, &job->samples[place_of(job, x, y)]))
            found = &job->samples[place_of(job, x, y)];
    }
    for (int c = 0; c < 3 && found; c++)
        share[c] = (float)found->smooth[c] / 255.0f;
    return found != NULL;
}

// Rays that see what no pixel saw have shadows of their own.
static void shadow_rays(const Job *job, const Ray *rays, int count, const RaysStyle *style, RaySeen *seen)
{
    Ray alone[RAYS_AT_ONCE];
    RaySeen own[RAYS_AT_ONCE];
    int numbers[RAYS_AT_ONCE], pixels[RAYS_AT_ONCE][2], alone_count = 0;
    for (int i = 0; i < count; i++) {
        const int *pixel = style->pixels[i / style->per_pixel];
        float share[3];
        if (seen[i].visual < 0)
            continue;
        if (share_beside(job, pixel, &seen[i], share)) {
            for (int c = 0; c < 3; c++)
                seen[i].light[c] = share[c] * seen[i].full[c];
            continue;
        }
        alone[alone_count] = rays[i];
        numbers[alone_count] = i;
        pixels[alone_count][0] = 2 * pixel[0] + i % 2;  // other places than those of the rays beside it
        pixels[alone_count++][1] = pixel[1];
    }
    RaysStyle shadowed = *style;
    shadowed.is_unshadowed = false;
    shadowed.pixels = (const int(*)[2])pixels;
    shadowed.per_pixel = 1;
    rays_see(job->rays, alone, alone_count, &shadowed, own);
    for (int i = 0; i < alone_count; i++)
        seen[numbers[i]] = own[i];
}

// The rays of some pixels, and their mean light.
static void refine_pixels(const Job *job, const Eye *eye, const int (*pixels)[2], int count)
{
    Ray rays[RAYS_AT_ONCE];
    RaySeen seen[RAYS_AT_ONCE];
    int side = job->picture->samples, each = side * side, ray_count = count * each;
    RaysStyle style = style_of(job);
    style.pixels = pixels;
    style.per_pixel = each;
    style.is_unshadowed = job->samples != NULL;
    if (count == 0)
        return;
    assert(ray_count > 0 && ray_count <= RAYS_AT_ONCE);
    for (int i = 0; i < ray_count; i++)
        rays[i] = ray_through(eye, pixels[i / each][0] + (i % side + 0.5) / side,
                              pixels[i / each][1] + (i % each / side + 0.5) / side, side);
    rays_see(job->rays, rays, ray_count, &style, seen);
    if (job->samples)
        shadow_rays(job, rays, ray_count, &style, seen);
    for (int i = 0; i < count; i++) {
        float light[3] = { 0 };
        for (int k = i * each; k < (i + 1) * each; k++)
            for (int c = 0; c < 3 && vec3_length2(rays[k].direction) > 0.0; c++)
                light[c] += seen[k].light[c] / (float)each;
        put_light(job, place_of(job, pixels[i][0], pixels[i][1]), light);
    }
}

static void refine_tiles(int begin, int end, int worker, void *context)
{
    (void)worker;
    const Job *job = context;
    Eye eye = eye_of(job);
    int rough[RAYS_AT_ONCE][2], count = 0, at_once = RAYS_AT_ONCE / (job->picture->samples * job->picture->samples);
    for (int row = begin; row < end; row++) {
        for (int left = 0; left < job->picture->view.width; left += TILE_WIDTH) {
            int pixels[RAYS_AT_ONCE][2], here = tile_pixels(&job->picture->view, left, row * TILE_HEIGHT, pixels);
            for (int i = 0; i < here; i++) {
                if (!job->is_rough[place_of(job, pixels[i][0], pixels[i][1])])
                    continue;
                rough[count][0] = pixels[i][0];
                rough[count++][1] = pixels[i][1];
                if (count == at_once) {
                    refine_pixels(job, &eye, (const int(*)[2])rough, count);
                    count = 0;
                }
            }
        }
    }
    refine_pixels(job, &eye, (const int(*)[2])rough, count);
}

static void take_all(Job *job, struct Pool *pool)
{
    const Picture *picture = job->picture;
    size_t count = (size_t)picture->view.width * (size_t)picture->view.height;
    if (is_soft(picture)) {
        job->samples = memory_alloc_array(count, sizeof *job->samples);
        job->is_dim = memory_alloc_array((size_t)tile_columns(job) * (size_t)tile_rows(job), 1);
    }
    if (picture->samples > 1)
        job->is_rough = memory_alloc_array(count, 1);
    if (job->is_flat)
        pool_for(pool, job->bands, 1, take_bands, job);
    else
        pool_for(pool, tile_rows(job), 1, take_tiles, job);
    if (job->samples)
        pool_for(pool, tile_rows(job), 1, smooth_tiles, job);
    if (job->is_rough) {
        pool_for(pool, picture->view.height, TILE_HEIGHT, find_edges, job);
        pool_for(pool, tile_rows(job), 1, refine_tiles, job);
    }
    free(job->samples);
    free(job->is_dim);
    free(job->is_rough);
}

// ---- what lenses do ----

static int place_in(int x, int count) { return int_max(int_min(x, count - 1), 0); }

// A blur of 1 4 6 4 1 in one direction, `step` pixels apart.
static void blur_one_way(const float *from, float *to, int width, int height, int dx, int dy)
{
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
static void add_bloom(float *light, int width, int height, double threshold)
{
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
static void defocus(const Picture *picture, float *light, const float *depth)
{
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
static void add_flare(const Picture *picture, float *light)
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
static void trail(const Picture *picture, Device *device, float *light)
{
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

static bool needs_light(const Picture *picture)
{
    return picture->bloom >= 0.0 || picture->focal_distance > 0.0 || picture->blur > 0.0 || picture->flare_ghosts > 0;
}

// ---- electronics ----

// Each row has a noise of its own, so that rows may be made in any order.
static void add_noise(const Picture *picture, uint8_t *pixels)
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
static void add_mask(const Picture *picture, uint8_t *pixels)
{
    const Image *mask = picture->mask;
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

// ---- the whole ----

static void develop(const Job *job)
{
    int count = job->picture->view.width * job->picture->view.height;
    for (int i = 0; i < count; i++) {
        const float *light = job->light + 3 * (size_t)i;
        write_pixel(job->pixels + 4 * (size_t)i, exposed(job, light[0]), exposed(job, light[1]),
                    exposed(job, light[2]));
    }
}

static void prepare_flat(Job *job, Rays *rays)
{
    const Picture *picture = job->picture;
    const ImageView *view = &picture->view;
    if (view->projection != PLANAR || view->lens.is_there)
        return;
    RaysFlat flat = {
        picture->pose, view->width, view->height, view->reach, picture->near, picture->far, picture->eye
    };
    job->is_flat = rays_flat_begin(rays, &flat);
    job->bands = rays_flat_bands(&flat);
}

// What helps the rays of the whole picture.
static void prepare(Job *job, Rays *rays)
{
    const Picture *picture = job->picture;
    job->has_shadows = !(picture->softness > 0.0);
    if (job->has_shadows)
        rays_prepare_shadows(rays, picture->view.width * picture->view.height);
    prepare_flat(job, rays);
}

void picture_make(const Picture *picture, Rays *rays, struct Pool *pool, Device *device, uint8_t *pixels, float *depth)
{
    Job job = {
        .picture = picture, .rays = rays, .pixels = pixels, .depth = depth, .turn = mat3_from_quat(picture->pose.q)
    };
    size_t count = (size_t)picture->view.width * (size_t)picture->view.height;
    job.exposure = fmax(picture->exposure, 1e-12);
    tones_of(job.exposure, job.tones);
    guesses_of(job.tones, job.exposure, job.guesses);
    if (needs_light(picture))
        job.light = memory_alloc_array(3 * count, sizeof *job.light);
    if (picture->focal_distance > 0.0 && !depth)
        job.depth = memory_alloc_array(count, sizeof *job.depth);
    prepare(&job, rays);
    take_all(&job, pool);
    if (job.light) {
        if (picture->bloom >= 0.0)
            add_bloom(job.light, picture->view.width, picture->view.height, picture->bloom);
        if (picture->flare_ghosts > 0)
            add_flare(picture, job.light);
        if (picture->focal_distance > 0.0)
            defocus(picture, job.light, job.depth);
        if (picture->blur > 0.0 && device)
            trail(picture, device, job.light);
        develop(&job);
    }
    if (picture->noise > 0.0)
        add_noise(picture, pixels);
    if (picture->mask)
        add_mask(picture, pixels);
    free(job.light);
    if (!depth)
        free(job.depth);
}

// ---- of a camera ----

bool picture_fits(const DeviceContext *at, const ImageView *view)
{
    if (view->width > 0 && view->height > 0 && (int64_t)view->width * view->height <= PICTURE_PIXELS_MAX)
        return true;
    diag_warning(at->devices->diags, at->info->node->pos,
                 "'%s' has %d by %d pixels, of which at most %d can be seen; it sees nothing", at->info->name,
                 view->width, view->height, PICTURE_PIXELS_MAX);
    return false;
}

static const Image *mask_of(const DeviceContext *at)
{
    const SceneNode *node = at->info->node;
    const char *url = scene_string(node, "noiseMaskUrl");
    if (!*url)
        return NULL;
    ShapeSource source = { physics_scene(at->physics), physics_assets(at->physics), at->devices->diags };
    const Image *mask = shape_image(&source, node, "noiseMaskUrl", url);
    return mask && mask->pixels ? mask : NULL;
}

static void read_flare(Picture *picture, const SceneNode *flare)
{
    picture->flare_ghosts = int_min(int_max(scene_int(flare, "samples"), 0), 16);
    picture->flare_scale = scene_float(flare, "scale");
    picture->flare_bias = scene_float(flare, "bias");
    picture->flare_dispersal = scene_float(flare, "dispersal");
}

static Picture read_picture(const DeviceContext *at)
{
    const SceneNode *node = at->info->node, *flare = scene_child(node, "lensFlare");
    const CameraState *state = camera_settings(at);
    double far = scene_float(node, "far"), blur_ms = scene_float(node, "motionBlur");
    Picture picture = {
        .view = image_view(node, state->field_of_view.now),
        .near = scene_float(node, "near"),
        .far = far > 0.0 ? far : 1e6,
        .exposure = state->exposure.now,
        .noise = scene_float(node, "noise"),
        .samples = scene_bool(node, "antiAliasing") ? 2 : 1,
        .bloom = scene_float(node, "bloomThreshold"),
        .occlusion = scene_float(node, "ambientOcclusionRadius"),
        .mask = mask_of(at),
        .blur = blur_ms > 0.0 ? pow(0.005, at->period_ms / blur_ms) : 0.0,
    };
    picture.spread = picture.view.reach / int_max(picture.view.width, 1);
    if (picture.view.projection != PLANAR)
        picture.spread = picture.view.horizontal / int_max(picture.view.width, 1);
    if (picture.view.projection == PLANAR && state->focal_distance.now > 0.0 && state->focal_length.now > 0.0) {
        picture.focal_distance = state->focal_distance.now;
        picture.focal_length = state->focal_length.now;
    }
    if (flare)
        read_flare(&picture, flare);
    return picture;
}

// The fields are read again after an edit of the scene, a command or another period.
typedef struct PictureKept {
    uint64_t edits;
    double period_ms;
    CameraState state;
    Picture picture;
} PictureKept;

Picture picture_of(const DeviceContext *at)
{
    Device *device = device_at(at->devices, at->robot, at->tag);
    uint64_t edits = physics_edit_count(at->physics);
    PictureKept *kept = device->picture;
    if (!kept || kept->edits != edits || kept->period_ms != at->period_ms
        || memcmp(&kept->state, at->state, sizeof kept->state)) {
        if (!kept)
            kept = device->picture = memory_alloc(sizeof *kept);
        kept->picture = read_picture(at);
        kept->edits = edits;
        kept->period_ms = at->period_ms;
        memcpy(&kept->state, at->state, sizeof kept->state);
    }
    Picture picture = kept->picture;
    picture.pose = device_pose(at);
    picture.eye = device_eye(at);
    picture.is_first = at->is_first;
    return picture;
}

void picture_take(DeviceContext *at)
{
    Picture picture = picture_of(at);
    if (!picture_fits(at, &picture.view))
        return;
    if (picture.noise > 0.0)
        picture.seed = random_bits(at->random);
    for (int i = 0; picture.mask && i < 2; i++)
        picture.mask_place[i] = random_uniform(at->random);
    device_due(at, 0, 4 * picture.view.width * picture.view.height, &picture, sizeof picture);
    int size;
    if (picture.blur > 0.0)
        devices_image(at->devices, at->robot, at->tag, 0, &size);  // the next one shows a part of it
    show_camera(at->devices, at->robot, at->tag);
}

// ---- segmentation ----

static bool is_visible(const Rays *rays, int visual, void *context)
{
    return !rays_is_hidden(rays, visual, ((const Picture *)context)->eye);
}

static void segment_tile(const Job *job, const Eye *eye, int left, int top)
{
    const Picture *picture = job->picture;
    Ray rays[RAYS_AT_ONCE];
    RayHit hits[RAYS_AT_ONCE];
    int pixels[RAYS_AT_ONCE][2], count = tile_pixels(&picture->view, left, top, pixels);
    for (int i = 0; i < count; i++)
        rays[i] = ray_through(eye, pixels[i][0] + 0.5, pixels[i][1] + 0.5, 1);
    rays_cast(job->rays, rays, count, rays_hides(job->rays, picture->eye) ? is_visible : NULL, (void *)picture, hits);
    for (int i = 0; i < count; i++) {
        Vec3 color = hits[i].visual >= 0 ? rays_recognition_color(job->rays, hits[i].visual) : VEC3_ZERO;
        write_pixel(job->pixels + 4 * place_of(job, pixels[i][0], pixels[i][1]), byte_of(color.x), byte_of(color.y),
                    byte_of(color.z));
    }
}

static void segment_tiles(int begin, int end, int worker, void *context)
{
    (void)worker;
    const Job *job = context;
    Eye eye = eye_of(job);
    for (int row = begin; row < end; row++)
        for (int left = 0; left < job->picture->view.width; left += TILE_WIDTH)
            segment_tile(job, &eye, left, row * TILE_HEIGHT);
}

static void segment_block(const Job *job, int column, int row)
{
    int visuals[RAYS_BLOCK];
    rays_find_block(job->rays, column, row, visuals);
    for (int i = 0; i < RAYS_BLOCK; i++) {
        int x = column + i % RAYS_BLOCK_WIDTH, y = row + i / RAYS_BLOCK_WIDTH;
        if (x >= job->picture->view.width || y >= job->picture->view.height)
            continue;
        Vec3 color = visuals[i] >= 0 ? rays_recognition_color(job->rays, visuals[i]) : VEC3_ZERO;
        write_pixel(job->pixels + 4 * place_of(job, x, y), byte_of(color.x), byte_of(color.y), byte_of(color.z));
    }
}

// Pixel for pixel what take_bands sees.
static void segment_bands(int begin, int end, int worker, void *context)
{
    (void)worker;
    const Job *job = context;
    for (int band = begin; band < end; band++) {
        int top = band * RAYS_BAND_HEIGHT, bottom = int_min(top + RAYS_BAND_HEIGHT, job->picture->view.height);
        rays_flat_fill(job->rays, band);
        for (int row = top; row < bottom; row += RAYS_BLOCK_HEIGHT)
            for (int column = 0; column < job->picture->view.width; column += RAYS_BLOCK_WIDTH)
                segment_block(job, column, row);
    }
}

// The picture of the moment, in the colours of what can be recognised.
void picture_segment(DeviceContext *at)
{
    Picture picture = picture_of(at);
    picture.samples = 1;
    if (picture_fits(at, &picture.view))
        device_due(at, IMAGE_SEGMENTED, 4 * picture.view.width * picture.view.height, &picture, sizeof picture);
}

void camera_make(DeviceContext *at, int number, const void *due, void *bytes)
{
    const Picture *picture = due;
    Job job = {
        .picture = picture, .rays = at->devices->rays, .pixels = bytes, .turn = mat3_from_quat(picture->pose.q)
    };
    struct Pool *pool = physics_pool(at->physics);
    if (number != IMAGE_SEGMENTED) {
        picture_make(picture, at->devices->rays, pool, device_at(at->devices, at->robot, at->tag), bytes, NULL);
        return;
    }
    prepare_flat(&job, at->devices->rays);
    if (job.is_flat)
        pool_for(pool, job.bands, 1, segment_bands, &job);
    else
        pool_for(pool, tile_rows(&job), 1, segment_tiles, &job);
}

// ---- for people ----

static void look(Devices *devices, const Picture *picture, uint8_t *pixels, float *depth)
{
    Rays *rays = due_rays(devices);
    Moment *moment = due_present(devices);
    show_begin(devices, moment);
    rays_place(rays, moment->solids, moment->solid_count);
    devices->looked = UINT64_MAX;
    // A picture for people may take all that the machine has: its bytes do not depend on it.
    enum { THREADS_MAX = 16 };
    struct Pool *own = physics_pool(devices->physics)
                           ? NULL
                           : pool_create(int_min((int)sysconf(_SC_NPROCESSORS_ONLN), THREADS_MAX));
    picture_make(picture, rays, own ? own : physics_pool(devices->physics), NULL, pixels, depth);
    pool_destroy(own);
    show_end(devices, moment);
    size_t count = (size_t)picture->view.width * (size_t)picture->view.height;
    for (size_t i = 0; i < count; i++) {
        uint8_t blue = pixels[4 * i];
        pixels[4 * i] = pixels[4 * i + 2];
        pixels[4 * i + 2] = blue;
    }
}

void devices_look(Devices *devices, const DevicesView *view, uint8_t *pixels, float *depth)
{
    Picture picture = {
        .view = image_view_of(PLANAR, view->width, view->height, view->field_of_view),
        .pose = view->pose,
        .near = view->near,
        .far = view->far > 0.0 ? view->far : 1e6,
        .samples = view->is_quick ? 1 : 2,
        .eye = 0,
        .exposure = view->exposure > 0.0 ? view->exposure : 1.0,
        .occlusion = view->is_quick ? 0.0 : view->occlusion,
        .softness = view->is_quick ? 0.0 : 0.02,
        .is_for_people = true,
        .bloom = view->bloom > 0.0 ? view->bloom : -1.0,
    };
    picture.spread = picture.view.reach / int_max(view->width, 1);
    rays_set_view(due_rays(devices), view->pose);
    look(devices, &picture, pixels, depth);
}

bool devices_look_through(Devices *devices, const SceneNode *camera, int width, int height, uint8_t *pixels,
                          float *depth)
{
    int robot, tag;
    if (!devices_of_node(devices, camera, &robot, &tag) || devices_info(devices, robot, tag)->kind != &camera_device)
        return false;
    DeviceContext at = device_context(devices, robot, tag);
    Picture picture = picture_of(&at);
    ImageLens lens = picture.view.lens;
    picture.view = image_view_of(picture.view.projection, width, height, picture.view.horizontal);
    picture.view.lens = lens;
    picture.blur = 0.0;
    picture.seed = devices->step;  // not from the device's own stream: who looks on changes nothing
    look(devices, &picture, pixels, depth);
    return true;
}

void devices_look_counts(Devices *devices, int *shapes, int *triangles, int *textures)
{
    const Rays *rays = due_rays(devices);
    *shapes = rays_visual_count(rays);
    *triangles = rays_triangle_count(rays);
    *textures = rays_texture_count(rays);
}

bool devices_look_bounds(Devices *devices, Vec3 *low, Vec3 *high)
{
    Rays *rays = due_rays(devices);
    devices->looked = UINT64_MAX;
    rays_update(rays);
    return rays_bounds(rays, low, high);
}

Vec3 devices_look_up(Devices *devices) { return rays_up(due_rays(devices)); }
