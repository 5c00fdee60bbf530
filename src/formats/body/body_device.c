// body_device.c - devices of a link: one row per node type, one function per family of keys.
#include "formats/body/body_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define DEGREE (3.14159265358979323846 / 180.0)

static void read_acceleration(BodyReader *reader, const YamlNode *map, BodyDevice *device)
{
    body_vec3(reader, map, "max_acceleration", "maxAcceleration", &device->max_acceleration);
}

static void read_gyro(BodyReader *reader, const YamlNode *map, BodyDevice *device)
{
    body_vec3(reader, map, "max_angular_velocity", "maxAngularVelocity", &device->max_angular_velocity);
}

static void read_imu(BodyReader *reader, const YamlNode *map, BodyDevice *device)
{
    read_acceleration(reader, map, device);
    read_gyro(reader, map, device);
}

static void read_force(BodyReader *reader, const YamlNode *map, BodyDevice *device)
{
    body_vec3(reader, map, "max_force", "maxForce", &device->max_force);
    body_vec3(reader, map, "max_torque", "maxTorque", &device->max_torque);
}

static void read_word(BodyReader *reader, const YamlNode *map, const char *key, const char *old_key,
                      const char *const *words, const char **value)
{
    assert_debug(words[0]);
    const char *word;
    if (!body_string(reader, map, key, old_key, &word))
        return;
    for (; *words; words++) {
        if (!strcmp(*words, word)) {
            *value = *words;
            return;
        }
    }
    diag_error(reader->diags, body_key(map, key, old_key)->pos, "%s: '%.60s' is none of its words; using %s", key, word,
               *value);
}

static void read_optics(BodyReader *reader, const YamlNode *map, BodyDevice *device)
{
    static const char *const frames[] = { "gl", "cv", "robotics", NULL };
    read_word(reader, map, "optical_frame", NULL, frames, &device->optical_frame);
    device->has_optical_rotation = body_rotation(reader, map, "optical_frame_rotation", &device->optical_rotation);
    body_double(reader, map, "min_distance", "minDistance", &device->min_distance);
    body_double(reader, map, "max_distance", "maxDistance", &device->max_distance);
    body_double(reader, map, "detection_rate", "detectionRate", &device->detection_rate);
    body_double(reader, map, "error_deviation", "errorDeviation", &device->error_deviation);
}

static void limit_size(BodyReader *reader, const YamlNode *map, const char *what, int low, int64_t high, int *value)
{
    assert_debug(low <= high);
    if (*value >= low && *value <= high)
        return;
    int nearest = *value < low ? low : (int)high;
    diag_warning(reader->diags, map->pos, "%s %d cannot be; using %d", what, *value, nearest);
    *value = nearest;
}

static void read_camera(BodyReader *reader, const YamlNode *map, BodyDevice *device)
{
    assert_debug(yaml_is_map(map));
    static const char *const lenses[] = { "NORMAL", "FISHEYE", "DUAL_FISHEYE", NULL };
    read_word(reader, map, "lens_type", "lensType", lenses, &device->lens);
    body_int(reader, map, "width", NULL, &device->width);
    body_int(reader, map, "height", NULL, &device->height);
    limit_size(reader, map, "width", 1, reader->limits->image_side, &device->width);
    limit_size(reader, map, "height", 1, reader->limits->image_side, &device->height);
    body_angle(reader, map, "field_of_view", "fieldOfView", &device->field_of_view);
    if (!(device->field_of_view > 0.0 && device->field_of_view <= 360.0 * DEGREE)) {
        diag_warning(reader->diags, map->pos, "field_of_view %g rad cannot be; using 45 degrees",
                     device->field_of_view);
        device->field_of_view = 45.0 * DEGREE;
    }
    body_double(reader, map, "near_clip_distance", "nearClipDistance", &device->near_clip);
    body_double(reader, map, "far_clip_distance", "farClipDistance", &device->far_clip);
    body_double(reader, map, "frame_rate", "frameRate", &device->frame_rate);
    read_optics(reader, map, device);
}

