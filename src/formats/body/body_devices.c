// body_devices.c - devices of a body as Webots devices (or nodes of ours where Webots has none).
#include "formats/body/body_scene.h"

#include <string.h>

// How the camera of the node looks along +x with z up, in the frame of a sensor that looks along -z with y up.
static const Mat3 gl_to_node = { { 0, -1, 0, 0, 0, 1, -1, 0, 0 } };
// The same for a sensor that looks along +z with y down.
static const Mat3 cv_to_node = { { 0, -1, 0, 0, 0, -1, 1, 0, 0 } };

typedef struct DeviceNode {
    BodyScene *out;
    const BodyDevice *device;
    const char *name;
    Pose pose;
} DeviceNode;

static SceneNode *add(const DeviceNode *at, const char *type, const char *suffix, Pose pose)
{
    SceneNode *node = body_scene_node(at->out, type, at->device->pos);
    body_scene_pose(at->out, node, pose);
    scene_set_string(at->out->scene, node, "name",
                     *suffix ? arena_printf(scene_arena(at->out->scene), "%s%s", at->name, suffix) : at->name);
    body_scene_gather(at->out, node);
    return node;
}

// A rating per axis; readings beyond it stay at it.
static void saturate(const DeviceNode *at, SceneNode *node, Vec3 limit)
{
    double bound[3] = { fabs(limit.x), fabs(limit.y), fabs(limit.z) };
    bool is_rated = false;
    for (int i = 0; i < 3; i++) {
        is_rated |= bound[i] < BODY_UNLIMITED;
        bound[i] = bound[i] < BODY_UNLIMITED ? bound[i] : -1.0;
    }
    if (is_rated)
        scene_set_vec3(at->out->scene, node, "maxReading", vec3(bound[0], bound[1], bound[2]));
}

static void add_accelerometer(const DeviceNode *at, const char *suffix)
{
    saturate(at, add(at, "Accelerometer", suffix, at->pose), at->device->max_acceleration);
}

static void add_gyro(const DeviceNode *at, const char *suffix)
{
    saturate(at, add(at, "Gyro", suffix, at->pose), at->device->max_angular_velocity);
}

static void add_force_sensor(const DeviceNode *at)
{
    assert_debug(at->device->type == BODY_FORCE_SENSOR);
    Scene *scene = at->out->scene;
    SceneNode *node = add(at, "ForceTorqueSensor", "", at->pose);
    scene_set_string(scene, node, "type", "force-3d");
    body_scene_numbers(at->out, node, "lookupTable", NULL, 0);
    Vec3 force = at->device->max_force, torque = at->device->max_torque;
    if (force.x < BODY_UNLIMITED)
        scene_set_vec3(scene, node, "maxForce", vec3(fabs(force.x), fabs(force.y), fabs(force.z)));
    if (torque.x < BODY_UNLIMITED)
        scene_set_vec3(scene, node, "maxTorque", vec3(fabs(torque.x), fabs(torque.y), fabs(torque.z)));
}

static Pose optical_pose(const DeviceNode *at)
{
    const BodyDevice *device = at->device;
    Mat3 turn = device->has_optical_rotation                 ? mat3_mul(device->optical_rotation, gl_to_node)
                : !strcmp(device->optical_frame, "cv")       ? cv_to_node
                : !strcmp(device->optical_frame, "robotics") ? MAT3_IDENTITY
                                                             : gl_to_node;
    return (Pose){ at->pose.t, quat_normalized(quat_mul(at->pose.q, quat_from_mat3(turn))) };
}

static void set_image(const DeviceNode *at, SceneNode *node)
{
    const BodyDevice *device = at->device;
    Scene *scene = at->out->scene;
    double view = device->field_of_view;
    bool is_fisheye = strcmp(device->lens, "NORMAL") != 0;
    if (!is_fisheye && device->width > device->height && view < 3.14)  // the angle is that of the smaller side
        view = 2.0 * atan(tan(view / 2.0) * device->width / device->height);
    bool is_dual = !strcmp(device->lens, "DUAL_FISHEYE");
    scene_set_float(scene, node, "fieldOfView", is_dual ? M_PI : fmin(view, is_fisheye ? M_PI : 3.14));
    scene_set_int(scene, node, "width", device->width);
    // A fisheye's picture is a square, that of two is half as high as wide.
    scene_set_int(scene, node, "height", !is_fisheye ? device->height : is_dual ? device->width / 2 : device->width);
    if (is_fisheye)
        scene_set_string(scene, node, "projection", is_dual ? "dual fisheye" : "fisheye");
    scene_set_float(scene, node, "near", fmax(device->near_clip, 1e-4));
}

static void set_detection(const DeviceNode *at, SceneNode *node)
{
    if (at->device->detection_rate < 1.0)
        scene_set_float(at->out->scene, node, "detectionRate", fmax(at->device->detection_rate, 0.0));
}

