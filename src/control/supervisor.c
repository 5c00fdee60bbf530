// supervisor.c - the questions and orders of supervisors: nodes, fields, motion, the world.
// A node is named by its id in the scene; a PROTO instance shows itself, not what it made. Fields are named by their place
// in a list that only grows while the world runs.
#include "control/control_internal.h"

#include "base/memory.h"
#include "devices/devices_internal.h"
#include "formats/proto.h"

#include <webots/nodes.h>

#include <stdlib.h>
#include <string.h>

typedef struct Call {
    Control *control;
    Controller *controller;
    const Record *record;
    FrameWriter *answer;
} Call;

static Scene *scene_of(const Call *call)
{
    return sim_scene(call->control->sim);
}

static Physics *physics_of(const Call *call)
{
    return sim_physics(call->control->sim);
}

static int number(const Call *call, int index)
{
    return index < call->record->int_count ? call->record->ints[index] : -1;
}

// ---- answers ----

static void answer(const Call *call, const int32_t *ints, int int_count, const double *doubles, int double_count, const char *bytes, int byte_count)
{
    frame_add(call->answer, &(Record){ .op = call->record->op, .tag = call->record->tag, .int_count = int_count, .ints = ints,
                                       .double_count = double_count, .doubles = doubles, .byte_count = byte_count, .bytes = bytes });
}

static void answer_int(const Call *call, int32_t value)
{
    answer(call, &value, 1, NULL, 0, NULL, 0);
}

static void answer_doubles(const Call *call, const double *values, int count)
{
    answer(call, NULL, 0, values, count, NULL, 0);
}

static void answer_text(const Call *call, const char *text)
{
    answer(call, NULL, 0, NULL, 0, text, (int)strlen(text));
}

static void answer_nothing(const Call *call)
{
    answer(call, NULL, 0, NULL, 0, NULL, 0);
}

static void fail(const Call *call, const char *why)
{
    frame_add(call->answer, &(Record){ .op = OP_FAILED, .byte_count = (int)strlen(why), .bytes = why });
}

// ---- nodes ----

static bool is_gone(const SceneNode *node)
{
    for (const SceneNode *at = node; at; at = at->parent)
        if (at->is_removed)
            return true;
    return false;
}

static SceneNode *node_of(const Call *call, int index)
{
    int id = number(call, index);
    SceneNode *node = id == 0 ? scene_root(scene_of(call)) : id > 0 ? scene_find_id(scene_of(call), (uint32_t)id) : NULL;
    return node && !is_gone(node) ? node : NULL;
}

// What supervisors see of a node: the PROTO instance that stands for it, when one does.
static int32_t outer_id(const SceneNode *node)
{
    const SceneNode *outer = node ? scene_instance(node) : NULL;
    return outer ? (int32_t)outer->id : -1;
}

static SceneNode *controllers_robot(const Call *call)
{
    return devices_robot_node(call->control->devices, call->controller->robot);
}

static SceneNode *find_inside(SceneNode *instance, const char *def)
{
    SceneNode *inner = scene_actual(instance);
    return inner && instance->kind == SCENE_NODE_INSTANCE ? scene_find_def_below(inner, def) : NULL;
}

static void node_from(const Call *call)
{
    SceneNode *found = NULL;
    switch (number(call, 0)) {
    case 0:
        answer_int(call, 0);
        return;
    case 1:
        found = controllers_robot(call);
        break;
    case 2:
        found = node_of(call, 1);
        break;
    case 3:
        found = scene_find_def(scene_of(call), call->record->bytes);
        break;
    case 4:
        if (number(call, 1) == 0)
            found = controllers_robot(call);
        else if (number(call, 1) >= 1 && number(call, 1) <= devices_count(call->control->devices, call->controller->robot))
            found = devices_info(call->control->devices, call->controller->robot, number(call, 1))->node;
        if (found && found->in_proto)
            found = NULL;
        break;
    case 6:
        found = node_of(call, 1) ? find_inside(node_of(call, 1), call->record->bytes) : NULL;
        break;
    default:
        break;
    }
    answer_int(call, found && !is_gone(found) ? outer_id(found) : -1);
}

