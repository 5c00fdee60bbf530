// proto_make.c - the tree of a PROTO instance: its body is read (once, or once per text that its template makes),
// copied, and its connected fields are given the values of the parameters.
#include "formats/proto/proto_internal.h"

#include "base/hash.h"
#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct Maker {
    ProtoLibrary *library;
    Scene *scene;
    DiagSink *diags;
} Maker;

static bool make_instance(Maker *maker, SceneNode *instance);
static void make_inside(Maker *maker, SceneNode *node, const SceneNode *instance, bool *taken);

// ------------------------------------------------------------------------------------------------------ reading bodies

static SourcePos in_file(const Definition *definition, SourcePos pos, DiagSink *diags)
{
    pos.file = diag_file(diags, definition->proto.path);
    return pos;
}

// Everything of the definition's release becomes what the newest schema says. The root may become another node.
static SceneNode *upgrade_body(Definition *definition, SceneNode *root, DiagSink *diags)
{
    ProtoLibrary *library = definition->library;
    if (!root || library->without_upgrade)
        return root;
    SceneNode *holder = scene_node_create(library->definitions, schema_type("Group"), root->pos);
    SceneNode *children[] = { root };
    FieldList list = { .count = 1, .nodes = children };
    scene_set_value(library->definitions, holder, schema_field(holder->type, "children"),
                    (FieldValue){ .list = &list });
    upgrade_nodes(library->definitions, holder, definition->proto.release, diags);
    const FieldList *upgraded = scene_list(holder, "children");
    root = upgraded->count > 0 ? upgraded->nodes[0] : NULL;
    if (root)
        root->parent = NULL;
    return root;
}

static SceneNode *read_body(Definition *definition, Reader *reader, int *node_count)
{
    ProtoLibrary *library = definition->library;
    int before = scene_node_count(library->definitions);
    reader->protos = definition->scope;
    reader->format = FORMAT_PROTO;
    reader->release = definition->proto.release;
    reader->parameters = definition->proto.parameters;
    reader->parameter_count = definition->proto.parameter_count;
    reader->parameter_used = definition->used;
    reader->is_body = true;
    SceneNode *root = NULL;
    if (reader->token.kind == TOKEN_BRACE_CLOSE || reader->token.kind == TOKEN_END) {
        reader_error(reader, reader->token.pos, "the body of the PROTO '%s' is empty", definition->proto.name);
        diag_hint(reader->diags, "a PROTO makes exactly one node");
    } else if (!reader_node(reader, &root) || !root) {
        root = NULL;
    } else if (reader->token.kind == TOKEN_WORD || reader->token.kind == TOKEN_BRACKET_OPEN) {
        char buffer[64];
        reader_error(reader, reader->token.pos, "the body of a PROTO is one node; what follows from %s on is ignored",
                     token_describe(&reader->token, buffer));
    } else if (reader->token.kind == TOKEN_END && !definition->proto.is_template) {
        reader_error(reader, reader->token.pos, "the body of the PROTO '%s' has no closing '}'",
                     definition->proto.name);
    }
    if (root && (root->kind == SCENE_NODE_USE || root->kind == SCENE_NODE_UNKNOWN)) {
        diag_error(reader->diags, root->pos, "the body of the PROTO '%s' makes no node", definition->proto.name);
        root = NULL;
    }
    root = upgrade_body(definition, root, reader->diags);
    *node_count = scene_node_count(library->definitions) - before;
    return root;
}

static SceneNode *read_plain_body(Definition *definition, DiagSink *diags)
{
    if (definition->is_body_read)
        return definition->body;
    definition->is_body_read = true;
    Reader reader;
    reader_init(&reader, definition->library->definitions, definition->text, definition->size,
                diag_file(diags, definition->proto.path), &definition->library->limits, diags);
    reader.lexer = definition->body_lexer;
    reader.lexer.diags = diags;
    reader.lexer.file = diag_file(diags, definition->proto.path);
    reader_advance(&reader);
    definition->body = read_body(definition, &reader, &definition->body_nodes);
    reader_deinit(&reader);
    return definition->body;
}

// ------------------------------------------------------------------------------------------------------------
// templates

