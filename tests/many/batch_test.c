// Batches: world i does the same whatever stands beside it, episodes begin and end by the rules, and wrong input says
// so.
#include "talus/batch.h"

#include "support/support.h"

#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char text[] =
    "#VRML_SIM R2025a utf8\n"
    "WorldInfo { basicTimeStep 10 }\n"
    "DEF FLOOR Solid { name \"floor\" translation 0 0 -2 boundingObject Plane { } }\n"
    "DEF RAIL Robot { name \"rail\" controller \"<none>\" children [\n"
    "  DEF SLIDE SliderJoint { jointParameters JointParameters { axis 1 0 0 } device LinearMotor { name \"push\" maxForce 20 maxVelocity 100 }\n"
    "    endPoint DEF CART Solid { name \"cart\" boundingObject Box { size 0.2 0.1 0.1 } physics Physics { density -1 mass 1 }\n"
    "      children [ DEF HINGE HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 position 0.05 } device PositionSensor { name \"angle\" noise 0.01 }\n"
    "        endPoint DEF POLE Solid { name \"pole\" translation 0 0 0.5 boundingObject Box { size 0.02 0.02 1 } physics Physics { density -1 mass 0.1 } } } ] } } ] }\n";

static const char *const actions[] = { "motor_force push" };
static const char *const observations[] = { "joint_position SLIDE", "joint_velocity SLIDE", "joint_position HINGE",
                                            "joint_velocity HINGE", "sensor angle" };

static TalusWorld *open_world(void)
{
    TalusWorld *world = talus_load_text("batch.wbt", text, sizeof text - 1, NULL);
    if (!world || talus_diagnostic_total(world, TALUS_ERROR) > 0)
        fail_msg("%s", talus_last_error());
    return world;
}

static TalusBatch *open_batch(int count, int threads)
{
    TalusWorld *world = open_world();
    TalusBatch *batch = talus_batch_create(world, count, threads);
    talus_free(world);
    if (!batch || !talus_batch_set_actions(batch, actions, 1) || !talus_batch_set_observations(batch, observations, 5))
        fail_msg("%s", talus_last_error());
    return batch;
}

static void act(TalusBatch *batch, int step)
{
    for (int i = 0; i < talus_batch_count(batch); i++)
        talus_batch_actions(batch)[i] = 5.0 * sin(0.1 * step + i);
}

static uint64_t hash_of(TalusBatch *batch, int i) { return talus_hash(talus_batch_world(batch, i)); }

static void randomise(TalusBatch *batch)
{
    assert_true(talus_batch_randomise(batch, "POLE.physics.mass", TALUS_CHANGE_SCALE, TALUS_SPREAD_UNIFORM, 0.5, 2.0));
    assert_true(talus_batch_randomise(batch, "joint_position HINGE", TALUS_CHANGE_ADD, TALUS_SPREAD_NORMAL, 0, 0.05));
    assert_true(talus_batch_terminate(batch, "joint_position HINGE", -0.4, 0.4));
    assert_true(talus_batch_set_limit(batch, 60) && talus_batch_set_seed(batch, 7));
    assert_true(talus_batch_set_repeat(batch, 2) && talus_batch_set_autoreset(batch, TALUS_RESET_SAME_STEP));
    assert_true(talus_batch_reset(batch, NULL, NULL));
}

static void a_world_knows_nothing_of_the_others(void **state)
{
    (void)state;
    enum { STEPS = 90, FEW = 3 };
    uint64_t expected[FEW];
    double rows[FEW * 5];
    static const struct {
        int count, threads;
    } cases[] = { { FEW, 1 }, { 17, 1 }, { 17, 2 }, { 40, 4 } };
    for (int k = 0; k < 4; k++) {
        TalusBatch *batch = open_batch(cases[k].count, cases[k].threads);
        assert_int_equal(talus_batch_threads(batch), cases[k].threads);
        randomise(batch);
        for (int step = 0; step < STEPS; step++) {
            act(batch, step);
            assert_true(talus_batch_step(batch));
        }
        for (int i = 0; i < FEW && k == 0; i++)
            expected[i] = hash_of(batch, i);
        if (k == 0)
            memcpy(rows, talus_batch_observations(batch), sizeof rows);
        for (int i = 0; i < FEW; i++)
            assert_true(hash_of(batch, i) == expected[i] && talus_batch_episode_steps(batch)[i] < 60);
        assert_memory_equal(rows, talus_batch_observations(batch), sizeof rows);
        assert_true(hash_of(batch, 0) != hash_of(batch, 1));
        talus_batch_free(batch);
    }
}

