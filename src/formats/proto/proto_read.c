// proto_read.c - a .proto file: what its comments say, what it declares, its interface, and where its body is.
#include "formats/proto/proto_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

// ---- header comments ----

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

// What follows "key:" in a comment line, NULL when the line is another one.
static const char *comment_value(const char *at, const char *end, const char *key)
{
    size_t length = strlen(key);
    if ((size_t)(end - at) < length || strncasecmp(at, key, length))
        return NULL;
    at = skip_blanks(at + length, end);
    return at < end && *at == ':' ? skip_blanks(at + 1, end) : NULL;
}

static bool has_word(const char *at, const char *end, const char *word)
{
    size_t length = strlen(word);
    for (; (size_t)(end - at) >= length; at++)
        if (!strncasecmp(at, word, length))
            return true;
    return false;
}

// The comment lines at the top: tags and the language of the template.
static void read_comments(Definition *definition)
{
    assert_debug(definition->text || definition->size == 0);
    const char *at = definition->text, *end = definition->text + definition->size;
    while (at < end) {
        const char *eol = memchr(at, '\n', (size_t)(end - at));
        eol = eol ? eol : end;
        const char *line = skip_blanks(at, eol);
        if (line < eol && *line != '#')
            return;
        while (line < eol && *line == '#')
            line++;
        line = skip_blanks(line, eol);
        const char *tags = comment_value(line, eol, "tags");
        const char *language = comment_value(line, eol, "template language");
        if (tags) {
            definition->is_deprecated = definition->is_deprecated || has_word(tags, eol, "deprecated");
            definition->is_volatile = definition->is_volatile || has_word(tags, eol, "nonDeterministic");
            definition->has_indirect_access = definition->has_indirect_access
                                              || has_word(tags, eol, "indirectFieldAccess");
        }
        if (language)
            definition->language = has_word(language, eol, "javascript") ? TEMPLATE_JAVASCRIPT : TEMPLATE_LUA;
        at = eol < end ? eol + 1 : end;
    }
}

// ---- interface ----

typedef struct Interface {
    FieldType *types;
    SourcePos *positions;
    Restriction **restrictions;
    int count, type_capacity, position_capacity, restriction_capacity;
} Interface;

static bool field_class(const Token *token, FieldClass *class)
{
    static const struct {
        const char *word;
        FieldClass class;
    } words[] = {
        { "field", FIELD_PLAIN },
        { "vrmlField", FIELD_PLAIN },
        { "w3dField", FIELD_PLAIN },
        { "exposedField", FIELD_PLAIN },
        { "hiddenField", FIELD_HIDDEN },
        { "deprecatedField", FIELD_DEPRECATED },
        { "unconnectedField", FIELD_UNCONNECTED },
    };
    for (int i = 0; i < COUNT_OF(words); i++) {
        if (token_is(token, words[i].word)) {
            *class = words[i].class;
            return true;
        }
    }
    return false;
}

static void add_restriction_value(Reader *reader, Restriction *restriction, FieldKind item, const FieldValue *value)
{
    assert_debug(!field_kind_is_list(item));
    FieldList *list = &restriction->values;
    int doubles = field_kind_doubles(item);
    scene_list_reserve(reader->scene, list, item, list->count + 1);
    if (item == FIELD_SF_BOOL)
        list->bools[list->count] = value->b;
    else if (item == FIELD_SF_INT32)
        list->ints[list->count] = value->i;
    else if (item == FIELD_SF_FLOAT)
        list->numbers[list->count] = value->f;
    else if (item == FIELD_SF_STRING)
        list->strings[list->count] = value->s;
    else
        memcpy(&list->numbers[list->count * doubles], value->v, (size_t)doubles * sizeof *list->numbers);
    list->count++;
}

// "Solid{}" or "Solid{}+", which takes in what is derived from it: a type or PROTO by name.
static void read_allowed_node(Reader *reader, Restriction *restriction)
{
    assert_debug(reader->token.kind == TOKEN_WORD);
    Token name = reader->token;
    reader_advance(reader);
    FieldValue value = { .s = token_string(&name, scene_arena(reader->scene)) };
    add_restriction_value(reader, restriction, FIELD_SF_STRING, &value);
    if (reader->token.kind == TOKEN_BRACE_OPEN)
        reader_skip_block(reader);
    bool with_derived = token_is(&reader->token, "+");
    if (with_derived)
        reader_advance(reader);
    int count = restriction->values.count;
    bool *flags = arena_alloc_array(scene_arena(reader->scene), (size_t)count, sizeof *flags);
    if (count > 1)
        memcpy(flags, restriction->with_derived, (size_t)(count - 1) * sizeof *flags);
    flags[count - 1] = with_derived;
    restriction->with_derived = flags;
}

