// record_bench.c - what recording costs a step, how large a recording gets, and how fast a movie is made beside the
// renderer alone. Processor time of the run's thread, and of all threads with the file finished; a step does the same
// work in every run, so of each step the best of interleaved runs counts. The state after the last step has to be the
// same. Movies want TALUS_MOVIE=build/talus-movie.
//
// usage: record_bench [rounds [anything: no movies]]
#include "base/memory.h"
#include "record/movie.h"
#include "record/recorder.h"
#include "viewer/render.h"

#include "../scenes/builders.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { BODIES = 1000, SKIPPED = 50, STEPS = 200, WIDTH = 1280, HEIGHT = 720, PICTURES = 30 };

static double seconds(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static const struct {
    const char *name;
    bool is_recorded;
    RecorderOptions options;
} ways[] = {
    { "not recorded", false, { 0 } },
    { "60 frames a second", true, { 0 } },
    { "60 a second, no sounds", true, { .without_sound = true } },
    { "every step, no sounds", true, { .every = 1, .without_sound = true } },
    { "60 a second, with contacts", true, { .with_contacts = true } },
};

typedef struct Run {
    double best[STEPS], hook[STEPS], total;  // s: of each step; of it the recorder; of all with the end of the file
    double started;
    int step;
    uint64_t hash;
    size_t bytes;
    int frames;
} Run;

// Hooks before and behind the recorder's: what lies between is its own.
static bool start_clock(Sim *sim, void *context)
{
    (void)sim;
    ((Run *)context)->started = seconds(CLOCK_THREAD_CPUTIME_ID);
    return true;
}

static bool stop_clock(Sim *sim, void *context)
{
    (void)sim;
    Run *run = context;
    run->hook[run->step] = fmin(run->hook[run->step], seconds(CLOCK_THREAD_CPUTIME_ID) - run->started);
    return true;
}

static Sim *load(const Text *text, DiagSink *diags)
{
    Sim *sim = sim_load_text("bench.wbt", text->data, text->length, NULL, diags);
    if (!sim) {
        diag_print(diags, stderr, 0, DIAG_NOTE);
        exit(1);
    }
    return sim;
}

static void run_once(const Text *text, int way, Run *run, DiagSink *diags)
{
    Sim *sim = load(text, diags);
    char path[] = "/tmp/record_bench_XXXXXX.talus";
    close(mkstemps(path, 6));
    for (int i = 0; i < SKIPPED; i++)
        sim_step(sim);
    sim_add_hook(sim, SIM_PHASE_OUTPUT, start_clock, run);
    Recorder *recorder = ways[way].is_recorded ? recorder_open(sim, path, &ways[way].options) : NULL;
    sim_add_hook(sim, SIM_PHASE_OUTPUT, stop_clock, run);
    double begin = seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < STEPS; i++) {
        run->step = i;
        double start = seconds(CLOCK_THREAD_CPUTIME_ID);
        sim_step(sim);
        run->best[i] = fmin(run->best[i], seconds(CLOCK_THREAD_CPUTIME_ID) - start);
    }
    recorder_close(recorder);
    run->total = fmin(run->total, seconds(CLOCK_PROCESS_CPUTIME_ID) - begin);
    run->hash = sim_hash(sim);
    run->bytes = run->frames = 0;
    Recording *recording = recorder ? recording_open(path, NULL, diags) : NULL;
    for (int i = 0; recording && i < recording_block_count(recording); i++)
        if (!memcmp(recording_block(recording, i)->type, "FRMS", 4))
            run->bytes += recording_block(recording, i)->stored_bytes;
    FrameView view;
    while (recording && recording_next(recording, &view))
        run->frames++;
    recording_close(recording);
    unlink(path);
    sim_destroy(sim);
}

