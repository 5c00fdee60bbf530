// The state after some hundred steps of the scenes of scenes/, to the last bit: whoever changes a result knows it, and
// says so in the commit that changes the file. TALUS_UPDATE=1 writes it anew. The same build flags give the same bits
// on every machine with SSE2, with and without AVX2; compilers may differ, so each has a file of its own, and one
// without a file is skipped.
#include "physics/world.h"

#include "../../scenes/builders.h"

#include <inttypes.h>

#if defined(__clang__)
#define COMPILER "clang"
#else
#define COMPILER "gcc"
#endif
static const char golden_file[] = "tests/sim/golden/" COMPILER ".txt";

static void humanoids(Text *out) { scene_humanoids(out, 2); }
static void ragdolls(Text *out) { scene_ragdolls(out, 2); }
static void chain(Text *out) { scene_chain(out, 20); }
static void boxes(Text *out) { scene_pile(out, 60, false); }
static void mixed(Text *out) { scene_pile(out, 60, true); }
static void stack(Text *out) { scene_stack(out, 6); }
static void swarm(Text *out) { scene_swarm(out, 4); }
static void terrain(Text *out) { scene_terrain(out, 20); }

static const struct {
    const char *name;
    void (*build)(Text *out);
    const char *path, *stepper;
    int steps;
} scenes[] = {
    { "humanoids", humanoids, NULL, NULL, 200 },
    { "ragdolls", ragdolls, NULL, NULL, 200 },
    { "chain", chain, NULL, NULL, 300 },
    { "boxes", boxes, NULL, NULL, 200 },
    { "mixed", mixed, NULL, NULL, 200 },
    { "stack", stack, NULL, NULL, 200 },
    { "swarm", swarm, NULL, NULL, 300 },
    { "terrain", terrain, NULL, NULL, 200 },
    { "box", NULL, "scenes/box.wbt", NULL, 200 },
    { "hello", NULL, "scenes/hello.wbt", NULL, 200 },
    { "demo", NULL, "scenes/demo.wbt", NULL, 200 },
};

static uint64_t hash_of(int scene, int threads)
{
    DiagSink *diags = diag_create();
    SimOptions options = { .physics = { .stepper = scenes[scene].stepper, .threads = threads } };
    Text text = { 0 };
    if (scenes[scene].build)
        scenes[scene].build(&text);
    Sim *sim = scenes[scene].path ? sim_load(scenes[scene].path, &options, diags)
                                  : sim_load_text(scenes[scene].name, text.data, text.length, &options, diags);
    text_free(&text);
    CHECK(sim != NULL, scenes[scene].name);
    for (int i = 0; i < scenes[scene].steps; i++)
        CHECK(sim_step(sim), scenes[scene].name);
    uint64_t hash = sim_hash(sim);
    sim_destroy(sim);
    diag_destroy(diags);
    return hash;
}

static void states_are_golden(void **state)
{
    (void)state;
    Text found = { 0 };
    char line[128];
    for (int i = 0; i < COUNT_OF(scenes); i++) {
        uint64_t hash = hash_of(i, 1);
        CHECK(hash == hash_of(i, 3), "any number of threads");
        snprintf(line, sizeof line, "%s %d steps %016" PRIx64 "\n", scenes[i].name, scenes[i].steps, hash);
        text_add_string(&found, line);
    }
    if (getenv("TALUS_UPDATE")) {
        support_write(golden_file, found.data);
    } else {
        char *golden = support_read(golden_file);
        if (!golden)
            SUPPORT_SKIP("no hashes of this compiler");
        if (strcmp(golden, found.data))
            fail_msg("the states are not those of %s:\n%swhere there should be\n%s", golden_file, found.data, golden);
        free(golden);
    }
    text_free(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(states_are_golden) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
