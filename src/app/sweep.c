// sweep.c - `talus sweep`: rows of a sweep file run in processes of their own, one for each core, so that one that
// crashes or hangs is a row with its reason; finished rows go into a journal, from which a sweep that was ended goes
// on. Under mpirun or srun talus-mpi deals the rows to all ranks, each of which runs `talus sweep FILE --rows`, and
// `talus sweep FILE --plan` keeps the journal.
#include "app/app.h"

#include "base/json.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/program.h"
#include "base/terminal.h"
#include "many/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_JOBS = 1024 };

typedef struct SweepOptions {
    int64_t jobs;
    bool fresh, quiet, json, list, rows, plan;
} SweepOptions;

// A process that runs rows one after the other.
typedef struct Runner {
    pid_t pid;     // 0: none
    int to, from;  // pipes: numbers of rows, and lines
    int row;       // -1: idle
    double deadline;
    Text said;
} Runner;

typedef struct SweepRun {
    Sweep *sweep;
    const SweepOptions *options;
    DiagSink *diags;
    SweepResult *results;
    bool *is_done;
    int done_count, first_done;
    char *journal_path;
    int journal;  // file descriptor, -1: none
    double start;
    double last_shown;
} SweepRun;

static volatile sig_atomic_t is_interrupted;
static void interrupt(int signal)
{
    (void)signal;
    is_interrupted = 1;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// ---- runners ----

static bool read_all(int file, void *data, size_t size)
{
    for (char *at = data; size > 0;) {
        ssize_t count = read(file, at, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        at += count;
        size -= (size_t)count;
    }
    return true;
}

// The life of a runner. Its own group, so that whatever it starts ends with it.
static void run_rows(Sweep *sweep, int from, int to)
{
    assert_debug(from >= 0 && to >= from);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_IGN);
    int nothing = open("/dev/null", O_RDWR);
    if (nothing >= 0) {
        dup2(nothing, STDIN_FILENO);
        dup2(nothing, STDOUT_FILENO);
    }
    for (int row; read_all(from, &row, sizeof row);) {
        SweepResult result = sweep_result_create(sweep, row);
        sweep_run_row(sweep, &result);
        Text line = { 0 };
        sweep_write_line(sweep, &result, &line);
        bool is_written = file_write_all(to, line.data, line.length);
        text_free(&line);
        sweep_result_free(&result);
        if (!is_written)
            break;
    }
    _exit(0);
}

// A fork of this process, which has loaded the sweep: nothing is read again, and the pipe carries row numbers alone.
static bool runner_start(Runner *runner, Sweep *sweep)
{
    assert_debug(runner->pid == 0);
    int down[2], up[2];
    if (pipe2(down, O_CLOEXEC))
        return false;
    if (pipe2(up, O_CLOEXEC)) {
        close(down[0]);
        close(down[1]);
        return false;
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        close(down[1]);
        close(up[0]);
        run_rows(sweep, down[0], up[1]);
    }
    close(down[0]);
    close(up[1]);
    if (pid < 0) {
        close(down[1]);
        close(up[0]);
        return false;
    }
    setpgid(pid, pid);
    runner->pid = pid;
    runner->to = down[1];
    runner->from = up[0];
    runner->row = -1;
    text_clear(&runner->said);
    return true;
}

// By force: one that waits for a row does not see its pipe closed while others have it open too. Returns its status as
// waitpid gives it, which is its own when it had died before.
static int runner_end(Runner *runner)
{
    int status = 0;
    if (runner->pid <= 0)
        return 0;
    close(runner->to);
    kill(-runner->pid, SIGKILL);
    close(runner->from);
    while (waitpid(runner->pid, &status, 0) < 0 && errno == EINTR)
        ;
    runner->pid = 0;
    runner->row = -1;
    return status;
}

static bool runner_give(Runner *runner, Sweep *sweep, int row)
{
    assert_debug(row >= 0 && row < sweep_row_count(sweep) && runner->row < 0);
    if (runner->pid == 0 && !runner_start(runner, sweep))
        return false;
    double timeout = sweep_timeout(sweep);
    runner->row = row;
    runner->deadline = timeout > 0.0 ? now() + timeout : INFINITY;
    return file_write_all(runner->to, &row, sizeof row);
}

static void lose_row(SweepResult *result, Runner *runner, SweepStatus status, double timeout)
{
    int end = runner_end(runner);
    result->status = status;
    if (status == SWEEP_TIMEOUT)
        snprintf(result->reason, sizeof result->reason, "took longer than %g s", timeout);
    else if (WIFSIGNALED(end))
        snprintf(result->reason, sizeof result->reason, "signal %d (%s)", WTERMSIG(end), strsignal(WTERMSIG(end)));
    else
        snprintf(result->reason, sizeof result->reason, "its process ended with %d", WEXITSTATUS(end));
}

// What a runner has to say. True when `result` is the row that it had: finished, or lost.
static bool runner_hear(Runner *runner, const Sweep *sweep, SweepResult *result)
{
    assert(runner->pid > 0);
    char buffer[4096];
    ssize_t count = read(runner->from, buffer, sizeof buffer);
    if (count < 0 && (errno == EINTR || errno == EAGAIN))
        return false;
    if (count > 0) {
        text_add(&runner->said, buffer, (size_t)count);
        if (runner->said.data[runner->said.length - 1] != '\n')
            return false;
        bool is_line = sweep_read_line(sweep, runner->said.data, result) && result->row == runner->row;
        text_clear(&runner->said);
        if (is_line) {
            runner->row = -1;
            return true;
        }
    }
    result->row = runner->row;
    lose_row(result, runner, SWEEP_CRASHED, 0.0);
    return true;
}

// ---- the journal ----

static void journal_head(const Sweep *sweep, Text *out)
{
    text_printf(out, "talus-sweep 1 %016llx %d\n", (unsigned long long)sweep_hash(sweep), sweep_row_count(sweep));
}

static void take_line(SweepRun *run, const char *line)
{
    SweepResult result = sweep_result_create(run->sweep, 0);
    if (sweep_read_line(run->sweep, line, &result) && !run->is_done[result.row]) {
        assert_debug(result.row >= 0 && result.row < sweep_row_count(run->sweep));
        sweep_result_free(&run->results[result.row]);
        run->results[result.row] = result;
        run->is_done[result.row] = true;
        run->done_count++;
        return;
    }
    sweep_result_free(&result);
}

// Also one that was cut off by a kill.
static bool is_head(const Text *head, const char *line, size_t length)
{
    assert(length > 0);
    return length <= head->length && !memcmp(line, head->data, length)
           && (length == head->length || line[length - 1] != '\n');
}

// Takes the rows that an earlier run finished. A last line that was cut off is dropped.
static bool journal_open(SweepRun *run, Arena *arena)
{
    assert_debug(run->results && run->is_done);
    char *path = run->journal_path = arena_printf(arena, "%s.journal", sweep_output(run->sweep));
    Text head = { 0 };
    journal_head(run->sweep, &head);
    run->journal = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | (run->options->fresh ? O_TRUNC : 0), 0644);
    FILE *file = run->journal >= 0 ? fdopen(dup(run->journal), "r") : NULL;
    bool is_fine = file != NULL;
    char *line = NULL;
    size_t capacity = 0;
    off_t whole = 0;
    ssize_t length;
    for (int i = 0; is_fine && (length = getline(&line, &capacity, file)) > 0; i++) {
        bool is_whole = line[length - 1] == '\n';
        if (i == 0 && !is_head(&head, line, (size_t)length)) {
            diag_error(run->diags, (SourcePos){ 0 }, "%s is of another sweep, or of another state of its file", path);
            diag_hint(run->diags, "--fresh forgets what was run before");
            is_fine = false;
        }
        if (!is_whole)
            break;
        whole += length;
        if (i > 0)
            take_line(run, line);
    }
    free(line);
    bool can_write = file
                     && (!is_fine
                         || (ftruncate(run->journal, whole) == 0
                             && (whole > 0 || file_write_all(run->journal, head.data, head.length))));
    if (!can_write)
        diag_output_error(run->diags, path, file_write_error(errno));
    if (file)
        fclose(file);
    text_free(&head);
    run->first_done = run->done_count;
    return is_fine && can_write;
}

