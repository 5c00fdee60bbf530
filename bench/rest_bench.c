// rest_bench.c - what a step of `talus run` costs as worlds grow: boxes that fall on the ground, the same asleep, and
// asleep with one ball rolling by. One line a size, in microseconds of processor time: steps while all move, then steps
// at rest.
//
// usage: rest_bench [largest]
#include "sim/sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static Sim *open_boxes(int count, bool has_ball, DiagSink *diags)
{
    Text text = { 0 };
    int side = (int)ceil(sqrt((double)count));
    text_add_string(
        &text,
        "#VRML_SIM R2025a utf8\nWorldInfo { basicTimeStep 8 physicsDisableTime 0.2 }\nSolid { name \"floor\" boundingObject Plane { } }\n");
    for (int i = 0; i < count; i++)
        text_printf(
            &text,
            "Solid { name \"b%d\" translation %g %g 0.051 boundingObject Box { size 0.1 0.1 0.1 } physics Physics { } }\n",
            i, 0.2 * (i % side), 0.2 * (i / side));
    if (has_ball)
        text_add_string(
            &text,
            "Solid { name \"ball\" translation -5 -5 0.2 linearVelocity -1 -1 0 boundingObject Sphere { radius 0.2 } physics Physics { } }\n");
    Sim *sim = sim_load_text("rest.wbt", text.data, text.length, NULL, diags);
    text_free(&text);
    return sim;
}

static double step_time(Sim *sim, int steps)
{
    double start = now();
    for (int i = 0; i < steps; i++)
        sim_step(sim);
    return 1e6 * (now() - start) / steps;
}

// Steps until at most `most` bodies are awake; 0 when that does not happen.
static int fall_asleep(Sim *sim, int most)
{
    for (int i = 1; i <= 400; i++) {
        sim_step(sim);
        if (physics_statistics(sim_physics(sim)).bodies_awake <= most)
            return i;
    }
    return 0;
}

int main(int argc, char **argv)
{
    int largest = argc > 1 ? atoi(argv[1]) : 100000;
    printf("| boxes | load s | moving | asleep | asleep, one ball rolls |\n|---:|---:|---:|---:|---:|\n");
    for (int count = 100; count <= largest; count *= 10) {
        DiagSink *diags = diag_create();
        double start = now();
        Sim *sim = open_boxes(count, false, diags), *rolling = open_boxes(count, true, diags);
        double load = 0.5 * (now() - start);
        double moving = step_time(sim, 5);
        bool sleeps = fall_asleep(sim, 0) && fall_asleep(rolling, 1);
        step_time(sim, 20);
        step_time(rolling, 20);
        double asleep = step_time(sim, 1000), ball = step_time(rolling, 1000);
        printf("| %d | %.3g | %.0f | %.2f | %.1f |%s\n", count, load, moving, asleep, ball,
               sleeps ? "" : " (not all fell asleep)");
        fflush(stdout);
        sim_destroy(sim);
        sim_destroy(rolling);
        diag_destroy(diags);
    }
    return 0;
}
