// Values of fields: of every kind, with their ranges, and connections to parameters.
#include "base/memory.h"
#include "formats/formats_internal.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER_TEXT = 32 };

// ---- ranges ----

// The usual bounds without reading their text again for every number of a large list.
static inline bool is_plainly_allowed(const char *allowed, double value)
{
    if (!allowed)
        return true;
    if (allowed[0] == '>' && allowed[1] == '0' && !allowed[2])
        return value > 0.0;
    if (allowed[0] == '>' && allowed[1] == '=' && allowed[2] == '0' && !allowed[3])
        return value >= 0.0;
    return schema_allows_number(allowed, value, NULL);
}

static void report_range(Reader *reader, SourcePos pos, const FieldType *type, double value, double used)
{
    char given[NUMBER_TEXT], kept[NUMBER_TEXT];
    text_from_double(given, value);
    text_from_double(kept, used);
    diag_warning(reader->diags, pos, "%s %s is outside of %s; using %s", type->name, given, type->allowed, kept);
}

// "!=0" of a vector forbids the zero vector alone; every other range holds for each component.
static bool is_vector_condition(const FieldType *type, int count)
{
    return count > 1 && !strncmp(type->allowed, "!=", 2);
}

// Webots writes six digits: 6.28319 is how it says two pi, and no mistake.
static bool is_rounded(double value, double bound)
{
    static const double six_digits = 5e-6;
    return fabs(value - bound) <= six_digits * fabs(bound);
}

static void check_numbers(Reader *reader, SourcePos pos, const FieldType *type, double *numbers, int count,
                          const double *preset)
{
    assert_debug(count >= 0 && (numbers || count == 0));
    if (!type->allowed)
        return;
    if (is_vector_condition(type, count)) {
        bool is_zero = true;
        for (int i = 0; i < count; i++)
            is_zero = is_zero && numbers[i] == 0.0;
        if (is_zero) {
            diag_warning(reader->diags, pos, "%s must not be the zero vector; using the default", type->name);
            memcpy(numbers, preset, (size_t)count * sizeof *numbers);
        }
        return;
    }
    for (int i = 0; i < count; i++) {
        if (is_plainly_allowed(type->allowed, numbers[i]))
            continue;
        double nearest;
        schema_allows_number(type->allowed, numbers[i], &nearest);
        if (isnan(nearest) || field_kind_item(type->kind) == FIELD_SF_INT32)
            nearest = preset[i];  // whole numbers are sizes and choices: the nearest one means as little as any other
        if (!is_rounded(numbers[i], nearest))
            report_range(reader, pos, type, numbers[i], nearest);
        numbers[i] = nearest;
    }
}

// ---- numbers ----

static bool is_not_finite_word(const Token *token)
{
    if (token->kind != TOKEN_WORD)
        return false;
    double value;
    const char *end = token->text + token->length;
    return text_scan_double(token->text, end, &value) == end && !isfinite(value);
}

// One number at the current token. Numbers that are not finite are reported and make *is_finite false.
static bool read_number(Reader *reader, const FieldType *type, double *value, bool *is_finite)
{
    const Token *token = &reader->token;
    if (token->kind == TOKEN_NUMBER && isfinite(token->number)) {
        *value = token->number;
    } else if (token->kind == TOKEN_NUMBER || is_not_finite_word(token)) {
        char buffer[64];
        if (*is_finite) {
            reader_error(reader, token->pos, "%s: %s is not a finite number; the default is kept", type->name,
                         token_describe(token, buffer));
            *is_finite = false;
        }
        if (reader->token.kind == TOKEN_END)
            return false;
        *value = 0.0;
    } else {
        int64_t whole;
        const char *end = token->text + token->length;
        if (token->kind != TOKEN_WORD || text_scan_int(token->text, end, &whole) != end)  // hexadecimal
            return false;
        *value = (double)whole;
    }
    reader_advance(reader);
    return true;
}

static void report_wrong_kind(Reader *reader, const FieldType *type, const char *wanted)
{
    char buffer[64];
    reader_error(reader, reader->token.pos, "%s wants %s, found %s", type->name, wanted,
                 token_describe(&reader->token, buffer));
}

