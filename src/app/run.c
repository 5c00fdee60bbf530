// run.c - `talus run`: simulates a world or body without a window, and `talus view`: the same with a browser as its
// window.
#include "app/app.h"
#include "app/project.h"
#include "app/show.h"

#include "base/budget.h"
#include "base/file.h"
#include "base/json.h"
#include "base/terminal.h"
#include "control/control.h"
#include "record/csv.h"
#include "record/movie.h"
#include "sim/sim.h"
#include "viewer/viewer.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define PLURAL(count) ((count) == 1 ? "" : "s")
#define NO_STEPS INT64_MIN  // --steps was not given

typedef struct RunOptions {
    int64_t steps;
    double until;
    int64_t seed;
    bool realtime, hash, quiet, json, no_controllers, no_plugin, explain_contacts, explain_solver, untrusted;
    const char *limit_changes;
    Limits limits;
    const char *record_values;
    bool record_contacts, record_silently;
    const char *sound, *sound_law, *movie, *movie_size, *movie_camera;
    bool sound_is_law;  // --sound named a law and no file
    double movie_rate, movie_speed;
    const char *record, *columns, *save, *snapshot, *from, *nan, *stepper, *mode, *crash_snapshot;
    int64_t plugin_timeout;
    const char *controller_token, *input, *controller;
    const char *view, *address, *log;  // view: NULL: nobody looks on
    bool play, is_view, has_links;
    Viewer *viewer;  // NULL: nobody looks on, and no acts are repeated
    int64_t threads, every, controller_timeout, port;
    bool stop_on_failure, strict;
    double timeout;
    uint64_t steps_before;  // made in worlds that a supervisor left for this one
    double time_before;
} RunOptions;

#define ROW(name, kind, member, value, help)                                                                           \
    {                                                                                                                  \
        name, kind, offsetof(RunOptions, member), value, help                                                          \
    }
