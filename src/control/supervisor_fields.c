// supervisor_fields.c - fields as supervisors see them: found by name or place, read, set, and lists changed.
// A field is named by a number that is never given again; those of nodes that are no more are forgotten.
#include "control/supervisor_internal.h"

#include "base/hash.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- references ----

static uint64_t hash_of_field(const FieldRef *field)
{
    return hash_combine(hash_combine(hash_combine(0, field->id), field->type->index),
                        field->is_read_only + field->regenerations);
}

static bool is_there(const Control *control, const FieldRef *field)
{
    return scene_find_id(sim_scene(control->sim), field->id) == field->node;
}

static void index_fields(Control *control)
{
    RowIndex *index = &control->field_index;
    int kept = 0;
    for (int row = 0; row < control->field_count; row++)
        if (is_there(control, &control->fields[row]))
            control->fields[kept++] = control->fields[row];
    control->field_count = kept;
    free(index->slots);
    while (index->capacity < 64 || 4 * (kept + 1) > index->capacity)
        index->capacity = int_max(64, index->capacity * 2);
    index->slots = memory_alloc_array((size_t)index->capacity, sizeof *index->slots);
    for (int row = 0; row < control->field_count; row++) {
        uint64_t slot = hash_of_field(&control->fields[row]);
        assert_debug((index->capacity & (index->capacity - 1)) == 0);
        while (index->slots[slot & (uint64_t)(index->capacity - 1)])
            slot++;
        index->slots[slot & (uint64_t)(index->capacity - 1)] = row + 1;
    }
}

int field_reference(Control *control, SceneNode *node, const FieldType *type, bool is_read_only)
{
    assert(node && type);
    RowIndex *index = &control->field_index;
    const FieldRef wanted = {
        control->next_field, node, node->id, type, is_read_only, is_read_only ? sim_regenerations(control->sim) : 0
    };
    if (2 * (control->field_count + 1) > index->capacity)
        index_fields(control);
    uint64_t mask = (uint64_t)(index->capacity - 1), slot = hash_of_field(&wanted) & mask;
    for (; index->slots[slot]; slot = (slot + 1) & mask) {
        const FieldRef *field = &control->fields[index->slots[slot] - 1];
        if (field->id == node->id && field->type == type && field->is_read_only == is_read_only
            && field->regenerations == wanted.regenerations)
            return field->number;
    }
    assert_debug(control->field_count == 0 || control->fields[control->field_count - 1].number < control->next_field);
    *memory_push(control->fields, control->field_count, control->field_capacity) = wanted;
    index->slots[slot] = control->field_count;
    return control->next_field++;
}

int field_types_shown(const NodeType *type)
{
    int count = 0;
    for (int i = 0; i < type->field_count; i++)
        count += type->fields[i].class != FIELD_DEPRECATED;
    return count;
}

const FieldType *field_type_find(const FieldType *fields, int count, int index, const char *name)
{
    assert_debug(fields || count == 0);
    for (int i = 0; index >= 0 && i < count; i++)
        if (fields[i].class != FIELD_DEPRECATED && index-- == 0)
            return &fields[i];
    if (index >= 0 || !name || !*name)
        return NULL;
    for (int i = 0; i < count; i++)
        if (!strcmp(fields[i].name, name))
            return &fields[i];
    return NULL;
}

void call_node_field(const Call *call)
{
    SceneNode *node = call_node(call, 0);
    bool is_base = call_number(call, 2) == 1;
    const FieldType *type = NULL;
    if (node && node->kind == SCENE_NODE_INSTANCE && !is_base) {
        type = field_type_find(node->proto->parameters, node->proto->parameter_count, call_number(call, 1),
                               call->record->bytes);
    } else if (node && node->kind == SCENE_NODE_INSTANCE) {
        node = scene_actual(node);
        type = node && node->type ? field_type_find(node->type->fields, node->type->field_count, call_number(call, 1),
                                                    call->record->bytes)
                                  : NULL;
    } else if (node && node->type && !is_base) {
        type = field_type_find(node->type->fields, node->type->field_count, call_number(call, 1), call->record->bytes);
    }
    bool is_inside = node && node->in_proto;
    answer_int(call, type ? field_reference(call->control, node, type, is_base || is_inside) : -1);
}