static void show_progress(SweepRun *run, bool is_last)
{
    assert(run->done_count >= run->first_done);
    int total = sweep_row_count(run->sweep);
    double time = now(), passed = time - run->start;
    bool is_terminal = isatty(STDERR_FILENO);
    if (run->options->quiet || (!is_last && time - run->last_shown < (is_terminal ? 0.2 : 10.0)))
        return;
    run->last_shown = time;
    int made = run->done_count - run->first_done;
    double rate = passed > 0.0 ? made / passed : 0.0;
    fprintf(stderr, "%s%d of %d row%s, %.3g rows/s", is_terminal ? "\r" : "", run->done_count, total,
            total == 1 ? "" : "s", rate);
    if (rate > 0.0 && run->done_count < total)
        fprintf(stderr, ", %s left", terminal_duration(ceil((total - run->done_count) / rate), (char[32]){ 0 }));
    fprintf(stderr, "%s%s", is_terminal ? "\033[K" : "", is_last || !is_terminal ? "\n" : "");
}

static bool keep_row(SweepRun *run, const SweepResult *result)
{
    assert(result->row >= 0 && result->row < sweep_row_count(run->sweep));
    Text line = { 0 };
    sweep_write_line(run->sweep, result, &line);
    bool is_kept = file_write_all(run->journal, line.data, line.length);
    if (!is_kept)
        diag_output_error(run->diags, run->journal_path, file_write_error(errno));
    take_line(run, line.data);
    text_free(&line);
    show_progress(run, false);
    return is_kept;
}

