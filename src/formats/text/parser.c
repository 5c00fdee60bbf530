// Nodes: their fields, DEF and USE, instances of PROTOs, and what is kept of the unknown.
#include "base/hash.h"
#include "base/memory.h"
#include "formats/formats_internal.h"

#include <stdlib.h>
#include <string.h>

// ---- DEF ----

static DefEntry *def_slot(const Reader *reader, const char *name, size_t length)
{
    assert_debug(reader->defs.slot_count > 0 && (reader->defs.slot_count & (reader->defs.slot_count - 1)) == 0);
    uint64_t slot = hash_bytes(name, length, 0);
    uint64_t mask = (uint64_t)(reader->defs.slot_count - 1);
    for (;; slot++) {
        DefEntry *entry = &reader->defs.slots[slot & mask];
        if (!entry->node || (!strncmp(entry->node->def, name, length) && !entry->node->def[length]))
            return entry;
    }
}

static const DefEntry *find_def(const Reader *reader, const char *name, size_t length)
{
    if (!reader->defs.count)
        return NULL;
    const DefEntry *entry = def_slot(reader, name, length);
    return entry->node && !entry->is_gone ? entry : NULL;
}

static void grow_defs(Reader *reader)
{
    DefEntry *old = reader->defs.slots;
    int old_count = reader->defs.slot_count;
    reader->defs.slot_count = old_count ? old_count * 2 : 64;
    reader->defs.slots = memory_alloc_array((size_t)reader->defs.slot_count, sizeof *old);
    for (int i = 0; i < old_count; i++)
        if (old[i].node)
            *def_slot(reader, old[i].node->def, strlen(old[i].node->def)) = old[i];
    assert_debug(reader->defs.count < reader->defs.slot_count);
    free(old);
}

// Called when the node is complete: what is inside of it cannot use it. A node inside with the same name goes on
// counting.
static void register_def(Reader *reader, SceneNode *node, int64_t expanded)
{
    if (reader->defs.count * 2 >= reader->defs.slot_count)
        grow_defs(reader);
    DefEntry *entry = def_slot(reader, node->def, strlen(node->def));
    if (entry->node && !entry->is_gone && entry->node->id > node->id)
        return;
    if (!entry->node)
        reader->defs.count++;
    *entry = (DefEntry){ .node = node, .expanded = expanded };
}

// Goes through nodes that are made already, as a USE behind them sees them: those inside first.
static int64_t each_def(Reader *reader, SceneNode *node, void (*act)(Reader *reader, SceneNode *node, int64_t expanded))
{
    if (!node)
        return 0;
    int64_t expanded = 1;
    for (int i = 0; i < node->field_count; i++) {
        const SceneField *field = &node->fields[i];
        if (field->type->kind == FIELD_SF_NODE)
            expanded += each_def(reader, field->value.node, act);
        for (int k = 0; field->type->kind == FIELD_MF_NODE && k < field->value.list->count; k++)
            expanded += each_def(reader, field->value.list->nodes[k], act);
    }
    if (node->def && node->kind != SCENE_NODE_USE)
        act(reader, node, expanded);
    return expanded;
}

static void forget_def(Reader *reader, SceneNode *node, int64_t expanded)
{
    (void)expanded;
    DefEntry *entry = def_slot(reader, node->def, strlen(node->def));
    if (entry->node == node)
        entry->is_gone = true;
}

static void each_def_of_field(Reader *reader, const SceneField *field,
                              void (*act)(Reader *reader, SceneNode *node, int64_t expanded))
{
    if (field->type->kind == FIELD_SF_NODE)
        each_def(reader, field->value.node, act);
    for (int i = 0; field->type->kind == FIELD_MF_NODE && i < field->value.list->count; i++)
        each_def(reader, field->value.list->nodes[i], act);
}

