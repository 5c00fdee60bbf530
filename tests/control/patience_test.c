// How long the simulator waits for a program: a machine that does not let it run costs it nothing.
#include "control/control_internal.h"

#include "support/support.h"

typedef struct Look {
    int64_t now_ms, used_us;
    bool is_asleep, is_over;
} Look;

static void whoever_could_not_run_is_waited_for(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool is_strict;
        Look looks[5];  // until one is over
    } cases[] = {
        { "asleep", false, { { 3000, 10, true, false }, { 3001, 10, true, false }, { 3006, 10, true, true } } },
        { "kept from running",
          false,
          { { 3001, 10, false, false },
            { 9000, 10, false, false },
            { 30000, 10, false, false },
            { 30001, 10, false, true } } },
        { "busy",
          false,
          { { 3001, 500000, false, false }, { 5000, 800000, false, false }, { 5001, 800001, false, true } } },
        { "awake again", false, { { 3001, 10, false, false }, { 3006, 11, true, false }, { 3011, 11, true, true } } },
        { "its processor time cannot be told", false, { { 3000, -1, false, false }, { 3001, -1, false, true } } },
        { "a person wants the end", true, { { 3000, 10, false, false }, { 3001, 10, false, true } } },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Patience patience = { .since_ms = 0, .limit_ms = 3000, .is_strict = cases[i].is_strict };
        bool is_over = false;
        for (int k = 0; !is_over; k++) {
            const Look *look = &cases[i].looks[k];
            is_over = patience_is_over(&patience, look->now_ms, look->used_us, look->is_asleep);
            CHECK(is_over == look->is_over, cases[i].name);
        }
    }
}

// { 0 } is a look and no more.
static void no_patience_ends_at_the_next_look(void **state)
{
    (void)state;
    Patience patience = { 0 };
    assert_true(patience_is_over(&patience, 1, 10, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_could_not_run_is_waited_for),
        cmocka_unit_test(no_patience_ends_at_the_next_look),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