static void read_sweep(BodyReader *reader, const YamlNode *map, const char *name, double *low, double *high)
{
    assert_debug(low && high);
    if (!(*high >= *low) || *high - *low > 360.0 * DEGREE + 1e-9) {
        diag_warning(reader->diags, map->pos, "%s sweep from %g to %g rad cannot be; using 120 degrees", name, *low,
                     *high);
        *low = -60.0 * DEGREE;
        *high = 60.0 * DEGREE;
    }
}

// Samples that a sweep takes with a step: both ends count.
static int count_samples(BodyReader *reader, const YamlNode *map, double range, double step)
{
    if (!(step > 0.0) || range <= 0.0)
        return 1;
    double count = floor(range / step + 1e-7) + 1.0;
    if (count <= (double)reader->limits->image_side)
        return (int)count;
    diag_warning(reader->diags, map->pos, "%.0f samples in one sweep; using %lld", count,
                 (long long)reader->limits->image_side);
    return (int)reader->limits->image_side;
}

typedef struct Sweep {
    double low, high, step;
    int samples;
    bool has_step;  // written
} Sweep;

// How many samples: from the step, or the step from them where it is not written; true in that case.
static bool read_samples(BodyReader *reader, const YamlNode *map, const char *key, const char *old_key, Sweep *sweep)
{
    double range = sweep->high - sweep->low;
    if (!body_int(reader, map, key, old_key, &sweep->samples) || sweep->has_step) {
        sweep->samples = count_samples(reader, map, range, sweep->step);
        return false;
    }
    limit_size(reader, map, key, 1, reader->limits->image_side, &sweep->samples);
    sweep->step = sweep->samples > 1 ? range / (sweep->samples - 1) : 0.0;
    return true;
}

static Sweep read_yaw(BodyReader *reader, const YamlNode *map)
{
    double range;
    Sweep yaw = { .low = -60.0 * DEGREE, .high = 60.0 * DEGREE, .step = 1.0 };  // radian, as Choreonoid has it
    if (body_angle(reader, map, "yaw_range", "yawRange", &range)
        || body_angle(reader, map, "scanAngle", NULL, &range)) {
        yaw.low = -range / 2.0;
        yaw.high = range / 2.0;
    }
    body_angle(reader, map, "min_yaw_angle", "minYawAngle", &yaw.low);
    body_angle(reader, map, "max_yaw_angle", "maxYawAngle", &yaw.high);
    read_sweep(reader, map, "yaw", &yaw.low, &yaw.high);
    yaw.has_step = body_angle(reader, map, "yaw_step", "yawStep", &yaw.step)
                   || body_angle(reader, map, "scanStep", NULL, &yaw.step);
    if (!read_samples(reader, map, "yaw_samples", "yawSamples", &yaw) && !yaw.has_step)
        diag_warning(reader->diags, map->pos,
                     "RangeSensor without yaw_step takes one sample per radian, as in Choreonoid: %d of them",
                     yaw.samples);
    return yaw;
}

static Sweep read_pitch(BodyReader *reader, const YamlNode *map, const BodyDevice *device)
{
    double range;
    Sweep pitch = { device->min_pitch, device->max_pitch, device->pitch_step, device->pitch_samples, false };
    if (body_angle(reader, map, "pitch_range", "pitchRange", &range)) {
        pitch.low = -range / 2.0;
        pitch.high = range / 2.0;
    }
    body_angle(reader, map, "min_pitch_angle", "minPitchAngle", &pitch.low);
    body_angle(reader, map, "max_pitch_angle", "maxPitchAngle", &pitch.high);
    read_sweep(reader, map, "pitch", &pitch.low, &pitch.high);
    pitch.has_step = body_angle(reader, map, "pitch_step", "pitchStep", &pitch.step);
    read_samples(reader, map, "pitch_samples", "pitchSamples", &pitch);
    return pitch;
}

