// Thousands of bodies in one place: what a pass may hold is bounded, said once, and the world goes on with finite
// numbers. Limits are given small here, so that a few hundred bodies are too many; at the limit nothing is left out.
#include "base/limits.h"
#include "world.h"

enum { BODIES = 300 };

static World open_heap(const char *stepper, int threads, const Limits *limits)
{
    Text text = { 0 };
    char line[256];
    text_add_string(&text,
                    "WorldInfo { basicTimeStep 16 }\nSolid { name \"floor\" boundingObject Plane { size 50 50 } }\n");
    for (int i = 0; i < BODIES; i++) {
        snprintf(
            line, sizeof line,
            "Solid { name \"b%d\" translation 0 0 2 boundingObject Box { size 1 1 1 } physics Physics { density 1 } }\n",
            i);
        text_add_string(&text, line);
    }
    // One that lies on the floor by itself, and is in nobody's way.
    text_add_string(
        &text,
        "Solid { name \"alone\" translation 20 0 0.499 boundingObject Box { size 1 1 1 } physics Physics { density 1 } }\n");
    World world = world_open_with(
        text.data, &(SimOptions){ .physics = { .stepper = stepper, .threads = threads, .limits = limits } });
    text_free(&text);
    return world;
}

static int contacts_of(const World *world, int solid)
{
    int count, found = 0;
    const PhysicsContact *contacts = physics_contacts(world->physics, &count);
    for (int i = 0; i < count; i++)
        found += physics_contact_solid(world->physics, &contacts[i], 0) == solid
                 || physics_contact_solid(world->physics, &contacts[i], 1) == solid;
    return found;
}

static const struct {
    const char *name, *stepper;
    int64_t pairs, per_body, contacts, contacts_per_body;
    bool is_thinned;
} cases[] = {
    { "neighbours", "talus", 5000, 20, 1000000, 64, true },
    { "points", "talus", 1000000, 128, 5000, 16, true },
    { "both", "talus", 5000, 20, 2000, 16, true },
    { "points of ODE's kernels", "ode-quick", 1000000, 128, 2000, 8, true },
    { "no more than there may be", "talus", BODIES *(BODIES + 1) / 2 + 1, 1, 1000000, 1, false },
};

static void heaps_are_thinned(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Limits limits = limits_default;
        limits.pairs = cases[i].pairs, limits.pairs_per_body = cases[i].per_body;
        limits.contacts = cases[i].contacts, limits.contacts_per_body = cases[i].contacts_per_body;
        World world = open_heap(cases[i].stepper, 1, &limits);
        int count;
        physics_contacts(world.physics, &count);
        // A share may be passed by the points of one pair, and is each side's.
        int64_t most = BODIES * (cases[i].contacts_per_body + limits.contacts_per_pair) + 64;
        CHECK(world_said(&world, "stand in one another") == cases[i].is_thinned, cases[i].name);
        CHECK(!cases[i].is_thinned || cases[i].contacts == 1000000 || count <= most, cases[i].name);
        CHECK(physics_statistics(world.physics).pairs
                  <= (cases[i].pairs < BODIES * BODIES / 2 ? BODIES * (cases[i].per_body + 1) + 8 : 1000000),
              cases[i].name);
        CHECK(contacts_of(&world, world_solid(&world, "alone")) >= 4, "who touches few others keeps them");
        world_step(&world, 5);
        CHECK(world_said(&world, "stand in one another") == cases[i].is_thinned, "said once");
        for (int k = 0; k < physics_solid_count(world.physics); k++)
            CHECK(pose_is_finite(physics_solid_pose(world.physics, k)), "finite");
        CHECK_NEAR(world_position(&world, "alone").z, 0.499, 2e-3, cases[i].name);
        world_close(&world);
    }
}

// Which are left out does not depend on who looks for them.
static void threads_thin_the_same(void **state)
{
    (void)state;
    uint64_t hashes[3];
    for (int i = 0; i < COUNT_OF(hashes); i++) {
        Limits limits = limits_default;
        limits.pairs = 1000, limits.pairs_per_body = 20;  // even the search stops: it may find 8000 of 45 000
        World world = open_heap("talus", i == 0 ? 1 : 2 * i, &limits);
        world_step(&world, 10);
        hashes[i] = sim_hash(world.sim);
        world_close(&world);
    }
    CHECK(hashes[0] == hashes[1] && hashes[0] == hashes[2], "one, two and four threads");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heaps_are_thinned),
        cmocka_unit_test(threads_thin_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
