// proto_make.c - the tree of a PROTO instance: its body (proto_bodies.c) is copied, and its connected fields are given
// the values of the parameters.
#include "formats/proto/proto_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static bool make_instance(ProtoMaker *maker, SceneNode *instance);
static void make_inside(ProtoMaker *maker, SceneNode *node, const SceneNode *instance, bool *taken);

// ---- parameters ----

// A node of a default, which belongs to the definition, for this instance.
static SceneNode *copy_default(ProtoMaker *maker, SceneNode *node, SceneNode *instance)
{
    if (!node)
        return NULL;
    SceneNode *target = instance->target;
    SceneNode *copy = scene_node_clone_body(maker->scene, node, instance);
    instance->target = target;
    make_inside(maker, copy, NULL, NULL);
    return copy;
}

static void mark_in_proto(SceneNode *node, bool is_inside)
{
    if (!node)
        return;
    node->in_proto = is_inside;
    for (int i = 0; i < node->field_count; i++) {
        const SceneField *field = &node->fields[i];
        if (field->type->kind == FIELD_SF_NODE)
            mark_in_proto(field->value.node, is_inside);
        else if (field->type->kind == FIELD_MF_NODE)
            for (int j = 0; j < field->value.list->count; j++)
                mark_in_proto(field->value.list->nodes[j], is_inside);
    }
}

// The node for one more place that its parameter is connected to.
static SceneNode *copy_given(ProtoMaker *maker, const SceneNode *node)
{
    SceneNode *copy = scene_node_clone(maker->scene, node);
    mark_in_proto(copy, true);
    return copy;
}

// A parameter that holds nodes gives them to the first field connected to it; others get copies.
static FieldValue node_value(ProtoMaker *maker, SceneNode *instance, int parameter, bool *taken)
{
    assert(parameter >= 0 && parameter < instance->proto->parameter_count);
    const FieldType *type = &instance->proto->parameters[parameter];
    const SceneField *own = proto_own_field(instance, parameter);
    FieldValue value = own ? own->value : type->value;
    if (own && !taken[parameter]) {
        taken[parameter] = true;
        return value;
    }
    if (type->kind == FIELD_SF_NODE) {
        value.node = !value.node ? NULL
                     : own       ? copy_given(maker, value.node)
                                 : copy_default(maker, value.node, instance);
        return value;
    }
    FieldList *list = arena_alloc(scene_arena(maker->scene), sizeof *list);
    scene_list_reserve(maker->scene, list, FIELD_SF_NODE, value.list->count);
    for (int i = 0; i < value.list->count; i++) {
        SceneNode *node = value.list->nodes[i];
        SceneNode *copy = own ? copy_given(maker, node) : copy_default(maker, node, instance);
        if (copy)
            list->nodes[list->count++] = copy;
    }
    value.list = list;
    return value;
}

static void connect_field(ProtoMaker *maker, SceneNode *holder, int field_index, SceneNode *instance, bool *taken)
{
    assert_debug(field_index >= 0 && field_index < holder->field_count);
    int parameter = holder->fields[field_index].parameter_index;
    assert(parameter >= 0 && parameter < instance->proto->parameter_count);
    const FieldType *type = &instance->proto->parameters[parameter];
    bool holds_nodes = field_kind_item(type->kind) == FIELD_SF_NODE;
    const SceneField *own = proto_own_field(instance, parameter);
    FieldValue value = holds_nodes ? node_value(maker, instance, parameter, taken) : own ? own->value : type->value;
    SceneField *field = &holder->fields[field_index];
    if (!holds_nodes && !own)
        return;  // the copy of the body has the default already
    value = scene_value_as(maker->scene, value, type->kind, field->type->kind);
    field->value = scene_value_turned(maker->scene, holder, field->type, value, false);
    if (own)
        field->pos = own->pos;  // relative URLs are those of the file that gives the value
    if (field->type->kind == FIELD_SF_NODE)
        scene_adopt(field->value.node, holder, field->type);
    else if (field->type->kind == FIELD_MF_NODE)
        for (int i = 0; i < field->value.list->count; i++)
            scene_adopt(field->value.list->nodes[i], holder, field->type);
}