// ---- all rows on this machine ----

static int next_row(const SweepRun *run, int row)
{
    assert(row >= 0);
    while (row < sweep_row_count(run->sweep) && run->is_done[row])
        row++;
    return row;
}

// Whether something came from runner `r`, or its time is over; the row is kept then.
static bool look_after(SweepRun *run, Runner *runner, bool has_spoken)
{
    assert(runner->pid > 0);
    SweepResult result = sweep_result_create(run->sweep, runner->row);
    bool is_over = has_spoken && runner_hear(runner, run->sweep, &result);
    if (!is_over && now() > runner->deadline) {
        lose_row(&result, runner, SWEEP_TIMEOUT, sweep_timeout(run->sweep));
        is_over = true;
    }
    bool is_fine = !is_over || keep_row(run, &result);
    sweep_result_free(&result);
    return is_fine;
}

// One process for each job, fed row by row: a world that crashes takes its row along and nothing else. Which process
// runs which row depends on the clock, what a row gives does not.
static bool run_all(SweepRun *run, int jobs)
{
    assert_debug(jobs > 0);
    Runner *runners = memory_alloc_array((size_t)jobs, sizeof *runners);
    struct pollfd *polled = memory_alloc_array((size_t)jobs, sizeof *polled);
    for (int i = 0; i < jobs; i++)
        runners[i].row = -1;
    int row = next_row(run, 0), busy = 0;
    bool is_fine = true;
    while (is_fine && !is_interrupted && run->done_count < sweep_row_count(run->sweep)) {
        busy = 0;
        for (int i = 0; i < jobs && is_fine; i++) {
            if (runners[i].row < 0 && row < sweep_row_count(run->sweep)) {
                if (!runner_give(&runners[i], run->sweep, row) && runners[i].pid == 0) {
                    diag_error(run->diags, (SourcePos){ 0 }, "no process can be started: %s", strerror(errno));
                    is_fine = false;
                }
                row = next_row(run, row + 1);
            }
            bool is_busy = runners[i].row >= 0;
            polled[i] = (struct pollfd){ .fd = is_busy ? runners[i].from : -1, .events = POLLIN };
            busy += is_busy;
        }
        if (busy == 0)
            break;
        poll(polled, (nfds_t)jobs, 100);
        for (int i = 0; i < jobs && is_fine; i++)
            if (runners[i].row >= 0)
                is_fine = look_after(run, &runners[i], polled[i].revents != 0);
    }
    for (int i = 0; i < jobs; i++) {
        runner_end(&runners[i]);
        text_free(&runners[i].said);
    }
    free(runners);
    free(polled);
    return is_fine;
}

// ---- ranks ----

