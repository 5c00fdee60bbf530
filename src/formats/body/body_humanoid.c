// body_humanoid.c - models of OpenHRP, which Choreonoid reads too: a VRML97 file whose nodes Humanoid, Joint and
// Segment (rows of scene/schema_humanoid.c) are the links, masses, shapes and sensors of a robot, as a BodyModel.
// A Joint is a link; its frame is that of the node, so the joint's axis and everything in the link are as written.
#include "formats/body/body_internal.h"

#include "base/file.h"
#include "base/memory.h"
#include "scene/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Humanoid {
    BodyReader *reader;
    BodyRawLinks raw;
    Mat3 *turns;  // per link: from its frame to that of Choreonoid's link, which is turned as the root is
    int turn_capacity;
    WrlShapes shapes;  // of one link, while it is read
    int depth, inline_count;
} Humanoid;

// What is read below a Joint belongs to its link.
typedef struct Place {
    int link;
    BodyMassSum *masses;
    bool has_surfaces;
} Place;

static bool is_type(const SceneNode *node, const char *type) { return !strcmp(node->type->name, type); }

static const char *name_of(const Humanoid *humanoid, const SceneNode *node)
{
    const char *name = node->def ? node->def : schema_field(node->type, "name") ? scene_string(node, "name") : "";
    return arena_string(humanoid->reader->arena, name);
}

static double limit_of(const SceneNode *node, const char *field, double otherwise)
{
    const FieldList *list = scene_list(node, field);
    return list->count > 0 && isfinite(list->numbers[0]) ? list->numbers[0] : otherwise;
}

static BodyJointType joint_type(const Humanoid *humanoid, const SceneNode *joint)
{
    static const struct {
        const char *name;
        BodyJointType type;
    } types[] = {
        { "fixed", BODY_JOINT_FIXED },     { "free", BODY_JOINT_FREE },     { "rotate", BODY_JOINT_REVOLUTE },
        { "slide", BODY_JOINT_PRISMATIC }, { "crawler", BODY_JOINT_TRACK },
    };
    const char *name = scene_string(joint, "jointType");
    for (int i = 0; i < COUNT_OF(types); i++)
        if (!strcmp(name, types[i].name))
            return types[i].type;
    if (*name)
        diag_warning(humanoid->reader->diags, joint->pos, "jointType '%.60s' is unknown; the joint is fixed", name);
    return BODY_JOINT_FIXED;
}

static Vec3 axis_of_letter(char letter)
{
    switch (letter) {
    case 'X':
    case 'x': return vec3(1, 0, 0);
    case 'Y':
    case 'y': return vec3(0, 1, 0);
    default: return vec3(0, 0, 1);
    }
}

// Models name the axis or give it as a vector; each file declares which.
static Vec3 joint_axis(const SceneNode *joint)
{
    const FieldType *named = schema_field(joint->type, "jointAxis")->older;
    for (int i = 0; i < joint->field_count; i++)
        if (joint->fields[i].type == named)
            return axis_of_letter(*joint->fields[i].value.s);
    return scene_vec3(joint, "jointAxis");
}

// Joints that do not move along an axis have any, often none.
static void read_axis(const Humanoid *humanoid, const SceneNode *joint, BodyLink *link)
{
    bool has_axis = link->joint_type != BODY_JOINT_FIXED && link->joint_type != BODY_JOINT_FREE;
    Vec3 axis = joint_axis(joint);
    if (has_axis && vec3_length(axis) > 0.0)
        link->axis = axis;
    else if (has_axis)
        diag_error(humanoid->reader->diags, joint->pos, "jointAxis of '%.60s' is zero; using 0 0 1", link->name);
}