static const AppOption rows[] = {
    ROW("steps", OPTION_INT, steps, "N", "stop after N steps"),
    ROW("until", OPTION_DOUBLE, until, "SECONDS", "stop at this simulated time"),
    ROW("timeout", OPTION_DOUBLE, timeout, "SECONDS", "stop after this time on the clock, with exit code 4"),
    ROW("seed", OPTION_INT, seed, "N", "seed of all random numbers (WorldInfo.randomSeed otherwise)"),
    ROW("realtime", OPTION_FLAG, realtime, NULL, "no faster than real time"),
    ROW("hash", OPTION_FLAG, hash, NULL, "print the hash of the final state"),
    ROW("record", OPTION_STRING, record, "FILE",
        "keep the run: FILE.talus (for `talus replay` and `talus export`), .html, .glb, .mcap, .mp4, .webm; any other name, or - for standard output: a CSV table of poses, velocities and joint positions"),
    ROW("columns", OPTION_STRING, columns, "GLOB", "columns of the table, e.g. 'ROBOT.*,*.position'"),
    ROW("every", OPTION_INT, every, "N",
        "record only every N-th step (otherwise every one in a table, about 60 a second in a recording)"),
    ROW("record-contacts", OPTION_FLAG, record_contacts, NULL, "keep contacts with their forces too"),
    ROW("record-values", OPTION_STRING, record_values, "GLOB",
        "keep readings of these devices too, as ROBOT/DEVICE, e.g. 'e-puck/ps*'"),
    ROW("record-silently", OPTION_FLAG, record_silently, NULL, "keep no sounds"),
    ROW("sound", OPTION_STRING, sound, "FILE.wav",
        "write what is heard at the Viewpoint: contacts, motors, Speakers; webots or webots,FILE.wav: contacts by Webots' rule"),
    ROW("sound-law", OPTION_STRING, sound_law, "talus|webots",
        "how contacts sound: mended (default), or by Webots' rule to the letter"),
    ROW("movie", OPTION_STRING, movie, "FILE", "film the run with its sound: FILE.webm or FILE.mp4"),
    ROW("movie-size", OPTION_STRING, movie_size, "WxH", "pixels of the movie (1280x720)"),
    ROW("movie-rate", OPTION_DOUBLE, movie_rate, "N", "pictures a second of the movie (30)"),
    ROW("movie-speed", OPTION_DOUBLE, movie_speed, "X",
        "simulated seconds in one second of the movie (1; others are silent)"),
    ROW("movie-camera", OPTION_STRING, movie_camera, "NAME", "film through this Camera instead of the Viewpoint"),
    ROW("save", OPTION_STRING, save, "FILE.wbt", "save the world as it is at the end"),
    ROW("snapshot", OPTION_STRING, snapshot, "FILE", "write the exact state at the end"),
    ROW("from", OPTION_STRING, from, "FILE", "start from such a state"),
    ROW("nan", OPTION_STRING, nan, "stop|freeze", "what to do when a body's state is not finite any more"),
    ROW("stepper", OPTION_STRING, stepper, "NAME", "solver: talus (default), ode-exact, ode-quick"),
    ROW("threads", OPTION_INT, threads, "N", "threads to use; results do not depend on it"),
    ROW("no-controllers", OPTION_FLAG, no_controllers, NULL, "start no controllers"),
    ROW("controller", OPTION_STRING, controller, "NAME",
        "program of the robots that name none, such as a .body; in controllers/NAME beside the file"),
    ROW("controller-timeout", OPTION_INT, controller_timeout, "MS",
        "end a controller that keeps the world waiting this long"),
    ROW("stop-on-controller-failure", OPTION_FLAG, stop_on_failure, NULL,
        "a controller that crashes, fails or is missing ends the run with exit code 1"),
    ROW("port", OPTION_INT, port, "N",
        "TCP port on this machine for <extern> controllers; 1234 or the next free one when there are any"),
    ROW("controller-token", OPTION_STRING, controller_token, "TEXT",
        "let controllers of other users and machines connect that show it (TALUS_TOKEN)"),
    ROW("input", OPTION_STRING, input, "FILE",
        "keys, mouse and joystick as a file of timed events has them (docs/controllers.md), or the acts that --log wrote"),
    ROW("view", OPTION_OPTIONAL, view, "PORT",
        "show the run in a browser: prints the link to open (docs/viewer.md); a free port unless one is given"),
    ROW("address", OPTION_STRING, address, "IP",
        "listen for browsers at this address of the machine, so that others reach it (127.0.0.1 otherwise)"),
    ROW("play", OPTION_FLAG, play, NULL, "with `talus view`: start running instead of paused"),
    ROW("log", OPTION_STRING, log, "FILE",
        "write down what people do in the browser; --input FILE repeats it, to the last bit"),
    ROW("no-plugin", OPTION_FLAG, no_plugin, NULL, "load no physics plugin"),
    ROW("plugin-timeout", OPTION_INT, plugin_timeout, "MS",
        "longest time that one call into the plugin may take (no limit otherwise)"),
    ROW("crash-snapshot", OPTION_STRING, crash_snapshot, "FILE",
        "where the last good state goes when the plugin fails (WORLD.crash.snap otherwise)"),
    ROW("explain-contacts", OPTION_FLAG, explain_contacts, NULL,
        "print the contacts at the end and which ContactProperties they got"),
    ROW("explain-solver", OPTION_FLAG, explain_solver, NULL,
        "print at the end how the last step was solved, island by island, and what all steps had trouble with"),
    ROW("strict", OPTION_FLAG, strict, NULL,
        "a file with errors in it ends with exit code 3, also when what could be read was simulated to the end"),
    ROW("untrusted", OPTION_FLAG, untrusted, NULL,
        "files of unknown origin: lower limits, and no code that they name is run"),
    ROW("limits", OPTION_STRING, limit_changes, "NAME=N,...", APP_LIMITS_HELP),
    ROW("quiet|q", OPTION_FLAG, quiet, NULL, "print nothing but errors and what was asked for"),
    ROW("json", OPTION_FLAG, json, NULL, "print the summary as one JSON object"),
    ROW("mode", OPTION_STRING, mode, "fast|realtime|run", "as in Webots"),
    ROW("batch|no-rendering|minimize|stdout|stderr|fullscreen", OPTION_IGNORED, quiet, NULL, NULL),
};

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
static bool is_in_step(int64_t *serial)
{
    *serial = step_serial;
    if (step_serial % 2 == 0)
        return false;
    SimPhase phase = sim_phase(stepping);
    return phase >= SIM_PHASE_PRESTEP && phase <= SIM_PHASE_DEVICES;
}

// The run ends with this step, or a second later.
static void on_long_step(const char *words)
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

static bool make_step(Sim *sim)
{
    stepping = sim;
    step_serial++;
    bool goes_on = sim_step(sim);
    step_serial++;
    return goes_on;
}

