// The solver on plain arrays: energy of a chain, the pyramid, growing towers, trouble that must end finite, memory,
// sleeping.
#include "physics/solver_scene.h"

static SolverScene scene, twin;

static void test_chain_keeps_energy(void **state)
{
    (void)state;
    scene_init(&scene, 0.002);
    for (int i = 0; i < 20; i++) {
        scene_box(&scene, 0.1 * i + 0.05, 0.0, 2.0, 0.04, 0.2);
        scene_ball(&scene, i, i - 1, 0.1 * i, 0.0, 2.0);
    }
    Solver *solver = solver_create(NULL);
    double start = scene_energy(&scene), scale = 20 * 0.2 * 9.81 * 1.0, worst = 0.0;
    for (int step = 0; step < 500; step++) {
        scene_step(&scene, solver);
        worst = fmax(worst, fabs(scene_energy(&scene) - start) / scale);
    }
    CHECK(worst < 0.05, "energy of a swinging chain");
    CHECK(solver_statistics(solver)->group_count == 1, "one tree");
    CHECK(scene_ball_gap(&scene, 0) < 2e-3, "the first joint holds");
    solver_destroy(solver);
}

static void pyramid_stands(SolverMethod method, double seconds, const char *name)
{
    scene_init(&scene, 0.008);
    scene_pyramid(&scene, 6);
    Solver *solver = solver_create(&(SolverOptions){ .method = method });
    for (int step = 0; step < (int)(seconds / 0.008); step++)
        scene_step(&scene, solver);
    const double *top = scene.bodies[scene.input.body_count - 1].position;
    CHECK(fabs(top[2] - 1.1) < 0.02 && fabs(top[0]) < 0.05 && fabs(top[1]) < 0.05, name);
    solver_destroy(solver);
}

static void test_pyramid(void **state)
{
    (void)state;
    pyramid_stands(SOLVER_AUTO, 10.0, "chosen method");
    pyramid_stands(SOLVER_ITERATIVE, 10.0, "iterative");
    pyramid_stands(SOLVER_SWEPT, 4.0, "swept");
    pyramid_stands(SOLVER_DIRECT, 0.4, "direct: redundant contacts");
}

static void test_methods_agree(void **state)
{
    (void)state;
    // A box at rest: all methods find the weight, spread over its corners.
    static const struct {
        SolverMethod method;
        const char *name;
    } methods[] = { { SOLVER_DIRECT, "direct" }, { SOLVER_SWEPT, "swept" }, { SOLVER_ITERATIVE, "iterative" } };
    for (int k = 0; k < COUNT_OF(methods); k++) {
        scene_init(&scene, 0.004);
        scene.has_ground = true;
        scene_box(&scene, 0.0, 0.0, 0.0985, 0.1, 3.0);
        Solver *solver = solver_create(&(SolverOptions){ .method = methods[k].method });
        for (int step = 0; step < 300; step++)
            scene_step(&scene, solver);
        double sum = 0.0;
        for (int i = 0; i < scene.input.contact_count; i++)
            sum += solver_contact_impulse(solver, i)[0] / scene.input.dt;
        CHECK_NEAR(sum, 3.0 * 9.81, 1e-3, methods[k].name);
        CHECK_NEAR(scene.bodies[0].velocity[2], 0.0, 1e-5, methods[k].name);
        solver_destroy(solver);
    }
}

// A chain that lies across a pile: too many rows to pivot. The contacts are swept, the joints hold as if they were not.
static void test_chain_in_rubble(void **state)
{
    (void)state;
    enum { LINKS = 8, BOXES = 12 };
    scene_init(&scene, 0.004);
    scene.has_ground = true;
    for (int i = 0; i < LINKS; i++) {
        scene_box(&scene, 0.24 * i, 0.0, 0.35, 0.1, 1.0);
        if (i > 0)
            scene_ball(&scene, i, i - 1, 0.24 * i - 0.12, 0.0, 0.35);
    }
    for (int i = 0; i < BOXES; i++)
        scene_box(&scene, 0.15 * i, i % 2 ? 0.02 : -0.02, 0.1, 0.07, 0.5);
    Solver *solver = solver_create(NULL);
    bool swept = false;
    double gap = 0.0;
    for (int step = 0; step < 500; step++) {
        scene_step(&scene, solver);
        swept |= solver_statistics(solver)->swept_island_count > 0;
        for (int j = 0; j < LINKS - 1; j++)
            gap = fmax(gap, scene_ball_gap(&scene, j));
    }
    double weight = 0.0, lowest = 1.0;
    for (int i = 0; i < scene.input.contact_count; i++)
        weight += scene.contacts[i].body[1] < 0 ? solver_contact_impulse(solver, i)[0] / scene.input.dt : 0.0;
    for (int i = 0; i < scene.input.body_count; i++)
        lowest = fmin(lowest, scene.bodies[i].position[2]);
    CHECK(swept, "the island is swept");
    CHECK(gap < 2e-3, "joints hold");
    CHECK(lowest > 0.06 && scene_is_finite(&scene, 3.0), "nothing sinks");
    // 2 %: sweeps end before the last digit of a contact, and the rubble still settles by micrometres a step.
    CHECK_NEAR(weight, (LINKS * 1.0 + BOXES * 0.5) * 9.81, 3.0, "the ground carries the weight");
    solver_destroy(solver);
}

