// light_sensor.c - light sensors: irradiance from the lights of the world.
#include "devices/devices_internal.h"

#include "physics/ray.h"

#include <webots/nodes.h>

typedef struct LightSum {
    DeviceContext *at;
    Pose pose;
    double irradiance;
} LightSum;

static bool is_solid(const Physics *physics, int shape, void *context)
{
    const DeviceContext *at = context;
    int solid = physics_shape(physics, shape).solid;
    int robot = physics_solid_of(physics, devices_robot_node(at->devices, at->robot));
    for (int above = solid; above >= 0; above = physics_solid_parent(physics, above))
        if (above == robot)
            return false;
    return solid >= 0;
}

static bool is_hidden(const LightSum *sum, Vec3 towards, double distance)
{
    PhysicsRayHit hit;
    PhysicsRay ray = { sum->pose.t, towards, distance, is_solid, sum->at };
    return scene_bool(sum->at->info->node, "occlusion") && physics_ray_cast(sum->at->physics, &ray, &hit);
}

// The share of a spot light's intensity at this angle from its direction.
static double spot_share(const SceneNode *light, Pose frame, Vec3 towards)
{
    Vec3 direction = quat_rotate(frame.q, vec3_normalized(scene_vec3(light, "direction")));
    double angle = acos(double_clamp(-vec3_dot(direction, towards), -1.0, 1.0));
    double beam = scene_float(light, "beamWidth"), cut = scene_float(light, "cutOffAngle");
    if (angle > cut)
        return 0.0;
    return angle <= beam || cut <= beam ? 1.0 : (cut - angle) / (cut - beam);
}

// By Webots' rule: attenuation and angle of incidence, and of what is hidden the ambient part alone. What stands in
// the way is asked of physics, not of what is drawn.
static bool add_light(SceneNode *node, void *context)
{
    LightSum *sum = context;
    if (!scene_node_is(node, "Light") || !scene_bool(node, "on"))
        return true;
    Pose frame = device_frame(sum->at, scene_parent(node));
    double share = 1.0, distance = 1e6;
    Vec3 towards;
    if (scene_node_is(node, "DirectionalLight")) {
        towards = vec3_neg(quat_rotate(frame.q, vec3_normalized(scene_vec3(node, "direction"))));
    } else {
        Vec3 offset = vec3_sub(pose_apply(frame, scene_vec3(node, "location")), sum->pose.t);
        distance = vec3_length(offset);
        if (distance > scene_float(node, "radius"))
            return true;
        towards = vec3_normalized(offset);
        Vec3 fall = scene_vec3(node, "attenuation");
        share = 1.0 / fmax(fall.x + fall.y * distance + fall.z * distance * distance, 1e-9);
        if (scene_node_is(node, "SpotLight"))
            share *= spot_share(node, frame, towards);
    }
    double cosine = vec3_dot(quat_rotate(sum->pose.q, vec3(1, 0, 0)), towards);
    double direct = cosine > 0.0 && share > 0.0 && !is_hidden(sum, towards, distance)
                        ? cosine * share * scene_float(node, "intensity")
                        : 0.0;
    Vec3 color = scene_vec3(node, "color"), filter = scene_vec3(sum->at->info->node, "colorFilter");
    sum->irradiance += (direct + share * scene_float(node, "ambientIntensity")) * vec3_dot(color, filter) / 3.0;
    return true;
}

static int light_sensor_sample(DeviceContext *at, int channel, double *reading)
{
    assert_debug(channel == 0 && reading);
    LightSum sum = { at, device_pose(at), 0.0 };
    const FieldList *top = scene_list(scene_root(physics_scene(at->physics)), "children");
    for (int i = 0; i < top->count; i++)
        if (scene_list_node(top, i))
            scene_walk(scene_list_node(top, i), false, add_light, &sum);
    reading[0] = device_rounded(device_lookup(at->info->node, sum.irradiance, at->random),
                                scene_float(at->info->node, "resolution"));
    return 1;
}

static int light_sensor_constants(DeviceContext *at, double *values, int capacity)
{
    return device_lookup_constants(at->info->node, values, capacity);
}

const DeviceKind light_sensor_device = {
    .type = "LightSensor",
    .code = WB_NODE_LIGHT_SENSOR,
    .channels = 1,
    .sample = light_sensor_sample,
    .constants = light_sensor_constants,
};
