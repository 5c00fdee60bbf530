// Changing values. Parameters of PROTO instances and the fields connected to them change together.
#include "scene/scene.h"
#include "scene/scene_internal.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t scene_item_size(FieldKind item_kind)
{
    switch (item_kind) {
    case FIELD_SF_BOOL: return sizeof(bool);
    case FIELD_SF_INT32: return sizeof(int32_t);
    case FIELD_SF_STRING: return sizeof(const char *);
    case FIELD_SF_NODE: return sizeof(SceneNode *);
    default: return (size_t)field_kind_doubles(item_kind) * sizeof(double);
    }
}

FieldList *scene_list_copy(Scene *scene, const FieldList *list, FieldKind item_kind, int capacity)
{
    assert_debug(list && capacity >= 0);
    size_t size = scene_item_size(item_kind);
    FieldList *copy = scene_take(scene, sizeof *copy);
    copy->count = list->count;
    copy->capacity = int_max(capacity, list->count);
    copy->items = copy->capacity ? scene_take(scene, memory_product((size_t)copy->capacity, size)) : NULL;
    if (list->count)
        memcpy(copy->items, list->items, (size_t)list->count * size);
    return copy;
}

void scene_list_reserve(Scene *scene, FieldList *list, FieldKind item_kind, int count)
{
    assert_debug(list && count >= 0);
    if (count <= list->capacity)
        return;
    size_t size = scene_item_size(item_kind);
    int capacity = int_max(count, list->capacity < INT32_MAX / 2 ? list->capacity * 2 : INT32_MAX);
    void *items = scene_take(scene, memory_product((size_t)capacity, size));
    if (list->count)
        memcpy(items, list->items, (size_t)list->count * size);
    list->items = items;
    list->capacity = capacity;
}

static double number_at(FieldKind item, const void *items, int index)
{
    assert_debug(items && index >= 0);
    return item == FIELD_SF_FLOAT ? ((const double *)items)[index] : (double)((const int32_t *)items)[index];
}

static void put_number(FieldKind item, void *items, int index, double value)
{
    assert_debug(items && index >= 0);
    if (item == FIELD_SF_FLOAT)
        ((double *)items)[index] = value;
    else
        ((int32_t *)items)[index] = (int32_t)fmax(INT32_MIN, fmin(INT32_MAX, nearbyint(value)));
}

FieldValue scene_value_as(Scene *scene, FieldValue value, FieldKind from, FieldKind to)
{
    if (from == to)
        return value;
    FieldKind from_item = field_kind_item(from), to_item = field_kind_item(to);
    assert(field_kind_is_list(to) || !field_kind_is_list(from));
    assert(from_item == to_item
           || (from_item != to_item && field_kind_doubles(from_item) <= 1 && field_kind_doubles(to_item) <= 1));
    const void *items = field_kind_is_list(from) ? value.list->items : &value;
    int count = field_kind_is_list(from) ? value.list->count : 1;
    FieldValue single = { 0 };
    FieldList *list = NULL;
    if (field_kind_is_list(to)) {
        list = scene_take(scene, sizeof *list);
        scene_list_reserve(scene, list, to_item, count);
        list->count = count;
    }
    void *made = list ? list->items : &single;
    for (int i = 0; from_item != to_item && i < count; i++)
        put_number(to_item, made, i, number_at(from_item, items, i));
    if (from_item == to_item && count)
        memcpy(made, items, (size_t)count * scene_item_size(to_item));
    return list ? (FieldValue){ .list = list } : single;
}

// ---- parameters and their fields ----

typedef struct Connection {
    uint32_t instance;
    int16_t parameter;
    FieldKind kind;
    FieldValue value;
} Connection;

// Gives all fields below `node` that are connected to the parameter its value, also across nested instances.
static void spread(Scene *scene, SceneNode *node, const Connection *connection);

void scene_watch(Scene *scene, SceneWatch watch, void *context)
{
    scene->watch = watch;
    scene->watch_context = context;
}

