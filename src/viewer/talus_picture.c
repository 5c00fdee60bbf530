// Pictures in the library's own interface (include/talus/talus.h): what a camera or the Viewpoint sees now.
#include "base/memory.h"
#include "sim/library.h"
#include "viewer/render.h"

#include <stdlib.h>
#include <string.h>

// The camera that a node is, or the Viewpoint as it stands. A clone reads the Viewpoint's own fields, which it shares.
static bool camera_of(TalusWorld *world, TalusNode id, RenderCamera *camera)
{
    if (id == TALUS_NONE) {
        *camera = render_viewpoint(sim_scene(world->sim));
        return true;
    }
    const SceneNode *node = scene_actual(library_node(world, id));
    if (!node || !scene_node_is(node, "Camera"))
        return library_failed("node %u is no Camera", id);
    *camera = render_camera(node);
    return true;
}

static bool size_is_sound(int width, int height)
{
    return (width > 0 && height > 0 && width <= RENDER_MOST_PIXELS && height <= RENDER_MOST_PIXELS)
           || library_failed("a picture has 1 to %d pixels along each side, not %d by %d", RENDER_MOST_PIXELS, width,
                             height);
}

// A world that nobody asked for a device has none for pictures either: they would become part of its state.
static Devices *eyes_of(TalusWorld *world)
{
    return world->devices ? world->devices
                          : devices_create(sim_scene(world->sim), sim_physics(world->sim), world->diags);
}

static void eyes_free(TalusWorld *world, Devices *eyes)
{
    if (eyes != world->devices)
        devices_destroy(eyes);
}

bool talus_picture(TalusWorld *world, TalusNode id, int width, int height, uint8_t *pixels)
{
    RenderCamera camera;
    if (!library_given(world, pixels, "pixels") || !size_is_sound(width, height) || !camera_of(world, id, &camera))
        return false;
    Devices *eyes = eyes_of(world);
    bool is_fine = render_frame(world->sim, eyes, &camera, &(RenderImage){ width, height, pixels }, NULL);
    eyes_free(world, eyes);
    return library_told(world, is_fine);
}

bool talus_picture_write(TalusWorld *world, TalusNode id, int width, int height, const char *path)
{
    RenderCamera camera;
    if (!library_given(world, path, "path") || !size_is_sound(width, height) || !camera_of(world, id, &camera))
        return false;
    if (!render_picture_has_format(path))
        return library_failed("%s: a picture is a .png or .jpg file", path);
    Devices *eyes = eyes_of(world);
    bool is_fine = render_picture(world->sim, eyes, &camera, &(RenderFile){ path, width, height, 90 }, NULL);
    eyes_free(world, eyes);
    return library_told(world, is_fine);
}
