// distance.c - distance sensors: a bundle of rays against bounding objects.
// Infra-red sensors of Webots look at pictures; here they see bounding objects too, with the colour of the solid's first
// visual shape (see docs/differences.md).
#include "devices/devices_internal.h"

#include "physics/ray.h"

#include <webots/nodes.h>

#include <string.h>

enum { TYPE_GENERIC, TYPE_INFRA_RED, TYPE_SONAR, TYPE_LASER };
enum { RAYS_MAX = 1024 };

static int sensor_type(const SceneNode *node)
{
    static const char *const names[] = { "generic", "infra-red", "sonar", "laser" };
    for (int i = 0; i < COUNT_OF(names); i++)
        if (!strcmp(scene_string(node, "type"), names[i]))
            return i;
    return TYPE_GENERIC;
}

// ---- the bundle ----

typedef struct Beam {
    double theta, alpha;  // away from the axis, about it
} Beam;

// Rings of rays for small numbers, as Webots has them: how many at which share of the half aperture.
typedef struct RingPlan {
    int centre;           // 1: a ray along the axis
    int counts[2];
    double shares[2];
} RingPlan;
static const RingPlan plans[11] = {
    { 1, { 0 }, { 0 } },       { 1, { 0 }, { 0 } },       { 0, { 2 }, { 1 } },        { 0, { 3 }, { 1 } },
    { 1, { 3 }, { 1 } },       { 1, { 4 }, { 1 } },       { 1, { 5 }, { 1 } },        { 1, { 6 }, { 1 } },
    { 1, { 7 }, { 1 } },       { 0, { 3, 6 }, { 0.3, 1 } }, { 1, { 3, 6 }, { 0.5, 1 } },
};

static int plan_small(int rays, double half, Beam *beams)
{
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
    return count;
}

static int plan_beams(const SceneNode *node, Beam *beams)
{
    int rays = int_min(int_max(scene_int(node, "numberOfRays"), 1), RAYS_MAX);
    double half = 0.5 * scene_float(node, "aperture");
    if (rays == 1 || half <= 0.0 || sensor_type(node) == TYPE_LASER) {
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
    int robot;   // solid of the sensor's robot, -1
    bool sees_itself;
    bool is_laser;
} RayOwner;

static const SceneNode *first_shape(const SceneNode *node, int depth)
{
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

typedef struct Surface {
    double red, roughness, transparency;
} Surface;

static Surface surface_of(const SceneNode *solid)
{
    const SceneNode *shape = first_shape(solid, 0);
    const SceneNode *look = shape ? scene_child(shape, "appearance") : NULL;
    if (look && scene_node_is(look, "PBRAppearance"))
        return (Surface){ scene_vec3(look, "baseColor").x, scene_float(look, "roughness"), scene_float(look, "transparency") };
    const SceneNode *material = look && scene_node_is(look, "Appearance") ? scene_child(look, "material") : NULL;
    if (material)
        return (Surface){ scene_vec3(material, "diffuseColor").x, 0.0, scene_float(material, "transparency") };
    return (Surface){ 1.0, 0.0, 0.0 };
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
    return !owner->is_laser || surface_of(physics_solid_node(physics, solid)).transparency <= 0.0;
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
    double width = scene_float(node, "aperture") * scene_float(node, "gaussianWidth");
    return width > 0.0 ? exp(-(theta / width) * (theta / width)) : 1.0;
}

static int distance_sensor_sample(DeviceContext *at, int channel, double *reading)
{
    (void)channel;
    const SceneNode *node = at->info->node;
    Beam beams[RAYS_MAX];
    int count = plan_beams(node, beams), type = sensor_type(node);
    double range = range_of(node), nearest = range, weights = 0.0, mean = 0.0, factor = 0.0;
    Pose pose = device_pose(at);
    const SceneNode *robot_node = devices_robot_node(at->devices, at->robot);
    RayOwner owner = { physics_solid_of(at->physics, robot_node), scene_bool(robot_node, "selfCollision"), type == TYPE_LASER };
    for (int i = 0; i < count; i++) {
        Vec3 direction = quat_rotate(pose.q, beam_direction(beams[i]));
        PhysicsRayHit hit;
        bool is_hit = physics_ray_cast(at->physics, pose.t, direction, range, stops_ray, &owner, &hit);
        double distance = is_hit ? hit.distance : range, weight = beam_weight(node, beams[i].theta);
        if (is_hit && (type != TYPE_SONAR || acos(double_clamp(-vec3_dot(direction, hit.normal), -1.0, 1.0)) < M_PI / 8.0))
            nearest = fmin(nearest, distance);
        double reflection = 1.0;
        if (is_hit && type == TYPE_INFRA_RED) {
            Surface surface = surface_of(physics_solid_node(at->physics, hit.solid));
            reflection = 0.2 + 0.8 * surface.red * (1.0 - 0.5 * surface.roughness);
        }
        weights += weight;
        mean += weight * distance;
        factor += weight * reflection;
    }
    double distance = type == TYPE_SONAR ? nearest : mean / weights;
    if (type == TYPE_INFRA_RED && distance < range) {
        double sensitivity = scene_float(node, "redColorSensitivity"), adjusted = distance * weights / factor;
        distance += (adjusted - distance) * sensitivity;
    }
    double value = scene_list(node, "lookupTable")->count ? device_lookup(node, distance, at->random) : 0.0;
    reading[0] = device_rounded(value, scene_float(node, "resolution"));
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
    .type = "DistanceSensor", .code = WB_NODE_DISTANCE_SENSOR, .channels = 1, .sample = distance_sensor_sample,
    .constants = distance_sensor_constants,
};
