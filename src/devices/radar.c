// radar.c - radars: solids with a radar cross section, in a frustum along +x; z is up.
#include "devices/devices_internal.h"

#include <webots/nodes.h>

#include <string.h>

enum { TARGETS_MAX = READING_MAX / 4 };

typedef struct Target {
    double distance, power, speed, azimuth;  // power in W until the end
} Target;

static double watts(double dbm) { return 0.001 * pow(10.0, dbm / 10.0); }

// The radar equation: P G^2 lambda^2 sigma / ((4 pi)^3 d^4).
static double received_power(const SceneNode *radar, double cross_section, double distance)
{
    double gain = pow(10.0, scene_float(radar, "antennaGain") / 10.0);
    double wavelength = 299792458.0 / (scene_float(radar, "frequency") * 1e9);
    return watts(scene_float(radar, "transmittedPower")) * gain * gain * wavelength * wavelength * cross_section
           / (pow(4.0 * M_PI, 3.0) * pow(distance, 4.0));
}

static bool speed_fits(const SceneNode *radar, double speed)
{
    double low = scene_float(radar, "minRadialSpeed"), high = scene_float(radar, "maxRadialSpeed");
    bool has_limits = low != 0.0 || high != 0.0;
    return fabs(speed) >= scene_float(radar, "minAbsoluteRadialSpeed")
           && (!has_limits || (speed >= low && speed <= high));
}

static double noisy(double value, double deviation, Random *random)
{
    return deviation > 0.0 ? value + deviation * random_gaussian(random) : value;
}

static bool see(DeviceContext *at, int solid, Target *target)
{
    assert_debug(solid >= 0 && target);
    const SceneNode *radar = at->info->node;
    double cross_section = scene_float(physics_solid_node(at->physics, solid), "radarCrossSection");
    double view = scene_float(radar, "horizontalFieldOfView"), low = scene_float(radar, "minRange"),
           high = scene_float(radar, "maxRange");
    Sight sight;
    if (!(cross_section > 0.0) || solid == at->info->solid
        || !sight_of(at, solid, view, scene_float(radar, "verticalFieldOfView"), &sight))
        return false;
    Pose pose = device_pose(at);
    Vec3 there = physics_solid_pose(at->physics, solid).t, away = vec3_sub(there, pose.t),
         offset = quat_unrotate(pose.q, away);
    double distance = vec3_length(sight.centre);
    if (distance > high + 0.5 * sight.size.x)
        return false;
    distance = noisy(distance, scene_float(radar, "rangeNoise"), at->random);
    if (distance < low - 0.5 * sight.size.x || !(vec3_length(away) > 0.0))
        return false;
    distance = double_clamp(distance, low, high);
    double power = received_power(radar, cross_section, distance);
    if (!(power >= watts(scene_float(radar, "minDetectableSignal"))))
        return false;
    Vec3 motion = vec3_sub(physics_solid_linear_velocity(at->physics, solid),
                           physics_solid_linear_velocity(at->physics, at->info->solid));
    double speed = noisy(vec3_dot(motion, vec3_normalized(away)), scene_float(radar, "speedNoise"), at->random);
    if (!speed_fits(radar, speed))
        return false;
    if (scene_bool(radar, "occlusion") && sight_is_hidden(at, solid, there, 0.5 * sight.size.x))
        return false;
    // A part of it may be in view while its origin is not.
    double azimuth = double_clamp(-atan2(offset.y, offset.x), -0.5 * view, 0.5 * view);
    *target = (Target){ distance, power, speed, noisy(azimuth, scene_float(radar, "angularNoise"), at->random) };
    return true;
}

static bool share_cell(const SceneNode *radar, const Target *a, const Target *b)
{
    double cell = scene_float(radar, "cellDistance"), speed = scene_float(radar, "cellSpeed");
    return fabs(a->distance - b->distance) < cell && (speed <= 0.0 || fabs(a->speed - b->speed) < speed);
}

static void add_weighted(Target *sum, const Target *target)
{
    sum->distance += target->distance * target->power;
    sum->speed += target->speed * target->power;
    sum->azimuth += target->azimuth * target->power;
    sum->power += target->power;
}

// Echoes in the cell of target `i` are one target with it: the strengths add up and weigh the rest. Returns how many
// are left.
static int merge_into(const SceneNode *radar, Target *targets, int count, int i)
{
    assert_debug(i >= 0 && i < count && count <= TARGETS_MAX);
    Target sum = { 0 };
    add_weighted(&sum, &targets[i]);
    int kept = i + 1;
    for (int k = i + 1; k < count; k++) {
        if (share_cell(radar, &targets[i], &targets[k]))
            add_weighted(&sum, &targets[k]);
        else
            targets[kept++] = targets[k];
    }
    if (kept < count)
        targets[i] = (Target){ sum.distance / sum.power, sum.power, sum.speed / sum.power, sum.azimuth / sum.power };
    return kept;
}

static int merge_cells(const SceneNode *radar, Target *targets, int count)
{
    for (int i = 0; scene_float(radar, "cellDistance") > 0.0 && i < count; i++)
        for (int before = count + 1; before > count;) {
            before = count;
            count = merge_into(radar, targets, count, i);
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
        const double row[4] = { targets[i].distance, 10.0 * log10(targets[i].power / 0.001), targets[i].speed,
                                targets[i].azimuth };
        memcpy(reading + 4 * i, row, sizeof row);
    }
    assert_debug(4 * count <= READING_MAX);
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
    .type = "Radar",
    .code = WB_NODE_RADAR,
    .channels = 1,
    .sample = radar_sample,
    .constants = radar_constants,
};
