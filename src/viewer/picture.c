// picture.c - a picture of the moment: traced, with what the plugin draws, and as a file.
#include "assets/image.h"
#include "base/file.h"
#include "base/memory.h"
#include "viewer/render.h"

#include <stdlib.h>
#include <strings.h>

bool render_picture_has_format(const char *path)
{
    const char *extension = path_extension(path);
    return !strcasecmp(extension, ".png") || !strcasecmp(extension, ".jpg") || !strcasecmp(extension, ".jpeg");
}

RenderCamera render_view(Sim *sim)
{
    sim_sync_scene(sim);
    return render_viewpoint(sim_scene(sim));
}

static DevicesView view_of(const RenderCamera *camera, int width, int height)
{
    assert(width > 0 && height > 0);
    double aspect = (double)width / height, field = camera->field_of_view;
    if (camera->is_of_longer_side && aspect < 1.0)
        field = 2.0 * atan(tan(0.5 * field) * aspect);
    return (DevicesView){ .pose = camera->pose,
                          .field_of_view = field,
                          .width = width,
                          .height = height,
                          .near = camera->near,
                          .far = camera->far,
                          .exposure = camera->exposure,
                          .occlusion = camera->occlusion,
                          .bloom = camera->bloom };
}

bool render_frame(Sim *sim, Devices *devices, const RenderCamera *camera, const RenderImage *image,
                  RenderCounts *counts)
{
    int width = image->width, height = image->height;
    uint8_t *pixels = image->pixels;
    assert(devices && pixels && width > 0 && height > 0);
    PluginHost *plugin = sim_plugin(sim);
    size_t count = (size_t)width * (size_t)height;
    float *depth = memory_alloc_array(count, sizeof *depth);
    DevicesView view = view_of(camera, width, height);
    if (!camera->node || !devices_look_through(devices, camera->node, width, height, pixels, depth))
        devices_look(devices, &view, pixels, depth);
    bool is_fine = true;
    if (plugin && plugin_has_draw(plugin)) {
        sim_plugin_will_draw(sim);
        is_fine = render_overlay(sim, plugin, camera, depth, image);
        sim_plugin_drew(sim);
    }
    if (counts) {
        *counts = (RenderCounts){ 0 };
        devices_look_counts(devices, &counts->shapes, &counts->triangles, &counts->textures);
        for (size_t i = 0; i < count; i++)
            counts->covered += isfinite((double)depth[i]);
    }
    free(depth);
    return is_fine;
}

bool render_picture(Sim *sim, Devices *devices, const RenderCamera *camera, const RenderFile *file,
                    RenderCounts *counts)
{
    const char *path = file->path;
    assert(path && file->width > 0 && file->height > 0);
    RenderImage image = { file->width, file->height,
                          memory_alloc_array((size_t)file->width * (size_t)file->height, 4) };
    bool is_fine = render_frame(sim, devices, camera, &image, counts);
    ImagePixels pixels = { image.width, image.height, 4, image.pixels, 0 };
    if (is_fine && strcasecmp(path_extension(path), ".png") && render_picture_has_format(path))
        is_fine = image_write_jpeg(path, &pixels, file->quality, sim_diags(sim));
    else if (is_fine)
        is_fine = image_write_png(path, &pixels, sim_diags(sim));
    free(image.pixels);
    return is_fine;
}
