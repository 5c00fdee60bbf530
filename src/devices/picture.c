// picture.c - what cameras see, and people: the light that rays find, then what lens, film and electronics make of it,
// in the order in which Webots has it: glow, focus, blur of motion, exposure, noise, mask.
#include "devices/picture_internal.h"

#include "base/memory.h"

#include <stdlib.h>

static void develop(const PictureJob *job)
{
    int count = job->picture->view.width * job->picture->view.height;
    for (int i = 0; i < count; i++) {
        const float *light = job->light + 3 * (size_t)i;
        write_pixel(job->pixels + 4 * (size_t)i, exposed(job, light[0]), exposed(job, light[1]),
                    exposed(job, light[2]));
    }
}

// What helps the rays of the whole picture.
static void prepare(PictureJob *job, Rays *rays)
{
    const Picture *picture = job->picture;
    job->has_shadows = !(picture->softness > 0.0);
    if (job->has_shadows)
        rays_prepare_shadows(rays, picture->view.width * picture->view.height);
    picture_prepare_flat(job, rays);
}

// Light is kept as numbers only when something after the rays needs it (glow, focus, blur of motion); else rays write
// the bytes straight away.
void picture_make(const Picture *picture, Rays *rays, struct Pool *pool, Device *device, uint8_t *pixels, float *depth)
{
    assert_debug(picture->view.width > 0 && picture->view.height > 0 && pixels);
    PictureJob job = {
        .picture = picture, .rays = rays, .pixels = pixels, .depth = depth, .turn = mat3_from_quat(picture->pose.q)
    };
    size_t count = (size_t)picture->view.width * (size_t)picture->view.height;
    job.exposure = fmax(picture->exposure, 1e-12);
    picture_tones(job.exposure, job.tones);
    picture_guesses(job.tones, job.exposure, job.guesses);
    if (effects_need_light(picture))
        job.light = memory_alloc_array(3 * count, sizeof *job.light);
    if (picture->focal_distance > 0.0 && !depth)
        job.depth = memory_alloc_array(count, sizeof *job.depth);
    prepare(&job, rays);
    picture_trace(&job, pool);
    if (job.light) {
        if (picture->bloom >= 0.0)
            effect_bloom(job.light, picture->view.width, picture->view.height, picture->bloom);
        if (picture->flare_ghosts > 0)
            effect_flare(picture, job.light);
        if (picture->focal_distance > 0.0)
            effect_defocus(picture, job.light, job.depth);
        if (picture->blur > 0.0 && device)
            effect_trail(picture, device, job.light);
        develop(&job);
    }
    if (picture->noise > 0.0)
        effect_noise(picture, pixels);
    if (picture->mask)
        effect_mask(picture, pixels);
    free(job.light);
    if (!depth)
        free(job.depth);
}

void camera_make(DeviceContext *at, int number, const void *due, void *bytes)
{
    assert_debug(due && bytes);
    const Picture *picture = due;
    PictureJob job = {
        .picture = picture, .rays = at->devices->rays, .pixels = bytes, .turn = mat3_from_quat(picture->pose.q)
    };
    struct Pool *pool = physics_pool(at->physics);
    if (number != IMAGE_SEGMENTED) {
        picture_make(picture, at->devices->rays, pool, device_at(at->devices, at->robot, at->tag), bytes, NULL);
        return;
    }
    picture_prepare_flat(&job, at->devices->rays);
    picture_draw_segments(&job, pool);
}
