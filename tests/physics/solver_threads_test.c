// The same bits for any number of threads and for plain and wide instructions; the pool itself.
#include "physics/solver_scene.h"

#include "base/pool.h"

#include <stdatomic.h>

static SolverScene scene;

static void run(const SolverOptions *options, void (*build)(SolverScene *), SolverBody *out)
{
    scene_init(&scene, 0.008);
    build(&scene);
    Solver *solver = solver_create(options);
    for (int step = 0; step < 40; step++)
        scene_step(&scene, solver);
    memcpy(out, scene.bodies, sizeof scene.bodies);
    solver_destroy(solver);
}

static void build_heap(SolverScene *s) { scene_heap(s, 60); }

static void build_swarm(SolverScene *s)
{
    s->has_ground = true;
    for (int i = 0; i < 12; i++) {
        int body = scene_box(s, 1.0 * i, 0.0, 0.3, 0.1, 2.0);
        for (int k = 0; k < 3; k++) {
            int arm = scene_box(s, 1.0 * i + 0.21 * (k + 1), 0.0, 0.3, 0.08, 0.5);
            scene_ball(s, arm, k ? arm - 1 : body, 1.0 * i + 0.21 * k + 0.1, 0.0, 0.3);
        }
    }
}

static void test_same_bits(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        void (*build)(SolverScene *);
        SolverMethod method;
    } cases[] = {
        { "heap", build_heap, SOLVER_AUTO },
        { "heap, iterative", build_heap, SOLVER_ITERATIVE },
        { "heap, swept", build_heap, SOLVER_SWEPT },
        { "swarm", build_swarm, SOLVER_AUTO },
        { "swarm, iterative", build_swarm, SOLVER_ITERATIVE },
    };
    static SolverBody reference[COUNT_OF(scene.bodies)], other[COUNT_OF(scene.bodies)];
    for (int i = 0; i < COUNT_OF(cases); i++) {
        SolverOptions options = { .method = cases[i].method };
        run(&options, cases[i].build, reference);
        static const int threads[] = { 2, 4, 8 };
        for (int t = 0; t < COUNT_OF(threads); t++) {
            options.pool = pool_create(threads[t]);
            run(&options, cases[i].build, other);
            CHECK(!memcmp(reference, other, sizeof other), cases[i].name);
            pool_destroy(options.pool);
        }
        options = (SolverOptions){ .method = cases[i].method, .portable = true };
        run(&options, cases[i].build, other);
        CHECK(!memcmp(reference, other, sizeof other), cases[i].name);
    }
}

static void square_range(int begin, int end, int worker, void *context)
{
    int *out = context;
    (void)worker;
    for (int i = begin; i < end; i++)
        out[i] = i * i;
}

static void count_range(int begin, int end, int worker, void *context)
{
    atomic_int *taken = context;
    (void)worker;
    for (int i = begin; i < end; i++)
        taken[i]++;
}

static void test_pool(void **state)
{
    (void)state;
    static int out[10000];
    for (int threads = 0; threads <= 8; threads += 4) {
        Pool *pool = pool_create(threads);
        for (int count = 0; count <= 10000; count = count * 3 + 1) {
            memset(out, 0, sizeof out);
            pool_for(pool, count, 7, square_range, out);
            for (int i = 0; i < 10000; i++)
                CHECK(out[i] == (i < count ? i * i : 0), "every item once, none beyond");
            static atomic_int taken[10000];
            memset(taken, 0, sizeof taken);
            int ends[8] = { count / 5, count / 5, count / 2 };
            for (int i = 3; i < 8; i++)
                ends[i] = count;
            ends[int_max(threads, 1) - 1] = count;
            pool_for_shares(pool, ends, count_range, taken);
            for (int i = 0; i < 10000; i++)
                CHECK(taken[i] == (i < count), "shares: every item once, none beyond");
        }
        pool_destroy(pool);
    }
    assert_int_equal(pool_thread_count(NULL), 1);
}

// A worker that still looks round after one loop may take pieces of the next before the caller has begun with it; one
// that is counted wrongly is waited for without end.
static void short_loops_follow_each_other(void **state)
{
    (void)state;
    enum { MAX = 12 };
    for (int threads = 2; threads <= 8; threads *= 2) {
        Pool *pool = pool_create(threads);
        atomic_int taken[MAX] = { 0 };
        int wanted[MAX] = { 0 };
        for (int i = 0, loops = support_trials(400000) / threads; i < loops; i++) {
            const int count = 2 + i % (MAX - 1);
            pool_for(pool, count, 1 + i % 2, count_range, taken);
            for (int k = 0; k < count; k++)
                wanted[k]++;
        }
        for (int k = 0; k < MAX; k++)
            assert_int_equal(taken[k], wanted[k]);
        pool_destroy(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_pool), cmocka_unit_test(short_loops_follow_each_other),
                                        cmocka_unit_test(test_same_bits) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