static void test_redundant_joints(void **state)
{
    (void)state;
    // Two bodies held together three times over, with and without softness, and pinned to the world twice.
    for (int soft = 0; soft < 2; soft++) {
        scene_init(&scene, 0.004);
        scene.input.cfm = soft ? 1e-5 : 0.0;
        scene_box(&scene, 0.1, 0.0, 1.0, 0.05, 1.0);
        scene_box(&scene, 0.3, 0.0, 1.0, 0.05, 1.0);
        for (int i = 0; i < 3; i++)
            scene_ball(&scene, 1, 0, 0.2, 0.0, 1.0);
        scene_ball(&scene, 0, -1, 0.0, 0.0, 1.0);
        scene_ball(&scene, 0, -1, 0.0, 0.0, 1.0);
        Solver *solver = solver_create(NULL);
        for (int step = 0; step < 250; step++)
            scene_step(&scene, solver);
        CHECK(scene_is_finite(&scene, 10.0), soft ? "soft" : "hard");
        double distance = 0.0;
        for (int i = 0; i < 3; i++)
            distance += scene.bodies[0].position[i] * scene.bodies[0].position[i];
        CHECK(fabs(sqrt(distance + 1.0 - 2.0 * scene.bodies[0].position[2]) - 0.1) < 5e-3, soft ? "soft" : "hard");
        if (!soft)
            CHECK(solver_statistics(solver)->redundant_count > 0, "the redundant rows are counted");
        solver_destroy(solver);
    }
}

static void test_mass_ratio(void **state)
{
    (void)state;
    for (int order = 0; order < 2; order++) {
        scene_init(&scene, 0.004);
        for (int i = 0; i < 6; i++) {
            double mass = (i % 2) == order ? 1e-4 : 1e5;
            scene_box(&scene, 0.2 * i + 0.1, 0.0, 1.0, 0.05, mass);
            scene_ball(&scene, i, i - 1, 0.2 * i, 0.0, 1.0);
        }
        Solver *solver = solver_create(NULL);
        for (int step = 0; step < 500; step++)
            scene_step(&scene, solver);
        CHECK(scene_is_finite(&scene, 100.0), "a ratio of 1e9 stays finite");
        solver_destroy(solver);
    }
}

static void test_overlapping_start(void **state)
{
    (void)state;
    scene_init(&scene, 0.008);
    scene.has_ground = true;
    for (int i = 0; i < 20; i++)
        scene_box(&scene, 1e-4 * i, 0.0, 0.05, 0.1, 1.0);
    Solver *solver = solver_create(NULL);
    for (int step = 0; step < 400; step++)
        scene_step(&scene, solver);
    CHECK(scene_is_finite(&scene, 500.0), "twenty boxes in one place");
    solver_destroy(solver);
}

static void test_not_finite_is_stopped(void **state)
{
    (void)state;
    scene_init(&scene, 0.004);
    scene_box(&scene, 0.0, 0.0, 1.0, 0.1, 1.0);
    scene_box(&scene, 5.0, 0.0, 1.0, 0.1, 1.0);
    scene.bodies[0].force[0] = NAN;
    Solver *solver = solver_create(NULL);
    scene_step(&scene, solver);
    CHECK(solver_statistics(solver)->body_reset_count == 1, "one body was stopped");
    CHECK(scene_is_finite(&scene, 10.0), "and nothing else noticed");
    solver_destroy(solver);
}

