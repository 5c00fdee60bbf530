// body_scene.c - a body as a Robot: links become Solids, joints become joints with a motor and a position sensor.
#include "formats/body/body_scene.h"

#include "base/file.h"
#include "base/memory.h"
#include "formats/formats_internal.h"

#include <stdlib.h>
#include <string.h>

#define UNLIMITED 1e30  // for fields that need a number where the body has no limit
enum { DEEPEST_LINK = 1000 };

// Nodes and fields

SceneNode *body_scene_node(BodyScene *out, const char *type, SourcePos pos)
{
    return scene_node_create(out->scene, schema_type(type), pos);
}

void body_scene_pose(BodyScene *out, SceneNode *node, Pose pose)
{
    Rotation rotation = quat_to_rotation(pose.q);
    if (vec3_length2(pose.t) > 0.0)
        scene_set_vec3(out->scene, node, "translation", pose.t);
    if (fabs(rotation.angle) > 1e-15)
        scene_set_rotation(out->scene, node, "rotation", rotation);
}

void body_scene_nodes(BodyScene *out, SceneNode *node, const char *field, SceneNode *const *items, int count)
{
    assert_debug(items || count == 0);
    if (count == 0)
        return;
    FieldList *list = arena_alloc(scene_arena(out->scene), sizeof *list);
    scene_list_reserve(out->scene, list, FIELD_SF_NODE, count);
    memcpy(list->nodes, items, (size_t)count * sizeof *items);
    list->count = count;
    scene_set_value(out->scene, node, schema_field(node->type, field), (FieldValue){ .list = list });
}

void body_scene_numbers(BodyScene *out, SceneNode *node, const char *field, const double *numbers, int item_count)
{
    assert_debug(numbers || item_count == 0);
    const FieldType *type = schema_field(node->type, field);
    FieldKind kind = field_kind_item(type->kind);
    FieldList *list = arena_alloc(scene_arena(out->scene), sizeof *list);
    scene_list_reserve(out->scene, list, kind, int_max(item_count, 1));
    if (item_count > 0)
        memcpy(list->numbers, numbers, (size_t)item_count * (size_t)field_kind_doubles(kind) * sizeof *numbers);
    list->count = item_count;
    scene_set_value(out->scene, node, type, (FieldValue){ .list = list });
}

void body_scene_string_list(BodyScene *out, SceneNode *node, const char *field, const char *text)
{
    FieldList *list = arena_alloc(scene_arena(out->scene), sizeof *list);
    scene_list_reserve(out->scene, list, FIELD_SF_STRING, 1);
    list->strings[0] = arena_string(scene_arena(out->scene), text);
    list->count = 1;
    scene_set_value(out->scene, node, schema_field(node->type, field), (FieldValue){ .list = list });
}

const char *body_scene_url(BodyScene *out, const char *path)
{
    Arena *arena = scene_arena(out->scene);
    return body_relative_path(arena, path_directory(arena, scene_path(out->scene)), path);
}

void body_scene_gather(BodyScene *out, SceneNode *node)
{
    if (!node)
        return;
    *memory_push(out->nodes.items, out->nodes.count, out->nodes.capacity) = node;
}

// Puts what was gathered since `first` into a field and forgets it.
static void place_gathered(BodyScene *out, SceneNode *node, const char *field, int first)
{
    assert_debug(first >= 0 && first <= out->nodes.count);
    body_scene_nodes(out, node, field, out->nodes.items + first, out->nodes.count - first);
    out->nodes.count = first;
}

// Mass

static Mat3 symmetric(Mat3 m) { return mat3_scale(mat3_add(m, mat3_transposed(m)), 0.5); }

// Whether mass data can be given to a body as they are; else they are mended.
static bool mend_mass(const BodyLink *link, double *mass, Mat3 *inertia)
{
    assert_debug(mass && inertia);
    bool is_fine = true;
    *mass = link->mass;
    *inertia = symmetric(link->inertia);
    for (int i = 0; i < 9; i++)
        is_fine = is_fine && fabs(inertia->m[i] - link->inertia.m[i]) <= 1e-12 * (1.0 + fabs(link->inertia.m[i]));
    if (!(*mass >= LIMIT_MASS_LOW) || *mass > LIMIT_MASS_HIGH) {
        *mass = *mass > LIMIT_MASS_HIGH ? LIMIT_MASS_HIGH : 1e-6;
        is_fine = false;
    }
    double min = 1e-6 * *mass;
    for (int k = 0; k < 60 && !mat3_is_positive_definite(*inertia); k++) {
        for (int i = 0; i < 9; i += 4)
            inertia->m[i] += min;
        min *= 2.0;
        is_fine = false;
    }
    if (!mat3_is_positive_definite(*inertia)) {
        *inertia = mat3_scale(MAT3_IDENTITY, 1e-6 * *mass);
        is_fine = false;
    }
    return is_fine;
}

