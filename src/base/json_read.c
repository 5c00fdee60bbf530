// json_read.c - reads JSON into a tree, with bounded depth.
#include "base/json_read.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

typedef struct Reader {
    Arena *arena;
    const char *at, *end;
    const char *why;
    int depth;
} Reader;

static bool fail(Reader *reader, const char *why)
{
    if (!reader->why)
        reader->why = why;
    return false;
}

static void skip_blanks(Reader *reader)
{
    while (reader->at < reader->end && strchr(" \t\r\n", *reader->at) && *reader->at)
        reader->at++;
}

static bool take(Reader *reader, char c)
{
    skip_blanks(reader);
    if (reader->at >= reader->end || *reader->at != c)
        return false;
    reader->at++;
    return true;
}

// ---- strings ----

static bool read_hex(Reader *reader, uint32_t *code)
{
    *code = 0;
    if (reader->end - reader->at < 4)
        return fail(reader, "a \\u escape is cut short");
    for (int i = 0; i < 4; i++) {
        char c = *reader->at++;
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return fail(reader, "a \\u escape wants four hexadecimal digits");
        *code = *code * 16 + (uint32_t)digit;
    }
    return true;
}

static char *add_utf8(char *to, uint32_t code)
{
    assert_debug(code < 0x110000);
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
        *to++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *to++ = (char)(0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    } else {
        *to++ = (char)(0xf0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 0x3f));
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    }
    return to;
}

