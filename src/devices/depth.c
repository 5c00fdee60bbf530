// depth.c - range finders and lidars: images of distances, one ray for each point. Pixels run from the left, rows from
// the top. What is nearer than minRange or not nearer than maxRange is INFINITY, as Webots has it.
#include "devices/devices_internal.h"

#include "base/memory.h"
#include "base/pool.h"

#include <webots/nodes.h>

#include <stdlib.h>
#include <string.h>

enum { DEPTH_PIXELS_MAX = 1 << 20, RAYS_AT_ONCE = 64 };

typedef struct Optics {
    ImageView view;
    bool is_lidar, is_rotating;
    double tilt;
    double near, low, high, noise, resolution, detection;
    Pose pose;
    uint64_t seed;  // of the noise of this image
    int eye;        // whose view it is, see rays_hide
} Optics;

// A turning lidar sees all around: its columns begin ahead and go clockwise, as seen from above.
static bool is_rotating(const SceneNode *lidar) { return !strcmp(scene_string(lidar, "type"), "rotating"); }

static Optics optics_of(const SceneNode *node, bool is_lidar)
{
    Optics optics = {
        .is_lidar = is_lidar,
        .near = scene_float(node, "near"),
        .low = scene_float(node, "minRange"),
        .high = scene_float(node, "maxRange"),
        .noise = scene_float(node, "noise"),
        .resolution = scene_float(node, "resolution"),
        .detection = scene_float(node, "detectionRate"),
    };
    if (is_lidar) {
        optics.is_rotating = is_rotating(node);
        optics.view = (ImageView){
            .projection = optics.is_rotating ? CYLINDRICAL : projection_of(node),
            .width = scene_int(node, "horizontalResolution"),
            .height = scene_int(node, "numberOfLayers"),
            .horizontal = optics.is_rotating ? 2.0 * M_PI : scene_float(node, "fieldOfView"),
            .vertical = scene_float(node, "verticalFieldOfView"),
        };
        optics.tilt = scene_float(node, "tiltAngle");
    } else {
        optics.view = image_view(node, scene_float(node, "fieldOfView"));
    }
    return optics;
}

// Layers of a lidar reach from edge to edge of its view.
static Vec3 layer_direction(const Optics *o, int column, int row)
{
    const ImageView *view = &o->view;
    double across = (o->is_rotating ? 0.0 : 0.5) - (column + 0.5) / view->width;
    double above = view->height > 1 ? 0.5 - (double)row / (view->height - 1) : 0.0;
    if (view->projection == PLANAR)
        return vec3_normalized(vec3(1.0, 2.0 * across * tan(0.5 * view->horizontal), tan(view->vertical * above)));
    double angle = view->horizontal * across, up = view->vertical * above;
    return vec3(cos(up) * cos(angle), cos(up) * sin(angle), sin(up));
}

// Before the tilt.
static Vec3 direction_of(const Optics *o, int column, int row)
{
    return o->is_lidar ? layer_direction(o, column, row) : image_direction(&o->view, column + 0.5, row + 0.5);
}

// A flat image holds depths along the axis, the others hold distances.
static float depth_of(const Optics *o, double distance, Vec3 direction, Random *random)
{
    assert_debug(o->low <= o->high);
    double depth = o->view.projection == PLANAR ? distance * direction.x : distance;
    if (!(depth >= o->low && depth < o->high))
        return INFINITY;
    if (o->detection < 1.0 && random_uniform(random) >= o->detection)
        return INFINITY;
    if (o->noise > 0.0)
        depth = fmax(depth + o->noise * o->high * random_gaussian(random), 0.0);
    return (float)device_rounded(depth, o->resolution);
}

typedef struct DepthJob {
    const Optics *optics;
    const Rays *rays;
    float *image;
    Vec2 *columns;  // cosine and sine of each column's angle, where rows and columns are angles; else NULL
} DepthJob;

static bool is_of_angles(const Optics *o)
{
    return o->view.projection != PLANAR && !o->view.lens.is_there && (o->is_lidar || o->view.projection == CYLINDRICAL);
}

// Directions of a part of a row.
static void directions_of(const DepthJob *job, int row, int first, int count, Vec3 *directions)
{
    assert_debug(count <= RAYS_AT_ONCE && first >= 0 && first + count <= job->optics->view.width);
    const Optics *o = job->optics;
    if (!job->columns) {
        for (int i = 0; i < count; i++)
            directions[i] = direction_of(o, first + i, row);
        return;
    }
    double up = asin(double_clamp(direction_of(o, 0, row).z, -1.0, 1.0)), c = cos(up), s = sin(up);
    for (int i = 0; i < count; i++)
        directions[i] = vec3(c * job->columns[first + i].x, c * job->columns[first + i].y, s);
}

static bool is_visible(const Rays *rays, int visual, void *context)
{
    return !rays_is_hidden(rays, visual, ((const Optics *)context)->eye);
}

