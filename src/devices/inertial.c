// inertial.c - sensors of motion and place: accelerometer, gyro, compass, inertial unit, GPS, altimeter.
#include "devices/devices_internal.h"

#include <webots/nodes.h>

#include <string.h>

static const SceneNode *world_info(const DeviceContext *at)
{
    return scene_find_top(physics_scene(at->physics), "WorldInfo");
}

// Up, north and east of a world, by its coordinate system.
typedef struct CompassAxes {
    Vec3 east, north, up;
} CompassAxes;

static CompassAxes world_axes(const DeviceContext *at)
{
    const SceneNode *info = world_info(at);
    const char *system = info ? scene_string(info, "coordinateSystem") : "ENU";
    if (!strcmp(system, "NUE"))
        return (CompassAxes){ vec3(0, 0, 1), vec3(1, 0, 0), vec3(0, 1, 0) };
    if (!strcmp(system, "EUN"))
        return (CompassAxes){ vec3(1, 0, 0), vec3(0, 0, 1), vec3(0, 1, 0) };
    return (CompassAxes){ vec3(1, 0, 0), vec3(0, 1, 0), vec3(0, 0, 1) };
}

static int body_of(const DeviceContext *at)
{
    for (int solid = at->info->solid; solid >= 0; solid = physics_solid_parent(at->physics, solid))
        if (physics_solid_body(at->physics, solid) >= 0)
            return solid;
    return -1;
}

// A link of a body that is fixed to the world feels gravity and no motion, as in Choreonoid; Webots' own sensors want
// physics.
static bool is_in_body(const DeviceContext *at)
{
    const FieldList *children = scene_list(at->devices->robots[at->robot].node, "children");
    for (int i = 0; i < children->count; i++)
        if (scene_list_node(children, i) && scene_node_is(scene_list_node(children, i), "BodyInfo"))
            return true;
    return false;
}

static void store(Vec3 value, double reading[3])
{
    reading[0] = value.x;
    reading[1] = value.y;
    reading[2] = value.z;
}

static void look_up(const DeviceContext *at, double reading[3])
{
    for (int i = 0; i < 3; i++)
        reading[i] = device_lookup(at->info->node, reading[i], at->random);
}

// Ratings of a body's sensors: what is beyond them stays at them.
static void hold_within_rating(const DeviceContext *at, double reading[3])
{
    Vec3 bound = scene_vec3(at->info->node, "maxReading");
    const double max[3] = { bound.x, bound.y, bound.z };
    for (int i = 0; i < 3; i++)
        if (max[i] >= 0.0)
            reading[i] = double_clamp(reading[i], -max[i], max[i]);
}

static int vector_constants(DeviceContext *at, double *values, int capacity)
{
    return device_lookup_constants(at->info->node, values, capacity);
}

// ---- accelerometer ----

typedef struct AccelerometerState {
    Vec3 velocity;  // at the last reading
} AccelerometerState;

static Vec3 point_velocity(const DeviceContext *at)
{
    int solid = body_of(at);
    return solid >= 0 ? physics_solid_point_velocity(at->physics, solid, device_pose(at).t) : VEC3_ZERO;
}

static void accelerometer_enabled(DeviceContext *at, int channel, bool is_on)
{
    (void)channel;
    AccelerometerState *state = at->state;
    if (is_on)
        state->velocity = point_velocity(at);
}

static int accelerometer_sample(DeviceContext *at, int channel, double *reading)
{
    assert_debug(at->since_last > 0.0);
    (void)channel;
    AccelerometerState *state = at->state;
    Pose pose = device_pose(at);
    if (body_of(at) < 0 && !is_in_body(at)) {
        diag_warning(at->devices->diags, at->info->node->pos,
                     "accelerometer '%s' is on nothing with physics; it reads NaN", at->info->name);
        store(vec3(NAN, NAN, NAN), reading);
        return 3;
    }
    Vec3 velocity = point_velocity(at);
    Vec3 change = vec3_scale(vec3_sub(velocity, state->velocity), 1.0 / at->since_last);
    state->velocity = velocity;
    store(quat_unrotate(pose.q, vec3_sub(change, physics_gravity(at->physics))), reading);
    hold_within_rating(at, reading);
    look_up(at, reading);
    device_finish_vector(at, reading);
    return 3;
}

const DeviceKind accelerometer_device = {
    .type = "Accelerometer",
    .code = WB_NODE_ACCELEROMETER,
    .channels = 1,
    .state_size = sizeof(AccelerometerState),
    .sample = accelerometer_sample,
    .constants = vector_constants,
    .enabled = accelerometer_enabled,
};

// ---- gyro ----

static int gyro_sample(DeviceContext *at, int channel, double *reading)
{
    assert_debug(channel == 0 && reading);
    int solid = body_of(at);
    if (solid < 0 && !is_in_body(at)) {
        diag_warning(at->devices->diags, at->info->node->pos, "gyro '%s' is on nothing with physics; it reads NaN",
                     at->info->name);
        store(vec3(NAN, NAN, NAN), reading);
        return 3;
    }
    Vec3 turning = solid >= 0 ? physics_solid_angular_velocity(at->physics, solid) : VEC3_ZERO;
    store(quat_unrotate(device_pose(at).q, turning), reading);
    hold_within_rating(at, reading);
    look_up(at, reading);
    device_finish_vector(at, reading);
    return 3;
}

