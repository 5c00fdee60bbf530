// Nodes nest deep: a chain of a thousand links is a world like any other, on the stack that a program has by default.
#include "physics/world.h"

#include "../../scenes/builders.h"

enum { LINKS = 1000, LEVELS_A_LINK = 2 };  // joint and solid

static World open_chain(int links)
{
    Text text = { 0 };
    scene_chain(&text, links);
    World world = { .diags = diag_create() };
    world.sim = sim_load_text("chain.wbt", text.data, text.length, NULL, world.diags);
    text_free(&text);
    CHECK(world.sim != NULL, "loaded");
    world.physics = sim_physics(world.sim);
    return world;
}

static void a_thousand_links_swing(void **state)
{
    (void)state;
    World world = open_chain(LINKS);
    CHECK(diag_total(world.diags, DIAG_WARNING) == 0 && !diag_has_errors(world.diags), "nothing to say");
    CHECK(physics_body_count(world.physics) == LINKS && physics_joint_count(world.physics) == LINKS, "all are there");
    world_step(&world, 10);
    // The far end falls freely for 20 ms: g t (t + dt) / 2.
    char last[16];
    snprintf(last, sizeof last, "L%d", LINKS - 1);
    CHECK_NEAR(world_position(&world, last).z, -9.81 * 0.02 * 0.022 / 2, 1e-6, "the far end");
    const char *folder = support_scratch("deep");
    char path[512];
    snprintf(path, sizeof path, "%s/saved.wbt", folder);
    CHECK(sim_save(world.sim, path), "saved");
    World again = { .diags = diag_create() };
    again.sim = sim_load(path, NULL, again.diags);
    CHECK(again.sim && !diag_has_errors(again.diags), "opened again");
    again.physics = sim_physics(again.sim);
    CHECK_NEAR(vec3_distance(world_position(&again, last), world_position(&world, last)), 0.0, 1e-9, "as it was");
    world_close(&again);
    CHECK(sim_reset(world.sim), "reset");
    world_close(&world);
}

static void what_is_deeper_is_left_out(void **state)
{
    (void)state;
    int most = (int)limits_default.nesting / LEVELS_A_LINK;
    World world = open_chain(most + 10);
    CHECK(diag_total(world.diags, DIAG_ERROR) == 1, "said once");
    CHECK(world_said(&world, "nested deeper") == 1, "what");
    CHECK(physics_body_count(world.physics) > most - 5 && physics_body_count(world.physics) <= most,
          "the rest is there");
    world_step(&world, 2);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_thousand_links_swing),
                                        cmocka_unit_test(what_is_deeper_is_left_out) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