// WbNodeType by the name of the base type.
static int type_code(const NodeType *type)
{
    static const struct { const char *name; int code; } codes[] = {
        { "Appearance", WB_NODE_APPEARANCE }, { "Background", WB_NODE_BACKGROUND }, { "Billboard", WB_NODE_BILLBOARD }, { "Box", WB_NODE_BOX },
        { "CadShape", WB_NODE_CAD_SHAPE }, { "Capsule", WB_NODE_CAPSULE }, { "Color", WB_NODE_COLOR }, { "Cone", WB_NODE_CONE },
        { "Coordinate", WB_NODE_COORDINATE }, { "Cylinder", WB_NODE_CYLINDER }, { "DirectionalLight", WB_NODE_DIRECTIONAL_LIGHT },
        { "ElevationGrid", WB_NODE_ELEVATION_GRID }, { "Fog", WB_NODE_FOG }, { "Group", WB_NODE_GROUP }, { "ImageTexture", WB_NODE_IMAGE_TEXTURE },
        { "IndexedFaceSet", WB_NODE_INDEXED_FACE_SET }, { "IndexedLineSet", WB_NODE_INDEXED_LINE_SET }, { "Material", WB_NODE_MATERIAL },
        { "Mesh", WB_NODE_MESH }, { "Muscle", WB_NODE_MUSCLE }, { "Normal", WB_NODE_NORMAL }, { "PBRAppearance", WB_NODE_PBR_APPEARANCE },
        { "Plane", WB_NODE_PLANE }, { "PointLight", WB_NODE_POINT_LIGHT }, { "PointSet", WB_NODE_POINT_SET }, { "Pose", WB_NODE_POSE },
        { "Shape", WB_NODE_SHAPE }, { "Sphere", WB_NODE_SPHERE }, { "SpotLight", WB_NODE_SPOT_LIGHT }, { "TextureCoordinate", WB_NODE_TEXTURE_COORDINATE },
        { "TextureTransform", WB_NODE_TEXTURE_TRANSFORM }, { "Transform", WB_NODE_TRANSFORM }, { "Viewpoint", WB_NODE_VIEWPOINT },
        { "Robot", WB_NODE_ROBOT }, { "Propeller", WB_NODE_PROPELLER }, { "BallJoint", WB_NODE_BALL_JOINT },
        { "BallJointParameters", WB_NODE_BALL_JOINT_PARAMETERS }, { "Charger", WB_NODE_CHARGER }, { "ContactProperties", WB_NODE_CONTACT_PROPERTIES },
        { "Damping", WB_NODE_DAMPING }, { "Fluid", WB_NODE_FLUID }, { "Focus", WB_NODE_FOCUS }, { "HingeJoint", WB_NODE_HINGE_JOINT },
        { "HingeJointParameters", WB_NODE_HINGE_JOINT_PARAMETERS }, { "Hinge2Joint", WB_NODE_HINGE_2_JOINT },
        { "ImmersionProperties", WB_NODE_IMMERSION_PROPERTIES }, { "JointParameters", WB_NODE_JOINT_PARAMETERS }, { "Lens", WB_NODE_LENS },
        { "LensFlare", WB_NODE_LENS_FLARE }, { "Physics", WB_NODE_PHYSICS }, { "Recognition", WB_NODE_RECOGNITION },
        { "SliderJoint", WB_NODE_SLIDER_JOINT }, { "Slot", WB_NODE_SLOT }, { "Solid", WB_NODE_SOLID }, { "SolidReference", WB_NODE_SOLID_REFERENCE },
        { "Track", WB_NODE_TRACK }, { "TrackWheel", WB_NODE_TRACK_WHEEL }, { "WorldInfo", WB_NODE_WORLD_INFO }, { "Zoom", WB_NODE_ZOOM },
    };
    for (int i = 0; type && i < COUNT_OF(codes); i++)
        if (!strcmp(type->name, codes[i].name))
            return codes[i].code;
    for (int i = 0; type && device_kinds[i]; i++)
        if (!strcmp(type->name, device_kinds[i]->type))
            return device_kinds[i]->code;
    return WB_NODE_NO_NODE;
}

static int field_count(const SceneNode *node)
{
    return node->kind == SCENE_NODE_INSTANCE ? node->proto->parameter_count : node->type ? node->type->field_count : 0;
}

static void node_info(const Call *call)
{
    SceneNode *node = node_of(call, 0);
    if (!node) {
        fail(call, "there is no such node");
        return;
    }
    const SceneNode *actual = scene_actual(node), *parent = scene_parent(actual ? actual : node);
    const NodeType *base = actual ? actual->type : node->type;
    bool is_proto = node->kind == SCENE_NODE_INSTANCE;
    int32_t numbers[5] = { type_code(base), parent ? outer_id(parent) : -1, is_proto, field_count(node), is_proto && base ? base->field_count : 0 };
    Text text = { 0 };
    const char *type_name = is_proto ? node->proto->name : base ? base->name : "";
    text_add(&text, type_name, strlen(type_name) + 1);
    text_add(&text, base ? base->name : "", strlen(base ? base->name : "") + 1);
    text_add(&text, node->def ? node->def : "", strlen(node->def ? node->def : "") + 1);
    answer(call, numbers, 5, NULL, 0, text.data, (int)text.length);
    text_free(&text);
}

// ---- fields ----

static int field_ref(Control *control, SceneNode *node, const FieldType *type, bool is_read_only)
{
    for (int i = 0; i < control->field_count; i++)
        if (control->fields[i].node == node && control->fields[i].type == type)
            return i;
    memory_grow(&control->fields, &control->field_capacity, control->field_count + 1, sizeof *control->fields);
    control->fields[control->field_count] = (FieldRef){ node, type, is_read_only };
    return control->field_count++;
}

static const FieldType *find_field(const FieldType *fields, int count, int index, const char *name)
{
    if (index >= 0)
        return index < count ? &fields[index] : NULL;
    for (int i = 0; i < count; i++)
        if (!strcmp(fields[i].name, name))
            return &fields[i];
    return NULL;
}

static void node_field(const Call *call)
{
    SceneNode *node = node_of(call, 0);
    bool is_base = number(call, 2) == 1;
    const FieldType *type = NULL;
    if (node && node->kind == SCENE_NODE_INSTANCE && !is_base) {
        type = find_field(node->proto->parameters, node->proto->parameter_count, number(call, 1), call->record->bytes);
    } else if (node && node->kind == SCENE_NODE_INSTANCE) {
        node = scene_actual(node);
        type = node && node->type ? find_field(node->type->fields, node->type->field_count, number(call, 1), call->record->bytes) : NULL;
    } else if (node && node->type && !is_base) {
        type = find_field(node->type->fields, node->type->field_count, number(call, 1), call->record->bytes);
    }
    bool is_inside = node && node->in_proto;
    answer_int(call, type ? field_ref(call->control, node, type, is_base || is_inside) : -1);
}