// Rows by number on standard input, lines on standard output: what a rank of MPI runs.
static int serve_rows(Sweep *sweep)
{
    Runner runner = { .row = -1 };
    char line[64];
    while (!is_interrupted && fgets(line, sizeof line, stdin)) {
        int row = atoi(line);
        if (row < 0 || row >= sweep_row_count(sweep))
            break;
        SweepResult result = sweep_result_create(sweep, row);
        bool is_over = !runner_give(&runner, sweep, row);
        if (is_over)
            lose_row(&result, &runner, SWEEP_CRASHED, 0.0);
        while (!is_over) {
            struct pollfd polled = { .fd = runner.from, .events = POLLIN };
            poll(&polled, 1, 100);
            is_over = polled.revents && runner_hear(&runner, sweep, &result);
            if (!is_over && (now() > runner.deadline || is_interrupted)) {
                lose_row(&result, &runner, SWEEP_TIMEOUT, sweep_timeout(sweep));
                is_over = true;
            }
        }
        Text out = { 0 };
        sweep_write_line(sweep, &result, &out);
        bool is_written = file_write_all(STDOUT_FILENO, out.data, out.length);
        text_free(&out);
        sweep_result_free(&result);
        if (!is_written)
            break;
    }
    runner_end(&runner);
    text_free(&runner.said);
    return EXIT_OK;
}

// Prints the rows that are left and an empty line, then keeps the lines that come.
static bool keep_others_rows(SweepRun *run)
{
    assert(run->done_count <= sweep_row_count(run->sweep));
    for (int row = next_row(run, 0); row < sweep_row_count(run->sweep); row = next_row(run, row + 1))
        printf("%d\n", row);
    printf("\n");
    fflush(stdout);
    char *line = NULL;
    size_t capacity = 0;
    bool is_fine = true;
    while (is_fine && run->done_count < sweep_row_count(run->sweep) && getline(&line, &capacity, stdin) > 0) {
        SweepResult result = sweep_result_create(run->sweep, 0);
        if (sweep_read_line(run->sweep, line, &result))
            is_fine = keep_row(run, &result);
        sweep_result_free(&result);
    }
    free(line);
    return is_fine;
}

static bool is_under_mpi(void)
{
    static const char *const signs[] = { "OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK" };
    for (int i = 0; i < COUNT_OF(signs); i++)
        if (getenv(signs[i]))
            return !getenv("TALUS_SWEEP_ALONE");
    return false;
}

// Goes on as talus-mpi. Returns only when that cannot be.
static int become_rank(const char *path, const SweepOptions *options)
{
    char helper[PATH_MAX], self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0 || !program_find("talus-mpi", "TALUS_MPI", helper, sizeof helper)) {
        fprintf(stderr, "talus: this talus was built without MPI (package libopenmpi-dev): run it without mpirun\n");
        return EXIT_USAGE;
    }
    self[length] = '\0';
    execl(helper, helper, self, path, options->fresh ? "--fresh" : (char *)NULL, (char *)NULL);
    fprintf(stderr, "talus: %s: %s\n", helper, strerror(errno));
    return EXIT_INTERNAL;
}

// ---- the verb ----

static void list_rows(const Sweep *sweep)
{
    Text out = { 0 };
    for (int i = 0; i < sweep_row_count(sweep); i++) {
        text_printf(&out, "%d ", i);
        sweep_describe(sweep, i, &out);
        text_add_char(&out, '\n');
    }
    app_print(&out);
}

static bool print_json(const SweepRun *run)
{
    Text out = { 0 };
    JsonWriter json = { .out = &out };
    json_begin_object(&json, NULL);
    json_int(&json, "rows", sweep_row_count(run->sweep));
    json_int(&json, "done", run->done_count);
    json_string(&json, "output", sweep_output(run->sweep));
    json_end_object(&json);
    text_add_char(&out, '\n');
    return app_print(&out);
}

static int finish(SweepRun *run, bool is_fine)
{
    assert(run->done_count <= sweep_row_count(run->sweep));
    int total = sweep_row_count(run->sweep);
    show_progress(run, true);
    if (!is_fine)
        return diag_has_output_errors(run->diags) ? EXIT_SIMULATION : EXIT_INTERNAL;
    if (run->done_count < total) {
        fprintf(stderr, "talus: %d of %d rows are done; the same command goes on with the rest\n", run->done_count,
                total);
        return EXIT_SIMULATION;
    }
    if (!sweep_write_files(run->sweep, run->results, run->diags))
        return EXIT_SIMULATION;
    if (run->options->json)
        return print_json(run) ? EXIT_OK : EXIT_SIMULATION;
    Text out = { 0 };
    sweep_write_summary(run->sweep, run->results, &out);
    text_printf(&out, "%s.csv, .npz, .svg\n", sweep_output(run->sweep));
    return app_print(&out) ? EXIT_OK : EXIT_SIMULATION;
}