// Goes through a fresh copy: connects its fields to `instance` and makes the instances in it, those in their parameters
// first. Nodes that come in from outside are complete already.
static void make_inside(ProtoMaker *maker, SceneNode *node, const SceneNode *instance, bool *taken)
{
    assert_debug(!instance || instance->kind == SCENE_NODE_INSTANCE);
    if (!node || node->kind == SCENE_NODE_USE || node->kind == SCENE_NODE_UNKNOWN)
        return;
    for (int i = 0; i < node->field_count; i++) {
        const SceneField *field = &node->fields[i];
        if (instance && field->parameter_index >= 0 && field->instance_id == instance->id) {
            connect_field(maker, node, i, (SceneNode *)instance, taken);
        } else if (field->type->kind == FIELD_SF_NODE) {
            make_inside(maker, field->value.node, instance, taken);
        } else if (field->type->kind == FIELD_MF_NODE) {
            const FieldList *list = field->value.list;
            for (int j = 0; j < list->count; j++)
                make_inside(maker, list->nodes[j], instance, taken);
        }
    }
    if (node->kind == SCENE_NODE_INSTANCE && !node->target)
        make_instance(maker, node);
}

// ---- defaults with names ----

static bool has_names(const SceneNode *node)
{
    if (!node)
        return false;
    if (node->def && node->kind != SCENE_NODE_USE)
        return true;
    for (int i = 0; i < node->field_count; i++) {
        const SceneField *field = &node->fields[i];
        if (field->type->kind == FIELD_SF_NODE && has_names(field->value.node))
            return true;
        for (int k = 0; field->type->kind == FIELD_MF_NODE && k < field->value.list->count; k++)
            if (has_names(field->value.list->nodes[k]))
                return true;
    }
    return false;
}

bool proto_default_has_names(const SceneProto *proto, int parameter)
{
    assert_debug(parameter >= 0 && parameter < proto->parameter_count);
    const FieldType *type = &proto->parameters[parameter];
    if (type->kind == FIELD_SF_NODE)
        return has_names(type->value.node);
    for (int i = 0; type->kind == FIELD_MF_NODE && i < type->value.list->count; i++)
        if (has_names(type->value.list->nodes[i]))
            return true;
    return false;
}

static SceneNode *own_default(Reader *reader, SceneNode *instance, const SceneNode *node)
{
    assert_debug(instance->kind == SCENE_NODE_INSTANCE);
    if (!node)
        return NULL;
    SceneNode *target = instance->target;
    SceneNode *copy = scene_node_clone_body(reader->scene, node, instance);
    instance->target = target;
    mark_in_proto(copy, false);
    ProtoMaker maker = { reader->protos->library, reader->scene, reader->diags };
    if (!reader->is_body)
        make_inside(&maker, copy, NULL, NULL);
    return copy;
}

SceneField proto_own_default(Reader *reader, SceneNode *instance, int parameter)
{
    assert(parameter >= 0 && parameter < instance->proto->parameter_count);
    const FieldType *type = &instance->proto->parameters[parameter];
    SceneField field = {
        .type = type, .value = type->value, .pos = instance->pos, .parameter_index = -1, .is_default = true
    };
    if (type->kind == FIELD_SF_NODE) {
        field.value.node = own_default(reader, instance, type->value.node);
    } else if (type->kind == FIELD_MF_NODE) {
        FieldList *list = arena_alloc(scene_arena(reader->scene), sizeof *list);
        scene_list_reserve(reader->scene, list, FIELD_SF_NODE, type->value.list->count);
        for (int i = 0; i < type->value.list->count; i++)
            list->nodes[list->count++] = own_default(reader, instance, type->value.list->nodes[i]);
        field.value.list = list;
    }
    return field;
}

// ---- instances ----

