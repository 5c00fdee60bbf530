// Values of fields: of every kind, with their ranges.
#include "base/memory.h"
#include "formats/formats_internal.h"
#include "formats/text/parser_internal.h"

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
    assert_debug(type->allowed);
    char given[NUMBER_TEXT], kept[NUMBER_TEXT];
    text_from_double(given, value);
    text_from_double(kept, used);
    diag_warning(reader->diags, pos, "%s %s is outside of %s; using %s", type->name, given, type->allowed, kept);
}

// "!=0" of a vector forbids the zero vector alone; every other range holds for each component.
static bool is_vector_condition(const FieldType *type, int count)
{
    assert_debug(type->allowed);
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
    assert_debug(isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]) && isfinite(v[3]));
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
static bool report_far(Reader *reader, SourcePos pos, const FieldType *type)
{
    reader_error(reader, pos, "%s has a number beyond %g; the default is kept", type->name, LIMIT_COORDINATE);
    return false;
}

// A vector is whole or not there: of a broken one the default counts, since two of three coordinates are a place
// that nobody meant.
static bool read_vector(Reader *reader, const FieldType *type, FieldValue *value)
{
    FieldKind item_kind = field_kind_item(type->kind);
    int count = field_kind_doubles(item_kind);
    assert(count >= 1 && count <= 4);
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
    if (!field_type_holds(type, numbers, count))
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
    assert_debug(isfinite(number));
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
    assert_debug(allowed && *allowed);
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
    assert_debug(type->allowed);
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
    assert_debug(type->kind == FIELD_SF_STRING);
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
    assert_debug(!field_kind_is_list(item_kind));
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
    if (!field_type_holds(type, numbers, count))
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
    assert_debug(type->kind == FIELD_MF_INT32);
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
    assert_debug(type->kind == FIELD_MF_BOOL);
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
    assert_debug(type->kind == FIELD_MF_STRING);
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
    assert_debug(type->kind == FIELD_MF_NODE);
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
        if (is_read && node && fits)
            *memory_push(reader->scratch.nodes, reader->scratch.node_count, reader->scratch.node_capacity) = node;
        else if (!fits)
            defs_each(reader, node, defs_forget);
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
    assert(count >= 0);
    value->list = new_list(reader, reader->scratch.nodes + base, count, sizeof(SceneNode *));
    reader->scratch.node_count = base;
    return true;
}

static bool read_list(Reader *reader, const FieldType *type, FieldValue *value)
{
    assert_debug(field_kind_is_list(type->kind));
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
