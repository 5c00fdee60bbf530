#include "control/input.h"

#include "support/support.h"

#include <math.h>
#include <string.h>

static Input *parse(const char *text, DiagSink *diags) { return input_parse("keys.txt", text, strlen(text), diags); }

static void time_goes_on_and_back(void **state)
{
    (void)state;
    DiagSink *diags = diag_create();
    Input *input = parse("0 key down A\n 0.1 key down CONTROL+SHIFT+LEFT\n\n# nothing\n0.1 key up a\r\n", diags);
    assert_non_null(input);
    assert_false(input_has_mouse(input) || input_has_joystick(input));
    assert_int_equal(input_at(input, 0.0)->key_count, 1);
    assert_int_equal(input_at(input, 0.0)->keys[0], 'A');
    assert_int_equal(input_at(input, 5.0)->keys[0], 314 | 0x30000);
    assert_int_equal(input_at(input, 5.0)->key_count, 1);
    assert_int_equal(input_at(input, 0.05)->keys[0], 'A');  // a reset
    input_destroy(input);
    diag_destroy(diags);
}

static void mistakes_have_places(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
        int line, column;
    } cases[] = {
        { "x", "a time in seconds wanted, found 'x'", 1, 1 },
        { "nan key down A", "a time in seconds wanted, found 'nan'", 1, 1 },
        { "1 key down A\n0.5 key up A", "a time that is not before the one above wanted, found '0.5'", 2, 1 },
        { "-1 key down A", "a time that is not before the one above wanted, found '-1'", 1, 1 },
        { "1", "'key', 'mouse' or 'joystick' wanted, the line ends", 1, 2 },
        { "1 keyboard down A", "'key', 'mouse' or 'joystick' wanted, found 'keyboard'", 1, 3 },
        { "1 key push A", "'down' or 'up' wanted, found 'push'", 1, 7 },
        { "1 key down", "a key (A, 1, UP, SHIFT+A, code:65...) wanted, the line ends", 1, 11 },
        { "1 key down SHIFT+", "a key (A, 1, UP, SHIFT+A, code:65...) wanted, found 'SHIFT+'", 1, 12 },
        { "1 key down code:99999", "a key (A, 1, UP, SHIFT+A, code:65...) wanted, found 'code:99999'", 1, 12 },
        { "1 key down A B", "the end of the line wanted, found 'B'", 1, 14 },
        { "1 mouse move 0.5", "a place in the window, 0 to 1 wanted, the line ends", 1, 17 },
        { "1 mouse move 0.5 2", "a place in the window, 0 to 1 wanted, found '2'", 1, 18 },
        { "1 mouse move 0.5 0.5 1 2", "x, y and z in the world wanted, the line ends", 1, 25 },
        { "1 mouse button side down", "'left', 'middle' or 'right' wanted, found 'side'", 1, 16 },
        { "1 joystick connect 17 0 x", "the number of axes, at most 16, wanted, found '17'", 1, 20 },
        { "1 joystick axis 16 0", "an axis, 0 to 15, wanted, found '16'", 1, 17 },
        { "1 joystick button 32 down", "a button, 0 to 31, wanted, found '32'", 1, 19 },
        { "1 joystick pov 0 99999", "a value from -32768 to 32767 wanted, found '99999'", 1, 18 },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        DiagSink *diags = diag_create();
        assert_null(parse(cases[i].text, diags));
        assert_int_equal(diag_count(diags), 1);
        const Diagnostic *said = diag_at(diags, 0);
        assert_string_equal(said->message, cases[i].message);
        assert_int_equal(said->pos.line, cases[i].line);
        assert_int_equal(said->pos.column, cases[i].column);
        diag_destroy(diags);
    }
}

static void every_bad_line_is_named(void **state)
{
    (void)state;
    DiagSink *diags = diag_create();
    assert_null(parse("a\nb\n1 key down A\nc\n", diags));
    assert_int_equal(diag_count(diags), 3);
    diag_destroy(diags);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_goes_on_and_back),
        cmocka_unit_test(mistakes_have_places),
        cmocka_unit_test(every_bad_line_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
