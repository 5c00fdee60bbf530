// depth.c - range finders and lidars: images of distances, one ray for each point. Pixels run from the left, rows from the top.
// What is nearer than minRange or not nearer than maxRange is INFINITY, as Webots has it.
#include "devices/devices_internal.h"

#include <webots/nodes.h>

#include <string.h>

enum { DEPTH_PIXELS_MAX = 1 << 20, RAYS_AT_ONCE = 64 };
typedef enum Projection { PLANAR, CYLINDRICAL, SPHERICAL } Projection;

typedef struct Optics {
    int width, height;
    Projection projection;
    bool is_lidar;
    double horizontal, vertical;   // fields of view, rad
    double tilt;
    double near, low, high, noise, resolution, detection;
} Optics;

static Projection projection_of(const SceneNode *node)
{
    const char *name = scene_string(node, "projection");
    return !strcmp(name, "cylindrical") ? CYLINDRICAL : !strcmp(name, "spherical") ? SPHERICAL : PLANAR;
}

// A turning lidar sees all around; its resolution is that of one field of view.
static bool is_rotating(const SceneNode *lidar)
{
    return !strcmp(scene_string(lidar, "type"), "rotating");
}

static int lidar_columns(const SceneNode *lidar)
{
    int columns = scene_int(lidar, "horizontalResolution");
    double view = scene_float(lidar, "fieldOfView");
    return is_rotating(lidar) && view > 0.0 ? (int)double_clamp(round(columns * 2.0 * M_PI / view), 1.0, DEPTH_PIXELS_MAX) : columns;
}

static Optics optics_of(const SceneNode *node, bool is_lidar)
{
    Optics optics = {
        .projection = projection_of(node), .is_lidar = is_lidar, .horizontal = scene_float(node, "fieldOfView"), .near = scene_float(node, "near"),
        .low = scene_float(node, "minRange"), .high = scene_float(node, "maxRange"), .noise = scene_float(node, "noise"),
        .resolution = scene_float(node, "resolution"), .detection = scene_float(node, "detectionRate"),
    };
    if (is_lidar) {
        optics.width = lidar_columns(node);
        optics.height = scene_int(node, "numberOfLayers");
        optics.vertical = scene_float(node, "verticalFieldOfView");
        optics.tilt = scene_float(node, "tiltAngle");
        if (is_rotating(node))
            optics.horizontal = 2.0 * M_PI;
    } else {
        optics.width = scene_int(node, "width");
        optics.height = scene_int(node, "height");
        optics.vertical = optics.horizontal * optics.height / int_max(optics.width, 1);
    }
    return optics;
}

// Before the tilt: x ahead, y left, z up; of unit length. Layers of a lidar reach from edge to edge of its view, pixels of an
// image are met in their middle.
static Vec3 direction_of(const Optics *o, int column, int row)
{
    double across = 0.5 - (column + 0.5) / o->width;                // 0.5 at the left
    double above = o->is_lidar ? (o->height > 1 ? 0.5 - (double)row / (o->height - 1) : 0.0) : 0.5 - (row + 0.5) / o->height;
    if (o->projection == PLANAR) {
        double y = 2.0 * across * tan(0.5 * o->horizontal);
        double z = o->is_lidar ? tan(o->vertical * above) : 2.0 * above * tan(0.5 * o->horizontal) * o->height / o->width;
        return vec3_normalized(vec3(1.0, y, z));
    }
    double angle = o->horizontal * across;
    if (o->projection == CYLINDRICAL && !o->is_lidar)
        return vec3_normalized(vec3(cos(angle), sin(angle), 2.0 * above * tan(0.5 * o->vertical)));
    double up = o->vertical * above;
    return vec3(cos(up) * cos(angle), cos(up) * sin(angle), sin(up));
}

