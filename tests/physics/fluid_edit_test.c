// Fluids that change while the world runs: a cork follows the surface wherever it goes, asleep or not.
#include "world.h"

static const char pool[] =
    "WorldInfo { basicTimeStep 8 physicsDisableTime 0.3 physicsDisableLinearThreshold 0.05 physicsDisableAngularThreshold 0.05 }\n"
    "Solid { name \"bottom\" translation 0 0 -6 boundingObject Box { size 10 10 1 } }\n"
    "DEF FRAME Pose { children [ DEF POOL Fluid { boundingObject DEF SHAPE Box { size 4 4 2 } density 1000 } ] }\n"
    "Solid { name \"cork\" translation 0 0 0.95 immersionProperties ImmersionProperties { fluidName \"fluid\" }\n"
    "  boundingObject Box { size 0.2 0.2 0.2 } physics Physics { density 500 damping Damping { linear 0.9 angular 0.9 } } }\n";

// Where the cork, half as dense as the fluid, is some time after a change.
static const struct {
    const char *name, *def, *field;
    Vec3 value;
    double level;
} cases[] = {
    { "moved up", "POOL", "translation", { 0, 0, 0.4 }, 1.4 },
    { "moved down", "POOL", "translation", { 0, 0, -1.2 }, -0.2 },
    { "moved aside", "POOL", "translation", { 9, 0, 0 }, -5.4 },
    { "its frame moved", "FRAME", "translation", { 0, 0, -1.2 }, -0.2 },
    { "half as high", "SHAPE", "size", { 4, 4, 1 }, 0.5 },
    { "higher", "SHAPE", "size", { 4, 4, 3 }, 1.5 },
};

static void corks_follow_the_surface(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(cases); i++) {
        World world = world_open(pool);
        world_step(&world, 500);
        CHECK_NEAR(world_position(&world, "cork").z, 1.0, 1e-2, "it floats");
        SceneNode *node = scene_find_def(sim_scene(world.sim), cases[i].def);
        scene_set_vec3(sim_scene(world.sim), node, cases[i].field, cases[i].value);
        physics_field_changed(world.physics, node, cases[i].field);
        world_step(&world, 1500);
        CHECK_NEAR(world_position(&world, "cork").z, cases[i].level, 2e-2, cases[i].name);
        world_close(&world);
    }
}

// A tide that moves in every step makes no new shapes.
static void tides_cost_no_shapes(void **state)
{
    (void)state;
    World world = world_open(pool);
    SceneNode *node = scene_find_def(sim_scene(world.sim), "POOL");
    int shapes = physics_shape_count(world.physics);
    for (int i = 0; i < 1000; i++) {
        scene_set_vec3(sim_scene(world.sim), node, "translation", vec3(0, 0, 0.0005 * i));
        physics_field_changed(world.physics, node, "translation");
        world_step(&world, 1);
    }
    CHECK(physics_shape_count(world.physics) == shapes, "the same shapes");
    world_step(&world, 500);
    CHECK_NEAR(world_position(&world, "cork").z, 1.4995, 2e-2, "risen with the tide");
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corks_follow_the_surface),
        cmocka_unit_test(tides_cost_no_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
