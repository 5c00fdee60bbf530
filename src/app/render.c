// render.c - `talus render`: pictures of a world, as it is at load, after some time or in a snapshot, made without a
// window.
#include "app/app.h"
#include "app/project.h"
#include "app/outputs.h"

#include "base/budget.h"
#include "base/file.h"
#include "base/json.h"
#include "base/terminal.h"
#include "control/control.h"
#include "viewer/render.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JPEG_QUALITY = 90 };

typedef struct RenderOptions {
    const char *size, *camera, *view, *from;
    double at, every;
    int64_t steps, frames, plugin_timeout;
    bool fit, no_plugin, no_controllers, untrusted, quiet, json;
    const char *limit_changes;
    Limits limits;
} RenderOptions;

#define ROW(name, kind, member, value, help)                                                                           \
    {                                                                                                                  \
        name, kind, offsetof(RenderOptions, member), value, help                                                       \
    }
static const AppOption rows[] = {
    ROW("size", OPTION_STRING, size, "WxH", "pixels (800x600, or what the robot's camera has)"),
    ROW("camera", OPTION_STRING, camera, "NAME",
        "what this robot's camera sees; ROBOT/NAME when several have the name"),
    ROW("view", OPTION_STRING, view, "\"x y z ax ay az angle\"",
        "from here, turned like a Viewpoint: 0 0 1 0 looks along +x"),
    ROW("fit", OPTION_FLAG, fit, NULL, "step back until all that there is is in the picture"),
    ROW("from", OPTION_STRING, from, "SNAPSHOT", "the state that `talus run --snapshot` wrote"),
    ROW("every", OPTION_DOUBLE, every, "SECONDS",
        "a series: a picture now and after each such time (PICTURE-0000.png and on)"),
    ROW("frames", OPTION_INT, frames, "N", "how many pictures the series has (10)"),
    ROW("at", OPTION_DOUBLE, at, "SECONDS", "simulate until this time first"),
    ROW("steps", OPTION_INT, steps, "N", "simulate N steps first"),
    ROW("no-plugin", OPTION_FLAG, no_plugin, NULL, "load no physics plugin, so nothing is drawn by it"),
    ROW("plugin-timeout", OPTION_INT, plugin_timeout, "MS", APP_PLUGIN_TIMEOUT_HELP),
    ROW("no-controllers", OPTION_FLAG, no_controllers, NULL, "start no controllers (they start only when time passes)"),
    ROW("untrusted", OPTION_FLAG, untrusted, NULL,
        "lower limits for files of unknown origin; runs no code of the world"),
    ROW("limits", OPTION_STRING, limit_changes, "NAME=N,...", APP_LIMITS_HELP),
    ROW("quiet|q", OPTION_FLAG, quiet, NULL, "print errors only"),
    ROW("json", OPTION_FLAG, json, NULL, "print what was drawn as one JSON object"),
};

typedef struct Job {
    const RenderOptions *options;
    const char *path, *picture;
    DiagSink *diags;
    Sim *sim;
    Devices *devices;
    Control *control;
    Outputs *outputs;
    RenderCamera camera;
    int width, height;
    int printed;
    Progress progress;
} Job;

static void show_diagnostics(Job *job)
{
    diag_print(job->diags, stderr, job->printed, job->options->quiet ? DIAG_ERROR : DIAG_WARNING);
    job->printed = diag_count(job->diags);
}

// ---- options ----

static bool read_size(const char *text, int *width, int *height)
{
    char *end;
    long w = strtol(text, &end, 10);
    if (end == text || (*end != 'x' && *end != 'X'))
        return false;
    const char *second = end + 1;
    long h = strtol(second, &end, 10);
    *width = (int)w;
    *height = (int)h;
    return end != second && !*end && w > 0 && h > 0 && w <= RENDER_MOST_PIXELS && h <= RENDER_MOST_PIXELS;
}

static bool read_view(const char *text, Pose *pose)
{
    double v[7];
    char *end = (char *)text;
    for (int i = 0; i < 7; i++) {
        const char *start = end;
        v[i] = strtod(start, &end);
        if (end == start || !isfinite(v[i]))
            return false;
        end += strspn(end, " ,");
    }
    *pose = (Pose){ vec3(v[0], v[1], v[2]), quat_from_rotation((Rotation){ v[3], v[4], v[5], v[6] }) };
    return !*end;
}

