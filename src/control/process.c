// process.c - controllers as processes: start, what they print, how they end.
#include "control/control_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST_LINE = 1 << 16 };

static void child_run(const Launch *launch, int channel_descriptor, const int pipes[2][2], pid_t parent)
{
    // The simulator's end takes its controllers with it, however it ends.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    setpgid(0, 0);
    dup2(pipes[0][1], STDOUT_FILENO);
    dup2(pipes[1][1], STDERR_FILENO);
    int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    fcntl(channel_descriptor, F_SETFD, 0);
    if (chdir(launch->folder) < 0)
        _exit(126);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGXFSZ, SIG_DFL);
    execvpe(launch->arguments[0], launch->arguments, launch->environment);
    dprintf(STDERR_FILENO, "cannot run %s: %s\n", launch->arguments[0], strerror(errno));
    _exit(127);
}

static bool is_asleep(pid_t pid)
{
    assert_debug(pid > 0);
    char path[48], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    text[length > 0 ? length : 0] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end && (!strncmp(name_end, ") S", 3) || !strncmp(name_end, ") T", 3));
}

static int64_t used_us(pid_t pid)
{
    assert_debug(pid > 0);  // 0 would be this process
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return -1;
    return (int64_t)used.tv_sec * 1000000 + used.tv_nsec / 1000;
}

bool process_is_late(const Controller *controller, Patience *patience)
{
    int64_t now = control_now_ms();
    if (now - patience->since_ms <= patience->limit_ms)  // nobody needs to be looked at
        return false;
    pid_t pid = controller->pid > 0 ? controller->pid : controller->peer_pid;
    return patience_is_over(patience, now, pid > 0 ? used_us(pid) : -1, pid > 0 && is_asleep(pid));
}

// All descriptors are made with CLOEXEC and handed on by name: a controller that starts others leaves none of ours
// open in them.
bool process_start(Control *control, Controller *controller, const Launch *launch, int channel_descriptor)
{
    assert_debug(launch->folder && launch->arguments && launch->arguments[0]);
    assert_debug(channel_descriptor >= 0 && controller->pid == 0);
    int pipes[2][2];
    process_flush(control, controller);
    assert_debug(controller->output[0] < 0 && controller->output[1] < 0);
    for (int i = 0; i < 2; i++)
        if (pipe2(pipes[i], O_CLOEXEC) < 0) {
            if (i == 1)
                close(pipes[0][0]), close(pipes[0][1]);
            diag_error(control->diags, (SourcePos){ 0 }, "cannot start a controller: %s", strerror(errno));
            return false;
        }
    pid_t parent = getpid();
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        child_run(launch, channel_descriptor, (const int(*)[2])pipes, parent);
    for (int i = 0; i < 2; i++) {
        close(pipes[i][1]);
        controller->output[i] = pipes[i][0];
        fcntl(pipes[i][0], F_SETFL, O_NONBLOCK);
    }
    if (pid < 0) {
        diag_error(control->diags, (SourcePos){ 0 }, "cannot start a controller: %s", strerror(errno));
        return false;
    }
    controller->pid = pid;
    controller->was_killed = false;
    return true;
}

// ---- output ----

void control_heard(const Control *control, const Controller *controller, const char *text, size_t length, bool is_error)
{
    assert_debug(text || length == 0);
    for (int i = 0; i < CONTROL_WATCHES; i++) {
        const ControlWatch *watch = &control->options.watches[i];
        if (watch->heard)
            watch->heard(watch->context, controller->name, text, length, is_error);
    }
}

static void print_line(Control *control, const Controller *controller, int stream, const char *line, size_t length)
{
    assert_debug(stream == 0 || stream == 1);
    control_heard(control, controller, line, length, stream == 1);
    if (control->options.is_quiet)
        return;
    FILE *out = stream == 1 ? stderr : control->options.out ? control->options.out : stdout;
    fprintf(out, "[%s] %.*s\n", controller->name, (int)length, line);
}

static void print_lines(Control *control, Controller *controller, int stream)
{
    assert_debug(stream == 0 || stream == 1);
    Text *text = &controller->lines[stream];
    size_t start = 0;
    for (size_t i = 0; i < text->length; i++) {
        if (text->data[i] != '\n' && i - start < LONGEST_LINE)
            continue;
        print_line(control, controller, stream, text->data + start, i - start);
        start = i + (text->data[i] == '\n');
    }
    if (start == 0)
        return;
    assert_debug(start <= text->length);
    memmove(text->data, text->data + start, text->length - start);
    text->length -= start;
}

