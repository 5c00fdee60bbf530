// body_write.c - a body model as a file of format 2.0: snake_case, degree, mass data at the link, every frame written
// out.
#include "formats/body/body.h"

#include "base/file.h"
#include "formats/body/body_internal.h"

#include <string.h>

#define PER_RADIAN (180.0 / 3.14159265358979323846)

typedef struct Writer {
    Text *out;
    const BodyModel *model;
    Arena *arena;
    const char *folder;  // of the file to be, NULL: URIs stay as they are
    int indent;
    bool begins_item;  // the next key stands behind the dash of a list item
} Writer;

static void begin_key(Writer *writer, const char *key)
{
    if (writer->begins_item)
        text_printf(writer->out, "%*s- ", writer->indent - 2, "");
    else
        text_printf(writer->out, "%*s", writer->indent, "");
    writer->begins_item = false;
    yaml_write_scalar(writer->out, key);
    text_add_char(writer->out, ':');
}

static void put_word(Writer *writer, const char *key, const char *word)
{
    begin_key(writer, key);
    text_add_char(writer->out, ' ');
    yaml_write_scalar(writer->out, word);
    text_add_char(writer->out, '\n');
}

static void put_number(Writer *writer, const char *key, double value)
{
    begin_key(writer, key);
    text_add_char(writer->out, ' ');
    text_add_double(writer->out, value);
    text_add_char(writer->out, '\n');
}

static void put_int(Writer *writer, const char *key, int value)
{
    begin_key(writer, key);
    text_printf(writer->out, " %d\n", value);
}

static void put_bool(Writer *writer, const char *key, bool value) { put_word(writer, key, value ? "true" : "false"); }

static void put_numbers(Writer *writer, const char *key, const double *numbers, int count)
{
    assert_debug(numbers || count == 0);
    begin_key(writer, key);
    text_add_string(writer->out, " [ ");
    for (int i = 0; i < count; i++) {
        if (i > 0)
            text_add_string(writer->out, ", ");
        if (i > 0 && i % 12 == 0)
            text_printf(writer->out, "\n%*s", writer->indent + 2, "");
        text_add_double(writer->out, numbers[i]);
    }
    text_add_string(writer->out, " ]\n");
}

static void put_indices(Writer *writer, const char *key, BodyIndices indices)
{
    assert_debug(indices.items || indices.count == 0);
    begin_key(writer, key);
    text_add_string(writer->out, " [ ");
    for (int i = 0; i < indices.count; i++) {
        if (i > 0)
            text_add_string(writer->out, ", ");
        if (i > 0 && i % 20 == 0)
            text_printf(writer->out, "\n%*s", writer->indent + 2, "");
        text_printf(writer->out, "%d", indices.items[i]);
    }
    text_add_string(writer->out, " ]\n");
}

static void put_vec3(Writer *writer, const char *key, Vec3 v) { put_numbers(writer, key, &v.x, 3); }

