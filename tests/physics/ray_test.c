// Rays against bounding objects: the tree against asking every shape by itself, ties, and rays that cannot be.
#include "physics/ray.h"

#include "base/random.h"
#include "physics/world.h"

#include <math.h>

static bool is_shape(const Physics *physics, int shape, void *context)
{
    (void)physics;
    return shape == *(const int *)context;
}

static void test_against_every_shape(void **state)
{
    (void)state;
    Random random;
    random_seed(&random, 7, "rays");
    Text text = { 0 };
    text_add_string(&text, "WorldInfo { }\nViewpoint { }\nSolid { name \"floor\" boundingObject Plane { } }\n");
    static const char *const forms[] = { "Box { size 0.3 0.4 0.5 }", "Sphere { radius 0.3 }",
                                         "Capsule { radius 0.1 height 0.5 }", "Cylinder { radius 0.2 height 0.4 }" };
    for (int i = 0; i < 200; i++)
        text_printf(&text, "Solid { name \"s%d\" translation %g %g %g rotation 1 %g 0 %g boundingObject %s %s }\n", i,
                    10 * random_uniform(&random), 10 * random_uniform(&random), 5 + 5 * random_uniform(&random),
                    random_uniform(&random), 3 * random_uniform(&random), forms[i % 4],
                    i % 3 ? "physics Physics { }" : "");
    World world = world_open(text.data);
    text_free(&text);
    int hits = 0;
    for (int step = 0; step < 4; step++) {
        for (int i = 0; i < 100; i++) {
            Vec3 origin = vec3(10 * random_uniform(&random), 10 * random_uniform(&random),
                               10 * random_uniform(&random));
            Vec3 direction = vec3_normalized(
                vec3(random_gaussian(&random), random_gaussian(&random), random_gaussian(&random)));
            PhysicsRayHit hit, alone;
            double nearest = INFINITY;
            int shape = -1;
            for (int k = 0; k < physics_shape_count(world.physics); k++)
                if (physics_ray_cast(world.physics, &(PhysicsRay){ origin, direction, 8.0, is_shape, &k }, &alone)
                    && alone.distance < nearest) {
                    nearest = alone.distance;
                    shape = k;
                }
            bool is_hit = physics_ray_cast(world.physics, &(PhysicsRay){ origin, direction, 8.0 }, &hit);
            assert_int_equal(is_hit, shape >= 0);
            assert_int_equal(hit.shape, shape);
            assert_true(hit.distance == nearest);
            hits += is_hit;
        }
        world_step(&world, 5);  // they fall: boxes move in the tree
    }
    assert_true(hits > 100);
    world_close(&world);
}

static void test_ties_and_nonsense(void **state)
{
    (void)state;
    World world = world_open(
        "WorldInfo { }\nViewpoint { }\nSolid { name \"a\" translation 2 0 0 boundingObject Box { } }\nSolid { name \"b\" translation 2 0 0 boundingObject Box { } }\n");
    PhysicsRayHit hit;
    assert_true(physics_ray_cast(world.physics, &(PhysicsRay){ VEC3_ZERO, vec3(1, 0, 0), 5.0 }, &hit));
    assert_int_equal(hit.shape, 0);
    CHECK_NEAR(hit.distance, 1.0, 1e-12, "box");
    CHECK_NEAR(hit.normal.x, -1.0, 1e-12, "out of the shape");
    assert_false(physics_ray_cast(world.physics, &(PhysicsRay){ VEC3_ZERO, vec3(1, 0, 0), 0.9 }, &hit));
    assert_false(physics_ray_cast(world.physics, &(PhysicsRay){ VEC3_ZERO, vec3(1, 0, 0), 0.0 }, &hit));
    assert_false(physics_ray_cast(world.physics, &(PhysicsRay){ VEC3_ZERO, vec3(1, 0, 0), NAN }, &hit));
    assert_false(physics_ray_cast(world.physics, &(PhysicsRay){ vec3(NAN, 0, 0), vec3(1, 0, 0), 1.0 }, &hit));
    assert_int_equal(hit.shape, -1);
    world_close(&world);
}

// So thin and so far away that ODE finds no normal, and asserts that there is one.
static void test_what_ode_refuses(void **state)
{
    (void)state;
    World world = world_open(
        "WorldInfo { }\nViewpoint { }\nSolid { name \"a\" translation 0 0 1e8 boundingObject Capsule { radius 1e-9 height 1 } }\n"
        "Solid { name \"b\" translation 0 0 99999990 boundingObject Box { } }\n");
    PhysicsRayHit hit;
    assert_true(physics_ray_cast(world.physics, &(PhysicsRay){ vec3(0, 0, 1e8 + 5), vec3(0, 0, -1), 100.0 }, &hit));
    CHECK_NEAR(hit.distance, 14.0, 1e-7, "the box behind it");  // numbers around 1e8 are 1.5e-8 apart
    world_close(&world);
    world = world_open_with("WorldInfo { }\nSolid { boundingObject Capsule { radius 1e-300 } }\n", NULL);
    assert_true(diag_has_errors(world.diags));  // too small to collide
    assert_int_equal(physics_shape_count(world.physics), 0);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_against_every_shape),
                                        cmocka_unit_test(test_ties_and_nonsense),
                                        cmocka_unit_test(test_what_ode_refuses) };
    return cmocka_run_group_tests_name("physics.ray", tests, NULL, NULL);
}
