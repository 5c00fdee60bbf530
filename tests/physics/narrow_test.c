// The collision pass of a whole world: the same bits for any number of threads, after a reset and from a snapshot, and
// about the contacts that ODE's own narrow phase finds.
#include "physics/physics_internal.h"
#include "physics/world.h"

static const char *const forms[] = {
    "Box { size 0.2 0.2 0.2 }",
    "Sphere { radius 0.1 }",
    "Capsule { radius 0.07 height 0.12 }",
    "Cylinder { radius 0.09 height 0.18 }",
    ("IndexedFaceSet { coord Coordinate { point [ -0.1 -0.1 -0.1, 0.1 -0.1 -0.1, 0 0.1 -0.1, 0 0 0.1 ] } "
     "coordIndex [ 0 2 1 -1 0 1 3 -1 1 2 3 -1 2 0 3 -1 ] }"),
    "Pose { translation 0.05 0 0 children [ Box { size 0.1 0.2 0.15 } ] }",
};

// A heap of every kind of shape between four walls.
static void heap(Text *text, int count)
{
    text_add_string(
        text,
        "WorldInfo { basicTimeStep 8 physicsDisableTime 0.4 physicsDisableLinearThreshold 0.05 physicsDisableAngularThreshold 0.2 }\n"
        "Solid { name \"floor\" boundingObject Plane { } }\n");
    for (int i = 0; i < 4; i++)
        text_printf(text, "Solid { name \"wall %d\" translation %g %g 1 boundingObject Box { size %g %g 2 } }\n", i,
                    i < 2 ? (i ? 0.7 : -0.7) : 0.0, i < 2 ? 0.0 : (i == 2 ? 0.7 : -0.7), i < 2 ? 0.2 : 1.6,
                    i < 2 ? 1.6 : 0.2);
    for (int i = 0; i < count; i++)
        text_printf(
            text,
            "DEF B%d Solid { name \"b%d\" translation %g %g %g rotation 1 0.3 0.2 %g boundingObject %s physics Physics { } }\n",
            i, i, 0.25 * (i % 4 - 1.5) + 0.01 * (i % 7), 0.25 * (i / 4 % 4 - 1.5) + 0.008 * (i % 5),
            0.2 + 0.27 * (i / 16), 0.7 * i, forms[i % COUNT_OF(forms)]);
}

static World open_heap(int count, int threads, const char *stepper)
{
    Text text = { 0 };
    heap(&text, count);
    World world = world_open_with(text.data, &(SimOptions){ .physics.threads = threads, .physics.stepper = stepper });
    text_free(&text);
    return world;
}

static void threads_give_the_same_bits(void **state)
{
    (void)state;
    uint64_t expected = 0;
    static const int threads[] = { 1, 2, 4, 8 };
    for (int i = 0; i < COUNT_OF(threads); i++) {
        World world = open_heap(120, threads[i], NULL);
        world_step(&world, 150);
        uint64_t hash = sim_hash(world.sim);
        if (i == 0)
            expected = hash;
        CHECK(hash == expected, "same hash");
        world_close(&world);
    }
}

static void the_past_of_pairs_is_part_of_the_state(void **state)
{
    (void)state;
    World world = open_heap(60, 1, NULL);
    world_step(&world, 120);
    SimSnapshot snapshot = { 0 };
    sim_snapshot(world.sim, &snapshot);
    world_step(&world, 80);
    uint64_t hash = sim_hash(world.sim);
    World fresh = open_heap(60, 2, NULL);
    CHECK(sim_restore(fresh.sim, &snapshot), "into a world that never ran");
    world_step(&fresh, 80);
    CHECK(sim_hash(fresh.sim) == hash, "the same future");
    CHECK(sim_restore(world.sim, &snapshot), "back");
    world_step(&world, 80);
    CHECK(sim_hash(world.sim) == hash, "the same future again");
    sim_snapshot_free(&snapshot);
    CHECK(sim_reset(world.sim), "reset");
    world_step(&world, 200);
    CHECK(sim_hash(world.sim) == hash, "from the start");
    world_close(&world);
    world_close(&fresh);
}

typedef struct Sum {
    int count;
    double depth;
} Sum;

static Sum contacts_of(const World *world, int shape_a, int shape_b)
{
    int count;
    const PhysicsContact *contacts = physics_contacts(world->physics, &count);
    Sum sum = { 0 };
    for (int i = 0; i < count; i++)
        if (contacts[i].shape[0] == shape_a && contacts[i].shape[1] == shape_b) {
            sum.count++;
            sum.depth = fmax(sum.depth, contacts[i].depth);
        }
    return sum;
}

// One pass of our kernels and one of ODE's over the same places: what touches by more than a little does so in both.
static void the_same_pairs_touch_as_in_ode(void **state)
{
    (void)state;
    World ours = open_heap(60, 1, NULL), theirs = open_heap(60, 1, "ode-exact");
    int checked = 0, different = 0;
    for (int round = 0; round < 20; round++) {
        world_step(&ours, 10);
        for (int i = 0; i < physics_solid_count(ours.physics); i++)
            if (physics_solid_body(ours.physics, i) >= 0) {
                physics_solid_set_pose(theirs.physics, i, physics_solid_pose(ours.physics, i));
                physics_solid_set_velocity(theirs.physics, i, VEC3_ZERO, VEC3_ZERO);
            }
        physics_collide(theirs.physics);
        for (int a = 0; a < ours.physics->shape_count; a++)
            for (int b = a + 1; b < ours.physics->shape_count; b++) {
                Sum x = contacts_of(&ours, a, b), y = contacts_of(&theirs, a, b);
                if (x.count + y.count == 0)
                    continue;
                checked++;
                bool is_slight = x.depth < 2e-3 && y.depth < 2e-3;
                different += !is_slight && fabs(x.depth - y.depth) > 2e-3 + 0.25 * fmax(x.depth, y.depth);
            }
    }
    CHECK(checked > 1000, "enough pairs");
    // Deep inside each other there is more than one way out; that happens to few.
    CHECK(different * 50 < checked, "the same depth");
    world_close(&ours);
    world_close(&theirs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_give_the_same_bits),
        cmocka_unit_test(the_past_of_pairs_is_part_of_the_state),
        cmocka_unit_test(the_same_pairs_touch_as_in_ode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
