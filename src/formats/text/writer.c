// Scenes as canonical text: the newest release, only what is not default, one field per line, the shortest numbers.
#include "base/memory.h"
#include "formats/formats_internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct Writer {
    const Scene *scene;
    Text *out;
    uint8_t *written;  // one bit for each node: whether a USE of it can follow
    DefTable defs;     // what a USE finds at this place
    int64_t begun;     // nodes so far
} Writer;

static Writer writer_begin(const Scene *scene, Text *out)
{
    return (Writer){ scene, out, memory_alloc((size_t)scene_last_id(scene) / 8 + 1), { 0 }, 0 };
}

static void writer_end(Writer *writer)
{
    free(writer->written);
    def_table_deinit(&writer->defs);
}

static bool was_written(const Writer *writer, const SceneNode *node)
{
    assert_debug(writer->written && node->id <= scene_last_id(writer->scene));
    return writer->written[node->id / 8] >> (node->id % 8) & 1;
}

static void mark_written(Writer *writer, const SceneNode *node)
{
    assert_debug(writer->written && node->id <= scene_last_id(writer->scene));
    writer->written[node->id / 8] |= (uint8_t)(1u << (node->id % 8));
}

// Whether the node is inside of text that is kept as it is. Its parent is the node which that text belongs to.
static bool is_inside_text(const Writer *writer, const SceneNode *node)
{
    return node->kind == SCENE_NODE_UNKNOWN && !scene_unknown_type(writer->scene, node)[0];
}

static bool is_no_solid(SceneNode *node, void *context)
{
    (void)context;
    return !scene_node_is(node, "Solid");
}

// A node inside of kept text can be used after that text alone. A solid is there once, where it is defined: what
// repeats one that was removed is no solid of this world and must not become one of the next.
static bool can_write(const Writer *writer, const SceneNode *node)
{
    while (node && node->kind == SCENE_NODE_UNKNOWN && node->target)  // what stands where it must not
        node = node->target;
    if (!node || node->kind != SCENE_NODE_USE)
        return true;
    if (node->target->is_removed && !was_written(writer, node->target)
        && !scene_walk(node->target, false, is_no_solid, NULL))
        return false;
    return !is_inside_text(writer, node->target) || was_written(writer, node->target->parent);
}

static void write_node(Writer *writer, const SceneNode *node, int indent);

static void write_indent(Text *out, int indent)
{
    assert_debug(indent >= 0);
    static const char spaces[] = "                                                                ";
    for (; indent > 0; indent -= (int)sizeof spaces - 1)
        text_add(out, spaces, (size_t)int_min(indent, (int)sizeof spaces - 1));
}

static void write_string(Text *out, const char *string)
{
    text_add_char(out, '"');
    for (const char *at = string;;) {
        size_t plain = strcspn(at, "\"\\");
        text_add(out, at, plain);
        at += plain;
        if (!*at)
            break;
        text_add_char(out, '\\');
        text_add_char(out, *at++);
    }
    text_add_char(out, '"');
}

static void write_numbers(Text *out, const double *numbers, int count)
{
    for (int i = 0; i < count; i++) {
        if (i)
            text_add_char(out, ' ');
        text_add_double(out, numbers[i]);
    }
}

// ---- values ----

static void write_list_item(Writer *writer, FieldKind item_kind, const FieldList *list, int index, int indent)
{
    assert(index >= 0 && index < list->count);
    int doubles = field_kind_doubles(item_kind);
    switch (item_kind) {
    case FIELD_SF_BOOL: text_add_string(writer->out, list->bools[index] ? "TRUE" : "FALSE"); break;
    case FIELD_SF_INT32: text_printf(writer->out, "%d", list->ints[index]); break;
    case FIELD_SF_STRING: write_string(writer->out, list->strings[index]); break;
    case FIELD_SF_NODE: write_node(writer, list->nodes[index], indent); break;
    default: write_numbers(writer->out, list->numbers + (size_t)index * (size_t)doubles, doubles); break;
    }
}