static bool was_interrupted(void) { return is_interrupted; }

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void sleep_until(double moment)
{
    struct timespec time = { .tv_sec = (time_t)moment, .tv_nsec = (long)(1e9 * (moment - floor(moment))) };
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

// What the loop and the summary share.
typedef struct Run {
    Devices *devices;
    Control *control;  // NULL: no robot has a program
    Input *input;
    const RunOptions *options;
    Sim *sim;
    DiagSink *diags;
    int printed;  // diagnostics shown so far
    int load_errors;
    int given_controllers;  // robots that --controller gave its program to
    uint64_t first_step, last_step;
    double started, ended;  // wall clock, s
    Progress progress;
    const char *last_failure;  // why the process ends in the middle of the run, NULL
    Show *show;                // sound, movies, pictures
    Viewer *viewer;            // who looks on; NULL
} Run;

static void show_diagnostics(Run *run)
{
    if (diag_count(run->diags) == run->printed)
        return;
    progress_clear(&run->progress);
    diag_print(run->diags, stderr, run->printed, run->options->quiet ? DIAG_ERROR : DIAG_WARNING);
    run->printed = diag_count(run->diags);
}

// What a robot's program prints begins a line of its own.
static void make_room(void *context, const char *robot, const char *text, size_t length, bool is_error)
{
    (void)robot, (void)text, (void)length, (void)is_error;
    progress_clear(&((Run *)context)->progress);
}

// How many times faster than the clock, as a person writes it.
static void format_speed(double speed, char text[static 32])
{
    snprintf(text, 32, speed < 99.95 ? "%.3g" : "%.0f", speed);
}

static void show_progress(Run *run)
{
    if (!progress_is_due(&run->progress))
        return;
    const Sim *sim = run->sim;
    double seconds = fmax(now() - run->started, 1e-9), steps = (double)(sim_steps(sim) - run->first_step);
    double total = run->last_step == UINT64_MAX ? 0.0 : (double)(run->last_step - run->first_step);
    int contacts = physics_statistics(sim_physics(sim)).contacts, warnings = diag_total(run->diags, DIAG_WARNING);
    char speed[32];
    format_speed(steps * sim_time_step(sim) / seconds, speed);
    progress_show(&run->progress, steps, total,
                  "%.3f s simulated, %s x real time, %.0f step%s/s, %d contact%s, %d warning%s", sim_time(sim), speed,
                  steps / seconds, PLURAL(round(steps / seconds)), contacts, PLURAL(contacts), warnings,
                  PLURAL(warnings));
}

// Worlds that supervisors loaded one after the other count together.
static uint64_t last_step(const Run *run)
{
    const RunOptions *options = run->options;
    if (options->steps >= 0)
        return run->first_step + (uint64_t)options->steps - options->steps_before;
    if (!isnan(options->until)) {
        double steps = ceil((options->until - options->time_before) / sim_time_step(run->sim) - 1e-9);
        return steps <= (double)run->first_step ? run->first_step : (uint64_t)fmin(steps, 1e18);
    }
    return UINT64_MAX;
}

static bool is_realtime(const RunOptions *options) { return options->realtime || !strcmp(options->mode, "realtime"); }

static void simulate(Run *run)
{
    run->started = now();
    progress_start(&run->progress, run->options->quiet || run->options->json);
    run->last_step = last_step(run);
    bool is_paced = is_realtime(run->options) && !run->viewer;
    while (sim_steps(run->sim) < run->last_step && !is_interrupted) {
        bool goes_on = make_step(run->sim);
        show_diagnostics(run);
        show_progress(run);
        if (!goes_on)
            break;
        if (is_paced)
            sleep_until(run->started + (double)(sim_steps(run->sim) - run->first_step) * sim_time_step(run->sim));
    }
    run->ended = now();
    progress_clear(&run->progress);
    if (long_step) {
        char reason[160];  // without the name of the program and the end of the line
        snprintf(reason, sizeof reason, "%.*s", (int)strlen(long_step) - 8, long_step + 7);
        diag_error(run->diags, (SourcePos){ 0 }, "%s", reason);
        sim_stop(run->sim, reason);
        show_diagnostics(run);
    }
}

static const char *failure_of(const Run *run) { return run->last_failure ? run->last_failure : sim_failure(run->sim); }

// The report that ends the process, and where the state is, are in no sink.
static int total_of(const Run *run, DiagSeverity severity)
{
    return diag_total(run->diags, severity) + (run->last_failure != NULL);
}

static void write_json(const Run *run, Text *out)
{
    const Sim *sim = run->sim;
    PhysicsStatistics statistics = physics_statistics(sim_physics(sim));
    uint64_t steps = sim_steps(sim) - run->first_step;
    double seconds = fmax(run->ended - run->started, 1e-9);
    char hash[24];
    snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)sim_hash(sim));
    JsonWriter json = { .out = out };
    json_begin_object(&json, NULL);
    json_int(&json, "steps", (int64_t)sim_steps(sim));
    json_double(&json, "time", sim_time(sim));
    json_string(&json, "hash", hash);
    json_double(&json, "speed", (double)steps * sim_time_step(sim) / seconds);
    json_double(&json, "stepsPerSecond", (double)steps / seconds);
    json_double(&json, "seconds", seconds);
    json_int(&json, "solids", statistics.solids);
    json_int(&json, "bodies", statistics.bodies);
    json_int(&json, "awake", statistics.bodies_awake);
    json_int(&json, "joints", statistics.joints);
    json_int(&json, "contacts", statistics.contacts);
    json_int(&json, "contactsDropped", statistics.contacts_dropped);
    json_double(&json, "deepest", statistics.deepest);
    json_int(&json, "frozen", statistics.frozen);
    json_int(&json, "warnings", total_of(run, DIAG_WARNING));
    json_int(&json, "errors", total_of(run, DIAG_ERROR));
    json_string(&json, "stepper", physics_stepper_name(sim_physics(sim)));
    json_string(&json, "failure", failure_of(run));
    json_begin_object(&json, "phases");
    for (int i = 0; i < SIM_PHASE_COUNT; i++)
        if (sim_phase_seconds(sim)[i] > 0.0)
            json_double(&json, sim_phase_name((SimPhase)i), sim_phase_seconds(sim)[i]);
    json_end_object(&json);
    json_end_object(&json);
    text_add_char(out, '\n');
}

