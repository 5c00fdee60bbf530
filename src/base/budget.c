// budget.c - a timer of processor time that looks at what the process has used up.
#include "base/budget.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { TICK_US = 20000 };  // of processor time; a load or step is seen to be over its limit at most this late

// Signals belong to the process, so there is one of these. The handler reads it; only `seen` is its own.
static BudgetOptions budget;
static Limits watched;      // what budget.limits points to
static char words[4][128];  // by BudgetLimit, made before a handler needs them
static volatile sig_atomic_t load_count, is_loading, is_over;
static int64_t load_began_us;
static struct {
    BudgetWork work;
    int64_t serial, began_us;
} seen;

BudgetLimit budget_excess(const Limits *limits, BudgetUse use)
{
    if (use.work == BUDGET_LOAD && use.used_us / 1000 > limits->load_ms)
        return BUDGET_LOAD_MS;
    if (use.work == BUDGET_STEP && use.used_us / 1000 > limits->step_ms)
        return BUDGET_STEP_MS;
    return use.memory_bytes > limits->memory_bytes ? BUDGET_MEMORY_BYTES : BUDGET_FITS;
}

static int64_t processor_us(void)
{
    struct timespec now;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0 ? (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000 : 0;
}

// Without the C library's streams: this is called in a signal handler.
static int64_t resident_bytes(void)
{
    char text[128];
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    int64_t pages = 0;
    ssize_t i = 0;
    while (i < length && text[i] != ' ')
        i++;
    for (i++; i < length && text[i] >= '0' && text[i] <= '9'; i++)
        pages = 10 * pages + (text[i] - '0');
    return pages * sysconf(_SC_PAGESIZE);
}

static void end_process(BudgetLimit limit)
{
    assert_debug((int)limit > BUDGET_FITS && (int)limit < COUNT_OF(words));
    ssize_t ignored = write(STDERR_FILENO, words[limit], strlen(words[limit]));
    (void)ignored;
    syscall(SYS_exit_group, budget.exit_code);
}

static BudgetUse use_now(BudgetWork work, int64_t used_us)
{
    return (BudgetUse){ work, used_us, budget.limits->memory_bytes == LIMIT_NONE ? 0 : resident_bytes() };
}

static void look(int signal_number)
{
    (void)signal_number;
    int error = errno;
    int64_t serial = load_count, now_us = processor_us();
    BudgetWork work = is_loading                                        ? BUDGET_LOAD
                      : budget.is_in_step && budget.is_in_step(&serial) ? BUDGET_STEP
                                                                        : BUDGET_OTHER;
    if (work != seen.work || serial != seen.serial) {
        seen.work = work;
        seen.serial = serial;
        seen.began_us = now_us;
    }
    BudgetLimit limit = budget_excess(budget.limits, use_now(work, now_us - seen.began_us));
    if (limit != BUDGET_FITS && (limit != BUDGET_STEP_MS || !budget.step_is_over))
        end_process(limit);
    if (limit != BUDGET_FITS && !is_over) {
        is_over = 1;
        budget.step_is_over(words[limit]);
    }
    errno = error;
}

static void bound_files(int64_t bytes)
{
    struct rlimit limit;
    if (bytes == LIMIT_NONE || getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur <= (rlim_t)bytes)
        return;
    limit.rlim_cur = (rlim_t)bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

void budget_start(const BudgetOptions *options)
{
    watched = *options->limits;
    const Limits *limits = &watched;
    budget = *options;
    budget.limits = limits;
    bound_files(limits->output_bytes);
    snprintf(words[BUDGET_LOAD_MS], sizeof words[0],
             "talus: loading took more than %lld ms of processor time (limit load_ms)\n", (long long)limits->load_ms);
    snprintf(words[BUDGET_STEP_MS], sizeof words[0],
             "talus: one step took more than %lld ms of processor time (limit step_ms)\n", (long long)limits->step_ms);
    snprintf(words[BUDGET_MEMORY_BYTES], sizeof words[0],
             "talus: more than %lld bytes of memory are in use (limit memory_bytes)\n",
             (long long)limits->memory_bytes);
    is_over = 0;
    budget_begin_load();
    if (limits->load_ms == LIMIT_NONE && limits->step_ms == LIMIT_NONE && limits->memory_bytes == LIMIT_NONE)
        return;
    struct sigaction action = { .sa_handler = look, .sa_flags = SA_RESTART };
    sigaction(SIGPROF, &action, NULL);
    struct itimerval timer = { { 0, TICK_US }, { 0, TICK_US } };
    setitimer(ITIMER_PROF, &timer, NULL);
}

void budget_begin_load(void)
{
    load_count++;
    load_began_us = processor_us();
    is_loading = 1;
}

void budget_end_load(void)
{
    if (!budget.limits || !is_loading)
        return;
    is_loading = 0;
    BudgetLimit limit = budget_excess(budget.limits, use_now(BUDGET_LOAD, processor_us() - load_began_us));
    if (limit != BUDGET_FITS)
        end_process(limit);
}
