// json.c - writes JSON, value by value.
#include "base/json.h"

#include <math.h>
#include <string.h>

static void add_quoted(Text *out, const char *value)
{
    size_t length = strlen(value);
    bool valid = text_is_valid_utf8(value, length, NULL);
    text_add_char(out, '"');
    for (const char *c = value; *c; c++) {
        unsigned char byte = (unsigned char)*c;
        if (byte == '"' || byte == '\\')
            text_printf(out, "\\%c", byte);
        else if (byte < ' ' || byte == 0x7f || (byte >= 0x80 && !valid))
            text_printf(out, "\\u%04x", byte);
        else
            text_add_char(out, *c);
    }
    text_add_char(out, '"');
}

static void begin_value(JsonWriter *json, const char *key)
{
    if (json->needs_comma)
        text_add_char(json->out, ',');
    if (json->depth > 0 && !json->compact) {
        text_add_char(json->out, '\n');
        for (int i = 0; i < json->depth; i++)
            text_add_string(json->out, "  ");
    }
    if (key) {
        add_quoted(json->out, key);
        text_add_string(json->out, json->compact ? ":" : ": ");
    }
    json->needs_comma = true;
}

static void open_bracket(JsonWriter *json, const char *key, char bracket)
{
    begin_value(json, key);
    text_add_char(json->out, bracket);
    json->depth++;
    json->needs_comma = false;
}

static void close_bracket(JsonWriter *json, char bracket)
{
    assert_debug(json->depth > 0);
    json->depth--;
    if (json->needs_comma && !json->compact) {
        text_add_char(json->out, '\n');
        for (int i = 0; i < json->depth; i++)
            text_add_string(json->out, "  ");
    }
    text_add_char(json->out, bracket);
    json->needs_comma = true;
}

void json_begin_object(JsonWriter *json, const char *key) { open_bracket(json, key, '{'); }

void json_end_object(JsonWriter *json) { close_bracket(json, '}'); }

void json_begin_array(JsonWriter *json, const char *key) { open_bracket(json, key, '['); }

void json_end_array(JsonWriter *json) { close_bracket(json, ']'); }

void json_string(JsonWriter *json, const char *key, const char *value)
{
    begin_value(json, key);
    if (value)
        add_quoted(json->out, value);
    else
        text_add_string(json->out, "null");
}

void json_double(JsonWriter *json, const char *key, double value)
{
    begin_value(json, key);
    if (isfinite(value))
        text_add_double(json->out, value);
    else
        text_add_string(json->out, "null");
}

void json_int(JsonWriter *json, const char *key, int64_t value)
{
    begin_value(json, key);
    text_printf(json->out, "%lld", (long long)value);
}

void json_bool(JsonWriter *json, const char *key, bool value)
{
    begin_value(json, key);
    text_add_string(json->out, value ? "true" : "false");
}