// A time as a person writes it: three figures and a unit that suits.
static void add_time(Text *out, double seconds)
{
    static const struct {
        double unit;
        const char *name;
    } units[] = { { 1.0, "s" }, { 1e-3, "ms" }, { 1e-6, "us" } };
    int i = 0;
    while (i < COUNT_OF(units) - 1 && seconds < units[i].unit)
        i++;
    text_printf(out, "%.3g %s", seconds / units[i].unit, units[i].name);
}

static void write_phases(const Run *run, uint64_t steps, Text *out)
{
    const double *seconds = sim_phase_seconds(run->sim);
    double total = 0.0;
    for (int i = 0; i < SIM_PHASE_COUNT; i++)
        total += seconds[i];
    if (steps == 0 || !(total > 0.0))
        return;
    text_add_string(out, "  ");
    add_time(out, total / (double)steps);
    text_add_string(out, " a step:");
    for (int i = 0; i < SIM_PHASE_COUNT; i++)
        if (seconds[i] > 0.005 * total)
            text_printf(out, " %s %.0f%%", sim_phase_name((SimPhase)i), 100.0 * seconds[i] / total);
    text_add_char(out, '\n');
}

static void write_summary(const Run *run, Text *out)
{
    const Sim *sim = run->sim;
    PhysicsStatistics statistics = physics_statistics(sim_physics(sim));
    uint64_t steps = sim_steps(sim) - run->first_step;
    double seconds = fmax(run->ended - run->started, 1e-9);
    char speed[32];
    format_speed((double)steps * sim_time_step(sim) / seconds, speed);
    text_printf(out, "%g s simulated in %llu step%s of %g ms: %s x real time, %.0f step%s/s (%s)\n", sim_time(sim),
                (unsigned long long)steps, PLURAL(steps), 1000.0 * sim_time_step(sim), speed, (double)steps / seconds,
                PLURAL(round((double)steps / seconds)), physics_stepper_name(sim_physics(sim)));
    text_printf(out, "  %d solid%s, %d bod%s (%d awake), %d joint%s, %d contact%s", statistics.solids,
                PLURAL(statistics.solids), statistics.bodies, statistics.bodies == 1 ? "y" : "ies",
                statistics.bodies_awake, statistics.joints, PLURAL(statistics.joints), statistics.contacts,
                PLURAL(statistics.contacts));
    if (statistics.contacts > 0)
        text_printf(out, " (deepest %.2g mm)", 1000.0 * statistics.deepest);
    if (statistics.contacts_dropped > 0)
        text_printf(out, ", %d dropped", statistics.contacts_dropped);
    if (statistics.frozen > 0)
        text_printf(out, ", %d bod%s frozen", statistics.frozen, statistics.frozen == 1 ? "y" : "ies");
    text_add_char(out, '\n');
    write_phases(run, steps, out);
    int warnings = total_of(run, DIAG_WARNING), errors = total_of(run, DIAG_ERROR);
    text_printf(out, "  %d warning%s, %d error%s\n", warnings, PLURAL(warnings), errors, PLURAL(errors));
    if (failure_of(run))
        text_printf(out, "  stopped: %s\n", failure_of(run));
}

// Standard output is a table then, and nothing else goes there.
static bool records_table(const RunOptions *options) { return options->record && !show_records(options->record); }
static bool records_to_output(const RunOptions *options) { return options->record && !strcmp(options->record, "-"); }

// For a process whose heap is damaged: there is room enough that nothing is allocated.
static const char *sum_up(void *context, const char *failure)
{
    static char room[1 << 16];
    Run *run = context;
    Text out = { .data = room, .capacity = sizeof room };
    run->last_failure = failure;
    run->ended = now();
    if (run->options->json)
        write_json(run, &out);
    else if (!run->options->quiet)
        write_summary(run, &out);
    return room;
}

static void report(const Run *run)
{
    const RunOptions *options = run->options;
    Text out = { 0 };
    if (options->explain_contacts) {
        physics_explain_materials(sim_physics(run->sim), &out);
        physics_explain_contacts(sim_physics(run->sim), &out);
    }
    if (options->explain_solver)
        physics_explain_solver(sim_physics(run->sim), &out);
    if (options->json)
        write_json(run, &out);
    else if (!options->quiet)
        write_summary(run, &out);
    if (options->hash && !options->json)
        text_printf(&out, "hash %016llx\n", (unsigned long long)sim_hash(run->sim));
    if (out.length > 0 && records_to_output(options))
        fwrite(out.data, 1, out.length, stderr);
    if (out.length > 0 && !records_to_output(options))
        app_print(&out);
    else
        text_free(&out);
}