static void close_output(Control *control, Controller *controller, int stream)
{
    assert_debug(stream == 0 || stream == 1);
    Text *text = &controller->lines[stream];
    if (text->length)
        print_line(control, controller, stream, text->data, text->length);
    text_free(text);
    if (controller->output[stream] >= 0)
        close(controller->output[stream]);
    controller->output[stream] = -1;
}

void process_drain(Control *control, Controller *controller)
{
    for (int stream = 0; stream < 2; stream++) {
        char buffer[4096];
        ssize_t got = -1;
        // Bounded: a program that prints for ever must not hold the world up here.
        for (int i = 0; i < 256 && controller->output[stream] >= 0; i++) {
            got = read(controller->output[stream], buffer, sizeof buffer);
            if (got <= 0)
                break;
            text_add(&controller->lines[stream], buffer, (size_t)got);
        }
        print_lines(control, controller, stream);
        if (got == 0)
            close_output(control, controller, stream);
    }
}

void process_flush(Control *control, Controller *controller)
{
    process_drain(control, controller);
    for (int stream = 0; stream < 2; stream++)
        close_output(control, controller, stream);
}

// ---- the end ----

static void report_end(Control *control, Controller *controller, int status)
{
    assert_debug(WIFEXITED(status) || WIFSIGNALED(status));
    double time = sim_time(control->sim);
    if (controller->was_killed && WIFSIGNALED(status)) {
        diag_note(control->diags, (SourcePos){ 0 }, "controller '%s' of robot '%s' did not end by itself",
                  controller->program, controller->name);
        controller->has_exited_well = false;
    } else if (WIFSIGNALED(status)) {
        diag_warning(control->diags, (SourcePos){ 0 }, "controller '%s' of robot '%s' crashed at %g s: signal %d (%s)",
                     controller->program, controller->name, time, WTERMSIG(status), strsignal(WTERMSIG(status)));
        controller->has_exited_well = false;
    } else if (WEXITSTATUS(status) != 0) {
        diag_warning(control->diags, (SourcePos){ 0 }, "controller '%s' of robot '%s' ended at %g s with status %d",
                     controller->program, controller->name, time, WEXITSTATUS(status));
        if (controller->script && launch_is_python2(controller->script))
            diag_hint(control->diags,
                      "%s is written for Python 2; Python 3 runs it after `2to3 -w`, or print(...) with parentheses",
                      controller->script);
        controller->has_exited_well = false;
    } else {
        diag_note(control->diags, (SourcePos){ 0 }, "controller '%s' of robot '%s' ended at %g s", controller->program,
                  controller->name, time);
        controller->has_exited_well = true;
    }
}

// Collects a process that has ended; false when it has not.
static bool collect(Control *control, Controller *controller)
{
    assert(controller->pid > 0);  // waiting for 0 or less would collect others
    siginfo_t info = { 0 };
    int status;
    if (waitid(P_PID, (id_t)controller->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != controller->pid)
        return false;
    // The group's number is not given to others as long as its leader is not collected.
    if (!control->is_ending)
        strays_end(control, controller);
    pid_t done = waitpid(controller->pid, &status, 0);
    process_drain(control, controller);  // what serves another robot may go on writing there
    if (done > 0)
        report_end(control, controller, status);
    controller->pid = 0;
    return true;
}

bool process_reap(Control *control, Controller *controller, Patience patience)
{
    while (controller->pid > 0 && !collect(control, controller)) {
        if (patience.limit_ms == 0 || process_is_late(controller, &patience))
            return false;
        process_drain(control, controller);
        nanosleep(&(struct timespec){ 0, 5000000 }, NULL);
    }
    return true;
}

static void signal_one(Controller *controller, int number)
{
    if (controller->pid <= 0)
        return;
    controller->was_killed = true;
    kill(-controller->pid, number);
    kill(controller->pid, number);
}

// First it may end by itself, then it cannot help it.
static const struct {
    int signal, wait_ms;
} ways_to_end[] = { { SIGTERM, 300 }, { SIGKILL, 5000 } };

void process_kill(Control *control, Controller *controller)
{
    for (int i = 0; i < COUNT_OF(ways_to_end) && controller->pid > 0; i++) {
        signal_one(controller, ways_to_end[i].signal);
        process_reap(control, controller, patience_from_now(control, ways_to_end[i].wait_ms));
    }
}

void process_kill_all(Control *control)
{
    for (int i = 0; i < COUNT_OF(ways_to_end); i++) {
        for (int k = 0; k < control->count; k++)
            signal_one(&control->controllers[k], ways_to_end[i].signal);
        Patience patience = patience_from_now(control, ways_to_end[i].wait_ms);
        for (int k = 0; k < control->count; k++)
            process_reap(control, &control->controllers[k], patience);
    }
    strays_end_all(control);
}