static void a_batch_does_what_a_world_alone_does(void **state)
{
    (void)state;
    TalusBatch *batch = open_batch(4, 2);
    TalusWorld *world = open_world();
    TalusNode slide = talus_find(world, "SLIDE");
    assert_true(talus_device_enable(world, talus_device(world, TALUS_NONE, "angle"), 10));
    for (int step = 0; step < 50; step++) {
        act(batch, step);
        assert_true(talus_motor_set_force(world, slide, 0, talus_batch_actions(batch)[2]));
        assert_true(talus_batch_step(batch) && talus_step(world, 1));
        assert_true(hash_of(batch, 2) == talus_hash(world));
    }
    assert_true(talus_batch_reset(batch, NULL, (uint64_t[]){ 1, 2, 3, 3 }));
    assert_true(talus_batch_seed(batch, 1) == 2 && talus_steps(talus_batch_world(batch, 0)) == 0);
    memset(talus_batch_actions(batch), 0, 4 * sizeof(double));
    for (int step = 0; step < 10; step++)
        assert_true(talus_batch_step(batch));
    assert_true(hash_of(batch, 2) == hash_of(batch, 3)
                && hash_of(batch, 1) != hash_of(batch, 2));  // noise of the sensor
    talus_free(world);
    talus_batch_free(batch);
}

// Each world makes its steps by itself, and what it does and tells is what steps one by one do and tell.
static void a_rollout_is_its_steps_one_by_one(void **state)
{
    (void)state;
    enum { COUNT = 7, STEPS = 90, STRIDE = 100, COLUMNS = 5 };
    static double told[COUNT * STRIDE], seen[COUNT * STRIDE * COLUMNS];
    static uint8_t ended[COUNT * STRIDE], cut[COUNT * STRIDE], failed[COUNT * STRIDE];
    TalusBatch *one = open_batch(COUNT, 1), *many = open_batch(COUNT, 2);
    randomise(one);
    randomise(many);
    for (int i = 0; i < COUNT; i++)
        for (int step = 0; step < STEPS; step++)
            told[i * STRIDE + step] = 5.0 * sin(0.1 * step + i);
    TalusRollout rollout = talus_rollout_defaults();
    rollout.steps = STEPS;
    rollout.stride = STRIDE;
    rollout.actions = told;
    rollout.observations = seen;
    rollout.terminated = ended, rollout.truncated = cut, rollout.failed = failed;
    assert_true(talus_batch_rollout(many, &rollout));
    int ends = 0;
    for (int step = 0; step < STEPS; step++) {
        act(one, step);
        assert_true(talus_batch_step(one));
        for (int i = 0; i < COUNT; i++) {
            int row = i * STRIDE + step;
            assert_memory_equal(&seen[row * COLUMNS], talus_batch_observations(one) + i * COLUMNS,
                                COLUMNS * sizeof *seen);
            assert_int_equal(ended[row], talus_batch_terminated(one)[i]);
            assert_int_equal(cut[row], talus_batch_truncated(one)[i]);
            assert_int_equal(failed[row], 0);
            ends += ended[row] + cut[row];
        }
    }
    assert_true(ends > 0);
    for (int i = 0; i < COUNT; i++)
        assert_true(hash_of(one, i) == hash_of(many, i));
    assert_memory_equal(talus_batch_observations(one), talus_batch_observations(many), COUNT * COLUMNS * sizeof *seen);
    // Without blocks: the batch's own actions in every step, and nothing kept.
    rollout = talus_rollout_defaults();
    rollout.steps = 3;
    memcpy(talus_batch_actions(many), talus_batch_actions(one), COUNT * sizeof *told);
    assert_true(talus_batch_rollout(many, &rollout));
    for (int step = 0; step < 3; step++)
        assert_true(talus_batch_step(one));
    assert_true(hash_of(one, 3) == hash_of(many, 3));
    talus_batch_free(one);
    talus_batch_free(many);
}