static int finish(Run *run, bool is_recorded)
{
    const RunOptions *options = run->options;
    bool is_fine = is_recorded;
    if (options->snapshot)
        is_fine &= sim_snapshot_write(run->sim, options->snapshot);
    report(run);
    if (options->save)
        is_fine &= sim_save(run->sim, options->save);
    show_diagnostics(run);
    if (is_out_of_time)
        return EXIT_TIMEOUT;
    if (sim_failure(run->sim))
        return EXIT_SIMULATION;
    if (run->control && control_quit_status(run->control) >= 0)
        return control_quit_status(run->control);
    if (!is_fine)
        return EXIT_SIMULATION;
    return run->load_errors > 0 && options->strict ? EXIT_INPUT : EXIT_OK;
}

// A file in which mistakes were found and nothing else. Nodes that the reader made up have no line.
static bool is_nothing(const Sim *sim, const DiagSink *diags)
{
    const FieldList *nodes = scene_list(scene_root(sim_scene(sim)), "children");
    for (int i = 0; i < nodes->count; i++)
        if (nodes->nodes[i] && nodes->nodes[i]->pos.line > 0)
            return false;
    return diag_has_errors(diags);
}

static void find_next_world(const char *current, const char *asked, char next[4096])
{
    Arena *arena = arena_create();
    snprintf(next, 4096, "%s", *asked ? path_join(arena, path_directory(arena, current), asked) : current);
    arena_destroy(arena);
}

// Robots of a .body or .cnoid file have no controller of their own.
static bool give_controller(SceneNode *node, void *context)
{
    Run *run = context;
    if (scene_node_is(node, "Robot") && !strcmp(scene_string(node, "controller"), "<none>")) {
        scene_set_string(sim_scene(run->sim), node, "controller", run->options->controller);
        run->given_controllers++;
    }
    return true;
}

static void show_all(void *run) { show_diagnostics(run); }

static void start_controllers(Run *run)
{
    if (run->options->no_controllers)
        return;
    if (run->options->controller)
        scene_walk(scene_root(sim_scene(run->sim)), false, give_controller, run);
    if (run->options->controller && run->given_controllers == 0)
        diag_warning(run->diags, (SourcePos){ 0 },
                     "--controller %s is not used: no robot is without a controller of its own",
                     run->options->controller);
    run->devices = sim_devices(run->sim);
    if (!control_is_needed(run->devices))
        return;
    ControlOptions options = { .runs_nothing = run->options->untrusted,
                               .timeout_ms = (int)run->options->controller_timeout,
                               .stops_on_failure = run->options->stop_on_failure,
                               .out = run->options->json || records_to_output(run->options) ? stderr : stdout,
                               .port = (int)run->options->port,
                               .token = run->options->controller_token,
                               .input = run->input,
                               .is_interrupted = was_interrupted,
                               .idle = show_all,
                               .idle_context = run,
                               .watches = { show_for_words(run->show) },
                               .show = show_for_control(run->show) };
    if (run->viewer)
        options.watches[1] = (ControlWatch){ run->viewer, viewer_heard, viewer_labelled, viewer_moded,
                                             viewer_windowed };
    options.watches[2] = (ControlWatch){ .context = run, .heard = make_room };
    run->control = control_create(run->sim, &options, run->diags);
}

static bool start_show(Run *run)
{
    const RunOptions *options = run->options;
    ShowOptions show = { .sound = options->sound,
                         .webots_sound = options->sound_law && !strcmp(options->sound_law, "webots"),
                         .movie = options->movie,
                         .rate = options->movie_rate,
                         .speed = options->movie_speed,
                         .camera = options->movie_camera,
                         .record = records_table(options) ? NULL : options->record,
                         .every = (int)options->every,
                         .record_contacts = options->record_contacts,
                         .record_silently = options->record_silently,
                         .record_values = options->record_values };
    if (options->movie_size)
        show_read_size(options->movie_size, &show.width, &show.height);
    return show_start(run->show, &show);
}

// False when the world names a plugin that cannot be used.
static bool start_plugin(Run *run)
{
    const RunOptions *options = run->options;
    const char *name = plugin_name(sim_scene(run->sim));
    if (!name || options->no_plugin)
        return true;
    if (options->untrusted) {
        diag_warning(run->diags, (SourcePos){ 0 },
                     "the physics plugin '%s' is not loaded: code of unknown origin is not run", name);
        return true;
    }
    SimPluginOptions plugin = { .plugin = { .timeout_ms = options->plugin_timeout,
                                            .out = options->json || records_to_output(options) ? stderr : NULL,
                                            .is_quiet = options->quiet,
                                            .devices = run->devices,
                                            .is_alone = !run->control,
                                            .sum_up = records_to_output(options) ? NULL : sum_up,
                                            .sum_context = run },
                                .crash_snapshot = options->crash_snapshot };
    return sim_start_plugin(run->sim, &plugin);
}

// Once there is something to be seen.
static void print_links(RunOptions *options)
{
    if (!options->view || options->has_links)
        return;
    options->has_links = true;
    FILE *out = options->is_view && !options->json && !records_to_output(options) ? stdout : stderr;
    fprintf(out, "open   %s\nlook   %s\n", viewer_url(options->viewer), viewer_watch_url(options->viewer));
    fflush(out);
}