static const char *wanted_numbers(FieldKind item_kind)
{
    switch (item_kind) {
    case FIELD_SF_BOOL: return "TRUE or FALSE";
    case FIELD_SF_INT32: return "a whole number";
    case FIELD_SF_FLOAT: return "a number";
    case FIELD_SF_VEC2F: return "2 numbers";
    case FIELD_SF_VEC3F: return "3 numbers";
    case FIELD_SF_ROTATION: return "4 numbers";
    case FIELD_SF_COLOR: return "3 numbers (red, green and blue)";
    case FIELD_SF_STRING: return "a string in quotes";
    default: return "a node";
    }
}

// A turn about no axis, or of more turns than a double can tell, has no meaning worth keeping.
static void mend_rotation(Reader *reader, SourcePos pos, const FieldType *type, double *v)
{
    if (v[0] == 0.0 && v[1] == 0.0 && v[2] == 0.0) {
        diag_warning(reader->diags, pos, "%s turns about the axis 0 0 0; using no rotation", type->name);
        v[0] = v[1] = v[3] = 0.0;
        v[2] = 1.0;
        return;
    }
    double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    if (!isfinite(length) || length < 1e-100) {
        double largest = fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
        Vec3 axis = vec3_normalized(vec3(v[0] / largest, v[1] / largest, v[2] / largest));
        diag_warning(reader->diags, pos, "%s has an axis of extreme length; it is normalised", type->name);
        v[0] = axis.x;
        v[1] = axis.y;
        v[2] = axis.z;
    }
    if (fabs(v[3]) > 1e6) {
        char given[NUMBER_TEXT];
        text_from_double(given, v[3]);
        v[3] = fmod(v[3], 2.0 * 3.14159265358979323846);
        diag_warning(reader->diags, pos, "%s turns by %s rad; whole turns are taken off", type->name, given);
    }
}

// Places beyond any world are mistakes that no later arithmetic survives.
static bool is_far(FieldKind item_kind, const double *numbers, int count)
{
    if (item_kind != FIELD_SF_VEC2F && item_kind != FIELD_SF_VEC3F)
        return false;
    for (int i = 0; i < count; i++)
        if (fabs(numbers[i]) > LIMIT_COORDINATE)
            return true;
    return false;
}

static bool report_far(Reader *reader, SourcePos pos, const FieldType *type)
{
    reader_error(reader, pos, "%s has a number beyond %g; the default is kept", type->name, LIMIT_COORDINATE);
    return false;
}

// A translation may be anything that a supervisor can set and a save then holds: who places bodies and shapes looks at
// it again.
static bool may_be_far(const FieldType *type, const double numbers[3])
{
    return !strcmp(type->name, "translation") && fabs(numbers[0]) <= (double)FLT_MAX
           && fabs(numbers[1]) <= (double)FLT_MAX && fabs(numbers[2]) <= (double)FLT_MAX;
}

// A vector is whole or not there: of a broken one the default counts, since two of three coordinates are a place
// that nobody meant.
static bool read_vector(Reader *reader, const FieldType *type, FieldValue *value)
{
    FieldKind item_kind = field_kind_item(type->kind);
    int count = field_kind_doubles(item_kind);
    SourcePos pos = reader->token.pos;
    bool is_finite = true;
    double numbers[4] = { 0 };
    for (int i = 0; i < count; i++) {
        if (read_number(reader, type, &numbers[i], &is_finite))
            continue;
        if (i == 0) {
            report_wrong_kind(reader, type, wanted_numbers(item_kind));
            reader_skip_value(reader);
        } else {
            char buffer[64];
            reader_error(reader, reader->token.pos, "%s wants %s, found only %d before %s", type->name,
                         wanted_numbers(item_kind), i, token_describe(&reader->token, buffer));
        }
        return false;
    }
    if (!is_finite)
        return false;
    if (is_far(item_kind, numbers, count) && !may_be_far(type, numbers))
        return report_far(reader, pos, type);
    if (item_kind == FIELD_SF_ROTATION)
        mend_rotation(reader, pos, type, numbers);
    check_numbers(reader, pos, type, numbers, count, count == 1 ? &type->value.f : type->value.v);
    if (count == 1)
        value->f = numbers[0];
    else
        memcpy(value->v, numbers, (size_t)count * sizeof *numbers);
    return true;
}

