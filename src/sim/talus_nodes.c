// The library over the scene: nodes by name, their fields read and changed, nodes that come and go.
#include "sim/library.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

SceneNode *library_node(const TalusWorld *world, TalusNode id)
{
    SceneNode *node = !world || id == TALUS_NONE ? NULL : scene_find_id(sim_scene(world->sim), id);
    if (node && !node->is_removed)
        return node;
    if (world)
        library_failed("there is no node %u", id);
    else
        library_failed("there is no world: it is NULL");
    return NULL;
}

TalusNode library_id(const SceneNode *node) { return node ? node->id : TALUS_NONE; }

TalusNode talus_find(const TalusWorld *world, const char *name)
{
    if (!library_given(world, name, "name"))
        return TALUS_NONE;
    const SceneNode *node = scene_find_def(sim_scene(world->sim), name);
    node = node ? node : scene_find_solid(sim_scene(world->sim), name);
    if (!node)
        library_failed("no node has the DEF name or name '%s'", name);
    return library_id(node);
}

TalusNode talus_find_below(const TalusWorld *world, TalusNode top, const char *def_path)
{
    const SceneNode *node = library_node(world, top);
    return node && library_given(world, def_path, "path") ? library_id(scene_find_def_below(node, def_path))
                                                          : TALUS_NONE;
}

bool talus_node_exists(const TalusWorld *world, TalusNode node) { return library_node(world, node) != NULL; }

const char *talus_node_type(const TalusWorld *world, TalusNode id)
{
    const SceneNode *node = library_node(world, id);
    return node && node->type ? node->type->name : NULL;
}

const char *talus_node_def(const TalusWorld *world, TalusNode id)
{
    const SceneNode *node = library_node(world, id);
    return node ? scene_instance(node)->def : NULL;
}

TalusNode talus_node_parent(const TalusWorld *world, TalusNode id)
{
    const SceneNode *node = library_node(world, id);
    return node ? library_id(scene_parent(node)) : TALUS_NONE;
}

// Fields that the simulation moves are written into the scene when somebody asks for one of them: before its node is
// looked up.
static void bring_up_to_date(const TalusWorld *world, const char *field)
{
    static const char *const moving[] = { "translation", "rotation",  "linearVelocity", "angularVelocity",
                                          "position",    "position2", "position3",      "isLocked",
                                          "isOn",        "on" };
    for (int i = 0; i < COUNT_OF(moving); i++)
        if (!strcmp(field, moving[i])) {
            if (library_own((TalusWorld *)world))
                sim_sync_scene(world->sim);
            return;
        }
}

// The node behind an id if it has a field of one of two kinds.
static SceneNode *with_field(const TalusWorld *world, TalusNode id, const char *field, FieldKind kind, FieldKind other)
{
    if (!library_given(world, field, "field"))
        return NULL;
    bring_up_to_date(world, field);
    SceneNode *actual = scene_actual(library_node(world, id));
    // A PROTO instance is asked for its parameters by the actual node's field of the same name.
    const FieldType *type = actual && actual->type ? schema_field(actual->type, field) : NULL;
    if (type && (type->kind == kind || type->kind == other))
        return actual;
    if (type)
        library_failed("%s of %s is of another kind", field, actual->type->name);
    else if (actual)
        library_failed("there is no field '%s' in %s", field, actual->type ? actual->type->name : "this node");
    return NULL;
}

bool talus_get_bool(const TalusWorld *world, TalusNode id, const char *field, bool *value)
{
    const SceneNode *node = with_field(world, id, field, FIELD_SF_BOOL, FIELD_SF_BOOL);
    if (node && value)
        *value = scene_bool(node, field);
    return node != NULL;
}

bool talus_get_int(const TalusWorld *world, TalusNode id, const char *field, int *value)
{
    const SceneNode *node = with_field(world, id, field, FIELD_SF_INT32, FIELD_SF_INT32);
    if (node && value)
        *value = scene_int(node, field);
    return node != NULL;
}

bool talus_get_double(const TalusWorld *world, TalusNode id, const char *field, double *value)
{
    const SceneNode *node = with_field(world, id, field, FIELD_SF_FLOAT, FIELD_SF_FLOAT);
    if (node && value)
        *value = scene_float(node, field);
    return node != NULL;
}