static void set_inertia(BodyScene *out, SceneNode *node, Mat3 inertia)
{
    const double *m = inertia.m;
    const double rows[6] = { m[0], m[4], m[8], m[1], m[2], m[5] };
    body_scene_numbers(out, node, "inertiaMatrix", rows, 2);
}

static void set_physics(BodyScene *out, SceneNode *solid, const BodyLink *link, double mass, Mat3 inertia)
{
    SceneNode *physics = body_scene_node(out, "Physics", link->pos);
    scene_set_float(out->scene, physics, "density", -1.0);
    scene_set_float(out->scene, physics, "mass", mass);
    body_scene_numbers(out, physics, "centerOfMass", &link->com.x, 1);
    set_inertia(out, physics, inertia);
    scene_set_child(out->scene, solid, "physics", physics);
}

// Links

static const char *solid_name(BodyScene *out, int index)
{
    assert_debug(index >= 0 && index < out->model->link_count);
    const BodyLink *link = &out->model->links[index];
    if (index == 0)  // the Robot itself
        return out->placement->name ? out->placement->name : out->model->name;
    return *link->name ? link->name : arena_printf(scene_arena(out->scene), "link %d", index);
}

static bool has_motor(const BodyLink *link)
{
    return link->joint_type == BODY_JOINT_REVOLUTE || link->joint_type == BODY_JOINT_PRISMATIC
           || link->joint_type == BODY_JOINT_TRACK;
}

static char *info_text(const BodyInfo *info)
{
    Text text = { 0 };
    for (; info; info = info->next) {
        yaml_write_scalar(&text, info->key);
        text_add_char(&text, ':');
        yaml_write_value(&text, info->value, 0);
    }
    return text.data;
}

// What the Solid itself cannot say about the link goes into a BodyLink node; none is made when there is nothing.
static void gather_link_notes(BodyScene *out, int index, bool is_physics_exact)
{
    assert_debug(index >= 0 && index < out->model->link_count);
    const BodyLink *link = &out->model->links[index];
    Scene *scene = out->scene;
    SceneNode *node = body_scene_node(out, "BodyLink", link->pos);
    bool is_needed = false;
    if (!is_physics_exact) {
        scene_set_float(scene, node, "mass", link->mass);
        scene_set_vec3(scene, node, "centerOfMass", link->com);
        set_inertia(out, node, link->inertia);
        is_needed = true;
    }
    if (!has_motor(link) || index == 0) {
        if (link->joint_id >= 0) {
            scene_set_int(scene, node, "jointId", link->joint_id);
            is_needed = true;
        }
        if (strcmp(link->joint_name, link->name)) {
            scene_set_string(scene, node, "jointName", link->joint_name);
            is_needed = true;
        }
        if (link->axis.x != 0.0 || link->axis.y != 0.0 || link->axis.z != 1.0) {
            scene_set_vec3(scene, node, "jointAxis", link->axis);
            is_needed = true;
        }
    }
    bool shows_type = index > 0 || link->joint_type == BODY_JOINT_FIXED || link->joint_type == BODY_JOINT_FREE;
    if (!shows_type || (index == 0 && out->placement->fixed != 0)) {
        scene_set_string(scene, node, "jointType", body_joint_type_name(link->joint_type));
        is_needed = true;
    }
    char *text = info_text(link->info);
    if (text && strlen(text) < 65536) {
        scene_set_string(scene, node, "info", text);
        is_needed = true;
    }
    free(text);
    if (is_needed)
        body_scene_gather(out, node);
}

