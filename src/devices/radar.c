// radar.c - radars: solids with a radar cross section, in a frustum along +x; z is up.
#include "devices/devices_internal.h"

#include "physics/ray.h"

#include <webots/nodes.h>

#include <string.h>

enum { TARGETS_MAX = READING_MAX / 4 };

typedef struct Target {
    double distance, power, speed, azimuth;  // power in W until the end
} Target;

static bool is_between(const Physics *physics, int shape, void *context)
{
    const int *ends = context;
    int solid = physics_shape(physics, shape).solid;
    for (int at = solid; at >= 0; at = physics_solid_parent(physics, at))
        if (at == ends[0] || at == ends[1])
            return false;
    return solid >= 0;
}

static double watts(double dbm)
{
    return 0.001 * pow(10.0, dbm / 10.0);
}

// The radar equation: P G^2 lambda^2 sigma / ((4 pi)^3 d^4).
static double received_power(const SceneNode *radar, double cross_section, double distance)
{
    double gain = pow(10.0, scene_float(radar, "antennaGain") / 10.0);
    double wavelength = 299792458.0 / (scene_float(radar, "frequency") * 1e9);
    return watts(scene_float(radar, "transmittedPower")) * gain * gain * wavelength * wavelength * cross_section /
           (pow(4.0 * M_PI, 3.0) * pow(distance, 4.0));
}

static bool is_in_view(const SceneNode *radar, Vec3 offset, double distance)
{
    double azimuth = atan2(offset.y, offset.x), elevation = asin(double_clamp(offset.z / distance, -1.0, 1.0));
    return distance >= scene_float(radar, "minRange") && distance <= scene_float(radar, "maxRange") &&
           fabs(azimuth) <= 0.5 * scene_float(radar, "horizontalFieldOfView") &&
           fabs(elevation) <= 0.5 * scene_float(radar, "verticalFieldOfView");
}

static bool speed_fits(const SceneNode *radar, double speed)
{
    double low = scene_float(radar, "minRadialSpeed"), high = scene_float(radar, "maxRadialSpeed");
    return fabs(speed) >= scene_float(radar, "minAbsoluteRadialSpeed") && (low >= high || (speed >= low && speed <= high));
}

static bool see(DeviceContext *at, int solid, Target *target)
{
    const SceneNode *radar = at->info->node;
    double cross_section = scene_float(physics_solid_node(at->physics, solid), "radarCrossSection");
    if (cross_section <= 0.0 || solid == at->info->solid)
        return false;
    Pose pose = device_pose(at);
    Vec3 there = physics_solid_pose(at->physics, solid).t, away = vec3_sub(there, pose.t), offset = quat_unrotate(pose.q, away);
    double distance = vec3_length(away);
    if (distance <= 0.0 || !is_in_view(radar, offset, distance))
        return false;
    double power = received_power(radar, cross_section, distance);
    if (power < watts(scene_float(radar, "minDetectableSignal")))
        return false;
    Vec3 unit = vec3_scale(away, 1.0 / distance);
    Vec3 motion = vec3_sub(physics_solid_linear_velocity(at->physics, solid), physics_solid_linear_velocity(at->physics, at->info->solid));
    double speed = vec3_dot(motion, unit);
    if (!speed_fits(radar, speed))
        return false;
    int ends[2] = { at->info->solid, solid };
    PhysicsRayHit hit;
    if (scene_bool(radar, "occlusion") && physics_ray_cast(at->physics, pose.t, unit, distance, is_between, ends, &hit))
        return false;
    *target = (Target){ distance, power, speed, -atan2(offset.y, offset.x) };
    return true;
}

// Two echoes in one cell are one target: the strengths add up and weigh the rest.
static void merge(Target *into, const Target *other)
{
    double total = into->power + other->power;
    into->distance = (into->distance * into->power + other->distance * other->power) / total;
    into->speed = (into->speed * into->power + other->speed * other->power) / total;
    into->azimuth = (into->azimuth * into->power + other->azimuth * other->power) / total;
    into->power = total;
}

static int merge_cells(const SceneNode *radar, Target *targets, int count)
{
    double cell = scene_float(radar, "cellDistance"), speed = scene_float(radar, "cellSpeed");
    if (cell <= 0.0)
        return count;
    for (int i = 0; i < count; i++)
        for (int k = i + 1; k < count;) {
            bool is_same = fabs(targets[i].distance - targets[k].distance) < cell &&
                           (speed <= 0.0 || fabs(targets[i].speed - targets[k].speed) < speed);
            if (!is_same) {
                k++;
                continue;
            }
            merge(&targets[i], &targets[k]);
            memmove(&targets[k], &targets[k + 1], (size_t)(--count - k) * sizeof *targets);
        }
    return count;
}

static int radar_sample(DeviceContext *at, int channel, double *reading)
{
    (void)channel;
    const SceneNode *radar = at->info->node;
    Target targets[TARGETS_MAX];
    int count = 0;
    for (int solid = 0; solid < physics_solid_count(at->physics) && count < TARGETS_MAX; solid++)
        if (physics_solid_exists(at->physics, solid) && see(at, solid, &targets[count]))
            count++;
    count = merge_cells(radar, targets, count);
    for (int i = 0; i < count; i++) {
        double range = scene_float(radar, "rangeNoise"), speed = scene_float(radar, "speedNoise"), angle = scene_float(radar, "angularNoise");
        reading[4 * i] = targets[i].distance + (range > 0.0 ? range * random_gaussian(at->random) : 0.0);
        reading[4 * i + 1] = 10.0 * log10(targets[i].power / 0.001);
        reading[4 * i + 2] = targets[i].speed + (speed > 0.0 ? speed * random_gaussian(at->random) : 0.0);
        reading[4 * i + 3] = targets[i].azimuth + (angle > 0.0 ? angle * random_gaussian(at->random) : 0.0);
    }
    return 4 * count;
}

// min range, max range, horizontal and vertical field of view
static int radar_constants(DeviceContext *at, double *values, int capacity)
{
    static const char *const fields[4] = { "minRange", "maxRange", "horizontalFieldOfView", "verticalFieldOfView" };
    if (capacity < 4)
        return 0;
    for (int i = 0; i < 4; i++)
        values[i] = scene_float(at->info->node, fields[i]);
    return 4;
}

const DeviceKind radar_device = {
    .type = "Radar", .code = WB_NODE_RADAR, .channels = 1, .sample = radar_sample, .constants = radar_constants,
};
