// picture_segment.c - the picture of a camera in the colours of what can be recognised, pixel for pixel what the camera
// sees without edges made smooth.
#include "devices/picture_internal.h"

#include "base/pool.h"

static bool is_visible(const Rays *rays, int visual, void *context)
{
    return !rays_is_hidden(rays, visual, ((const Picture *)context)->eye);
}

static void segment_tile(const PictureJob *job, const PictureEye *eye, int left, int top)
{
    assert_debug(left >= 0 && top >= 0);
    const Picture *picture = job->picture;
    Ray rays[RAYS_AT_ONCE];
    RayHit hits[RAYS_AT_ONCE];
    int pixels[RAYS_AT_ONCE][2], count = picture_tile(&picture->view, left, top, pixels);
    for (int i = 0; i < count; i++)
        rays[i] = picture_ray(eye, pixels[i][0] + 0.5, pixels[i][1] + 0.5, 1);
    rays_cast(job->rays, rays, count, rays_hides(job->rays, picture->eye) ? is_visible : NULL, (void *)picture, hits);
    for (int i = 0; i < count; i++) {
        Vec3 color = hits[i].visual >= 0 ? rays_recognition_color(job->rays, hits[i].visual) : VEC3_ZERO;
        write_pixel(job->pixels + 4 * picture_pixel(job, pixels[i][0], pixels[i][1]), byte_of(color.x),
                    byte_of(color.y), byte_of(color.z));
    }
}

static void segment_tiles(int begin, int end, int worker, void *context)
{
    (void)worker;
    const PictureJob *job = context;
    PictureEye eye = picture_eye(job);
    for (int row = begin; row < end; row++)
        for (int left = 0; left < job->picture->view.width; left += TILE_WIDTH)
            segment_tile(job, &eye, left, row * TILE_HEIGHT);
}

static void segment_block(const PictureJob *job, int column, int row)
{
    int visuals[RAYS_BLOCK];
    rays_find_block(job->rays, column, row, visuals);
    for (int i = 0; i < RAYS_BLOCK; i++) {
        int x = column + i % RAYS_BLOCK_WIDTH, y = row + i / RAYS_BLOCK_WIDTH;
        if (x >= job->picture->view.width || y >= job->picture->view.height)
            continue;
        Vec3 color = visuals[i] >= 0 ? rays_recognition_color(job->rays, visuals[i]) : VEC3_ZERO;
        write_pixel(job->pixels + 4 * picture_pixel(job, x, y), byte_of(color.x), byte_of(color.y), byte_of(color.z));
    }
}

// Pixel for pixel what take_bands sees.
static void segment_bands(int begin, int end, int worker, void *context)
{
    (void)worker;
    const PictureJob *job = context;
    for (int band = begin; band < end; band++) {
        int top = band * RAYS_BAND_HEIGHT, bottom = int_min(top + RAYS_BAND_HEIGHT, job->picture->view.height);
        rays_flat_fill(job->rays, band);
        for (int row = top; row < bottom; row += RAYS_BLOCK_HEIGHT)
            for (int column = 0; column < job->picture->view.width; column += RAYS_BLOCK_WIDTH)
                segment_block(job, column, row);
    }
}

void picture_draw_segments(const PictureJob *job, struct Pool *pool)
{
    if (job->is_flat)
        pool_for(pool, job->bands, 1, segment_bands, (void *)job);
    else
        pool_for(pool, tile_rows(job), 1, segment_tiles, (void *)job);
}