static SceneNode *bounding_object(BodyScene *out, int index)
{
    assert_debug(index >= 0 && index < out->model->link_count
                 && out->first_shape[index] <= out->first_shape[index + 1]);
    const BodyModel *model = out->model;
    int first = out->nodes.count;
    if (out->placement->without_collision || out->is_untouchable[index])
        return NULL;
    for (int i = out->first_shape[index]; i < out->first_shape[index + 1]; i++)
        if (model->shapes[i].is_collision)
            body_shape_nodes(out, &model->shapes[i], true);
    int count = out->nodes.count - first;
    SceneNode *node = count == 1 ? out->nodes.items[first] : NULL;
    if (count > 1) {
        node = body_scene_node(out, "Group", model->links[index].pos);
        place_gathered(out, node, "children", first);
    }
    out->nodes.count = first;
    return node;
}

static Pose link_pose(BodyScene *out, int index)
{
    assert_debug(index >= 0 && index < out->model->link_count);
    const BodyLink *link = &out->model->links[index];
    double q = out->q[index];
    Pose pose = { link->translation, quat_from_mat3(link->rotation) };
    if (index == 0)
        return pose;
    if (link->joint_type == BODY_JOINT_REVOLUTE)
        pose.q = quat_normalized(quat_mul(pose.q, quat_from_axis_angle(link->axis, q)));
    else if (link->joint_type == BODY_JOINT_PRISMATIC)
        pose.t = vec3_add(pose.t, quat_rotate(pose.q, vec3_scale(link->axis, q)));
    return pose;
}

static void add_link(BodyScene *out, int index, int depth);

// Mass comes last: what is static gets none, and what no body can have was mended, which its reader should hear.
// What the mended numbers lose stays in a BodyLink note.
static void fill_solid(BodyScene *out, SceneNode *solid, int index, int depth)
{
    assert_debug(index >= 0 && index < out->model->link_count && !out->solids[index]);
    const BodyModel *model = out->model;
    const BodyLink *link = &model->links[index];
    Scene *scene = out->scene;
    out->solids[index] = solid;
    body_scene_pose(out, solid, link_pose(out, index));
    if (index == 0 && out->placement->has_translation)
        scene_set_vec3(scene, solid, "translation", out->placement->translation);
    if (index == 0 && out->placement->has_rotation)
        scene_set_rotation(scene, solid, "rotation", quat_to_rotation(out->placement->rotation));
    double mass;
    Mat3 inertia;
    bool is_exact = mend_mass(link, &mass, &inertia) && !out->is_static[index];
    int first = out->nodes.count;
    gather_link_notes(out, index, is_exact);
    for (int i = out->first_shape[index]; i < out->first_shape[index + 1]; i++)
        if (model->shapes[i].is_visual)
            body_shape_nodes(out, &model->shapes[i], false);
    for (int i = out->first_device[index]; i < out->first_device[index + 1]; i++)
        body_device_nodes(out, i);
    for (int child = out->first_child[index]; child >= 0; child = out->next[child])
        add_link(out, child, depth + 1);
    place_gathered(out, solid, "children", first);
    if (strcmp(link->material, "Default"))
        scene_set_string(scene, solid, "contactMaterial", link->material);
    SceneNode *bounding = bounding_object(out, index);
    if (bounding)
        scene_set_child(scene, solid, "boundingObject", bounding);
    if (out->is_static[index])
        return;
    set_physics(out, solid, link, mass, inertia);
    if (!is_exact)
        diag_warning(out->diags, link->pos, "mass data of link '%.60s' cannot be those of a body; simulated with %g kg",
                     link->name, mass);
}

// Joints

static void set_motor_limits(BodyScene *out, SceneNode *motor, const BodyLink *link, const char *force_field)
{
    Scene *scene = out->scene;
    double fastest = fmax(fabs(link->dq_lower), fabs(link->dq_upper));
    scene_set_float(scene, motor, "maxVelocity", fmin(fastest, UNLIMITED));
    if (link->dq_lower != -link->dq_upper)
        scene_set_vec2(scene, motor, "velocityRange",
                       (Vec2){ fmax(link->dq_lower, -UNLIMITED), fmin(link->dq_upper, UNLIMITED) });
    scene_set_float(scene, motor, force_field, fmin(link->effort_limit, UNLIMITED));
}