static const SceneField *own_field(const SceneNode *instance, int parameter)
{
    const FieldType *type = &instance->proto->parameters[parameter];
    for (int i = 0; i < instance->field_count; i++)
        if (instance->fields[i].type == type)
            return &instance->fields[i];
    return NULL;
}

static const char *coordinate_system(const Scene *scene)
{
    enum { NODES_TO_LOOK_AT = 64, FIRST_ENU_RELEASE = 2020100 };
    for (uint32_t id = 1; id < NODES_TO_LOOK_AT && (int)id < scene_node_count(scene); id++) {
        const SceneNode *node = scene_find_id(scene, id);
        if (!node || node->kind != SCENE_NODE_PLAIN || strcmp(node->type->name, "WorldInfo"))
            continue;
        for (int i = 0; i < node->field_count; i++)
            if (!strcmp(node->fields[i].type->name, "coordinateSystem"))
                return node->fields[i].value.s;
    }
    return scene_release(scene) && scene_release(scene) < FIRST_ENU_RELEASE ? "NUE" : "ENU";
}

static SceneNode *read_generated(Definition *definition, const TemplateResult *result, DiagSink *diags, int *node_count)
{
    ProtoLibrary *library = definition->library;
    const char *text = result->text.data ? result->text.data : "";
    uint64_t hash[2] = { hash_bytes(text, result->text.length, 1), hash_bytes(text, result->text.length, 2) };
    for (GeneratedBody *body = definition->generated; body; body = body->next) {
        if (body->hash[0] == hash[0] && body->hash[1] == hash[1]) {
            *node_count = body->node_count;
            return body->root;
        }
    }
    Reader reader;
    uint16_t file = diag_file(diags, definition->proto.path);
    reader_init(&reader, library->definitions, "", 0, file, &library->limits, diags);
    lexer_init(&reader.lexer, text, result->text.length, file, diags);
    reader.lexer.line_map = result->line_of;
    reader.lexer.line_map_count = result->line_count;
    reader.previous_end = reader.lexer.at;
    reader_advance(&reader);
    GeneratedBody *body = arena_alloc(library->arena, sizeof *body);
    body->hash[0] = hash[0];
    body->hash[1] = hash[1];
    body->root = read_body(definition, &reader, &body->node_count);
    body->next = definition->generated;
    definition->generated = body;
    reader_deinit(&reader);
    *node_count = body->node_count;
    return body->root;
}

// Headers of those releases are also met above templates of later ones, which a look at the code tells apart.
static bool has_old_fields(const Definition *definition)
{
    enum { FIRST_RELEASE_WITH_FIELD_TABLES = 8100 };
    const char *begin = definition->body_lexer.at;
    int release = definition->proto.release;
    return definition->language == TEMPLATE_LUA && release && release < FIRST_RELEASE_WITH_FIELD_TABLES
           && !template_asks_for_value(begin, (size_t)(definition->body_end - begin));
}

// Evaluates the template with the parameters that its code reads and reads what comes out; the same text is read once.
static SceneNode *make_template_body(Maker *maker, Definition *definition, const SceneNode *instance, int *node_count)
{
    ProtoLibrary *library = definition->library;
    const SceneProto *proto = &definition->proto;
    if (library->without_templates) {
        if (!definition->is_body_read)
            diag_warning(maker->diags, in_file(definition, definition->pos, maker->diags),
                         "the template of the PROTO '%s' is not evaluated", proto->name);
        definition->is_body_read = true;
        return NULL;
    }
    TemplateField *fields = memory_alloc_array((size_t)proto->parameter_count + 1, sizeof *fields);
    int field_count = 0;
    for (int i = 0; i < proto->parameter_count; i++) {
        const SceneField *own = own_field(instance, i);
        if (definition->is_read[i])
            fields[field_count++] = (TemplateField){ &proto->parameters[i],
                                                     own ? own->value : proto->parameters[i].value };
    }
    char *real = path_real(library->arena, proto->path);
    TemplateJob job = {
        .path = proto->path,
        .text = definition->body_lexer.at,
        .size = (size_t)(definition->body_end - definition->body_lexer.at),
        .pos = { diag_file(maker->diags, proto->path), 1, definition->body_lexer.line },
        .language = definition->language,
        .fields = fields,
        .field_count = field_count,
        .has_old_fields = has_old_fields(definition),
        .limits = &library->limits,
        .files = &library->files,
        .budget = &library->template_budget,
        .context = { .world = library->world_path,
                     .proto = real ? real : proto->path,
                     .project_path = resolve_project_folder(library->resolver),
                     .webots_version = "R2025a",
                     .temporary_files_path = TEMPLATE_FILES_PATH,
                     .coordinate_system = coordinate_system(maker->scene),
                     .id = (int)instance->id,
                     .world_release = scene_release(maker->scene) },
    };
    TemplateResult result;
    SceneNode *body = NULL;
    if (template_eval(&job, &result, maker->diags)) {
        body = read_generated(definition, &result, maker->diags, node_count);
        template_result_free(&result);
    }
    free(fields);
    return body;
}

