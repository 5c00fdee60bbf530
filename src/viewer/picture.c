// A picture in a file: the view of the moment, drawn once and written as its name says.
#include "assets/image.h"
#include "base/file.h"
#include "viewer/render.h"

#include <strings.h>

bool render_picture_has_format(const char *path)
{
    const char *extension = path_extension(path);
    return !strcasecmp(extension, ".png") || !strcasecmp(extension, ".jpg") || !strcasecmp(extension, ".jpeg");
}

Pose render_follow_start(const Scene *scene)
{
    const SceneNode *followed = render_follow_solid(scene);
    return followed ? scene_world_pose(followed) : POSE_IDENTITY;
}

RenderCamera render_view(Sim *sim, Pose follow_start)
{
    sim_sync_scene(sim);
    const Scene *scene = sim_scene(sim);
    RenderCamera camera = render_viewpoint(scene);
    const SceneNode *followed = render_follow_solid(scene);
    if (followed)
        camera.pose = render_followed(scene, camera.pose, follow_start, scene_world_pose(followed));
    return camera;
}

bool render_picture(Sim *sim, const RenderCamera *camera, int width, int height, const char *path, int quality, RenderCounts *counts)
{
    Renderer *renderer = render_create(sim, width, height);
    if (!renderer)
        return false;
    sim_plugin_will_draw(sim);
    const uint8_t *pixels = render_frame(renderer, camera, sim_plugin(sim));
    sim_plugin_drew(sim);
    bool is_fine = pixels != NULL;
    if (is_fine && strcasecmp(path_extension(path), ".png") && render_picture_has_format(path))
        is_fine = image_write_jpeg(path, width, height, 4, pixels, quality, sim_diags(sim));
    else if (is_fine)
        is_fine = image_write_png(path, width, height, 4, pixels, 0, sim_diags(sim));
    if (counts)
        *counts = render_counts(renderer);
    render_destroy(renderer);
    return is_fine;
}
