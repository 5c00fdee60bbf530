// limits.c - the two sets of limits, from the rows of limits.h.
#include "base/limits.h"

#include "base/text.h"

#include <stddef.h>
#include <string.h>

#define LIMIT_NORMAL(name, normal, untrusted, help) .name = (int64_t)(normal),
#define LIMIT_UNTRUSTED(name, normal, untrusted, help) .name = (int64_t)(untrusted),

const Limits limits_default = { LIMITS(LIMIT_NORMAL) };
const Limits limits_untrusted = { LIMITS(LIMIT_UNTRUSTED).is_untrusted = true };

static const struct {
    const char *name;
    size_t offset;
} rows[] = {
#define LIMIT_ROW(name, normal, untrusted, help) { #name, offsetof(Limits, name) },
    LIMITS(LIMIT_ROW)
#undef LIMIT_ROW
};

static bool change_one(Limits *limits, const char *piece, size_t length)
{
    const char *equals = memchr(piece, '=', length);
    char number[24];
    size_t name_length = equals ? (size_t)(equals - piece) : 0, digits = equals ? length - name_length - 1 : 0;
    if (digits == 0 || digits >= sizeof number)
        return false;
    memcpy(number, equals + 1, digits);
    number[digits] = '\0';
    int64_t value;
    if (!text_to_int(number, &value) || value < 1)
        return false;
    for (int i = 0; i < COUNT_OF(rows); i++)
        if (strlen(rows[i].name) == name_length && !memcmp(rows[i].name, piece, name_length)) {
            assert_debug(rows[i].offset + sizeof value <= sizeof *limits);
            memcpy((char *)limits + rows[i].offset, &value, sizeof value);
            return true;
        }
    return false;
}

bool limits_change(Limits *limits, const char *changes, const char **wrong, int *length)
{
    for (const char *piece = changes; piece;) {
        const char *comma = strchr(piece, ',');
        size_t size = comma ? (size_t)(comma - piece) : strlen(piece);
        if (!change_one(limits, piece, size)) {
            *wrong = piece;
            *length = (int)size;
            return false;
        }
        piece = comma ? comma + 1 : NULL;
    }
    return true;
}