static const char *closest_def(Reader *reader, const char *name)
{
    enum { COUNT_MAX = 2000 };
    if (reader->defs.count > COUNT_MAX)
        return NULL;
    const char **candidates = memory_alloc_array((size_t)reader->defs.count + 1, sizeof *candidates);
    // In the order of the file, so that the hint never depends on the table.
    const SceneNode *last = NULL;
    int count = 0;
    for (int found = 0; found < reader->defs.count; found++) {
        const SceneNode *next = NULL;
        for (int i = 0; i < reader->defs.slot_count; i++) {
            const SceneNode *node = reader->defs.slots[i].node;
            if (node && (!last || node->id > last->id) && (!next || node->id < next->id))
                next = node;
        }
        if (!next)
            break;
        candidates[count++] = next->def;
        last = next;
    }
    const char *closest = text_closest(name, candidates, count);
    free(candidates);
    return closest;
}

static bool is_name(const Token *token)
{
    return (token->kind == TOKEN_WORD || token->kind == TOKEN_NUMBER) && token->length < 4096;
}

static bool count_node(Reader *reader, SourcePos pos, int64_t nodes)
{
    if (reader->expanded + nodes <= reader->limits->nodes && scene_node_count(reader->scene) < reader->limits->nodes) {
        reader->expanded += nodes;
        return true;
    }
    if (!reader->too_many_nodes)
        reader_error(reader, pos, "more than %lld nodes, each USE counting as what it repeats; the rest is left out",
                     (long long)reader->limits->nodes);
    reader->too_many_nodes = true;
    return false;
}

// ---- names that stand in no text above ----

static bool count_one(SceneNode *node, void *context)
{
    (void)node;
    int64_t *left = context;
    return --*left > 0;
}

// A node for USE that no text above has: for what is imported, one of the world.
static bool find_elsewhere(Reader *reader, const char *name, DefEntry *entry)
{
    SceneNode *found = reader->is_import ? scene_find_def(reader->scene, name) : NULL;
    *entry = (DefEntry){ .node = found ? scene_instance(found) : NULL };
    int64_t left = reader->limits->nodes;
    if (entry->node)
        scene_walk(entry->node, true, count_one, &left);
    entry->expanded = reader->limits->nodes - left;
    return entry->node != NULL;
}

typedef struct Search {
    const char *name;
    SceneNode *found;
} Search;

static bool is_searched(SceneNode *node, void *context)
{
    Search *search = context;
    if (!search->found && node->def && node->kind != SCENE_NODE_USE && !strcmp(node->def, search->name))
        search->found = node;
    return !search->found;
}

// In the body of a PROTO: a node in the default value of a parameter. The body gets a copy, which has the name from
// then on, whatever is given for the parameter.
static bool take_default(Reader *reader, const char *name, SourcePos pos, SceneNode **node)
{
    Search search = { .name = name };
    for (int i = 0; i < reader->parameter_count && !search.found; i++) {
        const FieldType *parameter = &reader->parameters[i];
        if (parameter->kind == FIELD_SF_NODE && parameter->value.node)
            scene_walk(parameter->value.node, true, is_searched, &search);
        for (int k = 0; parameter->kind == FIELD_MF_NODE && k < parameter->value.list->count && !search.found; k++)
            scene_walk(parameter->value.list->nodes[k], true, is_searched, &search);
    }
    if (!search.found)
        return false;
    int64_t left = reader->limits->nodes;
    scene_walk(search.found, true, count_one, &left);
    if (!count_node(reader, pos, reader->limits->nodes - left))
        return false;
    *node = scene_node_clone(reader->scene, search.found);
    register_def(reader, *node, reader->limits->nodes - left);
    return true;
}

int reader_parameter_of_use(Reader *reader)
{
    if (!reader->parameters || !token_is(&reader->token, "USE"))
        return -1;
    Lexer ahead = reader->lexer;
    Token name;
    lexer_next(&ahead, &name);
    if (!is_name(&name) || find_def(reader, name.text, name.length))
        return -1;
    for (int i = 0; i < reader->parameter_count; i++) {
        const FieldType *parameter = &reader->parameters[i];
        const SceneNode *node = parameter->kind == FIELD_SF_NODE ? parameter->value.node : NULL;
        if (node && node->def && node->kind != SCENE_NODE_USE && token_is(&name, node->def))
            return i;
    }
    return -1;
}

