// camera.c - cameras: their facts and settings. Pictures are not made yet: they are black from the first step after enabling
// on, so that programs that look at them go on; before that there is none.
// Constants: width, height, field of view, near, exposure, has zoom, its two limits, has focus, focal distance and length,
// its two limits, has recognition, has segmentation (devices/simple.c).
#include "core.h"

#include <webots/camera.h>

#include <stdlib.h>
#include <string.h>

enum { WIDTH, HEIGHT, FOV, NEAR, EXPOSURE, HAS_ZOOM, MIN_FOV, MAX_FOV, HAS_FOCUS, FOCAL_DISTANCE, FOCAL_LENGTH, MIN_FOCAL, MAX_FOCAL, HAS_RECOGNITION,
       HAS_SEGMENTATION };
#define CAMERA(tag) CORE_DEVICE(tag, WB_NODE_CAMERA)

static void enable(CoreDevice *device, WbDeviceTag tag, int channel, int period, const char *who)
{
    if (!device)
        return;
    if (period < 0)
        core_warn(who, "the sampling period %d is negative", period);
    else
        core_enable(tag, channel, period);
}

typedef struct Picture {
    double enabled_at;
    bool was_told;
    unsigned char pixels[];
} Picture;

static Picture *picture_of(CoreDevice *device)
{
    if (!device->picture)
        device->picture = calloc(1, sizeof(Picture) + 4 * (size_t)core_constant(device, WIDTH) * (size_t)core_constant(device, HEIGHT));
    return device->picture;
}

static int period_of(const CoreDevice *device, int channel)
{
    return device ? device->channels[channel].period : 0;
}

void wb_camera_enable(WbDeviceTag tag, int sampling_period)
{
    CoreDevice *device = CAMERA(tag);
    if (device)
        picture_of(device)->enabled_at = core.time;
    enable(device, tag, 0, sampling_period, __func__);
}

void wb_camera_disable(WbDeviceTag tag)
{
    enable(CAMERA(tag), tag, 0, 0, __func__);
}

int wb_camera_get_sampling_period(WbDeviceTag tag)
{
    return period_of(CAMERA(tag), 0);
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
    Picture *picture = picture_of(device);
    if (core.time <= picture->enabled_at)
        return NULL;
    if (!picture->was_told)
        core_warn(__func__, "pictures are not made yet: that of '%s' is black", device->name);
    picture->was_told = true;
    return picture->pixels;
}

int wb_camera_save_image(WbDeviceTag tag, const char *filename, int quality)
{
    (void)CAMERA(tag), (void)filename, (void)quality;
    return -1;
}

#define CAMERA_FACT(function, type, index)                \
    type function(WbDeviceTag tag)                        \
    {                                                     \
        return (type)core_constant(CAMERA(tag), index);   \
    }
CAMERA_FACT(wb_camera_get_width, int, WIDTH)
CAMERA_FACT(wb_camera_get_height, int, HEIGHT)
CAMERA_FACT(wb_camera_get_fov, double, FOV)
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

static void set_within(CoreDevice *device, int index, double value, int has, int low, int high, const char *what, const char *who)
{
    if (!device)
        return;
    if (has >= 0 && core_constant(device, has) == 0.0)
        core_warn(who, "the camera '%s' has no %s", device->name, what);
    else if (has >= 0 && (value < core_constant(device, low) || value > core_constant(device, high)))
        core_warn(who, "%g is outside the limits of the %s", value, what);
    else if (index < device->constant_count)
        device->constants[index] = value;
}

void wb_camera_set_fov(WbDeviceTag tag, double fov)
{
    set_within(CAMERA(tag), FOV, fov, HAS_ZOOM, MIN_FOV, MAX_FOV, "zoom", __func__);
}

void wb_camera_set_focal_distance(WbDeviceTag tag, double focal_distance)
{
    set_within(CAMERA(tag), FOCAL_DISTANCE, focal_distance, HAS_FOCUS, MIN_FOCAL, MAX_FOCAL, "focus", __func__);
}

void wb_camera_set_exposure(WbDeviceTag tag, double exposure)
{
    set_within(CAMERA(tag), EXPOSURE, exposure, -1, 0, 0, "exposure", __func__);
}

// ---- recognition ----

bool wb_camera_has_recognition(WbDeviceTag tag)
{
    return core_constant(CAMERA(tag), HAS_RECOGNITION) != 0.0;
}

void wb_camera_recognition_enable(WbDeviceTag tag, int sampling_period)
{
    if (!wb_camera_has_recognition(tag))
        core_warn(__func__, "the camera has no Recognition node");
    else
        enable(CAMERA(tag), tag, 1, sampling_period, __func__);
}

void wb_camera_recognition_disable(WbDeviceTag tag)
{
    enable(CAMERA(tag), tag, 1, 0, __func__);
}

int wb_camera_recognition_get_sampling_period(WbDeviceTag tag)
{
    return period_of(CAMERA(tag), 1);
}

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
    WbCameraRecognitionObject object = {
        .id = (int)n[0], .position = { n[1], n[2], n[3] }, .orientation = { n[4], n[5], n[6], n[7] }, .size = { n[8], n[9] },
        .position_on_image = { (int)n[10], (int)n[11] }, .size_on_image = { (int)n[12], (int)n[13] }, .number_of_colors = (int)n[14],
        .colors = n + NUMBERS, .model = (char *)(n + NUMBERS + 3 * (int)n[14]),
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

void wb_camera_recognition_enable_segmentation(WbDeviceTag tag)
{
    if (!wb_camera_recognition_has_segmentation(tag))
        core_warn(__func__, "the camera has no segmentation");
}

void wb_camera_recognition_disable_segmentation(WbDeviceTag tag)
{
    (void)CAMERA(tag);
}

bool wb_camera_recognition_is_segmentation_enabled(WbDeviceTag tag)
{
    (void)CAMERA(tag);
    return false;
}

const unsigned char *wb_camera_recognition_get_segmentation_image(WbDeviceTag tag)
{
    (void)CAMERA(tag);
    return NULL;
}

int wb_camera_recognition_save_segmentation_image(WbDeviceTag tag, const char *filename, int quality)
{
    (void)CAMERA(tag), (void)filename, (void)quality;
    return -1;
}