// Each row has a noise of its own, so that rows may be made in any order.
static void take_row(const DepthJob *job, int row)
{
    assert_debug(row >= 0 && row < job->optics->view.height);
    const Optics *o = job->optics;
    Random random;
    if (o->noise > 0.0 || o->detection < 1.0)
        random_seed(&random, o->seed + (uint64_t)row, "row");
    Mat3 turn = mat3_from_quat(quat_mul(o->pose.q, quat_from_axis_angle(vec3(0, 1, 0), -o->tilt)));
    float *image = job->image + (size_t)row * (size_t)o->view.width;
    for (int first = 0; first < o->view.width; first += RAYS_AT_ONCE) {
        Ray queries[RAYS_AT_ONCE];
        double distances[RAYS_AT_ONCE];
        Vec3 directions[RAYS_AT_ONCE];
        int here = int_min(o->view.width - first, RAYS_AT_ONCE);
        directions_of(job, row, first, here, directions);
        for (int i = 0; i < here; i++) {
            double slant = o->view.projection == PLANAR ? directions[i].x : 1.0;
            queries[i] = (Ray){ o->pose.t, mat3_apply(turn, directions[i]), o->near,
                                fmax(o->high / slant, o->near * 2.0), 0.0 };
        }
        rays_distances(job->rays, queries, here, rays_hides(job->rays, o->eye) ? is_visible : NULL, (void *)o,
                       distances);
        for (int i = 0; i < here; i++)
            image[first + i] = depth_of(o, distances[i], directions[i], &random);
    }
}

static void take_rows(int begin, int end, int worker, void *context)
{
    (void)worker;
    for (int row = begin; row < end; row++)
        take_row(context, row);
}

static void make_image(DeviceContext *at, int number, const void *due, void *bytes)
{
    assert_debug(due && bytes);
    (void)number;
    const Optics *o = due;
    DepthJob job = { o, at->devices->rays, bytes, NULL };
    if (is_of_angles(o)) {
        job.columns = memory_alloc_array((size_t)o->view.width, sizeof *job.columns);
        for (int i = 0; i < o->view.width; i++) {
            Vec3 d = direction_of(o, i, o->view.height / 2);
            double level = hypot(d.x, d.y);
            job.columns[i] = level > 0.0 ? (Vec2){ d.x / level, d.y / level } : (Vec2){ 1.0, 0.0 };
        }
    }
    pool_for(physics_pool(at->physics), o->view.height, 1, take_rows, &job);
    free(job.columns);
}

static int take_image(DeviceContext *at, Optics *o)
{
    if (o->view.width < 1 || o->view.height < 1 || (int64_t)o->view.width * o->view.height > DEPTH_PIXELS_MAX) {
        diag_warning(at->devices->diags, at->info->node->pos,
                     "'%s' has %d by %d points, of which at most %d can be seen; it sees nothing", at->info->name,
                     o->view.width, o->view.height, DEPTH_PIXELS_MAX);
        return 0;
    }
    o->pose = device_pose(at);
    o->eye = device_eye(at);
    o->seed = random_bits(at->random);
    device_due(at, 0, o->view.width * o->view.height * (int)sizeof(float), o, sizeof *o);
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
    const double all[5] = { optics.view.width, optics.view.height, optics.view.horizontal, optics.low, optics.high };
    if (capacity < 5)
        return 0;
    memcpy(values, all, sizeof all);
    return 5;
}

const DeviceKind range_finder_device = {
    .type = "RangeFinder",
    .code = WB_NODE_RANGE_FINDER,
    .channels = 1,
    .sample = range_finder_sample,
    .make = make_image,
    .constants = range_finder_constants,
};

// ---- lidars ----

static int lidar_sample(DeviceContext *at, int channel, double *reading)
{
    (void)channel, (void)reading;
    Optics optics = optics_of(at->info->node, true);
    return take_image(at, &optics);
}

// columns, layers, fields of view, min and max range, frequency, its limits, whether it is planar, tilt, its whole
// view, whether it rotates
static int lidar_constants(DeviceContext *at, double *values, int capacity)
{
    const SceneNode *node = at->info->node;
    Optics optics = optics_of(node, true);
    const double all[] = { optics.view.width,
                           optics.view.height,
                           scene_float(node, "fieldOfView"),
                           optics.view.vertical,
                           optics.low,
                           optics.high,
                           scene_float(node, "defaultFrequency"),
                           scene_float(node, "minFrequency"),
                           scene_float(node, "maxFrequency"),
                           optics.view.projection == PLANAR,
                           optics.tilt,
                           optics.view.horizontal,
                           optics.is_rotating };
    if (capacity < COUNT_OF(all))
        return 0;
    memcpy(values, all, sizeof all);
    return COUNT_OF(all);
}

const DeviceKind lidar_device = {
    .type = "Lidar",
    .code = WB_NODE_LIDAR,
    .channels = 1,
    .sample = lidar_sample,
    .make = make_image,
    .constants = lidar_constants,
};