static Restriction *read_restriction(Reader *reader, FieldKind item)
{
    assert_debug(reader->token.kind == TOKEN_BRACE_OPEN);
    Restriction *restriction = arena_alloc(scene_arena(reader->scene), sizeof *restriction);
    enum { FIRST_RELEASE_WITH_POSE = 2023100 };
    restriction->is_old = reader->release && reader->release < FIRST_RELEASE_WITH_POSE;
    FieldType type = { .name = "restriction", .kind = item };
    type.value.s = "";
    reader_advance(reader);
    while (reader->token.kind != TOKEN_BRACE_CLOSE && reader->token.kind != TOKEN_END) {
        const char *before = reader->token.text;
        FieldValue value;
        if (item == FIELD_SF_NODE && reader->token.kind == TOKEN_WORD)
            read_allowed_node(reader, restriction);
        else if (item != FIELD_SF_NODE && reader_value(reader, &type, &value))
            add_restriction_value(reader, restriction, item, &value);
        if (reader->token.text == before)
            reader_advance(reader);
    }
    reader_expect(reader, TOKEN_BRACE_CLOSE, "'}' after the allowed values");
    return restriction;
}

static void push_parameter(Interface *interface, const FieldType *type, SourcePos pos, Restriction *restriction)
{
    assert_debug(type && interface->count >= 0);
    int count = interface->count + 1;
    memory_grow(&interface->types, &interface->type_capacity, count, sizeof *interface->types);
    memory_grow(&interface->positions, &interface->position_capacity, count, sizeof *interface->positions);
    memory_grow(&interface->restrictions, &interface->restriction_capacity, count, sizeof *interface->restrictions);
    interface->types[interface->count] = *type;
    interface->types[interface->count].index = (uint16_t)interface->count;
    interface->positions[interface->count] = pos;
    interface->restrictions[interface->count++] = restriction;
}

static bool has_parameter(const Interface *interface, const char *name)
{
    for (int i = 0; i < interface->count; i++)
        if (!strcmp(interface->types[i].name, name))
            return true;
    return false;
}

// Everything up to the next declaration or the end of the interface.
static void skip_declaration(Reader *reader)
{
    FieldClass class;
    while (reader->token.kind != TOKEN_END && reader->token.kind != TOKEN_BRACKET_CLOSE
           && !field_class(&reader->token, &class)) {
        if (reader->token.kind == TOKEN_BRACE_OPEN || reader->token.kind == TOKEN_BRACKET_OPEN)
            reader_skip_block(reader);
        else
            reader_advance(reader);
    }
}

static FieldValue empty_value(FieldKind kind)
{
    static const FieldList nothing;
    FieldValue value = { 0 };
    if (field_kind_is_list(kind))
        value.list = &nothing;
    else if (kind == FIELD_SF_STRING)
        value.s = "";
    else if (kind == FIELD_SF_ROTATION)
        value.v[2] = 1.0;
    return value;
}

// The default as it is written, for messages and pages.
static const char *preset_text(Reader *reader, const char *start)
{
    enum { LONGEST = 200 };
    size_t length = reader->previous_end > start ? (size_t)(reader->previous_end - start) : 0;
    Token text = { .kind = TOKEN_WORD, .text = start, .length = length > LONGEST ? 0 : length };
    return token_string(&text, scene_arena(reader->scene));
}

// Whether the next parameter or the end of the interface stands here.
static bool is_at_declaration(const Reader *reader)
{
    return reader->token.kind == TOKEN_BRACKET_CLOSE || field_class(&reader->token, &(FieldClass){ 0 });
}

// "field SFFloat": false, having reported it, when it is none.
static bool read_class_and_kind(Reader *reader, FieldType *type)
{
    char buffer[64];
    if (!field_class(&reader->token, &type->class)) {
        reader_error(reader, reader->token.pos, "expected 'field' or ']' in the interface of a PROTO, found %s",
                     token_describe(&reader->token, buffer));
        reader_advance(reader);
        return false;
    }
    reader_advance(reader);
    type->kind = reader->token.kind == TOKEN_WORD ? field_kind_from_name(reader->token.text, reader->token.length)
                                                  : FIELD_NONE;
    if (type->kind == FIELD_NONE) {
        reader_error(reader, reader->token.pos, "%s is no type of a field", token_describe(&reader->token, buffer));
        diag_hint(reader->diags, "types are SFBool, SFInt32, SFFloat, SFString, SFVec2f, SFVec3f, SFRotation, SFColor, "
                                 "SFNode, and the same with MF");
        return false;
    }
    reader_advance(reader);
    return true;
}