static void a_senseless_rollout_is_refused(void **state)
{
    (void)state;
    TalusBatch *batch = open_batch(2, 1);
    double told[6] = { 0 };
    TalusRollout rollout = talus_rollout_defaults();
    rollout.actions = told;
    assert_false(talus_batch_rollout(NULL, &rollout) || talus_batch_rollout(batch, NULL));
    assert_true(talus_batch_rollout(batch, &rollout));  // no step
    rollout.steps = -1;
    assert_false(talus_batch_rollout(batch, &rollout));
    rollout.steps = 3;
    rollout.stride = 2;
    assert_false(talus_batch_rollout(batch, &rollout));
    rollout.stride = 3;
    told[5] = NAN;
    assert_false(talus_batch_rollout(batch, &rollout));
    assert_non_null(strstr(talus_last_error(), "world 1"));
    assert_int_equal(talus_steps(talus_batch_world(batch, 0)), 0);
    rollout.steps = 2;  // which do not meet it
    assert_true(talus_batch_rollout(batch, &rollout));
    assert_int_equal(talus_batch_episode_steps(batch)[1], 2);
    talus_batch_free(batch);
}

// Two boxes that fall from other heights in each world, and fall asleep at other times: some worlds then use the arrays
// of their thread for bodies and some their own. World 2 has one box more, and rows of its own.
static const char boxes_text[] =
    "#VRML_SIM R2025a utf8\n"
    "WorldInfo { basicTimeStep 10 physicsDisableTime 0.1 physicsDisableLinearThreshold 0.05 physicsDisableAngularThreshold 0.05 }\n"
    "DEF FLOOR Solid { name \"floor\" boundingObject Plane { } }\n"
    "DEF A Solid { name \"a\" translation 0 0 0.06 boundingObject Box { size 0.1 0.1 0.1 } physics Physics { } }\n"
    "DEF B Solid { name \"b\" translation 1 0 0.06 boundingObject Box { size 0.1 0.1 0.1 } physics Physics { } }\n";
static const char third_box[] =
    "DEF C Solid { name \"c\" translation 2 0 0.3 boundingObject Box { size 0.1 0.1 0.1 } physics Physics { } }";

static void prepare_boxes(TalusWorld *world, int index)
{
    if (index == 2)
        assert_true(talus_insert(world, TALUS_ROOT, "children", -1, third_box) != TALUS_NONE);
    TalusNode b = talus_find(world, "B");
    TalusPose pose = { 0 };
    assert_true(talus_pose(world, b, &pose));
    pose.position.z += 0.1 * index;
    assert_true(talus_set_pose(world, b, pose));
}

static void worlds_of_a_batch_may_sleep_and_differ(void **state)
{
    (void)state;
    enum { COUNT = 6 };
    TalusWorld *world = talus_load_text("boxes.wbt", boxes_text, sizeof boxes_text - 1, NULL);
    TalusBatch *batch = talus_batch_create(world, COUNT, 1);
    TalusWorld *alone[COUNT];
    assert_true(batch && talus_clone_many(world, COUNT, alone));
    for (int i = 0; i < COUNT; i++) {
        prepare_boxes(alone[i], i);
        prepare_boxes(talus_batch_world(batch, i), i);
    }
    int asleep = 0;
    for (int step = 0; step < 120; step++) {
        assert_true(talus_batch_step(batch));
        for (int i = 0; i < COUNT; i++) {
            assert_true(talus_step(alone[i], 1));
            asleep += talus_statistics(alone[i]).bodies_awake == 1;
            if (hash_of(batch, i) != talus_hash(alone[i]))
                fail_msg("world %d is another than alone after %d steps", i, step + 1);
        }
    }
    assert_true(asleep > 20);  // else nothing was tried
    for (int i = 0; i < COUNT; i++)
        talus_free(alone[i]);
    talus_batch_free(batch);
    talus_free(world);
}

static void every_example_runs_in_batches(void **state)
{
    (void)state;
    glob_t found;
    assert_int_equal(glob("examples/*/worlds/*.wbt", 0, NULL, &found), 0);
    assert_int_equal(glob("examples/*/models/*.body", GLOB_APPEND, NULL, &found), 0);
    assert_int_equal(glob("scenes/gallery/*.wbt", GLOB_APPEND, NULL, &found), 0);
    for (size_t k = 0; k < found.gl_pathc; k++) {
        TalusWorld *world = talus_load(found.gl_pathv[k], NULL);
        assert_non_null(world);
        uint64_t expected = 0;
        for (int threads = 1; threads <= 4; threads *= 2) {
            TalusBatch *batch = talus_batch_create(world, 5, threads);
            for (int step = 0; step < 40; step++)
                assert_true(talus_batch_step(batch));
            if (threads == 1) {
                TalusWorld *alone = talus_load(found.gl_pathv[k], NULL);
                assert_true(talus_step(alone, 40));
                expected = talus_hash(alone);
                talus_free(alone);
            }
            for (int i = 0; i < 5; i++)
                if (hash_of(batch, i) != expected)
                    fail_msg("%s: world %d on %d threads differs", found.gl_pathv[k], i, threads);
            talus_batch_free(batch);
        }
        talus_free(world);
    }
    globfree(&found);
}

