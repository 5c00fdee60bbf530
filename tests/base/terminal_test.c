// terminal_test.c - times in words, and a progress line that tells what is left.
#include "support/support.h"

#include "base/terminal.h"

#include <math.h>

static void durations_read_well(void **state)
{
    (void)state;
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {
        { 0.0, "0 ms" },         { 0.0421, "42 ms" },      { 1.0, "1.0 s" },        { 9.94, "9.9 s" },
        { 42.4, "42 s" },        { 60.0, "1 min 0 s" },    { 250.0, "4 min 10 s" }, { 3599.0, "59 min 59 s" },
        { 7500.0, "2 h 5 min" }, { INFINITY, "for ever" }, { -3.0, "0 ms" },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char text[32];
        assert_string_equal(terminal_duration(cases[i].seconds, text), cases[i].text);
    }
}

static void a_quiet_job_shows_nothing(void **state)
{
    (void)state;
    Progress progress;
    progress_start(&progress, true);
    assert_false(progress_is_due(&progress));
    progress_show(&progress, 1.0, 2.0, "%s", "never seen");
    assert_false(progress.is_written);
    progress_clear(&progress);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(durations_read_well),
                                        cmocka_unit_test(a_quiet_job_shows_nothing) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
