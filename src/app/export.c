// export.c - `talus export`: a recording as a page, an animation, a movie, a table or a log.
#include "app/app.h"
#include "app/outputs.h"

#include "base/budget.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "record/export.h"
#include "record/movie.h"
#include "record/names.h"
#include "record/playback.h"
#include "viewer/caption.h"
#include "viewer/render.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct ExportArguments {
    double from, to, rate, speed;
    const char *columns, *size, *camera, *world, *ghost;
    bool quiet, json, untrusted;
    const char *limit_changes;
    Limits limits;
} ExportArguments;

static volatile sig_atomic_t is_interrupted;
static void on_signal(int number) { is_interrupted = number; }

// ---- movies: the recorded world follows the recorded poses, and is drawn ----

// s: a day and more. A damaged recording can claim any time, and every second of it would be drawn. record.movie
#define MOVIE_SECONDS_MAX 1e5

typedef struct Filming {
    const ExportArguments *arguments;
    Recording *recording;
    RecordingNames names;
    Sim *sim;
    Devices *devices;
    MovieRecorder *movie;
    Playback *playback;
    uint8_t *pixels;
    int width, height;
    double first, last;  // s
    Pose *before;        // of the frame before, whose time it is
    int before_count, before_capacity;
    double time;
    bool has_ink;  // a Pen has written: ink may evaporate, too
    Progress progress;
} Filming;

static RenderCamera camera_of(const Filming *filming)
{
    const char *name = filming->arguments->camera;
    const SceneNode *node = name ? render_find_camera(sim_scene(filming->sim), name) : NULL;
    return node ? render_camera(node) : render_view(filming->sim);
}

static const uint8_t *draw(void *context)
{
    assert_debug(((Filming *)context)->pixels);
    Filming *filming = context;
    RenderCamera camera = camera_of(filming);
    if (!render_frame(filming->sim, filming->devices, &camera,
                      &(RenderImage){ filming->width, filming->height, filming->pixels }, NULL))
        return NULL;
    int count;
    const RecorderLabel *labels = playback_labels(filming->playback, &count);
    for (int i = 0; i < count; i++)
        caption_draw(filming->pixels, filming->width, filming->height,
                     &(Caption){ .text = labels[i].text,
                                 .x = labels[i].x,
                                 .y = labels[i].y,
                                 .size = labels[i].size,
                                 .rgba = labels[i].rgba });
    return filming->pixels;
}

static void show_progress(Filming *filming, double time)
{
    if (progress_is_due(&filming->progress))
        progress_show(&filming->progress, time - filming->first, filming->last - filming->first,
                      "%.2f of %.2f s filmed", time - filming->first, filming->last - filming->first);
}

// The world must have the solids that were recorded: by their names, in their order.
static bool is_same_world(Filming *filming, DiagSink *diags)
{
    assert_debug(filming->sim);
    const Physics *physics = sim_physics(filming->sim);
    for (int i = 0; i < filming->names.solid_count; i++) {
        const char *name = filming->names.solids[i];
        const char *here = i < physics_solid_count(physics) && physics_solid_exists(physics, i)
                               ? physics_solid_label(physics, i)
                               : NULL;
        if (!name || (here && !strcmp(name, here)))
            continue;
        diag_error(diags, (SourcePos){ 0 },
                   "'%s' is not the world that was recorded: there solid %d is '%s', here %s%s%s",
                   scene_path(sim_scene(filming->sim)), i, name, here ? "'" : "there is none", here ? here : "",
                   here ? "'" : "");
        return false;
    }
    return true;
}

static Pose pose_between(Pose from, Pose to, double share)
{
    assert(share >= 0.0 && share <= 1.0);
    double sign = from.q.w * to.q.w + from.q.x * to.q.x + from.q.y * to.q.y + from.q.z * to.q.z < 0.0 ? -share : share;
    Quat q = { (1.0 - share) * from.q.w + sign * to.q.w, (1.0 - share) * from.q.x + sign * to.q.x,
               (1.0 - share) * from.q.y + sign * to.q.y, (1.0 - share) * from.q.z + sign * to.q.z };
    return (Pose){ vec3_mad(vec3_scale(from.t, 1.0 - share), to.t, share), quat_normalized(q) };
}

