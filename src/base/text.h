// text.h - text to numbers and back, and growing text. Independent of the locale.
#ifndef TALUS_BASE_TEXT_H
#define TALUS_BASE_TEXT_H

#include "base/common.h"

// Reads a whole number or real that starts at `text` and ends before `end`; returns where it stopped, or NULL if none
// starts there. Accepts [+-]digits[.digits][(e|E)[+-]digits], hexadecimal 0x for integers, nan and inf words.
// The real is the nearest double (exact decimal conversion).
const char *text_scan_double(const char *text, const char *end, double *value);
const char *text_scan_int(const char *text, const char *end, int64_t *value);

// The whole string must be the number. A comma is a separator, not a decimal point.
bool text_to_double(const char *text, double *value);
bool text_to_int(const char *text, int64_t *value);

// Shortest decimal form that reads back as the same double, as people write it: 0.1, -3, 1e-05, 1.5e+20. `buffer` holds
// at least 32 bytes; returns the length.
int text_from_double(char *buffer, double value);

bool text_is_valid_utf8(const char *text, size_t length, size_t *bad_offset);
bool text_starts_with(const char *text, const char *prefix);
bool text_ends_with(const char *text, const char *suffix);
bool text_matches_glob(const char *text, const char *pattern);  // * and ? only

// The candidate closest to `word` when it is close enough to be a slip of the pen, else NULL.
const char *text_closest(const char *word, const char *const *candidates, int count);

// Text that grows. { 0 } is empty; text_free releases it. `data` is NUL-terminated when not NULL.
typedef struct Text {
    char *data;
    size_t length, capacity;
} Text;

void text_free(Text *text);
void text_clear(Text *text);
void text_make_room(Text *text, size_t size);  // empties it; that many bytes may then be written into `data`
void text_add(Text *text, const char *data, size_t length);
void text_add_string(Text *text, const char *string);
void text_add_char(Text *text, char c);
void text_add_double(Text *text, double value);
void text_printf(Text *text, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
