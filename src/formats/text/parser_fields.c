// What stands between the braces of a node: fields, hidden state, and what is kept of the unknown.
#include "base/memory.h"
#include "formats/formats_internal.h"
#include "formats/text/parser_internal.h"

#include <string.h>

static void push_field(Reader *reader, int base, const SceneField *field)
{
    assert_debug(base >= 0 && base <= reader->scratch.field_count);
    for (int i = base; i < reader->scratch.field_count; i++) {
        if (reader->scratch.fields[i].type != field->type)
            continue;
        if (!reader->scratch.fields[i].is_default)
            diag_warning(reader->diags, field->pos, "%s is given twice; the last one counts", field->type->name);
        reader->scratch.fields[i] = *field;
        return;
    }
    *memory_push(reader->scratch.fields, reader->scratch.field_count, reader->scratch.field_capacity) = *field;
}

// A field's value. One that was given before it, or was passed as a default, is no part of the scene any more: nothing
// can use a node in it.
static void read_field(Reader *reader, const FieldType *type, SourcePos pos, int base)
{
    SceneField field = { .pos = pos };
    for (int i = base; i < reader->scratch.field_count; i++)
        if (reader->scratch.fields[i].type == type)
            defs_each_of_field(reader, &reader->scratch.fields[i], defs_forget);
    if (reader_field(reader, type, &field))
        push_field(reader, base, &field);
}

static const FieldType *find_field(const SceneNode *node, const char *name, size_t length)
{
    assert_debug(node->kind == SCENE_NODE_PLAIN ? node->type != NULL : node->proto != NULL);
    if (node->kind == SCENE_NODE_PLAIN)
        return schema_field_text(node->type, name, length);
    for (int i = 0; i < node->proto->parameter_count; i++) {
        const FieldType *parameter = &node->proto->parameters[i];
        if (!strncmp(parameter->name, name, length) && !parameter->name[length])
            return parameter;
    }
    return NULL;
}

static const char *node_name(const SceneNode *node)
{
    return node->kind == SCENE_NODE_PLAIN ? schema_type_label(node->type) : node->proto->name;
}

static void report_unknown_field(Reader *reader, const SceneNode *node, const Token *name)
{
    if (!reader_first_report(reader, node_name(node), name->text, name->length))
        return;
    char buffer[64];
    bool is_plain = node->kind == SCENE_NODE_PLAIN;
    diag_warning(reader->diags, name->pos, "%s has no %s %s; it is ignored", node_name(node),
                 is_plain ? "field" : "parameter", token_describe(name, buffer));
    const char *candidates[256];
    int count = int_min(is_plain ? node->type->field_count : node->proto->parameter_count, COUNT_OF(candidates));
    for (int i = 0; i < count; i++)
        candidates[i] = is_plain ? node->type->fields[i].name : node->proto->parameters[i].name;
    const char *word = arena_text(scene_arena(reader->scene), name->text, (size_t)int_min((int)name->length, 100));
    const char *closest = text_closest(word, candidates, count);
    if (closest)
        diag_hint(reader->diags, "did you mean '%s'?", closest);
}

void reader_add_passed_over(Reader *reader, SceneNode *owner, const char *start)
{
    assert(start <= reader->previous_end);
    Lexer lexer = { .start = start,
                    .end = reader->previous_end,
                    .at = start,
                    .line_start = start,
                    .line = 1,
                    .diags = reader->diags,
                    .reported_encoding = true };
    Token token;
    for (lexer_next(&lexer, &token); token.kind != TOKEN_END; lexer_next(&lexer, &token)) {
        if (!token_is(&token, "DEF"))
            continue;
        lexer_next(&lexer, &token);
        if (!token_is_name(&token) || !reader_count_nodes(reader, reader->token.pos, 1))
            continue;
        SceneNode *node = scene_node_create_unknown(reader->scene, "", "", (SourcePos){ 0 });
        node->parent = owner;
        node->def = token_string(&token, scene_arena(reader->scene));
        defs_add(reader, node, 1);
    }
}

