// schema_docs.c - the reference pages of nodes, from the rows of the schema.
#include "scene/schema_docs.h"

#include "scene/schema_effects.h"

#include <string.h>

typedef struct FlagWord {
    unsigned flag;
    const char *words;
} FlagWord;

static const FlagWord flag_words[] = {
    { NODE_ABSTRACT, "abstract: not written in files" },
    { NODE_DEVICE, "a device: controllers find it by its `name`" },
    { NODE_EXPERIMENTAL, "experimental" },
    { NODE_REMOVED, "only in old files, upgraded when read" },
    { NODE_VRML97, "only in VRML97 files" },
    { NODE_TALUS, "an addition of Talus" },
};

static const char *const class_words[] = {
    [FIELD_PLAIN] = "",
    [FIELD_HIDDEN] = "hidden",
    [FIELD_DEPRECATED] = "old",
    [FIELD_UNCONNECTED] = "unconnected",
};

// Text inside a table cell: a bar would end the cell.
static void add_cell(Text *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '|')
            text_add_char(out, '\\');
        text_add_char(out, *text);
    }
}

static void add_allowed(Text *out, const FieldType *field)
{
    if (!field->allowed)
        return;
    bool is_node = field_kind_item(field->kind) == FIELD_SF_NODE;
    for (const char *text = field->allowed; *text;) {
        size_t length = strcspn(text, "|");
        if (text != field->allowed)
            text_add_string(out, field_kind_item(field->kind) == FIELD_SF_STRING || is_node ? ", " : " or ");
        bool is_exact = is_node && *text == '=';
        const NodeType *type = is_node ? schema_type_text(text + is_exact, length - is_exact) : NULL;
        if (type)
            text_printf(out, "[%s](%s.md)%s", type->name, type->name, is_exact ? " itself" : "");
        else
            text_printf(out, "`%.*s`", (int)length, text);
        text += length + (text[length] == '|');
    }
}

static void add_releases(Text *out, const char *since, const char *until)
{
    if (since)
        text_printf(out, "from %s", since);
    if (until)
        text_printf(out, "%suntil %s", since ? " " : "", until);
}

static void add_effects(Text *out, unsigned effects)
{
    static const char *const words[] = { "physics", "sight", "devices", "controller", "nothing", "load" };
    bool is_first = true;
    for (int i = 0; i < COUNT_OF(words); i++) {
        if (!(effects >> i & 1))
            continue;
        text_printf(out, "%s%s", is_first ? "" : ", ", words[i]);
        is_first = false;
    }
}

static void add_field(Text *out, const NodeType *type, const FieldType *field)
{
    text_printf(out, "| `%s` | %s | `", field->name, field_kind_name(field->kind));
    add_cell(out, field->preset);
    text_add_string(out, "` | ");
    add_allowed(out, field);
    text_add_string(out, " | ");
    if (field->unit)
        add_cell(out, field->unit);
    text_add_string(out, " | ");
    add_cell(out, field->help);
    text_add_string(out, " | ");
    add_effects(out, schema_effects(type, field));
    text_add_string(out, " | ");
    text_add_string(out, class_words[field->class]);
    if (field->since || field->until)
        text_add_string(out, field->class == FIELD_PLAIN ? "" : ", ");
    add_releases(out, field->since, field->until);
    text_add_string(out, " |\n");
    if (field->older)
        add_field(out, type, field->older);
}

void schema_docs_page(const NodeType *type, Text *out)
{
    assert_debug(type && out);
    text_printf(
        out,
        "<!-- Made from the rows in src/scene/schema_*.c; edit those and run the test scene.schema_docs with TALUS_UPDATE=1. -->\n");
    text_printf(out, "# %s\n\n%s\n\n", type->name, type->help);
    if (type->parent)
        text_printf(out, "- derived from [%s](%s.md)\n", type->parent->name, type->parent->name);
    for (int i = 0; i < COUNT_OF(flag_words); i++)
        if (type->flags & flag_words[i].flag)
            text_printf(out, "- %s\n", flag_words[i].words);
    if (type->since || type->until) {
        text_add_string(out, "- ");
        add_releases(out, type->since, type->until);
        text_add_char(out, '\n');
    }
    if (type->field_count == 0)
        return;
    if (out->data[out->length - 2] != '\n')
        text_add_char(out, '\n');
    text_add_string(
        out,
        "| field | kind | default | allowed | unit | meaning | takes effect on | remark |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < type->field_count; i++)
        add_field(out, type, &type->fields[i]);
}

void schema_docs_index(Text *out)
{
    text_add_string(
        out,
        "<!-- Made from the rows in src/scene/schema_*.c; edit those and run the test scene.schema_docs with TALUS_UPDATE=1. -->\n"
        "# Node types\n\n"
        "Every node type that Talus reads, one page each. A range holds for each component of a vector and each item of a "
        "list;\n`!=0` of a vector means that it is not the zero vector. Where a node type is allowed, the types derived from "
        "it are too.\n\n"
        "*Takes effect on* says what follows when a supervisor or the library changes the field while the world runs: `physics` "
        "(bodies,\njoints, contacts, fluids), `sight` (pictures and what rays see), `devices` (what they measure and do), `controller` "
        "(the robot's\nprogram), `nothing` (it is kept for who reads it), `load` (it is taken up when the world is loaded; changing it "
        "while the world runs gives a\nwarning). The rows are in src/scene/schema_effects.c.\n\n| type | derived from | meaning | remark |\n| --- | --- | --- | --- |\n");
    for (int i = 0; i < schema_type_count(); i++) {
        const NodeType *type = schema_type_at(i);
        text_printf(out, "| [%s](%s.md) | %s | %s | ", type->name, type->name, type->parent ? type->parent->name : "",
                    type->help);
        bool is_first = true;
        for (int k = 0; k < COUNT_OF(flag_words); k++) {
            if (!(type->flags & flag_words[k].flag))
                continue;
            size_t length = strcspn(flag_words[k].words, ":,");
            text_printf(out, "%s%.*s", is_first ? "" : ", ", (int)length, flag_words[k].words);
            is_first = false;
        }
        text_add_string(out, " |\n");
    }
}