static void read_joint_keys(Humanoid *humanoid, const SceneNode *joint, BodyLink *link)
{
    link->pos = joint->pos;
    link->name = link->joint_name = name_of(humanoid, joint);
    link->translation = scene_vec3(joint, "translation");
    link->rotation = mat3_from_quat(quat_from_rotation(scene_rotation(joint, "rotation")));
    link->joint_type = joint_type(humanoid, joint);
    link->joint_id = int_max(scene_int(joint, "jointId"), -1);
    read_axis(humanoid, joint, link);
    link->q_lower = limit_of(joint, "llimit", -BODY_UNLIMITED);
    link->q_upper = limit_of(joint, "ulimit", BODY_UNLIMITED);
    link->dq_lower = limit_of(joint, "lvlimit", -BODY_UNLIMITED);
    link->dq_upper = limit_of(joint, "uvlimit", BODY_UNLIMITED);
    link->gear_ratio = scene_float(joint, "gearRatio");
    link->rotor_inertia = scene_float(joint, "rotorInertia");
    double equivalent = scene_float(joint, "equivalentInertia");
    link->axis_inertia = equivalent >= 0.0 ? equivalent : link->gear_ratio * link->gear_ratio * link->rotor_inertia;
    if (link->q_lower > link->q_upper)
        diag_warning(humanoid->reader->diags, joint->pos, "llimit of joint '%.60s' is above its ulimit", link->name);
}

// ---- devices ----

static void set_rating(const SceneNode *node, const char *field, Vec3 *rating)
{
    Vec3 given = scene_vec3(node, field);
    rating->x = given.x > 0.0 ? given.x : BODY_UNLIMITED;
    rating->y = given.y > 0.0 ? given.y : BODY_UNLIMITED;
    rating->z = given.z > 0.0 ? given.z : BODY_UNLIMITED;
}

static void read_force_sensor(const SceneNode *node, BodyDevice *device)
{
    set_rating(node, "maxForce", &device->max_force);
    set_rating(node, "maxTorque", &device->max_torque);
}

static void read_gyro(const SceneNode *node, BodyDevice *device)
{
    set_rating(node, "maxAngularVelocity", &device->max_angular_velocity);
}

static void read_acceleration_sensor(const SceneNode *node, BodyDevice *device)
{
    set_rating(node, "maxAcceleration", &device->max_acceleration);
}

static void read_camera(const SceneNode *node, BodyDevice *device)
{
    static const char *const depths[] = { "DEPTH", "COLOR_DEPTH", "POINT_CLOUD", "COLOR_POINT_CLOUD" };
    device->format = "COLOR";
    for (int i = 0; i < COUNT_OF(depths); i++) {
        if (strcmp(scene_string(node, "type"), depths[i]))
            continue;
        device->type = BODY_RANGE_CAMERA;
        device->format = depths[i];
    }
    device->width = int_max(scene_int(node, "width"), 1);
    device->height = int_max(scene_int(node, "height"), 1);
    device->field_of_view = scene_float(node, "fieldOfView");
    device->near_clip = scene_float(node, "frontClipDistance");
    device->far_clip = scene_float(node, "backClipDistance");
    device->frame_rate = scene_float(node, "frameRate");
    device->is_on = scene_bool(node, "on");
}

static void read_range_sensor(const SceneNode *node, BodyDevice *device)
{
    static const int samples_max = 100000;
    double angle = scene_float(node, "scanAngle"), step = scene_float(node, "scanStep");
    device->min_yaw = -angle / 2.0;
    device->max_yaw = angle / 2.0;
    device->yaw_samples = step > 0.0 ? (int)fmin(floor(angle / step + 1e-7) + 1.0, samples_max) : 1;
    device->yaw_step = step;
    device->pitch_samples = 1;
    device->min_distance = scene_float(node, "minDistance");
    device->max_distance = scene_float(node, "maxDistance");
    device->detection_rate = 1.0;
    device->frame_rate = scene_float(node, "scanRate");
    device->is_on = scene_bool(node, "on");
}