const char *reader_text_since(Reader *reader, const char *start)
{
    assert(start <= reader->previous_end);
    reader_drop_comments_before(reader, reader->previous_end);
    Token text = { .kind = TOKEN_WORD, .text = start, .length = (size_t)(reader->previous_end - start) };
    return token_string(&text, scene_arena(reader->scene));
}

// Text that the file's end has cut off, or with a string that is not closed, would take in what follows it when it is
// read again.
static bool can_be_kept(const Reader *reader, const char *start)
{
    const char *open = reader->lexer.open_string;
    return reader->format != FORMAT_VRML97 && reader->token.kind != TOKEN_END
           && !(open && open >= start && open <= reader->previous_end);
}

// Skips the value after the name, and keeps both as text for saving.
static void pass_over_value(Reader *reader, SceneNode *node, const Token *name)
{
    bool is_script = node->kind == SCENE_NODE_PLAIN && !strcmp(node->type->name, "Script");
    bool is_interface = token_is(name, "eventIn") || token_is(name, "eventOut") || token_is(name, "field");
    bool has_value;
    if (is_script && is_interface && reader->token.kind == TOKEN_WORD) {
        reader_advance(reader);  // its type and name
        if (reader->token.kind == TOKEN_WORD)
            reader_advance(reader);
        has_value = (token_is(name, "field") || token_is(&reader->token, "IS")) && reader_skip_value(reader);
    } else {
        has_value = reader_skip_value(reader);
    }
    if (has_value && can_be_kept(reader, name->text)) {
        reader_add_passed_over(reader, node, name->text);
        scene_extra_add(reader->scene, node, false, NULL, reader_text_since(reader, name->text));
    }
}

static void read_unknown_field(Reader *reader, SceneNode *node)
{
    assert_debug(reader->token.kind == TOKEN_WORD);
    reader_keep_comment(reader, node, "", reader_comment(reader));
    Token name = reader->token;
    bool is_placeholder = node->kind == SCENE_NODE_INSTANCE && node->proto->is_placeholder;
    bool is_script = node->kind == SCENE_NODE_PLAIN && !strcmp(node->type->name, "Script");
    if (!is_placeholder && !is_script)
        report_unknown_field(reader, node, &name);
    reader_advance(reader);
    pass_over_value(reader, node, &name);
}

// PROTOs of our own library stand for those of every release, in which a parameter may have been of another kind.
static bool is_of_another_release(const Reader *reader, const SceneNode *node, const FieldType *type)
{
    return node->kind == SCENE_NODE_INSTANCE && node->proto->origin && !strcmp(node->proto->origin, "library")
           && !token_is(&reader->token, "IS") && !reader_value_has_form(reader, type->kind);
}

static void read_of_another_release(Reader *reader, SceneNode *node, const FieldType *type, const Token *name)
{
    if (reader_first_report(reader, node_name(node), name->text, name->length))
        diag_warning(reader->diags, reader->token.pos, "%s of %s is of type %s here; this value is ignored", type->name,
                     node_name(node), field_kind_name(type->kind));
    pass_over_value(reader, node, name);
}

// What a line "hidden translation_1 ..." of an instance holds, by the start of its name.
static FieldKind hidden_kind(const Token *name)
{
    static const struct {
        const char *start;
        FieldKind kind;
    } kinds[] = {
        { "translation_", FIELD_SF_VEC3F },    { "rotation_", FIELD_SF_ROTATION },
        { "linearVelocity_", FIELD_SF_VEC3F }, { "angularVelocity_", FIELD_SF_VEC3F },
        { "position_", FIELD_SF_FLOAT },       { "position2_", FIELD_SF_FLOAT },
        { "position3_", FIELD_SF_FLOAT },      { "motion_", FIELD_MF_FLOAT },
    };
    for (int i = 0; i < COUNT_OF(kinds); i++)
        if (name->length > strlen(kinds[i].start) && !memcmp(name->text, kinds[i].start, strlen(kinds[i].start)))
            return kinds[i].kind;
    return FIELD_NONE;
}

