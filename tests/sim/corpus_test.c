// Every world of the corpus runs: no crash, no state that is not finite, no failure. Robots without controllers stand,
// fall or rest. `corpus_test [STEPS]`: as many steps of every world, on any machine.
#include "physics/world.h"

static int wanted_steps = 20;
static int worlds, bodies;

static void run_world(const char *path, void *context)
{
    (void)context;
    DiagSink *diags = diag_create();
    Sim *sim = sim_load(path, NULL, diags);
    CHECK(sim != NULL, path);
    for (int i = 0; i < wanted_steps; i++)
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
    if (argc > 1)
        wanted_steps = atoi(argv[1]);
    const struct CMUnitTest tests[] = { cmocka_unit_test(all_worlds_run) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
