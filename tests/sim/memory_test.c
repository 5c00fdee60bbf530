// What a body of a pile takes of the heap, scene and solver included: counted as the difference of two sizes, so that
// what every world has does not count. Loaded it takes a twentieth less than its bound; running it is to stay within
// 4 KB. docs/benchmarks.md has the owners.
#include "sim/sim.h"

#include "../scenes/builders.h"
#include "../scenes/heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#if COMMON_HAS_SANITIZER
int main(void)
{
    printf("skipped: a sanitizer owns the heap\n");
    return 77;
}
#else

enum { FEW = 250, MANY = 1000, STEPS = 100 };
enum { MAX_LOADED = 2200, MAX_RUNNING = 4096 };  // bytes a body

typedef struct Taken {
    double loaded, running;  // bytes
} Taken;

static Taken take(int bodies)
{
    DiagSink *diags = diag_create();
    Text text = { 0 };
    scene_pile(&text, bodies, false);
    size_t before = heap_bytes_in_use();
    Sim *sim = sim_load_text("pile.wbt", text.data, text.length, &(SimOptions){ .physics.threads = 1 }, diags);
    assert_non_null(sim);
    Taken taken = { .loaded = (double)(heap_bytes_in_use() - before) };
    for (int i = 0; i < STEPS; i++)
        assert_true(sim_step(sim));
    taken.running = (double)(heap_bytes_in_use() - before);
    sim_destroy(sim);
    text_free(&text);
    diag_destroy(diags);
    return taken;
}

static void bodies_stay_small(void **state)
{
    (void)state;
    take(FEW);  // what the process makes once
    Taken few = take(FEW), many = take(MANY);
    double loaded = (many.loaded - few.loaded) / (MANY - FEW), running = (many.running - few.running) / (MANY - FEW);
    printf("%.0f bytes a body loaded, %.0f after %d steps\n", loaded, running, STEPS);
    assert_true(loaded > 0.0 && loaded <= MAX_LOADED);
    assert_true(running > loaded && running <= MAX_RUNNING);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(bodies_stay_small) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