static void set_devices(BodyScene *out, SceneNode *joint, int index)
{
    assert_debug(index > 0 && index < out->model->link_count);
    static const char *const modes[] = { "none", "effort", "displacement", "velocity", "position" };
    const BodyLink *link = &out->model->links[index];
    Scene *scene = out->scene;
    bool is_turning = link->joint_type == BODY_JOINT_REVOLUTE;
    const char *name = *link->joint_name ? link->joint_name : solid_name(out, index);
    SceneNode *devices[2];
    SceneNode *motor = devices[0] = body_scene_node(out, is_turning ? "BodyRotationalMotor" : "BodyLinearMotor",
                                                    link->pos);
    scene_set_string(scene, motor, "name", name);
    set_motor_limits(out, motor, link, is_turning ? "maxTorque" : "maxForce");
    double dt = out->placement->time_step > 0.0 ? out->placement->time_step : 0.001;
    scene_set_vec3(scene, motor, "controlPID", vec3(1.0 / dt, 0, 0));
    scene_set_string(scene, motor, "sound", "");
    scene_set_string(scene, motor, "actuation", modes[link->actuation]);
    if (link->axis_inertia > 0.0) {
        scene_set_float(scene, motor, "rotorInertia", link->rotor_inertia);
        scene_set_float(scene, motor, "gearRatio", link->gear_ratio);
    }
    if (link->joint_id >= 0)
        scene_set_int(scene, motor, "jointId", link->joint_id);
    devices[1] = body_scene_node(out, "PositionSensor", link->pos);
    scene_set_string(scene, devices[1], "name", arena_printf(scene_arena(scene), "%s_sensor", name));
    body_scene_nodes(out, joint, "device", devices, link->joint_type == BODY_JOINT_TRACK ? 1 : 2);
}

static void set_stops(BodyScene *out, SceneNode *parameters, const BodyLink *link, double unit)
{
    if (link->q_lower <= -BODY_UNLIMITED && link->q_upper >= BODY_UNLIMITED)
        return;
    double low = fmax(link->q_lower * unit, -UNLIMITED), high = fmin(link->q_upper * unit, UNLIMITED);
    if (low == high)  // equal stops mean none
        high = low + 1e-9;
    scene_set_float(out->scene, parameters, "minStop", low);
    scene_set_float(out->scene, parameters, "maxStop", high);
}

static SceneNode *joint_node(BodyScene *out, int index)
{
    assert_debug(index > 0 && index < out->model->link_count);
    const BodyLink *link = &out->model->links[index];
    Scene *scene = out->scene;
    if (link->joint_type == BODY_JOINT_FREE)
        return body_scene_node(out, "FreeJoint", link->pos);
    bool is_turning = link->joint_type == BODY_JOINT_REVOLUTE;
    double length = vec3_length(link->axis);
    double unit = is_turning || !(length > 0.0) ? 1.0 : length;  // a slide along a long axis covers more way
    SceneNode *joint = body_scene_node(out, is_turning ? "HingeJoint" : "SliderJoint", link->pos);
    SceneNode *parameters = body_scene_node(out, is_turning ? "HingeJointParameters" : "JointParameters", link->pos);
    scene_set_float(scene, parameters, "position", out->q[index] * unit);
    scene_set_vec3(scene, parameters, "axis", mat3_apply(link->rotation, vec3_normalized(link->axis)));
    if (is_turning)
        scene_set_vec3(scene, parameters, "anchor", link->translation);
    set_stops(out, parameters, link, unit);
    if (link->q_lower > out->q[index] + 1e-9 || link->q_upper < out->q[index] - 1e-9)
        diag_warning(out->diags, link->pos, "joint '%.60s' starts at %g, outside of its range", link->joint_name,
                     out->q[index]);
    scene_set_child(scene, joint, "jointParameters", parameters);
    set_devices(out, joint, index);
    return joint;
}

static void add_link(BodyScene *out, int index, int depth)
{
    assert_debug(index > 0 && index < out->model->link_count && depth >= 0);
    const BodyLink *link = &out->model->links[index];
    if (depth > DEEPEST_LINK) {
        diag_error(out->diags, link->pos, "links hang more than %d deep; '%.60s' and what is below are left out",
                   DEEPEST_LINK, link->name);
        return;
    }
    bool is_track = link->joint_type == BODY_JOINT_TRACK;
    SceneNode *solid = body_scene_node(out, is_track ? "BodyTrack" : "Solid", link->pos);
    scene_set_string(out->scene, solid, "name", solid_name(out, index));
    if (is_track) {
        scene_set_vec3(out->scene, solid, "axis", link->axis);
        set_devices(out, solid, index);
    }
    SceneNode *joint = is_track || link->joint_type == BODY_JOINT_FIXED ? NULL : joint_node(out, index);
    fill_solid(out, solid, index, depth);
    if (joint)
        scene_set_child(out->scene, joint, "endPoint", solid);
    body_scene_gather(out, joint ? joint : solid);
}

