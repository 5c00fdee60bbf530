// Every world of the corpus runs: no crash, no state that is not finite, no failure. Robots without controllers stand, fall
// or rest. `corpus_test [STEPS]`; without a number a short run with a bound on the time spent per world.
#include "physics/world.h"

#include <time.h>

static int wanted_steps = 100;
static double seconds_per_world = 0.08;
static int worlds, bodies;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void run_world(const char *path, void *context)
{
    (void)context;
    DiagSink *diags = diag_create();
    Sim *sim = sim_load(path, NULL, diags);
    CHECK(sim != NULL, path);
    double start = now();
    for (int i = 0; i < wanted_steps && now() - start < seconds_per_world; i++)
        if (!sim_step(sim)) {
            diag_print(diags, stderr, 0, DIAG_ERROR);
            fail_msg("%s: %s at %g s", path, sim_failure(sim), sim_time(sim));
        }
    const Physics *physics = sim_physics(sim);
    for (int i = 0; i < physics_solid_count(physics); i++)
        CHECK(pose_is_finite(physics_solid_pose(physics, i)), path);
    worlds++;
    bodies += physics_statistics(physics).bodies;
    sim_destroy(sim);
    diag_destroy(diags);
}

static void all_worlds_run(void **state)
{
    (void)state;
    const char *corpus = support_corpus();
    if (!corpus)
        SUPPORT_SKIP("the corpus is not on this machine");
    support_each_file(corpus, ".wbt", run_world, NULL);
    printf("%d worlds with %d bodies ran %d steps\n", worlds, bodies, wanted_steps);
    CHECK(worlds > 100, "the corpus has many worlds");
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        wanted_steps = atoi(argv[1]);
        seconds_per_world = 600.0;
    }
    const struct CMUnitTest tests[] = { cmocka_unit_test(all_worlds_run) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