static int32_t to_int(Reader *reader, const FieldType *type, SourcePos pos, double number)
{
    double whole = nearbyint(number);
    if (whole > INT32_MAX || whole < INT32_MIN) {
        char given[NUMBER_TEXT];
        text_from_double(given, number);
        diag_warning(reader->diags, pos, "%s %s is beyond 32 bits; using the nearest", type->name, given);
        return whole > 0 ? INT32_MAX : INT32_MIN;
    }
    if (whole != number) {
        char given[NUMBER_TEXT];
        text_from_double(given, number);
        diag_warning(reader->diags, pos, "%s wants a whole number; %s is rounded to %d", type->name, given, (int)whole);
    }
    return (int32_t)whole;
}

static bool read_int(Reader *reader, const FieldType *type, FieldValue *value)
{
    SourcePos pos = reader->token.pos;
    bool is_finite = true;
    double number;
    if (!read_number(reader, type, &number, &is_finite)) {
        report_wrong_kind(reader, type, wanted_numbers(FIELD_SF_INT32));
        reader_skip_value(reader);
        return false;
    }
    if (!is_finite)
        return false;
    double preset = type->value.i;
    number = to_int(reader, type, pos, number);
    check_numbers(reader, pos, type, &number, 1, &preset);
    value->i = (int32_t)number;
    return true;
}

static bool take_bool(Reader *reader, bool *value)
{
    if (token_is(&reader->token, "TRUE") || token_is(&reader->token, "true"))
        *value = true;
    else if (token_is(&reader->token, "FALSE") || token_is(&reader->token, "false"))
        *value = false;
    else
        return false;
    reader_advance(reader);
    return true;
}

static bool read_bool(Reader *reader, const FieldType *type, FieldValue *value)
{
    if (take_bool(reader, &value->b))
        return true;
    report_wrong_kind(reader, type, wanted_numbers(FIELD_SF_BOOL));
    reader_skip_value(reader);
    return false;
}

// ---- strings ----

static const char *closest_word(const char *allowed, const char *word, Arena *arena)
{
    const char *candidates[64];
    int count = 0;
    for (const char *at = allowed; *at && count < COUNT_OF(candidates);) {
        size_t length = strcspn(at, "|");
        candidates[count++] = arena_text(arena, at, length);
        at += length + (at[length] == '|');
    }
    return text_closest(word, candidates, count);
}

static void report_word(Reader *reader, const FieldType *type, SourcePos pos, const char *word)
{
    diag_warning(reader->diags, pos, "%s \"%.60s\" is none of %s; using the default", type->name, word, type->allowed);
    const char *closest = closest_word(type->allowed, word, scene_arena(reader->scene));
    if (closest)
        diag_hint(reader->diags, "did you mean \"%s\"?", closest);
}

static bool is_too_long(Reader *reader)
{
    if ((int64_t)reader->token.length <= reader->limits->string_bytes)
        return false;
    reader_error(reader, reader->token.pos, "this string is longer than %lld bytes",
                 (long long)reader->limits->string_bytes);
    return true;
}

static bool read_string(Reader *reader, const FieldType *type, FieldValue *value)
{
    if (reader->token.kind != TOKEN_STRING) {
        report_wrong_kind(reader, type, wanted_numbers(FIELD_SF_STRING));
        reader_skip_value(reader);
        return false;
    }
    SourcePos pos = reader->token.pos;
    if (is_too_long(reader)) {
        reader_advance(reader);
        return false;
    }
    const char *word = token_string(&reader->token, scene_arena(reader->scene));
    reader_advance(reader);
    if (!schema_allows_word(type->allowed, word)) {
        report_word(reader, type, pos, word);
        return false;
    }
    value->s = word;
    return true;
}

// ---- lists ----

static FieldList *new_list(Reader *reader, const void *items, int count, size_t item_size)
{
    assert_debug(count >= 0 && item_size > 0);
    // One piece for the list and its items: most lists are short, and there are very many.
    FieldList *list = arena_alloc(scene_arena(reader->scene), sizeof *list + (size_t)count * item_size);
    list->count = list->capacity = count;
    list->items = list + 1;
    if (count)
        memcpy(list->items, items, (size_t)count * item_size);
    return list;
}

static bool has_room(Reader *reader, const FieldType *type, int count)
{
    if (count < reader->limits->array_items && count < INT32_MAX / 8)
        return true;
    reader_error(reader, reader->token.pos, "%s has more than %lld items", type->name,
                 (long long)reader->limits->array_items);
    return false;
}

