// distance.c - distance sensors: a bundle of rays. Infra-red ones meet what is seen, with its colour; the others meet
// bounding objects.
#include "devices/devices_internal.h"

#include "physics/ray.h"

#include <webots/nodes.h>

#include <string.h>
#include <strings.h>

enum { TYPE_GENERIC, TYPE_INFRA_RED, TYPE_SONAR, TYPE_LASER };
enum { RAYS_MAX = 10000 };

// Anything else is a sonar, as in Webots.
static int sensor_type(const SceneNode *node)
{
    static const struct {
        const char *name;
        int type;
    } names[] = {
        { "generic", TYPE_GENERIC },
        { "infra-red", TYPE_INFRA_RED },
        { "infrared", TYPE_INFRA_RED },
        { "laser", TYPE_LASER },
    };
    for (int i = 0; i < COUNT_OF(names); i++)
        if (!strcasecmp(scene_string(node, "type"), names[i].name))
            return names[i].type;
    return TYPE_SONAR;
}

// ---- the bundle ----

typedef struct Beam {
    double theta, alpha;  // away from the axis, about it
} Beam;

// Rings of rays for small numbers, as Webots has them: how many at which share of the half aperture.
typedef struct RingPlan {
    int centre;  // 1: a ray along the axis
    int counts[2];
    double shares[2];
} RingPlan;
static const RingPlan plans[11] = {
    { 1, { 0 }, { 0 } }, { 1, { 0 }, { 0 } },         { 0, { 2 }, { 1 } },         { 0, { 3 }, { 1 } },
    { 1, { 3 }, { 1 } }, { 1, { 4 }, { 1 } },         { 1, { 5 }, { 1 } },         { 1, { 6 }, { 1 } },
    { 1, { 7 }, { 1 } }, { 0, { 3, 6 }, { 0.3, 1 } }, { 1, { 3, 6 }, { 0.5, 1 } },
};

static int plan_small(int rays, double half, Beam *beams)
{
    assert_debug(rays >= 0 && rays < COUNT_OF(plans));
    const RingPlan *plan = &plans[rays];
    int count = 0;
    if (plan->centre)
        beams[count++] = (Beam){ 0.0, 0.0 };
    for (int ring = 0; ring < 2; ring++)
        for (int i = 0; i < plan->counts[ring]; i++) {
            double first = rays == 2 ? M_PI_2 : 0.0;  // two rays lie left and right
            beams[count++] = (Beam){ plan->shares[ring] * half, first + 2.0 * M_PI * i / plan->counts[ring] };
        }
    return count;
}

static int plan_large(int rays, double half, Beam *beams)
{
    assert_debug(rays > 0 && rays <= RAYS_MAX);
    int rings = 1, total = 1;
    while (total < rays)
        total += 3 * rings++ + 1;
    int count = 0;
    for (int ring = 0; ring < rings && count < rays; ring++) {
        int here = int_min(3 * ring + 1, rays - count);
        for (int i = 0; i < here; i++) {
            beams[count] = (Beam){ rings > 1 ? half * ring / (rings - 1) : 0.0, (double)count * 2.0 * M_PI / here };
            count++;
        }
    }
    assert_debug(count == rays);
    return count;
}

static int plan_beams(const SceneNode *node, Beam *beams)
{
    int rays = int_min(int_max(scene_int(node, "numberOfRays"), 1), RAYS_MAX);
    double half = 0.5 * fabs(scene_float(node, "aperture"));
    if (rays == 1 || !(half > 0.0) || sensor_type(node) == TYPE_LASER) {
        beams[0] = (Beam){ 0.0, 0.0 };
        return 1;
    }
    return rays <= 10 ? plan_small(rays, half, beams) : plan_large(rays, half, beams);
}

static Vec3 beam_direction(Beam beam)
{
    double a = beam.alpha + M_PI_2;
    return vec3(cos(beam.theta), sin(beam.theta) * sin(a), -sin(beam.theta) * cos(a));
}

// ---- what stops a ray ----