static void read_range_sensor(BodyReader *reader, const YamlNode *map, BodyDevice *device)
{
    assert_debug(yaml_is_map(map));
    Sweep yaw = read_yaw(reader, map), pitch = read_pitch(reader, map, device);
    device->min_yaw = yaw.low;
    device->max_yaw = yaw.high;
    device->yaw_step = yaw.step;
    device->yaw_samples = yaw.samples;
    device->min_pitch = pitch.low;
    device->max_pitch = pitch.high;
    device->pitch_step = pitch.step;
    device->pitch_samples = pitch.samples;
    device->frame_rate = 10.0;
    if (!body_double(reader, map, "scan_rate", "scanRate", &device->frame_rate))
        body_double(reader, map, "frame_rate", "frameRate", &device->frame_rate);
    read_optics(reader, map, device);
}

static void read_light(BodyReader *reader, const YamlNode *map, BodyDevice *device)
{
    body_vec3(reader, map, "color", NULL, &device->color);
    body_double(reader, map, "intensity", NULL, &device->intensity);
    body_vec3(reader, map, "attenuation", NULL, &device->attenuation);
    body_vec3(reader, map, "direction", NULL, &device->direction);
    body_angle(reader, map, "beam_width", "beamWidth", &device->beam_width);
    body_angle(reader, map, "cut_off_angle", "cutOffAngle", &device->cut_off_angle);
    body_double(reader, map, "cut_off_exponent", "cutOffExponent", &device->cut_off_exponent);
}

static void read_category(BodyReader *reader, const YamlNode *map, BodyDevice *device)
{
    if (body_string(reader, map, "category", NULL, &device->category))
        return;
    const YamlNode *list = yaml_get(map, "categories");
    Text joined = { 0 };
    for (int i = 0; yaml_is_list(list) && i < list->count; i++)
        if (list->items[i]->kind == YAML_SCALAR)
            text_printf(&joined, "%s%s", joined.length ? ";" : "", list->items[i]->text);
    if (joined.length)
        device->category = arena_string(reader->arena, joined.data);
    text_free(&joined);
}

static void read_holder(BodyReader *reader, const YamlNode *map, BodyDevice *device)
{
    static const char *const conditions[] = { "distance", "collision", "name", NULL };
    read_category(reader, map, device);
    read_word(reader, map, "hold_condition", NULL, conditions, &device->hold_condition);
    body_double(reader, map, "max_hold_distance", NULL, &device->max_hold_distance);
    body_string(reader, map, "hold_target_name", NULL, &device->hold_target);
}

static void read_conveyor(BodyReader *reader, const YamlNode *map, BodyDevice *device)
{
    static const char *const types[] = { "linear", "rotary", NULL };
    read_word(reader, map, "conveyor_type", NULL, types, &device->conveyor_type);
    body_vec3(reader, map, "axis", NULL, &device->axis);
    body_double(reader, map, "speed", NULL, &device->speed);
}

static void read_marker(BodyReader *reader, const YamlNode *map, BodyDevice *device)
{
    static const char *const types[] = { "sphere", "cross", "axes", NULL };
    read_word(reader, map, "marker_type", "markerType", types, &device->marker_type);
    body_double(reader, map, "size", NULL, &device->marker_size);
    body_vec3(reader, map, "color", NULL, &device->color);
    body_double(reader, map, "emission", NULL, &device->emission);
    device->transparency = 0.7;
    body_double(reader, map, "transparency", NULL, &device->transparency);
    body_translation(reader, map, "offset_translation", &device->offset_translation);
    body_rotation(reader, map, "offset_rotation", &device->offset_rotation);
}

static void add_line(Text *text, const YamlNode *number, const char *key, const YamlNode *name, BodyReader *reader)
{
    int line = -1;
    char *end;
    bool is_line = number ? yaml_int(number, &line) : (line = (int)strtol(key, &end, 10), *key && !*end);
    if (!is_line || line < 0 || !yaml_is_scalar(name) || strchr(name->text, '\n'))
        diag_error(reader->diags, name->pos, "the number of a line and a name are wanted here");
    else
        text_printf(text, "%d: %s\n", line, name->text);
}