static void list_cameras(Job *job)
{
    const Scene *scene = sim_scene(job->sim);
    Text names = { 0 };
    for (int i = 0; i < 20 && render_next_camera(scene, i); i++) {
        const SceneNode *camera = render_next_camera(scene, i);
        text_printf(&names, "%s%s/%s", i ? ", " : "", render_robot_name(camera), scene_string(camera, "name"));
    }
    if (names.length)
        diag_hint(job->diags, "there are %s", names.data);
    else
        diag_hint(job->diags, "the world has no Camera");
    text_free(&names);
}

// After the simulation: cameras move.
static bool choose_camera(Job *job)
{
    assert_debug(job->sim);
    const Scene *scene = sim_scene(job->sim);
    job->camera = render_view(job->sim);
    if (job->options->camera) {
        const SceneNode *camera = render_find_camera(scene, job->options->camera);
        if (!camera) {
            diag_error(job->diags, (SourcePos){ 0 }, "there is no Camera '%s'", job->options->camera);
            list_cameras(job);
            return false;
        }
        job->camera = render_camera(camera);
    }
    if (job->options->view)
        read_view(job->options->view, &job->camera.pose);
    if (!job->width) {
        job->width = job->camera.width ? int_min(job->camera.width, RENDER_MOST_PIXELS) : RENDER_WIDTH;
        job->height = job->camera.height ? int_min(job->camera.height, RENDER_MOST_PIXELS) : RENDER_HEIGHT;
    }
    Vec3 low, high;
    if (job->options->fit && !job->options->camera && devices_look_bounds(job->devices, &low, &high))
        job->camera.pose = render_fit(&job->camera, low, high, devices_look_up(job->devices), job->width, job->height);
    return true;
}

// ---- time ----

// What a robot's program prints begins a line of its own.
static void make_room(void *context, const char *robot, const char *text, size_t length, bool is_error)
{
    (void)robot, (void)text, (void)length, (void)is_error;
    progress_clear(&((Job *)context)->progress);
}

static bool start(Job *job)
{
    assert_debug(job->sim && !job->control);
    const RenderOptions *options = job->options;
    bool passes_time = options->steps > 0 || options->at > 0.0 || options->every > 0.0;
    job->devices = sim_devices(job->sim);
    if (passes_time && !options->no_controllers && !options->untrusted && control_is_needed(job->devices)) {
        job->outputs = outputs_create(job->sim);
        ControlOptions control = { .out = stderr,
                                   .is_quiet = options->quiet,
                                   .show = outputs_for_control(job->outputs),
                                   .watches = { { .context = job, .heard = make_room } } };
        job->control = control_create(job->sim, &control, job->diags);
    }
    if (options->no_plugin || options->untrusted)
        return true;
    SimPluginOptions plugin = { .plugin = { .timeout_ms = options->plugin_timeout,
                                            .out = stderr,
                                            .is_quiet = options->quiet,
                                            .devices = job->devices } };
    return sim_start_plugin(job->sim, &plugin);
}

static Sim *volatile stepping;  // for the handler of the budget

static bool is_in_step(int64_t *serial)
{
    Sim *sim = stepping;
    if (!sim)
        return false;
    *serial = (int64_t)sim_steps(sim);
    SimPhase phase = sim_phase(sim);
    return phase >= SIM_PHASE_PRESTEP && phase <= SIM_PHASE_DEVICES;
}

static void simulate_until(Job *job, double steps)
{
    assert_debug(job->sim);
    Progress *progress = &job->progress;
    double first = (double)sim_steps(job->sim), step = sim_time_step(job->sim);
    progress_start(progress, job->options->quiet || job->options->json);
    stepping = job->sim;
    while ((double)sim_steps(job->sim) < steps && sim_step(job->sim)) {
        if (diag_count(job->diags) > job->printed)
            progress_clear(progress);
        show_diagnostics(job);
        if (progress_is_due(progress))
            progress_show(progress, (double)sim_steps(job->sim) - first, steps - first, "%.2f of %.2f s simulated",
                          step * (double)sim_steps(job->sim), step * steps);
    }
    stepping = NULL;
    progress_clear(progress);
}

