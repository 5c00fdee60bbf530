// A pinned robot is part of the state: snapshots keep it, a restore brings it back or takes it away, removing it is
// safe.
#include "physics/fittings/fittings.h"
#include "physics/world.h"

#define ROBOT                                                                                                                                   \
    "WorldInfo { basicTimeStep 8 }\n"                                                                                                           \
    "DEF R Robot { name \"r\" translation 0 0 5 controller \"<none>\" boundingObject Box { size 0.2 0.3 0.1 } physics Physics { } children [\n" \
    "HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 } endPoint DEF ARM Solid { name \"arm\" translation 0.4 0 0\n"              \
    "boundingObject Box { size 0.5 0.05 0.05 } physics Physics { } } } ] }\n"

static void snapshots_hold_pins(void **state)
{
    (void)state;
    for (const char *const *stepper = physics_stepper_names(); *stepper; stepper++) {
        World world = world_open_with(ROBOT, &(SimOptions){ .physics.stepper = *stepper });
        int robot = world_solid(&world, "R");
        SimSnapshot free_falling = { 0 }, hanging = { 0 };
        world_step(&world, 10);
        sim_snapshot(world.sim, &free_falling);
        double z = world_position(&world, "R").z;
        physics_robot_pin(world.physics, robot, true);
        assert_true(physics_robot_is_pinned(world.physics, robot));
        world_step(&world, 100);
        CHECK_NEAR(world_position(&world, "R").z, z, 0.02, *stepper);
        sim_snapshot(world.sim, &hanging);
        world_step(&world, 100);
        uint64_t hash = sim_hash(world.sim);
        physics_robot_pin(world.physics, robot, false);
        world_step(&world, 100);
        assert_true(world_position(&world, "R").z < z - 1.0);
        // The swinging arm goes on to the last bit as it did.
        assert_true(sim_restore(world.sim, &hanging));
        assert_true(physics_robot_is_pinned(world.physics, robot));
        world_step(&world, 100);
        CHECK(sim_hash(world.sim) == hash, *stepper);
        assert_true(sim_restore(world.sim, &free_falling));
        assert_false(physics_robot_is_pinned(world.physics, robot));
        world_step(&world, 100);
        assert_true(world_position(&world, "R").z < z - 1.0);
        sim_snapshot_free(&free_falling);
        sim_snapshot_free(&hanging);
        world_close(&world);
    }
}

static void pinned_robots_can_go(void **state)
{
    (void)state;
    World world = world_open(ROBOT);
    physics_robot_pin(world.physics, world_solid(&world, "R"), true);
    world_step(&world, 5);
    assert_true(sim_remove(world.sim, scene_find_def(sim_scene(world.sim), "R")));
    world_step(&world, 5);
    assert_true(sim_reset(world.sim));
    world.physics = sim_physics(world.sim);
    assert_false(physics_robot_is_pinned(world.physics, world_solid(&world, "R")));
    world_step(&world, 100);
    assert_true(world_position(&world, "R").z < 4.0);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(snapshots_hold_pins),
        cmocka_unit_test(pinned_robots_can_go),
    };
    return cmocka_run_group_tests_name("physics.pin", tests, NULL, NULL);
}