// The body as a whole

static SceneNode *extra_joint_node(BodyScene *out, const BodyExtraJoint *extra)
{
    assert(extra->link[0] >= 0 && extra->link[1] >= 0 && extra->link[1] < out->model->link_count);
    SceneNode *node = body_scene_node(out, "ExtraJoint", extra->pos);
    Scene *scene = out->scene;
    scene_set_string(scene, node, "type", body_extra_type_name(extra->type));
    scene_set_string(scene, node, "solidName", solid_name(out, extra->link[1]));
    scene_set_vec3(scene, node, "anchor", extra->frame[0].t);
    scene_set_vec3(scene, node, "anchor2", extra->frame[1].t);
    scene_set_rotation(scene, node, "rotation", quat_to_rotation(quat_from_mat3(extra->frame[0].m)));
    scene_set_rotation(scene, node, "rotation2", quat_to_rotation(quat_from_mat3(extra->frame[1].m)));
    scene_set_vec3(scene, node, "axis", extra->axis);
    return node;
}

// Hinges and balls whose two points meet at the start are joints of Webots that end in a SolidReference.
static SceneNode *loop_joint(BodyScene *out, const BodyExtraJoint *extra, const BodyFrame *frames)
{
    assert_debug(extra->link[0] < out->model->link_count && extra->link[1] < out->model->link_count);
    Vec3 points[2] = { body_frame_apply(frames[extra->link[0]], extra->frame[0].t),
                       body_frame_apply(frames[extra->link[1]], extra->frame[1].t) };
    bool is_hinge = extra->type == BODY_EXTRA_HINGE;
    Vec3 gap = vec3_sub(points[1], points[0]);
    if (is_hinge) {  // two points of one axis are as good as one
        Vec3 axis = vec3_normalized(mat3_apply(mat3_mul(frames[extra->link[0]].m, extra->frame[0].m), extra->axis));
        gap = vec3_mad(gap, axis, -vec3_dot(axis, gap));
    }
    bool is_apart = vec3_length(gap) > 1e-6;
    if (is_apart && extra->type != BODY_EXTRA_PISTON)
        diag_warning(out->diags, extra->pos, "the two sides of this joint start %.3g m apart; they are pulled together",
                     vec3_length(gap));
    if ((!is_hinge && extra->type != BODY_EXTRA_BALL) || is_apart)
        return extra_joint_node(out, extra);
    Scene *scene = out->scene;
    SceneNode *joint = body_scene_node(out, is_hinge ? "HingeJoint" : "BallJoint", extra->pos);
    SceneNode *parameters = body_scene_node(out, is_hinge ? "HingeJointParameters" : "BallJointParameters", extra->pos);
    scene_set_vec3(scene, parameters, "anchor", extra->frame[0].t);
    if (is_hinge)
        scene_set_vec3(scene, parameters, "axis", mat3_apply(extra->frame[0].m, extra->axis));
    scene_set_child(scene, joint, "jointParameters", parameters);
    SceneNode *reference = body_scene_node(out, "SolidReference", extra->pos);
    scene_set_string(scene, reference, "solidName", solid_name(out, extra->link[1]));
    scene_set_child(scene, joint, "endPoint", reference);
    return joint;
}

static const char *rule_text(BodyScene *out, const BodyRule *rule)
{
    Text text = { 0 };
    text_printf(&text, "%s:", body_rule_name(rule->type));
    if (rule->type == BODY_RULE_CHAIN_LEVEL)
        text_printf(&text, " %d", rule->level);
    else if (rule->is_all)
        text_add_string(&text, " all");
    for (int i = 0; i < rule->link_count; i++)
        text_printf(&text, "%s %s", i ? "," : "", out->model->links[rule->links[i]].name);
    const char *copy = arena_string(scene_arena(out->scene), text.data);
    text_free(&text);
    return copy;
}