static void simulate(Job *job)
{
    const RenderOptions *options = job->options;
    simulate_until(job,
                   options->steps > 0 ? (double)options->steps : ceil(options->at / sim_time_step(job->sim) - 1e-9));
}

// ---- the picture ----

// What a supervisor asks for in the middle of a run.
bool app_export_picture(Sim *sim, Devices *devices, const char *path, int quality)
{
    assert_debug(sim && devices && path);
    if (!render_picture_has_format(path)) {
        diag_warning(sim_diags(sim), (SourcePos){ 0 },
                     "the picture '%s' wants a name that ends with .png, .jpg or .jpeg", path);
        return false;
    }
    RenderCamera view = render_view(sim);
    return render_picture(sim, devices, &view, &(RenderFile){ path, RENDER_WIDTH, RENDER_HEIGHT, quality }, NULL);
}

static void report(const Job *job, RenderCounts counts)
{
    Text out = { 0 };
    if (job->options->json) {
        JsonWriter json = { .out = &out };
        json_begin_object(&json, NULL);
        json_string(&json, "picture", job->picture);
        json_int(&json, "width", job->width);
        json_int(&json, "height", job->height);
        json_string(&json, "camera", job->camera.name);
        json_double(&json, "time", sim_time(job->sim));
        json_int(&json, "shapes", counts.shapes);
        json_int(&json, "triangles", counts.triangles);
        json_int(&json, "textures", counts.textures);
        json_int(&json, "warnings", diag_total(job->diags, DIAG_WARNING));
        json_int(&json, "errors", diag_total(job->diags, DIAG_ERROR));
        json_end_object(&json);
        text_add_char(&out, '\n');
    } else if (!job->options->quiet) {
        text_printf(&out, "%s: %d x %d pixels at %g s, %d shapes, %d triangles\n", job->picture, job->width,
                    job->height, sim_time(job->sim), counts.shapes, counts.triangles);
    }
    app_print(&out);
}

// "film.png" and 7: "film-0007.png".
static const char *numbered(const char *picture, int number, Text *name)
{
    assert_debug(number >= 0);
    const char *extension = path_extension(picture);
    name->length = 0;
    text_printf(name, "%.*s-%04d%s", (int)(strlen(picture) - strlen(extension)), picture, number, extension);
    return name->data;
}

static int draw(Job *job)
{
    RenderCounts counts;
    if (!choose_camera(job))
        return EXIT_INPUT;
    assert(job->width > 0 && job->height > 0);
    if (!render_picture(job->sim, job->devices, &job->camera,
                        &(RenderFile){ job->picture, job->width, job->height, JPEG_QUALITY }, &counts))
        return EXIT_SIMULATION;
    if (counts.covered == 0) {
        if (counts.shapes == 0) {
            diag_warning(job->diags, (SourcePos){ 0 }, "nothing is visible in %s: the world has no Shape",
                         job->picture);
        } else {
            diag_warning(job->diags, (SourcePos){ 0 }, "nothing is visible in %s, though the world has %d shape%s",
                         job->picture, counts.shapes, counts.shapes == 1 ? "" : "s");
            diag_hint(job->diags, "--fit steps back until all is in the picture");
        }
    }
    report(job, counts);
    return EXIT_OK;
}

static int draw_series(Job *job)
{
    assert_debug(job->picture);
    const char *picture = job->picture;
    int count = job->options->frames > 0 ? (int)job->options->frames : 10, code = EXIT_OK;
    double first = (double)sim_steps(job->sim), step = sim_time_step(job->sim);
    Text name = { 0 };
    for (int i = 0; i < count && code == EXIT_OK; i++) {
        simulate_until(job, first + round(i * job->options->every / step));
        if (sim_failure(job->sim))
            code = EXIT_SIMULATION;
        job->picture = numbered(picture, i, &name);
        if (code == EXIT_OK)
            code = draw(job);
    }
    job->picture = picture;
    text_free(&name);
    return code;
}