// All solids at a place between the frame before (0) and the one at hand (1).
static void move_solids(Filming *filming, const Pose *poses, int count, double share)
{
    assert_debug(poses || count == 0);
    Physics *physics = sim_physics(filming->sim);
    for (int i = 0; i < count && i < physics_solid_count(physics); i++) {
        if (!physics_solid_exists(physics, i) || !isfinite(poses[i].t.x))
            continue;
        bool is_between = share < 1.0 && i < filming->before_count && isfinite(filming->before[i].t.x);
        Pose now = physics_solid_pose(physics, i),
             wanted = is_between ? pose_between(filming->before[i], poses[i], share) : poses[i];
        if (!vec3_is_equal(now.t, wanted.t) || memcmp(&now.q, &wanted.q, sizeof now.q) != 0)
            physics_solid_set_pose(physics, i, wanted);
    }
}

// Pens paint in every step of the run, of which not all were recorded: solids go from frame to frame in as many.
static void follow(Filming *filming, const FrameView *view)
{
    assert_debug(filming->sim && filming->devices);
    enum { STEPS_MAX = 64 };
    int count;
    const Pose *poses = recording_poses(filming->recording, &count);
    double passed = double_clamp(view->time - filming->time, 0.0, 1e3);
    int steps = int_min((int)(passed / sim_time_step(filming->sim) + 0.5), STEPS_MAX);
    filming->has_ink = filming->has_ink || devices_pen_writes(filming->devices);
    for (int i = 1; filming->has_ink && i <= steps; i++) {
        move_solids(filming, poses, count, (double)i / steps);
        devices_paint(filming->devices);
    }
    move_solids(filming, poses, count, 1.0);
    playback_show(view, filming->devices);
    playback_turn(view, sim_physics(filming->sim));
    memory_grow(&filming->before, &filming->before_capacity, count, sizeof *filming->before);
    if (count > 0)
        memcpy(filming->before, poses, (size_t)count * sizeof *poses);
    filming->before_count = count;
    assert(filming->before_count <= filming->before_capacity);
    filming->time = view->time;
}

// The file that the recording names, as it was given then or beside the recording.
static const char *find_world(const Filming *filming, const char *recording_path, Arena *arena)
{
    const char *file = filming->names.file;
    if (filming->arguments->world)
        return filming->arguments->world;
    if (!file || file_exists(file))
        return file;
    const char *beside = path_join(arena, path_directory(arena, recording_path), path_name(file));
    return file_exists(beside) ? beside : file;
}

static bool open_world(Filming *filming, const char *recording_path, DiagSink *diags)
{
    assert_debug(!filming->sim);
    Arena *arena = arena_create();
    const char *world = find_world(filming, recording_path, arena);
    SimOptions options = { 0 };
    options.physics.limits = options.formats.limits = &filming->arguments->limits;
    if (!world || !file_exists(world))
        diag_error(diags, (SourcePos){ 0 },
                   "a movie is drawn from the world that was recorded, and '%s' is not there; name it with --world",
                   world ? world : "");
    else
        filming->sim = sim_load(world, &options, diags);
    arena_destroy(arena);
    return filming->sim && is_same_world(filming, diags);
}

// What sounded up to this frame, heard from where the picture is seen.
static void hear(Filming *filming, const FrameView *view)
{
    assert_debug(filming->playback);
    int count;
    playback_pass(filming->playback, view, &(SoundListener){ .pose = camera_of(filming).pose, .volume = 1.0 });
    const int16_t *frames = playback_samples(filming->playback, &count);
    if (filming->movie)
        movie_hear(filming->movie, frames, count);
}

static bool open_movie(Filming *filming, const char *path, double first)
{
    assert_debug(!filming->movie);
    const ExportArguments *arguments = filming->arguments;
    MovieOptions options = { .path = path,
                             .width = filming->width,
                             .height = filming->height,
                             .rate = arguments->rate,
                             .speed = arguments->speed,
                             .draw = draw,
                             .context = filming,
                             .is_driven = true,
                             .driven_rate = playback_has_sound(filming->playback) ? playback_rate(filming->playback)
                                                                                  : 0 };
    filming->first = first;
    playback_begin(filming->playback, first);
    filming->movie = movie_open(filming->sim, &options);
    return filming->movie != NULL;
}