static void attach_viewer(Run *run, RunOptions *options)
{
    ViewerWorld world = { .devices = sim_devices(run->sim),
                          .control = run->control,
                          .input = run->control ? run->input : NULL,
                          .idle = show_all,
                          .idle_context = run };
    if (!run->viewer)
        return;
    viewer_attach(run->viewer, run->sim, &world);
    print_links(options);
}

// Runs one world. A supervisor may ask for another one: its path is copied to `next`, which is empty otherwise.
static int run_file(RunOptions *options, const char *path, DiagSink *diags, char next[4096])
{
    next[0] = '\0';
    SimOptions sim_options = {
        .physics = { .stepper = options->stepper,
                     .threads = (int)options->threads,
                     .seed = (uint64_t)options->seed,
                     .has_seed = options->seed >= 0,
                     .nan_policy = options->nan && !strcmp(options->nan, "freeze") ? PHYSICS_NAN_FREEZE
                                                                                   : PHYSICS_NAN_STOP },
    };
    sim_options.physics.limits = sim_options.formats.limits = &options->limits;
    Run run = { .options = options, .diags = diags, .viewer = options->viewer };
    is_loading = 1;
    budget_begin_load();
    run.sim = sim_load(path, &sim_options, diags);
    budget_end_load();
    is_loading = 0;
    run.load_errors = diag_total(diags, DIAG_ERROR);
    show_diagnostics(&run);
    if (!run.sim)
        return EXIT_INPUT;
    sim_time_phases(run.sim);
    int code = EXIT_INPUT;
    CsvRecorder *recorder = NULL;
    if (is_nothing(run.sim, diags))
        goto done;
    if (options->input && !(run.input = input_read(options->input, diags)))
        goto done;
    if (!options->input && run.viewer)
        run.input = input_create_live();
    run.show = show_create(run.sim);
    // The devices are part of the state, so they are there before it is read.
    start_controllers(&run);
    if (options->from && !sim_snapshot_read(run.sim, options->from))
        goto done;
    run.first_step = sim_steps(run.sim);
    if (records_table(options)) {
        recorder = csv_open(run.sim, options->record, &(CsvOptions){ options->columns, (int)options->every });
        if (!recorder)
            goto done;
    }
    physics_want_contact_forces(sim_physics(run.sim), options->explain_contacts);
    if (!start_plugin(&run))
        goto done;
    if (!start_show(&run)) {
        code = EXIT_SIMULATION;
        goto done;
    }
    show_diagnostics(&run);
    attach_viewer(&run, options);
    if (!sim_failure(run.sim))
        simulate(&run);
    viewer_detach(run.viewer);
    if (run.control)
        control_end(run.control);
    const char *asked = run.control ? control_next_world(run.control) : NULL;
    if (asked && sim_steps(run.sim) >= run.last_step)
        asked = NULL;
    if (run.viewer && viewer_wants_reload(run.viewer))
        asked = "";
    options->steps_before += sim_steps(run.sim) - run.first_step;
    options->time_before += sim_time(run.sim);
    options->from = NULL;  // what is loaded next starts at its beginning
    if (asked)
        find_next_world(path, asked, next);
    bool is_plugin_fine = sim_end_plugin(run.sim);
    bool is_shown = show_finish(run.show);
    bool is_fine = csv_close(recorder) && is_shown;
    code = run.viewer && viewer_wants_reload(run.viewer) ? EXIT_OK : finish(&run, is_fine);
    if (!is_plugin_fine)
        code = EXIT_SIMULATION;
done:
    control_destroy(run.control);
    show_destroy(run.show);
    input_destroy(run.input);
    show_diagnostics(&run);
    if (is_interrupted)
        stepping = run.sim;  // the system takes a large world apart faster than we do
    else
        sim_destroy(run.sim);
    return code;
}

static bool stepper_is_known(const char *name)
{
    for (const char *const *known = physics_stepper_names(); *known; known++)
        if (!strcmp(*known, name))
            return true;
    return false;
}

static void start_clock(double seconds, const struct sigaction *action)
{
    sigaction(SIGALRM, action, NULL);
    struct itimerval timer = { .it_value = { (time_t)seconds, (suseconds_t)(1e6 * (seconds - floor(seconds))) } };
    setitimer(ITIMER_REAL, &timer, NULL);
}

// A log of acts, not a table of events. What cannot be read is told by its reader.
static bool is_log(const char *path)
{
    FileData file;
    if (!path || !file_read(path, (size_t)limits_default.file_bytes, &file, NULL, (SourcePos){ 0 }))
        return false;
    bool is = journal_is_one(file.data, file.size);
    file_release(&file);
    return is;
}

// False: it cannot be, which has been said.
static bool start_viewer(RunOptions *options, DiagSink *diags)
{
    int64_t port = 0;
    if (options->view && *options->view)
        text_to_int(options->view, &port);
    ViewerOptions viewer = { .without_server = !options->view,
                             .address = options->address,
                             .port = (int)port,
                             .is_paused = options->is_view && !options->play,
                             .pace = is_realtime(options) ? 1.0 : 0.0,
                             .log = options->log,
                             .is_interrupted = was_interrupted };
    if (is_log(options->input)) {
        viewer.acts = options->input;
        options->input = NULL;
    }
    if (!options->view && !viewer.acts)
        return true;
    options->viewer = viewer_start(&viewer, diags);
    return options->viewer != NULL;
}

