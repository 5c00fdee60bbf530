// Reading values: through wrappers, with defaults.
#include "scene/scene.h"
#include "scene/scene_internal.h"

#include <string.h>

SceneNode *scene_actual(const SceneNode *node)
{
    while (node && node->kind != SCENE_NODE_PLAIN)
        node = node->kind == SCENE_NODE_UNKNOWN ? NULL : node->target;
    return (SceneNode *)node;
}

SceneNode *scene_parent(const SceneNode *node)
{
    do
        node = node ? node->parent : NULL;
    while (node && node->kind != SCENE_NODE_PLAIN);
    return (SceneNode *)node;
}

SceneNode *scene_instance(const SceneNode *node)
{
    while (node && node->parent && node->parent->kind == SCENE_NODE_INSTANCE && node->parent->target == node)
        node = node->parent;
    return (SceneNode *)node;
}

bool scene_node_is(const SceneNode *node, const char *type_name)
{
    const SceneNode *actual = scene_actual(node);
    return actual && schema_type_is(actual->type, type_name);
}

// The node that is really read, and its field type. An instance without a tree has parameters alone.
static const SceneNode *find_field(const SceneNode *node, const char *name, const FieldType **type)
{
    assert_debug(name && type);
    const SceneNode *actual = scene_actual(node);
    if (actual) {
        *type = schema_field(actual->type, name);
        if (*type)
            return actual;
    }
    while (node && node->kind == SCENE_NODE_USE)
        node = node->target;
    if (node && node->kind == SCENE_NODE_INSTANCE)
        for (int i = 0; i < node->proto->parameter_count; i++)
            if (!strcmp(node->proto->parameters[i].name, name)) {
                *type = &node->proto->parameters[i];
                return node;
            }
    *type = NULL;
    return node;
}

static const FieldValue *read_value(const SceneNode *node, const char *name, FieldKind kind)
{
    const FieldType *type;
    node = find_field(node, name, &type);
    assert(type && (type->kind == kind || (kind == FIELD_SF_VEC3F && type->kind == FIELD_SF_COLOR)));
    (void)kind;
    const SceneField *field = scene_own_field(node, type);
    return field ? &field->value : &type->value;
}

const SceneField *scene_field(const SceneNode *node, const char *name)
{
    const FieldType *type;
    node = find_field(node, name, &type);
    return type ? scene_own_field(node, type) : NULL;
}

bool scene_bool(const SceneNode *node, const char *name) { return read_value(node, name, FIELD_SF_BOOL)->b; }

int scene_int(const SceneNode *node, const char *name) { return read_value(node, name, FIELD_SF_INT32)->i; }

double scene_float(const SceneNode *node, const char *name) { return read_value(node, name, FIELD_SF_FLOAT)->f; }

Vec2 scene_vec2(const SceneNode *node, const char *name)
{
    const double *v = read_value(node, name, FIELD_SF_VEC2F)->v;
    return (Vec2){ v[0], v[1] };
}

Vec3 scene_vec3(const SceneNode *node, const char *name)
{
    const double *v = read_value(node, name, FIELD_SF_VEC3F)->v;
    return vec3(v[0], v[1], v[2]);
}

Rotation scene_rotation(const SceneNode *node, const char *name)
{
    const double *v = read_value(node, name, FIELD_SF_ROTATION)->v;
    return (Rotation){ v[0], v[1], v[2], v[3] };
}

const char *scene_string(const SceneNode *node, const char *name) { return read_value(node, name, FIELD_SF_STRING)->s; }

SceneNode *scene_child(const SceneNode *node, const char *name)
{
    return scene_actual(read_value(node, name, FIELD_SF_NODE)->node);
}

SceneNode *scene_behind_slots(SceneNode *node)
{
    while (node && scene_node_is(node, "Slot"))
        node = scene_child(node, "endPoint");
    return node;
}

const FieldList *scene_list(const SceneNode *node, const char *name)
{
    const FieldType *type;
    node = find_field(node, name, &type);
    assert(type && field_kind_is_list(type->kind));
    const SceneField *field = scene_own_field(node, type);
    return field ? field->value.list : type->value.list;
}

SceneNode *scene_list_node(const FieldList *list, int index)
{
    assert(index >= 0 && index < list->count);
    return scene_actual(list->nodes[index]);
}

FieldValue scene_value(const SceneNode *node, const FieldType *type)
{
    const SceneField *field = scene_own_field(node, type);
    return field ? field->value : type->value;
}

SourcePos scene_field_pos(const SceneNode *node, const char *name)
{
    const SceneField *field = scene_field(node, name);
    if (field)
        return field->pos;
    return node ? node->pos : (SourcePos){ 0 };
}

Pose scene_pose(const SceneNode *node)
{
    Pose pose = POSE_IDENTITY;
    const SceneNode *actual = scene_actual(node);
    if (!actual)
        return pose;
    if (!strcmp(actual->type->name, "TrackWheel")) {
        Vec2 place = scene_vec2(actual, "position");
        return (Pose){ { place.x, 0, place.y }, quat_from_rotation(scene_rotation(actual, "rotation")) };
    }
    const FieldType *translation = schema_field(actual->type, "translation");
    const FieldType *rotation = schema_field(actual->type, "rotation");
    if (!translation || translation->kind != FIELD_SF_VEC3F)
        return pose;
    FieldValue t = scene_value(actual, translation);
    pose.t = vec3(t.v[0], t.v[1], t.v[2]);
    if (rotation && rotation->kind == FIELD_SF_ROTATION) {
        FieldValue r = scene_value(actual, rotation);
        pose.q = quat_from_rotation((Rotation){ r.v[0], r.v[1], r.v[2], r.v[3] });
    }
    return pose;
}

Pose scene_world_pose(const SceneNode *node)
{
    Pose pose = scene_pose(node);
    for (const SceneNode *above = scene_parent(node); above; above = scene_parent(above))
        pose = pose_mul(scene_pose(above), pose);
    return pose;
}