static void add_camera(const DeviceNode *at)
{
    assert_debug(at->device->type == BODY_CAMERA || at->device->type == BODY_RANGE_CAMERA);
    const BodyDevice *device = at->device;
    Scene *scene = at->out->scene;
    bool has_depth = device->type == BODY_RANGE_CAMERA;
    bool has_color = strcmp(device->format, "DEPTH") && strcmp(device->format, "POINT_CLOUD");
    if (has_color) {
        SceneNode *node = add(at, "Camera", "", optical_pose(at));
        set_image(at, node);
        scene_set_float(scene, node, "far", fmax(device->far_clip, 0.0));
    }
    if (has_depth) {
        SceneNode *node = add(at, "RangeFinder", has_color ? "_depth" : "", optical_pose(at));
        set_image(at, node);
        set_detection(at, node);
        scene_set_float(scene, node, "minRange", fmax(device->min_distance, 1e-4));
        scene_set_float(scene, node, "maxRange", fmax(device->max_distance, fmax(device->min_distance, 1e-4) + 1e-4));
        if (device->error_deviation > 0.0)
            scene_set_float(scene, node, "noise", device->error_deviation / fmax(device->max_distance, 1e-4));
    }
}

// A Lidar looks straight ahead, so a sweep that is not symmetric turns the node.
static void add_range_sensor(const DeviceNode *at)
{
    assert_debug(at->device->type == BODY_RANGE_SENSOR);
    const BodyDevice *device = at->device;
    Scene *scene = at->out->scene;
    Pose pose = optical_pose(at);
    double yaw = (device->min_yaw + device->max_yaw) / 2.0, pitch = (device->min_pitch + device->max_pitch) / 2.0;
    if (yaw != 0.0)
        pose.q = quat_mul(pose.q, quat_from_axis_angle(vec3(0, 0, 1), yaw));
    if (pitch != 0.0)
        pose.q = quat_mul(pose.q, quat_from_axis_angle(vec3(0, 1, 0), -pitch));
    SceneNode *node = add(at, "Lidar", "", pose);
    scene_set_int(scene, node, "horizontalResolution", device->yaw_samples);
    scene_set_int(scene, node, "numberOfLayers", device->pitch_samples);
    scene_set_float(scene, node, "fieldOfView",
                    double_clamp(device->max_yaw - device->min_yaw, 1e-4, 6.283185307179586));
    scene_set_float(scene, node, "verticalFieldOfView",
                    double_clamp(device->max_pitch - device->min_pitch, 1e-4, 3.141592653589793));
    scene_set_float(scene, node, "minRange", fmax(device->min_distance, 1e-4));
    scene_set_float(scene, node, "near", fmax(device->min_distance, 1e-4));
    scene_set_float(scene, node, "maxRange", fmax(device->max_distance, fmax(device->min_distance, 1e-4) + 1e-4));
    double rate = double_clamp(device->frame_rate, 1e-3, 1e6);
    scene_set_float(scene, node, "defaultFrequency", rate);
    scene_set_float(scene, node, "minFrequency", fmin(rate, 1.0));
    scene_set_float(scene, node, "maxFrequency", fmax(rate, 25.0));
    if (device->error_deviation > 0.0)
        scene_set_float(scene, node, "noise", device->error_deviation / fmax(device->max_distance, 1e-4));
    set_detection(at, node);
}

// A light has no name in a world; a DEF stands for it where that can be written.
static bool is_def_name(const char *name)
{
    return *name && !(*name >= '0' && *name <= '9')
           && strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name);
}

static void add_light(const DeviceNode *at)
{
    assert_debug(at->device->type == BODY_SPOT_LIGHT || at->device->type == BODY_POINT_LIGHT);
    const BodyDevice *device = at->device;
    Scene *scene = at->out->scene;
    bool is_spot = device->type == BODY_SPOT_LIGHT;
    SceneNode *node = body_scene_node(at->out, is_spot ? "SpotLight" : "PointLight", device->pos);
    scene_set_vec3(scene, node, "location", at->pose.t);
    if (is_def_name(device->name))
        node->def = arena_string(scene_arena(scene), device->name);
    else if (*device->name)
        diag_note(at->out->diags, device->pos, "light '%.60s' loses its name: it is none that a node can have",
                  device->name);
    scene_set_vec3(scene, node, "color",
                   vec3(double_clamp(device->color.x, 0, 1), double_clamp(device->color.y, 0, 1),
                        double_clamp(device->color.z, 0, 1)));
    scene_set_float(scene, node, "intensity", fmax(device->intensity, 0.0));
    scene_set_bool(scene, node, "on", device->is_on);
    scene_set_vec3(
        scene, node, "attenuation",
        vec3(fmax(device->attenuation.x, 0), fmax(device->attenuation.y, 0), fmax(device->attenuation.z, 0)));
    if (is_spot) {
        scene_set_vec3(scene, node, "direction", quat_rotate(at->pose.q, device->direction));
        scene_set_float(scene, node, "beamWidth", double_clamp(device->beam_width, 0.0, 1.5707963267948966));
        scene_set_float(scene, node, "cutOffAngle", double_clamp(device->cut_off_angle, 0.0, 1.5707963267948966));
    }
    body_scene_gather(at->out, node);
}