// ---------------------------------------------------------------------------------------------------------- parameters

static void mark_bounding(SceneNode *node)
{
    if (!node || node->in_bounding)
        return;
    node->in_bounding = true;
    mark_bounding(node->kind == SCENE_NODE_INSTANCE ? node->target : NULL);
    for (int i = 0; i < node->field_count; i++) {
        const SceneField *field = &node->fields[i];
        if (field->type->kind == FIELD_SF_NODE)
            mark_bounding(field->value.node);
        else if (field->type->kind == FIELD_MF_NODE)
            for (int j = 0; j < field->value.list->count; j++)
                mark_bounding(field->value.list->nodes[j]);
    }
}

static void adopt(SceneNode *child, SceneNode *holder, const FieldType *field)
{
    if (!child)
        return;
    child->parent = holder;
    if (holder->in_bounding || !strcmp(field->name, "boundingObject"))
        mark_bounding(child);
}

// A node of a default, which belongs to the definition, for this instance.
static SceneNode *copy_default(Maker *maker, SceneNode *node, SceneNode *instance)
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
static SceneNode *copy_given(Maker *maker, const SceneNode *node)
{
    SceneNode *copy = scene_node_clone(maker->scene, node);
    mark_in_proto(copy, true);
    return copy;
}

// A parameter that holds nodes gives them to the first field connected to it; others get copies.
static FieldValue node_value(Maker *maker, SceneNode *instance, int parameter, bool *taken)
{
    const FieldType *type = &instance->proto->parameters[parameter];
    const SceneField *own = own_field(instance, parameter);
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

static void connect_field(Maker *maker, SceneNode *holder, int field_index, SceneNode *instance, bool *taken)
{
    int parameter = holder->fields[field_index].is_parameter;
    const FieldType *type = &instance->proto->parameters[parameter];
    bool holds_nodes = field_kind_item(type->kind) == FIELD_SF_NODE;
    const SceneField *own = own_field(instance, parameter);
    FieldValue value = holds_nodes ? node_value(maker, instance, parameter, taken) : own ? own->value : type->value;
    SceneField *field = &holder->fields[field_index];
    if (!holds_nodes && !own)
        return;  // the copy of the body has the default already
    value = scene_value_as(maker->scene, value, type->kind, field->type->kind);
    field->value = scene_value_turned(maker->scene, holder, field->type, value, false);
    if (own)
        field->pos = own->pos;  // relative URLs are those of the file that gives the value
    if (field->type->kind == FIELD_SF_NODE)
        adopt(field->value.node, holder, field->type);
    else if (field->type->kind == FIELD_MF_NODE)
        for (int i = 0; i < field->value.list->count; i++)
            adopt(field->value.list->nodes[i], holder, field->type);
}

// Goes through a fresh copy: connects its fields to `instance` and makes the instances in it, those in their parameters
// first. Nodes that come in from outside are complete already.
static void make_inside(Maker *maker, SceneNode *node, const SceneNode *instance, bool *taken)
{
    if (!node || node->kind == SCENE_NODE_USE || node->kind == SCENE_NODE_UNKNOWN)
        return;
    for (int i = 0; i < node->field_count; i++) {
        const SceneField *field = &node->fields[i];
        if (instance && field->is_parameter >= 0 && field->is_instance == instance->id) {
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

// ---------------------------------------------------------------------------------------------- defaults with names

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
    if (!node)
        return NULL;
    SceneNode *target = instance->target;
    SceneNode *copy = scene_node_clone_body(reader->scene, node, instance);
    instance->target = target;
    mark_in_proto(copy, false);
    Maker maker = { reader->protos->library, reader->scene, reader->diags };
    if (!reader->is_body)
        make_inside(&maker, copy, NULL, NULL);
    return copy;
}

SceneField proto_own_default(Reader *reader, SceneNode *instance, int parameter)
{
    assert(parameter >= 0 && parameter < instance->proto->parameter_count);
    const FieldType *type = &instance->proto->parameters[parameter];
    SceneField field = {
        .type = type, .value = type->value, .pos = instance->pos, .is_parameter = -1, .is_default = true
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

// -------------------------------------------------------------------------------------------------------- restrictions

// Names that older releases have for a type: a restriction to one of them allows what the upgrade made of it.
static bool is_older_name(const char *name, const NodeType *type)
{
    if (!strcmp(name, "Transform") || !strcmp(name, "Pose"))
        return !strcmp(type->name, "Pose") || !strcmp(type->name, "Transform");
    const NodeType *named = schema_type(name);
    return named && (named->flags & NODE_REMOVED);
}

// Whether the node is of one of the names: its PROTO or its base type. What these are derived from counts where the
// restriction says so with a '+'.
static bool node_is_allowed(const Restriction *restriction, const SceneNode *node)
{
    for (int i = 0; i < restriction->values.count; i++) {
        const char *name = restriction->values.strings[i];
        bool with_derived = restriction->with_derived[i];
        const SceneNode *at = node;
        bool is_first = true;
        for (; at && at->kind != SCENE_NODE_PLAIN && at->kind != SCENE_NODE_UNKNOWN; at = at->target) {
            if (at->proto
                && ((!strcmp(at->proto->name, name) && (is_first || with_derived)) || at->proto->is_placeholder))
                return true;
            is_first = is_first && !at->proto;
        }
        if (!at || at->kind == SCENE_NODE_UNKNOWN || !strcmp(at->type->name, name)
            || (with_derived && schema_type_is(at->type, name)))
            return true;
        if (restriction->is_old && is_older_name(name, at->type))
            return true;
    }
    return false;
}

static bool value_is_allowed(const Restriction *restriction, FieldKind item, const void *value)
{
    const FieldList *allowed = &restriction->values;
    int doubles = field_kind_doubles(item);
    for (int i = 0; i < allowed->count; i++) {
        if (item == FIELD_SF_BOOL    ? allowed->bools[i] == *(const bool *)value
            : item == FIELD_SF_INT32 ? allowed->ints[i] == *(const int32_t *)value
            : item == FIELD_SF_STRING
                ? !strcmp(allowed->strings[i], *(const char *const *)value)
                : !memcmp(&allowed->numbers[i * doubles], value, (size_t)doubles * sizeof(double)))
            return true;
    }
    return false;
}

static bool item_is_allowed(const Restriction *restriction, FieldKind item, const FieldList *list, int index)
{
    switch (item) {
    case FIELD_SF_NODE: return !list->nodes[index] || node_is_allowed(restriction, list->nodes[index]);
    case FIELD_SF_BOOL: return value_is_allowed(restriction, item, &list->bools[index]);
    case FIELD_SF_INT32: return value_is_allowed(restriction, item, &list->ints[index]);
    case FIELD_SF_STRING: return value_is_allowed(restriction, item, &list->strings[index]);
    default: return value_is_allowed(restriction, item, &list->numbers[index * field_kind_doubles(item)]);
    }
}

bool proto_default_is_allowed(const Restriction *restriction, const FieldType *type)
{
    FieldKind item = field_kind_item(type->kind);
    if (!field_kind_is_list(type->kind))
        return item == FIELD_SF_NODE ? !type->value.node || node_is_allowed(restriction, type->value.node)
                                     : value_is_allowed(restriction, item, &type->value);
    for (int i = 0; i < type->value.list->count; i++)
        if (!item_is_allowed(restriction, item, type->value.list, i))
            return false;
    return true;
}

static void describe_restriction(const Restriction *restriction, FieldKind item, Text *out)
{
    const FieldList *allowed = &restriction->values;
    int doubles = field_kind_doubles(item);
    for (int i = 0; i < allowed->count; i++) {
        text_add_string(out, i ? ", " : "");
        if (item == FIELD_SF_NODE || item == FIELD_SF_STRING)
            text_printf(out, item == FIELD_SF_NODE ? "%s%s" : "\"%s\"%s", allowed->strings[i],
                        restriction->with_derived && restriction->with_derived[i] ? "+" : "");
        else if (item == FIELD_SF_INT32)
            text_printf(out, "%d", (int)allowed->ints[i]);
        else if (item == FIELD_SF_BOOL)
            text_add_string(out, allowed->bools[i] ? "TRUE" : "FALSE");
        for (int k = 0; k < doubles; k++) {
            text_add_string(out, k ? " " : "");
            text_add_double(out, allowed->numbers[i * doubles + k]);
        }
    }
}

// What is given, for messages: a node by its name, a number or string as a file has it.
static void describe_item(Maker *maker, FieldKind item, const FieldList *list, int index, Text *out)
{
    if (item == FIELD_SF_NODE) {
        const SceneNode *node = list->nodes[index];
        while (node->kind == SCENE_NODE_USE)
            node = node->target;
        text_add_string(out, node->proto ? node->proto->name : node->type->name);
        return;
    }
    FieldValue value = { 0 };
    memcpy(&value, (const char *)list->items + (size_t)index * scene_item_size(item), scene_item_size(item));
    writer_value(maker->scene, item, &value, 0, out);
}

// Leaves out the items that are not allowed. Returns the list to use.
static const FieldList *allowed_items(Maker *maker, const Restriction *restriction, const SceneField *field,
                                      const char *holder, const char *allowed)
{
    FieldKind item = field_kind_item(field->type->kind);
    const FieldList *list = field->value.list;
    FieldList *kept = NULL;
    size_t size = scene_item_size(item);
    for (int i = 0; i < list->count; i++) {
        if (item_is_allowed(restriction, item, list, i)) {
            if (kept)
                memcpy((char *)kept->items + (size_t)kept->count++ * size, (const char *)list->items + (size_t)i * size,
                       size);
            continue;
        }
        if (!kept) {
            kept = scene_list_copy(maker->scene, list, item, 0);
            kept->count = i;
        }
        Text text = { 0 };
        describe_item(maker, item, list, i, &text);
        diag_warning(maker->diags, item == FIELD_SF_NODE ? list->nodes[i]->pos : field->pos,
                     "'%s' is not allowed in '%s' of %s and is left out; allowed are: %s", text.data, field->type->name,
                     holder, allowed);
        text_free(&text);
    }
    return kept ? kept : list;
}

static void check_restrictions(Maker *maker, const Definition *definition, SceneNode *instance)
{
    for (int i = 0; i < instance->field_count; i++) {
        SceneField *field = &instance->fields[i];
        int parameter = field->type->index;
        if (field->is_default || parameter >= instance->proto->parameter_count
            || field->type != &instance->proto->parameters[parameter])
            continue;
        const Restriction *restriction = definition->restrictions[parameter];
        FieldKind kind = field->type->kind;
        if (!restriction || (field->is_parameter >= 0 && !field->is_instance))
            continue;
        Text allowed = { 0 };
        describe_restriction(restriction, field_kind_item(kind), &allowed);
        const char *names = allowed.data ? allowed.data : "none";
        if (field_kind_is_list(kind)) {
            field->value.list = allowed_items(maker, restriction, field, instance->proto->name, names);
        } else if (kind == FIELD_SF_NODE ? field->value.node && !node_is_allowed(restriction, field->value.node)
                                         : !value_is_allowed(restriction, kind, &field->value)) {
            diag_warning(maker->diags, field->pos, "the value of '%s' of %s is not allowed%s; allowed are: %s",
                         field->type->name, instance->proto->name,
                         kind == FIELD_SF_NODE ? " and is left out" : ", its default is used", names);
            field->value = kind == FIELD_SF_NODE ? (FieldValue){ .node = NULL } : field->type->value;
        }
        text_free(&allowed);
    }
}

// ------------------------------------------------------------------------------------------------------------ warnings

static bool text_says_is(const Definition *definition, const char *name)
{
    const char *at = definition->body_lexer.at, *end = definition->body_end;
    size_t length = strlen(name);
    while (at < end && (at = memmem(at, (size_t)(end - at), name, length))) {
        const char *before = at;
        while (before > definition->text
               && (before[-1] == ' ' || before[-1] == '\t' || before[-1] == '\n' || before[-1] == '\r'))
            before--;
        if (before < at && before - definition->text >= 2 && before[-1] == 'S' && before[-2] == 'I')
            return true;
        at += length;
    }
    return false;
}

static void report_unused(Definition *definition, DiagSink *diags)
{
    if (definition->reported_unused)
        return;
    definition->reported_unused = true;
    const SceneProto *proto = &definition->proto;
    for (int i = 0; i < proto->parameter_count; i++) {
        if (definition->used[i] || definition->is_read[i] || proto->parameters[i].class != FIELD_PLAIN)
            continue;
        if (proto->is_template && text_says_is(definition, proto->parameters[i].name))
            continue;  // in a part of the template that these parameters do not reach
        diag_warning(diags, in_file(definition, definition->parameter_pos[i], diags),
                     "the parameter '%s' of the PROTO '%s' is not used", proto->parameters[i].name, proto->name);
        diag_hint(diags, "connect a field to it with IS, or declare it with unconnectedField");
    }
}

// A derived PROTO whose parameter has the name of one of its base should mean that one.
static void check_derived(const Definition *definition, const SceneNode *root, DiagSink *diags)
{
    if (root->kind != SCENE_NODE_INSTANCE || !root->proto || root->proto->is_placeholder)
        return;
    for (int i = 0; i < definition->proto.parameter_count; i++) {
        const char *name = definition->proto.parameters[i].name;
        if (!definition->used[i])
            continue;
        for (int k = 0; k < root->proto->parameter_count; k++) {
            if (strcmp(root->proto->parameters[k].name, name))
                continue;
            const SceneField *field = own_field(root, k);
            if (!field || field->is_parameter != i) {
                diag_warning(
                    diags, in_file(definition, definition->parameter_pos[i], diags),
                    "the parameter '%s' has the name of a parameter of '%s' but is connected to something else", name,
                    root->proto->name);
            }
        }
    }
}

// -------------------------------------------------------------------------------------------------------------
// instances

static void report_cycle(Maker *maker, Definition *definition, const SceneNode *instance)
{
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

static bool may_enter(Maker *maker, Definition *definition, const SceneNode *instance)
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

static bool has_room(Maker *maker, int node_count, const SceneNode *instance)
{
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
static bool make_placeholder(Maker *maker, SceneNode *instance)
{
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
        field->is_parameter = (int16_t)i;
        field->is_instance = instance->id;
        field->value = parameter->value;
        connect_field(maker, node, (int)(field - node->fields), instance, taken);
    }
    return true;
}

static bool make_instance(Maker *maker, SceneNode *instance)
{
    ProtoLibrary *library = maker->library;
    if (instance->proto->is_placeholder)
        return make_placeholder(maker, instance);
    Definition *definition = instance->proto->definition;
    if (!definition || definition->state == DEFINITION_BROKEN || !may_enter(maker, definition, instance))
        return false;
    check_restrictions(maker, definition, instance);
    int node_count = 0;
    SceneNode *body;
    if (definition->proto.is_template) {
        body = make_template_body(maker, definition, instance, &node_count);
    } else {
        body = read_plain_body(definition, maker->diags);
        node_count = definition->body_nodes;
    }
    if (!body || !has_room(maker, node_count, instance))
        return false;
    if (!definition->reported_unused)
        check_derived(definition, body, maker->diags);
    report_unused(definition, maker->diags);
    memory_grow(&library->chain, &library->chain_capacity, library->chain_count + 1, sizeof *library->chain);
    library->chain[library->chain_count++] = definition;
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
    Maker maker = { library, scene, diags };
    return make_instance(&maker, instance);
}

// ----------------------------------------------------------------------------------------------------------
// regeneration

// Takes the old tree away, but not what was given to it from outside.
static void remove_tree(SceneNode *node, const SceneNode *instance)
{
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
    if (!is_made) {
        instance->target = old;
        instance->type = old_type;
        return false;
    }
    remove_tree(old, instance);
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