static bool read_use(Reader *reader, SceneNode **node)
{
    SourcePos pos = reader->token.pos;
    reader_advance(reader);
    if (!is_name(&reader->token)) {
        reader_expect(reader, TOKEN_WORD, "a name after USE");
        return false;
    }
    Token token = reader->token;
    reader_advance(reader);
    Arena *arena = scene_arena(reader->scene);
    const DefEntry *entry = find_def(reader, token.text, token.length);
    const char *name = entry ? entry->node->def : token_string(&token, arena);
    if (!entry)
        entry = find_def(reader, name, strlen(name));  // with bytes that are not UTF-8
    DefEntry elsewhere;
    if (!entry && find_elsewhere(reader, name, &elsewhere))
        entry = &elsewhere;
    if (!entry && take_default(reader, name, pos, node))
        return true;
    if (!entry) {
        reader_error(reader, token.pos, "USE %.60s: no node above has this DEF name", name);
        const char *closest = closest_def(reader, name);
        if (closest)
            diag_hint(reader->diags, "did you mean '%s'?", closest);
        return false;
    }
    if (!count_node(reader, pos, entry->expanded))
        return false;
    *node = scene_node_create_use(reader->scene, entry->node, name, pos);
    return true;
}

// ---- fields of a node ----

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

static const FieldType *find_field(const SceneNode *node, const char *name, size_t length)
{
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
    return node->kind == SCENE_NODE_PLAIN ? node->type->name : node->proto->name;
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

// Nodes with a DEF name inside of text that is kept as it is: a USE of them is no mistake, it just has nothing to show.
static void register_passed_over(Reader *reader, SceneNode *owner, const char *start)
{
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
        if (!is_name(&token) || !count_node(reader, reader->token.pos, 1))
            continue;
        SceneNode *node = scene_node_create_unknown(reader->scene, "", "", (SourcePos){ 0 });
        node->parent = owner;
        node->def = token_string(&token, scene_arena(reader->scene));
        register_def(reader, node, 1);
    }
}

// Text from `start` to the end of what was read, for saving.
static const char *text_since(Reader *reader, const char *start)
{
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
        register_passed_over(reader, node, name->text);
        scene_extra_add(reader->scene, node, false, NULL, text_since(reader, name->text));
    }
}

static void read_unknown_field(Reader *reader, SceneNode *node)
{
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
    SceneField field = { .pos = name.pos };
    if (reader_field(reader, type, &field))
        push_field(reader, fields_base, &field);
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
        each_def_of_field(reader, &field, register_def);
    }
}

// A parameter is about to be read. In an order other than that of the declaration, names may mean other nodes.
static void pass_to_parameter(Reader *reader, SceneNode *instance, int base, int *next, const FieldType *parameter)
{
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
    for (int i = base; i < reader->scratch.field_count; i++)
        if (reader->scratch.fields[i].type == parameter && reader->scratch.fields[i].is_default)
            each_def_of_field(reader, &reader->scratch.fields[i], forget_def);
}

// Everything between the braces of a node, in any order. What is no field of its type (hidden state, ROUTE, a lost
// node, an unknown name) has a way of its own, so that one mistake does not hide the next.
static void read_fields(Reader *reader, SceneNode *node)
{
    int base = reader->scratch.field_count, next_parameter = 0;
    SourcePos opened = reader->token.pos;
    Token last_field = { 0 };
    reader_advance(reader);
    while (reader->token.kind != TOKEN_BRACE_CLOSE && reader->token.kind != TOKEN_END) {
        if (reader->token.kind != TOKEN_WORD) {
            read_stray(reader, node, &last_field);
            continue;
        }
        if (is_reserved(&reader->token)) {
            read_stray(reader, node, &last_field);
            continue;
        }
        Token name = reader->token;
        last_field = name;
        const FieldType *type = find_field(node, name.text, name.length);
        if (type) {
            if (reader->lexer.comment)
                reader_keep_comment(reader, node, type->name, reader_comment(reader));
            reader_advance(reader);
            SceneField field = { .pos = name.pos };
            if (node->kind == SCENE_NODE_INSTANCE)
                pass_to_parameter(reader, node, base, &next_parameter, type);
            if (is_of_another_release(reader, node, type))
                read_of_another_release(reader, node, type, &name);
            else if (reader_field(reader, type, &field))
                push_field(reader, base, &field);
        } else if (token_is(&name, "hidden")) {
            read_hidden(reader, node, base);
        } else if (reader->format == FORMAT_VRML97 && token_is(&name, "ROUTE")) {
            for (int i = 0; i < 4 && reader->token.kind == TOKEN_WORD; i++)
                reader_advance(reader);
        } else if (is_node_without_field(reader)) {
            char buffer[64];
            reader_error(reader, name.pos, "expected a field of %s or '}', found the node %s", node_name(node),
                         token_describe(&name, buffer));
            diag_hint(reader->diags, "nodes stand in a list such as children [ ... ], or after the name of a field");
            SceneNode *lost;
            if (!reader_node(reader, &lost) && reader->token.text == name.text)
                reader_advance(reader);
        } else {
            read_unknown_field(reader, node);
        }
    }
    reader_keep_comment(reader, node, "", reader_comment(reader));
    if (reader->token.kind == TOKEN_BRACE_CLOSE) {
        reader_advance(reader);
    } else {
        reader_error(reader, reader->token.pos, "the file ends inside of %s", node_name(node));
        diag_hint(reader->diags, "the '{' at %u:%u has no '}'", opened.line, opened.column);
    }
    if (node->kind == SCENE_NODE_INSTANCE)
        pass_defaults(reader, node, base, &next_parameter, node->proto->parameter_count);
    const SceneField *fields = base ? reader->scratch.fields + base : reader->scratch.fields;
    scene_node_set_fields(reader->scene, node, fields, reader->scratch.field_count - base);
    reader->scratch.field_count = base;
}

