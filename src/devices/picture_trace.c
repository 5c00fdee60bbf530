// picture_trace.c - the light of a picture: one ray for each pixel, and four where it differs from its neighbours and
// edges are to be smooth. Tiles and bands are the items of worker threads; none reads what another one writes.
#include "devices/picture_internal.h"

#include "base/memory.h"
#include "base/pool.h"

#include <stdlib.h>
#include <string.h>

// ---- light becomes colour ----

// Exposure and a gamma of 2.2: which byte some light gives is looked up between the lights where the byte grows.
void picture_tones(double exposure, float tones[TONES + 1])
{
    tones[0] = 0.0f;
    tones[TONES] = INFINITY;
    for (int i = 1; i < TONES; i++)
        tones[i] = (float)(-log(1.0 - pow((i - 0.5) / 255.0, 2.2)) / fmax(exposure, 1e-12));
}

void picture_guesses(const float tones[TONES + 1], double exposure, uint8_t guesses[GUESSES])
{
    int byte = 0;
    for (int i = 0; i < GUESSES; i++) {
        union {
            uint32_t bits;
            float number;
        } as = { .bits = (uint32_t)(i + GUESS_FIRST) << GUESS_SHIFT };
        double min = i > 0 ? 0.999999 * (double)as.number / exposure : 0.0;  // the rounding to a float aside
        for (int steps = 0; min >= (double)tones[byte + 1]; steps++, byte++)
            assert(steps == 0);
        guesses[i] = (uint8_t)byte;
    }
}

// ---- rays ----

PictureEye picture_eye(const PictureJob *job)
{
    const ImageView *view = &job->picture->view;
    double step = view->reach / view->width;
    return (PictureEye){ job->picture, &job->turn,        view->projection == PLANAR && !view->lens.is_there,
                         step,         0.5 * view->reach, 0.5 * step * view->height };
}