bool talus_get_vector(const TalusWorld *world, TalusNode id, const char *field, TalusVector *value)
{
    const SceneNode *node = with_field(world, id, field, FIELD_SF_VEC3F, FIELD_SF_COLOR);
    if (node && value)
        *value = vector_out(scene_vec3(node, field));
    return node != NULL;
}

const char *talus_get_string(const TalusWorld *world, TalusNode id, const char *field)
{
    const SceneNode *node = with_field(world, id, field, FIELD_SF_STRING, FIELD_SF_STRING);
    return node ? scene_string(node, field) : NULL;
}

TalusNode talus_get_node(const TalusWorld *world, TalusNode id, const char *field, int index)
{
    const SceneNode *node = with_field(world, id, field, FIELD_SF_NODE, FIELD_MF_NODE);
    if (!node || index < 0)
        return TALUS_NONE;
    if (schema_field(node->type, field)->kind == FIELD_SF_NODE)
        return index == 0 ? library_id(scene_child(node, field)) : TALUS_NONE;
    const FieldList *list = scene_list(node, field);
    return index < list->count ? library_id(scene_list_node(list, index)) : TALUS_NONE;
}

// All kinds of fields that are numbers give doubles here: callers in other languages have one function. Returns the
// count that there is, which may be above the capacity.
int talus_get_numbers(const TalusWorld *world, TalusNode id, const char *field, double *values, int capacity)
{
    if (!library_given(world, field, "field"))
        return -1;
    bring_up_to_date(world, field);
    const SceneNode *node = scene_actual(library_node(world, id));
    const FieldType *type = node && node->type ? schema_field(node->type, field) : NULL;
    if (!type) {
        if (node)
            library_failed("there is no field '%s' in %s", field, node->type ? node->type->name : "this node");
        return -1;
    }
    if (!values)
        capacity = 0;
    FieldValue value = scene_value(node, type);
    FieldKind item = field_kind_item(type->kind);
    bool is_list = field_kind_is_list(type->kind);
    int per_item = item == FIELD_SF_INT32 || item == FIELD_SF_BOOL ? 1 : field_kind_doubles(item);
    if (per_item == 0)
        return -1;
    int count = is_list ? value.list->count * per_item : per_item;
    for (int i = 0; i < count && i < capacity; i++) {
        if (item == FIELD_SF_INT32)
            values[i] = is_list ? value.list->ints[i] : value.i;
        else if (item == FIELD_SF_BOOL)
            values[i] = is_list ? value.list->bools[i] : value.b;
        else if (is_list)
            values[i] = value.list->numbers[i];
        else
            values[i] = item == FIELD_SF_FLOAT ? value.f : value.v[i];
    }
    return count;
}

// Ends a write: what it reaches takes effect.
static bool changed(TalusWorld *world)
{
    sim_end_write(world->sim);
    return library_told(world, true);
}

bool talus_set_bool(TalusWorld *world, TalusNode id, const char *field, bool value)
{
    if (!library_own(world))
        return false;
    SceneNode *node = with_field(world, id, field, FIELD_SF_BOOL, FIELD_SF_BOOL);
    if (!node)
        return false;
    sim_begin_write(world->sim);
    scene_set_bool(sim_scene(world->sim), node, field, value);
    return changed(world);
}

bool talus_set_int(TalusWorld *world, TalusNode id, const char *field, int value)
{
    if (!library_own(world))
        return false;
    SceneNode *node = with_field(world, id, field, FIELD_SF_INT32, FIELD_SF_INT32);
    if (!node)
        return false;
    sim_begin_write(world->sim);
    scene_set_int(sim_scene(world->sim), node, field, value);
    return changed(world);
}

bool talus_set_double(TalusWorld *world, TalusNode id, const char *field, double value)
{
    if (!library_own(world))
        return false;
    SceneNode *node = with_field(world, id, field, FIELD_SF_FLOAT, FIELD_SF_FLOAT);
    if (!node || !isfinite(value))
        return node ? library_failed("%s: %g is no number that a field can have", field, value) : false;
    sim_begin_write(world->sim);
    scene_set_float(sim_scene(world->sim), node, field, value);
    return changed(world);
}

bool talus_set_vector(TalusWorld *world, TalusNode id, const char *field, TalusVector value)
{
    if (!library_own(world))
        return false;
    SceneNode *node = with_field(world, id, field, FIELD_SF_VEC3F, FIELD_SF_COLOR);
    if (!node)
        return false;
    if (!field_type_holds(schema_field(node->type, field), (double[]){ value.x, value.y, value.z }, 3))
        return library_failed("%s: %g %g %g is no vector that it can have", field, value.x, value.y, value.z);
    sim_begin_write(world->sim);
    scene_set_vec3(sim_scene(world->sim), node, field, vector_in(value));
    return changed(world);
}

