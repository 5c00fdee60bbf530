// range.c - range finders and lidars: images of distances and the clouds of points made of them.
// Constants of a lidar: columns, layers, fields of view, min and max range, frequency, its limits, whether it is
// planar, tilt, the whole view, whether it rotates (devices/depth.c).
#include "core.h"

#include <webots/lidar.h>
#include <webots/range_finder.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMNS,
    LAYERS,
    FOV,
    VERTICAL_FOV,
    MIN_RANGE,
    MAX_RANGE,
    FREQUENCY,
    MIN_FREQUENCY,
    MAX_FREQUENCY,
    IS_PLANAR,
    TILT,
    WHOLE_FOV,
    IS_ROTATING
};
#define LIDAR(tag) CORE_DEVICE(tag, WB_NODE_LIDAR)
#define FINDER(tag) CORE_DEVICE(tag, WB_NODE_RANGE_FINDER)

static void enable(CoreDevice *device, WbDeviceTag tag, int period, const char *who)
{
    if (device && period < 0)
        core_warn(who, "the sampling period %d is negative", period);
    else if (device)
        core_enable(tag, 0, period);
}

#define SWITCHES(prefix, device)                                                                                       \
    void prefix##_enable(WbDeviceTag tag, int sampling_period)                                                         \
    {                                                                                                                  \
        enable(device(tag), tag, sampling_period, __func__);                                                           \
    }                                                                                                                  \
    void prefix##_disable(WbDeviceTag tag) { enable(device(tag), tag, 0, __func__); }                                  \
    int prefix##_get_sampling_period(WbDeviceTag tag)                                                                  \
    {                                                                                                                  \
        const CoreDevice *found = device(tag);                                                                         \
        return found ? found->channels[0].period : 0;                                                                  \
    }
SWITCHES(wb_range_finder, FINDER)
SWITCHES(wb_lidar, LIDAR)

#define FACT(function, type, device, index)                                                                            \
    type function(WbDeviceTag tag) { return (type)core_constant(device(tag), index); }
FACT(wb_range_finder_get_width, int, FINDER, 0)
FACT(wb_range_finder_get_height, int, FINDER, 1)
FACT(wb_range_finder_get_fov, double, FINDER, 2)
FACT(wb_range_finder_get_min_range, double, FINDER, 3)
FACT(wb_range_finder_get_max_range, double, FINDER, 4)
FACT(wb_lidar_get_horizontal_resolution, int, LIDAR, COLUMNS)
FACT(wb_lidar_get_number_of_layers, int, LIDAR, LAYERS)
FACT(wb_lidar_get_fov, double, LIDAR, FOV)
FACT(wb_lidar_get_vertical_fov, double, LIDAR, VERTICAL_FOV)
FACT(wb_lidar_get_min_range, double, LIDAR, MIN_RANGE)
FACT(wb_lidar_get_max_range, double, LIDAR, MAX_RANGE)
FACT(wb_lidar_get_frequency, double, LIDAR, FREQUENCY)
FACT(wb_lidar_get_min_frequency, double, LIDAR, MIN_FREQUENCY)
FACT(wb_lidar_get_max_frequency, double, LIDAR, MAX_FREQUENCY)

// Zeros until the first image.
static const float *image_of(CoreDevice *device)
{
    if (!device)
        return NULL;
    core_fetch_image(device, 0);
    struct CoreChannel *channel = &device->channels[0];
    size_t size = (size_t)(core_constant(device, 0) * core_constant(device, 1)) * sizeof(float);
    if (channel->byte_count == size)
        return (const float *)channel->bytes;
    free(channel->bytes);
    channel->bytes = calloc(1, size ? size : 1);
    channel->byte_count = size;
    return (const float *)channel->bytes;
}

const float *wb_range_finder_get_range_image(WbDeviceTag tag) { return image_of(FINDER(tag)); }

// A PNG with black for minRange and white for maxRange and beyond, or the numbers themselves as HDR.
int wb_range_finder_save_image(WbDeviceTag tag, const char *filename, int quality)
{
    (void)quality;
    CoreDevice *device = FINDER(tag);
    const float *image = image_of(device);
    if (!image || !filename)
        return -1;
    return core_save_depth(filename, image, (int)core_constant(device, 0), (int)core_constant(device, 1),
                           core_constant(device, 3), core_constant(device, 4))
               ? 0
               : -1;
}

void wb_lidar_set_frequency(WbDeviceTag tag, double frequency)
{
    CoreDevice *device = LIDAR(tag);
    if (device
        && !(frequency >= core_constant(device, MIN_FREQUENCY) && frequency <= core_constant(device, MAX_FREQUENCY)))
        core_warn(__func__, "the frequency %g is outside minFrequency and maxFrequency", frequency);
    else if (device && FREQUENCY < device->constant_count)
        device->constants[FREQUENCY] = frequency;
}

// ---- clouds ----

typedef struct Cloud {
    bool is_on;
    uint32_t serial;  // of the image it was made of, from 1
    WbLidarPoint points[];
} Cloud;