Ray picture_ray(const PictureEye *eye, double x, double y, int samples)
{
    assert_debug(samples > 0);
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

static RaysStyle style_of(const PictureJob *job)
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

static void put_light(const PictureJob *job, size_t at, const float light[3])
{
    if (job->light)
        memcpy(job->light + 3 * at, light, 3 * sizeof *light);
    if (!job->light || job->is_rough)
        write_pixel(job->pixels + 4 * at, exposed(job, light[0]), exposed(job, light[1]), exposed(job, light[2]));
}

// The pixels of a tile, those of a packet beside each other. Returns how many.
int picture_tile(const ImageView *view, int left, int top, int pixels[RAYS_AT_ONCE][2])
{
    assert_debug(left >= 0 && top >= 0);
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

// Returns whether any of the full light is missing.
static bool keep_sample(PictureSample *to, const RaySeen *seen)
{
    int dim = 0;
    *to = (PictureSample){ .visual = seen->visual,
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

static void take_tile(const PictureJob *job, const PictureEye *eye, int left, int top)
{
    const Picture *picture = job->picture;
    Ray rays[RAYS_AT_ONCE];
    RaySeen seen[RAYS_AT_ONCE];
    int pixels[RAYS_AT_ONCE][2], count = picture_tile(&picture->view, left, top, pixels);
    RaysStyle style = style_of(job);
    Vec3 axis = vec3(job->turn.m[0], job->turn.m[3], job->turn.m[6]);
    bool is_dim = false;
    assert(count > 0);
    style.pixels = (const int(*)[2])pixels;
    for (int i = 0; i < count; i++)
        rays[i] = picture_ray(eye, pixels[i][0] + 0.5, pixels[i][1] + 0.5, 1);
    rays_see(job->rays, rays, count, &style, seen);
    for (int i = 0; i < count; i++) {
        size_t at = picture_pixel(job, pixels[i][0], pixels[i][1]);
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
    const PictureJob *job = context;
    PictureEye eye = picture_eye(job);
    for (int row = begin; row < end; row++)
        for (int left = 0; left < job->picture->view.width; left += TILE_WIDTH)
            take_tile(job, &eye, left, row * TILE_HEIGHT);
}

// ---- blocks of flat pictures ----

static RaySeen block_lane(const RaysBlock *block, int lane)
{
    assert_debug(lane >= 0 && lane < RAYS_BLOCK);
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

static float block_depth(const PictureJob *job, float distance, int column, int row)
{
    const ImageView *view = &job->picture->view;
    double step = view->reach / view->width, across = step * (0.5 * view->width - column - 0.5),
           above = step * (0.5 * view->height - row - 0.5);
    return (float)((double)distance / sqrt(1.0 + across * across + above * above));
}

static void take_block(const PictureJob *job, const RaysStyle *style, int column, int row)
{
    RaysBlock block;
    int width = int_min(job->picture->view.width - column, RAYS_BLOCK_WIDTH),
        height = int_min(job->picture->view.height - row, RAYS_BLOCK_HEIGHT);
    bool is_dim = false;
    rays_see_block(job->rays, column, row, style, &block);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int lane = y * RAYS_BLOCK_WIDTH + x;
            size_t at = picture_pixel(job, column + x, row + y);
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
    const PictureJob *job = context;
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

static bool is_same_surface(const PictureSample *a, const PictureSample *b)
{
    enum { ALIKE = 15320 };  // 0.95 of 127 squared
    return a->visual == b->visual
           && a->normal[0] * b->normal[0] + a->normal[1] * b->normal[1] + a->normal[2] * b->normal[2] > ALIKE
           && fabsf(a->distance - b->distance) < 0.1f * a->distance;
}

static void smooth_pixel(const PictureJob *job, int column, int row, float share[3])
{
    enum { REACH = 2 };
    const PictureSample *own = &job->samples[picture_pixel(job, column, row)];
    int width = job->picture->view.width, height = job->picture->view.height, count = 0, sum[3] = { 0 };
    int left = int_max(column - REACH, 0), right = int_min(column + REACH, width - 1);
    for (int y = int_max(row - REACH, 0); y <= int_min(row + REACH, height - 1); y++) {
        const PictureSample *beside = &job->samples[picture_pixel(job, left, y)];
        for (int x = left; x <= right; x++, beside++) {
            if (beside != own && !is_same_surface(own, beside))
                continue;
            for (int c = 0; c < 3; c++)
                sum[c] += beside->share[c];
            count++;
        }
    }
    assert_debug(count > 0);  // itself
    for (int c = 0; c < 3; c++)
        share[c] = (float)sum[c] / (255.0f * (float)count);
}

static bool is_dim_around(const PictureJob *job, int tile_column, int tile_row)
{
    assert_debug(tile_column >= 0 && tile_column < tile_columns(job) && tile_row >= 0 && tile_row < tile_rows(job));
    int columns = tile_columns(job), rows = tile_rows(job);
    bool is_dim = false;
    for (int y = int_max(tile_row - 1, 0); y <= int_min(tile_row + 1, rows - 1); y++)
        for (int x = int_max(tile_column - 1, 0); x <= int_min(tile_column + 1, columns - 1); x++)
            is_dim |= job->is_dim[y * columns + x];
    return is_dim;
}

static void smooth_tile(const PictureJob *job, int tile_column, int tile_row)
{
    bool is_dim = is_dim_around(job, tile_column, tile_row);
    int pixels[RAYS_AT_ONCE][2],
        count = picture_tile(&job->picture->view, tile_column * TILE_WIDTH, tile_row * TILE_HEIGHT, pixels);
    for (int i = 0; i < count; i++) {
        size_t at = picture_pixel(job, pixels[i][0], pixels[i][1]);
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
static bool is_pattern(const PictureJob *job, size_t a, size_t b)
{
    return job->samples && job->samples[a].is_textured && is_same_surface(&job->samples[a], &job->samples[b]);
}

static void find_edges(int begin, int end, int worker, void *context)
{
    (void)worker;
    const PictureJob *job = context;
    int width = job->picture->view.width, height = job->picture->view.height;
    for (int row = begin; row < end; row++)
        for (int column = 0; column < width; column++) {
            size_t own = picture_pixel(job, column, row);
            bool is_rough = false;
            for (int y = int_max(row - 1, 0); y <= int_min(row + 1, height - 1) && !is_rough; y++)
                for (int x = int_max(column - 1, 0); x <= int_min(column + 1, width - 1); x++) {
                    size_t beside = picture_pixel(job, x, y);
                    is_rough |= differs(job->pixels + 4 * own, job->pixels + 4 * beside)
                                && !is_pattern(job, own, beside);
                }
            job->is_rough[own] = is_rough;
        }
}

// The share of the light that pixels beside it have on the same surface. False: none sees it.
static bool share_beside(const PictureJob *job, const int pixel[2], const RaySeen *seen, float share[3])
{
    PictureSample own;
    const PictureSample *found = NULL;
    int width = job->picture->view.width, height = job->picture->view.height;
    keep_sample(&own, seen);
    for (int i = 0; i < 9 && !found; i++) {
        static const int order[9][2] = { { 0, 0 }, { 1, 0 },  { -1, 0 }, { 0, 1 },  { 0, -1 },
                                         { 1, 1 }, { -1, 1 }, { 1, -1 }, { -1, -1 } };
        int x = pixel[0] + order[i][0], y = pixel[1] + order[i][1];
        if (x >= 0 && y >= 0 && x < width && y < height
            && is_same_surface(&own, &job->samples[picture_pixel(job, x, y)]))
            found = &job->samples[picture_pixel(job, x, y)];
    }
    for (int c = 0; c < 3 && found; c++)
        share[c] = (float)found->smooth[c] / 255.0f;
    return found != NULL;
}

// Rays that see what no pixel saw have shadows of their own.
static void shadow_rays(const PictureJob *job, const Ray *rays, int count, const RaysStyle *style, RaySeen *seen)
{
    assert_debug(count <= RAYS_AT_ONCE && style->per_pixel > 0);
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
static void refine_pixels(const PictureJob *job, const PictureEye *eye, const int (*pixels)[2], int count)
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
        rays[i] = picture_ray(eye, pixels[i / each][0] + (i % side + 0.5) / side,
                              pixels[i / each][1] + (i % each / side + 0.5) / side, side);
    rays_see(job->rays, rays, ray_count, &style, seen);
    if (job->samples)
        shadow_rays(job, rays, ray_count, &style, seen);
    for (int i = 0; i < count; i++) {
        float light[3] = { 0 };
        for (int k = i * each; k < (i + 1) * each; k++)
            for (int c = 0; c < 3 && vec3_length2(rays[k].direction) > 0.0; c++)
                light[c] += seen[k].light[c] / (float)each;
        put_light(job, picture_pixel(job, pixels[i][0], pixels[i][1]), light);
    }
}

static void refine_tiles(int begin, int end, int worker, void *context)
{
    (void)worker;
    const PictureJob *job = context;
    PictureEye eye = picture_eye(job);
    int rough[RAYS_AT_ONCE][2], count = 0, at_once = RAYS_AT_ONCE / (job->picture->samples * job->picture->samples);
    assert_debug(at_once > 0);
    for (int row = begin; row < end; row++) {
        for (int left = 0; left < job->picture->view.width; left += TILE_WIDTH) {
            int pixels[RAYS_AT_ONCE][2], here = picture_tile(&job->picture->view, left, row * TILE_HEIGHT, pixels);
            for (int i = 0; i < here; i++) {
                if (!job->is_rough[picture_pixel(job, pixels[i][0], pixels[i][1])])
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

void picture_trace(PictureJob *job, struct Pool *pool)
{
    assert_debug(!job->samples && !job->is_dim && !job->is_rough);
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

// ---- the whole ----

void picture_prepare_flat(PictureJob *job, Rays *rays)
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