static void test_state_continues(void **state)
{
    (void)state;
    scene_init(&scene, 0.008);
    scene_heap(&scene, 30);
    Solver *solver = solver_create(NULL);
    for (int step = 0; step < 60; step++)
        scene_step(&scene, solver);
    size_t size = solver_state_size(solver);
    void *saved = malloc(size);
    solver_state_save(solver, saved);
    twin = scene;
    twin.input.bodies = twin.bodies;
    twin.input.joints = twin.joints;
    twin.input.rows = twin.rows;
    twin.input.contacts = twin.contacts;
    Solver *other = solver_create(NULL);
    assert_true(solver_state_restore(other, saved, size));
    for (int step = 0; step < 60; step++) {
        scene_step(&scene, solver);
        scene_step(&twin, other);
    }
    assert_memory_equal(scene.bodies, twin.bodies, sizeof scene.bodies);
    CHECK(!solver_state_restore(other, saved, size - 1), "a cut state is refused");
    free(saved);
    solver_destroy(solver);
    solver_destroy(other);
}

static void test_sleeping_bodies_are_left_alone(void **state)
{
    (void)state;
    scene_init(&scene, 0.008);
    scene_heap(&scene, 10);
    static int32_t awake[1] = { 3 };
    for (int i = 0; i < 10; i++)
        if (i != 3)
            scene.bodies[i].flags |= SOLVER_BODY_ASLEEP;
    scene.input.awake = awake;
    scene.input.awake_count = 1;
    SolverBody before = scene.bodies[4];
    Solver *solver = solver_create(NULL);
    for (int step = 0; step < 5; step++)
        scene_step(&scene, solver);
    assert_memory_equal(&before, &scene.bodies[4], sizeof before);
    CHECK(scene.bodies[3].velocity[2] != 0.0, "the awake one moves");
    const SolverIsland *islands;
    CHECK(solver_islands(solver, &islands) == 1 && islands[0].first_body == 3, "one island");
    solver_destroy(solver);
}

// A tower that grows box by box, through the sizes where the method changes, and shrinks again: there and back once,
// and no step gives it energy.
static void tower_changes(bool is_jointed, int most, SolverMethod large)
{
    const double half = 0.1, mass = 1.0;
    scene_init(&scene, 0.004);
    scene.has_ground = true;
    for (int i = 0; is_jointed && i < 2; i++)
        scene_box(&scene, 0.3 * i, 0.0, half, half, mass);
    if (is_jointed)
        scene_ball(&scene, 0, 1, 0.15, 0.0, half);
    int base = scene.input.body_count, changes = 0;
    Solver *solver = solver_create(NULL);
    SolverMethod method = SOLVER_DIRECT;
    bool was_large = false;
    double gained = 0.0, fastest = 0.0;
    for (int k = 1; k < 2 * most; k++) {
        int below = k > 1 ? scene.input.body_count - 1 : base - 2;  // -1: the ground
        if (k <= most)
            scene_box(&scene, 0.0, 0.0, below < 0 ? half : scene.bodies[below].position[2] + 2.0 * half, half, mass);
        else
            scene.input.body_count--;
        double energy = scene_energy(&scene);
        for (int step = 0; step < 50; step++) {
            scene_step(&scene, solver);
            const SolverIsland *islands;
            assert_true(solver_islands(solver, &islands) >= 1);
            changes += islands[0].method != method;
            method = islands[0].method;
            was_large |= method == large;
            double now = scene_energy(&scene);
            gained = fmax(gained, now - energy);
            energy = now;
            for (int i = 0; i < scene.input.body_count; i++)
                fastest = fmax(fastest, fabs(scene.bodies[i].velocity[0]) + fabs(scene.bodies[i].velocity[1])
                                            + fabs(scene.bodies[i].velocity[2]));
        }
    }
    print_message("%d boxes: %d changes of method, a step gains %.1e J at most, fastest %.1e m/s\n", most, changes,
                  gained, fastest);
    CHECK(was_large && method == SOLVER_DIRECT, "through the threshold and back");
    CHECK(changes == 2, "there and back once");
    CHECK(gained < 0.001 * most * mass * 9.81 * half, "no jump of energy");
    CHECK(fastest < 0.05, "the tower stands");
    solver_destroy(solver);
}

static void test_growing_towers(void **state)
{
    (void)state;
    tower_changes(false, 8, SOLVER_ITERATIVE);
    tower_changes(true, 12, SOLVER_SWEPT);
}