const DeviceKind gyro_device = {
    .type = "Gyro",
    .code = WB_NODE_GYRO,
    .channels = 1,
    .sample = gyro_sample,
    .constants = vector_constants,
};

// ---- compass ----

static int compass_sample(DeviceContext *at, int channel, double *reading)
{
    (void)channel;
    store(quat_unrotate(device_pose(at).q, world_axes(at).north), reading);
    look_up(at, reading);
    device_finish_vector(at, reading);
    return 3;
}

const DeviceKind compass_device = {
    .type = "Compass",
    .code = WB_NODE_COMPASS,
    .channels = 1,
    .sample = compass_sample,
    .constants = vector_constants,
};

// ---- inertial unit ----

// Orientation against the world as x y z w, then whether the world is NUE: there yaw is about y and pitch about z.
static int inertial_unit_sample(DeviceContext *at, int channel, double *reading)
{
    assert_debug(channel == 0 && reading);
    Quat turn = device_pose(at).q;
    double noise = scene_float(at->info->node, "noise");
    if (noise > 0.0) {
        Vec3 axis = vec3(random_gaussian(at->random), random_gaussian(at->random), random_gaussian(at->random));
        turn = quat_mul(turn, quat_from_axis_angle(axis, noise * M_PI * random_gaussian(at->random)));
    }
    reading[0] = turn.x;
    reading[1] = turn.y;
    reading[2] = turn.z;
    reading[3] = turn.w;
    reading[4] = world_axes(at).north.x != 0.0;
    return 5;
}

// noise, resolution, xAxis, yAxis, zAxis
static int inertial_unit_constants(DeviceContext *at, double *values, int capacity)
{
    if (capacity < 5)
        return 0;
    values[0] = scene_float(at->info->node, "noise");
    values[1] = scene_float(at->info->node, "resolution");
    values[2] = scene_bool(at->info->node, "xAxis");
    values[3] = scene_bool(at->info->node, "yAxis");
    values[4] = scene_bool(at->info->node, "zAxis");
    return 5;
}

const DeviceKind inertial_unit_device = {
    .type = "InertialUnit",
    .code = WB_NODE_INERTIAL_UNIT,
    .channels = 1,
    .sample = inertial_unit_sample,
    .constants = inertial_unit_constants,
};

// ---- GPS ----

typedef struct GpsState {
    Vec3 position, noise;
} GpsState;

// Transverse Mercator on WGS84 (the series of Karney and Krueger to the sixth order in the third flattening).
#define WGS84_A 6378137.0
#define WGS84_F (1.0 / 298.257223563)

typedef struct Mercator {
    double n, radius, e;
    double alpha[3], beta[3];
} Mercator;

static Mercator mercator(void)
{
    double f = WGS84_F, n = f / (2.0 - f), n2 = n * n, n3 = n2 * n;
    return (Mercator){
        .n = n,
        .radius = WGS84_A / (1.0 + n) * (1.0 + n2 / 4.0 + n2 * n2 / 64.0),
        .e = sqrt(f * (2.0 - f)),
        .alpha = { n / 2.0 - 2.0 / 3.0 * n2 + 5.0 / 16.0 * n3, 13.0 / 48.0 * n2 - 3.0 / 5.0 * n3, 61.0 / 240.0 * n3 },
        .beta = { n / 2.0 - 2.0 / 3.0 * n2 + 37.0 / 96.0 * n3, n2 / 48.0 + n3 / 15.0, 17.0 / 480.0 * n3 },
    };
}

static void to_plane(double latitude, double longitude, double meridian, double *east, double *north)
{
    Mercator m = mercator();
    double s = sin(latitude), t = sinh(atanh(s) - m.e * atanh(m.e * s));
    double l = longitude - meridian, xi = atan2(t, cos(l)), eta = atanh(sin(l) / sqrt(1.0 + t * t));
    double x = xi, y = eta;
    for (int j = 1; j <= 3; j++) {
        x += m.alpha[j - 1] * sin(2.0 * j * xi) * cosh(2.0 * j * eta);
        y += m.alpha[j - 1] * cos(2.0 * j * xi) * sinh(2.0 * j * eta);
    }
    *north = 0.9996 * m.radius * x;
    *east = 0.9996 * m.radius * y;
}

static void from_plane(double east, double north, double meridian, double *latitude, double *longitude)
{
    Mercator m = mercator();
    double x = north / (0.9996 * m.radius), y = east / (0.9996 * m.radius), xi = x, eta = y;
    for (int j = 1; j <= 3; j++) {
        xi -= m.beta[j - 1] * sin(2.0 * j * x) * cosh(2.0 * j * y);
        eta -= m.beta[j - 1] * cos(2.0 * j * x) * sinh(2.0 * j * y);
    }
    double chi = asin(sin(xi) / cosh(eta)), phi = chi;
    for (int i = 0; i < 8; i++) {  // the conformal latitude inverted by fixed-point iteration
        double s = sin(phi);
        phi = asin(tanh(atanh(sin(chi)) + m.e * atanh(m.e * s)));
    }
    *latitude = phi;
    *longitude = meridian + atan2(sinh(eta), cos(xi));
}

