// camera.c - cameras: their facts, settings and pictures, and what they recognise.
// Constants: width, height, field of view, near, exposure, has zoom, its two limits, has focus, focal distance and
// length, its two limits, has recognition, has segmentation (devices/simple.c).
#include "core.h"

#include <webots/camera.h>
#include <webots/range_finder.h>

#include <stdlib.h>
#include <string.h>

enum {
    WIDTH,
    HEIGHT,
    FOV,
    NEAR,
    EXPOSURE,
    HAS_ZOOM,
    MIN_FOV,
    MAX_FOV,
    HAS_FOCUS,
    FOCAL_DISTANCE,
    FOCAL_LENGTH,
    MIN_FOCAL,
    MAX_FOCAL,
    HAS_RECOGNITION,
    HAS_SEGMENTATION
};
#define CAMERA(tag) CORE_DEVICE(tag, WB_NODE_CAMERA)
// Old programs ask their range finder as a camera, which it was until V8.3. Width, height and field of view stand first
// in the constants of both.
#define EYE(tag) CORE_DEVICE(tag, WB_NODE_CAMERA, WB_NODE_RANGE_FINDER)

static void enable(CoreDevice *device, WbDeviceTag tag, int channel, int period, const char *who)
{
    assert(channel >= 0 && channel < CORE_CHANNELS);
    if (!device)
        return;
    if (period < 0)
        core_warn(who, "the sampling period %d is negative", period);
    else
        core_enable(tag, channel, period);
}

static int period_of(const CoreDevice *device, int channel)
{
    assert(channel >= 0 && channel < CORE_CHANNELS);
    return device ? device->channels[channel].period : 0;
}

void wb_camera_enable(WbDeviceTag tag, int sampling_period)
{
    CoreDevice *device = EYE(tag);
    if (device && device->channels[0].period == 0)
        device->enabled_at = core.time;
    enable(device, tag, 0, sampling_period, __func__);
}

void wb_camera_disable(WbDeviceTag tag) { enable(EYE(tag), tag, 0, 0, __func__); }

int wb_camera_get_sampling_period(WbDeviceTag tag) { return period_of(EYE(tag), 0); }

static size_t picture_size(const CoreDevice *device)
{
    return 4 * (size_t)core_constant(device, WIDTH) * (size_t)core_constant(device, HEIGHT);
}

// NULL before the first step, then black until the first picture is due.
static const unsigned char *picture_of(CoreDevice *device)
{
    assert_debug(device);
    core_fetch_image(device, 0);
    struct CoreChannel *channel = &device->channels[0];
    if (channel->byte_count == picture_size(device))
        return channel->bytes;
    if (core.time <= device->enabled_at) {
        channel->looks = 0;  // nothing was given that could be kept
        return NULL;
    }
    free(channel->bytes);
    channel->byte_count = picture_size(device);
    channel->bytes = calloc(1, channel->byte_count);
    return channel->bytes;
}

static int save(const CoreDevice *device, const unsigned char *pixels, const char *filename, int quality,
                const char *who)
{
    if (!device || !filename)
        return -1;
    if (!pixels) {
        core_warn(who, "the camera '%s' has no picture yet", device->name);
        return -1;
    }
    return core_save_picture(filename, pixels, (int)core_constant(device, WIDTH), (int)core_constant(device, HEIGHT),
                             quality < 1     ? 1
                             : quality > 100 ? 100
                                             : quality)
               ? 0
               : -1;
}

const unsigned char *wb_camera_get_image(WbDeviceTag tag)
{
    CoreDevice *device = CAMERA(tag);
    if (!device)
        return NULL;
    if (device->channels[0].period == 0) {
        core_warn(__func__, "the camera '%s' is not enabled", device->name);
        return NULL;
    }
    return picture_of(device);
}

int wb_camera_save_image(WbDeviceTag tag, const char *filename, int quality)
{
    CoreDevice *device = CAMERA(tag);
    return save(device, device && device->channels[0].period ? picture_of(device) : NULL, filename, quality, __func__);
}

const float *wb_camera_get_range_image(WbDeviceTag tag) { return wb_range_finder_get_range_image(tag); }