FieldValue scene_value_kept(Scene *scene, const SceneNode *node, const FieldType *type)
{
    FieldValue value = scene_value(node, type);
    if (field_kind_is_list(type->kind))
        value.list = scene_list_copy(scene, value.list, field_kind_item(type->kind), value.list->count);
    return value;
}

static void will_change(Scene *scene, SceneNode *node, const FieldType *type)
{
    assert(!scene->is_frozen);
    if (type->kind == FIELD_SF_NODE || type->kind == FIELD_MF_NODE)
        scene_names_forget(scene);
    if (scene->watch)
        scene->watch(scene->watch_context, node, type);
}

static void set_raw(Scene *scene, SceneNode *node, const FieldType *type, FieldValue value)
{
    assert(node && type);
    will_change(scene, node, type);
    SceneField *field = scene_field_add(scene, node, type, node->pos);
    field->value = value;
    field->is_default = false;
    if (type->kind == FIELD_SF_NODE)
        scene_adopt(value.node, node, type);
    else if (type->kind == FIELD_MF_NODE)
        for (int i = 0; i < value.list->count; i++)
            scene_adopt(value.list->nodes[i], node, type);
    if (node->kind == SCENE_NODE_INSTANCE && node->target && type >= node->proto->parameters
        && type < node->proto->parameters + node->proto->parameter_count) {
        Connection connection = { node->id, (int16_t)(type - node->proto->parameters), type->kind, value };
        spread(scene, node->target, &connection);
    }
}

static void spread(Scene *scene, SceneNode *node, const Connection *connection)
{
    if (!node || node->kind == SCENE_NODE_USE)
        return;
    for (int i = 0; i < node->field_count; i++) {
        SceneField *field = &node->fields[i];
        if (field->parameter_index >= 0 && field->instance_id == connection->instance) {
            if (field->parameter_index == connection->parameter) {
                FieldValue value = scene_value_as(scene, connection->value, connection->kind, field->type->kind);
                set_raw(scene, node, field->type, scene_value_turned(scene, node, field->type, value, false));
            }
            continue;  // what is given from outside holds no further connection to this instance
        }
        if (field->type->kind == FIELD_SF_NODE)
            spread(scene, field->value.node, connection);
        else if (field->type->kind == FIELD_MF_NODE)
            for (int j = 0; j < field->value.list->count; j++)
                spread(scene, field->value.list->nodes[j], connection);
    }
    if (node->kind == SCENE_NODE_INSTANCE)
        spread(scene, node->target, connection);
}

// Writes at the outermost place that the field is connected to, so that everything connected to it follows.
static void write_value(Scene *scene, SceneNode *node, const FieldType *type, FieldValue value)
{
    assert(node && type);
    const SceneField *field = scene_own_field(node, type);
    while (field && field->parameter_index >= 0 && field->instance_id) {
        SceneNode *instance = scene_find_id(scene, field->instance_id);
        if (!instance || instance->kind != SCENE_NODE_INSTANCE
            || field->parameter_index >= instance->proto->parameter_count)
            break;
        const FieldType *parameter = &instance->proto->parameters[field->parameter_index];
        value = scene_value_turned(scene, node, type, value, true);
        if (parameter->kind != type->kind && field_kind_is_list(type->kind) && !field_kind_is_list(parameter->kind)) {
            FieldKind item_kind = field_kind_item(type->kind);
            if (value.list->count != 1)
                break;  // a list that its single-valued parameter cannot hold stays below
            FieldValue item = { 0 };
            memcpy(&item, value.list->items, scene_item_size(item_kind));
            value = scene_value_as(scene, item, item_kind, parameter->kind);
        } else if (parameter->kind != type->kind) {
            value = scene_value_as(scene, value, type->kind, parameter->kind);
        }
        node = instance;
        type = parameter;
        field = scene_own_field(node, type);
    }
    set_raw(scene, node, type, value);
}