static const char *kept(BodyReader *reader, Text *text)
{
    const char *result = text->length ? arena_string(reader->model->arena, text->data) : "";
    text_free(text);
    return result;
}

// Pairs of line and device, or the old form: action: { input: { LINE: [ device, NAME, on ] } }
static const char *read_connections(BodyReader *reader, const YamlNode *map)
{
    Text text = { 0 };
    const YamlNode *pairs = yaml_get(map, "input_to_device_switch_connections"),
                   *inputs = yaml_get(yaml_get(map, "action"), "input");
    for (int i = 0; yaml_is_list(pairs) && i < pairs->count; i++) {
        const YamlNode *pair = pairs->items[i];
        if (yaml_is_list(pair) && pair->count == 2)
            add_line(&text, pair->items[0], NULL, pair->items[1], reader);
        else
            diag_error(reader->diags, pair->pos, "a pair of line and device is wanted here");
    }
    for (int i = 0; !pairs && yaml_is_map(inputs) && i < inputs->count; i++) {
        const YamlNode *target = inputs->pairs[i].value;
        if (yaml_is_list(target) && target->count == 3 && yaml_is_scalar(target->items[0])
            && !strcmp(target->items[0]->text, "device"))
            add_line(&text, NULL, inputs->pairs[i].key, target->items[1], reader);
    }
    return kept(reader, &text);
}

static const char *read_labels(BodyReader *reader, const YamlNode *labels)
{
    Text text = { 0 };
    for (int i = 0; yaml_is_map(labels) && i < labels->count; i++)
        add_line(&text, NULL, labels->pairs[i].key, labels->pairs[i].value, reader);
    return kept(reader, &text);
}

static void read_digital(BodyReader *reader, const YamlNode *map, BodyDevice *device)
{
    device->connections = read_connections(reader, map);
    device->out_labels = read_labels(reader, yaml_get(map, "out_labels"));
    device->in_labels = read_labels(reader, yaml_get(map, "in_labels"));
    body_int(reader, map, "num_signal_lines", "numSignalLines", &device->signal_lines);
    limit_size(reader, map, "num_signal_lines", 0, 65536, &device->signal_lines);
}

#define CAMERA_KEYS                                                                                                    \
    {                                                                                                                  \
        "format", "lens_type", "lensType", "width", "height", "field_of_view", "fieldOfView", "near_clip_distance",    \
            "nearClipDistance", "far_clip_distance", "farClipDistance", "frame_rate", "frameRate", "min_distance",     \
            "minDistance", "max_distance", "maxDistance", "detection_rate", "detectionRate", "error_deviation",        \
            "errorDeviation", "optical_frame", "optical_frame_rotation", "shooting", "image_type", "imageType"         \
    }