static const FieldRef *field_of(const Call *call)
{
    int id = number(call, 0);
    const FieldRef *field = id >= 0 && id < call->control->field_count ? &call->control->fields[id] : NULL;
    return field && !is_gone(field->node) ? field : NULL;
}

// Poses and positions live in the physics; the scene is brought up to date when somebody asks.
static void bring_up_to_date(Control *control)
{
    if (control->synced_step == sim_steps(control->sim) + 1)
        return;
    control->synced_step = sim_steps(control->sim) + 1;
    sim_sync_scene(control->sim);
}

static void field_info(const Call *call)
{
    const FieldRef *field = field_of(call);
    if (!field) {
        fail(call, "there is no such field");
        return;
    }
    int count = -1;
    if (field_kind_is_list(field->type->kind))
        count = scene_value(field->node, field->type).list->count;
    int32_t numbers[3] = { (int32_t)field->type->kind, count, field->is_read_only };
    answer(call, numbers, 3, NULL, 0, field->type->name, (int)strlen(field->type->name));
}

// Index into a list; negative counts from the end. -1 when there is none.
static int list_index(const FieldList *list, int index)
{
    if (index < 0)
        index += list->count;
    return index >= 0 && index < list->count ? index : -1;
}

static void answer_item(const Call *call, FieldKind kind, const FieldValue *value)
{
    switch (kind) {
    case FIELD_SF_BOOL:
        answer_int(call, value->b);
        break;
    case FIELD_SF_INT32:
        answer_int(call, value->i);
        break;
    case FIELD_SF_FLOAT:
        answer_doubles(call, &value->f, 1);
        break;
    case FIELD_SF_STRING:
        answer_text(call, value->s);
        break;
    case FIELD_SF_NODE:
        answer_int(call, value->node && !is_gone(value->node) ? outer_id(value->node) : -1);
        break;
    case FIELD_SF_ROTATION: {
        Vec3 axis = vec3(value->v[0], value->v[1], value->v[2]);
        axis = vec3_length(axis) > 0.0 ? vec3_normalized(axis) : vec3(0, 0, 1);
        answer_doubles(call, (double[4]){ axis.x, axis.y, axis.z, value->v[3] }, 4);
        break;
    }
    default:
        answer_doubles(call, value->v, field_kind_doubles(kind));
        break;
    }
}

static FieldValue list_item(const FieldList *list, FieldKind kind, int index)
{
    FieldValue value = { 0 };
    int doubles = field_kind_doubles(kind);
    if (doubles)
        memcpy(kind == FIELD_SF_FLOAT ? &value.f : value.v, list->numbers + (size_t)doubles * (size_t)index, (size_t)doubles * sizeof(double));
    else if (kind == FIELD_SF_INT32)
        value.i = list->ints[index];
    else if (kind == FIELD_SF_BOOL)
        value.b = list->bools[index];
    else if (kind == FIELD_SF_STRING)
        value.s = list->strings[index];
    else
        value.node = list->nodes[index];
    return value;
}

static void field_get(const Call *call)
{
    const FieldRef *field = field_of(call);
    if (!field) {
        fail(call, "there is no such field");
        return;
    }
    bring_up_to_date(call->control);
    FieldValue value = scene_value(field->node, field->type);
    FieldKind kind = field->type->kind;
    if (field_kind_is_list(kind)) {
        int index = list_index(value.list, number(call, 1));
        if (index < 0) {
            fail(call, "the index is beyond the end of the list");
            return;
        }
        kind = field_kind_item(kind);
        value = list_item(value.list, kind, index);
    }
    answer_item(call, kind, &value);
}

// The value that a call carries, from its third number on. False when it is not of the kind, or not finite.
static bool value_in(const Call *call, FieldKind kind, int first_int, FieldValue *value)
{
    const Record *record = call->record;
    int doubles = field_kind_doubles(kind);
    *value = (FieldValue){ 0 };
    for (int i = 0; i < record->double_count; i++)
        if (!isfinite(record->doubles[i]))
            return false;
    if (doubles) {
        if (record->double_count < doubles)
            return false;
        if (kind == FIELD_SF_FLOAT)
            value->f = record->doubles[0];
        else
            memcpy(value->v, record->doubles, (size_t)doubles * sizeof(double));
    } else if (kind == FIELD_SF_STRING) {
        value->s = record->bytes;
    } else if (kind == FIELD_SF_INT32 || kind == FIELD_SF_BOOL) {
        if (record->int_count <= first_int)
            return false;
        if (kind == FIELD_SF_BOOL)
            value->b = record->ints[first_int] != 0;
        else
            value->i = record->ints[first_int];
    } else {
        return false;
    }
    return true;
}

static void store_item(Scene *scene, FieldList *list, FieldKind kind, int index, const FieldValue *value)
{
    int doubles = field_kind_doubles(kind);
    if (doubles)
        memcpy(list->numbers + (size_t)doubles * (size_t)index, kind == FIELD_SF_FLOAT ? &value->f : value->v, (size_t)doubles * sizeof(double));
    else if (kind == FIELD_SF_INT32)
        list->ints[index] = value->i;
    else if (kind == FIELD_SF_BOOL)
        list->bools[index] = value->b;
    else if (kind == FIELD_SF_STRING)
        list->strings[index] = arena_string(scene_arena(scene), value->s);
}

