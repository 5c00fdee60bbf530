// body_from_device.c - devices of a robot as those of a body.
#include "formats/body/body_from.h"

#include "base/memory.h"

#include <string.h>

static const Mat3 node_to_gl = { { 0, 0, -1, -1, 0, 0, 0, 1, 0 } };  // transposed of how gl sensors become nodes

static BodyDevice *add_device(BodyFrom *from, BodyDeviceType type, const SceneNode *node, int link, BodyFrame frame)
{
    assert_debug(link >= 0 && link < from->model->link_count);
    BodyModel *model = from->model;
    memory_grow(&model->devices, &model->device_capacity, model->device_count + 1, sizeof *model->devices);
    BodyDevice *device = &model->devices[model->device_count++];
    *device = body_device_defaults;
    device->type = type;
    device->link = link;
    device->pos = node->pos;
    Pose pose = scene_pose(node);
    device->frame = body_frame_mul(frame, (BodyFrame){ mat3_from_quat(pose.q), pose.t });
    if (schema_field(node->type, "name"))
        device->name = body_from_text(from, scene_string(node, "name"));
    if (schema_field(node->type, "on"))
        device->is_on = scene_bool(node, "on");
    return device;
}

static bool has_sibling(const SceneNode *node, const char *type, const char *name, size_t length)
{
    assert_debug(type && name);
    const SceneNode *parent = scene_parent(node);
    const FieldList *list = parent && schema_field(parent->type, "children") ? scene_list(parent, "children") : NULL;
    for (int i = 0; list && i < list->count; i++) {
        const SceneNode *other = scene_list_node(list, i);
        if (other && other != node && scene_node_is(other, type) && strlen(scene_string(other, "name")) == length
            && !strncmp(scene_string(other, "name"), name, length))
            return true;
    }
    return false;
}

// Whether the node was made of an IMU or of a camera with depth, together with another one that stands for both.
static bool is_companion(const SceneNode *node, const char *main_type, const char *suffix)
{
    const char *name = scene_string(node, "name");
    return text_ends_with(name, suffix) && has_sibling(node, main_type, name, strlen(name) - strlen(suffix));
}

static Vec3 rating_of(const SceneNode *node)
{
    assert_debug(schema_field(node->type, "maxReading"));
    Vec3 bound = scene_vec3(node, "maxReading");
    for (int i = 0; i < 3; i++)
        if ((&bound.x)[i] < 0.0)
            (&bound.x)[i] = BODY_UNLIMITED;
    if (scene_list(node, "lookupTable")->count >= 2) {  // the ends of a table bound readings too
        const FieldList *table = scene_list(node, "lookupTable");
        double end = fabs(table->numbers[3 * (table->count - 1)]);
        bound = vec3(fmin(bound.x, end), fmin(bound.y, end), fmin(bound.z, end));
    }
    return bound;
}

// The sensor beside an InertialUnit that was made of the same IMU.
static const SceneNode *companion(const SceneNode *node, const char *type, const char *suffix)
{
    const SceneNode *parent = scene_parent(node);
    const FieldList *list = parent && schema_field(parent->type, "children") ? scene_list(parent, "children") : NULL;
    size_t length = strlen(scene_string(node, "name"));
    for (int i = 0; list && i < list->count; i++) {
        const SceneNode *other = scene_list_node(list, i);
        const char *name = other && scene_node_is(other, type) ? scene_string(other, "name") : "";
        if (!strncmp(name, scene_string(node, "name"), length) && !strcmp(name + length, suffix))
            return other;
    }
    return NULL;
}

static void add_imu(BodyFrom *from, const SceneNode *node, int link, BodyFrame frame)
{
    BodyDevice *device = add_device(from, BODY_IMU, node, link, frame);
    const SceneNode *accelerometer = companion(node, "Accelerometer", "_accelerometer"),
                    *gyro = companion(node, "Gyro", "_gyro");
    if (accelerometer)
        device->max_acceleration = rating_of(accelerometer);
    if (gyro)
        device->max_angular_velocity = rating_of(gyro);
}

static const char *joined_lines(BodyFrom *from, const SceneNode *node, const char *field)
{
    const FieldList *list = scene_list(node, field);
    Text text = { 0 };
    for (int i = 0; i < list->count; i++)
        if (*list->strings[i] >= '0' && *list->strings[i] <= '9' && strstr(list->strings[i], ": ")
            && !strchr(list->strings[i], '\n'))
            text_printf(&text, "%s\n", list->strings[i]);
        else
            diag_warning(from->diags, node->pos, "'%.60s' in %s is not of the form LINE: NAME; left out",
                         list->strings[i], field);
    const char *result = text.length ? body_from_text(from, text.data) : "";
    text_free(&text);
    return result;
}