static int bench_steps(int rounds)
{
    static Run runs[COUNT_OF(ways)];
    Text text = { 0 };
    DiagSink *diags = diag_create();
    int failures = 0;
    double plain = 0.0;
    scene_pile(&text, BODIES, false);
    for (int w = 0; w < COUNT_OF(ways); w++) {
        runs[w].total = INFINITY;
        for (int i = 0; i < STEPS; i++)
            runs[w].best[i] = runs[w].hook[i] = INFINITY;
    }
    for (int round = 0; round < rounds; round++)
        for (int w = 0; w < COUNT_OF(ways); w++)
            run_once(&text, w, &runs[w], diags);
    printf(
        "| pile of %d | µs a step | of it the recorder | share | all threads, whole run ms | bytes per body and frame | same bits |\n|---|---:|---:|---:|---:|---:|---:|\n",
        BODIES);
    for (int w = 0; w < COUNT_OF(ways); w++) {
        double sum = 0.0, hook = 0.0;
        for (int i = 0; i < STEPS; i++) {
            sum += 1e6 * runs[w].best[i] / STEPS;
            hook += 1e6 * runs[w].hook[i] / STEPS;
        }
        plain = w == 0 ? sum : plain;
        bool is_same = runs[w].hash == runs[0].hash;
        failures += !is_same;
        printf("| %s | %.0f | %.1f | %.1f %% | %.0f | ", ways[w].name, sum, hook, 100.0 * hook / plain,
               1e3 * runs[w].total);
        if (runs[w].frames > 0)
            printf("%.1f", (double)runs[w].bytes / runs[w].frames / BODIES);
        printf(" | %s |\n", is_same ? "yes" : "NO");
    }
    diag_destroy(diags);
    text_free(&text);
    return failures;
}

// ---- movies ----

typedef struct Screen {
    Sim *sim;
    Devices *devices;
    uint8_t *pixels;
} Screen;

static const uint8_t *draw(void *context)
{
    Screen *screen = context;
    RenderCamera camera = render_view(screen->sim);
    return render_frame(screen->sim, screen->devices, &camera, &(RenderImage){ WIDTH, HEIGHT, screen->pixels }, NULL)
               ? screen->pixels
               : NULL;
}

// s of processor time, of this process and of encoders that have ended: a machine that does other things, too, does not
// change it.
static double processor_seconds(void)
{
    double sum = 0.0;
    for (int i = 0; i < 2; i++) {
        struct rusage usage;
        getrusage(i ? RUSAGE_CHILDREN : RUSAGE_SELF, &usage);
        sum += (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
               + 1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    }
    return sum;
}

// s for one picture; `path` NULL: they are only drawn.
static double film(const Text *text, const char *path, DiagSink *diags)
{
    Sim *sim = load(text, diags);
    Screen screen = { sim, devices_create(sim_scene(sim), sim_physics(sim), diags),
                      memory_alloc_array((size_t)WIDTH * HEIGHT, 4) };
    MovieOptions options = {
        .path = path ? path : "", .width = WIDTH, .height = HEIGHT, .draw = draw, .context = &screen, .is_driven = true
    };
    draw(&screen);  // trees are built, textures read
    double begin = processor_seconds();
    MovieRecorder *movie = path ? movie_open(sim, &options) : NULL;
    if (!path)
        draw(&screen);
    for (int i = 1; i < PICTURES && (movie || !path); i++) {
        sim_step(sim);
        if (movie)
            movie_show(movie, i / 30.0);
        else
            draw(&screen);
    }
    bool ok = movie_close(movie);
    double taken = (processor_seconds() - begin) / PICTURES;
    free(screen.pixels);
    devices_destroy(screen.devices);
    sim_destroy(sim);
    return ok && (movie || !path) ? taken : NAN;
}

static void bench_movies(void)
{
    Text text = { 0 };
    DiagSink *diags = diag_create();
    char path[] = "/tmp/record_bench_XXXXXX.mp4", other[] = "/tmp/record_bench_XXXXXX.webm";
    close(mkstemps(path, 4));
    close(mkstemps(other, 5));
    scene_pile(&text, 100, false);
    double plain = film(&text, NULL, diags), mp4 = film(&text, path, diags), webm = film(&text, other, diags);
    printf("\n| 720p30, pile of 100 | processor ms a picture | speed, of the renderer alone |\n|---|---:|---:|\n");
    printf("| renderer alone | %.0f | |\n", 1e3 * plain);
    printf("| .mp4 | %.0f | %.2f |\n| .webm | %.0f | %.2f |\n", 1e3 * mp4, plain / mp4, 1e3 * webm, plain / webm);
    diag_print(diags, stderr, 0, DIAG_ERROR);
    unlink(path);
    unlink(other);
    diag_destroy(diags);
    text_free(&text);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 4;
    int failures = bench_steps(rounds);
    if (argc <= 2)
        bench_movies();
    return failures > 0;
}