static size_t item_bytes(FieldKind kind)
{
    int doubles = field_kind_doubles(kind);
    return doubles ? (size_t)doubles * sizeof(double) : kind == FIELD_SF_INT32 ? sizeof(int32_t) : kind == FIELD_SF_BOOL ? sizeof(bool) : sizeof(void *);
}

// Tells whoever simulates that a field has another value; a PROTO that is made by a template is made anew.
static void field_was_changed(Control *control, SceneNode *node, const FieldType *type)
{
    Sim *sim = control->sim;
    if (node->kind == SCENE_NODE_INSTANCE && proto_parameter_regenerates(node, type)) {
        SceneNode *old = scene_actual(node);
        SceneNode *holder = scene_parent(node);
        if (old)
            physics_node_removed(sim_physics(sim), node, holder);
        if (proto_regenerate(sim_scene(sim), node, control->diags))
            physics_node_added(sim_physics(sim), node);
        return;
    }
    SceneNode *actual = scene_actual(node);
    if (actual && actual->type && schema_field(actual->type, type->name))
        sim_field_changed(sim, actual, type->name);
}

static bool can_change(const Call *call, const FieldRef *field)
{
    if (!field)
        fail(call, "there is no such field");
    else if (field->is_read_only)
        fail(call, "a field inside a PROTO can only be read");
    return field && !field->is_read_only;
}

static void field_set(const Call *call)
{
    const FieldRef *found = field_of(call);
    if (!can_change(call, found))
        return;
    FieldRef field = *found;
    FieldKind kind = field_kind_item(field.type->kind);
    FieldValue value;
    if (!value_in(call, kind, 2, &value)) {
        fail(call, "the value is not of the field's type or not finite");
        return;
    }
    bring_up_to_date(call->control);
    if (field_kind_is_list(field.type->kind)) {
        int index = list_index(scene_value(field.node, field.type).list, number(call, 1));
        if (index < 0) {
            fail(call, "the index is beyond the end of the list");
            return;
        }
        store_item(scene_of(call), scene_list_edit(scene_of(call), field.node, field.type->name), kind, index, &value);
    } else {
        scene_set_value(scene_of(call), field.node, field.type, value);
    }
    if (!strcmp(field.type->name, "controller") || !strcmp(field.type->name, "supervisor") || !strcmp(field.type->name, "customData")) {
        answer_nothing(call);
        return;
    }
    field_was_changed(call->control, field.node, field.type);
    answer_nothing(call);
}

static void field_insert(const Call *call)
{
    const FieldRef *found = field_of(call);
    if (!can_change(call, found))
        return;
    FieldRef field = *found;
    FieldKind kind = field_kind_item(field.type->kind);
    FieldValue value;
    if (!field_kind_is_list(field.type->kind) || !value_in(call, kind, 2, &value)) {
        fail(call, "the value is not of the field's type or not finite");
        return;
    }
    FieldList *list = scene_list_edit(scene_of(call), field.node, field.type->name);
    int index = number(call, 1) < 0 ? list->count + 1 + number(call, 1) : number(call, 1);
    if (index < 0 || index > list->count) {
        fail(call, "the index is beyond the end of the list");
        return;
    }
    scene_list_reserve(scene_of(call), list, kind, list->count + 1);
    size_t size = item_bytes(kind);
    char *items = list->items;
    memmove(items + (size_t)(index + 1) * size, items + (size_t)index * size, (size_t)(list->count - index) * size);
    list->count++;
    store_item(scene_of(call), list, kind, index, &value);
    field_was_changed(call->control, field.node, field.type);
    answer_nothing(call);
}

static void field_remove(const Call *call)
{
    const FieldRef *found = field_of(call);
    if (!can_change(call, found))
        return;
    FieldRef field = *found;
    FieldValue value = scene_value(field.node, field.type);
    if (field.type->kind == FIELD_SF_NODE) {
        if (value.node)
            sim_remove(call->control->sim, value.node);
        answer_nothing(call);
        return;
    }
    int index = field_kind_is_list(field.type->kind) ? list_index(value.list, number(call, 1)) : -1;
    if (index < 0) {
        fail(call, "there is nothing to remove");
        return;
    }
    if (field.type->kind == FIELD_MF_NODE) {
        sim_remove(call->control->sim, value.list->nodes[index]);
    } else {
        FieldList *list = scene_list_edit(scene_of(call), field.node, field.type->name);
        size_t size = item_bytes(field_kind_item(field.type->kind));
        char *items = list->items;
        memmove(items + (size_t)index * size, items + (size_t)(index + 1) * size, (size_t)(--list->count - index) * size);
        field_was_changed(call->control, field.node, field.type);
    }
    answer_nothing(call);
}

static void field_import(const Call *call)
{
    const FieldRef *found = field_of(call);
    if (!can_change(call, found))
        return;
    FieldRef field = *found;
    int index = number(call, 1);
    if (field.type->kind == FIELD_MF_NODE && index < 0)
        index = scene_value(field.node, field.type).list->count + 1 + index;
    SceneNode *holder = field.node->kind == SCENE_NODE_INSTANCE ? scene_actual(field.node) : field.node;
    SceneNode *node = sim_insert(call->control->sim, holder, field.type->name, index, call->record->bytes, (size_t)call->record->byte_count);
    answer_int(call, node ? (int32_t)node->id : -1);
}

// ---- motion ----

