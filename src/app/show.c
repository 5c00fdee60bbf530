// show.c - the outputs of a run that are seen and heard.
#include "app/show.h"

#include "app/app.h"
#include "base/memory.h"
#include "record/export.h"
#include "record/movie.h"
#include "record/recorder.h"
#include "record/soundtrack.h"
#include "record/webots_animation.h"
#include "viewer/caption.h"
#include "viewer/render.h"

#include <webots/supervisor.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A movie with what draws it.
typedef struct Film {
    Show *show;
    MovieRecorder *movie;  // NULL: none
    uint8_t *pixels;
    int width, height;
    char *camera;      // NULL: the Viewpoint
    char caption[16];  // "2x"; empty: none
} Film;

// A recording under way. What is no .talus is made from one at the end, which lies beside it until then.
typedef struct Tape {
    Recorder *recorder;  // NULL: none
    char *path, *aside;  // aside NULL: it is written under its own name
} Tape;

struct Show {
    Sim *sim;
    SoundTrack *sound;
    WavRecorder *wav;
    Film film;         // of the command line
    Film asked;        // of a supervisor
    int asked_status;  // WbSupervisorMovieStatus of the last one that ended
    Tape tape;         // of the command line
    Tape animation;    // of a supervisor
    SoundLaw law;
    RecorderLabel *labels;  // that supervisors have put over the picture; the texts are the show's own
    int label_count, label_capacity;
};

bool show_read_size(const char *text, int *width, int *height)
{
    char rest;
    return sscanf(text, "%dx%d%c", width, height, &rest) == 2 && *width >= 16 && *height >= 16 && *width <= 8192
           && *height <= 8192;
}

Show *show_create(Sim *sim)
{
    Show *show = memory_alloc(sizeof *show);
    show->sim = sim;
    show->asked_status = WB_SUPERVISOR_MOVIE_READY;
    return show;
}

// ---- sound ----

static Pose ears(void *context)
{
    Show *show = context;
    return render_view(show->sim).pose;
}

static void hear_show(Show *show)
{
    show->sound = soundtrack_create(show->sim, sim_devices(show->sim),
                                    &(SoundTrackOptions){ .stage.law = show->law, .listener = ears, .context = show });
}

// ---- movies ----

static void draw_words(const Film *film)
{
    const Show *show = film->show;
    for (int i = 0; i < show->label_count; i++) {
        const RecorderLabel *label = &show->labels[i];
        caption_draw(
            film->pixels, film->width, film->height,
            &(Caption){ .text = label->text, .x = label->x, .y = label->y, .size = label->size, .rgba = label->rgba });
    }
    caption_draw(
        film->pixels, film->width, film->height,
        &(Caption){
            .text = film->caption, .x = 0.98, .y = 0.02, .size = 0.06, .is_at_right = true, .rgba = UINT32_MAX });
}

static const uint8_t *draw(void *context)
{
    Film *film = context;
    Sim *sim = film->show->sim;
    RenderCamera camera = render_view(sim);
    const SceneNode *node = film->camera ? render_find_camera(sim_scene(sim), film->camera) : NULL;
    if (node)
        camera = render_camera(node);
    if (!render_frame(sim, sim_devices(sim), &camera, film->width, film->height, film->pixels, NULL))
        return NULL;
    draw_words(film);
    return film->pixels;
}

static void film_end(Film *film)
{
    free(film->pixels);
    free(film->camera);
    *film = (Film){ 0 };
}

static bool film_begin(Film *film, Show *show, MovieOptions options, const char *camera, bool has_caption)
{
    if (camera && !render_find_camera(sim_scene(show->sim), camera)) {
        diag_error(sim_diags(show->sim), (SourcePos){ 0 }, "there is no Camera '%s'", camera);
        return false;
    }
    *film = (Film){
        .show = show, .camera = camera ? memory_string(camera) : NULL, .width = options.width, .height = options.height
    };
    if (has_caption && options.speed != 1.0)
        snprintf(film->caption, sizeof film->caption, "%gx", options.speed);
    film->pixels = memory_alloc_array((size_t)options.width * (size_t)options.height, 4);
    options.draw = draw;
    options.context = film;
    options.sound = show->sound;
    film->movie = movie_open(show->sim, &options);
    if (!film->movie)
        film_end(film);
    return film->movie != NULL;
}

// ---- what supervisors ask for ----

static bool ask_picture(void *context, const char *path, int quality)
{
    Show *show = context;
    return app_export_picture(show->sim, sim_devices(show->sim), path, quality);
}

// Webots shows about 25 pictures a second: as many whole steps for each as come nearest to that.
static double webots_rate(const Sim *sim, double speed)
{
    double step = sim_time_step(sim), count = fmax(1.0, round(0.040 * speed / step));
    return speed / (count * step);
}