static void gather_body_notes(BodyScene *out)
{
    assert(out->model->link_count > 0);
    const BodyModel *model = out->model;
    Arena *arena = scene_arena(out->scene);
    SceneNode *node = body_scene_node(out, "BodyInfo", model->links[0].pos);
    scene_set_string(out->scene, node, "name", model->name);
    scene_set_string(out->scene, node, "rootLink", model->links[0].name);
    if (model->handler_count > 0) {
        FieldList *list = scene_list_edit(out->scene, node, "handlers");
        scene_list_reserve(out->scene, list, FIELD_SF_STRING, model->handler_count);
        for (int i = 0; i < model->handler_count; i++)
            list->strings[list->count++] = arena_string(arena, model->handlers[i]);
    }
    if (model->has_rules) {
        FieldList *list = scene_list_edit(out->scene, node, "collisionRules");
        scene_list_reserve(out->scene, list, FIELD_SF_STRING, model->rule_count);
        for (int i = 0; i < model->rule_count; i++)
            list->strings[list->count++] = rule_text(out, &model->rules[i]);
    }
    char *text = info_text(model->info);
    if (text && strlen(text) < (1u << 20))
        scene_set_string(out->scene, node, "info", text);
    free(text);
    body_scene_gather(out, node);
}

static void find_static(BodyScene *out)
{
    const BodyModel *model = out->model;
    int fixed = out->placement->fixed;
    for (int i = 0; i < model->link_count; i++) {
        const BodyLink *link = &model->links[i];
        bool is_rigid = link->joint_type == BODY_JOINT_FIXED || link->joint_type == BODY_JOINT_TRACK;
        if (i == 0)
            out->is_static[i] = fixed > 0 || (fixed == 0 && link->joint_type != BODY_JOINT_FREE);
        else
            out->is_static[i] = is_rigid && out->is_static[link->parent];
    }
    for (int i = 0; i < model->rule_count; i++) {
        const BodyRule *rule = &model->rules[i];
        bool is_off = rule->type == BODY_RULE_DISABLED_LINKS;
        if (!is_off && rule->type != BODY_RULE_ENABLED_LINKS)
            continue;
        for (int k = 0; rule->is_all && k < model->link_count; k++)
            out->is_untouchable[k] = is_off;
        for (int k = 0; k < rule->link_count; k++)
            out->is_untouchable[rule->links[k]] = is_off;
    }
}

static void index_links(BodyScene *out)
{
    const BodyModel *model = out->model;
    for (int i = 0; i < model->link_count; i++)
        out->first_child[i] = out->next[i] = -1;
    for (int i = model->link_count - 1; i > 0; i--) {
        int parent = model->links[i].parent;
        assert_debug(parent >= 0 && parent < i);
        out->next[i] = out->first_child[parent];
        out->first_child[parent] = i;
    }
    int shape = 0, device = 0;
    for (int i = 0; i <= model->link_count; i++) {
        while (shape < model->shape_count && model->shapes[shape].link < i)
            shape++;
        while (device < model->device_count && model->devices[device].link < i)
            device++;
        out->first_shape[i] = shape;
        out->first_device[i] = device;
    }
}

static double *start_positions(const BodyModel *model, const BodyPlacement *placement)
{
    double *q = memory_alloc_array((size_t)model->link_count, sizeof *q);
    for (int i = 0; i < model->link_count; i++) {
        const BodyLink *link = &model->links[i];
        q[i] = link->joint_type == BODY_JOINT_REVOLUTE || link->joint_type == BODY_JOINT_PRISMATIC ? link->q_initial
                                                                                                   : 0.0;
        if (link->joint_id >= 0 && link->joint_id < placement->joint_position_count)
            q[i] = placement->joint_positions[link->joint_id];
    }
    return q;
}

static bool has_free_links(const BodyModel *model)
{
    for (int i = 1; i < model->link_count; i++)
        if (model->links[i].joint_type == BODY_JOINT_FREE)
            return true;
    return false;
}