// Short items share a line, everything else has one of its own.
static int items_per_line(FieldKind item_kind)
{
    switch (item_kind) {
    case FIELD_SF_BOOL:
    case FIELD_SF_INT32: return 20;
    case FIELD_SF_FLOAT: return 10;
    default: return 1;
    }
}

static void write_list(Writer *writer, FieldKind item_kind, const FieldList *list, int indent)
{
    Text *out = writer->out;
    if (!list->count) {
        text_add_string(out, "[ ]");
        return;
    }
    int per_line = items_per_line(item_kind);
    text_add_char(out, '[');
    for (int i = 0; i < list->count; i++) {
        if (item_kind == FIELD_SF_NODE && !can_write(writer, list->nodes[i]))
            continue;
        if (i % per_line == 0) {
            text_add_char(out, '\n');
            write_indent(out, indent + 2);
        } else {
            text_add_char(out, ' ');
        }
        write_list_item(writer, item_kind, list, i, indent + 2);
    }
    text_add_char(out, '\n');
    write_indent(out, indent);
    text_add_char(out, ']');
}

static void write_value(Writer *writer, FieldKind kind, const FieldValue *value, int indent)
{
    Text *out = writer->out;
    switch (kind) {
    case FIELD_SF_BOOL: text_add_string(out, value->b ? "TRUE" : "FALSE"); break;
    case FIELD_SF_INT32: text_printf(out, "%d", value->i); break;
    case FIELD_SF_FLOAT: text_add_double(out, value->f); break;
    case FIELD_SF_STRING: write_string(out, value->s); break;
    case FIELD_SF_NODE: write_node(writer, value->node, indent); break;
    default:
        if (field_kind_is_list(kind))
            write_list(writer, field_kind_item(kind), value->list, indent);
        else
            write_numbers(out, value->v, field_kind_doubles(kind));
        break;
    }
}

void writer_value(const Scene *scene, FieldKind kind, const FieldValue *value, int indent, Text *out)
{
    Writer writer = writer_begin(scene, out);
    write_value(&writer, kind, value, indent);
    writer_end(&writer);
}