static void read_default(Reader *reader, FieldType *type)
{
    const char *start = reader->token.text;
    type->value = empty_value(type->kind);
    if (is_at_declaration(reader))
        reader_error(reader, reader->token.pos, "the parameter '%s' has no default value", type->name);
    else if (!reader_value(reader, type, &type->value) && reader->token.text == start)
        reader_advance(reader);
    if (reader->release && !reader->without_upgrade)
        type->value = upgrade_value(reader->scene, type, type->value, reader->release, reader->diags);
    type->preset = preset_text(reader, start);
}

// One line of an interface: class, type with its allowed values, name, default. A wrong one is told of and left out
// alone.
static void read_declaration(Reader *reader, Interface *interface)
{
    FieldType type = { 0 };
    if (!read_class_and_kind(reader, &type)) {
        skip_declaration(reader);
        return;
    }
    Restriction *restriction = NULL;
    if (reader->token.kind == TOKEN_BRACE_OPEN)
        restriction = read_restriction(reader, field_kind_item(type.kind));
    SourcePos pos = reader->token.pos;
    if (reader->token.kind != TOKEN_WORD || field_class(&reader->token, &(FieldClass){ 0 })) {
        reader_expect(reader, TOKEN_BRACE_CLOSE, "the name of the parameter");
        skip_declaration(reader);
        return;
    }
    type.name = token_string(&reader->token, scene_arena(reader->scene));
    reader_advance(reader);
    read_default(reader, &type);
    if (restriction && !proto_default_is_allowed(restriction, &type))
        diag_warning(reader->diags, pos, "the default of '%s' is not in the list of its allowed values", type.name);
    if (has_parameter(interface, type.name))
        reader_error(reader, pos, "the parameter '%s' is declared twice", type.name);
    else
        push_parameter(interface, &type, pos, restriction);
    if (!is_at_declaration(reader)) {
        char buffer[64];
        reader_error(reader, reader->token.pos, "expected the next parameter or ']', found %s",
                     token_describe(&reader->token, buffer));
        diag_hint(reader->diags, "this stands behind the default value of '%s'", type.name);
        skip_declaration(reader);
    }
}

// Gathered first, copied once: the definition's arrays lie in the arena and cannot grow.
static void read_interface(Reader *reader, Definition *definition)
{
    assert_debug(reader->token.kind == TOKEN_BRACKET_OPEN);
    enum { PARAMETERS_MAX = 4096 };
    Interface interface = { 0 };
    reader_advance(reader);
    while (reader->token.kind != TOKEN_BRACKET_CLOSE && reader->token.kind != TOKEN_END) {
        const char *before = reader->token.text;
        if (interface.count == PARAMETERS_MAX) {
            reader_error(reader, reader->token.pos, "a PROTO has at most %d parameters", PARAMETERS_MAX);
            break;
        }
        read_declaration(reader, &interface);
        if (reader->token.text == before)
            reader_advance(reader);
    }
    Arena *arena = scene_arena(reader->scene);
    size_t count = (size_t)interface.count;
    definition->proto.parameter_count = interface.count;
    definition->proto.parameters = arena_alloc_array(arena, count + 1, sizeof *interface.types);
    definition->parameter_pos = arena_alloc_array(arena, count + 1, sizeof *interface.positions);
    definition->restrictions = arena_alloc_array(arena, count + 1, sizeof *interface.restrictions);
    definition->used = arena_alloc_array(arena, count + 1, sizeof *definition->used);
    if (count) {
        memcpy(definition->proto.parameters, interface.types, count * sizeof *interface.types);
        memcpy(definition->parameter_pos, interface.positions, count * sizeof *interface.positions);
        memcpy(definition->restrictions, interface.restrictions, count * sizeof *interface.restrictions);
    }
    free(interface.types);
    free(interface.positions);
    free(interface.restrictions);
}

// ---- body ----

// The last '}' of the file that is in no comment, string or template block, or the end of the file.
static const char *find_body_end(const char *begin, const char *end)
{
    assert_debug(begin <= end);
    const char *last = end;
    bool in_string = false;
    for (const char *at = begin; at < end; at++) {
        if (*at == '"') {
            in_string = !in_string;
        } else if (*at == '\\' && in_string) {
            at++;
        } else if (*at == '\n') {
            in_string = false;
        } else if (*at == '#' && !in_string) {
            const char *eol = memchr(at, '\n', (size_t)(end - at));
            at = eol ? eol - 1 : end - 1;
        } else if (*at == '%' && at + 1 < end && (at[1] == '<' || at[1] == '{')) {
            const char *close = memmem(at + 2, (size_t)(end - at - 2), at[1] == '<' ? ">%" : "}%", 2);
            at = close ? close + 1 : at;
        } else if (*at == '}' && !in_string) {
            last = at;
        }
    }
    return last;
}