// After a mistake inside of a list: on to its end, or to whatever shows that the end is missing.
static void skip_to_list_end(Reader *reader)
{
    while (reader->token.kind != TOKEN_BRACKET_CLOSE && reader->token.kind != TOKEN_END
           && reader->token.kind != TOKEN_BRACE_CLOSE) {
        if (reader->token.kind == TOKEN_BRACKET_OPEN || reader->token.kind == TOKEN_BRACE_OPEN)
            reader_skip_block(reader);
        else
            reader_advance(reader);
    }
    if (reader->token.kind == TOKEN_BRACKET_CLOSE)
        reader_advance(reader);
}

// Whether the list goes on after the mistake at the current token: its ']' comes before any other bracket.
static bool list_goes_on(const Reader *reader)
{
    Lexer ahead = reader->lexer;
    Token token = reader->token;
    while (token.kind == TOKEN_WORD || token.kind == TOKEN_NUMBER || token.kind == TOKEN_STRING)
        lexer_next(&ahead, &token);
    return token.kind == TOKEN_BRACKET_CLOSE;
}

static bool report_in_list(Reader *reader, const FieldType *type, FieldKind item_kind, SourcePos opened)
{
    char buffer[64];
    reader_error(reader, reader->token.pos, "%s is a list of which each item is %s; found %s", type->name,
                 wanted_numbers(item_kind), token_describe(&reader->token, buffer));
    diag_hint(reader->diags, "is the ']' missing of the list that begins at %u:%u?", opened.line, opened.column);
    return false;
}

// Numbers of a list into the scratch. Returns how many, -1 after a mistake.
static int read_list_numbers(Reader *reader, const FieldType *type, FieldKind item_kind, bool is_bracketed)
{
    int per_item = int_max(field_kind_doubles(item_kind), 1);
    int count = 0;
    bool is_finite = true, fits = true;
    SourcePos opened = reader->token.pos;
    while (is_bracketed ? reader->token.kind != TOKEN_BRACKET_CLOSE : count < per_item) {
        if (fits && count % per_item == 0)
            fits = has_room(reader, type, count / per_item);
        if (fits && count + 1 > reader->scratch.number_capacity)
            memory_grow(&reader->scratch.numbers, &reader->scratch.number_capacity, count + 1, sizeof(double));
        double number;
        if (!read_number(reader, type, &number, &is_finite)) {
            if (!is_bracketed) {
                report_wrong_kind(reader, type, wanted_numbers(item_kind));
                reader_skip_value(reader);
                return -1;
            }
            report_in_list(reader, type, item_kind, opened);
            if (reader->token.kind != TOKEN_WORD || list_goes_on(reader))
                skip_to_list_end(reader);
            return -1;
        }
        if (fits)
            reader->scratch.numbers[count++] = number;
    }
    if (is_bracketed)
        reader_advance(reader);
    return is_finite && fits ? count : -1;
}

// The numbers of the whole list are read before they are checked: an item is some of them (a vector, a rotation),
// and one message tells of the list.
static bool read_number_list(Reader *reader, const FieldType *type, bool is_bracketed, FieldValue *value)
{
    assert_debug(type && value);
    FieldKind item_kind = field_kind_item(type->kind);
    int per_item = field_kind_doubles(item_kind);
    SourcePos pos = reader->token.pos;
    int count = read_list_numbers(reader, type, item_kind, is_bracketed);
    if (count < 0)
        return false;
    if (count % per_item != 0) {
        reader_error(reader, pos, "%s has %d numbers, which is no multiple of %d; the last %d %s left out", type->name,
                     count, per_item, count % per_item, count % per_item == 1 ? "is" : "are");
        count -= count % per_item;
    }
    double *numbers = reader->scratch.numbers;
    if (is_far(item_kind, numbers, count))
        return report_far(reader, pos, type);
    if (item_kind == FIELD_SF_ROTATION)
        for (int i = 0; i < count; i += 4)
            mend_rotation(reader, pos, type, numbers + i);
    if (type->allowed) {
        for (int i = 0; i < count; i++) {
            if (is_plainly_allowed(type->allowed, numbers[i]))
                continue;
            double nearest;
            schema_allows_number(type->allowed, numbers[i], &nearest);
            if (isnan(nearest)) {
                diag_warning(reader->diags, pos, "an item of %s is outside of %s; using the default list", type->name,
                             type->allowed);
                return false;
            }
            report_range(reader, pos, type, numbers[i], nearest);
            numbers[i] = nearest;
        }
    }
    value->list = new_list(reader, numbers, count / per_item, (size_t)per_item * sizeof(double));
    return true;
}