static void read_spot_light(const SceneNode *node, BodyDevice *device)
{
    device->attenuation = scene_vec3(node, "attenuation");
    device->beam_width = scene_float(node, "beamWidth");
    device->color = scene_vec3(node, "color");
    device->cut_off_angle = scene_float(node, "cutOffAngle");
    device->direction = scene_vec3(node, "direction");
    device->intensity = scene_float(node, "intensity");
    device->is_on = scene_bool(node, "on");
}

static const struct DeviceRow {
    const char *node;
    BodyDeviceType type;  // BODY_DEVICE_TYPE_COUNT: Choreonoid has none either
    void (*read)(const SceneNode *node, BodyDevice *device);
} device_rows[] = {
    { "HrpForceSensor", BODY_FORCE_SENSOR, read_force_sensor },
    { "HrpGyro", BODY_RATE_GYRO, read_gyro },
    { "HrpAccelerationSensor", BODY_ACCELERATION_SENSOR, read_acceleration_sensor },
    { "HrpVisionSensor", BODY_CAMERA, read_camera },
    { "HrpRangeSensor", BODY_RANGE_SENSOR, read_range_sensor },
    { "HrpSpotLightDevice", BODY_SPOT_LIGHT, read_spot_light },
    { "HrpPressureSensor", BODY_DEVICE_TYPE_COUNT, NULL },
    { "HrpPhotoInterrupter", BODY_DEVICE_TYPE_COUNT, NULL },
};

static const struct DeviceRow *device_row(const SceneNode *node)
{
    for (int i = 0; i < COUNT_OF(device_rows); i++)
        if (is_type(node, device_rows[i].node))
            return &device_rows[i];
    return NULL;
}

static void add_device(Humanoid *humanoid, const SceneNode *node, const struct DeviceRow *row, Place *place,
                       BodyFrame frame)
{
    BodyReader *reader = humanoid->reader;
    if (!row->read) {
        diag_note(reader->diags, node->pos, "%s has no counterpart; it is left out", row->node + strlen("Hrp"));
        return;
    }
    BodyDevice device = body_device_defaults;
    device.type = row->type;
    device.pos = node->pos;
    device.link = place->link;
    device.name = name_of(humanoid, node);
    device.id = scene_int(node, "sensorId") >= 0 ? scene_int(node, "sensorId") : scene_int(node, "deviceId");
    device.frame = body_frame_mul(frame, body_wrl_frame(node));
    row->read(node, &device);
    BodyModel *model = reader->model;
    *memory_push(model->devices, model->device_count, model->device_capacity) = device;
}

// ---- links ----

static void add_mass(Place *place, const SceneNode *segment, BodyFrame frame)
{
    BodyMassPart part = { .mass = fmax(scene_float(segment, "mass"), 0.0),
                          .com = body_frame_apply(frame, scene_vec3(segment, "centerOfMass")) };
    const FieldList *inertia = scene_list(segment, "momentsOfInertia");
    for (int i = 0; i < 9 && inertia->count == 9; i++)
        part.inertia.m[i] = inertia->numbers[i];
    part.inertia = mat3_mul(mat3_mul(frame.m, part.inertia), mat3_transposed(frame.m));
    body_mass_add(place->masses, part);
}

// All that is seen in a Segment is shown and collides, unless Surfaces say what collides.
static void add_shapes(Humanoid *humanoid, Place *place, const SceneNode *segment, BodyFrame frame, bool is_collision)
{
    BodyReader *reader = humanoid->reader;
    WrlWalk walk = { .arena = reader->arena,
                     .limits = reader->limits,
                     .diags = reader->diags,
                     .path = reader->path,
                     .shapes = &humanoid->shapes,
                     .is_collision = is_collision,
                     .inline_count = humanoid->inline_count };
    int first = humanoid->shapes.count;
    body_wrl_collect(&walk, segment, frame);
    humanoid->inline_count = walk.inline_count;
    place->has_surfaces = place->has_surfaces || walk.has_surfaces;
    for (int i = first; i < humanoid->shapes.count; i++) {
        BodyShape *shape = &humanoid->shapes.items[i];
        shape->link = place->link;
        shape->is_visual = !is_collision;
        shape->is_collision = is_collision;
    }
}