static void report_cycle(ProtoMaker *maker, Definition *definition, const SceneNode *instance)
{
    assert_debug(maker->library->chain_count > 0);
    if (definition->reported_cycle)
        return;
    definition->reported_cycle = true;
    ProtoLibrary *library = maker->library;
    Text path = { 0 };
    int first = library->chain_count - 1;
    while (first > 0 && library->chain[first] != definition)
        first--;
    for (int i = first; i < library->chain_count; i++)
        text_printf(&path, "%s > ", library->chain[i]->proto.name);
    diag_error(maker->diags, instance->pos, "the PROTO '%s' contains itself: %s%s", definition->proto.name, path.data,
               definition->proto.name);
    text_free(&path);
}

static bool may_enter(ProtoMaker *maker, Definition *definition, const SceneNode *instance)
{
    ProtoLibrary *library = maker->library;
    if (definition->in_progress) {
        report_cycle(maker, definition, instance);
        return false;
    }
    if (library->chain_count >= library->limits.proto_depth) {
        if (!library->reported_depth)
            diag_error(maker->diags, instance->pos, "PROTOs are nested deeper than %lld instances",
                       (long long)library->limits.proto_depth);
        library->reported_depth = true;
        return false;
    }
    return true;
}

static bool has_room(ProtoMaker *maker, int node_count, const SceneNode *instance)
{
    assert_debug(node_count >= 0);
    ProtoLibrary *library = maker->library;
    if ((int64_t)scene_node_count(maker->scene) + node_count <= library->limits.nodes)
        return true;
    if (!library->reported_nodes)
        diag_error(maker->diags, instance->pos,
                   "more than %lld nodes with those that PROTOs make; the rest is left out",
                   (long long)library->limits.nodes);
    library->reported_nodes = true;
    return false;
}

// An empty body stands where a PROTO was not found, if what the file says of it has a place: a Robot if it has a
// controller, else a Solid. Others (appearances, backgrounds) make nothing.
static bool make_placeholder(ProtoMaker *maker, SceneNode *instance)
{
    assert_debug(instance->proto->is_placeholder);
    bool has_place = false, is_robot = false;
    for (int i = 0; i < instance->field_count; i++) {
        has_place = true;
        is_robot = is_robot || !strcmp(instance->fields[i].type->name, "controller");
    }
    if (!has_place)
        return false;
    SceneNode *node = scene_node_create(maker->scene, schema_type(is_robot ? "Robot" : "Solid"), instance->pos);
    node->in_proto = true;
    node->is_upgraded = true;
    node->parent = instance;
    instance->target = node;
    instance->type = node->type;
    bool taken[8] = { false };
    for (int i = 0; i < instance->proto->parameter_count; i++) {
        const FieldType *parameter = &instance->proto->parameters[i];
        if (!strcmp(parameter->name, "controller"))
            continue;  // its devices are missing, so nothing is started for it
        SceneField *field = scene_field_add(maker->scene, node, schema_field(node->type, parameter->name),
                                            instance->pos);
        field->parameter_index = (int16_t)i;
        field->instance_id = instance->id;
        field->value = parameter->value;
        connect_field(maker, node, (int)(field - node->fields), instance, taken);
    }
    return true;
}

// A body is read once and cloned for each instance; only templates make another one, by their parameters. The chain
// of definitions under way finds PROTOs that contain themselves.
static bool make_instance(ProtoMaker *maker, SceneNode *instance)
{
    assert_debug(instance->kind == SCENE_NODE_INSTANCE && instance->proto);
    ProtoLibrary *library = maker->library;
    if (instance->proto->is_placeholder)
        return make_placeholder(maker, instance);
    Definition *definition = instance->proto->definition;
    if (!definition || definition->state == DEFINITION_BROKEN || !may_enter(maker, definition, instance))
        return false;
    proto_check_restrictions(maker, definition, instance);
    int node_count = 0;
    SceneNode *body;
    if (definition->proto.is_template) {
        body = proto_template_body(maker, definition, instance, &node_count);
    } else {
        body = proto_plain_body(definition, maker->diags);
        node_count = definition->body_nodes;
    }
    if (!body || !has_room(maker, node_count, instance))
        return false;
    if (!definition->reported_unused)
        proto_check_derived(definition, body, maker->diags);
    proto_report_unused(definition, maker->diags);
    *memory_push(library->chain, library->chain_count, library->chain_capacity) = definition;
    definition->in_progress = true;
    bool *taken = memory_alloc_array((size_t)instance->proto->parameter_count + 1, sizeof *taken);
    SceneNode *root = scene_node_clone_body(maker->scene, body, instance);
    make_inside(maker, root, instance, taken);
    free(taken);
    if (!library->without_upgrade)
        upgrade_instance(maker->scene, instance, maker->diags);
    definition->in_progress = false;
    library->chain_count--;
    const SceneNode *actual = scene_actual(instance);
    instance->type = actual ? actual->type : NULL;
    definition->proto.base_type = instance->type;
    return true;
}

