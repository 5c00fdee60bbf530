// template_values.c - parameters and context as the JSON text from which the worker makes `fields` and `context`.
#include "formats/template/template.h"

#include "base/json.h"

#include <math.h>
#include <string.h>

// Deeper nodes are given by name only; no template looks that far down.
#define VALUE_DEPTH 48

static void write_node(const SceneNode *node, int depth, Text *out);

// Releases with templates take an escaped quote in a value for a plain one.
static void write_string(const char *text, Text *out)
{
    assert_debug(text);
    text_add_char(out, '"');
    for (const char *c = text; *c; c++) {
        if (*c == '\\' && c[1] == '"')
            continue;
        if (*c == '"' || *c == '\\')
            text_add_char(out, '\\');
        if ((unsigned char)*c < 0x20)
            text_printf(out, "\\u%04x", *c);
        else
            text_add_char(out, *c);
    }
    text_add_char(out, '"');
}

static void write_number(double value, Text *out)
{
    if (isfinite(value))
        text_add_double(out, value);
    else
        text_add_string(out, isnan(value) ? "null" : value > 0.0 ? "1e999" : "-1e999");
}

static void write_vector(FieldKind item, const double *v, Text *out)
{
    const char *keys = item == FIELD_SF_COLOR ? "rgb" : "xyza";
    int count = field_kind_doubles(item);
    for (int i = 0; i < count; i++) {
        text_printf(out, "%s\"%c\":", i ? "," : "{", keys[i]);
        write_number(v[i], out);
    }
    text_add_char(out, '}');
}

static void write_list_item(FieldKind item, const FieldList *list, int index, int depth, Text *out)
{
    assert(index >= 0 && index < list->count);
    int doubles = field_kind_doubles(item);
    switch (item) {
    case FIELD_SF_BOOL: text_add_string(out, list->bools[index] ? "true" : "false"); break;
    case FIELD_SF_INT32: text_printf(out, "%d", (int)list->ints[index]); break;
    case FIELD_SF_FLOAT: write_number(list->numbers[index], out); break;
    case FIELD_SF_STRING: write_string(list->strings[index], out); break;
    case FIELD_SF_NODE: write_node(list->nodes[index], depth, out); break;
    default: write_vector(item, &list->numbers[(size_t)index * (size_t)doubles], out); break;
    }
}

static void write_value(FieldKind kind, FieldValue value, int depth, Text *out)
{
    assert(depth >= 0);
    if (field_kind_is_list(kind)) {
        text_add_char(out, '[');
        for (int i = 0; i < value.list->count; i++) {
            if (i)
                text_add_char(out, ',');
            write_list_item(field_kind_item(kind), value.list, i, depth, out);
        }
        text_add_char(out, ']');
        return;
    }
    switch (kind) {
    case FIELD_SF_BOOL: text_add_string(out, value.b ? "true" : "false"); break;
    case FIELD_SF_INT32: text_printf(out, "%d", (int)value.i); break;
    case FIELD_SF_FLOAT: write_number(value.f, out); break;
    case FIELD_SF_STRING: write_string(value.s, out); break;
    case FIELD_SF_NODE: write_node(value.node, depth, out); break;
    default: write_vector(kind, value.v, out); break;
    }
}

static bool is_null_node(FieldKind kind, FieldValue value) { return kind == FIELD_SF_NODE && !value.node; }

static void write_field(const FieldType *type, FieldValue value, int depth, Text *out)
{
    assert(depth >= 0 && type->name);
    write_string(type->name, out);
    text_add_string(out, ":{");
    bool has_value = !is_null_node(type->kind, value);
    if (has_value) {
        text_add_string(out, "\"value\":");
        write_value(type->kind, value, depth, out);
    }
    if (!is_null_node(type->kind, type->value)) {
        text_add_string(out, has_value ? ",\"defaultValue\":" : "\"defaultValue\":");
        write_value(type->kind, type->value, depth, out);
    }
    text_add_char(out, '}');
}

static void write_node(const SceneNode *node, int depth, Text *out)
{
    while (node && node->kind == SCENE_NODE_USE)
        node = node->target;
    const char *name = !node ? "" : node->proto ? node->proto->name : node->type ? node->type->name : "";
    text_add_string(out, "{\"node_name\":");
    write_string(name, out);
    text_add_string(out, ",\"fields\":{");
    if (node && depth < VALUE_DEPTH && node->kind != SCENE_NODE_UNKNOWN) {
        const FieldType *types = node->proto ? node->proto->parameters : node->type ? node->type->fields : NULL;
        int count = node->proto ? node->proto->parameter_count : node->type ? node->type->field_count : 0;
        for (int i = 0; i < count; i++) {
            if (i)
                text_add_char(out, ',');
            write_field(&types[i], scene_value(node, &types[i]), depth + 1, out);
        }
    }
    text_add_string(out, "}}");
}

void template_write_fields(const TemplateJob *job, Text *out)
{
    assert_debug(job->fields || job->field_count == 0);
    text_add_char(out, '{');
    for (int i = 0; i < job->field_count; i++) {
        const FieldType *type = job->fields[i].type;
        if (job->has_old_fields && is_null_node(type->kind, job->fields[i].value))
            continue;
        if (out->data[out->length - 1] != '{')
            text_add_char(out, ',');
        if (job->has_old_fields) {
            write_string(type->name, out);
            text_add_char(out, ':');
            write_value(type->kind, job->fields[i].value, 0, out);
        } else {
            write_field(type, job->fields[i].value, 0, out);
        }
    }
    text_add_char(out, '}');
}

// Whether the text says context.KEY, or `context` in a way that could mean any key.
static bool uses_context(const TemplateJob *job, const char *key)
{
    const char *at = job->text, *end = job->text + job->size;
    while ((at = memmem(at, (size_t)(end - at), "context", 7))) {
        at += 7;
        if (at >= end || *at != '.')
            return true;
        size_t length = strlen(key);
        if ((size_t)(end - at - 1) >= length && !memcmp(at + 1, key, length))
            return true;
    }
    return false;
}

// Only what the template names: so two instances that differ in nothing they use have the same key.
void template_write_context(const TemplateJob *job, Text *out)
{
    const TemplateContext *context = &job->context;
    const struct {
        const char *key, *value;
    } rows[] = {
        { "world", context->world },
        { "proto", context->proto },
        { "project_path", context->project_path },
        { "webots_home", context->webots_home },
        { "temporary_files_path", context->temporary_files_path },
        { "coordinate_system", context->coordinate_system },
        { "os", "linux" },
    };
    JsonWriter json = { .out = out, .compact = true };
    json_begin_object(&json, NULL);
    for (int i = 0; i < COUNT_OF(rows); i++)
        if (uses_context(job, rows[i].key))
            json_string(&json, rows[i].key, rows[i].value ? rows[i].value : "");
    if (uses_context(job, "webots_version")) {
        json_begin_object(&json, "webots_version");
        json_string(&json, "major", context->webots_version ? context->webots_version : "R2025a");
        json_string(&json, "revision", "0");
        json_end_object(&json);
    }
    if (uses_context(job, "id"))
        json_int(&json, "id", context->id);
    if (uses_context(job, "world_release"))
        json_int(&json, "world_release", context->world_release);
    json_end_object(&json);
}
