// Large jointed structures: a net with thousands of loops, a ring, robots that start inside each other. Their joints
// hold, nothing flies off, and a step stays within the work that the methods bound.
#define SCENE_BODIES 10000
#define SCENE_JOINTS 20000
#define SCENE_CONTACTS 20000
#include "physics/solver_scene.h"

#include <time.h>

static SolverScene scene;

static double worst_gap(void)
{
    double gap = 0.0;
    for (int i = 0; i < scene.input.joint_count; i++)
        gap = fmax(gap, scene_ball_gap(&scene, i));
    return gap;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Boxes side by side in a square net that lies flat and is held along two sides.
static void net(int side, double pitch)
{
    scene_init(&scene, 0.004);
    for (int j = 0; j < side; j++)
        for (int i = 0; i < side; i++) {
            int body = scene_box(&scene, pitch * i, pitch * j, 0.0, 0.4 * pitch, 0.01);
            if (i > 0)
                scene_ball(&scene, body, body - 1, pitch * (i - 0.5), pitch * j, 0.0);
            if (j > 0)
                scene_ball(&scene, body, body - side, pitch * i, pitch * (j - 0.5), 0.0);
            if (i == 0 || i == side - 1)
                scene_ball(&scene, body, -1, pitch * (i == 0 ? -0.5 : i + 0.5), pitch * j, 0.0);
        }
}

static void test_net(void **state)
{
    (void)state;
    static const struct {
        int side, steps;
        double gap;
        const char *name;
    } cases[] = {
        { 8, 250, 0.004, "8 x 8" },
        { 30, 250, 0.004, "30 x 30" },
        { 98, 25, 0.004, "98 x 98" },
    };
    for (int k = 0; k < COUNT_OF(cases); k++) {
        net(cases[k].side, 0.05);
        Solver *solver = solver_create(NULL);
        double start = seconds(), gap = 0.0;
        int steps = support_trials(cases[k].steps);
        for (int step = 0; step < steps; step++) {
            scene_step(&scene, solver);
            gap = fmax(gap, worst_gap());
        }
        double spent = (seconds() - start) / steps;
        print_message("net %s: worst gap %.2f mm, %.2f ms a step\n", cases[k].name, 1e3 * gap, 1e3 * spent);
        CHECK(gap < cases[k].gap, cases[k].name);
        CHECK(scene_is_finite(&scene, 20.0), cases[k].name);
        solver_destroy(solver);
    }
}

static void test_ring(void **state)
{
    (void)state;
    enum { LINKS = 500 };
    scene_init(&scene, 0.002);
    double radius = 5.0, step_angle = 2.0 * M_PI / LINKS;
    for (int i = 0; i < LINKS; i++)
        scene_box(&scene, radius * cos(i * step_angle), 0.0, radius * sin(i * step_angle), 0.02, 0.05);
    for (int i = 0; i < LINKS; i++)
        scene_ball(&scene, (i + 1) % LINKS, i, radius * cos((i + 0.5) * step_angle), 0.0,
                   radius * sin((i + 0.5) * step_angle));
    int top = LINKS / 4;
    scene_ball(&scene, top, -1, scene.bodies[top].position[0], 0.0, scene.bodies[top].position[2]);
    Solver *solver = solver_create(NULL);
    double gap = 0.0;
    for (int step = 0; step < support_trials(250); step++) {
        scene_step(&scene, solver);
        gap = fmax(gap, worst_gap());
    }
    print_message("ring: worst gap %.2f mm\n", 1e3 * gap);
    CHECK(gap < 0.005, "a ring of 500 links holds");
    CHECK(scene_is_finite(&scene, 50.0), "a ring of 500 links");
    solver_destroy(solver);
}

// A net over the ground, held along two sides, with boxes piled on it.
static void loaded_net(void)
{
    enum { SIDE = 12, LAYERS = 3, ROW = 4 };
    const double pitch = 0.1, height = 1.0;
    scene_init(&scene, 0.004);
    scene.has_ground = true;
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++) {
            int body = scene_box(&scene, pitch * i, pitch * j, height, 0.4 * pitch, 0.1);
            if (i > 0)
                scene_ball(&scene, body, body - 1, pitch * (i - 0.5), pitch * j, height);
            if (j > 0)
                scene_ball(&scene, body, body - SIDE, pitch * i, pitch * (j - 0.5), height);
            if (i == 0 || i == SIDE - 1)
                scene_ball(&scene, body, -1, pitch * (i == 0 ? -0.5 : i + 0.5), pitch * j, height);
        }
    for (int k = 0; k < LAYERS * ROW * ROW; k++)
        scene_box(&scene, 0.25 + 0.2 * (k % ROW), 0.25 + 0.2 * (k / ROW % ROW), height + 0.15 + 0.2 * (k / (ROW * ROW)),
                  0.09, 0.3);
}