// A flat image holds depths along the axis, the others hold distances.
static float depth_of(const Optics *o, const RayHit *hit, Vec3 direction, Random *random)
{
    if (hit->visual < 0)
        return INFINITY;
    double depth = o->projection == PLANAR ? hit->distance * direction.x : hit->distance;
    if (!(depth >= o->low && depth < o->high))
        return INFINITY;
    if (o->detection < 1.0 && random_uniform(random) >= o->detection)
        return INFINITY;
    if (o->noise > 0.0)
        depth = fmax(depth + o->noise * o->high * random_gaussian(random), 0.0);
    return (float)device_rounded(depth, o->resolution);
}

static int take_image(DeviceContext *at, const Optics *o)
{
    if (o->width < 1 || o->height < 1 || (int64_t)o->width * o->height > DEPTH_PIXELS_MAX) {
        diag_warning(at->devices->diags, at->info->node->pos, "'%s' has %d by %d points, of which at most %d can be seen; it sees nothing",
                     at->info->name, o->width, o->height, DEPTH_PIXELS_MAX);
        return 0;
    }
    int count = o->width * o->height;
    float *image = device_image(at, 0, count * (int)sizeof *image);
    Rays *rays = device_rays(at);
    Pose pose = device_pose(at);
    Quat turn = quat_mul(pose.q, quat_from_axis_angle(vec3(0, 1, 0), -o->tilt));
    for (int first = 0; first < count; first += RAYS_AT_ONCE) {
        Ray queries[RAYS_AT_ONCE];
        RayHit hits[RAYS_AT_ONCE];
        Vec3 directions[RAYS_AT_ONCE];
        int here = int_min(count - first, RAYS_AT_ONCE);
        for (int i = 0; i < here; i++) {
            directions[i] = direction_of(o, (first + i) % o->width, (first + i) / o->width);
            double slant = o->projection == PLANAR ? directions[i].x : 1.0;
            queries[i] = (Ray){ pose.t, quat_rotate(turn, directions[i]), o->near, fmax(o->high / slant, o->near * 2.0) };
        }
        rays_cast(rays, queries, here, NULL, NULL, hits);
        for (int i = 0; i < here; i++)
            image[first + i] = depth_of(o, &hits[i], directions[i], at->random);
    }
    return 0;
}

// ---- range finders ----

static int range_finder_sample(DeviceContext *at, int channel, double *reading)
{
    (void)channel, (void)reading;
    Optics optics = optics_of(at->info->node, false);
    return take_image(at, &optics);
}

// width, height, field of view, min and max range
static int range_finder_constants(DeviceContext *at, double *values, int capacity)
{
    Optics optics = optics_of(at->info->node, false);
    const double all[5] = { optics.width, optics.height, optics.horizontal, optics.low, optics.high };
    if (capacity < 5)
        return 0;
    memcpy(values, all, sizeof all);
    return 5;
}

const DeviceKind range_finder_device = {
    .type = "RangeFinder", .code = WB_NODE_RANGE_FINDER, .channels = 1, .sample = range_finder_sample, .constants = range_finder_constants,
};

// ---- lidars ----

static int lidar_sample(DeviceContext *at, int channel, double *reading)
{
    (void)channel, (void)reading;
    Optics optics = optics_of(at->info->node, true);
    return take_image(at, &optics);
}

// columns, layers, fields of view, min and max range, frequency, its limits, whether it is planar, tilt, its whole view
static int lidar_constants(DeviceContext *at, double *values, int capacity)
{
    const SceneNode *node = at->info->node;
    Optics optics = optics_of(node, true);
    const double all[12] = { optics.width, optics.height, scene_float(node, "fieldOfView"), optics.vertical, optics.low, optics.high,
                             scene_float(node, "defaultFrequency"), scene_float(node, "minFrequency"), scene_float(node, "maxFrequency"),
                             optics.projection == PLANAR, optics.tilt, optics.horizontal };
    if (capacity < 12)
        return 0;
    memcpy(values, all, sizeof all);
    return 12;
}

const DeviceKind lidar_device = {
    .type = "Lidar", .code = WB_NODE_LIDAR, .channels = 1, .sample = lidar_sample, .constants = lidar_constants,
};