static int solid_of(const Call *call, const SceneNode *node)
{
    const SceneNode *actual = node ? scene_actual(node) : NULL;
    return actual ? physics_solid_of(physics_of(call), actual) : -1;
}

static bool world_pose(const Call *call, const SceneNode *node, Pose *pose)
{
    const SceneNode *actual = node ? scene_actual(node) : NULL;
    if (!actual || !scene_node_is(actual, "Pose"))
        return false;
    int solid = physics_solid_of(physics_of(call), actual);
    if (solid >= 0) {
        *pose = physics_solid_pose(physics_of(call), solid);
        return true;
    }
    // A plain Pose rides on the nearest solid above it.
    Pose local = scene_pose(actual);
    for (const SceneNode *above = scene_parent(actual); above; above = scene_parent(above)) {
        solid = physics_solid_of(physics_of(call), above);
        if (solid >= 0) {
            *pose = pose_mul(physics_solid_pose(physics_of(call), solid), local);
            return true;
        }
        if (scene_node_is(above, "Pose"))
            local = pose_mul(scene_pose(above), local);
    }
    *pose = local;
    return true;
}

static void write_matrix(Pose pose, double out[16])
{
    Mat3 m = mat3_from_quat(pose.q);
    const double t[3] = { pose.t.x, pose.t.y, pose.t.z };
    for (int i = 0; i < 3; i++) {
        memcpy(out + 4 * i, m.m + 3 * i, 3 * sizeof(double));
        out[4 * i + 3] = t[i];
    }
    memcpy(out + 12, (double[4]){ 0, 0, 0, 1 }, 4 * sizeof(double));
}

static void pose_numbers(const Call *call, const SceneNode *node, const SceneNode *from, double out[16])
{
    Pose pose, base;
    for (int i = 0; i < 16; i++)
        out[i] = NAN;
    if (!world_pose(call, node, &pose))
        return;
    if (from && world_pose(call, from, &base))
        pose = pose_mul(pose_inverse(base), pose);
    write_matrix(pose, out);
}

static void node_pose(const Call *call)
{
    double numbers[16];
    pose_numbers(call, node_of(call, 0), number(call, 1) >= 0 ? node_of(call, 1) : NULL, numbers);
    answer_doubles(call, numbers, 16);
}

static void node_velocity(const Call *call)
{
    int solid = solid_of(call, node_of(call, 0));
    double numbers[6] = { NAN, NAN, NAN, NAN, NAN, NAN };
    if (solid >= 0) {
        Vec3 v = physics_solid_linear_velocity(physics_of(call), solid), w = physics_solid_angular_velocity(physics_of(call), solid);
        memcpy(numbers, (double[6]){ v.x, v.y, v.z, w.x, w.y, w.z }, sizeof numbers);
    }
    answer_doubles(call, numbers, 6);
}

static bool wants(const Call *call, int doubles)
{
    if (call->record->double_count < doubles)
        return false;
    for (int i = 0; i < doubles; i++)
        if (!isfinite(call->record->doubles[i]))
            return false;
    return true;
}

static Vec3 vector(const Call *call, int index)
{
    const double *d = call->record->doubles + 3 * index;
    return vec3(d[0], d[1], d[2]);
}

static void node_set_velocity(const Call *call)
{
    int solid = solid_of(call, node_of(call, 0));
    if (solid < 0 || !wants(call, 6)) {
        fail(call, "only a Solid has a velocity, of six finite numbers");
        return;
    }
    physics_solid_set_velocity(physics_of(call), solid, vector(call, 0), vector(call, 1));
    answer_nothing(call);
}

static void node_force(const Call *call)
{
    int solid = solid_of(call, node_of(call, 0)), kind = number(call, 1);
    if (solid < 0 || !wants(call, kind == 1 ? 6 : 3) || physics_solid_body(physics_of(call), solid) < 0) {
        fail(call, "a force wants a Solid with physics and finite numbers");
        return;
    }
    Pose pose = physics_solid_pose(physics_of(call), solid);
    Vec3 force = number(call, 2) == 1 ? quat_rotate(pose.q, vector(call, 0)) : vector(call, 0);
    if (kind == 2)
        physics_solid_add_torque(physics_of(call), solid, force);
    else if (kind == 1)
        physics_solid_add_force_at(physics_of(call), solid, force, pose_apply(pose, vector(call, 1)));
    else
        physics_solid_add_force(physics_of(call), solid, force);
    answer_nothing(call);
}

static bool is_below(const Physics *physics, int solid, int top)
{
    for (int at = solid; at >= 0; at = physics_solid_parent(physics, at))
        if (at == top)
            return true;
    return false;
}

// Centre of mass of the solid and all that hangs on it.
static bool total_center(const Call *call, int top, Vec3 *center)
{
    const Physics *physics = physics_of(call);
    double mass = 0.0;
    Vec3 moment = VEC3_ZERO;
    for (int i = 0; i < physics_solid_count(physics); i++) {
        if (!physics_solid_exists(physics, i) || !is_below(physics, i, top))
            continue;
        double m = physics_solid_mass(physics, i);
        mass += m;
        moment = vec3_mad(moment, physics_solid_center_of_mass(physics, i), m);
    }
    *center = mass > 0.0 ? vec3_scale(moment, 1.0 / mass) : vec3(NAN, NAN, NAN);
    return mass > 0.0;
}

static void node_center_of_mass(const Call *call)
{
    int solid = solid_of(call, node_of(call, 0));
    Vec3 center = vec3(NAN, NAN, NAN);
    if (solid >= 0)
        total_center(call, solid, &center);
    answer_doubles(call, (double[3]){ center.x, center.y, center.z }, 3);
}

