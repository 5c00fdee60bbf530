// outputs.c - the outputs of a run that are seen and heard.
#include "app/outputs.h"

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
    Outputs *outputs;
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

struct Outputs {
    Sim *sim;
    SoundTrack *sound;
    WavRecorder *wav;
    Film film;         // of the command line
    Film asked;        // of a supervisor
    int asked_status;  // WbSupervisorMovieStatus of the last one that ended
    Tape tape;         // of the command line
    Tape animation;    // of a supervisor
    SoundLaw law;
    RecorderLabel *labels;  // that supervisors have put over the picture; the texts are the outputs' own
    int label_count, label_capacity;
};

bool outputs_read_size(const char *text, int *width, int *height)
{
    char rest;
    return sscanf(text, "%dx%d%c", width, height, &rest) == 2 && *width >= 16 && *height >= 16 && *width <= 8192
           && *height <= 8192;
}

Outputs *outputs_create(Sim *sim)
{
    assert_debug(sim);
    Outputs *outputs = memory_alloc(sizeof *outputs);
    outputs->sim = sim;
    outputs->asked_status = WB_SUPERVISOR_MOVIE_READY;
    return outputs;
}

// ---- sound ----

static Pose ears(void *context)
{
    Outputs *outputs = context;
    return render_view(outputs->sim).pose;
}

static void hear_world(Outputs *outputs)
{
    outputs->sound = soundtrack_create(
        outputs->sim, sim_devices(outputs->sim),
        &(SoundTrackOptions){ .stage.law = outputs->law, .listener = ears, .context = outputs });
}

// ---- movies ----