double wb_camera_get_max_range(WbDeviceTag tag) { return wb_range_finder_get_max_range(tag); }

#define EYE_FACT(function, type, index)                                                                                \
    type function(WbDeviceTag tag) { return (type)core_constant(EYE(tag), index); }
EYE_FACT(wb_camera_get_width, int, WIDTH)
EYE_FACT(wb_camera_get_height, int, HEIGHT)
EYE_FACT(wb_camera_get_fov, double, FOV)

#define CAMERA_FACT(function, type, index)                                                                             \
    type function(WbDeviceTag tag) { return (type)core_constant(CAMERA(tag), index); }
CAMERA_FACT(wb_camera_get_near, double, NEAR)
CAMERA_FACT(wb_camera_get_exposure, double, EXPOSURE)
CAMERA_FACT(wb_camera_get_focal_length, double, FOCAL_LENGTH)
CAMERA_FACT(wb_camera_get_focal_distance, double, FOCAL_DISTANCE)
CAMERA_FACT(wb_camera_get_min_focal_distance, double, MIN_FOCAL)
CAMERA_FACT(wb_camera_get_max_focal_distance, double, MAX_FOCAL)

double wb_camera_get_min_fov(WbDeviceTag tag)
{
    const CoreDevice *device = CAMERA(tag);
    return core_constant(device, core_constant(device, HAS_ZOOM) != 0.0 ? MIN_FOV : FOV);
}

double wb_camera_get_max_fov(WbDeviceTag tag)
{
    const CoreDevice *device = CAMERA(tag);
    return core_constant(device, core_constant(device, HAS_ZOOM) != 0.0 ? MAX_FOV : FOV);
}

enum { SET_FOV, SET_EXPOSURE, SET_SEGMENTATION, SET_FOCUS };

// A constant that a program may set. What needs a node of its own (Zoom, Focus) has limits, and is not there without
// it.
typedef struct Setting {
    const char *what;
    int index;      // of the constant
    bool has_node;  // then the constants that tell whether it is there, and its limits
    int has, low, high;
} Setting;
static const Setting zoom = { "zoom", FOV, true, HAS_ZOOM, MIN_FOV, MAX_FOV };
static const Setting focus = { "focus", FOCAL_DISTANCE, true, HAS_FOCUS, MIN_FOCAL, MAX_FOCAL };
static const Setting exposure_setting = { .what = "exposure", .index = EXPOSURE };

// Whether it was set.
static bool set_within(CoreDevice *device, const Setting *setting, double value, const char *who)
{
    assert(setting->index >= 0 && setting->what);
    if (!device)
        return false;
    if (setting->has_node && core_constant(device, setting->has) == 0.0)
        core_warn(who, "the camera '%s' has no %s", device->name, setting->what);
    else if (setting->has_node
             && (value < core_constant(device, setting->low) || value > core_constant(device, setting->high)))
        core_warn(who, "%g is outside the limits of the %s", value, setting->what);
    else if (setting->index < device->constant_count) {
        device->constants[setting->index] = value;
        return true;
    }
    return false;
}

void wb_camera_set_fov(WbDeviceTag tag, double fov)
{
    if (set_within(CAMERA(tag), &zoom, fov, __func__))
        core_command(tag, SET_FOV, &fov, 1, NULL, 0);
}

void wb_camera_set_focal_distance(WbDeviceTag tag, double focal_distance)
{
    if (set_within(CAMERA(tag), &focus, focal_distance, __func__))
        core_command(tag, SET_FOCUS, &focal_distance, 1, NULL, 0);
}

void wb_camera_set_exposure(WbDeviceTag tag, double exposure)
{
    if (exposure < 0.0)
        core_warn(__func__, "an exposure cannot be negative");
    else if (set_within(CAMERA(tag), &exposure_setting, exposure, __func__))
        core_command(tag, SET_EXPOSURE, &exposure, 1, NULL, 0);
}

// ---- recognition ----

bool wb_camera_has_recognition(WbDeviceTag tag) { return core_constant(CAMERA(tag), HAS_RECOGNITION) != 0.0; }

