// The budget of the program: at each limit it fits, one past it is named; a process that loads, steps or grows without
// end is ended, whatever it does. The times here are of the processor, so a busy machine makes them longer and changes
// no result.
#include "base/budget.h"

#include "support/support.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CODE = 33, STEP_CODE = 44 };

static void each_limit_is_named_one_past_it(void **state)
{
    (void)state;
    const Limits limits = { .load_ms = 500, .step_ms = 20, .memory_bytes = 1 << 20 };
    static const struct {
        BudgetUse use;
        BudgetLimit limit;
    } cases[] = {
        { { BUDGET_LOAD, 500999, 1 << 20 }, BUDGET_FITS },
        { { BUDGET_LOAD, 501000, 1 << 20 }, BUDGET_LOAD_MS },
        { { BUDGET_STEP, 20999, 1 << 20 }, BUDGET_FITS },
        { { BUDGET_STEP, 21000, 1 << 20 }, BUDGET_STEP_MS },
        { { BUDGET_OTHER, 9000000, 1 << 20 }, BUDGET_FITS },
        { { BUDGET_OTHER, 0, (1 << 20) + 1 }, BUDGET_MEMORY_BYTES },
        { { BUDGET_LOAD, 0, (1 << 20) + 1 }, BUDGET_MEMORY_BYTES },
    };
    for (int i = 0; i < COUNT_OF(cases); i++)
        if (budget_excess(&limits, cases[i].use) != cases[i].limit)
            fail_msg("case %d gives %d", i, budget_excess(&limits, cases[i].use));
    CHECK(budget_excess(&limits_default, (BudgetUse){ BUDGET_STEP, INT64_MAX, INT64_MAX }) == BUDGET_FITS, "no limit");
}

// ---- processes that use up too much ----

static volatile sig_atomic_t steps, is_stepping;

static bool is_in_step(int64_t *serial)
{
    *serial = steps;
    return is_stepping;
}

static void step_is_over(const char *words) { _exit(strstr(words, "step_ms") ? STEP_CODE : 1); }

static void spin(void)
{
    for (volatile unsigned i = 0;; i++)
        ;
}

static void load_for_ever(const Limits *limits)
{
    budget_start(&(BudgetOptions){ .limits = limits, .exit_code = CODE });
    spin();
}

static void step_for_ever(const Limits *limits)
{
    budget_start(&(BudgetOptions){
        .limits = limits, .exit_code = CODE, .is_in_step = is_in_step, .step_is_over = step_is_over });
    budget_end_load();
    is_stepping = 1;
    spin();
}

// Many steps, none of them long: each begins anew.
static void step_often(const Limits *limits)
{
    budget_start(&(BudgetOptions){
        .limits = limits, .exit_code = CODE, .is_in_step = is_in_step, .step_is_over = step_is_over });
    budget_end_load();
    is_stepping = 1;
    struct timespec now = { 0 };
    while (now.tv_sec == 0 && now.tv_nsec < 400000000) {
        steps++;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    }
    _exit(0);
}

// The watch goes on after the caller's limits are gone.
static void forget_limits(const Limits *limits)
{
    Limits gone = *limits;
    budget_start(&(BudgetOptions){ .limits = &gone, .exit_code = CODE });
    budget_end_load();
    memset(&gone, 0, sizeof gone);
    struct timespec now = { 0 };
    while (now.tv_sec == 0 && now.tv_nsec < 100000000)
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    _exit(0);
}

static void grow_for_ever(const Limits *limits)
{
    budget_start(&(BudgetOptions){ .limits = limits, .exit_code = CODE });
    budget_end_load();
    for (;;) {
        void *block = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block != MAP_FAILED)
            memset(block, 1, 1 << 20);
    }
}

static void write_for_ever(const Limits *limits)
{
    budget_start(&(BudgetOptions){ .limits = limits, .exit_code = CODE });
    budget_end_load();
    signal(SIGXFSZ, SIG_IGN);
    FILE *file = tmpfile();
    int64_t written = 0;
    while (file && write(fileno(file), "x", 1) == 1)
        written++;
    _exit(written == limits->output_bytes ? CODE : 1);
}

static int end_of(void (*work)(const Limits *limits), Limits limits, char said[static 256])
{
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    fflush(NULL);
    pid_t process = fork();
    if (process == 0) {
        dup2(pipes[1], STDERR_FILENO);
        work(&limits);
        _exit(0);
    }
    close(pipes[1]);
    ssize_t length = 0, got;
    while (length < 255 && (got = read(pipes[0], said + length, (size_t)(255 - length))) > 0)
        length += got;
    said[length] = '\0';
    close(pipes[0]);
    int status;
    assert_int_equal(waitpid(process, &status, 0), process);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void a_process_over_its_budget_ends(void **state)
{
    (void)state;
    Limits none = limits_default, limits;
    char said[256];
    limits = none;
    limits.load_ms = 100;
    assert_int_equal(end_of(load_for_ever, limits, said), CODE);
    assert_string_equal(said, "talus: loading took more than 100 ms of processor time (limit load_ms)\n");
    limits = none;
    limits.step_ms = 100;
    assert_int_equal(end_of(step_for_ever, limits, said), STEP_CODE);
    assert_int_equal(end_of(step_often, limits, said), 0);
    limits = none;
    limits.memory_bytes = (int64_t)1 << 30;
    assert_int_equal(end_of(grow_for_ever, limits, said), CODE);
    assert_string_equal(said, "talus: more than 1073741824 bytes of memory are in use (limit memory_bytes)\n");
    assert_int_equal(end_of(forget_limits, limits, said), 0);
    limits = none;
    limits.output_bytes = 4096;
    assert_int_equal(end_of(write_for_ever, limits, said), CODE);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_limit_is_named_one_past_it),
                                        cmocka_unit_test(a_process_over_its_budget_ends) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