static bool ask_movie_start(void *context, const char *path, int width, int height, int quality, double speed,
                            bool has_caption)
{
    Show *show = context;
    if (show->asked.movie) {
        diag_warning(sim_diags(show->sim), (SourcePos){ 0 }, "a movie is recorded already; '%s' is not begun", path);
        return false;
    }
    if (!show->sound && speed == 1.0)
        hear_show(show);
    MovieOptions options = { .path = path,
                             .width = width,
                             .height = height,
                             .quality = quality,
                             .speed = speed,
                             .rate = webots_rate(show->sim, speed) };
    bool ok = width >= 16 && height >= 16 && width <= 8192 && height <= 8192
              && film_begin(&show->asked, show, options, NULL, has_caption);
    show->asked_status = ok ? WB_SUPERVISOR_MOVIE_RECORDING : WB_SUPERVISOR_MOVIE_SIMULATION_ERROR;
    return ok;
}

static void ask_movie_stop(void *context)
{
    Show *show = context;
    if (show->asked.movie)
        movie_stop(show->asked.movie);
}

static int ask_movie_status(void *context)
{
    static const int status[] = { [MOVIE_RECORDING] = WB_SUPERVISOR_MOVIE_RECORDING,
                                  [MOVIE_ENCODING] = WB_SUPERVISOR_MOVIE_SAVING,
                                  [MOVIE_DONE] = WB_SUPERVISOR_MOVIE_READY,
                                  [MOVIE_FAILED] = WB_SUPERVISOR_MOVIE_ENCODING_ERROR };
    Show *show = context;
    if (!show->asked.movie)
        return show->asked_status;
    MovieState state = movie_state(show->asked.movie);
    show->asked_status = status[state];
    if (state == MOVIE_DONE || state == MOVIE_FAILED) {
        movie_close(show->asked.movie);
        film_end(&show->asked);
    }
    return show->asked_status;
}

// ---- recordings ----

bool show_records(const char *path)
{
    return recording_has_name(path) || (export_has_format(path) && !text_ends_with(path, ".csv"));
}

static void tape_end(Tape *tape, bool is_kept)
{
    if (tape->aside && !is_kept)
        unlink(tape->aside);
    free(tape->path);
    free(tape->aside);
    *tape = (Tape){ 0 };
}

static bool tape_begin(Tape *tape, Show *show, const char *path, RecorderOptions options)
{
    *tape = (Tape){ .path = memory_string(path) };
    if (!recording_has_name(path)) {
        Text aside = { 0 };
        text_printf(&aside, "%s.%ld.talus", path, (long)getpid());
        tape->aside = aside.data;
    }
    options.law = show->law;
    options.devices = sim_devices(show->sim);
    tape->recorder = recorder_open(show->sim, tape->aside ? tape->aside : path, &options);
    if (!tape->recorder)
        tape_end(tape, false);
    return tape->recorder != NULL;
}

static bool write_export(Show *show, Recording *recording, const char *path, bool is_animation)
{
    return is_animation ? webots_animation_write(show->sim, recording, path)
                        : export_write(recording, path, &(ExportOptions){ 0 }, sim_diags(show->sim));
}

static bool tape_close(Tape *tape, Show *show)
{
    if (!tape->recorder)
        return true;
    bool ok = recorder_close(tape->recorder);
    tape->recorder = NULL;
    if (tape->aside && ok) {
        Recording *recording = recording_open(tape->aside, NULL, sim_diags(show->sim));
        ok = recording && write_export(show, recording, tape->path, tape == &show->animation);
        recording_close(recording);
    }
    // What was recorded is not lost with what should have been made of it.
    if (tape->aside && !ok) {
        diag_error(sim_diags(show->sim), (SourcePos){ 0 }, "'%s' is not written; what was recorded stays in '%s'",
                   tape->path, tape->aside);
        diag_hint(sim_diags(show->sim), "make it with `talus export` when there is room");
    }
    tape_end(tape, !ok);
    return ok;
}

static void tape_discard(Tape *tape)
{
    recorder_close(tape->recorder);
    tape_end(tape, false);
}

// Webots' rule: as many whole steps for a frame as are needed to stay below WorldInfo.FPS.
static int webots_every(const Sim *sim)
{
    const FieldList *nodes = scene_list(scene_root(sim_scene(sim)), "children");
    double rate = 60.0;
    for (int i = 0; i < nodes->count; i++) {
        const SceneNode *node = scene_list_node(nodes, i);
        if (node && scene_node_is(node, "WorldInfo"))
            rate = scene_float(node, "FPS");
    }
    return (int)double_clamp(ceil(1.0 / (rate * sim_time_step(sim)) - 1e-9), 1.0, 1e6);
}