static Vec3 to_wgs84(const DeviceContext *at, Vec3 position, Vec3 reference)
{
    CompassAxes axes = world_axes(at);
    double east = vec3_dot(position, axes.east), north = vec3_dot(position, axes.north),
           up = vec3_dot(position, axes.up);
    double latitude = reference.x * M_PI / 180.0, longitude = reference.y * M_PI / 180.0;
    double meridian = (floor((reference.y + 180.0) / 6.0) * 6.0 - 177.0) * M_PI / 180.0;
    double x0, y0;
    to_plane(latitude, longitude, meridian, &x0, &y0);
    from_plane(x0 + east, y0 + north, meridian, &latitude, &longitude);
    return vec3(latitude * 180.0 / M_PI, longitude * 180.0 / M_PI, reference.z + up);
}

static Vec3 gaussian_vector(Random *random, double deviation)
{
    double x = random_gaussian(random), y = random_gaussian(random), z = random_gaussian(random);
    return vec3(x * deviation, y * deviation, z * deviation);
}

// Noise is correlated over time when asked for, and drawn in the order position, speed: the stream of the device
// must not depend on which of both is read.
static int gps_sample(DeviceContext *at, int channel, double *reading)
{
    assert_debug(channel == 0 && reading);
    GpsState *state = at->state;
    const SceneNode *node = at->info->node, *info = world_info(at);
    Vec3 position = device_pose(at).t;
    int solid = body_of(at);
    Vec3 speed;
    if (solid >= 0)
        speed = physics_solid_point_velocity(at->physics, solid, position);
    else if (at->is_first)
        speed = vec3(NAN, NAN, NAN);
    else
        speed = vec3_scale(vec3_sub(position, state->position), 1.0 / at->since_last);
    state->position = position;
    double accuracy = scene_float(node, "accuracy"), correlation = scene_float(node, "noiseCorrelation");
    if (accuracy > 0.0) {
        double keep = correlation > 0.0 && !at->is_first ? pow(correlation, at->since_last) : 0.0;
        Vec3 fresh = gaussian_vector(at->random, accuracy * sqrt(1.0 - keep * keep));
        state->noise = vec3_add(vec3_scale(state->noise, keep), fresh);
        position = vec3_add(position, state->noise);
    }
    double resolution = scene_float(node, "resolution");
    position = vec3(device_rounded(position.x, resolution), device_rounded(position.y, resolution),
                    device_rounded(position.z, resolution));
    Vec3 reference = info ? scene_vec3(info, "gpsReference") : VEC3_ZERO;
    bool is_wgs84 = info && !strcmp(scene_string(info, "gpsCoordinateSystem"), "WGS84");
    store(is_wgs84 ? to_wgs84(at, position, reference) : vec3_add(position, reference), reading);
    double speed_noise = scene_float(node, "speedNoise"), speed_resolution = scene_float(node, "speedResolution");
    if (speed_noise > 0.0)
        speed = vec3_add(speed, gaussian_vector(at->random, speed_noise));
    reading[3] = device_rounded(vec3_length(speed), speed_resolution);
    store(vec3(device_rounded(speed.x, speed_resolution), device_rounded(speed.y, speed_resolution),
               device_rounded(speed.z, speed_resolution)),
          reading + 4);
    return 7;
}

// coordinate system: 0 local, 1 WGS84
static int gps_constants(DeviceContext *at, double *values, int capacity)
{
    const SceneNode *info = world_info(at);
    if (capacity < 1)
        return 0;
    values[0] = info && !strcmp(scene_string(info, "gpsCoordinateSystem"), "WGS84");
    return 1;
}

const DeviceKind gps_device = {
    .type = "GPS",
    .code = WB_NODE_GPS,
    .channels = 1,
    .state_size = sizeof(GpsState),
    .sample = gps_sample,
    .constants = gps_constants,
};

// ---- altimeter ----

static int altimeter_sample(DeviceContext *at, int channel, double *reading)
{
    assert_debug(channel == 0 && reading);
    const SceneNode *info = world_info(at);
    double height = vec3_dot(device_pose(at).t, world_axes(at).up) + (info ? scene_vec3(info, "gpsReference").z : 0.0);
    double accuracy = scene_float(at->info->node, "accuracy");
    if (accuracy > 0.0)
        height += accuracy * random_gaussian(at->random);
    reading[0] = device_rounded(height, scene_float(at->info->node, "resolution"));
    return 1;
}

const DeviceKind altimeter_device = {
    .type = "Altimeter",
    .code = WB_NODE_ALTIMETER,
    .channels = 1,
    .sample = altimeter_sample,
};
