// run.c - `talus run`: simulates a world or body without a window, and `talus view`: the same with a browser as its
// window.
#include "app/run.h"
#include "app/project.h"

#include "base/budget.h"
#include "base/file.h"
#include "record/csv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

double run_clock(void)
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

static void show_progress(Run *run)
{
    assert_debug(run->sim);
    if (!progress_is_due(&run->progress))
        return;
    const Sim *sim = run->sim;
    double seconds = fmax(run_clock() - run->started, 1e-9), steps = (double)(sim_steps(sim) - run->first_step);
    double total = run->last_step == UINT64_MAX ? 0.0 : (double)(run->last_step - run->first_step);
    int contacts = physics_statistics(sim_physics(sim)).contacts, warnings = diag_total(run->diags, DIAG_WARNING);
    char speed[32];
    run_format_speed(steps * sim_time_step(sim) / seconds, speed);
    progress_show(&run->progress, steps, total,
                  "%.3f s simulated, %s x real time, %.0f step%s/s, %d contact%s, %d warning%s", sim_time(sim), speed,
                  steps / seconds, PLURAL(round(steps / seconds)), contacts, PLURAL(contacts), warnings,
                  PLURAL(warnings));
}

// Worlds that supervisors loaded one after the other count together.
static uint64_t last_step(const Run *run)
{
    assert_debug(run->sim);
    const RunOptions *options = run->options;
    if (options->steps >= 0)
        return run->first_step + (uint64_t)options->steps - options->steps_before;
    if (!isnan(options->until)) {
        double steps = ceil((options->until - options->time_before) / sim_time_step(run->sim) - 1e-9);
        return steps <= (double)run->first_step ? run->first_step : (uint64_t)fmin(steps, 1e18);
    }
    return UINT64_MAX;
}

static void simulate(Run *run)
{
    assert_debug(run->sim);
    run->started = run_clock();
    progress_start(&run->progress, run->options->quiet || run->options->json);
    run->last_step = last_step(run);
    bool is_paced = run_is_realtime(run->options) && !run->viewer;
    while (sim_steps(run->sim) < run->last_step && !run_was_interrupted()) {
        bool goes_on = run_make_step(run->sim);
        show_diagnostics(run);
        show_progress(run);
        if (!goes_on)
            break;
        if (is_paced)
            sleep_until(run->started + (double)(sim_steps(run->sim) - run->first_step) * sim_time_step(run->sim));
    }
    run->ended = run_clock();
    progress_clear(&run->progress);
    const char *long_step = run_long_step();
    if (long_step) {
        char reason[160];  // without the name of the program and the end of the line
        snprintf(reason, sizeof reason, "%.*s", (int)strlen(long_step) - 8, long_step + 7);
        diag_error(run->diags, (SourcePos){ 0 }, "%s", reason);
        sim_stop(run->sim, reason);
        show_diagnostics(run);
    }
}

static int finish(Run *run, bool is_recorded)
{
    assert_debug(run->sim && run->options);
    const RunOptions *options = run->options;
    bool is_fine = is_recorded;
    if (options->snapshot)
        is_fine &= sim_snapshot_write(run->sim, options->snapshot);
    run_report(run);
    if (options->save)
        is_fine &= sim_save(run->sim, options->save);
    show_diagnostics(run);
    if (run_is_out_of_time()) {
        fprintf(stderr, "talus: out of time after %g s of the clock (--timeout)\n", options->timeout);
        return EXIT_TIMEOUT;
    }
    if (sim_failure(run->sim))
        return EXIT_SIMULATION;
    if (run_was_interrupted() && run->last_step != UINT64_MAX && sim_steps(run->sim) < run->last_step) {
        fprintf(stderr, "talus: ended by a signal before the time that was asked for\n");
        return run_ending_code();
    }
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
    assert_debug(run->options->controller);
    if (scene_node_is(node, "Robot") && !strcmp(scene_string(node, "controller"), "<none>")) {
        scene_set_string(sim_scene(run->sim), node, "controller", run->options->controller);
        run->given_controllers++;
    }
    return true;
}

static void show_all(void *run) { show_diagnostics(run); }

// Whoever listens is known before the first program starts: what it prints first is heard too.
static void start_controllers(Run *run)
{
    assert_debug(run->sim && run->outputs && !run->control);
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
                               .out = run->options->json || run_records_to_output(run->options) ? stderr : stdout,
                               .port = (int)run->options->port,
                               .token = run->options->controller_token,
                               .input = run->input,
                               .is_interrupted = run_was_interrupted,
                               .idle = show_all,
                               .idle_context = run,
                               .watches = { outputs_for_words(run->outputs) },
                               .show = outputs_for_control(run->outputs) };
    if (run->viewer)
        options.watches[1] = (ControlWatch){ run->viewer, viewer_heard, viewer_labelled, viewer_moded,
                                             viewer_windowed };
    options.watches[2] = (ControlWatch){ .context = run, .heard = make_room };
    run->control = control_create(run->sim, &options, run->diags);
}