typedef struct RayOwner {
    int robot;  // solid of the sensor's robot, -1
    bool sees_itself;
    bool is_laser;
} RayOwner;

static const SceneNode *first_shape(const SceneNode *node, int depth)
{
    assert(depth >= 0);
    if (!node || depth > 16)
        return NULL;
    if (scene_node_is(node, "Shape"))
        return node;
    if (!scene_node_is(node, "Group"))
        return NULL;
    const FieldList *children = scene_list(node, "children");
    for (int i = 0; i < children->count; i++) {
        const SceneNode *child = scene_list_node(children, i);
        if (!child || scene_node_is(child, "Solid"))
            continue;
        const SceneNode *shape = first_shape(child, depth + 1);
        if (shape)
            return shape;
    }
    return NULL;
}

// Laser light goes through solids whose first visible surface is not opaque.
static bool is_opaque(const SceneNode *solid)
{
    const SceneNode *shape = first_shape(solid, 0), *look = shape ? scene_child(shape, "appearance") : NULL;
    if (look && scene_node_is(look, "PBRAppearance"))
        return scene_float(look, "transparency") <= 0.0;
    const SceneNode *material = look && scene_node_is(look, "Appearance") ? scene_child(look, "material") : NULL;
    return !material || scene_float(material, "transparency") <= 0.0;
}

static bool stops_ray(const Physics *physics, int shape, void *context)
{
    const RayOwner *owner = context;
    int solid = physics_shape(physics, shape).solid;
    if (solid < 0)
        return false;
    if (!owner->sees_itself && owner->robot >= 0) {
        for (int at = solid; at >= 0; at = physics_solid_parent(physics, at))
            if (at == owner->robot)
                return false;
    }
    return !owner->is_laser || is_opaque(physics_solid_node(physics, solid));
}

// ---- reading ----

static double range_of(const SceneNode *node)
{
    const FieldList *table = scene_list(node, "lookupTable");
    double range = 0.0;
    for (int i = 0; i < table->count; i++)
        range = fmax(range, fabs(table->numbers[3 * i]));
    return range;
}

static double beam_weight(const SceneNode *node, double theta)
{
    double gaussian = scene_float(node, "gaussianWidth");
    double width = fabs(scene_float(node, "aperture")) * (gaussian > 0.0 ? gaussian : 1.0);
    return width > 0.0 ? exp(-(theta / width) * (theta / width)) : 1.0;
}

// What comes of a bundle: the weighted mean, and the nearest echo.
typedef struct Echo {
    double weights, mean, factor, nearest;
} Echo;

static void add_ray(Echo *echo, double weight, double distance, double factor)
{
    echo->weights += weight;
    echo->mean += weight * distance;
    echo->factor += weight * factor;
}

// What the red light of an infra-red sensor sees at a hit, from 0.2 for black to 1 for a white mirror.
static double reflection(const Rays *rays, const RayHit *hit)
{
    RayLook look = rays_look(rays, hit);
    return 0.2 + 0.8 * look.color.x * (1.0 - 0.5 * look.roughness) * (1.0 - 0.5 * look.occlusion);
}

static double look_around(DeviceContext *at, const Beam *beams, int count, double range)
{
    assert(count >= 1 && count <= RAYS_MAX);
    const SceneNode *node = at->info->node;
    Rays *rays = device_rays(at);
    Pose pose = device_pose(at);
    Echo echo = { 0 };
    for (int i = 0; i < count; i++) {
        Ray ray = { pose.t, vec3_normalized(quat_rotate(pose.q, beam_direction(beams[i]))), 0.0, range };
        RayHit hit;
        rays_cast(rays, &ray, 1, NULL, NULL, &hit);
        bool is_hit = hit.visual >= 0 && hit.distance < range;
        add_ray(&echo, beam_weight(node, beams[i].theta), is_hit ? hit.distance : range,
                is_hit ? reflection(rays, &hit) : 1.0);
    }
    double distance = echo.mean / echo.weights, adjusted = echo.mean / echo.factor;
    return distance + (adjusted - distance) * scene_float(node, "redColorSensitivity");
}