static bool stop_viewer(RunOptions *options, DiagSink *diags)
{
    if (!options->viewer)
        return true;
    bool is_fine = viewer_log_is_whole(options->viewer);
    if (viewer_has_acts_left(options->viewer))
        diag_warning(diags, (SourcePos){ 0 }, "the run ended before all acts of its input were repeated");
    viewer_stop(options->viewer);
    return is_fine;
}

static bool is_port(const char *text)
{
    int64_t port;
    return !*text || (text_to_int(text, &port) && port >= 0 && port <= 65535);
}

// A recording that is named as a movie is one; the law of sounds may stand before its file.
static void settle_outputs(RunOptions *options)
{
    if (options->record && movie_has_format(options->record) && !options->movie) {
        options->movie = options->record;
        options->record = NULL;
    }
    static const char *const laws[] = { "webots", "talus" };
    for (int i = 0; i < COUNT_OF(laws) && options->sound; i++) {
        size_t length = strlen(laws[i]);
        if (strncmp(options->sound, laws[i], length) != 0 || (options->sound[length] && options->sound[length] != ','))
            continue;
        options->sound_law = laws[i];
        options->sound_is_law = !options->sound[length];
        options->sound = options->sound_is_law ? NULL : options->sound + length + 1;
    }
}

// A world that a supervisor loads gets a recording of its own, run-2.talus: that of the first one stays.
static void name_next_recording(RunOptions *options, const char *first, int number, Text *name)
{
    if (!first || records_table(options))
        return;
    size_t stem = strlen(first) - strlen(path_extension(first));
    text_clear(name);
    text_printf(name, "%.*s-%d%s", (int)stem, first, number, first + stem);
    options->record = name->data;
}

// What options say about each other, in the order in which a user would mend them. -1: nothing is wrong; else the exit
// code, having explained it.
static int check_options(const AppCommand *command, RunOptions *options)
{
    if (options->steps < 0 && options->steps != NO_STEPS)
        return app_usage_error(command, "--steps wants 0 or more");
    if (options->until < 0.0)
        return app_usage_error(command, "--until wants 0 or more seconds");
    settle_outputs(options);
    if (options->columns && !records_table(options))
        return app_usage_error(command, "--columns chooses what --record writes into a table, and none is asked for");
    if ((options->record_contacts || options->record_silently || options->record_values)
        && (!options->record || records_table(options)))
        return app_usage_error(command,
                               "--record-contacts, -silently and -values need --record FILE.talus, .html or .mcap");
    if (options->every > 1 && !options->record)
        return app_usage_error(command, "--every chooses what --record writes, which is not given");
    if (options->sound_law && !options->sound && !options->movie && (!options->record || records_table(options)))
        return options->sound_is_law
                   ? app_usage_error(command,
                                     "--sound %s names a law and no file; give --sound %s,FILE.wav, or --movie or "
                                     "--record FILE.talus beside it",
                                     options->sound_law, options->sound_law)
                   : app_usage_error(command,
                                     "--sound-law is for --sound, --movie or --record FILE.talus, which are not given");
    if (options->no_controllers
        && (options->controller || options->stop_on_failure || options->port || options->controller_timeout))
        return app_usage_error(
            command, "--no-controllers leaves nothing to --controller, --stop-on-controller-failure, --port and "
                     "--controller-timeout");
    if (options->no_plugin && (options->plugin_timeout || options->crash_snapshot))
        return app_usage_error(command, "--no-plugin leaves nothing to --plugin-timeout and --crash-snapshot");
    if (options->steps >= 0 && !isnan(options->until))
        return app_usage_error(command, "give --steps or --until, not both");
    if (options->every < 0 || options->threads < 0 || options->threads > 256 || options->plugin_timeout < 0)
        return app_usage_error(command, "--every wants at least 1, --threads 1 to 256");
    if (options->controller_token && !*options->controller_token)
        return app_usage_error(command, "--controller-token is empty: whoever can reach this machine would be let in");
    if (!(options->timeout >= 0.0))
        return app_usage_error(command, "--timeout wants seconds");
    if (options->port < 0 || options->port > 65535)
        return app_usage_error(command, "--port wants 1 to 65535");
    if (options->json && records_to_output(options))
        return app_usage_error(command, "--json and --record - both want standard output; give --record a file");
    if (options->sound_law && strcmp(options->sound_law, "talus") && strcmp(options->sound_law, "webots"))
        return app_usage_error(command, "--sound-law wants talus or webots");
    int width, height;
    if (options->movie_size && !show_read_size(options->movie_size, &width, &height))
        return app_usage_error(command, "--movie-size wants WIDTHxHEIGHT, 16 to 8192 each, as 1280x720");
    if (options->movie && !movie_has_format(options->movie))
        return app_usage_error(command, "--movie wants a name that ends with .webm or .mp4");
    if (!(options->movie_rate >= 0.0 && options->movie_rate <= 1000.0)
        || !(options->movie_speed >= 0.0 && options->movie_speed <= 1e6))
        return app_usage_error(command, "--movie-rate wants up to 1000, --movie-speed up to 1e6");
    if (!options->movie
        && (options->movie_size || options->movie_rate > 0.0 || options->movie_speed > 0.0 || options->movie_camera))
        return app_usage_error(command, "--movie-size, -rate, -speed and -camera need --movie FILE");
    if (options->view && !is_port(options->view))
        return app_usage_error(command, "--view wants a port, 0 to 65535");
    if (!options->view && (options->address || options->log))
        return app_usage_error(command, "--address and --log need --view");
    if (options->stepper && !stepper_is_known(options->stepper))
        return app_usage_error(command, "there is no stepper '%s'", options->stepper);
    return -1;
}

