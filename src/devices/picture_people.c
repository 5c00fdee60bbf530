// picture_people.c - pictures for those who look on: from any place, or through a camera. They change nothing of the
// world.
#include "devices/picture_internal.h"

#include "base/pool.h"

#include <unistd.h>

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
    assert(view->width > 0 && view->height > 0 && pixels);
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