static Vec3 nonzero_axis(Vec3 axis) { return vec3_length(axis) > 1e-9 ? axis : vec3(1, 0, 0); }

static void set_lines(const DeviceNode *at, SceneNode *node, const char *field, const char *lines)
{
    int count = 0;
    for (const char *c = lines; *c; c++)
        count += *c == '\n';
    if (count == 0)
        return;
    Arena *arena = scene_arena(at->out->scene);
    FieldList *list = scene_list_edit(at->out->scene, node, field);
    list->strings = arena_alloc_array(arena, (size_t)count, sizeof *list->strings);
    for (const char *c = lines; *c; c = strchr(c, '\n') + 1)
        list->strings[list->count++] = arena_printf(arena, "%.*s", (int)strcspn(c, "\n"), c);
}

// Devices that Webots has no node for, each with the node of Talus' own that holds its keys; numbers are brought
// into the range of that node's fields.
static void add_other(const DeviceNode *at)
{
    const BodyDevice *device = at->device;
    Scene *scene = at->out->scene;
    static const char *const types[BODY_DEVICE_TYPE_COUNT] = {
        [BODY_HOLDER] = "Holder", [BODY_ATTACHMENT] = "Attachment", [BODY_CONVEYOR] = "Conveyor",
        [BODY_MARKER] = "Marker", [BODY_DIGITAL_IO] = "DigitalIO",  [BODY_ZMP] = "ZmpSensor"
    };
    Pose pose = at->pose;
    assert_debug(types[device->type]);
    if (device->type == BODY_MARKER)
        pose = pose_mul(pose, (Pose){ device->offset_translation, quat_from_mat3(device->offset_rotation) });
    SceneNode *node = add(at, types[device->type], "", pose);
    if (schema_field(node->type, "on"))
        scene_set_bool(scene, node, "on", device->is_on);
    switch (device->type) {
    case BODY_HOLDER:
        scene_set_string(scene, node, "category", device->category);
        scene_set_string(scene, node, "condition", device->hold_condition);
        scene_set_float(scene, node, "maxDistance", fmax(device->max_hold_distance, 0.0));
        scene_set_string(scene, node, "targetName", device->hold_target);
        break;
    case BODY_ATTACHMENT: scene_set_string(scene, node, "category", device->category); break;
    case BODY_CONVEYOR:
        scene_set_string(scene, node, "type", device->conveyor_type);
        scene_set_vec3(scene, node, "axis", nonzero_axis(device->axis));
        scene_set_float(scene, node, "speed", device->speed);
        break;
    case BODY_MARKER:
        scene_set_string(scene, node, "type", device->marker_type);
        scene_set_float(scene, node, "size", fmax(device->marker_size, 1e-6));
        scene_set_vec3(scene, node, "color",
                       vec3(double_clamp(device->color.x, 0, 1), double_clamp(device->color.y, 0, 1),
                            double_clamp(device->color.z, 0, 1)));
        scene_set_float(scene, node, "emission", fmax(device->emission, 0.0));
        scene_set_float(scene, node, "transparency", double_clamp(device->transparency, 0.0, 1.0));
        break;
    case BODY_DIGITAL_IO:
        scene_set_int(scene, node, "signalLines", device->signal_lines);
        set_lines(at, node, "connections", device->connections);
        set_lines(at, node, "outLabels", device->out_labels);
        set_lines(at, node, "inLabels", device->in_labels);
        break;
    default: break;
    }
}

// An IMU is three devices of Webots. What has no name gets that of its type and number, since a device is found by
// its name alone.
void body_device_nodes(BodyScene *out, int index)
{
    assert(index >= 0 && index < out->model->device_count);
    const BodyDevice *device = &out->model->devices[index];
    assert_debug(device->link >= 0 && device->link < out->model->link_count);
    DeviceNode at = { .out = out, .device = device, .name = device->name };
    if (!*at.name)
        at.name = arena_printf(scene_arena(out->scene), "%s%d", body_device_type_name(device->type), index);
    Vec3 scale;
    body_frame_split(device->frame, &at.pose, &scale);
    if (!device->is_on && device->type < BODY_SPOT_LIGHT)
        diag_note(out->diags, device->pos,
                  "'%.60s' is off: so is every sensor of a world until a controller enables it", at.name);
    switch (device->type) {
    case BODY_ACCELERATION_SENSOR: add_accelerometer(&at, ""); break;
    case BODY_RATE_GYRO: add_gyro(&at, ""); break;
    case BODY_IMU:
        add(&at, "InertialUnit", "", at.pose);
        add_accelerometer(&at, "_accelerometer");
        add_gyro(&at, "_gyro");
        break;
    case BODY_FORCE_SENSOR: add_force_sensor(&at); break;
    case BODY_CAMERA:
    case BODY_RANGE_CAMERA: add_camera(&at); break;
    case BODY_RANGE_SENSOR: add_range_sensor(&at); break;
    case BODY_SPOT_LIGHT:
    case BODY_POINT_LIGHT: add_light(&at); break;
    default: add_other(&at);
    }
}