// The largest gap of a joint, mean over the second half of two seconds.
static double loaded_net_gap(const SolverOptions *options, bool forgets)
{
    enum { STEPS = 500 };
    loaded_net();
    Solver *solver = solver_create(options);
    double sum = 0.0;
    for (int step = 0; step < STEPS; step++) {
        if (forgets)
            solver_forget(solver);
        scene_step(&scene, solver);
        sum += step < STEPS / 2 ? 0.0 : worst_gap();
    }
    solver_destroy(solver);
    return sum / (STEPS - STEPS / 2);
}

// Iterated joints begin where they ended a step before: in a pile they hold as well with a quarter of the iterations as
// those that begin anew, and better with as many.
static void test_iterated_joints_begin_warm(void **state)
{
    (void)state;
    SolverOptions many = { .method = SOLVER_ITERATIVE, .iterations = 40 },
                  few = { .method = SOLVER_ITERATIVE, .iterations = 10 };
    double cold = loaded_net_gap(&many, true), warm_few = loaded_net_gap(&few, false),
           warm = loaded_net_gap(&many, false);
    print_message(
        "net under a pile: 40 iterations from nothing %.2f mm, from the last step %.2f mm, 10 iterations %.2f mm\n",
        1e3 * cold, 1e3 * warm, 1e3 * warm_few);
    CHECK(warm_few < cold, "a quarter of the iterations");
    CHECK(warm < 0.5 * cold, "as many iterations");
}

// What they begin from is part of the solver's state: a run goes on with the same bits after saving and restoring.
static void test_iterated_joints_are_restored(void **state)
{
    (void)state;
    static SolverScene saved, next;
    SolverOptions options = { .method = SOLVER_ITERATIVE };
    loaded_net();
    Solver *solver = solver_create(&options), *other = solver_create(&options), *fresh = solver_create(&options);
    for (int step = 0; step < 50; step++)
        scene_step(&scene, solver);
    size_t size = solver_state_size(solver), bodies = (size_t)scene.input.body_count * sizeof *scene.bodies;
    void *bytes = malloc(size);
    solver_state_save(solver, bytes);
    saved = scene;
    scene_step(&scene, solver);
    next = scene;
    CHECK(solver_state_restore(other, bytes, size), "restore");
    memcpy(scene.bodies, saved.bodies, bodies);
    scene_step(&scene, other);
    CHECK(!memcmp(scene.bodies, next.bodies, bodies), "restored");
    memcpy(scene.bodies, saved.bodies, bodies);
    scene_step(&scene, fresh);
    CHECK(memcmp(scene.bodies, next.bodies, bodies), "one without a memory goes another way");
    free(bytes);
    solver_destroy(solver);
    solver_destroy(other);
    solver_destroy(fresh);
}

static void coincident_robots(double shift)
{
    enum { ROBOTS = 20, LINKS = 6 };
    scene_init(&scene, 0.004);
    scene.has_ground = true;
    for (int r = 0; r < ROBOTS; r++)
        for (int i = 0; i < LINKS; i++) {
            int body = scene_box(&scene, 0.25 * i + 1e-3 * r, 1e-3 * (r % 5), 0.1 + 1e-3 * (r % 3) + shift * r, 0.1,
                                 1.0);
            if (i > 0)
                scene_ball(&scene, body, body - 1, 0.25 * i - 0.125 + 1e-3 * r, 1e-3 * (r % 5), 0.1);
        }
}

// Twenty chains of six boxes at the same place on the ground push each other apart; then their joints close again.
// Which way they go hangs on the last bit, and one in twenty starts leaves two chains hooked into each other: most have
// to close.
static void test_coincident_robots(void **state)
{
    (void)state;
    enum { STARTS = 5 };
    int closed = 0;
    for (int k = 0; k < STARTS; k++) {
        coincident_robots(1e-12 * k);
        Solver *solver = solver_create(NULL);
        double start = seconds(), slowest = 0.0;
        for (int step = 0; step < 250; step++) {
            double before = seconds();
            scene_step(&scene, solver);
            slowest = fmax(slowest, seconds() - before);
        }
        print_message("coincident robots: worst gap %.2f mm, %.1f ms a step, slowest %.1f ms\n", 1e3 * worst_gap(),
                      1e3 * (seconds() - start) / 250, 1e3 * slowest);
        CHECK(scene_is_finite(&scene, 100.0), "coincident robots");
        closed += worst_gap() < 0.02;
        solver_destroy(solver);
    }
    CHECK(2 * closed > STARTS, "their joints hold");
}