static void read_hidden(Reader *reader, SceneNode *node, int fields_base)
{
    assert_debug(fields_base >= 0);
    reader_advance(reader);
    Token name = reader->token;
    if (name.kind != TOKEN_WORD) {
        reader_expect(reader, TOKEN_WORD, "a name after 'hidden'");
        return;
    }
    FieldKind kind = hidden_kind(&name);
    // A Body becomes an instance later, when its file is read.
    bool has_inside = node->kind == SCENE_NODE_INSTANCE || (node->type && !strcmp(node->type->name, "Body"));
    if (has_inside && kind != FIELD_NONE) {
        SceneHidden hidden = { .name = token_string(&name, scene_arena(reader->scene)), .kind = kind, .pos = name.pos };
        FieldType type = { .name = hidden.name, .kind = kind };
        reader_advance(reader);
        FieldValue value;
        if (!reader_value(reader, &type, &value))
            return;
        if (kind == FIELD_SF_FLOAT)
            hidden.v[0] = value.f;
        else if (field_kind_is_list(kind))
            hidden.list = value.list;
        else
            memcpy(hidden.v, value.v, sizeof hidden.v);
        scene_hidden_add(reader->scene, node, &hidden);
        return;
    }
    const FieldType *type = find_field(node, name.text, name.length);
    if (!type) {
        read_unknown_field(reader, node);
        return;
    }
    reader_advance(reader);
    read_field(reader, type, name.pos, fields_base);
}

static void read_stray(Reader *reader, const SceneNode *node, const Token *last_field)
{
    char buffer[64], last[64];
    reader_error(reader, reader->token.pos, "expected a field of %s or '}', found %s", node_name(node),
                 token_describe(&reader->token, buffer));
    if (reader->token.kind == TOKEN_END)
        return;
    if ((reader->token.kind == TOKEN_NUMBER || reader->token.kind == TOKEN_STRING) && last_field->length)
        diag_hint(reader->diags, "%s has more values than it takes", token_describe(last_field, last));
    if (reader->token.kind == TOKEN_BRACE_OPEN || reader->token.kind == TOKEN_BRACKET_OPEN) {
        reader_skip_block(reader);
        return;
    }
    TokenKind kind = reader->token.kind;
    do
        reader_advance(reader);
    while (reader->token.kind == kind && (kind == TOKEN_NUMBER || kind == TOKEN_STRING));
}

// A word that begins a node where a field should be: the list it was in has ended too early, or lacks its name.
static bool is_node_without_field(const Reader *reader)
{
    const Token *token = &reader->token;
    if (token_is(token, "DEF") || token_is(token, "USE"))
        return true;
    Lexer ahead = reader->lexer;
    Token next;
    lexer_next(&ahead, &next);
    return next.kind == TOKEN_BRACE_OPEN;
}

// Words that are values and can be no field.
static bool is_reserved(const Token *token)
{
    return token->length <= 5
           && (token_is(token, "TRUE") || token_is(token, "FALSE") || token_is(token, "NULL") || token_is(token, "IS"));
}

// Parameters that an instance does not give, up to but without `end`: what has a name in their defaults can be used
// from here on. `next` counts the parameters passed so far.
static void pass_defaults(Reader *reader, SceneNode *instance, int base, int *next, int end)
{
    assert_debug(*next >= 0 && end <= instance->proto->parameter_count);
    for (; *next < end; (*next)++) {
        if (!proto_default_has_names(instance->proto, *next))
            continue;
        bool is_given = false;
        for (int i = base; i < reader->scratch.field_count; i++)
            is_given = is_given || reader->scratch.fields[i].type == &instance->proto->parameters[*next];
        if (is_given)
            continue;
        SceneField field = proto_own_default(reader, instance, *next);
        push_field(reader, base, &field);
        defs_each_of_field(reader, &field, defs_add);
    }
}

// A parameter is about to be read. In an order other than that of the declaration, names may mean other nodes.
static void pass_to_parameter(Reader *reader, SceneNode *instance, int base, int *next, const FieldType *parameter)
{
    assert_debug(parameter == &instance->proto->parameters[parameter->index]);
    int index = (int)parameter->index;
    if (index >= *next) {
        pass_defaults(reader, instance, base, next, index);
        *next = index + 1;
        return;
    }
    bool has_names = false;
    for (int i = 0; i < instance->proto->parameter_count; i++)
        has_names = has_names || proto_default_has_names(instance->proto, i);
    if (has_names)
        diag_warning(
            reader->diags, instance->pos,
            "the parameters of this %s are not in the order of its declaration: a USE may mean the wrong DEF node",
            instance->proto->name);
}