static void find_template(Definition *definition)
{
    assert(definition->body_end >= definition->body_lexer.at);
    const char *begin = definition->body_lexer.at;
    size_t size = (size_t)(definition->body_end - begin);
    TemplateLanguage language = definition->language;
    if (language == TEMPLATE_NONE)
        language = template_is_used(begin, size, TEMPLATE_LUA) ? TEMPLATE_LUA : TEMPLATE_JAVASCRIPT;
    definition->proto.is_template = template_is_used(begin, size, language);
    definition->language = definition->proto.is_template ? language : TEMPLATE_NONE;
    const SceneProto *proto = &definition->proto;
    definition->is_read = arena_alloc_array(definition->library->arena, (size_t)proto->parameter_count + 1,
                                            sizeof(bool));
    for (int i = 0; i < proto->parameter_count && proto->is_template; i++) {
        bool any;
        bool is_named = template_uses_field(begin, size, language, proto->parameters[i].name, &any);
        definition->is_read[i] = is_named || any || definition->has_indirect_access;
    }
}

static bool read_name(Reader *reader, Definition *definition, const char *expected_name)
{
    if (!token_is(&reader->token, "PROTO")) {
        reader_expect(reader, TOKEN_END, "PROTO");
        return false;
    }
    reader_advance(reader);
    if (reader->token.kind != TOKEN_WORD) {
        reader_expect(reader, TOKEN_WORD, "the name of the PROTO");
        return false;
    }
    definition->pos = reader->token.pos;
    const char *name = token_string(&reader->token, scene_arena(reader->scene));
    if (strcmp(name, expected_name)) {
        diag_warning(reader->diags, reader->token.pos, "the PROTO is named '%s', but its file '%s'", name,
                     path_name(definition->proto.path));
        diag_hint(reader->diags, "a PROTO is found by the name of its file");
    }
    reader_advance(reader);
    return true;
}

static bool read_file(Reader *reader, Definition *definition, const char *expected_name)
{
    SceneExtern declaration;
    int release_of_world = scene_release(definition->library->scene);
    reader->format = FORMAT_PROTO;
    if (definition->is_header_read)
        reader->release = definition->proto.release;
    else if (!reader_header(reader, FORMAT_PROTO) && release_of_world)
        reader->release = release_of_world;  // files without a header are as old as what uses them
    definition->proto.release = definition->scope->release = reader->release;
    reader->without_upgrade = definition->library->without_upgrade;
    while (reader_extern(reader, &declaration))
        if (declaration.url)
            proto_scope_declare(definition->scope, &declaration, reader->diags);
    if (!read_name(reader, definition, expected_name))
        return false;
    if (reader->token.kind != TOKEN_BRACKET_OPEN) {
        reader_expect(reader, TOKEN_BRACKET_OPEN, "'[' and the parameters of the PROTO");
        return false;
    }
    reader->is_body = true;  // instances in defaults are made when the default is used
    read_interface(reader, definition);
    reader->is_body = false;
    if (!reader_expect(reader, TOKEN_BRACKET_CLOSE, "']' after the parameters of the PROTO"))
        return false;
    if (reader->token.kind != TOKEN_BRACE_OPEN) {
        reader_expect(reader, TOKEN_BRACE_OPEN, "'{' and the body of the PROTO");
        return false;
    }
    definition->body_lexer = reader->lexer;
    definition->body_end = find_body_end(reader->lexer.at, reader->lexer.end);
    return true;
}

bool proto_read_definition(Definition *definition, const char *expected_name, DiagSink *diags)
{
    assert_debug(definition->text || definition->size == 0);
    ProtoLibrary *library = definition->library;
    Reader reader;
    read_comments(definition);
    ReaderText text = { definition->text, definition->size, diag_file(diags, definition->proto.path) };
    reader_init(&reader, library->definitions, text, &library->limits, diags);
    reader.protos = definition->scope;
    bool ok = read_file(&reader, definition, expected_name);
    reader_deinit(&reader);
    if (ok)
        find_template(definition);
    if (ok && definition->is_deprecated)
        diag_warning(diags, definition->pos, "the PROTO '%s' is deprecated", definition->proto.name);
    return ok;
}