static int point_count(const CoreDevice *device)
{
    return (int)(core_constant(device, COLUMNS) * core_constant(device, LAYERS));
}

static Cloud *cloud_of(CoreDevice *device)
{
    if (device && !device->own)
        device->own = calloc(1, sizeof(Cloud) + (size_t)point_count(device) * sizeof(WbLidarPoint));
    return device ? device->own : NULL;
}

static float along(double range, double component)
{
    return component == 0.0 ? 0.0f : (float)(range * component);  // endless times nothing is nothing
}

static void make_point(const CoreDevice *device, float range, int column, int layer, WbLidarPoint *point)
{
    assert_debug(point && column < core_constant(device, COLUMNS) && layer < core_constant(device, LAYERS));
    assert(column >= 0 && layer >= 0);
    double columns = core_constant(device, COLUMNS), layers = core_constant(device, LAYERS),
           tilt = core_constant(device, TILT);
    double first = core_constant(device, IS_ROTATING) != 0.0 ? 0.0 : 0.5;
    double across = first - (column + 0.5) / columns, above = layers > 1 ? 0.5 - layer / (layers - 1) : 0.0;
    double up = core_constant(device, VERTICAL_FOV) * above, side = core_constant(device, WHOLE_FOV) * across, x, y, z;
    if (core_constant(device, IS_PLANAR) != 0.0) {
        x = 1.0;
        y = 2.0 * across * tan(0.5 * core_constant(device, WHOLE_FOV));
        z = tan(up);
    } else {
        x = cos(up) * cos(side);
        y = cos(up) * sin(side);
        z = sin(up);
    }
    double ahead = cos(tilt) * x - sin(tilt) * z, high = sin(tilt) * x + cos(tilt) * z;
    // One sweep of the view takes its share of a turn.
    double sweep = core_constant(device, WHOLE_FOV) / (2.0 * M_PI) / core_constant(device, FREQUENCY);
    double time = core.time - sweep * (1.0 - (column + 0.5) / columns);
    *point = (WbLidarPoint){ along(range, ahead), along(range, y), along(range, high), layer, (float)time };
}

void wb_lidar_enable_point_cloud(WbDeviceTag tag)
{
    Cloud *cloud = cloud_of(LIDAR(tag));
    if (cloud)
        cloud->is_on = true;
}

void wb_lidar_disable_point_cloud(WbDeviceTag tag)
{
    Cloud *cloud = cloud_of(LIDAR(tag));
    if (cloud)
        cloud->is_on = false;
}

bool wb_lidar_is_point_cloud_enabled(WbDeviceTag tag)
{
    const Cloud *cloud = cloud_of(LIDAR(tag));
    return cloud && cloud->is_on;
}

static bool layer_is_there(const CoreDevice *device, int layer, const char *who)
{
    bool is_there = layer >= 0 && layer < core_constant(device, LAYERS);
    if (device && !is_there)
        core_warn(who, "the lidar '%s' has no layer %d", device->name, layer);
    return device && is_there;
}

const float *wb_lidar_get_range_image(WbDeviceTag tag) { return image_of(LIDAR(tag)); }

const float *wb_lidar_get_layer_range_image(WbDeviceTag tag, int layer)
{
    CoreDevice *device = LIDAR(tag);
    if (!layer_is_there(device, layer, __func__))
        return NULL;
    return image_of(device) + (ptrdiff_t)layer * (ptrdiff_t)core_constant(device, COLUMNS);
}

static const WbLidarPoint *points_of(CoreDevice *device, const char *who)
{
    Cloud *cloud = cloud_of(device);
    if (!cloud)
        return NULL;
    if (!cloud->is_on) {
        core_warn(who, "the point cloud of '%s' is not enabled", device->name);
        return NULL;
    }
    uint32_t serial = device->channels[0].serial;
    const float *image = image_of(device);
    int columns = (int)core_constant(device, COLUMNS), count = point_count(device);
    assert_debug(columns > 0 || count == 0);
    for (int i = 0; serial > 0 && cloud->serial != serial && i < count; i++)
        make_point(device, image[i], i % columns, i / columns, &cloud->points[i]);
    cloud->serial = serial;
    return cloud->points;
}

const WbLidarPoint *wb_lidar_get_point_cloud(WbDeviceTag tag) { return points_of(LIDAR(tag), __func__); }

const WbLidarPoint *wb_lidar_get_layer_point_cloud(WbDeviceTag tag, int layer)
{
    CoreDevice *device = LIDAR(tag);
    if (!layer_is_there(device, layer, __func__))
        return NULL;
    assert(layer >= 0);
    const WbLidarPoint *points = points_of(device, __func__);
    return points ? points + (ptrdiff_t)layer * (ptrdiff_t)core_constant(device, COLUMNS) : NULL;
}

int wb_lidar_get_number_of_points(WbDeviceTag tag) { return point_count(LIDAR(tag)); }
