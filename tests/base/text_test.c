#include "base/text.h"

#include "support/support.h"

#include <float.h>
#include <math.h>

static void numbers_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool ok;
        double value;
    } cases[] = {
        { "0", true, 0.0 },
        { "-.5e+3", true, -500.0 },
        { "1.", true, 1.0 },
        { "+7", true, 7.0 },
        { "1e5", true, 1e5 },
        { "0.1", true, 0.1 },
        { "123456789012345678901234567890", true, 123456789012345678901234567890.0 },
        { "2.2250738585072014e-308", true, 2.2250738585072014e-308 },
        { "4.9e-324", true, 4.9e-324 },
        { "1e400", true, INFINITY },
        { "1,5", false, 0.0 },  // a comma is a separator, not a decimal point
        { "", false, 0.0 },
        { "-", false, 0.0 },
        { ".", false, 0.0 },
        { "e5", false, 0.0 },
        { "1e", false, 0.0 },
        { "1.5abc", false, 0.0 },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        double value = 0.0;
        CHECK(text_to_double(cases[i].text, &value) == cases[i].ok, cases[i].text);
        CHECK(!cases[i].ok || value == cases[i].value, cases[i].text);
    }
}

static void numbers_are_written_shortest(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        { 0.1, "0.1" },
        { 0.3, "0.3" },
        { -3, "-3" },
        { 0, "0" },
        { 1e-5, "1e-05" },
        { 123456789012345.0, "123456789012345" },
        { 0.123456789012345, "0.123456789012345" },
        { 1.0 / 3.0, "0.3333333333333333" },
        { 2.5e20, "2.5e+20" },
        { 0.785398, "0.785398" },
        { -0.0, "-0" },
        { 5e-324, "5e-324" },
        { DBL_MAX, "1.7976931348623157e+308" },
        { 9007199254740993e3, "9.007199254740993e+18" },
        { 1234567890123456.5, "1234567890123456.5" },
        { 0.0001, "0.0001" },
        { 1e22, "1e+22" },
        { INFINITY, "inf" },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char buffer[32];
        text_from_double(buffer, cases[i].value);
        CHECK(!strcmp(buffer, cases[i].text), buffer);
    }
}

static void numbers_round_trip(void **state)
{
    (void)state;
    uint64_t bits = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        double value, again;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        char buffer[32];
        int length = text_from_double(buffer, value);
        CHECK(length == (int)strlen(buffer) && text_to_double(buffer, &again) && again == value, buffer);
    }
}

// The same by trying: no shorter form may read back, and of that length it is the nearest.
static void no_shorter_number_would_do(void **state)
{
    (void)state;
    uint64_t bits = 6364136223846793005u;
    for (int i = 0; i < 30000; i++) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        uint64_t pattern = i % 3 == 0   ? bits & ~(((uint64_t)1 << 52) - 1)       // powers of two
                           : i % 3 == 1 ? bits & (((uint64_t)1 << (i % 53)) - 1)  // below the normal ones
                                        : bits;
        double value;
        memcpy(&value, &pattern, sizeof value);
        value = fabs(value);
        if (!isfinite(value) || value == 0.0)
            continue;
        char buffer[32], tried[32];
        int precision = 1;
        do
            snprintf(tried, sizeof tried, "%.*e", precision - 1, value);
        while (strtod(tried, NULL) != value && ++precision <= 17);
        text_from_double(buffer, value);
        int digits = 0;
        for (const char *c = buffer + strspn(buffer, "0."); *c && *c != 'e'; c++)
            digits += *c != '.';
        CHECK(strtod(buffer, NULL) == value && digits <= precision, buffer);
        long double ours = fabsl(strtold(buffer, NULL) - (long double)value),
                    theirs = fabsl(strtold(tried, NULL) - (long double)value);
        CHECK(digits < precision || ours <= theirs, buffer);
    }
}

static void utf8_is_checked(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool ok;
    } cases[] = {
        { "plain", true },
        { "\xc3\xa9t\xc3\xa9", true },
        { "\xe2\x82\xac and more text", true },
        { "\xf0\x9f\x98\x80", true },
        { "\xff", false },
        { "\xc3", false },
        { "abcdefgh\xe9t\xe9", false },
        { "\xc0\x80", false },
        { "\xed\xa0\x80", false },
    };
    for (int i = 0; i < COUNT_OF(cases); i++)
        CHECK(text_is_valid_utf8(cases[i].text, strlen(cases[i].text), NULL) == cases[i].ok, cases[i].text);
}

static void globs_match(void **state)
{
    (void)state;
    static const struct {
        const char *text, *pattern;
        bool ok;
    } cases[] = {
        { "arm.x", "arm.*", true }, { "arm.x", "*.x", true }, { "arm", "a?m", true },
        { "arm", "a*b", false },    { "", "*", true },        { "aXbXc", "a*b*c", true },
    };
    for (int i = 0; i < COUNT_OF(cases); i++)
        CHECK(text_matches_glob(cases[i].text, cases[i].pattern) == cases[i].ok, cases[i].pattern);
}

static void slips_find_their_word(void **state)
{
    (void)state;
    static const char *const words[] = { "translation", "rotation", "children", "boundingObject" };
    static const struct {
        const char *word, *closest;
    } cases[] = {
        { "tranlation", "translation" },
        { "childern", "children" },
        { "BoundingObject", "boundingObject" },
        { "xyz", NULL },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        const char *found = text_closest(cases[i].word, words, COUNT_OF(words));
        CHECK(found == cases[i].closest || (found && cases[i].closest && !strcmp(found, cases[i].closest)),
              cases[i].word);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read),      cmocka_unit_test(numbers_are_written_shortest),
        cmocka_unit_test(numbers_round_trip),    cmocka_unit_test(no_shorter_number_would_do),
        cmocka_unit_test(utf8_is_checked),       cmocka_unit_test(globs_match),
        cmocka_unit_test(slips_find_their_word),
    };
    return cmocka_run_group_tests_name("base.text", tests, NULL, NULL);
}