static void set_camera(const SceneNode *node, BodyDevice *device, const char *format)
{
    assert_debug(schema_field(node->type, "width"));
    device->format = format;
    device->frame.m = mat3_mul(device->frame.m, node_to_gl);
    device->width = scene_int(node, "width");
    device->height = scene_int(node, "height");
    double view = scene_float(node, "fieldOfView");
    const char *projection = scene_string(node, "projection");
    bool is_planar = !strcmp(projection, "planar");
    if (!is_planar)
        device->lens = !strcmp(projection, "dual fisheye") ? "DUAL_FISHEYE" : "FISHEYE";
    else if (device->width > device->height)
        view = 2.0 * atan(tan(fmin(view, 3.1) / 2.0) * device->height / device->width);
    device->field_of_view = view;
    device->near_clip = scene_float(node, "near");
    if (scene_node_is(node, "Camera") && scene_float(node, "far") > 0.0)
        device->far_clip = scene_float(node, "far");
    if (scene_node_is(node, "RangeFinder")) {
        device->min_distance = scene_float(node, "minRange");
        device->max_distance = scene_float(node, "maxRange");
        device->error_deviation = scene_float(node, "noise") * device->max_distance;
        device->detection_rate = scene_float(node, "detectionRate");
    }
}

static void set_lidar(const SceneNode *node, BodyDevice *device)
{
    assert_debug(scene_node_is(node, "Lidar"));
    device->frame.m = mat3_mul(device->frame.m, node_to_gl);
    double yaw = scene_float(node, "fieldOfView"), pitch = scene_float(node, "verticalFieldOfView");
    device->yaw_samples = scene_int(node, "horizontalResolution");
    device->pitch_samples = scene_int(node, "numberOfLayers");
    device->max_yaw = yaw / 2.0;
    device->min_yaw = -yaw / 2.0;
    device->yaw_step = device->yaw_samples > 1 ? yaw / (device->yaw_samples - 1) : yaw;
    if (device->pitch_samples > 1) {
        device->max_pitch = pitch / 2.0;
        device->min_pitch = -pitch / 2.0;
        device->pitch_step = pitch / (device->pitch_samples - 1);
    }
    device->min_distance = scene_float(node, "minRange");
    device->max_distance = scene_float(node, "maxRange");
    device->frame_rate = scene_float(node, "defaultFrequency");
    device->detection_rate = scene_float(node, "detectionRate");
    device->error_deviation = scene_float(node, "noise") * device->max_distance;
}

static void set_light(BodyFrom *from, const SceneNode *node, BodyDevice *device, BodyFrame frame)
{
    assert_debug(scene_node_is(node, "Light"));
    device->frame = frame;
    device->name = node->def ? body_from_text(from, node->def) : "";
    device->frame.t = body_frame_apply(frame, scene_vec3(node, "location"));
    device->color = scene_vec3(node, "color");
    device->intensity = scene_float(node, "intensity");
    device->attenuation = scene_vec3(node, "attenuation");
    if (device->type == BODY_SPOT_LIGHT) {
        device->direction = scene_vec3(node, "direction");
        device->beam_width = scene_float(node, "beamWidth");
        device->cut_off_angle = scene_float(node, "cutOffAngle");
    }
}

static bool read_motion_sensor(BodyFrom *from, const SceneNode *node, int link, BodyFrame frame)
{
    assert(link >= 0 && link < from->model->link_count);
    if (scene_node_is(node, "Accelerometer")) {
        if (!is_companion(node, "InertialUnit", "_accelerometer"))
            add_device(from, BODY_ACCELERATION_SENSOR, node, link, frame)->max_acceleration = rating_of(node);
    } else if (scene_node_is(node, "Gyro")) {
        if (!is_companion(node, "InertialUnit", "_gyro"))
            add_device(from, BODY_RATE_GYRO, node, link, frame)->max_angular_velocity = rating_of(node);
    } else if (scene_node_is(node, "InertialUnit")) {
        add_imu(from, node, link, frame);
    } else if (scene_node_is(node, "ForceTorqueSensor")) {
        BodyDevice *device = add_device(from, BODY_FORCE_SENSOR, node, link, frame);
        Vec3 force = scene_vec3(node, "maxForce"), torque = scene_vec3(node, "maxTorque");
        if (force.x >= 0.0)
            device->max_force = force;
        if (torque.x >= 0.0)
            device->max_torque = torque;
    } else {
        return false;
    }
    return true;
}