// Frames before the part that is wanted are followed too: joints, paint and voices at its start come of them. The
// movie is opened with its first frame, so a recording without one leaves no file.
static bool film(Filming *filming, const char *path, DiagSink *diags)
{
    assert(filming->pixels && filming->width > 0 && filming->height > 0);
    const ExportOptions part = { .from = filming->arguments->from, .to = filming->arguments->to };
    FrameView view;
    bool is_too_long = false;
    recording_rewind(filming->recording);
    while (!is_interrupted && recording_next(filming->recording, &view)) {
        bool is_wanted = export_wants(&part, &view);
        if (!is_wanted && filming->movie)
            break;
        follow(filming, &view);
        hear(filming, &view);
        if (!is_wanted)
            continue;
        if (!filming->movie && !open_movie(filming, path, view.time))
            return false;
        if (view.time - filming->first > MOVIE_SECONDS_MAX) {
            diag_error(diags, (SourcePos){ 0 },
                       "the recording goes on to %g s; a movie lasts at most %g s: choose a part with --from and --to",
                       view.time, MOVIE_SECONDS_MAX);
            is_too_long = true;
            break;
        }
        movie_show(filming->movie, view.time - filming->first);
        show_progress(filming, view.time);
    }
    progress_clear(&filming->progress);
    if (!filming->movie)
        diag_error(diags, (SourcePos){ 0 }, "there is no frame to film");
    bool ok = filming->movie && !is_interrupted && !is_too_long;
    if (ok)
        ok = movie_close(filming->movie);
    else
        movie_discard(filming->movie);
    return ok;
}

static bool export_movie(const ExportArguments *arguments, Recording *recording, const char *from, const char *path,
                         DiagSink *diags)
{
    assert_debug(recording && movie_has_format(path));
    Filming filming = { .arguments = arguments, .recording = recording, .width = 1280, .height = 720 };
    progress_start(&filming.progress, arguments->quiet || arguments->json);
    if (arguments->size)
        outputs_read_size(arguments->size, &filming.width, &filming.height);
    bool ok = names_read(recording, &filming.names, diags) && open_world(&filming, from, diags);
    if (ok && arguments->camera && !render_find_camera(sim_scene(filming.sim), arguments->camera)) {
        diag_error(diags, (SourcePos){ 0 }, "there is no Camera '%s'", arguments->camera);
        ok = false;
    }
    if (ok) {
        recording_times(recording, &filming.first, &filming.last);
        if (arguments->to > 0.0)
            filming.last = fmin(filming.last, arguments->to);
        filming.devices = sim_devices(filming.sim);
        filming.playback = playback_create(recording, arguments->untrusted ? &limits_untrusted : NULL, diags);
        filming.pixels = memory_alloc_array((size_t)filming.width * (size_t)filming.height, 4);
        ok = film(&filming, path, diags);
    }
    free(filming.pixels);
    free(filming.before);
    playback_destroy(filming.playback);
    sim_destroy(filming.sim);
    names_free(&filming.names);
    return ok;
}

// ---- the verb ----

static const char *wrong_argument(const ExportArguments *arguments, const char *path)
{
    int width, height;
    if (!export_has_format(path) && !movie_has_format(path))
        return "the name of the output says its format: .html, .glb, .mp4, .webm, .csv or .mcap";
    if (arguments->size && !outputs_read_size(arguments->size, &width, &height))
        return "--size wants WIDTHxHEIGHT, 16 to 8192 each, as 1280x720";
    if (!(arguments->rate >= 0.0 && arguments->rate <= 1000.0) || !(arguments->speed >= 0.0 && arguments->speed <= 1e6))
        return "--rate wants up to 1000, --speed up to 1e6";
    if (!(arguments->from >= 0.0) || !(arguments->to >= 0.0)
        || (arguments->to > 0.0 && arguments->to < arguments->from))
        return "--from and --to want seconds, the first one first";
    bool names_movie = arguments->size || arguments->camera || arguments->world || arguments->rate > 0.0
                       || arguments->speed > 0.0;
    if (names_movie && !movie_has_format(path))
        return "--size, --rate, --speed, --camera and --world are for movies";
    if (arguments->ghost && !text_ends_with(path, ".html"))
        return "--ghost is for pages";
    return NULL;
}

