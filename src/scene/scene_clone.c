// Deep copies. Inside a copy everything that referred to the original (USE, connected fields, parameters shared with
// the tree of an instance) refers to the copy.
#include "base/hash.h"
#include "base/memory.h"
#include "scene/scene.h"
#include "scene/scene_internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct ClonePair {
    const SceneNode *from;
    SceneNode *to;
} ClonePair;

enum { FEW_PAIRS = 16 };

typedef struct Cloner {
    Scene *scene;
    SceneNode *instance;  // of a PROTO's body: what its connections now name; else NULL
    bool remembers_all;   // inside of an instance with its tree, where a node can hang in two places
    ClonePair *pairs;     // open addressing, by the id of the original
    int pair_count, pair_slots;
    ClonePair few[FEW_PAIRS];  // most bodies have few names
} Cloner;

static ClonePair *pair_slot(ClonePair *pairs, int slots, const SceneNode *from)
{
    assert_debug(from && slots > 0 && (slots & (slots - 1)) == 0);
    uint64_t slot = hash_combine(0, from->id);
    while (pairs[slot & (uint64_t)(slots - 1)].from && pairs[slot & (uint64_t)(slots - 1)].from != from)
        slot++;
    return &pairs[slot & (uint64_t)(slots - 1)];
}

static SceneNode *copy_of(const Cloner *cloner, const SceneNode *from)
{
    return cloner->pair_count ? pair_slot(cloner->pairs, cloner->pair_slots, from)->to : NULL;
}

// What can be referred to has a name or is an instance.
static void remember(Cloner *cloner, const SceneNode *from, SceneNode *to)
{
    assert_debug(to);
    if (from->kind == SCENE_NODE_INSTANCE && from->target)
        cloner->remembers_all = true;
    if (!cloner->remembers_all && !from->def && from->kind != SCENE_NODE_INSTANCE)
        return;
    if (cloner->pair_count * 2 >= cloner->pair_slots) {
        int slots = cloner->pair_slots ? cloner->pair_slots * 2 : 32;
        ClonePair *pairs = memory_alloc_array((size_t)slots, sizeof *pairs);
        for (int i = 0; i < cloner->pair_slots; i++)
            if (cloner->pairs[i].from)
                *pair_slot(pairs, slots, cloner->pairs[i].from) = cloner->pairs[i];
        if (cloner->pairs != cloner->few)
            free(cloner->pairs);
        cloner->pairs = pairs;
        cloner->pair_slots = slots;
    }
    ClonePair *pair = pair_slot(cloner->pairs, cloner->pair_slots, from);
    assert_debug(cloner->pair_count < cloner->pair_slots);
    if (!pair->from)
        cloner->pair_count++;
    *pair = (ClonePair){ from, to };
}

static SceneNode *clone_node(Cloner *cloner, const SceneNode *from, SceneNode *parent);

// A node given as a parameter hangs in two places: it is copied once, and its parent is the copy of its parent.
static SceneNode *clone_child(Cloner *cloner, const SceneNode *from, const SceneNode *from_parent, SceneNode *parent)
{
    if (!from)
        return NULL;
    SceneNode *to = cloner->remembers_all ? copy_of(cloner, from) : NULL;
    if (!to)
        return clone_node(cloner, from, parent);
    if (from->parent == from_parent)
        to->parent = parent;
    return to;
}

static FieldValue clone_value(Cloner *cloner, const SceneField *field, const SceneNode *from, SceneNode *to)
{
    FieldValue value = field->value;
    if (field->type->kind == FIELD_SF_NODE) {
        value.node = clone_child(cloner, value.node, from, to);
    } else if (field->type->kind == FIELD_MF_NODE) {
        FieldList *copy = scene_take(cloner->scene, sizeof *copy);
        copy->count = copy->capacity = value.list->count;
        copy->nodes = copy->count ? scene_take(cloner->scene, (size_t)copy->count * sizeof *copy->nodes) : NULL;
        for (int i = 0; i < copy->count; i++)
            copy->nodes[i] = clone_child(cloner, value.list->nodes[i], from, to);
        value.list = copy;
    } else if (field_kind_is_list(field->type->kind) && !cloner->instance) {
        value.list = scene_list_copy(cloner->scene, value.list, field_kind_item(field->type->kind), 0);
    } else if (field_kind_is_list(field->type->kind) && value.list->capacity) {
        FieldList *shared = scene_take(cloner->scene, sizeof *shared);
        *shared = *value.list;
        shared->capacity = 0;
        value.list = shared;
    }
    return value;
}