static void episodes_end_by_the_rules(void **state)
{
    (void)state;
    for (int mode = TALUS_RESET_NEVER; mode <= TALUS_RESET_NEXT_STEP; mode++) {
        TalusBatch *batch = open_batch(2, 1);
        assert_true(talus_batch_set_autoreset(batch, (TalusAutoreset)mode));
        assert_true(talus_batch_terminate(batch, "joint_position HINGE", -0.3, 0.3)
                    && talus_batch_set_limit(batch, 400));
        const double *row = talus_batch_observations(batch);
        const uint8_t *over = talus_batch_terminated(batch);
        assert_true(fabs(row[2] - 0.05) < 1e-9);
        int steps = 0;
        talus_batch_actions(batch)[0] = talus_batch_actions(batch)[1] = 1.0;
        while (!over[0] && steps < 400) {
            assert_true(talus_batch_step(batch));
            steps++;
        }
        assert_true(over[0] && over[1] && steps > 10 && steps < 390);
        bool is_reset = mode == TALUS_RESET_SAME_STEP;
        assert_true(fabs(row[2]) > 0.3 ? !is_reset : is_reset);
        if (is_reset)
            assert_true(fabs(talus_batch_final_observations(batch)[2]) > 0.3);
        assert_true(talus_batch_step(batch));
        assert_int_equal(over[0], mode == TALUS_RESET_NEVER);
        assert_int_equal(talus_batch_episode_steps(batch)[0], mode == TALUS_RESET_NEVER ? steps : is_reset);
        assert_true(talus_batch_reset(batch, (uint8_t[]){ 0, 1 }, NULL));
        assert_true(talus_batch_episode_steps(batch)[1] == 0 && over[1] == 0);
        talus_batch_free(batch);
    }
}

static void a_limit_truncates(void **state)
{
    (void)state;
    TalusBatch *batch = open_batch(1, 1);
    assert_true(talus_batch_set_limit(batch, 3));
    for (int i = 0; i < 3; i++) {
        assert_false(talus_batch_truncated(batch)[0]);
        assert_true(talus_batch_step(batch));
    }
    assert_true(talus_batch_truncated(batch)[0] && !talus_batch_terminated(batch)[0]);
    talus_batch_free(batch);
}

static void a_world_that_fails_is_reset_and_told(void **state)
{
    (void)state;
    TalusBatch *batch = open_batch(3, 2);
    for (int step = 0; step < 5; step++)
        assert_true(talus_batch_step(batch));
    TalusWorld *victim = talus_batch_world(batch, 1);
    assert_true(
        talus_set_velocity(victim, talus_find(victim, "CART"), (TalusVector){ 1e8, 0, 0 }, (TalusVector){ 0, 1e8, 0 }));
    uint64_t other = hash_of(batch, 0);
    for (int i = 0; i < 5 && !talus_batch_failed(batch)[1]; i++)
        assert_true(talus_batch_step(batch));
    assert_true(talus_batch_failed(batch)[1] && talus_batch_terminated(batch)[1] && !talus_batch_failed(batch)[0]);
    assert_true(strlen(talus_batch_failure(batch, 1)) > 0 && !*talus_batch_failure(batch, 0));
    assert_true(hash_of(batch, 0) != other && fabs(talus_batch_observations(batch)[5 + 2] - 0.05) < 1e-6);
    assert_true(talus_batch_step(batch) && !talus_batch_failed(batch)[1]);
    talus_batch_free(batch);
}

static void fields_are_drawn_in_their_ranges(void **state)
{
    (void)state;
    TalusBatch *batch = open_batch(30, 2);
    assert_true(talus_batch_randomise(batch, "POLE.physics.mass", TALUS_CHANGE_SET, TALUS_SPREAD_LOG_UNIFORM, 0.1, 10));
    assert_true(talus_batch_randomise(batch, "WorldInfo.gravity", TALUS_CHANGE_ADD, TALUS_SPREAD_UNIFORM, -1, 1));
    for (int round = 0; round < 3; round++) {
        assert_true(talus_batch_reset(batch, NULL, NULL));
        double low = INFINITY, high = 0.0;
        for (int i = 0; i < 30; i++) {
            double mass, g, actual;
            TalusWorld *world = talus_batch_world(batch, i);
            assert_true(talus_get_path(world, "POLE.physics.mass", &mass)
                        && talus_get_path(world, "WorldInfo.gravity", &g));
            assert_true(talus_mass(world, talus_find(world, "POLE"), &actual, NULL) && actual == mass);
            assert_true(fabs(g - 9.81) <= 1.0);
            low = fmin(low, mass);
            high = fmax(high, mass);
        }
        assert_true(low >= 0.1 && low < 0.5 && high > 2.0 && high <= 10.0);
        assert_true(talus_batch_step(batch));
    }
    talus_batch_free(batch);
}