static bool ask_animation_start(void *context, const char *path)
{
    Show *show = context;
    DiagSink *diags = sim_diags(show->sim);
    if (show->animation.recorder) {
        diag_warning(diags, (SourcePos){ 0 }, "an animation is recorded already; '%s' is not begun", path);
        return false;
    }
    if (!text_ends_with(path, ".html")) {
        diag_warning(diags, (SourcePos){ 0 }, "an animation wants a name that ends with .html, not '%s'", path);
        return false;
    }
    if (!tape_begin(&show->animation, show, path, (RecorderOptions){ .every = webots_every(show->sim) }))
        return false;
    for (int i = 0; i < show->label_count; i++)
        recorder_label(show->animation.recorder, &show->labels[i]);
    return true;
}

static bool ask_animation_stop(void *context)
{
    Show *show = context;
    if (!show->animation.recorder) {
        diag_warning(sim_diags(show->sim), (SourcePos){ 0 }, "there is no animation to stop");
        return false;
    }
    return tape_close(&show->animation, show);
}

static void heard(void *context, const char *robot, const char *text, size_t length, bool is_error)
{
    Show *show = context;
    Tape *tapes[] = { &show->tape, &show->animation };
    for (int i = 0; i < COUNT_OF(tapes); i++)
        if (tapes[i]->recorder)
            recorder_print(tapes[i]->recorder, robot, text, length, is_error);
}

static void free_label(RecorderLabel *label)
{
    free((char *)label->text);
    free((char *)label->font);
}

// The last words of each id; empty ones take it away.
static void keep_label(Show *show, const RecorderLabel *given)
{
    int i = 0;
    while (i < show->label_count && show->labels[i].id != given->id)
        i++;
    if (i < show->label_count)
        free_label(&show->labels[i]);
    if (!*given->text) {
        for (; i + 1 < show->label_count; i++)
            show->labels[i] = show->labels[i + 1];
        show->label_count = int_min(show->label_count, i);
        return;
    }
    memory_grow(&show->labels, &show->label_capacity, i + 1, sizeof *show->labels);
    show->label_count = int_max(show->label_count, i + 1);
    show->labels[i] = *given;
    show->labels[i].text = memory_string(given->text);
    show->labels[i].font = memory_string(given->font);
}

static void labelled(void *context, const ControlLabel *label)
{
    Show *show = context;
    uint32_t alpha = (uint32_t)lrint(255.0 * (1.0 - label->transparency));
    RecorderLabel kept = { .id = label->id,
                           .text = label->text,
                           .font = label->font,
                           .x = label->x,
                           .y = label->y,
                           .size = label->size,
                           .rgba = (uint32_t)label->color << 8 | alpha };
    keep_label(show, &kept);
    Tape *tapes[] = { &show->tape, &show->animation };
    for (int i = 0; i < COUNT_OF(tapes); i++)
        if (tapes[i]->recorder)
            recorder_label(tapes[i]->recorder, &kept);
}

ControlWatch show_for_words(Show *show)
{
    return (ControlWatch){ .context = show, .heard = heard, .labelled = labelled };
}

ControlShow show_for_control(Show *show)
{
    return (ControlShow){ .context = show,
                          .picture = ask_picture,
                          .movie_start = ask_movie_start,
                          .movie_stop = ask_movie_stop,
                          .movie_status = ask_movie_status,
                          .animation_start = ask_animation_start,
                          .animation_stop = ask_animation_stop };
}

// ---- what the command line asks for ----

bool show_start(Show *show, const ShowOptions *options)
{
    show->law = options->webots_sound ? SOUND_LAW_WEBOTS : SOUND_LAW_TALUS;
    RecorderOptions recorder = { .every = options->every,
                                 .with_contacts = options->record_contacts,
                                 .without_sound = options->record_silently,
                                 .values = options->record_values };
    if (options->record && !tape_begin(&show->tape, show, options->record, recorder))
        return false;
    if (options->sound || options->movie)
        hear_show(show);
    if (options->sound && !(show->wav = wav_open(show->sim, show->sound, options->sound)))
        return false;
    MovieOptions movie = { .path = options->movie,
                           .width = options->width ? options->width : 1280,
                           .height = options->height ? options->height : 720,
                           .rate = options->rate,
                           .speed = options->speed };
    return !options->movie || film_begin(&show->film, show, movie, options->camera, false);
}

static bool close_film(Film *film)
{
    bool ok = movie_close(film->movie);
    film_end(film);
    return ok;
}

bool show_finish(Show *show)
{
    bool ok = wav_close(show->wav);
    show->wav = NULL;
    ok = close_film(&show->film) && ok;
    ok = close_film(&show->asked) && ok;
    ok = tape_close(&show->animation, show) && ok;
    return tape_close(&show->tape, show) && ok;
}

void show_destroy(Show *show)
{
    if (!show)
        return;
    wav_close(show->wav);
    movie_discard(show->film.movie);
    film_end(&show->film);
    movie_discard(show->asked.movie);
    film_end(&show->asked);
    tape_discard(&show->tape);
    tape_discard(&show->animation);
    for (int i = 0; i < show->label_count; i++)
        free_label(&show->labels[i]);
    free(show->labels);
    soundtrack_destroy(show->sound);
    free(show);
}