// As `talus run` without its outputs; whatever fails, what was started is ended before the world goes.
static int render_file(Job *job)
{
    assert_debug(job->path && !job->sim);
    SimOptions options = { 0 };
    options.physics.limits = options.formats.limits = &job->options->limits;
    job->sim = sim_load(job->path, &options, job->diags);
    budget_end_load();
    show_diagnostics(job);
    if (!job->sim)
        return EXIT_INPUT;
    int code = EXIT_INPUT;
    if (!start(job))
        goto done;
    if (job->options->from && !sim_snapshot_read(job->sim, job->options->from))
        goto done;
    if (!sim_failure(job->sim))
        simulate(job);
    if (sim_failure(job->sim))
        code = EXIT_SIMULATION;
    else
        code = job->options->every > 0.0 ? draw_series(job) : draw(job);
    if (!sim_end_plugin(job->sim))
        code = EXIT_SIMULATION;
done:
    control_destroy(job->control);
    outputs_destroy(job->outputs);
    show_diagnostics(job);
    sim_destroy(job->sim);
    return code;
}

// Options are checked before the world is loaded, which may take long.
static int render_verb(const AppCommand *command, int argc, char **argv)
{
    RenderOptions options = { .at = NAN, .every = NAN, .steps = -1, .frames = -1 };
    int files;
    int code = app_parse(command, argc, argv, &options, &files);
    if (code >= 0)
        return code;
    Job job = { .options = &options };
    Pose ignored;
    if (files != 2)
        return app_usage_error(command, "give a world or body, and a picture to write");
    if (!render_picture_has_format(argv[2]))
        return app_usage_error(command, "the picture '%s' wants a name that ends with .png, .jpg or .jpeg", argv[2]);
    if (options.size && !read_size(options.size, &job.width, &job.height))
        return app_usage_error(command, "--size wants WxH, each 1 to %d, not '%s'", RENDER_MOST_PIXELS, options.size);
    if (options.view && !read_view(options.view, &ignored))
        return app_usage_error(command, "--view wants seven numbers: x y z, an axis and an angle");
    if (options.steps >= 0 && !isnan(options.at))
        return app_usage_error(command, "give --steps or --at, not both");
    if (!isnan(options.every) && !(options.every > 0.0))
        return app_usage_error(command, "--every wants a time above 0");
    if (options.frames == 0 || options.frames > 1000000 || (options.frames > 0 && isnan(options.every)))
        return app_usage_error(command, "--frames wants 1 to 1000000, beside --every");
    if (options.at < 0.0 || options.plugin_timeout < 0)
        return app_usage_error(command, "--at and --plugin-timeout cannot be negative");
    code = app_take_limits(command, options.untrusted, options.limit_changes, &options.limits,
                           &(BudgetOptions){ .is_in_step = is_in_step });
    if (code >= 0)
        return code;
    Arena *arena = arena_create();
    job.path = project_world(arena, argv[1], command->name);
    job.picture = argv[2];
    job.diags = diag_create();
    code = job.path ? render_file(&job) : EXIT_INPUT;
    diag_destroy(job.diags);
    arena_destroy(arena);
    return code;
}

const AppCommand command_render = {
    .name = "render",
    .arguments = "FILE|PROJECT PICTURE.png [--camera NAME] [--at SECONDS]",
    .summary = "draw a world or body as a PNG or JPEG picture",
    .details =
        "Traces the 3D view of the Viewpoint, or what a robot's camera sees, without a window or a GPU. The world's physics\n"
        "plugin is loaded and draws with webots_physics_draw; controllers run when time passes before the picture.",
    .examples = "talus render world.wbt world.png\n"
                "talus render world.wbt later.png --at 2.5 --size 1280x720\n"
                "talus render world.wbt eye.png --camera ROBOT/camera\n"
                "talus render world.wbt all.png --fit\n"
                "talus render world.wbt film.png --every 0.04 --frames 100\n"
                "talus render world.wbt then.png --from then.snap\n"
                "talus render world.wbt above.png --view '0 0 20 0 1 0 1.5708'",
    .options = rows,
    .option_count = COUNT_OF(rows),
    .run = render_verb,
};