static bool read_int_list(Reader *reader, const FieldType *type, bool is_bracketed, FieldValue *value)
{
    SourcePos pos = reader->token.pos;
    int count = read_list_numbers(reader, type, FIELD_SF_INT32, is_bracketed);
    if (count < 0)
        return false;
    FieldList *list = arena_alloc(scene_arena(reader->scene), sizeof *list + (size_t)count * sizeof(int32_t));
    list->count = list->capacity = count;
    list->ints = (int32_t *)(list + 1);
    for (int i = 0; i < count; i++)
        list->ints[i] = to_int(reader, type, pos, reader->scratch.numbers[i]);
    value->list = list;
    return true;
}

// Shares the stack of numbers with the other lists; a truth is 0 or 1 there.
static bool read_bool_list(Reader *reader, const FieldType *type, bool is_bracketed, FieldValue *value)
{
    SourcePos opened = reader->token.pos;
    int count = 0;
    while (is_bracketed ? reader->token.kind != TOKEN_BRACKET_CLOSE : count < 1) {
        bool item;
        if (!has_room(reader, type, count) || !take_bool(reader, &item)) {
            if (is_bracketed) {
                report_in_list(reader, type, FIELD_SF_BOOL, opened);
                if (reader->token.kind != TOKEN_WORD || list_goes_on(reader))
                    skip_to_list_end(reader);
            } else {
                report_wrong_kind(reader, type, wanted_numbers(FIELD_SF_BOOL));
                reader_skip_value(reader);
            }
            return false;
        }
        *memory_push(reader->scratch.numbers, count, reader->scratch.number_capacity) = item;
    }
    if (is_bracketed)
        reader_advance(reader);
    FieldList *list = arena_alloc(scene_arena(reader->scene), sizeof *list + (size_t)count * sizeof(bool));
    list->count = list->capacity = count;
    list->bools = (bool *)(list + 1);
    for (int i = 0; i < count; i++)
        list->bools[i] = reader->scratch.numbers[i] != 0.0;
    value->list = list;
    return true;
}

// Items wait on the reader's own stack until the list is whole, so that no list is copied while it grows.
static bool read_string_list(Reader *reader, const FieldType *type, bool is_bracketed, FieldValue *value)
{
    SourcePos opened = reader->token.pos;
    int count = 0;
    while (is_bracketed ? reader->token.kind != TOKEN_BRACKET_CLOSE : count < 1) {
        if (reader->token.kind != TOKEN_STRING) {
            if (!is_bracketed) {
                report_wrong_kind(reader, type, wanted_numbers(FIELD_SF_STRING));
                reader_skip_value(reader);
            } else {
                report_in_list(reader, type, FIELD_SF_STRING, opened);
                if (reader->token.kind != TOKEN_WORD || list_goes_on(reader))
                    skip_to_list_end(reader);
            }
            return false;
        }
        if (!has_room(reader, type, count)) {
            skip_to_list_end(reader);
            return false;
        }
        SourcePos pos = reader->token.pos;
        const char *word = is_too_long(reader) ? NULL : token_string(&reader->token, scene_arena(reader->scene));
        reader_advance(reader);
        if (word && !schema_allows_word(type->allowed, word)) {
            report_word(reader, type, pos, word);
            word = NULL;
        }
        if (!word) {
            if (!is_bracketed)
                return false;
            continue;
        }
        *memory_push(reader->scratch.strings, count, reader->scratch.string_capacity) = word;
    }
    if (is_bracketed)
        reader_advance(reader);
    value->list = new_list(reader, reader->scratch.strings, count, sizeof(const char *));
    return true;
}