// The value of a field of the node's type. `next_parameter` is what pass_defaults() counts.
static void read_known_field(Reader *reader, SceneNode *node, const FieldType *type, int base, int *next_parameter)
{
    assert_debug(node->kind == SCENE_NODE_PLAIN || node->kind == SCENE_NODE_INSTANCE);
    Token name = reader->token;
    if (reader->lexer.comment)
        reader_keep_comment(reader, node, type->name, reader_comment(reader));
    reader_advance(reader);
    if (node->kind == SCENE_NODE_INSTANCE)
        pass_to_parameter(reader, node, base, next_parameter, type);
    if (is_of_another_release(reader, node, type))
        read_of_another_release(reader, node, type, &name);
    else
        read_field(reader, type, name.pos, base);
}

// A node where a field should be: read for the mistakes inside of it, and lost with the names in it.
static void read_lost_node(Reader *reader, const SceneNode *owner)
{
    Token name = reader->token;
    char buffer[64];
    reader_error(reader, name.pos, "expected a field of %s or '}', found the node %s", node_name(owner),
                 token_describe(&name, buffer));
    diag_hint(reader->diags, "nodes stand in a list such as children [ ... ], or after the name of a field");
    SceneNode *lost;
    if (!reader_node(reader, &lost) && reader->token.text == name.text)
        reader_advance(reader);
    defs_each(reader, lost, defs_forget);
}

// A word that is no field of the node's type has a way of its own, so that one mistake does not hide the next.
static void read_other_word(Reader *reader, SceneNode *node, int base)
{
    if (token_is(&reader->token, "hidden")) {
        read_hidden(reader, node, base);
    } else if (reader->format == FORMAT_VRML97 && token_is(&reader->token, "ROUTE")) {
        for (int i = 0; i < 4 && reader->token.kind == TOKEN_WORD; i++)
            reader_advance(reader);
    } else if (is_node_without_field(reader)) {
        read_lost_node(reader, node);
    } else {
        read_unknown_field(reader, node);
    }
}

static void read_closing_brace(Reader *reader, const SceneNode *node, SourcePos opened)
{
    reader_keep_comment(reader, node, "", reader_comment(reader));
    if (reader->token.kind == TOKEN_BRACE_CLOSE) {
        reader_advance(reader);
        return;
    }
    reader_error(reader, reader->token.pos, "the file ends inside of %s", node_name(node));
    diag_hint(reader->diags, "the '{' at %u:%u has no '}'", opened.line, opened.column);
}

// Fields come in any order and lie on the reader's stack, above those of the nodes around, until the brace closes.
void reader_fields(Reader *reader, SceneNode *node)
{
    assert_debug(reader->token.kind == TOKEN_BRACE_OPEN);
    int base = reader->scratch.field_count, next_parameter = 0;
    SourcePos opened = reader->token.pos;
    Token last_field = { 0 };
    reader_advance(reader);
    while (reader->token.kind != TOKEN_BRACE_CLOSE && reader->token.kind != TOKEN_END) {
        if (reader->token.kind != TOKEN_WORD || is_reserved(&reader->token)) {
            read_stray(reader, node, &last_field);
            continue;
        }
        last_field = reader->token;
        const FieldType *type = find_field(node, last_field.text, last_field.length);
        if (type)
            read_known_field(reader, node, type, base, &next_parameter);
        else
            read_other_word(reader, node, base);
    }
    read_closing_brace(reader, node, opened);
    if (node->kind == SCENE_NODE_INSTANCE)
        pass_defaults(reader, node, base, &next_parameter, node->proto->parameter_count);
    assert(reader->scratch.field_count >= base);
    const SceneField *fields = base ? reader->scratch.fields + base : reader->scratch.fields;
    scene_node_set_fields(reader->scene, node, fields, reader->scratch.field_count - base);
    reader->scratch.field_count = base;
}