bool talus_set_string(TalusWorld *world, TalusNode id, const char *field, const char *value)
{
    if (!library_own(world))
        return false;
    SceneNode *node = with_field(world, id, field, FIELD_SF_STRING, FIELD_SF_STRING);
    if (!node || !library_given(world, value, "value"))
        return false;
    sim_begin_write(world->sim);
    scene_set_string(sim_scene(world->sim), node, field, value);
    return changed(world);
}

static int numbers_per_item(FieldKind item)
{
    return item == FIELD_SF_INT32 || item == FIELD_SF_BOOL ? 1 : field_kind_doubles(item);
}

static bool numbers_fit(const FieldType *type, const double *values, int count)
{
    for (int i = 0; i < count && field_kind_item(type->kind) == FIELD_SF_INT32; i++)
        if (!(fabs(values[i]) <= INT32_MAX))
            return false;
    return field_type_holds(type, values, count);
}

static void set_list(Sim *sim, SceneNode *node, const FieldType *type, const double *values, int count)
{
    FieldKind item = field_kind_item(type->kind);
    assert_debug(field_kind_is_list(type->kind) && count % numbers_per_item(item) == 0);
    FieldList list = { .count = count / numbers_per_item(item) };
    list.items = memory_alloc_array((size_t)count + 1, sizeof *values);
    for (int i = 0; i < count; i++) {
        if (item == FIELD_SF_INT32)
            list.ints[i] = (int32_t)values[i];
        else if (item == FIELD_SF_BOOL)
            list.bools[i] = values[i] != 0.0;
        else
            list.numbers[i] = values[i];
    }
    sim_set_value(sim, node, type, (FieldValue){ .list = &list });
    free(list.items);
}

// The count must be what the field takes, or a multiple of it for lists: part of a vector would leave the rest as it
// was by chance.
bool talus_set_numbers(TalusWorld *world, TalusNode id, const char *field, const double *values, int count)
{
    if (!library_own(world))
        return false;
    SceneNode *node = scene_actual(library_node(world, id));
    const FieldType *type = node && node->type && library_given(world, field, "field") ? schema_field(node->type, field)
                                                                                       : NULL;
    if (!type || count < 0 || !library_given(world, count > 0 ? (const void *)values : "", "values"))
        return false;
    FieldKind item = field_kind_item(type->kind);
    int per_item = numbers_per_item(item);
    bool is_list = field_kind_is_list(type->kind);
    if (per_item == 0 || (is_list ? count % per_item != 0 : count != per_item))
        return library_failed("%s takes %s%d numbers", field, is_list ? "a multiple of " : "", per_item);
    if (!numbers_fit(type, values, count))
        return library_failed("%s: a number is not finite, or beyond what it can have", field);
    if (is_list) {
        set_list(world->sim, node, type, values, count);
        return library_told(world, true);
    }
    FieldValue value = { 0 };
    if (item == FIELD_SF_INT32)
        value.i = (int32_t)values[0];
    else if (item == FIELD_SF_BOOL)
        value.b = values[0] != 0.0;
    else if (item == FIELD_SF_FLOAT)
        value.f = values[0];
    else
        memcpy(value.v, values, sizeof(double) * (size_t)count);
    sim_set_value(world->sim, node, type, value);
    return library_told(world, true);
}

TalusNode talus_insert(TalusWorld *world, TalusNode parent, const char *field, int index, const char *text)
{
    if (!library_own(world))
        return TALUS_NONE;
    SceneNode *holder = library_node(world, parent);
    if (!holder || !library_given(world, field, "field") || !library_given(world, text, "text"))
        return TALUS_NONE;
    const SceneNode *node = sim_insert(world->sim, holder, field, index, text, strlen(text));
    library_devices_changed(world);
    library_told(world, true);
    return library_id(scene_actual(node));
}

bool talus_remove(TalusWorld *world, TalusNode id)
{
    if (!library_own(world))
        return false;
    SceneNode *node = library_node(world, id);
    if (!node)
        return false;
    bool is_gone = sim_remove(world->sim, node);
    library_devices_changed(world);
    return library_told(world, is_gone);
}