static bool start_outputs(Run *run)
{
    assert_debug(run->sim && run->outputs);
    const RunOptions *options = run->options;
    OutputsOptions asked = { .sound = options->sound,
                             .webots_sound = options->sound_law && !strcmp(options->sound_law, "webots"),
                             .movie = options->movie,
                             .rate = options->movie_rate,
                             .speed = options->movie_speed,
                             .camera = options->movie_camera,
                             .record = run_records_table(options) ? NULL : options->record,
                             .every = (int)options->every,
                             .record_contacts = options->record_contacts,
                             .record_silently = options->record_silently,
                             .record_values = options->record_values };
    if (options->movie_size)
        outputs_read_size(options->movie_size, &asked.width, &asked.height);
    return outputs_start(run->outputs, &asked);
}

// False when the world names a plugin that cannot be used.
static bool start_plugin(Run *run)
{
    assert_debug(run->sim);
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
                                            .out = options->json || run_records_to_output(options) ? stderr : NULL,
                                            .is_quiet = options->quiet,
                                            .devices = run->devices,
                                            .is_alone = !run->control,
                                            .sum_up = run_records_to_output(options) ? NULL : run_sum_up,
                                            .sum_context = run },
                                .crash_snapshot = options->crash_snapshot };
    return sim_start_plugin(run->sim, &plugin);
}

// Once there is something to be seen.
static void print_links(RunOptions *options)
{
    assert_debug(options->viewer || !options->view);
    if (!options->view || options->has_links)
        return;
    options->has_links = true;
    FILE *out = options->is_view && !options->json && !run_records_to_output(options) ? stdout : stderr;
    fprintf(out, "open   %s\nlook   %s\n", viewer_url(options->viewer), viewer_watch_url(options->viewer));
    fflush(out);
}