static const char *def_prefix(Arena *arena, const char *name)
{
    char *prefix = arena_string(arena, *name ? name : "BODY");
    for (char *c = prefix; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9' && c > prefix)))
            *c = '_';
    return prefix;
}

// Extra joints hang on the solid of their first link, which the finished tree knows by name.
static void place_extra_joints(BodyScene *out, SceneNode *robot, SceneNode **solids)
{
    assert_debug(solids);
    const BodyModel *model = out->model;
    BodyFrame *frames = memory_alloc_array((size_t)model->link_count, sizeof *frames);
    body_link_frames(model, out->q, frames);
    for (int i = 0; i < model->extra_joint_count; i++) {
        SceneNode *solid = solids[model->extra_joints[i].link[0]];
        scene_list_insert_node(out->scene, solid ? solid : robot, "children", -1,
                               loop_joint(out, &model->extra_joints[i], frames));
    }
    free(frames);
}

// Links hang in one array with parents before children; the lists of children, shapes and devices are indexed once,
// so that the descent costs what the links cost. The notes of the whole body come first among the children, where
// body_from_node looks for them.
SceneNode *body_to_node(const BodyModel *model, const BodyPlacement *placement, Scene *scene, DiagSink *diags)
{
    assert_debug(model && model->link_count > 0 && scene && diags);
    static const BodyPlacement as_the_file_says = { 0 };
    BodyScene out = { .model = model,
                      .placement = placement ? placement : &as_the_file_says,
                      .scene = scene,
                      .diags = diags,
                      .limits = &limits_default };
    size_t count = (size_t)model->link_count;
    out.prefix = def_prefix(scene_arena(scene), model->name);
    double *q = start_positions(model, out.placement);
    out.q = q;
    out.is_static = memory_alloc_array(count, sizeof *out.is_static);
    out.is_untouchable = memory_alloc_array(count, sizeof *out.is_untouchable);
    out.first_child = memory_alloc_array(count, sizeof *out.first_child);
    out.next = memory_alloc_array(count, sizeof *out.next);
    out.first_shape = memory_alloc_array(count + 1, sizeof *out.first_shape);
    out.first_device = memory_alloc_array(count + 1, sizeof *out.first_device);
    index_links(&out);
    find_static(&out);
    SceneNode *robot = body_scene_node(&out, "Robot", model->links[0].pos);
    scene_set_string(scene, robot, "name", out.placement->name ? out.placement->name : model->name);
    scene_set_string(scene, robot, "controller", out.placement->controller ? out.placement->controller : "<none>");
    scene_set_bool(scene, robot, "selfCollision", out.placement->self_collision || has_free_links(model));
    gather_body_notes(&out);
    SceneNode *notes = out.nodes.items[--out.nodes.count];
    SceneNode **solids = memory_alloc_array(count, sizeof *solids);
    out.solids = solids;
    fill_solid(&out, robot, 0, 0);
    scene_list_insert_node(scene, robot, "children", 0, notes);
    place_extra_joints(&out, robot, solids);
    free(solids);
    free(q);
    free(out.is_static);
    free(out.is_untouchable);
    free(out.first_child);
    free(out.next);
    free(out.first_shape);
    free(out.first_device);
    free(out.nodes.items);
    body_cache_free(&out.faces);
    body_wrl_free(&out);
    return robot;
}

// Worlds

// How Choreonoid's own simulator (AIST) treats a contact: the depth it leaves alone and the rate at which it takes the
// rest away.
static const double contact_rest_depth = 0.00025, contact_correction_rate = 5.0;  // m, 1/s
// It works in joint coordinates, in which no joint drifts apart. Here the drift that a step leaves behind is divided by
// ERP, so that errors against it fall as 1/ERP; 1 would be the same in the limit but leaves no margin where several
// loops share a link.
static const double joint_erp = 0.8;

// Stands aside and above, upright, so far away that a ball about the target fills the view.
void body_world_look(Scene *scene, SceneNode *viewpoint, Vec3 target, double radius)
{
    const double yaw = 3.14159265358979323846 + 0.588, pitch = 0.42, half_field = 0.3927;
    Quat q = quat_mul(quat_from_axis_angle(vec3(0, 0, 1), yaw), quat_from_axis_angle(vec3(0, 1, 0), pitch));
    Vec3 forward = quat_rotate(q, vec3(1, 0, 0));
    Vec3 position = vec3_sub(target, vec3_scale(forward, radius / sin(half_field)));
    scene_set_vec3(scene, viewpoint, "position", position);
    scene_set_rotation(scene, viewpoint, "orientation", quat_to_rotation(q));
}

SceneNode *body_world_create(Scene *scene, double time_step, double gravity)
{
    assert(time_step > 0.0);
    SceneNode *root = scene_root(scene);
    BodyScene out = { .scene = scene };
    SceneNode *world = body_scene_node(&out, "WorldInfo", (SourcePos){ 0 });
    scene_set_float(scene, world, "basicTimeStep", time_step * 1000.0);
    scene_set_float(scene, world, "gravity", gravity);
    scene_set_float(scene, world, "CFM", 1e-10);
    scene_set_float(scene, world, "ERP", joint_erp);
    scene_set_float(scene, world, "contactSurfaceLayer", contact_rest_depth);
    scene_set_float(scene, world, "physicsDisableTime", 0.0);
    SceneNode *viewpoint = body_scene_node(&out, "Viewpoint", (SourcePos){ 0 });
    body_world_look(scene, viewpoint, vec3(0, 0, 0.5), 2.0);
    SceneNode *background = body_scene_node(&out, "Background", (SourcePos){ 0 });
    const double sky[3] = { 0.7, 0.8, 0.9 };
    body_scene_numbers(&out, background, "skyColor", sky, 1);
    SceneNode *light = body_scene_node(&out, "DirectionalLight", (SourcePos){ 0 });
    scene_set_vec3(scene, light, "direction", vec3(-0.5, -0.4, -1.0));
    scene_set_float(scene, light, "ambientIntensity", 0.6);
    SceneNode *nodes[] = { world, viewpoint, background, light };
    for (int i = 0; i < COUNT_OF(nodes); i++)
        scene_list_insert_node(scene, root, "children", -1, nodes[i]);
    return world;
}

enum { NAMES_MAX = 100 };
typedef struct NameSet {
    const char *names[NAMES_MAX];
    int count;
} NameSet;

static bool collect_material(SceneNode *node, void *context)
{
    NameSet *set = context;
    if (!scene_node_is(node, "Solid"))
        return true;
    const char *name = scene_string(node, "contactMaterial");
    for (int i = 0; i < set->count; i++)
        if (!strcmp(set->names[i], name))
            return true;
    if (set->count < NAMES_MAX)
        set->names[set->count++] = name;
    return true;
}

static SceneNode *contact_node(BodyScene *out, const BodyMaterials *materials, const char *a, const char *b, double dt,
                               double gravity)
{
    assert_debug(materials && a && b);
    Scene *scene = out->scene;
    BodyContact contact = body_materials_pair(materials, a, b);
    SceneNode *node = body_scene_node(out, "ContactProperties", (SourcePos){ 0 });
    scene_set_string(scene, node, "material1", a);
    scene_set_string(scene, node, "material2", b);
    body_scene_numbers(out, node, "coulombFriction", &contact.dynamic_friction, 1);
    if (contact.static_friction != contact.dynamic_friction)
        scene_set_float(scene, node, "staticFriction", contact.static_friction);
    scene_set_float(scene, node, "bounce", contact.restitution);
    scene_set_float(scene, node, "bounceVelocity", fmax(2.0 * gravity * dt, 1e-4));
    scene_set_float(scene, node, "softERP", fmin(contact_correction_rate * dt, 1.0));
    scene_set_float(scene, node, "softCFM", 1e-9);
    scene_set_int(scene, node, "maxContactJoints", 100);
    scene_set_string(scene, node, "bumpSound", "");
    scene_set_string(scene, node, "rollSound", "");
    scene_set_string(scene, node, "slideSound", "");
    return node;
}

void body_world_contacts(Scene *scene, const BodyMaterials *materials)
{
    NameSet set = { .names = { "default" }, .count = 1 };
    scene_walk(scene_root(scene), false, collect_material, &set);
    SceneNode *world = NULL;
    const FieldList *top = scene_list(scene_root(scene), "children");
    for (int i = 0; i < top->count && !world; i++)
        world = scene_node_is(top->nodes[i], "WorldInfo") ? top->nodes[i] : NULL;
    if (!world)
        return;
    BodyScene out = { .scene = scene };
    double dt = scene_float(world, "basicTimeStep") / 1000.0, gravity = scene_float(world, "gravity");
    for (int i = 0; i < set.count; i++)
        for (int k = i; k < set.count; k++)
            body_scene_gather(&out, contact_node(&out, materials, set.names[i], set.names[k], dt, gravity));
    place_gathered(&out, world, "contactProperties", 0);
    free(out.nodes.items);
}