static const struct {
    const char *name;
    BodyDeviceType type;
    void (*read)(BodyReader *reader, const YamlNode *map, BodyDevice *device);
    const char *keys[40];
} device_rows[] = {
    { "AccelerationSensor", BODY_ACCELERATION_SENSOR, read_acceleration, { "max_acceleration", "maxAcceleration" } },
    { "RateGyroSensor", BODY_RATE_GYRO, read_gyro, { "max_angular_velocity", "maxAngularVelocity" } },
    { "IMU",
      BODY_IMU,
      read_imu,
      { "max_acceleration", "maxAcceleration", "max_angular_velocity", "maxAngularVelocity" } },
    { "Imu",
      BODY_IMU,
      read_imu,
      { "max_acceleration", "maxAcceleration", "max_angular_velocity", "maxAngularVelocity" } },
    { "ForceSensor", BODY_FORCE_SENSOR, read_force, { "max_force", "maxForce", "max_torque", "maxTorque" } },
    { "Camera", BODY_CAMERA, read_camera, CAMERA_KEYS },
    { "CameraDevice", BODY_CAMERA, read_camera, CAMERA_KEYS },
    { "RangeSensor",
      BODY_RANGE_SENSOR,
      read_range_sensor,
      { "yaw_range",       "yawRange",       "scanAngle",       "min_yaw_angle",
        "minYawAngle",     "max_yaw_angle",  "maxYawAngle",     "yaw_step",
        "yawStep",         "scanStep",       "yaw_samples",     "yawSamples",
        "pitch_range",     "pitchRange",     "min_pitch_angle", "minPitchAngle",
        "max_pitch_angle", "maxPitchAngle",  "pitch_step",      "pitchStep",
        "pitch_samples",   "pitchSamples",   "min_distance",    "minDistance",
        "max_distance",    "maxDistance",    "scan_rate",       "scanRate",
        "frame_rate",      "frameRate",      "detection_rate",  "detectionRate",
        "error_deviation", "errorDeviation", "optical_frame",   "optical_frame_rotation" } },
    { "SpotLight",
      BODY_SPOT_LIGHT,
      read_light,
      { "color", "intensity", "attenuation", "direction", "beam_width", "beamWidth", "cut_off_angle", "cutOffAngle",
        "cut_off_exponent", "cutOffExponent" } },
    { "PointLight", BODY_POINT_LIGHT, read_light, { "color", "intensity", "attenuation" } },
    { "Holder",
      BODY_HOLDER,
      read_holder,
      { "category", "categories", "hold_condition", "max_hold_distance", "hold_target_name" } },
    { "HolderDevice",
      BODY_HOLDER,
      read_holder,
      { "category", "categories", "hold_condition", "max_hold_distance", "hold_target_name" } },
    { "Attachment", BODY_ATTACHMENT, read_category, { "category", "categories" } },
    { "AttachmentDevice", BODY_ATTACHMENT, read_category, { "category", "categories" } },
    { "Conveyor", BODY_CONVEYOR, read_conveyor, { "conveyor_type", "axis", "speed" } },
    { "ConveyorDevice", BODY_CONVEYOR, read_conveyor, { "conveyor_type", "axis", "speed" } },
    { "MarkerDevice",
      BODY_MARKER,
      read_marker,
      { "marker_type", "markerType", "size", "color", "emission", "transparency", "offset_translation",
        "offset_rotation" } },
    { "Marker",
      BODY_MARKER,
      read_marker,
      { "marker_type", "markerType", "size", "color", "emission", "transparency", "offset_translation",
        "offset_rotation" } },
    { "DigitalIO",
      BODY_DIGITAL_IO,
      read_digital,
      { "num_signal_lines", "numSignalLines", "out_labels", "in_labels", "input_to_device_switch_connections",
        "action" } },
    { "DigitalIoDevice",
      BODY_DIGITAL_IO,
      read_digital,
      { "num_signal_lines", "numSignalLines", "out_labels", "in_labels", "input_to_device_switch_connections",
        "action" } },
    { "ZmpDevice", BODY_ZMP, NULL, { NULL } },
};

static int find_row(const char *type)
{
    for (int i = 0; i < COUNT_OF(device_rows); i++)
        if (!strcmp(device_rows[i].name, type))
            return i;
    return -1;
}

bool body_device_is(const char *type) { return find_row(type) >= 0; }

// A camera is what its format says; without a format Choreonoid makes none and does not say so.
static bool read_format(BodyReader *reader, const YamlNode *map, BodyDevice *device)
{
    static const char *const formats[] = { "COLOR", "DEPTH", "COLOR_DEPTH", "POINT_CLOUD", "COLOR_POINT_CLOUD" };
    const char *word = NULL;
    body_string(reader, map, "format", NULL, &word);
    for (int i = 0; word && i < COUNT_OF(formats); i++) {
        if (!strcmp(word, formats[i])) {
            device->format = formats[i];
            device->type = i == 0 ? BODY_CAMERA : BODY_RANGE_CAMERA;
            return true;
        }
    }
    diag_warning(reader->diags, map->pos,
                 word ? "Camera with unknown format '%.60s' makes no device"
                      : "Camera without format makes no device%s",
                 word ? word : "");
    diag_hint(reader->diags, "format: COLOR, DEPTH, COLOR_DEPTH, POINT_CLOUD or COLOR_POINT_CLOUD");
    return false;
}