// ---- nodes ----

static void report_unknown_node(Reader *reader, const Token *name)
{
    if (!reader_first_report(reader, "", name->text, name->length))
        return;
    char buffer[64];
    diag_warning(reader->diags, name->pos, "%s is neither a node nor a PROTO that can be found; it is ignored",
                 token_describe(name, buffer));
    int count = schema_type_count();
    const char **candidates = memory_alloc_array((size_t)count + 1, sizeof *candidates);
    int used = 0;
    for (int i = 0; i < count; i++)
        if (!(schema_type_at(i)->flags & NODE_ABSTRACT))
            candidates[used++] = schema_type_at(i)->name;
    const char *word = arena_text(scene_arena(reader->scene), name->text, (size_t)int_min((int)name->length, 100));
    const char *closest = text_closest(word, candidates, used);
    free(candidates);
    if (closest)
        diag_hint(reader->diags, "did you mean '%s'?", closest);
    else if (reader->release >= 2022100 && reader->format != FORMAT_VRML97)
        diag_hint(reader->diags, "a PROTO is declared at the top of the file: EXTERNPROTO \".../%.40s.proto\"", word);
}

static bool read_unknown_node(Reader *reader, const Token *name, const char *def, SceneNode **node)
{
    report_unknown_node(reader, name);
    const char *type_name = token_string(name, scene_arena(reader->scene));
    if (reader->token.kind == TOKEN_BRACE_OPEN && !reader_skip_block(reader)) {
        reader_error(reader, reader->token.pos, "the file ends inside of %.60s", type_name);
        return false;
    }
    const char *open = reader->lexer.open_string;
    if (open && open > name->text && open <= reader->previous_end)
        return false;
    const char *text = reader->format == FORMAT_VRML97 ? "" : text_since(reader, name->text);
    *node = scene_node_create_unknown(reader->scene, type_name, text, name->pos);
    register_passed_over(reader, *node, name->text);
    if (def) {
        (*node)->def = def;
        register_def(reader, *node, 1);
    }
    return true;
}

// A base node of this name, unless the file means a PROTO: names of removed and of VRML97 nodes are free for them, and
// those of our own additions, which no author of a world has to know.
static const NodeType *find_type(Reader *reader, const Token *name, SceneProto **proto)
{
    const NodeType *type = reader->format == FORMAT_VRML97 ? schema_humanoid_type(name->text, name->length) : NULL;
    *proto = NULL;
    if (type)
        return type;
    type = schema_type_text(name->text, name->length);
    if (type && (type->flags & NODE_ABSTRACT) && !(type->flags & NODE_REMOVED))
        return NULL;
    bool is_free = false;
    if (type && reader->format != FORMAT_VRML97) {
        if (type->flags & (NODE_VRML97 | NODE_TALUS))
            is_free = true;
        else if ((type->flags & NODE_REMOVED) && type->until)
            is_free = reader->release > schema_release(type->until, strlen(type->until));
    }
    if (reader->protos && (!type || (is_free && proto_exists(reader, name->text, name->length))))
        *proto = proto_resolve(reader, name->text, name->length, name->pos);
    return *proto ? NULL : type;
}

