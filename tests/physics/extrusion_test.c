// An Extrusion collides as the mesh that it is: a prism of 1 kg comes to rest on its lower end, and what falls on it
// stays there.
#include "world.h"

#define PRISM                                                                                                          \
    "Shape { geometry Extrusion { crossSection [ 0.5 0.5, 0.5 -0.5, -0.5 -0.5, -0.5 0.5, 0.5 0.5 ] spine [ 0 0 0, 0 0 0.4 ] splineSubdivision 0 } }"

static void prisms_come_to_rest(void **state)
{
    (void)state;
    World world = world_open(
        "WorldInfo { basicTimeStep 8 }\nSolid { name \"floor\" boundingObject Plane { } }\n"
        "Solid { name \"prism\" translation 0 0 0.2 boundingObject " PRISM " physics Physics { density -1 mass 1 } }\n"
        "Solid { name \"ball\" translation 0.2 0 1 boundingObject Box { size 0.1 0.1 0.1 } physics Physics { density -1 mass 0.1 } }\n");
    world_step(&world, 250);
    CHECK_NEAR(physics_solid_pose(world.physics, world_solid(&world, "prism")).t.z, 0.0, 2e-3,
               "the prism's own height above the floor");
    CHECK_NEAR(physics_solid_pose(world.physics, world_solid(&world, "ball")).t.z, 0.45, 3e-3, "on the upper end");
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(prisms_come_to_rest) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