// A crawler of boxes in a row: balls with weak motors between them, which turn the boxes about y.
static void crawler_init(SolverScene *s, int count)
{
    scene_init(s, 0.008);
    for (int i = 0; i < count; i++)
        scene_box(s, 0.35 * i, 0.0, 0.3, 0.08, 1.0 + 0.5 * (i % 3));
    for (int i = 0; i + 1 < count; i++)
        scene_ball(s, i, i + 1, 0.35 * i + 0.175, 0.0, 0.3);
}

static void crawler_rows(SolverScene *s, int count, int step)
{
    const int balls = count - 1;
    s->input.joint_count = balls;
    for (int i = 0; i < balls; i++)
        scene_ball_rows(s, i);
    for (int i = 0; i < balls; i++) {
        int first = 3 * balls + i;
        SolverRow *row = &s->rows[first];
        *row = (SolverRow){ .rhs = 3.0 * sin(0.02 * step + i), .cfm = 1e-5, .friction_of = -1 };
        row->hi = i % 2 ? 0.6 : 20.0;
        row->lo = -row->hi;
        row->j1[4] = 1.0;
        row->j2[4] = -1.0;
        s->joints[s->input.joint_count++] = (SolverJoint){ i, i + 1, first, 1 };
    }
    s->input.row_count = 4 * balls;
    s->input.contact_count = 0;
    for (int i = 0; i < count; i++)
        scene_collide_pair(s, i, -1);
}

// Rows with bounds in the trees and in the dense problem are two ways to the same solution: with feet that stick, slide
// and lift, and motors at their limits and inside. Both get the same bodies in each step; what they remember is their
// own, and the same as far as rows go.
static void test_springs_are_dense(void **state)
{
    (void)state;
    enum { COUNT = 5, STEPS = 1500 };
    static SolverScene s;
    static SolverBody before[COUNT], sprung[COUNT];
    static double forces[4 * COUNT];
    crawler_init(&s, COUNT);
    Solver *springs = solver_create(&(SolverOptions){ .method = SOLVER_DIRECT });
    Solver *dense = solver_create(&(SolverOptions){ .method = SOLVER_DIRECT, .no_springs = true });
    int spring_steps = 0, limits = 0;
    double worst = 0.0, worst_force = 0.0;
    for (int step = 0; step < STEPS; step++) {
        crawler_rows(&s, COUNT, step);
        memcpy(before, s.bodies, sizeof before);
        solver_step(springs, &s.input);
        memcpy(sprung, s.bodies, sizeof sprung);
        for (int i = 0; i < s.input.row_count; i++)
            forces[i] = s.rows[i].force;
        memcpy(s.bodies, before, sizeof before);
        solver_step(dense, &s.input);
        for (int i = 0; i < COUNT; i++)
            for (int k = 0; k < 6; k++)
                worst = fmax(worst, fabs(s.bodies[i].velocity[k] - sprung[i].velocity[k]));
        for (int i = 0; i < s.input.row_count; i++) {
            worst_force = fmax(worst_force, fabs(s.rows[i].force - forces[i]));
            limits += i >= 3 * (COUNT - 1) && fabs(forces[i]) > s.rows[i].hi - 1e-9;
        }
        spring_steps += solver_statistics(springs)->spring_island_count;
        assert_int_equal(solver_statistics(dense)->spring_island_count, 0);
        memcpy(s.bodies, sprung, sizeof sprung);
    }
    printf("springs in %d of %d steps, %d motors at their limits; apart %.1e m/s, %.1e N\n", spring_steps, STEPS,
           limits, worst, worst_force);
    CHECK(worst < 1e-9, "velocities");    // m/s, rad/s: of some 5; a row may be taken as free within PIVOT_SLACK
    CHECK(worst_force < 1e-7, "forces");  // N, N m: of some 100
    CHECK(spring_steps > STEPS / 2, "most steps are solved in the trees");
    CHECK(limits > 100, "motors reach their limits");
    CHECK(scene_is_finite(&s, 100.0), "crawler");
    solver_destroy(springs);
    solver_destroy(dense);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain_keeps_energy), cmocka_unit_test(test_pyramid),
        cmocka_unit_test(test_methods_agree),      cmocka_unit_test(test_chain_in_rubble),
        cmocka_unit_test(test_redundant_joints),   cmocka_unit_test(test_mass_ratio),
        cmocka_unit_test(test_overlapping_start),  cmocka_unit_test(test_not_finite_is_stopped),
        cmocka_unit_test(test_state_continues),    cmocka_unit_test(test_sleeping_bodies_are_left_alone),
        cmocka_unit_test(test_growing_towers),     cmocka_unit_test(test_springs_are_dense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
