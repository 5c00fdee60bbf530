// How long the hand of a person takes to reach the world, counted in steps and never on a clock: an act that is there
// before a step is in force in it, one that comes while it is made in the next, one that comes while the world waits
// for its pace in the step that it waits for. The page sends within the animation frame of the motion (web.page).
#include "viewer/viewer_internal.h"

#include "support/support.h"

static const char world[] = "#VRML_SIM R2025a utf8\nWorldInfo { gravity 0 basicTimeStep 16 }\nViewpoint { }\n"
                            "Solid { boundingObject Sphere { } physics Physics { } }\n";
static const char pull[] = "{\"do\":\"force\",\"solid\":0,\"at\":[0,0,0],\"to\":[1,0,0]}";
static const char faster[] = "{\"do\":\"speed\",\"factor\":0}";

static DiagSink *diags;

typedef struct Stage {
    Sim *sim;
    Viewer *viewer;
    uint64_t when;  // step before which the act comes, or in which
    bool is_late;   // it comes when the step has been begun
} Stage;

static Stage open_stage(double pace)
{
    Stage stage = { .sim = sim_load_text("latency.wbt", world, sizeof world - 1, NULL, diags) };
    stage.viewer = viewer_start(&(ViewerOptions){ .without_server = true, .pace = pace }, diags);
    assert_true(stage.sim && stage.viewer);
    viewer_attach(stage.viewer, stage.sim, NULL);
    return stage;
}

static void close_stage(Stage *stage)
{
    viewer_stop(stage->viewer);
    sim_destroy(stage->sim);
}

static void order(Viewer *viewer, const char *text)
{
    size_t size = strlen(text);
    char *copy = malloc(size + 1);
    memcpy(copy, text, size + 1);
    assert_true(
        exchange_order(&viewer->exchange, (Order){ .kind = ORDER_ACT, .client = 1, .text = copy, .size = size }));
}

static double speed(const Stage *stage)
{
    return vec3_length(physics_solid_linear_velocity(sim_physics(stage->sim), 0));
}

static bool before_step(Sim *sim, void *context)
{
    Stage *stage = context;
    bool is_time = sim_steps(sim) == stage->when;
    if (is_time && !stage->is_late)
        order(stage->viewer, pull);
    bool goes_on = session_before_step(sim, stage->viewer);
    if (is_time && stage->is_late)
        order(stage->viewer, pull);
    return goes_on;
}

// The first step that feels the act which comes in that step, or just before it.
static uint64_t felt_in(uint64_t when, bool is_late)
{
    Stage stage = open_stage(0.0);
    stage.when = when;
    stage.is_late = is_late;
    sim_set_boundary(stage.sim, NULL, NULL);
    sim_set_boundary(stage.sim, before_step, &stage);
    uint64_t step = 0;
    for (; speed(&stage) == 0.0; step++) {
        assert_true(step < when + 5);
        sim_step(stage.sim);
    }
    close_stage(&stage);
    return step - 1;
}

static void an_act_is_in_force_within_a_step(void **state)
{
    (void)state;
    for (uint64_t when = 0; when < 4; when++) {
        assert_int_equal(felt_in(when, false), when);
        assert_int_equal(felt_in(when, true), when + 1);
    }
}

static void *act_in_the_nap(void *context)
{
    Stage *stage = context;
    order(stage->viewer, pull);
    order(stage->viewer, faster);
    return NULL;
}

// At such a pace the second step is due after minutes: it is the act that ends the nap.
static void an_act_wakes_a_world_that_waits(void **state)
{
    (void)state;
    Stage stage = open_stage(0.0001);
    pthread_t thread;
    sim_step(stage.sim);
    assert_true(speed(&stage) == 0.0);
    pthread_create(&thread, NULL, act_in_the_nap, &stage);
    sim_step(stage.sim);
    pthread_join(thread, NULL);
    assert_true(speed(&stage) > 0.0);
    assert_int_equal(sim_steps(stage.sim), 2);
    close_stage(&stage);
}

int main(void)
{
    diags = diag_create();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_act_is_in_force_within_a_step),
        cmocka_unit_test(an_act_wakes_a_world_that_waits),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    diag_destroy(diags);
    return failures;
}