bool proto_make(ProtoLibrary *library, Scene *scene, SceneNode *instance, DiagSink *diags)
{
    assert_debug(instance->kind == SCENE_NODE_INSTANCE);
    ProtoMaker maker = { library, scene, diags };
    return make_instance(&maker, instance);
}

// ---- regeneration ----

// Takes the old tree away, but not what was given to it from outside.
static void remove_tree(SceneNode *node, const SceneNode *instance)
{
    assert_debug(instance->kind == SCENE_NODE_INSTANCE);
    if (!node || node->is_removed || !node->in_proto)
        return;
    node->is_removed = true;
    for (int i = 0; i < node->field_count; i++) {
        const SceneField *field = &node->fields[i];
        if (field->type->kind == FIELD_SF_NODE)
            remove_tree(field->value.node, instance);
        else if (field->type->kind == FIELD_MF_NODE)
            for (int j = 0; j < field->value.list->count; j++)
                remove_tree(field->value.list->nodes[j], instance);
    }
    if (node->kind == SCENE_NODE_INSTANCE)
        remove_tree(node->target, instance);
}

// Whether the node may still be where it is, now that it is of another type.
static bool still_fits(const SceneNode *instance, DiagSink *diags)
{
    const SceneNode *actual = scene_actual(instance), *holder = instance->parent;
    for (int i = 0; actual && holder && i < holder->field_count; i++) {
        const SceneField *field = &holder->fields[i];
        bool is_held = field->type->kind == FIELD_SF_NODE && field->value.node == instance;
        for (int k = 0; field->type->kind == FIELD_MF_NODE && k < field->value.list->count; k++)
            is_held = is_held || field->value.list->nodes[k] == instance;
        if (!is_held || schema_allows_type(field->type->allowed, actual->type))
            continue;
        diag_error(diags, instance->pos, "%s has become a %s, which cannot stand in %s; it stays as it was",
                   instance->proto->name, actual->type->name, field->type->name);
        return false;
    }
    return true;
}

bool proto_regenerate(Scene *scene, SceneNode *instance, DiagSink *diags)
{
    ProtoLibrary *library = proto_library(scene);
    if (!library || instance->kind != SCENE_NODE_INSTANCE)
        return false;
    SceneNode *old = instance->target;
    const NodeType *old_type = instance->type;
    instance->target = NULL;
    proto_lock(scene);
    scene_piece_begin(scene);  // the old tree goes as a whole
    bool is_made = proto_make(library, scene, instance, diags);
    scene_piece_end(scene);
    proto_unlock(scene);
    if (is_made && !still_fits(instance, diags)) {
        remove_tree(instance->target, instance);
        is_made = false;
    }
    if (!is_made) {
        instance->target = old;
        instance->type = old_type;
        return false;
    }
    remove_tree(old, instance);
    formats_check_node(scene, instance, instance->parent, instance->in_bounding, diags);
    return true;
}

bool proto_varies(const SceneNode *instance)
{
    const Definition *definition = instance->kind == SCENE_NODE_INSTANCE && instance->proto
                                       ? instance->proto->definition
                                       : NULL;
    return definition && definition->is_volatile && definition->proto.is_template
           && template_uses_files(definition->body_lexer.at,
                                  (size_t)(definition->body_end - definition->body_lexer.at));
}

bool proto_parameter_regenerates(const SceneNode *instance, const FieldType *parameter)
{
    const Definition *definition = instance->proto ? instance->proto->definition : NULL;
    return definition && definition->proto.is_template && definition->is_read[parameter->index];
}
