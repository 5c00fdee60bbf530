// show.c - the outputs of a run that are seen and heard.
#include "app/show.h"

#include "app/app.h"
#include "base/memory.h"
#include "record/movie.h"
#include "record/soundtrack.h"
#include "viewer/render.h"

#include <webots/supervisor.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A movie with what draws it.
typedef struct Film {
    Show *show;
    MovieRecorder *movie;   // NULL: none
    uint8_t *pixels;
    int width, height;
    char *camera;           // NULL: the Viewpoint
} Film;

struct Show {
    Sim *sim;
    Devices *devices;       // of the run, or own_devices
    Devices *own_devices;   // to look with where no robot has a program; NULL
    Pose follow_start;
    SoundTrack *sound;
    WavRecorder *wav;
    Film film;              // of the command line
    Film asked;             // of a supervisor
    int asked_status;       // WbSupervisorMovieStatus of the last one that ended
};

bool show_read_size(const char *text, int *width, int *height)
{
    char rest;
    return sscanf(text, "%dx%d%c", width, height, &rest) == 2 && *width >= 16 && *height >= 16 && *width <= 8192 && *height <= 8192;
}

Show *show_create(Sim *sim)
{
    Show *show = memory_alloc(sizeof *show);
    show->sim = sim;
    show->follow_start = render_follow_start(sim_scene(sim));
    show->asked_status = WB_SUPERVISOR_MOVIE_READY;
    return show;
}

// ---- movies ----

static const uint8_t *draw(void *context)
{
    Film *film = context;
    Sim *sim = film->show->sim;
    RenderCamera camera = render_view(sim, film->show->follow_start);
    const SceneNode *node = film->camera ? render_find_camera(sim_scene(sim), film->camera) : NULL;
    if (node)
        camera = render_camera(node);
    return render_frame(sim, film->show->devices, &camera, film->width, film->height, film->pixels, NULL) ? film->pixels : NULL;
}

static void film_end(Film *film)
{
    free(film->pixels);
    free(film->camera);
    *film = (Film){ 0 };
}

static bool film_begin(Film *film, Show *show, MovieOptions options, const char *camera)
{
    if (camera && !render_find_camera(sim_scene(show->sim), camera)) {
        diag_error(sim_diags(show->sim), (SourcePos){ 0 }, "there is no Camera '%s'", camera);
        return false;
    }
    *film = (Film){ .show = show, .camera = camera ? memory_string(camera) : NULL, .width = options.width, .height = options.height };
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
    return app_export_picture(show->sim, show->devices, path, quality, &show->follow_start);
}

// Webots shows about 25 pictures a second: as many whole steps for each as come nearest to that.
static double webots_rate(const Sim *sim, double speed)
{
    double step = sim_time_step(sim), count = fmax(1.0, round(0.040 * speed / step));
    return speed / (count * step);
}

static bool ask_movie_start(void *context, const char *path, int width, int height, int quality, double speed)
{
    Show *show = context;
    if (show->asked.movie) {
        diag_warning(sim_diags(show->sim), (SourcePos){ 0 }, "a movie is recorded already; '%s' is not begun", path);
        return false;
    }
    MovieOptions options = { .path = path, .width = width, .height = height, .quality = quality, .speed = speed, .rate = webots_rate(show->sim, speed) };
    bool ok = width >= 16 && height >= 16 && width <= 8192 && height <= 8192 && film_begin(&show->asked, show, options, NULL);
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
    static const int status[] = { [MOVIE_RECORDING] = WB_SUPERVISOR_MOVIE_RECORDING, [MOVIE_ENCODING] = WB_SUPERVISOR_MOVIE_SAVING,
                                  [MOVIE_DONE] = WB_SUPERVISOR_MOVIE_READY, [MOVIE_FAILED] = WB_SUPERVISOR_MOVIE_ENCODING_ERROR };
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

ControlShow show_for_control(Show *show)
{
    return (ControlShow){ .context = show, .picture = ask_picture, .movie_start = ask_movie_start, .movie_stop = ask_movie_stop,
                          .movie_status = ask_movie_status };
}

// ---- what the command line asks for ----

static Pose ears(void *context)
{
    Show *show = context;
    return render_view(show->sim, show->follow_start).pose;
}

void show_set_devices(Show *show, Devices *devices)
{
    if (!devices)
        devices = show->own_devices = devices_create(sim_scene(show->sim), sim_physics(show->sim), sim_diags(show->sim));
    show->devices = devices;
}

bool show_start(Show *show, const ShowOptions *options)
{
    assert(show->devices);
    if (options->sound || options->movie)
        show->sound = soundtrack_create(show->sim, show->devices, &(SoundTrackOptions){
            .stage.law = options->webots_sound ? SOUND_LAW_WEBOTS : SOUND_LAW_TALUS, .listener = ears, .context = show });
    if (options->sound && !(show->wav = wav_open(show->sim, show->sound, options->sound)))
        return false;
    MovieOptions movie = { .path = options->movie, .width = options->width ? options->width : 1280, .height = options->height ? options->height : 720,
                           .rate = options->rate, .speed = options->speed };
    return !options->movie || film_begin(&show->film, show, movie, options->camera);
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
    return close_film(&show->asked) && ok;
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
    soundtrack_destroy(show->sound);
    devices_destroy(show->own_devices);
    free(show);
}