// After the backslash and the u. Characters beyond 16 bits are written as two escapes.
static bool read_unicode(Reader *reader, char **to)
{
    uint32_t code, low;
    if (!read_hex(reader, &code))
        return false;
    if (code >= 0xd800 && code < 0xdc00 && reader->end - reader->at >= 6 && reader->at[0] == '\\'
        && reader->at[1] == 'u') {
        reader->at += 2;
        if (!read_hex(reader, &low))
            return false;
        if (low < 0xdc00 || low > 0xdfff)
            return fail(reader, "half of a \\u pair is missing");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    if (code >= 0xd800 && code < 0xe000)
        return fail(reader, "half of a \\u pair is missing");
    if (code == 0)
        return fail(reader, "a string has the character 0 in it");
    *to = add_utf8(*to, code);
    return true;
}

static bool read_escape(Reader *reader, char **to)
{
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    char c = reader->at < reader->end ? *reader->at++ : '\0';
    if (c == 'u')
        return read_unicode(reader, to);
    const char *place = c ? strchr(names, c) : NULL;
    if (!place)
        return fail(reader, "there is no such escape in a string");
    *(*to)++ = meanings[place - names];
    return true;
}

// After the opening quote. The decoded text is never longer than what stands for it.
static bool read_string(Reader *reader, const char **text, size_t *length)
{
    const char *stop = reader->at;
    while (stop < reader->end && *stop != '"')
        stop += *stop == '\\' && stop + 1 < reader->end ? 2 : 1;
    if (stop >= reader->end)
        return fail(reader, "a string does not end");
    char *start = arena_alloc(reader->arena, (size_t)(stop - reader->at) + 1), *to = start;
    while (reader->at < stop) {
        char c = *reader->at++;
        if ((unsigned char)c < 0x20)
            return fail(reader, "a string has a control character in it");
        if (c == '\\' ? !read_escape(reader, &to) : (*to++ = c, false))
            return false;
    }
    reader->at = stop + 1;
    *text = start;
    *length = (size_t)(to - start);
    size_t bad;
    return text_is_valid_utf8(start, *length, &bad) || fail(reader, "a string is not valid UTF-8");
}

// ---- values ----

static bool read_value(Reader *reader, JsonValue *value);

static bool read_items(Reader *reader, JsonValue *value)
{
    assert_debug(value->kind == JSON_OBJECT || value->kind == JSON_ARRAY);
    bool is_object = value->kind == JSON_OBJECT;
    char end = is_object ? '}' : ']';
    const JsonValue **link = &value->first;
    if (take(reader, end))
        return true;
    do {
        JsonValue *item = arena_alloc(reader->arena, sizeof *item);
        size_t length;
        if (is_object && !take(reader, '"'))
            return fail(reader, "a member of an object begins with its name in quotes");
        if (is_object && !read_string(reader, &item->key, &length))
            return false;
        if (is_object && !take(reader, ':'))
            return fail(reader, "a ':' is missing");
        if (!read_value(reader, item))
            return false;
        *link = item;
        link = (const JsonValue **)&item->next;
        value->count++;
    } while (take(reader, ','));
    return take(reader, end) || fail(reader, "a ',' or the end of a list is missing");
}

static bool read_word(Reader *reader, JsonValue *value)
{
    static const struct {
        const char *word;
        JsonKind kind;
        bool truth;
    } words[] = { { "null", JSON_NULL, false }, { "true", JSON_BOOL, true }, { "false", JSON_BOOL, false } };
    for (int i = 0; i < COUNT_OF(words); i++) {
        size_t length = strlen(words[i].word);
        if ((size_t)(reader->end - reader->at) >= length && !memcmp(reader->at, words[i].word, length)) {
            reader->at += length;
            value->kind = words[i].kind;
            value->truth = words[i].truth;
            return true;
        }
    }
    return fail(reader, "a value is missing");
}

static bool read_number(Reader *reader, JsonValue *value)
{
    char c = *reader->at, next = reader->end - reader->at > 1 ? reader->at[1] : '\0';
    if (!(c >= '0' && c <= '9') && !(c == '-' && next >= '0' && next <= '9'))
        return read_word(reader, value);
    const char *stop = text_scan_double(reader->at, reader->end, &value->number);
    if (!stop || !isfinite(value->number))
        return fail(reader, "a number cannot be read");
    value->kind = JSON_NUMBER;
    reader->at = stop;
    return true;
}

static bool read_value(Reader *reader, JsonValue *value)
{
    skip_blanks(reader);
    if (reader->at >= reader->end)
        return fail(reader, "a value is missing");
    if (reader->depth >= JSON_DEPTH_MAX)
        return fail(reader, "lists are nested too deep");
    reader->depth++;
    char c = *reader->at;
    bool is_read;
    if (c == '"') {
        reader->at++;
        value->kind = JSON_STRING;
        is_read = read_string(reader, &value->text, &value->length);
    } else if (c == '{' || c == '[') {
        reader->at++;
        value->kind = c == '{' ? JSON_OBJECT : JSON_ARRAY;
        is_read = read_items(reader, value);
    } else {
        is_read = read_number(reader, value);
    }
    reader->depth--;
    return is_read;
}

const JsonValue *json_parse(Arena *arena, const char *text, size_t size, const char **why)
{
    assert_debug(arena && (text || size == 0));
    Reader reader = { .arena = arena, .at = text, .end = text + size };
    JsonValue *value = arena_alloc(arena, sizeof *value);
    bool is_read = read_value(&reader, value);
    skip_blanks(&reader);
    if (is_read && reader.at != reader.end)
        is_read = fail(&reader, "something follows the value");
    if (why)
        *why = reader.why;
    return is_read ? value : NULL;
}

// ---- members ----

const JsonValue *json_member(const JsonValue *object, const char *key)
{
    if (!object || object->kind != JSON_OBJECT)
        return NULL;
    for (const JsonValue *item = object->first; item; item = item->next)
        if (!strcmp(item->key, key))
            return item;
    return NULL;
}

const char *json_member_string(const JsonValue *object, const char *key)
{
    const JsonValue *value = json_member(object, key);
    return value && value->kind == JSON_STRING ? value->text : NULL;
}

bool json_member_number(const JsonValue *object, const char *key, double *value)
{
    const JsonValue *member = json_member(object, key);
    if (!member || member->kind != JSON_NUMBER)
        return false;
    *value = member->number;
    return true;
}

bool json_member_bool(const JsonValue *object, const char *key, bool preset)
{
    const JsonValue *member = json_member(object, key);
    return member && member->kind == JSON_BOOL ? member->truth : preset;
}

bool json_member_numbers(const JsonValue *object, const char *key, double *values, int count)
{
    assert_debug(values && count >= 0);
    const JsonValue *member = json_member(object, key);
    if (!member || member->kind != JSON_ARRAY || member->count != count)
        return false;
    for (const JsonValue *item = member->first; item; item = item->next) {
        if (item->kind != JSON_NUMBER)
            return false;
        *values++ = item->number;
    }
    return true;
}

bool json_member_int(const JsonValue *object, const char *key, int64_t low, int64_t high, int64_t *value)
{
    double number;
    if (!json_member_number(object, key, &number) || number < (double)low || number > (double)high
        || number != floor(number))
        return false;
    *value = (int64_t)number;
    return true;
}
