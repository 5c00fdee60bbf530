// step_bench.c - what a whole step of a world costs: `step_bench scene size [warm-up steps] [steps] [threads]` prints
// microseconds of processor time and bytes a body. Under `valgrind --tool=callgrind --instr-atstart=no` just those
// steps are counted; bench/count_steps.sh does so for a table of scenes.
#include "sim/sim.h"

#include "physics/joints/motor.h"
#include "../scenes/builders.h"
#include "../scenes/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#endif

static void build_pile(Text *out, int count) { scene_pile(out, count, false); }
static void build_mixed(Text *out, int count) { scene_pile(out, count, true); }
static void build_ragdolls(Text *out, int count) { scene_ragdolls(out, count); }

// `count` towers of four boxes.
static void build_towers(Text *out, int count)
{
    scene_header(out, 8, true);
    for (int i = 0; i < 4 * count; i++)
        text_printf(
            out,
            "Solid { name \"b%d\" translation %g %g %g boundingObject Box { size 0.2 0.2 0.2 } physics Physics { density -1 mass 1 } }\n",
            i, 0.5 * (i / 4 % 10), 0.5 * (i / 40), 0.1 + 0.2 * (i % 4));
}

// Boxes that lie apart and fall asleep.
static void build_rest(Text *out, int count)
{
    text_add_string(
        out,
        "#VRML_SIM R2025a utf8\nWorldInfo { basicTimeStep 8 physicsDisableTime 0.1 }\nSolid { name \"floor\" boundingObject Plane { } }\n");
    for (int i = 0; i < count; i++)
        text_printf(
            out,
            "Solid { name \"b%d\" translation %g %g 0.1 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } }\n",
            i, 0.3 * (i % 100), 0.3 * (i / 100));
}

static const struct {
    const char *name;
    void (*build)(Text *out, int count);
    bool drives;
} scenes[] = {
    { "humanoid", scene_humanoids, false }, { "ragdoll", build_ragdolls, false }, { "chain", scene_chain, false },
    { "swarm", scene_swarm, true },         { "pile", build_pile, false },        { "mixed", build_mixed, false },
    { "stack", scene_stack, false },        { "towers", build_towers, false },    { "terrain", scene_terrain, false },
    { "rest", build_rest, false },          { "pit", scene_pit, false },
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static Sim *load(const char *name, int size, int threads)
{
    DiagSink *diags = diag_create();
    size_t before = heap_bytes_in_use();
    for (int i = 0; i < (int)(sizeof scenes / sizeof *scenes); i++) {
        if (strcmp(scenes[i].name, name))
            continue;
        Text text = { 0 };
        scenes[i].build(&text, size);
        Sim *sim = sim_load_text("bench.wbt", text.data, text.length, &(SimOptions){ .physics.threads = threads },
                                 diags);
        text_free(&text);
        if (!sim)
            diag_print(diags, stderr, 0, DIAG_NOTE);
        for (int k = 0; sim && scenes[i].drives && k < physics_joint_count(sim_physics(sim)); k++) {
            physics_motor_set_position(sim_physics(sim), k, 0, INFINITY);
            physics_motor_set_velocity(sim_physics(sim), k, 0, 5.0);
        }
        if (sim)
            printf("%s %d: loaded with %zu bytes a body", name, size,
                   (heap_bytes_in_use() - before) / (size_t)physics_body_count(sim_physics(sim)));
        return sim;
    }
    fprintf(stderr, "no scene '%s'\n", name);
    return NULL;
}

static void run(Sim *sim, int steps)
{
    for (int i = 0; i < steps && sim_step(sim); i++)
        ;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: step_bench scene size [warm-up steps] [steps] [threads]\n");
        return 2;
    }
    int warm = argc > 3 ? atoi(argv[3]) : 100, steps = argc > 4 ? atoi(argv[4]) : 100;
    Sim *sim = load(argv[1], atoi(argv[2]), argc > 5 ? atoi(argv[5]) : 1);
    if (!sim)
        return 1;
    run(sim, warm);
    printf(", %zu after %d steps", heap_bytes_in_use() / (size_t)physics_body_count(sim_physics(sim)), warm);
    double start = now();
    CALLGRIND_START_INSTRUMENTATION;
    run(sim, steps);
    CALLGRIND_STOP_INSTRUMENTATION;
    PhysicsStatistics sum = physics_statistics(sim_physics(sim));
    printf("; %.2f us a step, %d contacts, deepest %.2g mm, %d awake\n", 1e6 * (now() - start) / steps, sum.contacts,
           1e3 * sum.deepest, sum.bodies_awake);
    sim_destroy(sim);
    return 0;
}
