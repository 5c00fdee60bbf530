#include "base/json_read.h"

#include "support/support.h"

static const JsonValue *parse(Arena *arena, const char *text) { return json_parse(arena, text, strlen(text), NULL); }

static void values_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool ok;
    } cases[] = {
        { "{}", true },
        { " [1, -2.5e3 ,true,false,null,\"a\"] ", true },
        { "{\"a\":{\"b\":[[]]}}", true },
        { "\"\\u00e9\\ud83d\\ude00\\n\\\"\"", true },
        { "", false },
        { "{", false },
        { "[1,]", false },
        { "{\"a\" 1}", false },
        { "{a:1}", false },
        { "nul", false },
        { "1 2", false },
        { "NaN", false },
        { "inf", false },
        { "1e999", false },
        { "+1", false },
        { "\"a", false },
        { "\"\\x\"", false },
        { "\"\\u12\"", false },
        { "\"\\ud83d\"", false },  // half of a pair
        { "\"\\u0000\"", false },  // would end the text early
        { "\"\n\"", false },       // lines end between values alone
        { "\"\xff\"", false },     // not UTF-8
    };
    Arena *arena = arena_create();
    for (int i = 0; i < COUNT_OF(cases); i++) {
        const char *why = NULL;
        bool is_read = json_parse(arena, cases[i].text, strlen(cases[i].text), &why) != NULL;
        CHECK(is_read == cases[i].ok, cases[i].text);
        CHECK(is_read == (why == NULL), cases[i].text);
    }
    arena_destroy(arena);
}

static void nesting_is_bounded(void **state)
{
    (void)state;
    for (int over = 0; over < 2; over++) {
        Arena *arena = arena_create();
        char text[2 * JSON_DEPTH_MAX + 4];
        int depth = JSON_DEPTH_MAX + over;
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        CHECK((json_parse(arena, text, 2 * (size_t)depth, NULL) == NULL) == (over == 1), over ? "one past" : "limit");
        arena_destroy(arena);
    }
}

static void members_are_found(void **state)
{
    (void)state;
    Arena *arena = arena_create();
    const JsonValue *object = parse(arena, "{\"s\":\"caf\\u00e9\",\"n\":2.5,\"i\":7,\"b\":true,\"v\":[1,2,3]}");
    double number, numbers[3];
    int64_t whole;
    assert_string_equal(json_member_string(object, "s"), "caf\xc3\xa9");
    assert_true(json_member_number(object, "n", &number) && number == 2.5);
    assert_true(json_member_int(object, "i", 0, 7, &whole) && whole == 7);
    assert_false(json_member_int(object, "i", 0, 6, &whole));
    assert_false(json_member_int(object, "n", 0, 9, &whole));
    assert_true(json_member_bool(object, "b", false));
    assert_true(json_member_bool(object, "s", true));
    assert_true(json_member_numbers(object, "v", numbers, 3) && numbers[2] == 3.0);
    assert_false(json_member_numbers(object, "v", numbers, 2));
    assert_null(json_member_string(object, "n"));
    assert_null(json_member(object, "none"));
    assert_null(json_member(NULL, "s"));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_read),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(members_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