// The node that a write to `name` concerns: a parameter of an instance first, else the tree it makes.
static SceneNode *find_writable(SceneNode *node, const char *name, const FieldType **type)
{
    *type = NULL;
    while (node) {
        if (node->kind == SCENE_NODE_PLAIN) {
            *type = schema_field(node->type, name);
            return node;
        }
        if (node->kind == SCENE_NODE_INSTANCE)
            for (int i = 0; i < node->proto->parameter_count; i++)
                if (!strcmp(node->proto->parameters[i].name, name)) {
                    *type = &node->proto->parameters[i];
                    return node;
                }
        node = node->kind == SCENE_NODE_UNKNOWN ? NULL : node->target;
    }
    return NULL;
}

static void write_named(Scene *scene, SceneNode *node, const char *name, FieldKind kind, FieldValue value)
{
    const FieldType *type;
    node = find_writable(node, name, &type);
    assert(node && type && (type->kind == kind || (kind == FIELD_SF_VEC3F && type->kind == FIELD_SF_COLOR)));
    (void)kind;
    write_value(scene, node, type, value);
}

void scene_set_bool(Scene *scene, SceneNode *node, const char *name, bool value)
{
    write_named(scene, node, name, FIELD_SF_BOOL, (FieldValue){ .b = value });
}

void scene_set_int(Scene *scene, SceneNode *node, const char *name, int value)
{
    write_named(scene, node, name, FIELD_SF_INT32, (FieldValue){ .i = value });
}

void scene_set_float(Scene *scene, SceneNode *node, const char *name, double value)
{
    write_named(scene, node, name, FIELD_SF_FLOAT, (FieldValue){ .f = value });
}

void scene_set_vec2(Scene *scene, SceneNode *node, const char *name, Vec2 value)
{
    write_named(scene, node, name, FIELD_SF_VEC2F, (FieldValue){ .v = { value.x, value.y } });
}

void scene_set_vec3(Scene *scene, SceneNode *node, const char *name, Vec3 value)
{
    write_named(scene, node, name, FIELD_SF_VEC3F, (FieldValue){ .v = { value.x, value.y, value.z } });
}

void scene_set_rotation(Scene *scene, SceneNode *node, const char *name, Rotation value)
{
    write_named(scene, node, name, FIELD_SF_ROTATION, (FieldValue){ .v = { value.x, value.y, value.z, value.angle } });
}

void scene_set_string(Scene *scene, SceneNode *node, const char *name, const char *value)
{
    const FieldType *type;
    SceneNode *writable = find_writable(node, name, &type);
    assert(writable && type && type->kind == FIELD_SF_STRING);
    const SceneField *field = scene_own_field(writable, type);
    if (field && !strcmp(field->value.s, value))
        return;
    write_value(scene, writable, type, (FieldValue){ .s = scene_take_string(scene, value) });
}

void scene_set_child(Scene *scene, SceneNode *node, const char *name, SceneNode *child)
{
    write_named(scene, node, name, FIELD_SF_NODE, (FieldValue){ .node = child });
}

void scene_set_value(Scene *scene, SceneNode *node, const FieldType *type, FieldValue value)
{
    assert(node && type);
    if (type->kind == FIELD_SF_STRING) {
        value.s = scene_take_string(scene, value.s);
    } else if (field_kind_is_list(type->kind)) {
        FieldList *copy = scene_list_copy(scene, value.list, field_kind_item(type->kind), 0);
        if (type->kind == FIELD_MF_STRING)
            for (int i = 0; i < copy->count; i++)
                copy->strings[i] = scene_take_string(scene, copy->strings[i]);
        value.list = copy;
    }
    write_value(scene, node, type, value);
}