// Rows that the journal has are not run again, so a sweep that was interrupted goes on.
static int run_loaded(Sweep *sweep, const SweepOptions *options, DiagSink *diags)
{
    if (options->list) {
        list_rows(sweep);
        return EXIT_OK;
    }
    if (options->rows)
        return serve_rows(sweep);
    Arena *arena = arena_create();
    int total = sweep_row_count(sweep);
    SweepRun run = { .sweep = sweep, .options = options, .diags = diags, .journal = -1, .start = now() };
    run.results = memory_alloc_array((size_t)total, sizeof *run.results);
    run.is_done = memory_alloc_array((size_t)total, sizeof *run.is_done);
    int code;
    if (!journal_open(&run, arena)) {
        code = diag_has_output_errors(diags) ? EXIT_SIMULATION : EXIT_INPUT;
    } else {
        run.last_shown = run.start;
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        int64_t jobs = options->jobs > 0 ? options->jobs : cores > 0 ? cores : 1;
        bool is_fine = options->plan ? keep_others_rows(&run) : run_all(&run, (int)(jobs < MAX_JOBS ? jobs : MAX_JOBS));
        code = finish(&run, is_fine);
    }
    if (run.journal >= 0)
        close(run.journal);
    for (int i = 0; i < total; i++)
        sweep_result_free(&run.results[i]);
    free(run.results);
    free(run.is_done);
    arena_destroy(arena);
    return code;
}

static int run_sweep(const AppCommand *command, int argc, char **argv)
{
    SweepOptions options = { 0 };
    int files;
    int status = app_parse(command, argc, argv, &options, &files);
    if (status >= 0)
        return status;
    if (files != 1)
        return app_usage_error(command, files ? "one sweep at a time" : "which sweep?");
    if (options.jobs < 0)
        return app_usage_error(command, "--jobs wants a positive number");
    if (options.json && (options.list || is_under_mpi()))
        return app_usage_error(command, "--json is for a sweep that runs here: not with --list, not under mpirun");
    if (is_under_mpi() && !options.rows && !options.plan && !options.list)
        return become_rank(argv[1], &options);
    struct sigaction action = { .sa_handler = interrupt };
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    DiagSink *diags = diag_create();
    Sweep *sweep = sweep_load(argv[1], diags);
    int code = sweep ? run_loaded(sweep, &options, diags) : EXIT_INPUT;
    diag_print(diags, stderr, 0, DIAG_WARNING);
    sweep_destroy(sweep);
    diag_destroy(diags);
    return code;
}

static const AppOption sweep_options[] = {
    { "jobs|j", OPTION_INT, offsetof(SweepOptions, jobs), "N", "rows that run at once; as many as there are cores" },
    { "fresh", OPTION_FLAG, offsetof(SweepOptions, fresh), NULL, "forget the rows that were run before" },
    { "list", OPTION_FLAG, offsetof(SweepOptions, list), NULL, "print the rows without running them" },
    { "quiet|q", OPTION_FLAG, offsetof(SweepOptions, quiet), NULL, "no progress" },
    { "json", OPTION_FLAG, offsetof(SweepOptions, json), NULL, "print what was done as one JSON object" },
    { "rows", OPTION_FLAG, offsetof(SweepOptions, rows), NULL, NULL },
    { "plan", OPTION_FLAG, offsetof(SweepOptions, plan), NULL, NULL },
};
const AppCommand command_sweep = {
    .name = "sweep",
    .arguments = "FILE.yaml [--jobs N]",
    .summary = "run worlds times parameters times seeds, on all cores or over MPI",
    .details =
        "The file names worlds, fields with their values, seeds, what to measure and when to stop (docs/sweeps.md). Each row runs in a\n"
        "process of its own kind: one that crashes or takes too long is a row with its reason. Finished rows are in OUTPUT.journal, and the\n"
        "same command goes on from there after it was ended. When all are done: OUTPUT.csv, OUTPUT.npz (one array for each column) and\n"
        "OUTPUT.svg. Under mpirun or srun the ranks ask for rows and one of them writes; rows are the same for any number of them.",
    .examples = "  talus sweep drop.yaml\n"
                "  talus sweep drop.yaml --list\n"
                "  talus sweep drop.yaml --jobs 1 --fresh\n"
                "  mpirun -n 4 talus sweep drop.yaml",
    .options = sweep_options,
    .option_count = COUNT_OF(sweep_options),
    .run = run_sweep,
};
