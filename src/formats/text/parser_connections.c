// A field after its name: its value, in the form of its release, or IS and a parameter of the PROTO.
#include "formats/formats_internal.h"

#include <string.h>

// Only asked where a field had another kind in old releases.
bool reader_value_has_form(const Reader *reader, FieldKind kind)
{
    Lexer lexer = reader->lexer;
    Token token = reader->token;
    bool is_bracketed = token.kind == TOKEN_BRACKET_OPEN;
    if (is_bracketed) {
        if (!field_kind_is_list(kind))
            return false;
        lexer_next(&lexer, &token);
        if (token.kind == TOKEN_BRACKET_CLOSE)
            return true;
    }
    kind = field_kind_item(kind);
    switch (kind) {
    case FIELD_SF_BOOL: return token_is(&token, "TRUE") || token_is(&token, "FALSE");
    case FIELD_SF_STRING: return token.kind == TOKEN_STRING;
    case FIELD_SF_NODE: return token.kind == TOKEN_WORD;
    default: break;
    }
    int wanted = int_max(field_kind_doubles(kind), 1), found = 0;
    for (; found <= wanted && token.kind == TOKEN_NUMBER; found++)
        lexer_next(&lexer, &token);
    return is_bracketed ? found >= wanted : found == wanted;
}

static int find_parameter(const Reader *reader, const Token *name)
{
    assert_debug(reader->parameters || reader->parameter_count == 0);
    for (int i = 0; i < reader->parameter_count; i++)
        if (token_is(name, reader->parameters[i].name))
            return i;
    return -1;
}

static void report_unknown_parameter(Reader *reader, const FieldType *type, const Token *name)
{
    assert_debug(reader->parameters || reader->parameter_count == 0);
    char buffer[64];
    reader_error(reader, name->pos, "%s IS %s: the PROTO has no such parameter", type->name,
                 token_describe(name, buffer));
    const char *candidates[256];
    int count = int_min(reader->parameter_count, COUNT_OF(candidates));
    for (int i = 0; i < count; i++)
        candidates[i] = reader->parameters[i].name;
    const char *word = arena_text(scene_arena(reader->scene), name->text, (size_t)int_min((int)name->length, 100));
    const char *closest = text_closest(word, candidates, count);
    if (closest)
        diag_hint(reader->diags, "did you mean '%s'?", closest);
}

// Whether scene_value_as() can make one of the other: a list of a single value, and numbers of numbers.
static bool is_convertible(FieldKind from, FieldKind to)
{
    FieldKind from_item = field_kind_item(from), to_item = field_kind_item(to);
    bool are_numbers = (from_item == FIELD_SF_INT32 || from_item == FIELD_SF_FLOAT)
                       && (to_item == FIELD_SF_INT32 || to_item == FIELD_SF_FLOAT);
    return (from_item == to_item || are_numbers) && (field_kind_is_list(to) || !field_kind_is_list(from));
}

// Arguments of a program were one string.
static bool is_old_list(const Reader *reader, FieldKind from, const FieldType *type)
{
    enum { FIRST_RELEASE_WITH_LISTS = 2020100 };
    return from == FIELD_SF_STRING && !strcmp(type->name, "controllerArgs") && reader->release
           && reader->release < FIRST_RELEASE_WITH_LISTS;
}

// A value of a form that the release of the file has no longer.
static void report_older_form(Reader *reader, const FieldType *type, SourcePos pos)
{
    assert_debug(type->older);
    const FieldType *older = type->older;
    if (!older->until || reader->format == FORMAT_VRML97 || !reader->release
        || reader->release <= schema_release(older->until, strlen(older->until)))
        return;
    diag_warning(reader->diags, pos, "%s is of type %s; a value of type %s, as up to %s, is converted", type->name,
                 field_kind_name(type->kind), field_kind_name(older->kind), older->until);
}

static bool read_connection(Reader *reader, const FieldType *type, SceneField *field)
{
    SourcePos pos = reader->token.pos;
    reader_advance(reader);
    Token name = reader->token;
    if (name.kind != TOKEN_WORD) {
        reader_expect(reader, TOKEN_WORD, "the name of a parameter after IS");
        return false;
    }
    reader_advance(reader);
    if (!reader->parameters && !reader->is_body) {
        reader_error(reader, pos, "%s IS ...: only the body of a PROTO can connect fields to parameters", type->name);
        return false;
    }
    int index = find_parameter(reader, &name);
    if (index < 0) {
        report_unknown_parameter(reader, type, &name);
        return false;
    }
    assert_debug(index >= 0 && index < reader->parameter_count);
    const FieldType *parameter = &reader->parameters[index];
    if (reader->parameter_used)
        reader->parameter_used[index] = true;
    if (type->older && parameter->kind == type->older->kind) {
        report_older_form(reader, type, name.pos);
        type = type->older;
    } else if (parameter->kind == type->kind) {
        // as it should be
    } else if (is_convertible(parameter->kind, type->kind)) {
        if (!is_old_list(reader, parameter->kind, type))
            diag_warning(
                reader->diags, name.pos,
                "type mismatch: the field '%s' is of type %s, its parameter '%s' of type %s; the value is converted",
                type->name, field_kind_name(type->kind), parameter->name, field_kind_name(parameter->kind));
    } else {
        reader_error(reader, name.pos, "type mismatch: the field '%s' is of type %s, its parameter '%s' of type %s",
                     type->name, field_kind_name(type->kind), parameter->name, field_kind_name(parameter->kind));
        return false;
    }
    *field = (SceneField){ .type = type, .value = type->value, .pos = pos, .parameter_index = (int16_t)index };
    if (field_kind_item(type->kind) != FIELD_SF_NODE)
        field->value = scene_value_as(reader->scene, parameter->value, parameter->kind, type->kind);
    return true;
}

// `boundingObject USE SHAPE` where SHAPE is the name of a parameter's whole default value: the field gets what the
// parameter has, as with IS.
static bool read_use_of_parameter(Reader *reader, const FieldType *type, int parameter, SceneField *field)
{
    assert(parameter >= 0 && parameter < reader->parameter_count && parameter <= INT16_MAX);
    *field = (SceneField){
        .type = type, .value = type->value, .pos = reader->token.pos, .parameter_index = (int16_t)parameter
    };
    if (reader->parameter_used)
        reader->parameter_used[parameter] = true;
    reader_advance(reader);
    reader_advance(reader);
    return true;
}

bool reader_field(Reader *reader, const FieldType *type, SceneField *field)
{
    assert_debug(type->name && field);
    int parameter = type->kind == FIELD_SF_NODE ? reader_parameter_of_use(reader) : -1;
    if (parameter >= 0)
        return read_use_of_parameter(reader, type, parameter, field);
    if (reader->token.kind == TOKEN_WORD && reader->token.length == 2 && token_is(&reader->token, "IS"))
        return read_connection(reader, type, field);
    if (type->older && !reader_value_has_form(reader, type->kind) && reader_value_has_form(reader, type->older->kind)) {
        report_older_form(reader, type, reader->token.pos);
        type = type->older;
    }
    field->type = type;
    field->parameter_index = -1;
    field->instance_id = 0;
    field->is_default = false;
    return reader_value(reader, type, &field->value);
}