void scene_reset_field(Scene *scene, SceneNode *node, const char *name)
{
    const FieldType *type;
    node = find_writable(node, name, &type);
    assert(node && type);
    SceneField *field = scene_own_field(node, type);
    if (!field)
        return;
    will_change(scene, node, type);
    if (field->parameter_index >= 0 || node->kind == SCENE_NODE_INSTANCE)
        write_value(scene, node, type, type->value);
    field = scene_own_field(node, type);
    if (field->parameter_index >= 0)
        return;  // the connection stays
    assert_debug(field >= node->fields && field < node->fields + node->field_count);
    size_t after = (size_t)(node->fields + node->field_count - (field + 1));
    memmove(field, field + 1, after * sizeof *field);
    node->field_count--;
}

FieldList *scene_list_edit(Scene *scene, SceneNode *node, const char *name)
{
    const FieldType *type;
    node = find_writable(node, name, &type);
    assert(node && type && field_kind_is_list(type->kind));
    will_change(scene, node, type);
    const SceneField *field = scene_own_field(node, type);
    const FieldList *list = field ? field->value.list : type->value.list;
    if (field && list->capacity > 0 && list != type->value.list)
        return (FieldList *)list;
    FieldList *copy = scene_list_copy(scene, list, field_kind_item(type->kind), 4);
    write_value(scene, node, type, (FieldValue){ .list = copy });
    return copy;
}

void scene_list_insert_node(Scene *scene, SceneNode *node, const char *name, int index, SceneNode *child)
{
    assert_debug(child);
    FieldList *list = scene_list_edit(scene, node, name);
    assert(index >= -1 && index <= list->count);
    if (index < 0)
        index = list->count;
    scene_list_reserve(scene, list, FIELD_SF_NODE, list->count + 1);
    memmove(&list->nodes[index + 1], &list->nodes[index], (size_t)(list->count - index) * sizeof *list->nodes);
    list->nodes[index] = child;
    list->count++;
    const FieldType *type;
    SceneNode *holder = find_writable(node, name, &type);
    assert_debug(holder && type);
    write_value(scene, holder, type, (FieldValue){ .list = list });
}

// Takes the node out of whatever field of `holder` names it. The list may be shared with a connected field: once is
// enough.
static bool take_out(Scene *scene, SceneNode *holder, const SceneNode *node)
{
    assert_debug(holder && node);
    for (int i = 0; i < holder->field_count; i++) {
        SceneField *field = &holder->fields[i];
        if (field->type->kind == FIELD_SF_NODE && field->value.node == node) {
            write_value(scene, holder, field->type, (FieldValue){ .node = NULL });
            return true;
        }
        if (field->type->kind != FIELD_MF_NODE)
            continue;
        for (int j = 0; j < field->value.list->count; j++) {
            if (field->value.list->nodes[j] != node)
                continue;
            FieldList *list = (FieldList *)field->value.list;
            if (list->capacity == 0 || list == field->type->value.list) {
                list = scene_list_copy(scene, list, FIELD_SF_NODE, 0);
                write_value(scene, holder, field->type, (FieldValue){ .list = list });
            }
            scene_names_forget(scene);
            memmove(&list->nodes[j], &list->nodes[j + 1], (size_t)(list->count - j - 1) * sizeof *list->nodes);
            list->count--;
            field->is_default = false;
            return true;
        }
    }
    return false;
}

static void mark_removed(SceneNode *node)
{
    if (!node || node->is_removed)
        return;
    node->is_removed = true;
    if (node->kind == SCENE_NODE_INSTANCE)
        mark_removed(node->target);
    for (int i = 0; i < node->field_count; i++) {
        const SceneField *field = &node->fields[i];
        if (field->type->kind == FIELD_SF_NODE)
            mark_removed(field->value.node);
        else if (field->type->kind == FIELD_MF_NODE)
            for (int j = 0; j < field->value.list->count; j++)
                mark_removed(field->value.list->nodes[j]);
    }
}

void scene_node_remove(Scene *scene, SceneNode *node)
{
    SceneNode *written = scene_instance(node);
    if (written->parent)
        take_out(scene, written->parent, written);
    mark_removed(written);
}