static bool read_optical(BodyFrom *from, const SceneNode *node, int link, BodyFrame frame)
{
    assert(link >= 0 && link < from->model->link_count);
    if (scene_node_is(node, "Camera")) {
        const char *name = scene_string(node, "name");
        const char *depth = arena_printf(from->model->arena, "%s_depth", name);
        bool has_depth = has_sibling(node, "RangeFinder", depth, strlen(depth));
        BodyDevice *device = add_device(from, has_depth ? BODY_RANGE_CAMERA : BODY_CAMERA, node, link, frame);
        set_camera(node, device, has_depth ? "COLOR_DEPTH" : "COLOR");
    } else if (scene_node_is(node, "RangeFinder")) {
        if (is_companion(node, "Camera", "_depth"))
            return true;
        set_camera(node, add_device(from, BODY_RANGE_CAMERA, node, link, frame), "DEPTH");
    } else if (scene_node_is(node, "Lidar")) {
        set_lidar(node, add_device(from, BODY_RANGE_SENSOR, node, link, frame));
    } else if (scene_node_is(node, "SpotLight")) {
        set_light(from, node, add_device(from, BODY_SPOT_LIGHT, node, link, frame), frame);
    } else if (scene_node_is(node, "PointLight")) {
        set_light(from, node, add_device(from, BODY_POINT_LIGHT, node, link, frame), frame);
    } else {
        return false;
    }
    return true;
}

// The way back of body_devices.c, add_other.
static bool read_own(BodyFrom *from, const SceneNode *node, int link, BodyFrame frame)
{
    assert(link >= 0 && link < from->model->link_count);
    if (scene_node_is(node, "Holder")) {
        BodyDevice *device = add_device(from, BODY_HOLDER, node, link, frame);
        device->category = body_from_text(from, scene_string(node, "category"));
        device->hold_condition = body_from_text(from, scene_string(node, "condition"));
        device->max_hold_distance = scene_float(node, "maxDistance");
        device->hold_target = body_from_text(from, scene_string(node, "targetName"));
    } else if (scene_node_is(node, "Attachment")) {
        add_device(from, BODY_ATTACHMENT, node, link, frame)->category = body_from_text(from,
                                                                                        scene_string(node, "category"));
    } else if (scene_node_is(node, "Conveyor")) {
        BodyDevice *device = add_device(from, BODY_CONVEYOR, node, link, frame);
        device->conveyor_type = body_from_text(from, scene_string(node, "type"));
        device->axis = scene_vec3(node, "axis");
        device->speed = scene_float(node, "speed");
    } else if (scene_node_is(node, "Marker")) {
        BodyDevice *device = add_device(from, BODY_MARKER, node, link, frame);
        device->marker_type = body_from_text(from, scene_string(node, "type"));
        device->marker_size = scene_float(node, "size");
        device->color = scene_vec3(node, "color");
        device->emission = scene_float(node, "emission");
        device->transparency = scene_float(node, "transparency");
    } else if (scene_node_is(node, "DigitalIO")) {
        BodyDevice *device = add_device(from, BODY_DIGITAL_IO, node, link, frame);
        device->signal_lines = scene_int(node, "signalLines");
        device->connections = joined_lines(from, node, "connections");
        device->out_labels = joined_lines(from, node, "outLabels");
        device->in_labels = joined_lines(from, node, "inLabels");
    } else if (scene_node_is(node, "ZmpSensor")) {
        add_device(from, BODY_ZMP, node, link, frame);
    } else {
        return false;
    }
    return true;
}

bool body_from_device(BodyFrom *from, const SceneNode *node, int link, BodyFrame frame)
{
    assert_debug(link >= 0 && link < from->model->link_count);
    if (read_motion_sensor(from, node, link, frame) || read_optical(from, node, link, frame)
        || read_own(from, node, link, frame)) {
        if (scene_node_is(node, "Solid") && scene_list(node, "children")->count > 0) {
            Pose pose = scene_pose(node);
            body_from_children(from, node, link, body_frame_mul(frame, (BodyFrame){ mat3_from_quat(pose.q), pose.t }));
        }
        return true;
    }
    if (!(node->type->flags & NODE_DEVICE))
        return false;
    body_from_lost(from, node, scene_string(node, "name"));
    if (scene_node_is(node, "Solid")) {
        Pose pose = scene_pose(node);
        body_from_children(from, node, link, body_frame_mul(frame, (BodyFrame){ mat3_from_quat(pose.q), pose.t }));
    }
    return true;
}