// As in Webots, a template that is evaluated anew makes every reference into a PROTO invalid, also of other instances.
static bool is_out_of_date(const Control *control, const FieldRef *field)
{
    return field->is_read_only && field->regenerations != sim_regenerations(control->sim);
}

static int compare_numbers(const void *number, const void *field)
{
    return *(const int *)number - ((const FieldRef *)field)->number;
}

static const FieldRef *field_of(const Call *call)
{
    const Control *control = call->control;
    int number = call_number(call, 0);
    const FieldRef *field = number < 0 || control->field_count == 0
                                ? NULL
                                : bsearch(&number, control->fields, (size_t)control->field_count,
                                          sizeof *control->fields, compare_numbers);
    return field && is_there(control, field) && !scene_node_is_gone(field->node)
                   && !is_out_of_date(call->control, field)
               ? field
               : NULL;
}

void call_field_info(const Call *call)
{
    const FieldRef *field = field_of(call);
    if (!field) {
        answer_failed(call, "there is no such field");
        return;
    }
    int count = -1;
    if (field_kind_is_list(field->type->kind))
        count = scene_value(field->node, field->type).list->count;
    int32_t numbers[3] = { (int32_t)field->type->kind, count, field->is_read_only };
    const char *name = field->type->name;
    answer_record(call, (Record){ .int_count = 3, .ints = numbers, .byte_count = (int)strlen(name), .bytes = name });
}

// Index into a list; negative counts from the end. -1 when there is none.
static int list_index(const FieldList *list, int index)
{
    assert_debug(list);
    if (index < 0)
        index += list->count;
    return index >= 0 && index < list->count ? index : -1;
}

static void answer_item(const Call *call, FieldKind kind, const FieldValue *value)
{
    assert_debug(!field_kind_is_list(kind));
    switch (kind) {
    case FIELD_SF_BOOL: answer_int(call, value->b); break;
    case FIELD_SF_INT32: answer_int(call, value->i); break;
    case FIELD_SF_FLOAT: answer_doubles(call, &value->f, 1); break;
    case FIELD_SF_STRING: answer_text(call, value->s); break;
    case FIELD_SF_NODE:
        answer_int(call, value->node && !scene_node_is_gone(value->node) ? supervisor_outer_id(value->node) : -1);
        break;
    default: answer_doubles(call, value->v, field_kind_doubles(kind)); break;
    }
}