void wb_camera_recognition_enable(WbDeviceTag tag, int sampling_period)
{
    if (!wb_camera_has_recognition(tag))
        core_warn(__func__, "the camera has no Recognition node");
    else
        enable(CAMERA(tag), tag, 1, sampling_period, __func__);
}

void wb_camera_recognition_disable(WbDeviceTag tag) { enable(CAMERA(tag), tag, 1, 0, __func__); }

int wb_camera_recognition_get_sampling_period(WbDeviceTag tag) { return period_of(CAMERA(tag), 1); }

int wb_camera_recognition_get_number_of_objects(WbDeviceTag tag)
{
    const double *count = core_reading(CAMERA(tag), 1, NULL);
    return count ? (int)count[0] : 0;
}

// As devices/camera.c packs it: the number of objects, then for each of them its numbers, colours and model.
static WbCameraRecognitionObject unpack(double **from)
{
    enum { NUMBERS = 15 };
    double *n = *from;
    assert_debug(n[14] >= 0.0);
    WbCameraRecognitionObject object = {
        .id = (int)n[0],
        .position = { n[1], n[2], n[3] },
        .orientation = { n[4], n[5], n[6], n[7] },
        .size = { n[8], n[9] },
        .position_on_image = { (int)n[10], (int)n[11] },
        .size_on_image = { (int)n[12], (int)n[13] },
        .number_of_colors = (int)n[14],
        .colors = n + NUMBERS,
        .model = (char *)(n + NUMBERS + 3 * (int)n[14]),
    };
    *from = n + NUMBERS + 3 * object.number_of_colors + strlen(object.model) / sizeof(double) + 1;
    return object;
}

const WbCameraRecognitionObject *wb_camera_recognition_get_objects(WbDeviceTag tag)
{
    CoreDevice *device = CAMERA(tag);
    int count = device ? wb_camera_recognition_get_number_of_objects(tag) : 0;
    if (count == 0)
        return NULL;
    assert_debug(count > 0 && device->channels[1].bytes);
    free(device->own);
    WbCameraRecognitionObject *objects = malloc((size_t)count * sizeof *objects);
    double *from = (double *)device->channels[1].bytes + 1;
    for (int i = 0; i < count; i++)
        objects[i] = unpack(&from);
    device->own = objects;
    return objects;
}

bool wb_camera_recognition_has_segmentation(WbDeviceTag tag)
{
    return core_constant(CAMERA(tag), HAS_SEGMENTATION) != 0.0;
}

static void segment(WbDeviceTag tag, bool is_on, const char *who)
{
    CoreDevice *device = CAMERA(tag);
    if (!device)
        return;
    if (core_constant(device, HAS_SEGMENTATION) == 0.0) {
        core_warn(who, "the camera has no segmentation");
        return;
    }
    device->is_segmented = is_on;
    core_command(tag, SET_SEGMENTATION, (double[]){ is_on }, 1, NULL, 0);
}

void wb_camera_recognition_enable_segmentation(WbDeviceTag tag) { segment(tag, true, __func__); }

void wb_camera_recognition_disable_segmentation(WbDeviceTag tag) { segment(tag, false, __func__); }

bool wb_camera_recognition_is_segmentation_enabled(WbDeviceTag tag)
{
    const CoreDevice *device = CAMERA(tag);
    return device && device->is_segmented;
}

const unsigned char *wb_camera_recognition_get_segmentation_image(WbDeviceTag tag)
{
    enum { SEGMENTED = 2 };
    static_assert((int)SEGMENTED < (int)CORE_CHANNELS, "a channel of its own");
    CoreDevice *device = CAMERA(tag);
    if (!device || !device->is_segmented || device->channels[1].period == 0)
        return NULL;
    core_fetch_image(device, SEGMENTED);
    const struct CoreChannel *channel = &device->channels[SEGMENTED];
    return channel->byte_count == picture_size(device) ? channel->bytes : NULL;
}

int wb_camera_recognition_save_segmentation_image(WbDeviceTag tag, const char *filename, int quality)
{
    return save(CAMERA(tag), wb_camera_recognition_get_segmentation_image(tag), filename, quality, __func__);
}
