// any_node.c - see any_node.h.
#include "support/any_node.h"

#include <assert.h>
#include <string.h>

enum { DEPTH_MAX = 6, ITEMS_MAX = 4 };

static void add_node(Text *text, const AnyNode *any, const NodeType *type, int depth);

bool any_node_is_written(const NodeType *type)
{
    return !(type->flags & (NODE_ABSTRACT | NODE_REMOVED | NODE_VRML97)) && strcmp(type->name, "WorldInfo") != 0;
}

static bool may_write(const AnyNode *any, const NodeType *type)
{
    return any_node_is_written(type) || (any->is_old && (type->flags & NODE_REMOVED) && !(type->flags & NODE_VRML97));
}

static int choose(const AnyNode *any, int count) { return any->choose(any->context, count); }

// ---- values ----

// Mostly those of which worlds are made, so that there is something to simulate; else those at which arithmetic breaks.
static void add_number(Text *text, const AnyNode *any, const FieldType *field)
{
    static const char *const plain[] = {
        "0", "1", "0.1", "-1", "0.5", "2", "0.05", "-0.3", "3", "8", "1.5708", "-0.01"
    };
    static const char *const tempting[] = { "1e-12", "1e-300", "1e6", "1e9",    "1e300", "-1e308", "2147483647",
                                            "-1e9",  "65536",  "-0",  "4e-324", "100",   "255" };
    bool is_tempting = choose(any, 16) == 0;
    for (int tries = 0; tries < 4; tries++) {
        const char *number = is_tempting ? tempting[choose(any, COUNT_OF(tempting))]
                                         : plain[choose(any, COUNT_OF(plain))];
        double value;
        if (tries < 3 && !is_tempting && text_to_double(number, &value)
            && !schema_allows_number(field->allowed, value, NULL))
            continue;
        text_printf(text, "%s ", number);
        return;
    }
}

static void add_whole(Text *text, const AnyNode *any)
{
    static const int wholes[] = { 0, 1, 2, 3, 4, 8, -1, -2, 5, 16, 64, 2147483647 };
    text_printf(text, "%d ", wholes[choose(any, COUNT_OF(wholes))]);
}

static void add_word(Text *text, const AnyNode *any, const FieldType *field)
{
    static const char *const words[] = { "",     "solid", "a", "b", "<none>", "../x", "default", "<static environment>",
                                         "fluid" };
    if (!field->allowed || choose(any, 8) == 0) {
        text_printf(text, "\"%s\" ", words[choose(any, COUNT_OF(words))]);
        return;
    }
    const char *at = field->allowed;
    for (int skip = choose(any, 6); skip > 0 && strchr(at, '|'); skip--)
        at = strchr(at, '|') + 1;
    text_printf(text, "\"%.*s\" ", (int)strcspn(at, "|"), at);
}

// A type that the field holds, by a walk through all types from a place that is chosen.
static const NodeType *choose_type(const AnyNode *any, const FieldType *field)
{
    int count = schema_type_count(), start = choose(any, count);
    bool is_any = choose(any, 24) == 0;
    for (int i = 0; i < count; i++) {
        const NodeType *type = schema_type_at((start + i) % count);
        if (may_write(any, type) && (is_any || !field || schema_allows_type(field->allowed, type)))
            return type;
    }
    return NULL;
}

static void add_node_of(Text *text, const AnyNode *any, const FieldType *field, int depth)
{
    static const char *const names[] = { "A", "B", "C", "D" };
    int how = choose(any, 16);
    const NodeType *type = how == 0 ? NULL : choose_type(any, field);
    if (how == 1) {
        text_printf(text, "USE %s ", names[choose(any, COUNT_OF(names))]);
    } else if (!type) {
        text_add_string(text, field && field_kind_is_list(field->kind) ? "" : "NULL ");
    } else {
        if (how < 6)
            text_printf(text, "DEF %s ", names[choose(any, COUNT_OF(names))]);
        add_node(text, any, type, depth);
    }
}

static void add_item(Text *text, const AnyNode *any, const FieldType *field, int depth)
{
    FieldKind kind = field_kind_item(field->kind);
    switch (kind) {
    case FIELD_SF_BOOL: text_add_string(text, choose(any, 2) ? "TRUE " : "FALSE "); break;
    case FIELD_SF_INT32: add_whole(text, any); break;
    case FIELD_SF_STRING: add_word(text, any, field); break;
    case FIELD_SF_NODE: add_node_of(text, any, field, depth); break;
    default:
        for (int i = 0; i < field_kind_doubles(kind); i++)
            add_number(text, any, field);
    }
}

static void add_value(Text *text, const AnyNode *any, const FieldType *field, int depth)
{
    if (!field_kind_is_list(field->kind)) {
        add_item(text, any, field, depth);
        return;
    }
    text_add_string(text, "[ ");
    for (int count = choose(any, ITEMS_MAX); count > 0; count--)
        add_item(text, any, field, depth);
    text_add_string(text, "] ");
}

// ---- nodes ----

static void add_node(Text *text, const AnyNode *any, const NodeType *type, int depth)
{
    assert(depth >= 0 && may_write(any, type));
    text_printf(text, "%s { ", type->name);
    for (int i = 0; i < type->field_count && depth < DEPTH_MAX && text->length < any->length_max; i++) {
        const FieldType *field = &type->fields[i];
        bool is_node = field_kind_item(field->kind) == FIELD_SF_NODE;
        if (choose(any, is_node ? 2 : 5) != 1 || (field->class == FIELD_DEPRECATED && !any->is_old))
            continue;
        text_printf(text, "%s ", field->name);
        add_value(text, any, field, depth + 1);
    }
    text_add_string(text, "} ");
}

void any_node_add(Text *text, const AnyNode *any, const NodeType *type, const FieldType *field)
{
    if (type)
        add_node(text, any, type, 0);
    else
        add_node_of(text, any, field, 0);
}