static FieldValue list_item(const FieldList *list, FieldKind kind, int index)
{
    assert(index >= 0 && index < list->count);
    FieldValue value = { 0 };
    int doubles = field_kind_doubles(kind);
    if (doubles)
        memcpy(kind == FIELD_SF_FLOAT ? &value.f : value.v, list->numbers + (size_t)doubles * (size_t)index,
               (size_t)doubles * sizeof(double));
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

// The axis of a single rotation is of unit length (those in lists are as they were given); one that is keeps its
// digits.
static void make_unit(double v[4])
{
    Vec3 axis = vec3(v[0], v[1], v[2]);
    if (fabs(vec3_length2(axis) - 1.0) < 1e-12)
        return;
    axis = vec3_length(axis) > 0.0 ? vec3_normalized(axis) : vec3(0, 0, 1);
    memcpy(v, (double[3]){ axis.x, axis.y, axis.z }, 3 * sizeof *v);
}

void call_field_get(const Call *call)
{
    const FieldRef *field = field_of(call);
    if (!field) {
        answer_failed(call, "there is no such field");
        return;
    }
    supervisor_sync_field(call->control, field->node, field->type->name);
    FieldValue value = scene_value(field->node, field->type);
    FieldKind kind = field->type->kind;
    if (field_kind_is_list(kind)) {
        int index = list_index(value.list, call_number(call, 1));
        if (index < 0) {
            answer_failed(call, "the index is beyond the end of the list");
            return;
        }
        kind = field_kind_item(kind);
        value = list_item(value.list, kind, index);
    }
    const SceneTurn *turn = scene_turn(field->node, field->type);
    if (turn)
        scene_turn_numbers(turn, true, value.v, field_kind_doubles(kind));
    if (field->type->kind == FIELD_SF_ROTATION)
        make_unit(value.v);
    answer_item(call, kind, &value);
}

// The value that a call carries, from its third number on. False when it is not of the kind, not finite, or beyond any
// world.
static bool value_in(const Call *call, const FieldType *type, int first_int, FieldValue *value)
{
    assert_debug(first_int >= 0 && type && value);
    FieldKind kind = field_kind_item(type->kind);
    const Record *record = call->record;
    int doubles = field_kind_doubles(kind);
    *value = (FieldValue){ 0 };
    if (!field_type_holds(type, record->doubles, record->double_count))
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

static size_t item_bytes(FieldKind kind)
{
    assert_debug(!field_kind_is_list(kind));
    int doubles = field_kind_doubles(kind);
    return doubles                  ? (size_t)doubles * sizeof(double)
           : kind == FIELD_SF_INT32 ? sizeof(int32_t)
           : kind == FIELD_SF_BOOL  ? sizeof(bool)
                                    : sizeof(void *);
}

// The list with one item set (`more` 0), put in before `index` (1) or taken out (-1), as a value of the field.
static void change_list(const Call *call, const FieldRef *field, int index, int more, const FieldValue *value)
{
    assert_debug(more >= -1 && more <= 1);
    const FieldList *old = scene_value(field->node, field->type).list;
    FieldKind kind = field_kind_item(field->type->kind);
    size_t size = item_bytes(kind);
    FieldList list = { .count = old->count + more };
    assert(list.count >= 0);
    assert(index >= 0 && index < old->count + (more > 0));
    list.items = memory_alloc_array((size_t)list.count + 1, size);
    char *items = list.items;
    int kept = more > 0 ? index : index + 1;  // first of the old items behind the changed one
    if (index > 0)
        memcpy(items, old->items, (size_t)index * size);
    if (old->count > kept)
        memcpy(items + (size_t)(index + (more >= 0)) * size, (const char *)old->items + (size_t)kept * size,
               (size_t)(old->count - kept) * size);
    if (value)
        memcpy(items + (size_t)index * size, value, size);
    sim_set_value(call->control->sim, field->node, field->type, (FieldValue){ .list = &list });
    free(list.items);
}

static bool can_change(const Call *call, const FieldRef *field)
{
    if (!field)
        answer_failed(call, "there is no such field");
    else if (field->is_read_only)
        answer_failed(call, "a field inside a PROTO can only be read");
    return field && !field->is_read_only;
}

// The field that a call names, if it may be changed. A copy: the table of fields moves when a call adds to it.
static bool field_to_change(const Call *call, FieldRef *field)
{
    const FieldRef *found = field_of(call);
    if (!can_change(call, found))
        return false;
    *field = *found;
    return true;
}

void call_field_set(const Call *call)
{
    FieldRef field;
    if (!field_to_change(call, &field))
        return;
    FieldKind kind = field_kind_item(field.type->kind);
    FieldValue value;
    if (!value_in(call, field.type, 2, &value)) {
        answer_failed(call, "the value is not of the field's type or not finite");
        return;
    }
    const SceneTurn *turn = scene_turn(field.node, field.type);
    if (turn)
        scene_turn_numbers(turn, false, value.v, field_kind_doubles(kind));
    supervisor_sync(call->control);
    if (field_kind_is_list(field.type->kind)) {
        int index = list_index(scene_value(field.node, field.type).list, call_number(call, 1));
        if (index < 0) {
            answer_failed(call, "the index is beyond the end of the list");
            return;
        }
        change_list(call, &field, index, 0, &value);
    } else {
        sim_set_value(call->control->sim, field.node, field.type, value);
    }
    answer_nothing(call);
}

void call_field_insert(const Call *call)
{
    FieldRef field;
    if (!field_to_change(call, &field))
        return;
    FieldKind kind = field_kind_item(field.type->kind);
    FieldValue value;
    if (!field_kind_is_list(field.type->kind) || !value_in(call, field.type, 2, &value)) {
        answer_failed(call, "the value is not of the field's type or not finite");
        return;
    }
    const FieldList *list = scene_value(field.node, field.type).list;
    int index = call_number(call, 1) < 0 ? list->count + 1 + call_number(call, 1) : call_number(call, 1);
    if (index < 0 || index > list->count) {
        answer_failed(call, "the index is beyond the end of the list");
        return;
    }
    const SceneTurn *turn = scene_turn(field.node, field.type);
    if (turn)
        scene_turn_numbers(turn, false, value.v, field_kind_doubles(kind));
    supervisor_sync(call->control);
    change_list(call, &field, index, 1, &value);
    answer_nothing(call);
}

void call_field_remove(const Call *call)
{
    FieldRef field;
    if (!field_to_change(call, &field))
        return;
    FieldValue value = scene_value(field.node, field.type);
    if (field.type->kind == FIELD_SF_NODE) {
        if (value.node)
            sim_remove(call->control->sim, value.node);
        answer_nothing(call);
        return;
    }
    int index = field_kind_is_list(field.type->kind) ? list_index(value.list, call_number(call, 1)) : -1;
    if (index < 0) {
        answer_failed(call, "there is nothing to remove");
        return;
    }
    if (field.type->kind == FIELD_MF_NODE) {
        sim_remove(call->control->sim, value.list->nodes[index]);
    } else {
        supervisor_sync(call->control);
        change_list(call, &field, index, -1, NULL);
    }
    answer_nothing(call);
}

// What came into the robot that asks can be used at once, before the next step.
static void tell_of_devices(const Call *call, const SceneNode *imported)
{
    assert_debug(imported);
    const SceneNode *robot = devices_robot_node(call->control->devices, call->controller->robot), *above = imported;
    while (above && above != robot)
        above = scene_parent(above);
    if (!above)
        return;
    devices_rescan(call->control->devices);
    exchange_new_devices(call->control, call->controller, call->answer);
}

// A node that comes while the world runs may use only PROTOs that the world declares, as in Webots: then a saved
// world opens again.
void call_field_import(const Call *call)
{
    FieldRef field;
    if (!field_to_change(call, &field))
        return;
    int index = call_number(call, 1);
    if (field.type->kind == FIELD_MF_NODE && index < 0)
        index = scene_value(field.node, field.type).list->count + 1 + index;
    const char *undeclared = formats_undeclared_proto(call_scene(call), call->record->bytes,
                                                      (size_t)call->record->byte_count);
    if (undeclared) {
        char why[400];
        snprintf(
            why, sizeof why,
            "the world does not declare the PROTO '%.100s'; it has to say IMPORTABLE EXTERNPROTO \".../%.100s.proto\"",
            undeclared, undeclared);
        answer_failed(call, why);
        return;
    }
    supervisor_sync(call->control);
    SceneNode *node = sim_insert(call->control->sim, field.node, field.type->name, index, call->record->bytes,
                                 (size_t)call->record->byte_count);
    if (node)
        supervisor_remember_start(call->control, node);
    answer_int(call, node ? (int32_t)node->id : -1);
    if (node)
        tell_of_devices(call, node);
}

// The field of the scene tree that a field inside a PROTO is connected to: that one can be changed. -1 when there is
// none.
void call_field_actual(const Call *call)
{
    const FieldRef *field = field_of(call);
    SceneNode *node = field ? field->node : NULL;
    const FieldType *type = field ? field->type : NULL;
    for (SceneNode *next = node; next;) {
        node = next;
        next = NULL;
        for (int i = 0; i < node->field_count && !next; i++) {
            const SceneField *own = &node->fields[i];
            SceneNode *instance = own->type == type && own->parameter_index >= 0
                                      ? scene_find_id(call_scene(call), own->instance_id)
                                      : NULL;
            if (!instance || instance->kind != SCENE_NODE_INSTANCE
                || own->parameter_index >= instance->proto->parameter_count)
                continue;
            type = &instance->proto->parameters[own->parameter_index];
            next = instance;
        }
    }
    bool is_inside = !node || node->in_proto
                     || (node->parent && node->parent->kind == SCENE_NODE_INSTANCE && node->parent->target == node);
    answer_int(call, is_inside ? -1 : field_reference(call->control, node, type, false));
}