static bool is_echoed(Vec3 direction, Vec3 normal)
{
    return acos(double_clamp(-vec3_dot(direction, normal), -1.0, 1.0)) < M_PI / 8.0;
}

static double feel_around(DeviceContext *at, const Beam *beams, int count, double range, int type)
{
    assert(count >= 1 && count <= RAYS_MAX);
    const SceneNode *robot = devices_robot_node(at->devices, at->robot);
    RayOwner owner = { physics_solid_of(at->physics, robot), scene_bool(robot, "selfCollision"), type == TYPE_LASER };
    Pose pose = device_pose(at);
    Echo echo = { .nearest = range };
    for (int i = 0; i < count; i++) {
        Vec3 direction = quat_rotate(pose.q, beam_direction(beams[i]));
        PhysicsRay ray = { pose.t, direction, range, stops_ray, &owner };
        PhysicsRayHit hit;
        bool is_hit = physics_ray_cast(at->physics, &ray, &hit);
        if (is_hit && is_echoed(direction, hit.normal))
            echo.nearest = fmin(echo.nearest, hit.distance);
        add_ray(&echo, beam_weight(at->info->node, beams[i].theta), is_hit ? hit.distance : range, 1.0);
    }
    return type == TYPE_SONAR ? echo.nearest : echo.mean / echo.weights;
}

typedef struct DistanceState {
    double spot;  // how far away a laser's light falls on something; 0: nowhere
} DistanceState;

bool distance_spot(const Devices *devices, int robot, int tag, ShownSpot *spot)
{
    const DeviceInfo *info = devices_info(devices, robot, tag);
    if (info->kind != &distance_sensor_device || devices_period(devices, robot, tag, 0) == 0)
        return false;
    const DistanceState *state = device_state(devices, robot, tag);
    if (!(state->spot > 0.0))
        return false;
    DeviceContext at = device_context((Devices *)devices, robot, tag);
    Pose pose = device_pose(&at);
    spot->place = pose_apply(pose, vec3(state->spot, 0, 0));
    spot->radius = fmax(0.5 * scene_float(info->node, "aperture") * state->spot, 1e-4);
    return true;
}

static int distance_sensor_sample(DeviceContext *at, int channel, double *reading)
{
    (void)channel;
    const SceneNode *node = at->info->node;
    Beam beams[RAYS_MAX];
    int count = plan_beams(node, beams), type = sensor_type(node);
    double range = range_of(node);
    reading[0] = 0.0;  // of an empty table
    if (scene_list(node, "lookupTable")->count == 0)
        return 1;
    double distance = type == TYPE_INFRA_RED ? look_around(at, beams, count, range)
                                             : feel_around(at, beams, count, range, type);
    *(DistanceState *)at->state = (DistanceState){ type == TYPE_LASER && distance < range ? distance : 0.0 };
    reading[0] = device_rounded(device_lookup(node, distance, at->random), scene_float(node, "resolution"));
    return 1;
}

// type, aperture, lowest and highest value of the table, then the table
static int distance_sensor_constants(DeviceContext *at, double *values, int capacity)
{
    if (capacity < 4)
        return 0;
    const FieldList *table = scene_list(at->info->node, "lookupTable");
    double low = table->count ? INFINITY : 0.0, high = table->count ? -INFINITY : 0.0;
    for (int i = 0; i < table->count; i++) {
        low = fmin(low, table->numbers[3 * i + 1]);
        high = fmax(high, table->numbers[3 * i + 1]);
    }
    values[0] = sensor_type(at->info->node);
    values[1] = scene_float(at->info->node, "aperture");
    values[2] = low;
    values[3] = high;
    return 4 + device_lookup_constants(at->info->node, values + 4, capacity - 4);
}

const DeviceKind distance_sensor_device = {
    .type = "DistanceSensor",
    .code = WB_NODE_DISTANCE_SENSOR,
    .channels = 1,
    .state_size = sizeof(DistanceState),
    .sample = distance_sensor_sample,
    .constants = distance_sensor_constants,
};
