// json.h - writes JSON text. The writer keeps track of commas and indentation; the caller of the nesting.
#ifndef TALUS_BASE_JSON_H
#define TALUS_BASE_JSON_H

#include "base/text.h"

typedef struct JsonWriter {
    Text *out;
    int depth;
    bool needs_comma;
    bool compact;
} JsonWriter;

// { .out = &text } is ready to use. `key` is NULL for items of an array and for the top value.
void json_begin_object(JsonWriter *json, const char *key);
void json_end_object(JsonWriter *json);
void json_begin_array(JsonWriter *json, const char *key);
void json_end_array(JsonWriter *json);
void json_string(JsonWriter *json, const char *key, const char *value);  // NULL value gives null
void json_double(JsonWriter *json, const char *key, double value);       // NaN and infinities give null
void json_int(JsonWriter *json, const char *key, int64_t value);
void json_bool(JsonWriter *json, const char *key, bool value);

#endif