static void read_joint(Humanoid *humanoid, const SceneNode *joint, int parent, BodyFrame frame);

static void read_below(Humanoid *humanoid, const SceneNode *node, Place *place, BodyFrame frame)
{
    const FieldList *children = schema_field(node->type, "children") ? scene_list(node, "children") : NULL;
    if (!children || humanoid->depth >= humanoid->reader->limits->nesting)
        return;
    humanoid->depth++;
    for (int i = 0; i < children->count; i++) {
        const SceneNode *child = scene_list_node(children, i);
        if (!child || !child->type)
            continue;
        const struct DeviceRow *row = device_row(child);
        if (row) {
            add_device(humanoid, child, row, place, frame);
        } else if (is_type(child, "HrpJoint")) {
            read_joint(humanoid, child, place->link, frame);
        } else if (is_type(child, "HrpSegment")) {
            add_mass(place, child, frame);
            add_shapes(humanoid, place, child, frame, false);
            add_shapes(humanoid, place, child, frame, true);
            read_below(humanoid, child, place, frame);
        } else {
            read_below(humanoid, child, place, body_frame_mul(frame, body_wrl_frame(child)));
        }
    }
    humanoid->depth--;
}

static void keep_shapes(Humanoid *humanoid, const Place *place)
{
    for (int i = 0; i < humanoid->shapes.count; i++) {
        BodyShape shape = humanoid->shapes.items[i];
        if (!place->has_surfaces)
            shape.is_collision = true;
        if (shape.link == place->link)
            body_shape_add(humanoid->reader, shape);
    }
}

// `frame` is that of Transforms between the parent and this joint; Choreonoid allows none.
static void read_joint(Humanoid *humanoid, const SceneNode *joint, int parent, BodyFrame frame)
{
    BodyReader *reader = humanoid->reader;
    if (++*reader->element_count > reader->limits->nodes || humanoid->raw.count >= reader->limits->bodies) {
        diag_error(reader->diags, joint->pos, "more than %lld links; the rest is left out",
                   (long long)reader->limits->bodies);
        return;
    }
    int index = body_raw_add(&humanoid->raw);
    BodyRawLink *raw = &humanoid->raw.items[index];
    read_joint_keys(humanoid, joint, &raw->link);
    raw->parent = parent;
    if (parent >= 0)
        raw->link.translation = body_frame_apply(frame, raw->link.translation);
    memory_grow(&humanoid->turns, &humanoid->turn_capacity, index + 1, sizeof *humanoid->turns);
    humanoid->turns[index] = parent < 0 ? (Mat3)MAT3_IDENTITY : mat3_mul(humanoid->turns[parent], raw->link.rotation);
    WrlShapes outer = humanoid->shapes;
    humanoid->shapes = (WrlShapes){ 0 };
    BodyMassSum masses = { 0 };
    Place place = { .link = index, .masses = &masses };
    read_below(humanoid, joint, &place, BODY_FRAME_IDENTITY);
    keep_shapes(humanoid, &place);
    free(humanoid->shapes.items);
    humanoid->shapes = outer;
    BodyLink *link = &humanoid->raw.items[index].link;  // more links may have moved them
    link->has_mass_data = masses.count > 0;
    if (masses.count > 0)
        body_mass_set(link, &masses);
    free(masses.parts);
}

// ---- the file ----