// A chain that lies above the ground falls on it, every link touching with four corners.
static void test_fallen_chain(void **state)
{
    (void)state;
    static const struct {
        int links;
        const char *name;
    } cases[] = { { 100, "100 links" }, { 300, "300 links" }, { 3000, "3000 links" } };
    for (int k = 0; k < COUNT_OF(cases); k++) {
        scene_init(&scene, 0.004);
        scene.has_ground = true;
        for (int i = 0; i < cases[k].links; i++) {
            int body = scene_box(&scene, 0.11 * i, 0.02 * sin(0.1 * i), 0.2, 0.05, 0.2);
            if (i > 0)
                scene_ball(&scene, body, body - 1, 0.11 * i - 0.055, 0.02 * sin(0.1 * i), 0.2);
        }
        Solver *solver = solver_create(NULL);
        double slowest = 0.0, start = seconds(), gap = 0.0;
        enum { STEPS = 100 };  // it touches the ground after some fifty
        for (int step = 0; step < STEPS; step++) {
            double before = seconds();
            scene_step(&scene, solver);
            slowest = fmax(slowest, seconds() - before);
            gap = fmax(gap, worst_gap());
        }
        print_message("chain of %s: worst gap %.2f mm, %.1f ms a step, slowest %.1f ms, %d contacts\n", cases[k].name,
                      1e3 * gap, 1e3 * (seconds() - start) / STEPS, 1e3 * slowest, scene.input.contact_count);
        CHECK(gap < 0.02, cases[k].name);
        CHECK(scene_is_finite(&scene, 1000.0), cases[k].name);
        solver_destroy(solver);
    }
}

// Boxes in a row on the ground, with four weights hanging from each: one tree of 225 bodies whose contacts, 540 rows,
// would take long to pivot. They are swept, as those of a smaller tree.
static void test_wide_tree_on_the_ground(void **state)
{
    (void)state;
    enum { BOXES = 45, WEIGHTS = 4 };
    scene_init(&scene, 0.004);
    scene.has_ground = true;
    for (int i = 0, before = -1; i < BOXES; i++) {
        int box = scene_box(&scene, 0.25 * i, 0.0, 0.1, 0.1, 1.0);
        if (i > 0)
            scene_ball(&scene, box, before, 0.25 * i - 0.125, 0.0, 0.1);
        for (int k = 0; k < WEIGHTS; k++) {
            double x = 0.25 * i + (k < 2 ? 0.05 : -0.05), y = k % 2 ? 0.3 : -0.3;
            int weight = scene_box(&scene, x, y, 0.4, 0.02, 0.1);
            scene_ball(&scene, weight, box, x, y, 0.5);
        }
        before = box;
    }
    Solver *solver = solver_create(NULL);
    double gap = 0.0, carried = 0.0;
    int swept = 0, rounds = 0;
    for (int step = 0; step < 250; step++) {
        scene_step(&scene, solver);
        gap = fmax(gap, worst_gap());
        swept += solver_statistics(solver)->swept_island_count;
        rounds += solver_statistics(solver)->pivot_round_count;
    }
    for (int i = 0; i < scene.input.contact_count; i++)
        carried += solver_contact_impulse(solver, i)[0] / scene.input.dt;
    print_message("wide tree: swept in %d steps, worst gap %.2f mm, %d contacts\n", swept, 1e3 * gap,
                  scene.input.contact_count);
    CHECK(swept >= 249 && rounds == 0, "swept from the first touch on");
    CHECK(gap < 1e-3, "its joints hold");
    CHECK_NEAR(carried, BOXES * (1.0 + 0.1 * WEIGHTS) * 9.81, 0.5, "the ground carries the weight, to 0.1 %");
    solver_destroy(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_net),
                                        cmocka_unit_test(test_ring),
                                        cmocka_unit_test(test_iterated_joints_begin_warm),
                                        cmocka_unit_test(test_iterated_joints_are_restored),
                                        cmocka_unit_test(test_coincident_robots),
                                        cmocka_unit_test(test_fallen_chain),
                                        cmocka_unit_test(test_wide_tree_on_the_ground) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
