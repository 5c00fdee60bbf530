// proto_restrict.c - what a PROTO allows its parameters to be, and what of a PROTO is written and never used.
#include "formats/proto/proto_internal.h"

#include "base/memory.h"

#include <string.h>

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
    assert_debug(node && (restriction->with_derived || restriction->values.count == 0));
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
    assert_debug(!field_kind_is_list(item) && value);
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
    assert(index >= 0 && index < list->count);
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
static void describe_item(ProtoMaker *maker, FieldKind item, const FieldList *list, int index, Text *out)
{
    assert(index >= 0 && index < list->count);
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
static const FieldList *allowed_items(ProtoMaker *maker, const Restriction *restriction, const SceneField *field,
                                      const char *holder, const char *allowed)
{
    assert_debug(field_kind_is_list(field->type->kind));
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

void proto_check_restrictions(ProtoMaker *maker, const Definition *definition, SceneNode *instance)
{
    assert_debug(instance->proto == &definition->proto);
    for (int i = 0; i < instance->field_count; i++) {
        SceneField *field = &instance->fields[i];
        int parameter = field->type->index;
        if (field->is_default || parameter >= instance->proto->parameter_count
            || field->type != &instance->proto->parameters[parameter])
            continue;
        const Restriction *restriction = definition->restrictions[parameter];
        FieldKind kind = field->type->kind;
        if (!restriction || (field->parameter_index >= 0 && !field->instance_id))
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

static bool text_says_is(const Definition *definition, const char *name)
{
    assert(definition->body_lexer.at <= definition->body_end);
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

void proto_report_unused(Definition *definition, DiagSink *diags)
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
        diag_warning(diags, proto_pos_in(definition, definition->parameter_pos[i], diags),
                     "the parameter '%s' of the PROTO '%s' is not used", proto->parameters[i].name, proto->name);
        diag_hint(diags, "connect a field to it with IS, or declare it with unconnectedField");
    }
}

// A derived PROTO whose parameter has the name of one of its base should mean that one.
void proto_check_derived(const Definition *definition, const SceneNode *root, DiagSink *diags)
{
    assert_debug(definition->used || definition->proto.parameter_count == 0);
    if (root->kind != SCENE_NODE_INSTANCE || !root->proto || root->proto->is_placeholder)
        return;
    for (int i = 0; i < definition->proto.parameter_count; i++) {
        const char *name = definition->proto.parameters[i].name;
        if (!definition->used[i])
            continue;
        for (int k = 0; k < root->proto->parameter_count; k++) {
            if (strcmp(root->proto->parameters[k].name, name))
                continue;
            const SceneField *field = proto_own_field(root, k);
            if (!field || field->parameter_index != i) {
                diag_warning(
                    diags, proto_pos_in(definition, definition->parameter_pos[i], diags),
                    "the parameter '%s' has the name of a parameter of '%s' but is connected to something else", name,
                    root->proto->name);
            }
        }
    }
}