// Runs the world, and then those that a supervisor or the viewer asks for in its place.
static int run_verb(const AppCommand *command, int argc, char **argv)
{
    bool is_view = command == &command_view;
    RunOptions options = { .steps = NO_STEPS,
                           .until = NAN,
                           .seed = -1,
                           .mode = is_view ? "realtime" : "fast",
                           .view = is_view ? "" : NULL,
                           .is_view = is_view };
    int files;
    int code = app_parse(command, argc, argv, &options, &files);
    if (code >= 0)
        return code;
    if (files != 1)
        return app_usage_error(command, "give one world or body");
    code = check_options(command, &options);
    if (code >= 0)
        return code;
    code = app_take_limits(command, options.untrusted, options.limit_changes, &options.limits,
                           &(BudgetOptions){ .is_in_step = is_in_step, .step_is_over = on_long_step });
    if (code >= 0)
        return code;
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESETHAND };
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (options.timeout > 0.0)
        start_clock(options.timeout, &action);
    char world[4096], next[4096] = "";
    Arena *arena = arena_create();
    const char *path = project_world(arena, argv[1], command->name);
    snprintf(world, sizeof world, "%s", path ? path : "");
    arena_destroy(arena);
    if (!*world)
        return EXIT_INPUT;
    DiagSink *viewer_diags = diag_create();
    bool is_ready = start_viewer(&options, viewer_diags);
    code = EXIT_INPUT;
    int worlds = 1;
    Text record = { 0 };
    const char *first_record = options.record;
    while (is_ready) {
        DiagSink *diags = diag_create();
        code = run_file(&options, world, diags, next);
        diag_destroy(diags);
        memcpy(world, next, sizeof world);
        if (!*next || is_interrupted)
            break;
        name_next_recording(&options, first_record, ++worlds, &record);
    }
    if (!stop_viewer(&options, viewer_diags) && code == EXIT_OK)
        code = EXIT_SIMULATION;
    diag_print(viewer_diags, stderr, 0, DIAG_WARNING);
    diag_destroy(viewer_diags);
    text_free(&record);
    return code;
}

const AppCommand command_run = {
    .name = "run",
    .arguments = "FILE|PROJECT [--steps N | --until SECONDS]",
    .summary = "simulate a world or body",
    .details =
        "Without --steps or --until it runs until it is interrupted (Ctrl-C), then prints its summary all the same.\n"
        "The same file, seed and options give the same bytes of state, with any number of threads, recorded or not.",
    .examples = "talus run world.wbt --until 10 --hash\n"
                "talus run world.wbt --steps 1000 --record out.csv --columns 'ROBOT.*'\n"
                "talus run world.wbt --until 10 --record run.talus    # then: talus replay run.talus\n"
                "talus run world.wbt --until 10 --record run.html     # one page that plays it, to send to anybody\n"
                "talus run world.wbt --until 5 --snapshot five.snap && talus run world.wbt --from five.snap --until 10",
    .options = rows,
    .option_count = COUNT_OF(rows),
    .run = run_verb,
};

const AppCommand command_view = {
    .name = "view",
    .arguments = "FILE [--play]",
    .summary = "simulate a world or body and handle it in a browser",
    .details =
        "Prints two links: one for handling the world, one only for looking at it. Both carry a secret; nobody without it gets in, and\n"
        "nobody on other machines reaches it unless --address says so. The world waits until somebody presses play, then runs in real\n"
        "time (--mode fast: as fast as it goes). Everything of `talus run` works here too. docs/viewer.md has the rest.",
    .examples =
        "talus view world.wbt\n"
        "talus view world.wbt --play --view=8080\n"
        "talus view world.wbt --log acts.log     (what you do is written down, and repeated to the last bit by:)\n"
        "talus run world.wbt --input acts.log --until 10 --hash\n"
        "talus run world.wbt --view              (attach a browser to any run, at any time)",
    .options = rows,
    .option_count = COUNT_OF(rows),
    .run = run_verb,
};