static void read_extra_joint(Humanoid *humanoid, const SceneNode *node)
{
    BodyReader *reader = humanoid->reader;
    BodyModel *model = reader->model;
    BodyExtraJoint joint = { .pos = node->pos, .name = name_of(humanoid, node), .axis = { 1, 0, 0 } };
    joint.type = strcmp(scene_string(node, "jointType"), "piston") ? BODY_EXTRA_BALL : BODY_EXTRA_PISTON;
    for (int i = 0; i < 2; i++) {
        const char *name = scene_string(node, i ? "link2Name" : "link1Name");
        joint.link[i] = body_find_link(model, name);
        if (joint.link[i] < 0) {
            diag_error(reader->diags, node->pos, "there is no link '%.60s'", name);
            return;
        }
        // Points and axis are in frames that are turned as the root is.
        int raw = 0;
        while (humanoid->raw.items[raw].order != joint.link[i])
            raw++;
        Mat3 turn = mat3_transposed(humanoid->turns[raw]);
        joint.frame[i] = BODY_FRAME_IDENTITY;
        joint.frame[i].t = mat3_apply(turn, scene_vec3(node, i ? "link2LocalPos" : "link1LocalPos"));
        Vec3 axis = scene_vec3(node, "jointAxis");
        if (i == 0 && vec3_length(axis) > 0.0)
            joint.axis = vec3_normalized(mat3_apply(turn, axis));
    }
    *memory_push(model->extra_joints, model->extra_joint_count, model->extra_joint_capacity) = joint;
}

static const SceneNode *find_top(const Scene *scene, const char *type, int *from)
{
    const FieldList *nodes = scene_list(scene_root(scene), "children");
    for (; *from < nodes->count; (*from)++) {
        const SceneNode *node = scene_list_node(nodes, *from);
        if (node && node->type && is_type(node, type))
            return node;
    }
    return NULL;
}

// A file without a Humanoid is one thing that does not move.
static void read_plain(Humanoid *humanoid, const Scene *scene)
{
    int index = body_raw_add(&humanoid->raw);
    BodyLink *link = &humanoid->raw.items[index].link;
    link->name = link->joint_name = "Root";
    Place place = { .link = index };
    add_shapes(humanoid, &place, scene_root(scene), BODY_FRAME_IDENTITY, false);
    keep_shapes(humanoid, &place);
}

static bool read_robot(Humanoid *humanoid, const SceneNode *top)
{
    BodyReader *reader = humanoid->reader;
    const FieldList *bodies = scene_list(top, "humanoidBody");
    const SceneNode *root = bodies->count > 0 ? scene_list_node(bodies, 0) : NULL;
    if (!root || !root->type || !is_type(root, "HrpJoint")) {
        diag_error(reader->diags, top->pos, "the Humanoid has no Joint in its humanoidBody");
        return false;
    }
    if (*name_of(humanoid, top))
        reader->model->name = name_of(humanoid, top);
    read_joint(humanoid, root, -1, BODY_FRAME_IDENTITY);
    return humanoid->raw.count > 0;
}

bool body_humanoid_read(BodyReader *reader, const char *text, size_t size)
{
    FormatsOptions options = { .limits = reader->limits };
    Scene *scene = formats_load_vrml_text(reader->path, text, size, &options, reader->diags);
    if (!scene)
        return false;
    Humanoid humanoid = { .reader = reader };
    reader->model->name = path_stem(reader->arena, reader->path);
    reader->model->format_version = 1.0;
    int at = 0;
    const SceneNode *top = find_top(scene, "HrpHumanoid", &at);
    bool is_read = true;
    if (top)
        is_read = read_robot(&humanoid, top);
    else
        read_plain(&humanoid, scene);
    if (is_read) {
        body_tree_build(reader, &humanoid.raw, NULL);
        const SceneNode *extra;
        for (int i = 0; (extra = find_top(scene, "HrpExtraJoint", &i)); i++)
            read_extra_joint(&humanoid, extra);
    }
    free(humanoid.raw.items);
    free(humanoid.turns);
    free(humanoid.shapes.items);
    scene_destroy(scene);
    return is_read;
}
