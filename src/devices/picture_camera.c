// picture_camera.c - from the fields and settings of a camera to a picture that is due.
#include "devices/picture_internal.h"

#include "base/memory.h"

#include <string.h>

enum { PICTURE_PIXELS_MAX = 1 << 21 };

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
    assert_debug(at->state);
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
    display_show_camera(at->devices, at->robot, at->tag);
}

// The picture of the moment, in the colours of what can be recognised.
void picture_segment(DeviceContext *at)
{
    Picture picture = picture_of(at);
    picture.samples = 1;
    if (picture_fits(at, &picture.view))
        device_due(at, IMAGE_SEGMENTED, 4 * picture.view.width * picture.view.height, &picture, sizeof picture);
}
