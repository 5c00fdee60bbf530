// run_signals.c - how a run ends before its time: signals, --timeout, steps over their budget. A signal handler may set
// these flags and little else, so they are the one state of the program outside of a run.
#include "app/run.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t is_interrupted, is_out_of_time, is_loading;
static volatile sig_atomic_t step_serial, interrupted_step, ending_code;  // step_serial: odd while a step is made
static Sim *volatile stepping;
static const char *volatile long_step;  // what is said of a step that was over its budget

// Whether the step at which the run was asked to end is still at work in physics or a plugin. Controllers and output
// see for themselves that the run ends.
static bool hangs_in_step(void)
{
    if (step_serial % 2 == 0 || step_serial != interrupted_step)
        return false;
    SimPhase phase = sim_phase(stepping);
    return phase >= SIM_PHASE_PRESTEP && phase <= SIM_PHASE_POSTSTEP;
}

static void say(const char *words)
{
    ssize_t ignored = write(STDERR_FILENO, words, strlen(words));
    (void)ignored;
}

// Nothing is written while a world is loaded, so that can end at any moment. A run ends with its step, if that ends
// within a second. What was asked for at the end (--save, a recording) is then written, which a large world takes
// longer for: it says so, and the next signal ends it at once, with nothing half written.
static void on_signal(int signal_number)
{
    bool is_time = signal_number == SIGALRM;
    if (is_loading && is_time)
        say("talus: out of time before the world was loaded (--timeout)\n");
    if (is_loading)
        _exit(is_time ? EXIT_TIMEOUT : 128 + signal_number);
    if (!is_interrupted) {
        is_interrupted = 1;
        is_out_of_time |= is_time;
        ending_code = is_time ? EXIT_TIMEOUT : 128 + signal_number;
        interrupted_step = step_serial;
        signal(SIGALRM, on_signal);
        alarm(1);
    } else if (is_time && hangs_in_step()) {
        if (long_step)
            say(long_step);
        say("talus: ended in the middle of a long step\n");
        syscall(SYS_exit_group, (int)ending_code);  // _exit() in a plugin's call is the plugin's
    } else if (is_time) {
        say("talus: still ending; the next signal ends it at once\n");
    }
}

// Controllers, whoever looks and what is written are not the world's doing.
bool run_is_in_step(int64_t *serial)
{
    *serial = step_serial;
    if (step_serial % 2 == 0)
        return false;
    SimPhase phase = sim_phase(stepping);
    return phase >= SIM_PHASE_PRESTEP && phase <= SIM_PHASE_DEVICES;
}

// The run ends with this step, or a second later.
void run_on_long_step(const char *words)
{
    long_step = words;
    if (!is_interrupted) {
        is_interrupted = 1;
        ending_code = EXIT_SIMULATION;
        interrupted_step = step_serial;
        signal(SIGALRM, on_signal);
        alarm(1);
    }
}

bool run_make_step(Sim *sim)
{
    assert_debug(step_serial % 2 == 0);
    stepping = sim;
    step_serial++;
    bool goes_on = sim_step(sim);
    step_serial++;
    return goes_on;
}

bool run_was_interrupted(void) { return is_interrupted; }

int run_ending_code(void) { return (int)ending_code; }

static void start_clock(double seconds, const struct sigaction *action)
{
    sigaction(SIGALRM, action, NULL);
    struct itimerval timer = { .it_value = { (time_t)seconds, (suseconds_t)(1e6 * (seconds - floor(seconds))) } };
    setitimer(ITIMER_REAL, &timer, NULL);
}

bool run_is_out_of_time(void) { return is_out_of_time; }

const char *run_long_step(void) { return long_step; }

void run_set_loading(bool is_at_it) { is_loading = is_at_it; }

void run_leave_world(Sim *sim) { stepping = sim; }

void run_catch_signals(double timeout)
{
    assert(timeout >= 0.0);
    // What is being written is written to its end: without SA_RESTART a table into a pipe whose reader is slow would
    // lose what its buffer held.
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND | SA_RESTART };
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (timeout > 0.0)
        start_clock(timeout, &action);
}