static void attach_viewer(Run *run, RunOptions *options)
{
    assert_debug(run->sim && run->outputs);
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

static bool load_world(Run *run, const char *path)
{
    assert_debug(!run->sim);
    const RunOptions *options = run->options;
    SimOptions sim_options = {
        .physics = { .stepper = options->stepper,
                     .threads = (int)options->threads,
                     .seed = (uint64_t)options->seed,
                     .has_seed = options->seed >= 0,
                     .nan_policy = options->nan && !strcmp(options->nan, "freeze") ? PHYSICS_NAN_FREEZE
                                                                                   : PHYSICS_NAN_STOP },
    };
    sim_options.physics.limits = sim_options.formats.limits = &options->limits;
    run_set_loading(true);
    budget_begin_load();
    run->sim = sim_load(path, &sim_options, run->diags);
    budget_end_load();
    run_set_loading(false);
    run->load_errors = diag_total(run->diags, DIAG_ERROR);
    show_diagnostics(run);
    return run->sim != NULL;
}

// All that takes part in the run, in the order in which one needs the other: devices are part of the state, so they are
// there before it is read; the plugin sees the state; outputs see the plugin. EXIT_OK: it can begin.
static int start_all(Run *run, RunOptions *options)
{
    assert_debug(run->sim && !run->outputs && !run->input && !run->table);
    sim_time_phases(run->sim);
    if (is_nothing(run->sim, run->diags))
        return EXIT_INPUT;
    if (options->input && !(run->input = input_read(options->input, run->diags)))
        return EXIT_INPUT;
    if (!options->input && run->viewer)
        run->input = input_create_live();
    run->outputs = outputs_create(run->sim);
    start_controllers(run);
    if (options->from && !sim_snapshot_read(run->sim, options->from))
        return EXIT_INPUT;
    run->first_step = sim_steps(run->sim);
    if (run_records_table(options)) {
        run->table = csv_open(run->sim, options->record, &(CsvOptions){ options->columns, (int)options->every });
        if (!run->table)
            return EXIT_INPUT;
    }
    physics_want_contact_forces(sim_physics(run->sim), options->explain_contacts);
    if (!start_plugin(run))
        return EXIT_INPUT;
    if (!start_outputs(run))
        return EXIT_SIMULATION;
    show_diagnostics(run);
    attach_viewer(run, options);
    return EXIT_OK;
}

// Which world comes next, if any: a supervisor names one, or the viewer wants this one again.
static void choose_next(Run *run, RunOptions *options, const char *path, char next[4096])
{
    const char *asked = run->control ? control_next_world(run->control) : NULL;
    if (asked && sim_steps(run->sim) >= run->last_step)
        asked = NULL;
    if (run->viewer && viewer_wants_reload(run->viewer))
        asked = "";
    options->steps_before += sim_steps(run->sim) - run->first_step;
    options->time_before += sim_time(run->sim);
    options->from = NULL;  // what is loaded next starts at its beginning
    if (asked)
        find_next_world(path, asked, next);
}

// The exit code of a run that was begun.
static int end_all(Run *run)
{
    assert_debug(run->sim && run->outputs);
    bool is_plugin_fine = sim_end_plugin(run->sim);
    bool is_shown = outputs_finish(run->outputs);
    bool is_fine = csv_close(run->table) && is_shown;
    int code = run->viewer && viewer_wants_reload(run->viewer) ? EXIT_OK : finish(run, is_fine);
    return is_plugin_fine ? code : EXIT_SIMULATION;
}

// Runs one world. A supervisor may ask for another one: its path is copied to `next`, which is empty otherwise.
static int run_file(RunOptions *options, const char *path, DiagSink *diags, char next[4096])
{
    assert_debug(path && diags);
    next[0] = '\0';
    Run run = { .options = options, .diags = diags, .viewer = options->viewer };
    if (!load_world(&run, path))
        return EXIT_INPUT;
    int code = start_all(&run, options);
    if (code == EXIT_OK) {
        if (!sim_failure(run.sim))
            simulate(&run);
        viewer_detach(run.viewer);
        if (run.control)
            control_end(run.control);
        choose_next(&run, options, path, next);
        code = end_all(&run);
    }
    control_destroy(run.control);
    outputs_destroy(run.outputs);
    input_destroy(run.input);
    show_diagnostics(&run);
    if (run_was_interrupted())
        run_leave_world(run.sim);  // the system takes a large world apart faster than we do
    else
        sim_destroy(run.sim);
    return code;
}

// Where results are to go is tried before the work, not after it.
static bool has_places(const RunOptions *options)
{
    const char *places[] = { options->record, options->sound,    options->movie,         options->save,
                             options->log,    options->snapshot, options->crash_snapshot };
    DiagSink *diags = diag_create();
    bool has = true;
    for (int i = 0; i < COUNT_OF(places); i++)
        if (places[i] && strcmp(places[i], "-"))
            has = file_can_write(places[i], diags) && has;
    diag_print(diags, stderr, 0, DIAG_ERROR);
    diag_destroy(diags);
    return has;
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
    assert_debug(!options->viewer);
    int64_t port = 0;
    if (options->view && *options->view)
        text_to_int(options->view, &port);
    ViewerOptions viewer = { .without_server = !options->view,
                             .address = options->address,
                             .ghost = options->ghost,
                             .embed = options->embed,
                             .port = (int)port,
                             .is_paused = options->is_view && !options->play,
                             .pace = run_is_realtime(options) ? 1.0 : 0.0,
                             .log = options->log,
                             .is_interrupted = run_was_interrupted };
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

// A world that a supervisor loads gets a recording of its own, run-2.talus: that of the first one stays.
static void name_next_recording(RunOptions *options, const char *first, int number, Text *name)
{
    assert_debug(number > 1);
    if (!first || run_records_table(options))
        return;
    size_t stem = strlen(first) - strlen(path_extension(first));
    text_clear(name);
    text_printf(name, "%.*s-%d%s", (int)stem, first, number, first + stem);
    options->record = name->data;
}

// Runs the world, and then those that a supervisor or the viewer asks for in its place. Returns the exit code of the
// last one.
static int run_worlds(RunOptions *options, const char *first)
{
    assert_debug(first && *first);
    char world[4096], next[4096] = "";
    snprintf(world, sizeof world, "%s", first);
    int code = EXIT_INPUT, worlds = 1;
    Text record = { 0 };
    const char *first_record = options->record;
    while (*world) {
        DiagSink *diags = diag_create();
        code = run_file(options, world, diags, next);
        diag_destroy(diags);
        memcpy(world, next, sizeof world);
        if (!*next || run_was_interrupted())
            break;
        name_next_recording(options, first_record, ++worlds, &record);
    }
    options->record = first_record;  // what was named after it goes
    text_free(&record);
    return code;
}

// Options are judged before anything is opened; a viewer lives as long as all worlds of the run.
int run_verb(const AppCommand *command, int argc, char **argv)
{
    assert_debug(command == &command_run || command == &command_view);
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
    code = run_check_options(command, &options);
    if (code >= 0)
        return code;
    code = app_take_limits(command, options.untrusted, options.limit_changes, &options.limits,
                           &(BudgetOptions){ .is_in_step = run_is_in_step, .step_is_over = run_on_long_step });
    if (code >= 0)
        return code;
    if (!has_places(&options))
        return EXIT_SIMULATION;
    run_catch_signals(options.timeout);
    Arena *arena = arena_create();
    const char *world = project_world(arena, argv[1], command->name);
    if (!world || !*world) {
        arena_destroy(arena);
        return EXIT_INPUT;
    }
    DiagSink *viewer_diags = diag_create();
    code = start_viewer(&options, viewer_diags) ? run_worlds(&options, world) : EXIT_INPUT;
    if (!stop_viewer(&options, viewer_diags) && code == EXIT_OK)
        code = EXIT_SIMULATION;
    diag_print(viewer_diags, stderr, 0, DIAG_WARNING);
    diag_destroy(viewer_diags);
    arena_destroy(arena);
    return code;
}