// A connected field that shares its parameter's list goes on sharing it in the copy.
static bool share_with_parameter(const Cloner *cloner, const SceneNode *from_instance, const SceneNode *to_instance,
                                 const SceneField *from, SceneField *to)
{
    assert_debug(from->parameter_index >= 0 && from->parameter_index < from_instance->proto->parameter_count);
    (void)cloner;
    const FieldType *parameter = &from_instance->proto->parameters[from->parameter_index];
    const SceneField *from_field = scene_own_field(from_instance, parameter);
    const SceneField *to_field = scene_own_field(to_instance, parameter);
    if (!from_field || !to_field || !field_kind_is_list(from->type->kind) || from_field->value.list != from->value.list)
        return false;
    to->value = to_field->value;
    return true;
}

static void clone_fields(Cloner *cloner, const SceneNode *from, SceneNode *to)
{
    assert_debug(to->field_count == 0);
    if (!from->field_count)
        return;
    SceneField *fields = scene_take(cloner->scene, from->field_count * sizeof *fields);
    to->fields = fields;
    to->field_capacity = from->field_count;
    for (int i = 0; i < from->field_count; i++) {
        const SceneField *source = &from->fields[i];
        SceneField *field = &fields[i];
        *field = *source;
        bool is_shared = false;
        if (source->parameter_index >= 0 && source->instance_id) {
            const SceneNode *original = NULL;
            for (const SceneNode *above = from; above && !original; above = above->parent)
                if (above->id == source->instance_id)
                    original = above;
            SceneNode *instance = original ? copy_of(cloner, original) : NULL;
            if (instance) {
                field->instance_id = instance->id;
                is_shared = share_with_parameter(cloner, original, instance, source, field);
            } else if (!original) {
                field->parameter_index = -1;  // the copy leaves the PROTO that it was part of
                field->instance_id = 0;
            }
        } else if (source->parameter_index >= 0 && cloner->instance) {
            field->instance_id = cloner->instance->id;
        }
        if (!is_shared)
            field->value = clone_value(cloner, source, from, to);
        else if (field->type->kind == FIELD_MF_NODE)
            for (int j = 0; j < field->value.list->count; j++)
                if (source->value.list->nodes[j] && source->value.list->nodes[j]->parent == from)
                    field->value.list->nodes[j]->parent = to;
        to->field_count = (uint16_t)(i + 1);
    }
}

static void clone_rare(Scene *scene, const SceneNode *from, SceneNode *to)
{
    const SceneRare *source = scene_rare(scene, from);
    if (!source)
        return;
    SceneRare copy = *source;  // the table may move
    SceneRare *rare = scene_rare_add(scene, to);
    uint32_t key = rare->key;
    *rare = copy;
    rare->key = key;
    rare->extras = rare->last_extra = NULL;
    rare->hidden = rare->last_hidden = NULL;
    for (const SceneExtra *extra = copy.extras; extra; extra = extra->next)
        scene_extra_add(scene, to, extra->is_comment, extra->before, extra->text);
    for (const SceneHidden *hidden = copy.hidden; hidden; hidden = hidden->next)
        scene_hidden_add(scene, to, hidden);
}

static SceneNode *clone_node(Cloner *cloner, const SceneNode *from, SceneNode *parent)
{
    SceneNode *to = scene_new_node(cloner->scene);
    uint32_t id = to->id;
    *to = *from;
    to->id = id;
    to->parent = parent;
    to->fields = NULL;
    to->field_count = to->field_capacity = 0;
    to->is_removed = false;
    if (cloner->instance)
        to->in_proto = true;
    else
        clone_rare(cloner->scene, from, to);
    remember(cloner, from, to);
    clone_fields(cloner, from, to);
    if ((from->kind == SCENE_NODE_INSTANCE || from->kind == SCENE_NODE_UNKNOWN) && from->target)
        to->target = clone_child(cloner, from->target, from, to);
    else if (from->kind == SCENE_NODE_USE && copy_of(cloner, from->target))
        to->target = copy_of(cloner, from->target);
    return to;
}

static SceneNode *run(Cloner *cloner, const SceneNode *from, SceneNode *parent)
{
    cloner->pairs = cloner->few;
    cloner->pair_slots = FEW_PAIRS;
    SceneNode *to = clone_node(cloner, from, parent);
    if (cloner->pairs != cloner->few)
        free(cloner->pairs);
    return to;
}

SceneNode *scene_node_clone(Scene *scene, const SceneNode *node)
{
    if (!node)
        return NULL;
    Cloner cloner = { .scene = scene };
    return run(&cloner, node, NULL);
}

SceneNode *scene_node_clone_body(Scene *scene, const SceneNode *body, SceneNode *instance)
{
    Cloner cloner = { .scene = scene, .instance = instance };
    SceneNode *to = run(&cloner, body, instance);
    instance->target = to;
    return to;
}