const BodyDevice body_device_defaults = {
    .name = "",
    .id = -1,
    .is_on = true,
    .format = "",
    .lens = "NORMAL",
    .optical_frame = "gl",
    .width = 640,
    .height = 480,
    .field_of_view = 45.0 * DEGREE,
    .near_clip = 0.04,
    .far_clip = 200.0,
    .frame_rate = 30.0,
    .min_distance = 0.1,
    .max_distance = 10.0,
    .detection_rate = 1.0,
    .color = { 1, 1, 1 },
    .attenuation = { 1, 0, 0 },
    .direction = { 0, 0, -1 },
    .intensity = 1.0,
    .beam_width = 90.0 * DEGREE,
    .cut_off_angle = 45.0 * DEGREE,
    .cut_off_exponent = 1.0,
    .category = "",
    .hold_condition = "distance",
    .hold_target = "",
    .max_hold_distance = 0.1,
    .conveyor_type = "linear",
    .axis = { 1, 0, 0 },
    .marker_type = "sphere",
    .marker_size = 0.01,
    .emission = 0.5,
    .signal_lines = 100,
    .connections = "",
    .out_labels = "",
    .in_labels = "",
    .max_acceleration = { BODY_UNLIMITED, BODY_UNLIMITED, BODY_UNLIMITED },
    .max_angular_velocity = { BODY_UNLIMITED, BODY_UNLIMITED, BODY_UNLIMITED },
    .max_force = { BODY_UNLIMITED, BODY_UNLIMITED, BODY_UNLIMITED },
    .max_torque = { BODY_UNLIMITED, BODY_UNLIMITED, BODY_UNLIMITED },
    .optical_rotation = { { 1, 0, 0, 0, 1, 0, 0, 0, 1 } },
    .offset_rotation = { { 1, 0, 0, 0, 1, 0, 0, 0, 1 } },
};

int body_device_read(BodyReader *reader, const char *type, const YamlNode *map, ElementScope scope)
{
    int row = find_row(type);
    BodyDevice device = body_device_defaults;
    assert_debug(row >= 0 && row < COUNT_OF(device_rows));
    device.type = device_rows[row].type;
    device.link = scope.link;
    device.frame = scope.frame;
    device.pos = map->pos;
    if (!strcmp(type, "Imu"))
        diag_note(reader->diags, map->pos, "Choreonoid calls this node IMU and refuses the manual's Imu");
    if (device.type == BODY_CAMERA && !read_format(reader, map, &device))
        return scope.device;
    device.is_on = device.type != BODY_HOLDER;  // a holder waits until it is told
    body_string(reader, map, "name", NULL, &device.name);
    body_int(reader, map, "id", NULL, &device.id);
    body_bool(reader, map, "on", NULL, &device.is_on);
    if (device_rows[row].read)
        device_rows[row].read(reader, map, &device);
    static const char *const common[] = { "type",  "name",     "id",          "on",         "translation", "rotation",
                                          "scale", "elements", "is_optional", "isOptional", NULL };
    body_check_keys(reader, map, type, common, device_rows[row].keys, &device.info);
    BodyModel *model = reader->model;
    memory_grow(&model->devices, &model->device_capacity, model->device_count + 1, sizeof *model->devices);
    model->devices[model->device_count] = device;
    return model->device_count++;
}

const char *body_device_type_name(BodyDeviceType type)
{
    static const char *const names[] = { "AccelerationSensor", "RateGyroSensor",   "Imu",
                                         "ForceSensor",        "Camera",           "RangeCamera",
                                         "RangeSensor",        "SpotLight",        "PointLight",
                                         "HolderDevice",       "AttachmentDevice", "ConveyorDevice",
                                         "MarkerDevice",       "DigitalIoDevice",  "ZmpDevice" };
    static_assert(COUNT_OF(names) == BODY_DEVICE_TYPE_COUNT, "one name per device type");
    assert_debug((int)type >= 0 && (int)type < COUNT_OF(names));
    return names[type];
}