static void draw_words(const Film *film)
{
    const Outputs *outputs = film->outputs;
    for (int i = 0; i < outputs->label_count; i++) {
        const RecorderLabel *label = &outputs->labels[i];
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
    Sim *sim = film->outputs->sim;
    RenderCamera camera = render_view(sim);
    const SceneNode *node = film->camera ? render_find_camera(sim_scene(sim), film->camera) : NULL;
    if (node)
        camera = render_camera(node);
    if (!render_frame(sim, sim_devices(sim), &camera, &(RenderImage){ film->width, film->height, film->pixels }, NULL))
        return NULL;
    draw_words(film);
    return film->pixels;
}

static void film_end(Film *film)
{
    assert_debug(film);
    free(film->pixels);
    free(film->camera);
    *film = (Film){ 0 };
}

static bool film_begin(Film *film, Outputs *outputs, MovieOptions options, const char *camera, bool has_caption)
{
    assert_debug(!film->movie);
    if (camera && !render_find_camera(sim_scene(outputs->sim), camera)) {
        diag_error(sim_diags(outputs->sim), (SourcePos){ 0 }, "there is no Camera '%s'", camera);
        return false;
    }
    *film = (Film){ .outputs = outputs,
                    .camera = camera ? memory_string(camera) : NULL,
                    .width = options.width,
                    .height = options.height };
    if (has_caption && options.speed != 1.0)
        snprintf(film->caption, sizeof film->caption, "%gx", options.speed);
    film->pixels = memory_alloc_array((size_t)options.width * (size_t)options.height, 4);
    options.draw = draw;
    options.context = film;
    options.sound = outputs->sound;
    film->movie = movie_open(outputs->sim, &options);
    if (!film->movie)
        film_end(film);
    return film->movie != NULL;
}

// ---- what supervisors ask for ----

static bool ask_picture(void *context, const char *path, int quality)
{
    Outputs *outputs = context;
    return app_export_picture(outputs->sim, sim_devices(outputs->sim), path, quality);
}

// Webots shows about 25 pictures a second: as many whole steps for each as come nearest to that.
static double webots_rate(const Sim *sim, double speed)
{
    double step = sim_time_step(sim), count = fmax(1.0, round(0.040 * speed / step));
    return speed / (count * step);
}

static bool ask_movie_start(void *context, const ControlMovie *movie)
{
    Outputs *outputs = context;
    if (outputs->asked.movie) {
        diag_warning(sim_diags(outputs->sim), (SourcePos){ 0 }, "a movie is recorded already; '%s' is not begun",
                     movie->path);
        return false;
    }
    if (!outputs->sound && movie->speed == 1.0)
        hear_world(outputs);
    MovieOptions options = { .path = movie->path,
                             .width = movie->width,
                             .height = movie->height,
                             .quality = movie->quality,
                             .speed = movie->speed,
                             .rate = webots_rate(outputs->sim, movie->speed) };
    bool ok = movie->width >= 16 && movie->height >= 16 && movie->width <= 8192 && movie->height <= 8192
              && film_begin(&outputs->asked, outputs, options, NULL, movie->has_caption);
    outputs->asked_status = ok ? WB_SUPERVISOR_MOVIE_RECORDING : WB_SUPERVISOR_MOVIE_SIMULATION_ERROR;
    return ok;
}

static void ask_movie_stop(void *context)
{
    Outputs *outputs = context;
    if (outputs->asked.movie)
        movie_stop(outputs->asked.movie);
}

static int ask_movie_status(void *context)
{
    static const int status[] = { [MOVIE_RECORDING] = WB_SUPERVISOR_MOVIE_RECORDING,
                                  [MOVIE_ENCODING] = WB_SUPERVISOR_MOVIE_SAVING,
                                  [MOVIE_DONE] = WB_SUPERVISOR_MOVIE_READY,
                                  [MOVIE_FAILED] = WB_SUPERVISOR_MOVIE_ENCODING_ERROR };
    Outputs *outputs = context;
    if (!outputs->asked.movie)
        return outputs->asked_status;
    MovieState state = movie_state(outputs->asked.movie);
    outputs->asked_status = status[state];
    if (state == MOVIE_DONE || state == MOVIE_FAILED) {
        movie_close(outputs->asked.movie);
        film_end(&outputs->asked);
    }
    return outputs->asked_status;
}

// ---- recordings ----

bool outputs_records(const char *path)
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

static bool tape_begin(Tape *tape, Outputs *outputs, const char *path, RecorderOptions options)
{
    assert_debug(!tape->recorder && path);
    *tape = (Tape){ .path = memory_string(path) };
    if (!recording_has_name(path)) {
        Text aside = { 0 };
        text_printf(&aside, "%s.%ld.talus", path, (long)getpid());
        tape->aside = aside.data;
    }
    options.law = outputs->law;
    options.devices = sim_devices(outputs->sim);
    tape->recorder = recorder_open(outputs->sim, tape->aside ? tape->aside : path, &options);
    if (!tape->recorder)
        tape_end(tape, false);
    return tape->recorder != NULL;
}

static bool write_export(Outputs *outputs, Recording *recording, const char *path, bool is_animation)
{
    return is_animation ? webots_animation_write(outputs->sim, recording, path)
                        : export_write(recording, path, &(ExportOptions){ 0 }, sim_diags(outputs->sim));
}

static bool tape_close(Tape *tape, Outputs *outputs)
{
    if (!tape->recorder)
        return true;
    bool ok = recorder_close(tape->recorder);
    tape->recorder = NULL;
    if (tape->aside && ok) {
        Recording *recording = recording_open(tape->aside, NULL, sim_diags(outputs->sim));
        ok = recording && write_export(outputs, recording, tape->path, tape == &outputs->animation);
        recording_close(recording);
    }
    // What was recorded is not lost with what should have been made of it.
    if (tape->aside && !ok) {
        diag_error(sim_diags(outputs->sim), (SourcePos){ 0 }, "'%s' is not written; what was recorded stays in '%s'",
                   tape->path, tape->aside);
        diag_hint(sim_diags(outputs->sim), "make it with `talus export` when there is room");
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
    assert(sim_time_step(sim) > 0.0);
    const SceneNode *info = scene_find_top(sim_scene(sim), "WorldInfo");
    double rate = info ? scene_float(info, "FPS") : 60.0;
    return (int)double_clamp(ceil(1.0 / (rate * sim_time_step(sim)) - 1e-9), 1.0, 1e6);
}

static bool ask_animation_start(void *context, const char *path)
{
    Outputs *outputs = context;
    DiagSink *diags = sim_diags(outputs->sim);
    if (outputs->animation.recorder) {
        diag_warning(diags, (SourcePos){ 0 }, "an animation is recorded already; '%s' is not begun", path);
        return false;
    }
    if (!text_ends_with(path, ".html")) {
        diag_warning(diags, (SourcePos){ 0 }, "an animation wants a name that ends with .html, not '%s'", path);
        return false;
    }
    if (!tape_begin(&outputs->animation, outputs, path, (RecorderOptions){ .every = webots_every(outputs->sim) }))
        return false;
    for (int i = 0; i < outputs->label_count; i++)
        recorder_label(outputs->animation.recorder, &outputs->labels[i]);
    return true;
}

static bool ask_animation_stop(void *context)
{
    Outputs *outputs = context;
    if (!outputs->animation.recorder) {
        diag_warning(sim_diags(outputs->sim), (SourcePos){ 0 }, "there is no animation to stop");
        return false;
    }
    return tape_close(&outputs->animation, outputs);
}

static void heard(void *context, const char *robot, const char *text, size_t length, bool is_error)
{
    assert_debug(robot && (text || length == 0));
    Outputs *outputs = context;
    Tape *tapes[] = { &outputs->tape, &outputs->animation };
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
static void keep_label(Outputs *outputs, const RecorderLabel *given)
{
    assert_debug(given->text && given->font);
    int i = 0;
    while (i < outputs->label_count && outputs->labels[i].id != given->id)
        i++;
    if (i < outputs->label_count)
        free_label(&outputs->labels[i]);
    if (!*given->text) {
        for (; i + 1 < outputs->label_count; i++)
            outputs->labels[i] = outputs->labels[i + 1];
        outputs->label_count = int_min(outputs->label_count, i);
        return;
    }
    memory_grow(&outputs->labels, &outputs->label_capacity, i + 1, sizeof *outputs->labels);
    outputs->label_count = int_max(outputs->label_count, i + 1);
    outputs->labels[i] = *given;
    outputs->labels[i].text = memory_string(given->text);
    outputs->labels[i].font = memory_string(given->font);
}

static void labelled(void *context, const ControlLabel *label)
{
    Outputs *outputs = context;
    uint32_t alpha = (uint32_t)lrint(255.0 * (1.0 - label->transparency));
    RecorderLabel kept = { .id = label->id,
                           .text = label->text,
                           .font = label->font,
                           .x = label->x,
                           .y = label->y,
                           .size = label->size,
                           .rgba = (uint32_t)label->color << 8 | alpha };
    keep_label(outputs, &kept);
    Tape *tapes[] = { &outputs->tape, &outputs->animation };
    for (int i = 0; i < COUNT_OF(tapes); i++)
        if (tapes[i]->recorder)
            recorder_label(tapes[i]->recorder, &kept);
}

ControlWatch outputs_for_words(Outputs *outputs)
{
    return (ControlWatch){ .context = outputs, .heard = heard, .labelled = labelled };
}

ControlShow outputs_for_control(Outputs *outputs)
{
    return (ControlShow){ .context = outputs,
                          .picture = ask_picture,
                          .movie_start = ask_movie_start,
                          .movie_stop = ask_movie_stop,
                          .movie_status = ask_movie_status,
                          .animation_start = ask_animation_start,
                          .animation_stop = ask_animation_stop };
}

// ---- what the command line asks for ----

bool outputs_start(Outputs *outputs, const OutputsOptions *options)
{
    assert_debug(outputs && options);
    outputs->law = options->webots_sound ? SOUND_LAW_WEBOTS : SOUND_LAW_TALUS;
    RecorderOptions recorder = { .every = options->every,
                                 .with_contacts = options->record_contacts,
                                 .without_sound = options->record_silently,
                                 .values = options->record_values };
    if (options->record && !tape_begin(&outputs->tape, outputs, options->record, recorder))
        return false;
    if (options->sound || options->movie)
        hear_world(outputs);
    if (options->sound && !(outputs->wav = wav_open(outputs->sim, outputs->sound, options->sound)))
        return false;
    MovieOptions movie = { .path = options->movie,
                           .width = options->width ? options->width : 1280,
                           .height = options->height ? options->height : 720,
                           .rate = options->rate,
                           .speed = options->speed };
    return !options->movie || film_begin(&outputs->film, outputs, movie, options->camera, false);
}

static bool close_film(Film *film)
{
    bool ok = movie_close(film->movie);
    film_end(film);
    return ok;
}

bool outputs_finish(Outputs *outputs)
{
    bool ok = wav_close(outputs->wav);
    outputs->wav = NULL;
    ok = close_film(&outputs->film) && ok;
    ok = close_film(&outputs->asked) && ok;
    ok = tape_close(&outputs->animation, outputs) && ok;
    return tape_close(&outputs->tape, outputs) && ok;
}

void outputs_destroy(Outputs *outputs)
{
    if (!outputs)
        return;
    wav_close(outputs->wav);
    movie_discard(outputs->film.movie);
    film_end(&outputs->film);
    movie_discard(outputs->asked.movie);
    film_end(&outputs->asked);
    tape_discard(&outputs->tape);
    tape_discard(&outputs->animation);
    for (int i = 0; i < outputs->label_count; i++)
        free_label(&outputs->labels[i]);
    free(outputs->labels);
    soundtrack_destroy(outputs->sound);
    free(outputs);
}