// ---- contacts ----

typedef struct ContactList {
    int32_t ids[1024];
    double points[1024 * 3];
    int count;
} ContactList;

static void collect_contacts(const Call *call, const SceneNode *node, bool with_descendants, ContactList *list)
{
    const Physics *physics = physics_of(call);
    int top = solid_of(call, node), total;
    const PhysicsContact *contacts = physics_contacts(physics, &total);
    list->count = 0;
    for (int i = 0; top >= 0 && i < total; i++)
        for (int side = 0; side < 2 && list->count < COUNT_OF(list->ids); side++) {
            int solid = contacts[i].solid[side];
            if (solid < 0 || !(with_descendants ? is_below(physics, solid, top) : solid == top))
                continue;
            Vec3 p = contacts[i].point;
            memcpy(list->points + 3 * list->count, (double[3]){ p.x, p.y, p.z }, 3 * sizeof(double));
            list->ids[list->count++] = outer_id(physics_solid_node(physics, solid));
        }
}

static void node_contacts(const Call *call)
{
    ContactList *list = memory_alloc(sizeof *list);
    collect_contacts(call, node_of(call, 0), number(call, 1) == 1, list);
    answer(call, list->ids, list->count, list->points, 3 * list->count, NULL, 0);
    free(list);
}

// Standing: the centre of mass, dropped along gravity, falls inside the hull of the contact points.
static bool is_inside_hull(const Vec2 *points, int count, Vec2 p)
{
    // Inside when no direction has all points strictly on one side of p: check against the widest gap of directions.
    double angles[2048];
    int n = 0;
    for (int i = 0; i < count && n < COUNT_OF(angles); i++)
        angles[n++] = atan2(points[i].y - p.y, points[i].x - p.x);
    double widest = 0.0;
    for (int i = 0; i < n; i++) {
        double gap = 2.0 * M_PI;
        for (int k = 0; k < n; k++) {
            double turn = angles[k] - angles[i];
            turn += turn <= 1e-12 ? 2.0 * M_PI : 0.0;
            gap = k != i && turn < gap ? turn : gap;
        }
        widest = gap > widest ? gap : widest;
    }
    return n >= 3 && widest < M_PI + 1e-9;
}

static void node_balance(const Call *call)
{
    const SceneNode *node = node_of(call, 0);
    int solid = solid_of(call, node);
    Vec3 center;
    bool is_balanced = false;
    if (solid >= 0 && total_center(call, solid, &center)) {
        ContactList *list = memory_alloc(sizeof *list);
        collect_contacts(call, node, true, list);
        Vec3 up = vec3_normalized(vec3_neg(physics_gravity(physics_of(call))));
        Vec3 x = vec3_orthogonal(up), y = vec3_cross(up, x);
        Vec2 *flat = memory_alloc_array((size_t)list->count + 1, sizeof *flat);
        for (int i = 0; i < list->count; i++) {
            Vec3 p = vec3(list->points[3 * i], list->points[3 * i + 1], list->points[3 * i + 2]);
            flat[i] = (Vec2){ vec3_dot(p, x), vec3_dot(p, y) };
        }
        is_balanced = is_inside_hull(flat, list->count, (Vec2){ vec3_dot(center, x), vec3_dot(center, y) });
        free(flat);
        free(list);
    }
    answer_int(call, is_balanced);
}

// ---- orders on nodes ----

static void node_reset_physics(const Call *call)
{
    int solid = solid_of(call, node_of(call, 0));
    if (solid >= 0)
        physics_solid_reset(physics_of(call), solid);
    answer_nothing(call);
}

static void node_remove(const Call *call)
{
    SceneNode *node = node_of(call, 0);
    if (!node || node == scene_root(scene_of(call)) || node->in_proto) {
        fail(call, "this node cannot be removed");
        return;
    }
    sim_remove(call->control->sim, node);
    answer_nothing(call);
}

static void node_export(const Call *call)
{
    SceneNode *node = node_of(call, 0);
    if (!node) {
        fail(call, "there is no such node");
        return;
    }
    bring_up_to_date(call->control);
    Text text = { 0 };
    formats_write_node(scene_of(call), node, &text);
    answer(call, NULL, 0, NULL, 0, text.data ? text.data : "", (int)text.length);
    text_free(&text);
}

static void node_joint_position(const Call *call)
{
    SceneNode *node = node_of(call, 0);
    int joint = node ? physics_joint_of(physics_of(call), scene_actual(node)) : -1, axis = number(call, 1) - 1;
    if (joint < 0 || axis < 0 || axis >= physics_joint_axis_count(physics_of(call), joint) || !wants(call, 1)) {
        fail(call, "only a joint has positions, one per axis, counted from 1");
        return;
    }
    physics_joint_set_position(physics_of(call), joint, axis, call->record->doubles[0]);
    answer_nothing(call);
}

// Poses, velocities and joint positions of everything below a node, under a name.
typedef struct SolidMoment { int solid; Pose pose; Vec3 linear, angular; } SolidMoment;
typedef struct JointMoment { int joint; double positions[PHYSICS_JOINT_AXES]; } JointMoment;
typedef struct NodeMoment { int solids, joints; } NodeMoment;