static bool same_numbers(const double *a, const double *b, int count)
{
    for (int i = 0; i < count; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

static bool same_lists(FieldKind item_kind, const FieldList *a, const FieldList *b)
{
    assert_debug(a && b);
    if (a == b || a->count != b->count)
        return a == b;
    for (int i = 0; i < a->count; i++) {
        bool is_same;
        switch (item_kind) {
        case FIELD_SF_BOOL: is_same = a->bools[i] == b->bools[i]; break;
        case FIELD_SF_INT32: is_same = a->ints[i] == b->ints[i]; break;
        case FIELD_SF_STRING: is_same = !strcmp(a->strings[i], b->strings[i]); break;
        case FIELD_SF_NODE: is_same = a->nodes[i] == b->nodes[i]; break;
        default: {
            int doubles = field_kind_doubles(item_kind);
            is_same = same_numbers(a->numbers + (size_t)i * (size_t)doubles, b->numbers + (size_t)i * (size_t)doubles,
                                   doubles);
            break;
        }
        }
        if (!is_same)
            return false;
    }
    return true;
}

bool writer_is_default(const FieldType *type, const FieldValue *value)
{
    switch (type->kind) {
    case FIELD_SF_BOOL: return value->b == type->value.b;
    case FIELD_SF_INT32: return value->i == type->value.i;
    case FIELD_SF_FLOAT: return value->f == type->value.f;
    case FIELD_SF_STRING: return !strcmp(value->s, type->value.s);
    case FIELD_SF_NODE: return value->node == type->value.node;
    default:
        if (field_kind_is_list(type->kind))
            return same_lists(field_kind_item(type->kind), value->list, type->value.list);
        return same_numbers(value->v, type->value.v, field_kind_doubles(type->kind));
    }
}

// ---- nodes ----

static void write_comment(Writer *writer, const char *text, int indent)
{
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        write_indent(writer->out, indent);
        text_add(writer->out, line, length);
        text_add_char(writer->out, '\n');
        line += length + (line[length] == '\n');
    }
}

// Comments before this field of the node.
static void write_field_comments(Writer *writer, const SceneNode *node, const char *field, int indent)
{
    for (const SceneExtra *extra = scene_extras(writer->scene, node); extra; extra = extra->next)
        if (extra->is_comment && extra->before && !strcmp(extra->before, field))
            write_comment(writer, extra->text, indent);
}

static bool has_writable_item(const Writer *writer, const FieldList *list)
{
    for (int i = 0; i < list->count; i++)
        if (can_write(writer, list->nodes[i]))
            return true;
    return false;
}

static bool is_written(const Writer *writer, const SceneNode *node, const SceneField *field)
{
    if (field->is_default || (field->type->kind == FIELD_SF_NODE && !can_write(writer, field->value.node)))
        return false;
    if (field->type->kind == FIELD_MF_NODE && field->value.list->count && !has_writable_item(writer, field->value.list))
        return false;
    if (field->type->class == FIELD_DEPRECATED && node->kind == SCENE_NODE_PLAIN)
        return false;
    return !writer_is_default(field->type, &field->value) || (field->parameter_index >= 0 && !field->instance_id);
}

static void write_field(Writer *writer, const SceneNode *node, const SceneField *field, int indent)
{
    write_field_comments(writer, node, field->type->name, indent);
    write_indent(writer->out, indent);
    text_add_string(writer->out, field->type->name);
    text_add_char(writer->out, ' ');
    write_value(writer, field->type->kind, &field->value, indent);
    text_add_char(writer->out, '\n');
}

static bool has_written_field(const Writer *writer, const SceneNode *node, const char *name)
{
    for (int i = 0; i < node->field_count; i++)
        if (!strcmp(node->fields[i].type->name, name) && is_written(writer, node, &node->fields[i]))
            return true;
    return false;
}

static void write_hidden(Writer *writer, const SceneNode *node, int indent)
{
    for (const SceneHidden *hidden = scene_hidden(writer->scene, node); hidden; hidden = hidden->next) {
        write_indent(writer->out, indent);
        text_printf(writer->out, "hidden %s ", hidden->name);
        if (hidden->list) {
            text_add_string(writer->out, "[ ");
            write_numbers(writer->out, hidden->list->numbers, hidden->list->count);
            text_add_string(writer->out, " ]");
        } else {
            write_numbers(writer->out, hidden->v, field_kind_doubles(hidden->kind));
        }
        text_add_char(writer->out, '\n');
    }
}

// Unknown fields come first: what is used below may have its DEF name in one of them.
static void write_unknown_fields(Writer *writer, const SceneNode *node, int indent)
{
    for (const SceneExtra *extra = scene_extras(writer->scene, node); extra; extra = extra->next)
        if (!extra->is_comment) {
            write_indent(writer->out, indent);
            text_add_string(writer->out, extra->text);
            text_add_char(writer->out, '\n');
        }
}

// Comments whose field is not written, or that stood at the end.
static void write_last_comments(Writer *writer, const SceneNode *node, int indent)
{
    for (const SceneExtra *extra = scene_extras(writer->scene, node); extra; extra = extra->next)
        if (extra->is_comment && extra->before && !has_written_field(writer, node, extra->before))
            write_comment(writer, extra->text, indent);
}

static const char *type_name(const SceneNode *node)
{
    return node->kind == SCENE_NODE_INSTANCE ? node->proto->name : node->type->name;
}

// A comment before a node stands before it in its line's place: the line is begun already, so the node goes on the
// next.
static void write_node_comments(Writer *writer, const SceneNode *node, int indent)
{
    for (const SceneExtra *extra = scene_extras(writer->scene, node); extra; extra = extra->next) {
        if (!extra->is_comment || extra->before)
            continue;
        for (const char *line = extra->text; *line;) {
            size_t length = strcspn(line, "\n");
            text_add(writer->out, line, length);
            text_add_char(writer->out, '\n');
            write_indent(writer->out, indent);
            line += length + (line[length] == '\n');
        }
    }
}

// Whether a USE here would find another node of the same name, one that came in or was copied meanwhile.
static bool is_shadowed(const Writer *writer, const SceneNode *use)
{
    const DefEntry *found = def_table_find(&writer->defs, use->def, strlen(use->def));
    return found && found->node != use->target && use->target->def && !strcmp(use->target->def, use->def);
}

static void write_node(Writer *writer, const SceneNode *node, int indent)
{
    Text *out = writer->out;
    if (!node) {
        text_add_string(out, "NULL");
        return;
    }
    write_node_comments(writer, node, indent);
    if (node->kind == SCENE_NODE_USE) {
        if (is_inside_text(writer, node->target) || (was_written(writer, node->target) && !is_shadowed(writer, node))) {
            text_printf(out, "USE %s", node->def);
            return;
        }
        node = node->target;  // the node it repeats is gone or comes later: this place defines it
    }
    mark_written(writer, node);
    int64_t order = writer->begun++;
    if (node->kind == SCENE_NODE_UNKNOWN && node->target) {
        write_node(writer, node->target, indent);
        return;
    }
    if (node->def)
        text_printf(out, "DEF %s ", node->def);
    if (node->kind == SCENE_NODE_UNKNOWN) {
        text_add_string(out, scene_unknown_text(writer->scene, node));
        return;
    }
    text_add_string(out, type_name(node));
    text_add_string(out, " {\n");
    write_unknown_fields(writer, node, indent + 2);
    for (int i = 0; i < node->field_count; i++)
        if (is_written(writer, node, &node->fields[i]))
            write_field(writer, node, &node->fields[i], indent + 2);
    if (node->kind == SCENE_NODE_INSTANCE)
        write_hidden(writer, node, indent + 2);
    write_last_comments(writer, node, indent + 2);
    write_indent(out, indent);
    text_add_char(out, '}');
    if (node->def)
        def_table_put(&writer->defs, (DefEntry){ .name = node->def, .node = (SceneNode *)node, .order = order });
}

void formats_write_value(const Scene *scene, FieldKind kind, const FieldValue *value, Text *out)
{
    writer_value(scene, kind, value, 0, out);
}

void formats_write_node(const Scene *scene, const SceneNode *node, Text *out)
{
    Writer writer = writer_begin(scene, out);
    write_node(&writer, node, 0);
    text_add_char(out, '\n');
    writer_end(&writer);
}

// Declarations first, in the order of the file: a reader must know a PROTO before its first use. Written nodes are
// marked, so that a USE follows its DEF.
void formats_write(const Scene *scene, Text *out)
{
    assert_debug(scene && out);
    Writer writer = writer_begin(scene, out);
    const SceneNode *root = scene_root(scene);
    text_add_string(out, "#VRML_SIM R2025a utf8\n\n");
    for (const SceneExtra *extra = scene_extras(scene, root); extra; extra = extra->next)
        if (extra->is_comment && !extra->before)
            write_comment(&writer, extra->text, 0);
    for (int i = 0; i < scene_extern_count(scene); i++) {
        const SceneExtern *declaration = scene_extern_at(scene, i);
        text_add_string(out, declaration->is_importable ? "IMPORTABLE EXTERNPROTO " : "EXTERNPROTO ");
        write_string(out, declaration->url);
        text_add_char(out, '\n');
    }
    if (scene_extern_count(scene))
        text_add_char(out, '\n');
    const FieldList *children = scene_list(root, "children");
    for (int i = 0; i < children->count; i++) {
        if (!can_write(&writer, children->nodes[i]))
            continue;
        write_node(&writer, children->nodes[i], 0);
        text_add_char(out, '\n');
    }
    for (const SceneExtra *extra = scene_extras(scene, root); extra; extra = extra->next)
        if (extra->is_comment && extra->before)
            write_comment(&writer, extra->text, 0);
    writer_end(&writer);
}