static bool read_node_list(Reader *reader, const FieldType *type, bool is_bracketed, FieldValue *value)
{
    SourcePos opened = reader->token.pos;
    int base = reader->scratch.node_count;
    bool fits = true;
    do {
        const char *before = reader->token.text;
        if (is_bracketed && reader->token.kind == TOKEN_BRACKET_CLOSE)
            break;
        if (reader->token.kind != TOKEN_WORD) {
            char buffer[64];
            reader_error(reader, reader->token.pos, "%s is a list of nodes; found %s", type->name,
                         token_describe(&reader->token, buffer));
            if (is_bracketed)
                diag_hint(reader->diags, "is the ']' missing of the list that begins at %u:%u?", opened.line,
                          opened.column);
            if (reader->token.kind == TOKEN_BRACE_CLOSE || reader->token.kind == TOKEN_END || !is_bracketed)
                break;
            if (reader->token.kind == TOKEN_BRACE_OPEN || reader->token.kind == TOKEN_BRACKET_OPEN)
                reader_skip_block(reader);
            else
                reader_advance(reader);
            continue;
        }
        fits = fits && has_room(reader, type, reader->scratch.node_count - base);
        SceneNode *node;
        bool is_read = reader_node(reader, &node);
        if (is_read && node && fits) {
            *memory_push(reader->scratch.nodes, reader->scratch.node_count, reader->scratch.node_capacity) = node;
        }
        if (!is_read && reader->token.text == before) {
            // A word that begins no node: most likely the next field, after a list without its end.
            diag_hint(reader->diags, "is the ']' missing of the list that begins at %u:%u?", opened.line,
                      opened.column);
            is_bracketed = false;
        }
    } while (is_bracketed);
    if (is_bracketed && reader->token.kind == TOKEN_BRACKET_CLOSE)
        reader_advance(reader);
    int count = reader->scratch.node_count - base;
    value->list = new_list(reader, reader->scratch.nodes + base, count, sizeof(SceneNode *));
    reader->scratch.node_count = base;
    return true;
}

static bool read_list(Reader *reader, const FieldType *type, FieldValue *value)
{
    bool is_bracketed = reader->token.kind == TOKEN_BRACKET_OPEN;
    if (is_bracketed)
        reader_advance(reader);
    switch (type->kind) {
    case FIELD_MF_BOOL: return read_bool_list(reader, type, is_bracketed, value);
    case FIELD_MF_INT32: return read_int_list(reader, type, is_bracketed, value);
    case FIELD_MF_STRING: return read_string_list(reader, type, is_bracketed, value);
    case FIELD_MF_NODE: return read_node_list(reader, type, is_bracketed, value);
    default: return read_number_list(reader, type, is_bracketed, value);
    }
}

static bool read_node_value(Reader *reader, const FieldType *type, FieldValue *value)
{
    if (reader->token.kind != TOKEN_WORD) {
        report_wrong_kind(reader, type, wanted_numbers(FIELD_SF_NODE));
        reader_skip_value(reader);
        return false;
    }
    return reader_node(reader, &value->node);
}

bool reader_value(Reader *reader, const FieldType *type, FieldValue *value)
{
    *value = type->value;
    bool is_read;
    switch (type->kind) {
    case FIELD_SF_BOOL: is_read = read_bool(reader, type, value); break;
    case FIELD_SF_INT32: is_read = read_int(reader, type, value); break;
    case FIELD_SF_STRING: is_read = read_string(reader, type, value); break;
    case FIELD_SF_NODE: is_read = read_node_value(reader, type, value); break;
    default:
        is_read = field_kind_is_list(type->kind) ? read_list(reader, type, value) : read_vector(reader, type, value);
        break;
    }
    if (!is_read)
        *value = type->value;
    return is_read;
}

// ---- fields and connections ----

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
    *field = (SceneField){ .type = type, .value = type->value, .pos = pos, .is_parameter = (int16_t)index };
    if (field_kind_item(type->kind) != FIELD_SF_NODE)
        field->value = scene_value_as(reader->scene, parameter->value, parameter->kind, type->kind);
    return true;
}

// `boundingObject USE SHAPE` where SHAPE is the name of a parameter's whole default value: the field gets what the
// parameter has, as with IS.
static bool read_use_of_parameter(Reader *reader, const FieldType *type, int parameter, SceneField *field)
{
    *field = (SceneField){
        .type = type, .value = type->value, .pos = reader->token.pos, .is_parameter = (int16_t)parameter
    };
    if (reader->parameter_used)
        reader->parameter_used[parameter] = true;
    reader_advance(reader);
    reader_advance(reader);
    return true;
}

bool reader_field(Reader *reader, const FieldType *type, SceneField *field)
{
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
    field->is_parameter = -1;
    field->is_instance = 0;
    field->is_default = false;
    return reader_value(reader, type, &field->value);
}