static void *take_moment(const Call *call, int top, size_t *size)
{
    const Physics *physics = physics_of(call);
    NodeMoment head = { 0 };
    *size = sizeof head + (size_t)physics_solid_count(physics) * sizeof(SolidMoment) + (size_t)physics_joint_count(physics) * sizeof(JointMoment);
    char *data = memory_alloc(*size);
    SolidMoment *solids = (void *)(data + sizeof head);
    for (int i = 0; i < physics_solid_count(physics); i++)
        if (physics_solid_exists(physics, i) && is_below(physics, i, top))
            solids[head.solids++] = (SolidMoment){ i, physics_solid_pose(physics, i), physics_solid_linear_velocity(physics, i), physics_solid_angular_velocity(physics, i) };
    JointMoment *joints = (void *)(solids + head.solids);
    for (int i = 0; i < physics_joint_count(physics); i++) {
        if (!physics_joint_exists(physics, i) || !is_below(physics, physics_joint_parent(physics, i), top))
            continue;
        JointMoment *moment = &joints[head.joints++];
        moment->joint = i;
        for (int axis = 0; axis < physics_joint_axis_count(physics, i); axis++)
            moment->positions[axis] = physics_joint_position(physics, i, axis);
    }
    memcpy(data, &head, sizeof head);
    return data;
}

static void put_moment(const Call *call, const void *data)
{
    Physics *physics = physics_of(call);
    NodeMoment head;
    memcpy(&head, data, sizeof head);
    const SolidMoment *solids = (const void *)((const char *)data + sizeof head);
    const JointMoment *joints = (const void *)(solids + head.solids);
    if (head.solids > 0 && physics_solid_exists(physics, solids[0].solid))
        physics_solid_set_pose(physics, solids[0].solid, solids[0].pose);
    for (int i = 0; i < head.joints; i++)
        for (int axis = 0; physics_joint_exists(physics, joints[i].joint) && axis < physics_joint_axis_count(physics, joints[i].joint); axis++)
            physics_joint_set_position(physics, joints[i].joint, axis, joints[i].positions[axis]);
    for (int i = 0; i < head.solids; i++) {
        if (!physics_solid_exists(physics, solids[i].solid))
            continue;
        physics_solid_set_pose(physics, solids[i].solid, solids[i].pose);
        if (physics_solid_body(physics, solids[i].solid) >= 0)
            physics_solid_set_velocity(physics, solids[i].solid, solids[i].linear, solids[i].angular);
    }
}

static void node_state(const Call *call)
{
    Control *control = call->control;
    SceneNode *node = node_of(call, 0);
    int solid = solid_of(call, node);
    SavedState *found = NULL;
    for (int i = 0; node && i < control->state_count; i++)
        if (control->states[i].node == node->id && !strcmp(control->states[i].name, call->record->bytes))
            found = &control->states[i];
    if (solid < 0 || (number(call, 1) == 1 && !found)) {
        fail(call, "there is no such state of this node");
        return;
    }
    if (number(call, 1) == 1) {
        put_moment(call, found->data);
    } else {
        if (!found) {
            memory_grow(&control->states, &control->state_capacity, control->state_count + 1, sizeof *control->states);
            found = &control->states[control->state_count++];
            *found = (SavedState){ .node = node->id, .name = arena_string(control->arena, call->record->bytes) };
        }
        free(found->data);
        found->data = take_moment(call, solid, &found->size);
    }
    answer_nothing(call);
}

static void node_restart(const Call *call)
{
    SceneNode *node = node_of(call, 0);
    int robot = node ? devices_robot_of(call->control->devices, scene_actual(node)) : -1;
    for (int i = 0; i < call->control->count; i++)
        if (call->control->controllers[i].robot == robot)
            call->control->controllers[i].wants_restart = true;
    answer_nothing(call);
}

// ---- PROTOs ----

static const SceneNode *proto_asked(const Call *call)
{
    const SceneNode *node = node_of(call, 0);
    for (int depth = number(call, 1); depth > 0 && node; depth--)
        node = node->kind == SCENE_NODE_INSTANCE ? node->target : NULL;
    return node && node->kind == SCENE_NODE_INSTANCE ? node : NULL;
}

static void proto_info(const Call *call)
{
    const SceneNode *node = proto_asked(call);
    bool is_derived = node && node->target && node->target->kind == SCENE_NODE_INSTANCE;
    int32_t numbers[3] = { node != NULL, is_derived, node ? node->proto->parameter_count : 0 };
    const char *name = node ? node->proto->name : "";
    answer(call, numbers, 3, NULL, 0, name, (int)strlen(name));
}

static void proto_field(const Call *call)
{
    const SceneNode *node = proto_asked(call);
    const FieldType *type = node ? find_field(node->proto->parameters, node->proto->parameter_count, number(call, 2), call->record->bytes) : NULL;
    answer_int(call, type ? field_ref(call->control, (SceneNode *)node, type, true) : -1);
}

// ---- following values ----

static void track(const Call *call)
{
    Control *control = call->control;
    int period_ms = number(call, 2);
    Tracked wanted = { call->controller->robot, number(call, 0), number(call, 1), number(call, 3),
                       (int)fmax(ceil(period_ms / (sim_time_step(control->sim) * 1000.0)), 1.0) };
    for (int i = 0; i < control->tracked_count; i++) {
        Tracked *row = &control->tracked[i];
        if (row->robot != wanted.robot || row->what != wanted.what || row->id != wanted.id || row->extra != wanted.extra)
            continue;
        *row = control->tracked[--control->tracked_count];
        break;
    }
    if (period_ms > 0) {
        memory_grow(&control->tracked, &control->tracked_capacity, control->tracked_count + 1, sizeof *control->tracked);
        control->tracked[control->tracked_count++] = wanted;
    }
    answer_nothing(call);
}