// Nesting deeper than allowed: the block is passed over without going down into it.
static bool enter(Reader *reader, SourcePos pos)
{
    if (reader->depth < reader->limits->nesting) {
        reader->depth++;
        return true;
    }
    if (!reader->too_deep)
        reader_error(reader, pos, "nodes are nested deeper than %lld; what is deeper is left out",
                     (long long)reader->limits->nesting);
    reader->too_deep = true;
    if (reader->token.kind == TOKEN_BRACE_OPEN)
        reader_skip_block(reader);
    return false;
}

static bool read_def(Reader *reader, Token *def)
{
    SourcePos pos = reader->token.pos;
    reader_advance(reader);
    if (!is_name(&reader->token)) {
        reader_expect(reader, TOKEN_WORD, "a name and a node after DEF");
        return false;
    }
    Lexer ahead = reader->lexer;
    Token next;
    lexer_next(&ahead, &next);
    if (next.kind == TOKEN_BRACE_OPEN) {
        if (reader->format == FORMAT_VRML97)
            diag_warning(reader->diags, pos, "DEF has no name; it is ignored");
        else
            reader_error(reader, pos, "DEF has no name");
        diag_hint(reader->diags, "DEF is followed by a name and a node: DEF NAME %.*s { ... }",
                  int_min((int)reader->token.length, 40), reader->token.text);
        return true;
    }
    *def = reader->token;
    reader_advance(reader);
    return true;
}

// DEF, USE, NULL, a base node, an instance of a PROTO or an unknown one; what is wrong is skipped with its braces, so
// that the rest of the file is read all the same.
bool reader_node(Reader *reader, SceneNode **node)
{
    *node = NULL;
    const CommentRange comment = reader_comment(reader);
    Token def = { 0 };
    if (token_is(&reader->token, "NULL")) {
        reader_advance(reader);
        return true;
    }
    if (token_is(&reader->token, "USE")) {
        bool is_read = read_use(reader, node);
        if (is_read)
            reader_keep_comment(reader, *node, NULL, comment);
        return is_read;
    }
    if (token_is(&reader->token, "DEF") && !read_def(reader, &def))
        return false;
    Token name = reader->token;
    if (name.kind != TOKEN_WORD || name.length >= 4096) {
        reader_expect(reader, TOKEN_WORD, "the name of a node");
        return false;
    }
    Lexer ahead = reader->lexer;
    Token next;
    lexer_next(&ahead, &next);
    if (next.kind != TOKEN_BRACE_OPEN && !schema_type_text(name.text, name.length) && !def.length) {
        char buffer[64];
        reader_error(reader, name.pos, "expected a node, found %s", token_describe(&name, buffer));
        return false;
    }

    const char *def_name = def.length ? token_string(&def, scene_arena(reader->scene)) : NULL;
    SceneProto *proto;
    const NodeType *type = find_type(reader, &name, &proto);
    if (!count_node(reader, name.pos, 1)) {
        reader_advance(reader);
        if (reader->token.kind == TOKEN_BRACE_OPEN)
            reader_skip_block(reader);
        return false;
    }
    if (!type && !proto) {
        reader_advance(reader);
        if (!read_unknown_node(reader, &name, def_name, node))
            return false;
        reader_keep_comment(reader, *node, NULL, comment);
        return true;
    }
    int64_t expanded_before = reader->expanded - 1;
    SceneNode *made = type ? scene_node_create(reader->scene, type, name.pos)
                           : scene_node_create_instance(reader->scene, proto, name.pos);
    made->def = def_name;
    reader_keep_comment(reader, made, NULL, comment);
    reader_advance(reader);
    if (!enter(reader, name.pos))
        return false;
    if (reader->token.kind == TOKEN_BRACE_OPEN)
        read_fields(reader, made);
    else
        reader_expect(reader, TOKEN_BRACE_OPEN, "'{' after the name of a node");
    reader->depth--;
    if (proto && !reader->is_body) {
        if (reader->release && !reader->without_upgrade)
            upgrade_nodes(reader->scene, made, reader->release, reader->diags);
        proto_instantiate(reader, made);
    }
    if (def_name)
        register_def(reader, made, reader->expanded - expanded_before);
    *node = made;
    return true;
}

