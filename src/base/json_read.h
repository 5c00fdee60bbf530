// json_read.h - reads JSON text into a tree of values. For messages and small files from outside: nesting is bounded,
// every string is valid UTF-8 without NUL, and everything lives in the caller's arena.
#ifndef TALUS_BASE_JSON_READ_H
#define TALUS_BASE_JSON_READ_H

#include "base/arena.h"

enum { JSON_DEPTH_MAX = 32 };

typedef enum JsonKind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT } JsonKind;

typedef struct JsonValue {
    JsonKind kind;
    bool truth;
    double number;
    const char *text;  // of a string, NUL-terminated
    size_t length;
    const char *key;                       // of a member of an object
    const struct JsonValue *first, *next;  // members and items in order
    int count;
} JsonValue;

// NULL when the text is not exactly one value; *why says it in words.
const JsonValue *json_parse(Arena *arena, const char *text, size_t size, const char **why);

// Members of an object. `object` may be NULL or of another kind: then there is none.
const JsonValue *json_member(const JsonValue *object, const char *key);
const char *json_member_string(const JsonValue *object, const char *key);  // NULL: it is none
bool json_member_number(const JsonValue *object, const char *key, double *value);
bool json_member_bool(const JsonValue *object, const char *key, bool preset);
bool json_member_numbers(const JsonValue *object, const char *key, double *values, int count);  // exactly so many
// A whole number from low to high; false: it is none.
bool json_member_int(const JsonValue *object, const char *key, int64_t low, int64_t high, int64_t *value);

#endif