void supervisor_add_tracked(Control *control, Controller *controller, FrameWriter *frame)
{
    // Each value travels as the record of the question that would have asked for it, with what was asked in front.
    for (int i = 0; i < control->tracked_count; i++) {
        const Tracked *row = &control->tracked[i];
        if (row->robot != controller->robot || sim_steps(control->sim) % (uint64_t)row->period)
            continue;
        int32_t asked[2] = { row->id, row->extra };
        static const uint16_t ops[3] = { OP_NODE_POSE, OP_NODE_CONTACTS, OP_FIELD_GET };
        if (row->what < 0 || row->what > 2)
            continue;
        Record question = { .op = ops[row->what], .int_count = 2, .ints = asked };
        frame_add(frame, &(Record){ .op = OP_TRACK, .int_count = 3, .ints = (int32_t[]){ row->what, row->id, row->extra } });
        supervisor_call(control, controller, &question, frame);
    }
}

// ---- the world ----

static void world(const Call *call)
{
    Control *control = call->control;
    int done = 1;
    switch (number(call, 0)) {
    case 0:
        control->wants_reset = true;
        break;
    case 1:
        control->next_world = "";
        break;
    case 2:
        for (int i = 0; i < physics_solid_count(physics_of(call)); i++)
            if (physics_solid_exists(physics_of(call), i) && physics_solid_parent(physics_of(call), i) < 0)
                physics_solid_reset(physics_of(call), i);
        break;
    case 3:
        control->quit_status = number(call, 1) & 0xff;
        break;
    case 4:
        done = sim_save(control->sim, *call->record->bytes ? call->record->bytes : scene_path(scene_of(call)));
        break;
    case 5:
        control->next_world = arena_string(control->arena, call->record->bytes);
        break;
    default:
        done = 0;
        break;
    }
    answer_int(call, done);
}

static void simulation_mode(const Call *call)
{
    if (number(call, 0) >= 0 && number(call, 0) <= 2)
        call->control->simulation_mode = number(call, 0);
    answer_int(call, call->control->simulation_mode);
}

// Pictures and films are not made yet: starting one fails, and nothing is ever under way.
static void recording(const Call *call)
{
    answer_int(call, number(call, 0) == 2 ? 0 : -1);
}

static void accept_silently(const Call *call)
{
    answer_nothing(call);
}

static void field_actual(const Call *call)
{
    answer_int(call, field_of(call) ? number(call, 0) : -1);
}

// ---- which question goes where ----

typedef struct CallRow {
    uint16_t op;
    bool for_everyone;  // robots that are no supervisors may ask too
    void (*answer)(const Call *call);
} CallRow;

static const CallRow rows[] = {
    { OP_NODE_FROM, false, node_from },
    { OP_NODE_INFO, false, node_info },
    { OP_NODE_FIELD, false, node_field },
    { OP_FIELD_INFO, false, field_info },
    { OP_FIELD_GET, false, field_get },
    { OP_FIELD_SET, false, field_set },
    { OP_FIELD_INSERT, false, field_insert },
    { OP_FIELD_REMOVE, false, field_remove },
    { OP_FIELD_IMPORT, false, field_import },
    { OP_FIELD_ACTUAL, false, field_actual },
    { OP_NODE_POSE, false, node_pose },
    { OP_NODE_VELOCITY, false, node_velocity },
    { OP_NODE_SET_VELOCITY, false, node_set_velocity },
    { OP_NODE_FORCE, false, node_force },
    { OP_NODE_CENTER_OF_MASS, false, node_center_of_mass },
    { OP_NODE_BALANCE, false, node_balance },
    { OP_NODE_CONTACTS, false, node_contacts },
    { OP_NODE_RESET_PHYSICS, false, node_reset_physics },
    { OP_NODE_RESTART, false, node_restart },
    { OP_NODE_REMOVE, false, node_remove },
    { OP_NODE_STATE, false, node_state },
    { OP_NODE_JOINT_POSITION, false, node_joint_position },
    { OP_NODE_EXPORT, false, node_export },
    { OP_NODE_VISIBILITY, false, accept_silently },
    { OP_NODE_VIEWPOINT, false, accept_silently },
    { OP_PROTO_INFO, false, proto_info },
    { OP_PROTO_FIELD, false, proto_field },
    { OP_TRACK, false, track },
    { OP_WORLD, false, world },
    { OP_SIMULATION_MODE, false, simulation_mode },
    { OP_LABEL, false, accept_silently },
    { OP_RECORDING, false, recording },
};

void supervisor_call(Control *control, Controller *controller, const Record *record, FrameWriter *frame)
{
    Call call = { control, controller, record, frame };
    bool is_supervisor = scene_bool(devices_robot_node(control->devices, controller->robot), "supervisor");
    for (int i = 0; i < COUNT_OF(rows); i++) {
        if (rows[i].op != record->op)
            continue;
        if (is_supervisor || rows[i].for_everyone)
            rows[i].answer(&call);
        else
            fail(&call, "this robot is not a supervisor");
        return;
    }
    fail(&call, "no such question");
}

void supervisor_forget(Control *control)
{
    for (int i = 0; i < control->state_count; i++)
        free(control->states[i].data);
    free(control->states);
    free(control->tracked);
    free(control->fields);
}