static int run_export(const AppCommand *command, int argc, char **argv)
{
    ExportArguments arguments = { 0 };
    int files;
    int status = app_parse(command, argc, argv, &arguments, &files);
    if (status >= 0)
        return status;
    if (files != 2)
        return app_usage_error(command, "a recording and an output file, please");
    const char *wrong = wrong_argument(&arguments, argv[2]);
    if (wrong)
        return app_usage_error(command, "%s", wrong);
    status = app_take_limits(command, arguments.untrusted, arguments.limit_changes, &arguments.limits, NULL);
    if (status >= 0)
        return status;
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND | SA_RESTART };
    if (movie_has_format(argv[2])) {  // others end at once and leave nothing
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
    }
    DiagSink *diags = diag_create();
    Recording *recording = recording_open(argv[1], &arguments.limits, diags);
    Recording *ghost = arguments.ghost ? recording_open(arguments.ghost, &arguments.limits, diags) : NULL;
    budget_end_load();
    int code = EXIT_INPUT;
    if (recording && !ghost == !arguments.ghost) {
        ExportOptions options = {
            .from = arguments.from, .to = arguments.to, .columns = arguments.columns, .ghost = ghost
        };
        bool ok = movie_has_format(argv[2]) ? export_movie(&arguments, recording, argv[1], argv[2], diags)
                                            : export_write(recording, argv[2], &options, diags);
        code = is_interrupted ? 128 + (int)is_interrupted : ok ? EXIT_OK : EXIT_SIMULATION;
    }
    diag_print(diags, stderr, 0, arguments.quiet ? DIAG_ERROR : DIAG_WARNING);
    if (arguments.json)
        app_print_outcome(argv[1], argv[2], code == EXIT_OK, diags);
    recording_close(recording);
    recording_close(ghost);
    diag_destroy(diags);
    return code;
}

#define ROW(name, kind, member, value, help)                                                                           \
    {                                                                                                                  \
        name, kind, offsetof(ExportArguments, member), value, help                                                     \
    }
static const AppOption rows[] = {
    ROW("from", OPTION_DOUBLE, from, "SECONDS", "leave out what was before"),
    ROW("to", OPTION_DOUBLE, to, "SECONDS", "leave out what came after"),
    ROW("columns", OPTION_STRING, columns, "GLOB", "columns of a table, e.g. 'ROBOT.*,*.position'"),
    ROW("ghost", OPTION_STRING, ghost, "RUN.talus",
        "of a page: a second run beside it, translucent at the same moments"),
    ROW("size", OPTION_STRING, size, "WxH", "pixels of a movie (1280x720)"),
    ROW("rate", OPTION_DOUBLE, rate, "N", "pictures a second of a movie (30)"),
    ROW("speed", OPTION_DOUBLE, speed, "X", "recorded seconds in one second of a movie (1)"),
    ROW("camera", OPTION_STRING, camera, "NAME", "film through this Camera instead of the Viewpoint"),
    ROW("world", OPTION_STRING, world, "FILE", "the world that was recorded, where a movie does not find it by itself"),
    ROW("untrusted", OPTION_FLAG, untrusted, NULL, "lower limits, for files from strangers"),
    ROW("limits", OPTION_STRING, limit_changes, "NAME=N,...", APP_LIMITS_HELP),
    ROW("quiet|q", OPTION_FLAG, quiet, NULL, "print errors alone"),
    ROW("json", OPTION_FLAG, json, NULL, "print what became of it as one JSON object"),
};
const AppCommand command_export = {
    .name = "export",
    .arguments = "RUN.talus OUT",
    .summary = "turn a recording into a page, an animation, a movie, a table or a log",
    .details =
        "The format of OUT follows its ending: .html (one page with everything in it, opens from disk), .glb (glTF\n"
        "animation), .mp4 and .webm (with sound; drawn from the world file, which must be there), .csv, .mcap (Foxglove).\n"
        "OUT is written whole or not at all. A recording that was cut off is used up to there.",
    .examples = "talus run world.wbt --until 10 --record run.talus && talus export run.talus run.html\n"
                "talus export run.talus run.mp4 --size 1920x1080 --speed 0.5\n"
                "talus export run.talus arm.csv --columns 'ARM.*' --from 2 --to 4",
    .options = rows,
    .option_count = COUNT_OF(rows),
    .run = run_export,
};