static bool is_same(Vec3 a, Vec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

static void put_translation(Writer *writer, const char *key, Vec3 v)
{
    if (!is_same(v, VEC3_ZERO))
        put_vec3(writer, key, v);
}

static void put_rotation_quat(Writer *writer, const char *key, Quat q)
{
    Rotation rotation = quat_to_rotation(q);
    if (fabs(rotation.angle) < 1e-15)
        return;
    const double numbers[4] = { rotation.x, rotation.y, rotation.z, rotation.angle * PER_RADIAN };
    put_numbers(writer, key, numbers, 4);
}

static void put_rotation(Writer *writer, const char *key, Mat3 m)
{
    if (memcmp(&m, &MAT3_IDENTITY, sizeof m))
        put_rotation_quat(writer, key, quat_from_mat3(m));
}

static void put_frame(Writer *writer, BodyFrame frame)
{
    Pose pose;
    Vec3 scale;
    body_frame_split(frame, &pose, &scale);
    put_translation(writer, "translation", pose.t);
    put_rotation_quat(writer, "rotation", pose.q);
    if (!is_same(scale, vec3(1, 1, 1)))
        put_vec3(writer, "scale", scale);
}

static void open_list(Writer *writer, const char *key)
{
    begin_key(writer, key);
    text_add_char(writer->out, '\n');
    writer->indent += 4;
}

static void close_list(Writer *writer)
{
    assert(writer->indent >= 4);
    writer->indent -= 4;
    writer->begins_item = false;
}

static void begin_item(Writer *writer) { writer->begins_item = true; }

static void open_map(Writer *writer, const char *key)
{
    begin_key(writer, key);
    text_add_char(writer->out, '\n');
    writer->indent += 2;
}

static void close_map(Writer *writer) { writer->indent -= 2; }

static void put_info(Writer *writer, const BodyInfo *info)
{
    for (; info; info = info->next) {
        begin_key(writer, info->key);
        yaml_write_value(writer->out, info->value, writer->indent);
    }
}

// Shapes

// Both are taken as real paths: the part that they share goes, "../" stands for what is left of the folder.
const char *body_relative_path(Arena *arena, const char *folder, const char *path)
{
    const char *real = path_real(arena, path), *base = path_real(arena, folder);
    if (!real || !base)
        return path;
    const char *base_with_slash = arena_printf(arena, "%s/", base);
    size_t shared = 0;
    for (size_t i = 0; real[i] && real[i] == base_with_slash[i]; i++)
        if (real[i] == '/')
            shared = i + 1;
    int ups = 0;
    for (const char *c = base_with_slash + shared; *c; c++)
        ups += *c == '/';
    if (shared <= 1 || ups > 8)
        return real;
    Text text = { 0 };
    for (int i = 0; i < ups; i++)
        text_add_string(&text, "../");
    text_add_string(&text, real + shared);
    const char *relative = arena_string(arena, text.data);
    text_free(&text);
    return relative;
}

static const char *uri_of(Writer *writer, const char *uri, const char *path)
{
    return writer->folder && path ? body_relative_path(writer->arena, writer->folder, path) : uri;
}

static void put_orientation(Writer *writer, BodyNumbers turns)
{
    begin_key(writer, "orientation");
    text_add_string(writer->out, " [ ");
    for (int i = 0; i < turns.count; i++) {
        text_add_string(writer->out, i ? ", " : "");
        text_add_double(writer->out, turns.items[i] * (i % 4 == 3 ? PER_RADIAN : 1.0));
    }
    text_add_string(writer->out, " ]\n");
}

static void put_extrusion(Writer *writer, const BodyGeometry *geometry)
{
    assert_debug(geometry->kind == BODY_EXTRUSION);
    put_numbers(writer, "cross_section", geometry->cross_section.items, geometry->cross_section.count);
    put_numbers(writer, "spine", geometry->spine.items, geometry->spine.count);
    if (geometry->orientation.count > 0)
        put_orientation(writer, geometry->orientation);
    if (geometry->scales.count > 0)
        put_numbers(writer, "scale", geometry->scales.items, geometry->scales.count);
    if (!geometry->has_begin_cap)
        put_bool(writer, "beginCap", false);  // begin_cap is what Choreonoid fails to read
    if (!geometry->has_end_cap)
        put_bool(writer, "end_cap", false);
}

static void put_elevation_grid(Writer *writer, const BodyGeometry *geometry)
{
    assert_debug(geometry->kind == BODY_ELEVATION_GRID);
    put_int(writer, "x_dimension", geometry->x_dimension);
    put_int(writer, "z_dimension", geometry->z_dimension);
    put_number(writer, "x_spacing", geometry->x_spacing);
    put_number(writer, "z_spacing", geometry->z_spacing);
    put_numbers(writer, "height", geometry->heights.items, geometry->heights.count);
    if (!geometry->is_ccw)
        put_bool(writer, "ccw", false);
}

static void put_faces(Writer *writer, const BodyGeometry *geometry)
{
    assert_debug(geometry->kind == BODY_FACES || geometry->kind == BODY_TRIANGLES);
    put_numbers(writer, "vertices", geometry->vertices.items, geometry->vertices.count);
    put_indices(writer, "faces", geometry->faces);
    if (geometry->normals.count > 0)
        put_numbers(writer, "normals", geometry->normals.items, geometry->normals.count);
    if (geometry->normal_indices.count > 0)
        put_indices(writer, "normal_indices", geometry->normal_indices);
}

// Boxes and round bodies: what their lengths are called is the same for all of them.
static void put_primitive(Writer *writer, const BodyGeometry *geometry)
{
    const GeometryType *type = geometry_of_kind(geometry->kind);
    bool is_round = type && type->traits & GEOMETRY_IS_ROUND;
    if (geometry->kind == GEOMETRY_BOX)
        put_vec3(writer, "size", geometry->size);
    if (geometry->kind == GEOMETRY_SPHERE || is_round)
        put_number(writer, "radius", geometry->radius);
    if (is_round)
        put_number(writer, "height", geometry->height);
    if (geometry->kind == GEOMETRY_CYLINDER && !geometry->has_top)
        put_bool(writer, "top", false);
    if ((geometry->kind == GEOMETRY_CYLINDER || geometry->kind == GEOMETRY_CONE) && !geometry->has_bottom)
        put_bool(writer, "bottom", false);
    if (geometry->division != 20 && geometry->kind != BODY_MESH_FILE)
        put_int(writer, "division_number", geometry->division);
}

static void put_geometry(Writer *writer, const BodyGeometry *geometry)
{
    open_map(writer, "geometry");
    put_word(writer, "type", body_geometry_name(geometry->kind));
    put_primitive(writer, geometry);
    if (geometry->kind == BODY_EXTRUSION)
        put_extrusion(writer, geometry);
    if (geometry->kind == BODY_ELEVATION_GRID)
        put_elevation_grid(writer, geometry);
    if (geometry->kind == BODY_FACES || geometry->kind == BODY_TRIANGLES)
        put_faces(writer, geometry);
    if (geometry->tex_coords.count > 0)
        put_numbers(writer, geometry->kind == BODY_ELEVATION_GRID ? "tex_coord" : "tex_coords",
                    geometry->tex_coords.items, geometry->tex_coords.count);
    if (geometry->tex_coord_indices.count > 0)
        put_indices(writer, "tex_coord_indices", geometry->tex_coord_indices);
    if (geometry->crease_angle > 0.0)
        put_number(writer, "crease_angle", geometry->crease_angle * PER_RADIAN);
    if (geometry->is_solid)
        put_bool(writer, "solid", true);
    if (geometry->kind == BODY_MESH_FILE)
        put_word(writer, "uri", uri_of(writer, geometry->uri, geometry->path));
    close_map(writer);
}

// Values that are Choreonoid's defaults are left out, as people write them.
static void put_appearance(Writer *writer, const BodyAppearance *appearance)
{
    open_map(writer, "appearance");
    open_map(writer, "material");
    put_vec3(writer, "diffuse", appearance->diffuse);
    if (appearance->ambient != 1.0)
        put_number(writer, "ambient", appearance->ambient);
    if (!is_same(appearance->emissive, VEC3_ZERO))
        put_vec3(writer, "emissive", appearance->emissive);
    if (!is_same(appearance->specular, VEC3_ZERO))
        put_vec3(writer, "specular", appearance->specular);
    if (appearance->specular_exponent != 25.0)
        put_number(writer, "specular_exponent", appearance->specular_exponent);
    if (appearance->transparency > 0.0)
        put_number(writer, "transparency", appearance->transparency);
    close_map(writer);
    if (appearance->texture_uri) {
        open_map(writer, "texture");
        put_word(writer, "uri", uri_of(writer, appearance->texture_uri, appearance->texture_path));
        if (!appearance->repeat_s)
            put_bool(writer, "repeat_s", false);
        if (!appearance->repeat_t)
            put_bool(writer, "repeat_t", false);
        close_map(writer);
    }
    if (appearance->has_texture_transform) {
        open_map(writer, "texture_transform");
        put_numbers(writer, "center", &appearance->texture_center.x, 2);
        put_numbers(writer, "scale", &appearance->texture_scale.x, 2);
        put_numbers(writer, "translation", &appearance->texture_translation.x, 2);
        put_number(writer, "rotation", appearance->texture_rotation * PER_RADIAN);
        close_map(writer);
    }
    close_map(writer);
}

static void put_mesh_resource(Writer *writer, const BodyShape *shape)
{
    assert_debug(shape->geometry->kind == BODY_MESH_FILE);
    const BodyGeometry *geometry = shape->geometry;
    put_word(writer, "type", "Resource");
    put_word(writer, "uri", uri_of(writer, geometry->uri, geometry->path));
    if (geometry->node)
        put_word(writer, "node", geometry->node);
    put_frame(writer, shape->frame);
    if (geometry->unit != 1.0 || geometry->is_y_up) {
        open_map(writer, "metadata");
        if (geometry->unit != 1.0)
            put_word(writer, "length_unit", geometry->unit == 0.001 ? "millimeter" : "inch");
        if (geometry->is_y_up)
            put_word(writer, "upper_axis", "Y");
        close_map(writer);
    }
}

static void put_shape(Writer *writer, const BodyShape *shape)
{
    assert_debug(shape->is_visual || shape->is_collision);
    begin_item(writer);
    bool is_one_sided = !shape->is_visual || !shape->is_collision;
    if (is_one_sided) {
        put_word(writer, "type", shape->is_visual ? "Visual" : "Collision");
        open_list(writer, "elements");
        begin_item(writer);
    }
    // Only a Resource that is an element can name a part of its file; it has the colours of the file then.
    if (shape->geometry->kind == BODY_MESH_FILE && (!shape->appearance || shape->geometry->node)) {
        put_mesh_resource(writer, shape);
    } else {
        put_word(writer, "type", "Shape");
        if (*shape->name)
            put_word(writer, "name", shape->name);
        put_frame(writer, shape->frame);
        put_geometry(writer, shape->geometry);
        if (shape->appearance)
            put_appearance(writer, shape->appearance);
    }
    if (is_one_sided)
        close_list(writer);
}

// Devices

static void put_rating(Writer *writer, const char *key, Vec3 v)
{
    if (v.x < BODY_UNLIMITED)
        put_vec3(writer, key, v);
}

static void put_optics(Writer *writer, const BodyDevice *device)
{
    if (strcmp(device->optical_frame, "gl"))
        put_word(writer, "optical_frame", device->optical_frame);
    if (device->has_optical_rotation)
        put_rotation(writer, "optical_frame_rotation", device->optical_rotation);
    put_number(writer, "min_distance", device->min_distance);
    put_number(writer, "max_distance", device->max_distance);
    if (device->detection_rate != 1.0)
        put_number(writer, "detection_rate", device->detection_rate);
    if (device->error_deviation != 0.0)
        put_number(writer, "error_deviation", device->error_deviation);
}

static void put_camera(Writer *writer, const BodyDevice *device)
{
    assert_debug(device->type == BODY_CAMERA || device->type == BODY_RANGE_CAMERA);
    put_word(writer, "format", device->format);
    if (strcmp(device->lens, "NORMAL"))
        put_word(writer, "lens_type", device->lens);
    put_int(writer, "width", device->width);
    put_int(writer, "height", device->height);
    put_number(writer, "field_of_view", device->field_of_view * PER_RADIAN);
    put_number(writer, "near_clip_distance", device->near_clip);
    put_number(writer, "far_clip_distance", device->far_clip);
    put_number(writer, "frame_rate", device->frame_rate);
    if (device->type == BODY_RANGE_CAMERA)
        put_optics(writer, device);
    else if (strcmp(device->optical_frame, "gl"))
        put_word(writer, "optical_frame", device->optical_frame);
}

static void put_range_sensor(Writer *writer, const BodyDevice *device)
{
    if (device->min_yaw == -device->max_yaw) {
        put_number(writer, "yaw_range", 2.0 * device->max_yaw * PER_RADIAN);
    } else {
        put_number(writer, "min_yaw_angle", device->min_yaw * PER_RADIAN);
        put_number(writer, "max_yaw_angle", device->max_yaw * PER_RADIAN);
    }
    put_number(writer, "yaw_step", device->yaw_step * PER_RADIAN);
    if (device->min_pitch == -device->max_pitch) {
        put_number(writer, "pitch_range", 2.0 * device->max_pitch * PER_RADIAN);
    } else {
        put_number(writer, "min_pitch_angle", device->min_pitch * PER_RADIAN);
        put_number(writer, "max_pitch_angle", device->max_pitch * PER_RADIAN);
    }
    put_number(writer, "pitch_step", device->pitch_step * PER_RADIAN);
    put_number(writer, "scan_rate", device->frame_rate);
    put_optics(writer, device);
}

static void put_light(Writer *writer, const BodyDevice *device)
{
    put_vec3(writer, "color", device->color);
    put_number(writer, "intensity", device->intensity);
    put_vec3(writer, "attenuation", device->attenuation);
    if (device->type != BODY_SPOT_LIGHT)
        return;
    put_vec3(writer, "direction", device->direction);
    put_number(writer, "beam_width", device->beam_width * PER_RADIAN);
    put_number(writer, "cut_off_angle", device->cut_off_angle * PER_RADIAN);
    put_number(writer, "cut_off_exponent", device->cut_off_exponent);
}

static void put_categories(Writer *writer, const BodyDevice *device)
{
    if (!*device->category)
        return;
    if (!strchr(device->category, ';')) {
        put_word(writer, "category", device->category);
        return;
    }
    begin_key(writer, "categories");
    text_add_string(writer->out, " [ ");
    for (const char *c = device->category; *c;) {
        size_t length = strcspn(c, ";");
        text_printf(writer->out, "\"%.*s\"%s", (int)length, c, c[length] ? ", " : "");
        c += length + (c[length] == ';');
    }
    text_add_string(writer->out, " ]\n");
}

// Lines of "NUMBER: NAME" as a map, or as a list of pairs.
static void put_lines(Writer *writer, const char *key, const char *lines, bool is_pairs)
{
    if (!*lines)
        return;
    begin_key(writer, key);
    text_add_string(writer->out, is_pairs ? " [ " : " { ");
    for (const char *at = lines; *at; at = strchr(at, '\n') + 1) {
        size_t digits = strcspn(at, ":"), length = strcspn(at, "\n");
        text_printf(writer->out, is_pairs ? "%s[ %.*s, " : "%s%.*s: ", at == lines ? "" : ", ", (int)digits, at);
        Text name = { 0 };
        text_printf(&name, "%.*s", (int)(length - digits - 2), at + digits + 2);
        yaml_write_scalar(writer->out, name.length ? name.data : "");
        text_free(&name);
        text_add_string(writer->out, is_pairs ? " ]" : "");
    }
    text_add_string(writer->out, is_pairs ? " ]\n" : " }\n");
}

static void put_holder(Writer *writer, const BodyDevice *device)
{
    assert_debug(device->type == BODY_HOLDER);
    put_categories(writer, device);
    put_word(writer, "hold_condition", device->hold_condition);
    put_number(writer, "max_hold_distance", device->max_hold_distance);
    if (*device->hold_target)
        put_word(writer, "hold_target_name", device->hold_target);
}

static void put_conveyor(Writer *writer, const BodyDevice *device)
{
    put_word(writer, "conveyor_type", device->conveyor_type);
    put_vec3(writer, "axis", device->axis);
    put_number(writer, "speed", device->speed);
}

static void put_marker(Writer *writer, const BodyDevice *device)
{
    assert_debug(device->type == BODY_MARKER);
    put_word(writer, "marker_type", device->marker_type);
    put_number(writer, "size", device->marker_size);
    put_vec3(writer, "color", device->color);
    put_number(writer, "emission", device->emission);
    put_number(writer, "transparency", device->transparency);
    put_translation(writer, "offset_translation", device->offset_translation);
    put_rotation(writer, "offset_rotation", device->offset_rotation);
}

static void put_digital_io(Writer *writer, const BodyDevice *device)
{
    put_int(writer, "num_signal_lines", device->signal_lines);
    put_lines(writer, "out_labels", device->out_labels, false);
    put_lines(writer, "in_labels", device->in_labels, false);
    put_lines(writer, "input_to_device_switch_connections", device->connections, true);
}

// Keys that a type of device has beyond those of all.
static void put_device_keys(Writer *writer, const BodyDevice *device)
{
    switch (device->type) {
    case BODY_ACCELERATION_SENSOR:
    case BODY_RATE_GYRO:
    case BODY_IMU:
        put_rating(writer, "max_acceleration", device->max_acceleration);
        put_rating(writer, "max_angular_velocity", device->max_angular_velocity);
        break;
    case BODY_FORCE_SENSOR:
        put_rating(writer, "max_force", device->max_force);
        put_rating(writer, "max_torque", device->max_torque);
        break;
    case BODY_CAMERA:
    case BODY_RANGE_CAMERA: put_camera(writer, device); break;
    case BODY_RANGE_SENSOR: put_range_sensor(writer, device); break;
    case BODY_SPOT_LIGHT:
    case BODY_POINT_LIGHT: put_light(writer, device); break;
    case BODY_HOLDER: put_holder(writer, device); break;
    case BODY_ATTACHMENT: put_categories(writer, device); break;
    case BODY_CONVEYOR: put_conveyor(writer, device); break;
    case BODY_MARKER: put_marker(writer, device); break;
    case BODY_DIGITAL_IO: put_digital_io(writer, device); break;
    default: break;
    }
}

static void put_device(Writer *writer, const BodyDevice *device)
{
    assert_debug((int)device->type >= 0 && (int)device->type < BODY_DEVICE_TYPE_COUNT);
    static const char *const types[] = {
        "AccelerationSensor", "RateGyroSensor", "IMU",        "ForceSensor", "Camera",     "Camera",
        "RangeSensor",        "SpotLight",      "PointLight", "Holder",      "Attachment", "Conveyor",
        "MarkerDevice",       "DigitalIO",      "ZmpDevice"
    };
    static_assert(COUNT_OF(types) == BODY_DEVICE_TYPE_COUNT, "one node type per device type");
    begin_item(writer);
    put_word(writer, "type", types[device->type]);
    if (*device->name)
        put_word(writer, "name", device->name);
    if (device->id >= 0)
        put_int(writer, "id", device->id);
    if (device->is_on != (device->type != BODY_HOLDER))
        put_bool(writer, "on", device->is_on);
    put_frame(writer, device->frame);
    put_device_keys(writer, device);
    put_info(writer, device->info);
}

// Links

static void put_limit(Text *out, double value, double unit)
{
    if (fabs(value) >= BODY_UNLIMITED)
        text_add_string(out, "unlimited");
    else
        text_add_double(out, value * unit);
}

static void put_range(Writer *writer, const char *key, double low, double high, double unit)
{
    if (low <= -BODY_UNLIMITED && high >= BODY_UNLIMITED)
        return;
    begin_key(writer, key);
    text_add_string(writer->out, " [ ");
    put_limit(writer->out, low, unit);
    text_add_string(writer->out, ", ");
    put_limit(writer->out, high, unit);
    text_add_string(writer->out, " ]\n");
}

static void put_joint(Writer *writer, const BodyLink *link)
{
    double unit = link->joint_type == BODY_JOINT_REVOLUTE ? PER_RADIAN : 1.0;
    put_word(writer, "joint_type", body_joint_type_name(link->joint_type));
    if (link->joint_id >= 0)
        put_int(writer, "joint_id", link->joint_id);
    if (!is_same(link->axis, vec3(0, 0, 1)))
        put_vec3(writer, "joint_axis", link->axis);
    bool is_usual = link->actuation == BODY_ACTUATION_NONE
                    || (link->joint_type == BODY_JOINT_TRACK && link->actuation == BODY_ACTUATION_VELOCITY);
    if (!is_usual)
        put_word(writer, "actuation_mode", body_actuation_name(link->actuation));
    if (link->q_initial != 0.0)
        put_number(writer, "joint_displacement", link->q_initial * unit);
    put_range(writer, "joint_range", link->q_lower, link->q_upper, unit);
    if (link->dq_lower == -link->dq_upper && link->dq_upper < BODY_UNLIMITED)
        put_number(writer, "max_joint_velocity", link->dq_upper * unit);
    else
        put_range(writer, "joint_velocity_range", link->dq_lower, link->dq_upper, unit);
    if (link->effort_limit < BODY_UNLIMITED)
        put_number(writer, "max_joint_effort", link->effort_limit);
    if (link->rotor_inertia != 0.0)
        put_number(writer, "rotor_inertia", link->rotor_inertia);
    if (link->gear_ratio != 1.0)
        put_number(writer, "gear_ratio", link->gear_ratio);
}

static void put_link_name(Writer *writer, const char *key, int index)
{
    assert_debug(index >= 0 && index < writer->model->link_count);
    const char *name = writer->model->links[index].name;
    if (*name) {
        put_word(writer, key, name);
        return;
    }
    begin_key(writer, key);
    text_printf(writer->out, " link_%d\n", index);
}

// Shapes and devices are sorted by link, so two cursors walk along with the links.
static void put_link(Writer *writer, int index, int *shape, int *device)
{
    assert_debug(index >= 0 && index < writer->model->link_count && *shape >= 0 && *device >= 0);
    const BodyModel *model = writer->model;
    const BodyLink *link = &model->links[index];
    begin_item(writer);
    put_link_name(writer, "name", index);
    if (strcmp(link->joint_name, link->name))
        put_word(writer, "joint_name", link->joint_name);
    if (link->parent >= 0)
        put_link_name(writer, "parent", link->parent);
    put_translation(writer, "translation", link->translation);
    put_rotation(writer, "rotation", link->rotation);
    put_joint(writer, link);
    if (strcmp(link->material, "Default"))
        put_word(writer, "material", link->material);
    if (link->has_mass_data) {
        put_number(writer, "mass", link->mass);
        put_translation(writer, "center_of_mass", link->com);
        put_numbers(writer, "inertia", link->inertia.m, 9);
    }
    put_info(writer, link->info);
    int first = *shape, first_device = *device;
    while (*shape < model->shape_count && model->shapes[*shape].link == index)
        ++*shape;
    while (*device < model->device_count && model->devices[*device].link == index)
        ++*device;
    if (first == *shape && first_device == *device)
        return;
    open_list(writer, "elements");
    for (int i = first_device; i < *device; i++)
        put_device(writer, &model->devices[i]);
    for (int i = first; i < *shape; i++)
        put_shape(writer, &model->shapes[i]);
    close_list(writer);
}

static void put_extra_joint(Writer *writer, const BodyExtraJoint *joint)
{
    begin_item(writer);
    put_link_name(writer, "link1_name", joint->link[0]);
    put_link_name(writer, "link2_name", joint->link[1]);
    if (*joint->name)
        put_word(writer, "name", joint->name);
    put_word(writer, "joint_type", body_extra_type_name(joint->type));
    if (joint->type == BODY_EXTRA_HINGE || joint->type == BODY_EXTRA_PISTON)
        put_vec3(writer, "axis", joint->axis);
    put_translation(writer, "translation_in_link1", joint->frame[0].t);
    put_translation(writer, "translation_in_link2", joint->frame[1].t);
    put_rotation(writer, "rotation_in_link1", joint->frame[0].m);
    put_rotation(writer, "rotation_in_link2", joint->frame[1].m);
}

static void put_rule(Writer *writer, const BodyRule *rule)
{
    const char *name = body_rule_name(rule->type);
    begin_item(writer);
    if (rule->type == BODY_RULE_CHAIN_LEVEL) {
        put_int(writer, name, rule->level);
        return;
    }
    if (rule->is_all) {
        put_word(writer, name, "all");
        return;
    }
    begin_key(writer, name);
    text_add_string(writer->out, " [ ");
    for (int i = 0; i < rule->link_count; i++) {
        text_add_string(writer->out, i ? ", " : "");
        yaml_write_scalar(writer->out, writer->model->links[rule->links[i]].name);
    }
    text_add_string(writer->out, " ]\n");
}

// Degrees and version 2.0 whatever the model was read from: one form to write, which every Choreonoid since 1.8
// reads.
void body_write_yaml(const BodyModel *model, const char *folder, Text *out)
{
    assert_debug(model && out);
    Writer writer = { .out = out, .model = model, .folder = folder, .arena = arena_create() };
    put_word(&writer, "format", "ChoreonoidBody");
    text_add_string(out, "format_version: 2.0\nangle_unit: degree\n");
    put_word(&writer, "name", model->name);
    put_link_name(&writer, "root_link", 0);
    open_list(&writer, "links");
    int shape = 0, device = 0;
    for (int i = 0; i < model->link_count; i++)
        put_link(&writer, i, &shape, &device);
    close_list(&writer);
    if (model->extra_joint_count > 0) {
        open_list(&writer, "extra_joints");
        for (int i = 0; i < model->extra_joint_count; i++)
            put_extra_joint(&writer, &model->extra_joints[i]);
        close_list(&writer);
    }
    if (model->has_rules && model->rule_count == 0)
        text_add_string(out, "collision_detection_rules: []\n");
    if (model->rule_count > 0) {
        open_list(&writer, "collision_detection_rules");
        for (int i = 0; i < model->rule_count; i++)
            put_rule(&writer, &model->rules[i]);
        close_list(&writer);
    }
    if (model->handler_count > 0) {
        begin_key(&writer, "body_handlers");
        text_add_string(out, " [ ");
        for (int i = 0; i < model->handler_count; i++) {
            text_add_string(out, i ? ", " : "");
            yaml_write_scalar(out, model->handlers[i]);
        }
        text_add_string(out, " ]\n");
    }
    put_info(&writer, model->info);
    arena_destroy(writer.arena);
}