static void wrong_input_says_why(void **state)
{
    (void)state;
    TalusWorld *world = open_world();
    assert_null(talus_batch_create(NULL, 1, 1));
    assert_null(talus_batch_create(world, 0, 1));
    assert_null(talus_batch_create(world, 1, -1));
    TalusBatch *batch = open_batch(2, 1);
    talus_free(world);
    const char *sensor = "sensor angle", *force = "force CART", *nothing = "position NOBODY";
    assert_false(talus_batch_set_actions(batch, &sensor, 1) || talus_batch_set_observations(batch, &force, 1));
    assert_false(talus_batch_set_observations(batch, &nothing, 1));
    assert_non_null(strstr(talus_last_error(), "NOBODY"));
    assert_false(talus_batch_terminate(batch, "time", 1, 0) || talus_batch_terminate(batch, force, 0, 1));
    static const struct {
        const char *what;
        TalusSpread spread;
        double a, b;
    } cases[] = {
        { "POLE.physics.weight", TALUS_SPREAD_UNIFORM, 0, 1 }, { "POLE.physics.mass", TALUS_SPREAD_UNIFORM, 1, 0 },
        { "POLE.physics.mass", TALUS_SPREAD_NORMAL, 1, -1 },   { "POLE.physics.mass", TALUS_SPREAD_LOG_UNIFORM, 0, 1 },
        { "POLE.physics.mass", TALUS_SPREAD_UNIFORM, 0, NAN }, { "sensor angle", TALUS_SPREAD_UNIFORM, 0, 1 },
        { "POLE.physics.mass", (TalusSpread)9, 0, 1 },         { NULL, TALUS_SPREAD_UNIFORM, 0, 1 },
    };
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++)
        assert_false(
            talus_batch_randomise(batch, cases[i].what, TALUS_CHANGE_SET, cases[i].spread, cases[i].a, cases[i].b));
    assert_false(talus_batch_randomise(batch, "WorldInfo.gravity", (TalusChange)5, TALUS_SPREAD_UNIFORM, 0, 1));
    assert_false(talus_batch_set_repeat(batch, 0) || talus_batch_set_limit(batch, -1));
    assert_false(talus_batch_set_autoreset(batch, (TalusAutoreset)7) || talus_batch_step(NULL));
    assert_null(talus_batch_world(batch, 2));
    uint64_t before = hash_of(batch, 0);
    talus_batch_actions(batch)[1] = NAN;
    assert_false(talus_batch_step(batch));
    assert_non_null(strstr(talus_last_error(), "'motor_force push' of world 1"));
    assert_true(hash_of(batch, 0) == before);
    talus_batch_actions(batch)[1] = 0.0;
    TalusWorld *changed = talus_batch_world(batch, 1);
    assert_true(talus_remove(changed, talus_find(changed, "HINGE")));
    assert_true(talus_batch_step(batch) && talus_batch_failed(batch)[1] && !talus_batch_failed(batch)[0]);
    assert_non_null(strstr(talus_batch_failure(batch, 1), "does not fit"));
    assert_true(talus_batch_step(batch) && !talus_batch_failed(batch)[1]);  // the reset has put it back
    talus_batch_free(batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_world_knows_nothing_of_the_others),
        cmocka_unit_test(a_batch_does_what_a_world_alone_does),
        cmocka_unit_test(a_rollout_is_its_steps_one_by_one),
        cmocka_unit_test(a_senseless_rollout_is_refused),
        cmocka_unit_test(worlds_of_a_batch_may_sleep_and_differ),
        cmocka_unit_test(every_example_runs_in_batches),
        cmocka_unit_test(episodes_end_by_the_rules),
        cmocka_unit_test(a_limit_truncates),
        cmocka_unit_test(a_world_that_fails_is_reset_and_told),
        cmocka_unit_test(fields_are_drawn_in_their_ranges),
        cmocka_unit_test(wrong_input_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
