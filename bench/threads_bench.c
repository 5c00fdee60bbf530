// threads_bench.c - what a second thread brings to a whole step of `talus run`: collision, solver, motors, devices and
// all that is done one by one between them. Wall time; a step does the same work in every run, so of each step the best
// of interleaved runs counts: two processors are seldom quiet at once, so there are many. The state after the last step
// has to be the same.
//
// usage: threads_bench [scene|all] [rounds] [directory for the worlds]
#include "physics/joints/motor.h"
#include "sim/sim.h"

#include "../scenes/builders.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_STEPS = 400 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void build_pile(Text *out, int count) { scene_pile(out, count, false); }
static void build_mixed(Text *out, int count) { scene_pile(out, count, true); }

// What two threads have to bring, where a neighbour on the machine takes a little; `skipped` steps come before those
// that are measured.
static const struct {
    const char *name;
    void (*build)(Text *out, int count);
    int size, skipped, steps;
    double promised;
    bool drives;
} scenes[] = {
    { "swarm", scene_swarm, 200, 20, 200, 1.5, true },   { "ragdoll", scene_ragdolls, 16, 100, 300, 1.5, false },
    { "pile", build_pile, 1000, 50, 200, 1.5, false },   { "pile", build_pile, 5000, 50, 150, 1.5, false },
    { "pit", scene_pit, 1000, 150, 40, 1.5, false },     { "pit", scene_pit, 10000, 150, 20, 1.5, false },
    { "mixed", build_mixed, 1000, 50, 200, 1.5, false }, { "mixed", build_mixed, 5000, 50, 150, 1.5, false },
};

typedef struct Run {
    double best[MOST_STEPS];  // seconds of each step
    uint64_t hash;
} Run;

static void run_once(const Text *text, int scene, int threads, Run *run, DiagSink *diags)
{
    Sim *sim = sim_load_text("bench.wbt", text->data, text->length, &(SimOptions){ .physics.threads = threads }, diags);
    if (!sim) {
        diag_print(diags, stderr, 0, DIAG_NOTE);
        exit(1);
    }
    Physics *physics = sim_physics(sim);
    for (int i = 0; scenes[scene].drives && i < physics_joint_count(physics); i++) {
        physics_motor_set_position(physics, i, 0, INFINITY);
        physics_motor_set_velocity(physics, i, 0, 5.0);
    }
    for (int i = 0; i < scenes[scene].skipped; i++)
        sim_step(sim);
    for (int i = 0; i < scenes[scene].steps; i++) {
        double start = now();
        sim_step(sim);
        run->best[i] = fmin(run->best[i], now() - start);
    }
    run->hash = sim_hash(sim);
    sim_destroy(sim);
}

static double mean_us(const Run *run, int steps)
{
    double sum = 0.0;
    for (int i = 0; i < steps; i++)
        sum += run->best[i];
    return 1e6 * sum / steps;
}

static void write_world(const char *directory, const char *name, const Text *text)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.wbt", directory, name);
    FILE *file = fopen(path, "w");
    if (!file || fwrite(text->data, 1, text->length, file) != text->length || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    const char *only = argc > 1 && strcmp(argv[1], "all") ? argv[1] : NULL;
    int rounds = argc > 2 ? atoi(argv[2]) : 10, failures = 0;
    printf(
        "| scene | 1 thread µs | 2 threads µs | two threads do | promised | same bits |\n|---|---:|---:|---:|---:|---:|\n");
    for (int s = 0; s < COUNT_OF(scenes); s++) {
        char name[32];
        snprintf(name, sizeof name, "%s %d", scenes[s].name, scenes[s].size);
        if (only && strcmp(only, scenes[s].name) && strcmp(only, name))
            continue;
        Text text = { 0 };
        scenes[s].build(&text, scenes[s].size);
        if (argc > 3)
            write_world(argv[3], name, &text);
        DiagSink *diags = diag_create();
        static Run runs[2];
        for (int i = 0; i < MOST_STEPS; i++)
            runs[0].best[i] = runs[1].best[i] = INFINITY;
        for (int round = 0; round < rounds; round++)
            for (int k = 0; k < 2; k++)
                run_once(&text, s, k + 1, &runs[k], diags);
        double one = mean_us(&runs[0], scenes[s].steps), two = mean_us(&runs[1], scenes[s].steps);
        bool is_same = runs[0].hash == runs[1].hash;
        failures += !is_same || one / two < scenes[s].promised;
        char promised[16] = "";
        if (scenes[s].promised > 0.0)
            snprintf(promised, sizeof promised, "%.1f", scenes[s].promised);
        printf("| %s | %.0f | %.0f | %.2f | %s | %s |\n", name, one, two, one / two, promised, is_same ? "yes" : "NO");
        fflush(stdout);
        diag_destroy(diags);
        text_free(&text);
    }
    return failures > 0;
}