// ---- whole files ----

// ROUTE a.b TO c.d, PROTO Name [ ... ] { ... }: parts of VRML97 that a still mesh has no use for.
static bool skip_vrml97_statement(Reader *reader)
{
    Token token = reader->token;
    bool is_known = false;
    if (token_is(&token, "ROUTE")) {
        reader_advance(reader);
        for (int i = 0; i < 3 && reader->token.kind == TOKEN_WORD; i++)
            reader_advance(reader);
    } else if (token_is(&token, "PROTO")) {
        reader_advance(reader);
        is_known = schema_humanoid_type(reader->token.text, reader->token.length) != NULL;
        if (reader->token.kind == TOKEN_WORD)
            reader_advance(reader);
        if (reader->token.kind == TOKEN_BRACKET_OPEN)
            reader_skip_block(reader);
        if (reader->token.kind == TOKEN_BRACE_OPEN)
            reader_skip_block(reader);
    } else {
        return false;
    }
    char buffer[64];
    if (reader->format == FORMAT_VRML97) {
        if (!is_known && reader_first_report(reader, "statement", token.text, token.length))
            diag_note(reader->diags, token.pos, "%s is ignored", token_describe(&token, buffer));
    } else {
        reader_error(reader, token.pos, "%s cannot stand in a world", token_describe(&token, buffer));
        diag_hint(reader->diags, token_is(&token, "PROTO") ? "a PROTO has a file of its own, named after it"
                                                           : "nothing in a world is connected by routes");
    }
    return true;
}

static bool read_declaration(Reader *reader)
{
    SceneExtern declaration;
    const CommentRange comment = reader_comment(reader);
    if (!reader_extern(reader, &declaration))
        return false;
    if (declaration.url && reader->format != FORMAT_VRML97) {
        reader_keep_comment(reader, scene_root(reader->scene), NULL, comment);
        scene_extern_add(reader->scene, declaration.url, declaration.is_importable, declaration.pos);
        if (reader->protos)
            proto_scope_declare(reader->protos, &declaration, reader->diags);
    }
    return true;
}

// The reader goes on after every mistake, and each turn of the loop takes at least one token: no text can hold it.
void reader_world(Reader *reader)
{
    SceneNode *root = scene_root(reader->scene);
    const FieldType *children = schema_field(root->type, "children");
    int base = reader->scratch.node_count;
    while (reader->token.kind != TOKEN_END) {
        if (read_declaration(reader) || skip_vrml97_statement(reader))
            continue;
        const char *before = reader->token.text;
        if (reader->token.kind != TOKEN_WORD) {
            char buffer[64];
            reader_error(reader, reader->token.pos, "expected a node, found %s",
                         token_describe(&reader->token, buffer));
            if (reader->token.kind == TOKEN_BRACE_CLOSE || reader->token.kind == TOKEN_BRACKET_CLOSE)
                diag_hint(reader->diags, "there is one more of them than was opened");
            if (reader->token.kind == TOKEN_BRACE_OPEN || reader->token.kind == TOKEN_BRACKET_OPEN)
                reader_skip_block(reader);
            else
                reader_advance(reader);
            continue;
        }
        SceneNode *node;
        bool is_read = reader_node(reader, &node);
        if (is_read && node) {
            *memory_push(reader->scratch.nodes, reader->scratch.node_count, reader->scratch.node_capacity) = node;
        }
        if (!is_read && reader->token.text == before && reader->token.kind != TOKEN_END) {
            reader_advance(reader);
            if (reader->token.kind != TOKEN_WORD)
                reader_skip_value(reader);
        }
    }
    reader_keep_comment(reader, root, "", reader_comment(reader));
    FieldList list = { .count = reader->scratch.node_count - base };
    list.nodes = reader->scratch.nodes + base;
    scene_set_value(reader->scene, root, children, (FieldValue){ .list = &list });
    reader->scratch.node_count = base;
}
