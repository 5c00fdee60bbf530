// text.c - growing text, and numbers to and from text without the locale.
#include "base/text.h"

#include "base/decimal.h"
#include "base/memory.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double powers_of_ten[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static locale_t c_locale(void)
{
    static locale_t cached;
    locale_t locale = __atomic_load_n(&cached, __ATOMIC_ACQUIRE);
    if (!locale) {
        locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        locale_t expected = (locale_t)0;
        if (!__atomic_compare_exchange_n(&cached, &expected, locale, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            freelocale(locale);
            locale = expected;
        }
    }
    return locale;
}

// The general case: any length, any exponent, correctly rounded by the C library.
static double slow_double(const char *text, const char *end)
{
    assert_debug(text < end);
    char small[128];
    size_t length = (size_t)(end - text);
    char *copy = length < sizeof small ? small : memory_alloc_raw(length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    double value = strtod_l(copy, NULL, c_locale());
    if (copy != small)
        free(copy);
    return value;
}

static const char *scan_word(const char *text, const char *end, double *value)
{
    static const struct {
        const char *word;
        double value;
    } words[] = { { "infinity", INFINITY }, { "inf", INFINITY }, { "nan", NAN } };
    for (int i = 0; i < COUNT_OF(words); i++) {
        size_t length = strlen(words[i].word);
        if ((size_t)(end - text) >= length && !strncasecmp(text, words[i].word, length)) {
            *value = words[i].value;
            return text + length;
        }
    }
    return NULL;
}

// "e-5" at `at`: adds it to the exponent and returns what follows; else `at`. Capped where every double is 0 or
// infinite.
static inline const char *scan_exponent(const char *at, const char *end, int *exponent)
{
    assert_debug(at <= end);
    if (at >= end || (*at != 'e' && *at != 'E'))
        return at;
    const char *p = at + 1;
    bool negative = false;
    if (p < end && (*p == '-' || *p == '+'))
        negative = *p++ == '-';
    if (p >= end || !is_digit(*p))
        return at;
    int written = 0;
    for (; p < end && is_digit(*p); p++)
        if (written < 100000)
            written = written * 10 + (*p - '0');
    *exponent += negative ? -written : written;
    return p;
}

const char *text_scan_double(const char *text, const char *end, double *value)
{
    assert_debug(text && text <= end && value);
    const char *p = text;
    bool negative = false;
    if (p < end && (*p == '-' || *p == '+'))
        negative = *p++ == '-';
    uint64_t mantissa = 0;
    int digits = 0, exponent = 0;
    const char *first_digit = p;
    for (; p < end && is_digit(*p); p++) {
        mantissa = mantissa * 10 + (uint64_t)(*p - '0');
        digits += digits || *p != '0';
    }
    int digit_chars = (int)(p - first_digit);
    if (p < end && *p == '.') {
        const char *fraction = ++p;
        for (; p < end && is_digit(*p); p++) {
            mantissa = mantissa * 10 + (uint64_t)(*p - '0');
            digits += digits || *p != '0';
        }
        exponent = -(int)(p - fraction);
        digit_chars += (int)(p - fraction);
    }
    if (digit_chars == 0) {
        const char *stop = scan_word(first_digit, end, value);
        if (stop && negative)
            *value = -*value;
        return stop;
    }
    p = scan_exponent(p, end, &exponent);
    // A mantissa below 2^53 times or over an exact power of ten rounds once, hence correctly.
    if (digits <= 15 && exponent >= -22 && exponent <= 22) {
        double magnitude = (double)mantissa;
        magnitude = exponent < 0 ? magnitude / powers_of_ten[-exponent] : magnitude * powers_of_ten[exponent];
        *value = negative ? -magnitude : magnitude;
    } else {
        *value = slow_double(text, p);
    }
    return p;
}

const char *text_scan_int(const char *text, const char *end, int64_t *value)
{
    assert_debug(text && text <= end && value);
    const char *p = text;
    bool negative = false;
    if (p < end && (*p == '-' || *p == '+'))
        negative = *p++ == '-';
    int base = 10;
    if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
        base = 16;
        p += 2;
    }
    const char *first = p;
    uint64_t magnitude = 0;
    for (; p < end; p++) {
        int digit = is_digit(*p) ? *p - '0' : base == 16 && strchr("abcdef", *p | 32) && *p ? (*p | 32) - 'a' + 10 : -1;
        if (digit < 0)
            break;
        if (magnitude > (uint64_t)INT64_MAX / 16)
            magnitude = (uint64_t)INT64_MAX / 16;  // saturates; callers check their own range
        magnitude = magnitude * (uint64_t)base + (uint64_t)digit;
    }
    if (p == first)
        return NULL;
    *value = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return p;
}

bool text_to_double(const char *text, double *value)
{
    const char *end = text + strlen(text);
    return end != text && text_scan_double(text, end, value) == end;
}

bool text_to_int(const char *text, int64_t *value)
{
    const char *end = text + strlen(text);
    return end != text && text_scan_int(text, end, value) == end;
}

static int write_digits(char *to, uint64_t number)
{
    char reversed[20];
    int count = 0;
    do {
        reversed[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    assert_debug(count <= COUNT_OF(reversed));
    for (int i = 0; i < count; i++)
        to[i] = reversed[count - 1 - i];
    return count;
}

// 12345 with its point after the first digit, and the exponent as C writes it: two digits or three.
static int write_scientific(char *buffer, const char *digits, int count, int exponent)
{
    assert(count > 0);
    char *to = buffer;
    *to++ = digits[0];
    if (count > 1) {
        *to++ = '.';
        memcpy(to, digits + 1, (size_t)count - 1);
        to += count - 1;
    }
    *to++ = 'e';
    *to++ = exponent < 0 ? '-' : '+';
    exponent = abs(exponent);
    if (exponent < 10)
        *to++ = '0';
    to += write_digits(to, (uint64_t)exponent);
    return (int)(to - buffer);
}

// `exponent` is that of the first digit.
static int write_plain(char *buffer, const char *digits, int count, int exponent)
{
    assert_debug(count > 0 && exponent >= -4 && exponent < count);
    char *to = buffer;
    int whole = exponent < 0 ? 0 : exponent + 1;
    if (whole == 0) {
        memcpy(to, "0.0000", (size_t)(1 - exponent));
        to += 1 - exponent;
    }
    for (int i = 0; i < whole || i < count; i++) {
        if (i == whole && whole > 0)
            *to++ = '.';
        *to++ = i < count ? digits[i] : '0';
    }
    return (int)(to - buffer);
}

static int write_finite(char *buffer, double value)
{
    char digits[20];
    Decimal decimal = decimal_from_double(value);
    assert_debug(decimal.digits > 0);
    while (decimal.digits % 10 == 0) {
        decimal.digits /= 10;
        decimal.exponent++;
    }
    int count = write_digits(digits, decimal.digits);
    int exponent = decimal.exponent + count - 1;
    bool plain = exponent >= -4 && exponent < count;
    return plain ? write_plain(buffer, digits, count, exponent) : write_scientific(buffer, digits, count, exponent);
}

int text_from_double(char *buffer, double value)
{
    char *to = buffer;
    if (signbit(value))
        *to++ = '-';
    double size = fabs(value);
    if (isnan(value))
        to += strlen(strcpy(to, "nan"));
    else if (isinf(value))
        to += strlen(strcpy(to, "inf"));
    else if (size == floor(size) && size < 1e15)
        to += write_digits(to, (uint64_t)size);
    else
        to += write_finite(to, size);
    *to = '\0';
    return (int)(to - buffer);
}

// Eight plain bytes at a time, as nearly all text is; the table of Unicode 3.1 for the rest, without overlong forms
// and surrogates.
bool text_is_valid_utf8(const char *text, size_t length, size_t *bad_offset)
{
    const unsigned char *s = (const unsigned char *)text;
    for (size_t i = 0; i < length;) {
        if (length - i >= 8) {
            uint64_t word;
            memcpy(&word, s + i, 8);
            if (!(word & 0x8080808080808080u)) {
                i += 8;
                continue;
            }
        }
        unsigned char c = s[i];
        int extra = c < 0x80                ? 0
                    : c >= 0xc2 && c < 0xe0 ? 1
                    : c >= 0xe0 && c < 0xf0 ? 2
                    : c >= 0xf0 && c < 0xf5 ? 3
                                            : -1;
        bool ok = extra >= 0 && (size_t)extra < length - i;
        for (int k = 1; ok && k <= extra; k++)
            ok = (s[i + (size_t)k] & 0xc0) == 0x80;
        if (ok && extra == 2)
            ok = !(c == 0xe0 && s[i + 1] < 0xa0) && !(c == 0xed && s[i + 1] >= 0xa0);
        if (ok && extra == 3)
            ok = !(c == 0xf0 && s[i + 1] < 0x90) && !(c == 0xf4 && s[i + 1] >= 0x90);
        if (!ok) {
            if (bad_offset)
                *bad_offset = i;
            return false;
        }
        i += (size_t)extra + 1;
    }
    return true;
}

bool text_starts_with(const char *text, const char *prefix) { return !strncmp(text, prefix, strlen(prefix)); }

bool text_ends_with(const char *text, const char *suffix)
{
    size_t length = strlen(text), suffix_length = strlen(suffix);
    return length >= suffix_length && !strcmp(text + length - suffix_length, suffix);
}

bool text_matches_glob(const char *text, const char *pattern)
{
    assert_debug(text && pattern);
    const char *star = NULL, *resume = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            resume = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

// Edit distance with swaps of neighbours, words of up to 63 characters.
static int edit_distance(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    int n = (int)strlen(a), m = (int)strlen(b);
    if (n > LONGEST || m > LONGEST)
        return LONGEST;
    int rows[3][LONGEST + 1];
    for (int j = 0; j <= m; j++)
        rows[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            int change = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = int_min(change, int_min(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = int_min(row[j], above2[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

const char *text_closest(const char *word, const char *const *candidates, int count)
{
    assert_debug(word && count >= 0);
    int best_distance = (int)strlen(word) / 4 + 1;
    const char *best = NULL;
    for (int i = 0; i < count; i++) {
        int distance = !strcasecmp(word, candidates[i]) ? 0 : edit_distance(word, candidates[i]);
        if (distance < best_distance || (distance == best_distance && !best)) {
            best_distance = distance;
            best = candidates[i];
        }
    }
    return best;
}

void text_free(Text *text)
{
    free(text->data);
    *text = (Text){ 0 };
}

void text_clear(Text *text)
{
    text->length = 0;
    if (text->data)
        text->data[0] = '\0';
}

void text_make_room(Text *text, size_t size)
{
    text_clear(text);
    if (text->capacity <= size) {
        text_free(text);
        *text = (Text){ .data = memory_alloc_raw(size + 1), .capacity = size + 1 };
    }
    assert_debug(text->data && text->capacity > size);
    text->data[size] = '\0';
}

static void reserve(Text *text, size_t extra)
{
    assert_debug(text->length < text->capacity || text->capacity == 0);
    size_t needed = text->length + extra + 1;
    if (needed <= text->capacity)
        return;
    size_t grown = text->capacity + text->capacity / 2 + 64;
    text->capacity = grown > needed ? grown : needed;
    text->data = memory_resize(text->data, text->capacity, 1);
}

void text_add(Text *text, const char *data, size_t length)
{
    assert_debug(data || length == 0);
    reserve(text, length);
    if (length)
        memcpy(text->data + text->length, data, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void text_add_string(Text *text, const char *string) { text_add(text, string, strlen(string)); }

void text_add_char(Text *text, char c) { text_add(text, &c, 1); }

void text_add_double(Text *text, double value)
{
    char buffer[32];
    text_add(text, buffer, (size_t)text_from_double(buffer, value));
}

void text_printf(Text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    reserve(text, (size_t)length);
    va_start(arguments, format);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
}
