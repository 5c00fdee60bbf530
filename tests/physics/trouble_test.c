// States that leave the finite: caught in their step, named, and stopped or isolated. And scenes that broke others.
#include "physics/ode/ode.h"
#include "physics/ode/layout.h"
#include "physics/world.h"

#include <math.h>

#define FLOOR "Solid { name \"floor\" boundingObject Plane { } }\n"
static const char two_boxes[] =
    "WorldInfo { basicTimeStep 8 } " FLOOR
    "DEF BAD Solid { name \"bad\" translation 0 0 5 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } }"
    "DEF GOOD Solid { name \"good\" translation 3 0 1 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } }";

static void poison_force(World *world, int solid) { dBodyAddForce(physics_ode_body(world->physics, solid), NAN, 0, 0); }
static void poison_velocity(World *world, int solid)
{
    dBodySetLinearVel(physics_ode_body(world->physics, solid), NAN, 0, 0);
}
static void poison_speed(World *world, int solid)
{
    dBodySetLinearVel(physics_ode_body(world->physics, solid), 0, 0, 1e8);
}
static void poison_torque(World *world, int solid)
{
    dBodyAddTorque(physics_ode_body(world->physics, solid), 0, INFINITY, 0);
}

static const struct {
    const char *name;
    void (*poison)(World *world, int solid);
    const char *words;
    bool freezes;
} poisons[] = {
    { "force", poison_force, "force or torque on 'BAD' is not finite", false },
    { "torque", poison_torque, "force or torque on 'BAD' is not finite", false },
    { "velocity", poison_velocity, "pose or velocity on 'BAD' is not finite", false },
    { "speed", poison_speed, "'BAD': its speed exploded in the step to 0.088 s", true },
};

static void stopping_names_the_body_and_its_last_state(void **state)
{
    (void)state;
    for (const char *const *stepper = physics_stepper_names(); *stepper; stepper++)
        for (int i = 0; i < COUNT_OF(poisons); i++) {
            World world = world_open_with(two_boxes, &(SimOptions){ .physics.stepper = *stepper });
            world_step(&world, 10);
            poisons[i].poison(&world, world_solid(&world, "BAD"));
            CHECK(!sim_step(world.sim), poisons[i].name);
            CHECK(sim_failure(world.sim) && !sim_step(world.sim), "and it stays stopped");
            if (world_said(&world, poisons[i].words) != 1)
                diag_print(world.diags, stderr, 0, DIAG_NOTE);
            CHECK(world_said(&world, poisons[i].words) == 1, poisons[i].name);
            CHECK(pose_is_finite(physics_solid_pose(world.physics, world_solid(&world, "BAD"))),
                  "what can be read is finite");
            CHECK(sim_reset(world.sim), "reset");
            world_step(&world, 20);
            world_close(&world);
        }
}

static void solids_that_start_inside_each_other_are_said(void **state)
{
    (void)state;
    World world = world_open(
        "WorldInfo { } " FLOOR
        "DEF SUNK Solid { name \"sunk\" translation 0 0 0 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } }"
        "DEF SET Solid { name \"set\" translation 3 0 0.09 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } }");
    world_step(&world, 3);
    CHECK(world_said(&world, "'SUNK' starts 0.1 m inside 'floor'") == 1, "the deep one, once");
    CHECK(world_said(&world, "'SET'") == 0, "not the one that is set down");
    world_close(&world);
}

static void joints_that_start_beyond_their_stops_are_said(void **state)
{
    (void)state;
#define ON_HINGE(name, position)                                                                                       \
    "Robot { name \"" name "\" children [ HingeJoint { jointParameters HingeJointParameters { minStop -2 maxStop 2 "   \
    "position " position " } endPoint Solid { name \"" name                                                            \
    " arm\" boundingObject Box { } physics Physics { } } } ] }"
    World world = world_open_with("WorldInfo { } " ON_HINGE("leaning", "-2.000002") ON_HINGE("bent", "2.5"), NULL);
    CHECK(world_said(&world, "position 2.5 is outside the stops -2 and 2") == 1, "the one that is beyond");
    CHECK(world_said(&world, "outside the stops") == 1, "not the one that was saved as it leaned on its stop");
    world_close(&world);
}

static void freezing_isolates_the_body(void **state)
{
    (void)state;
    for (const char *const *stepper = physics_stepper_names(); *stepper; stepper++)
        for (int i = 0; i < COUNT_OF(poisons); i++) {
            World world = world_open_with(
                two_boxes, &(SimOptions){ .physics = { .nan_policy = PHYSICS_NAN_FREEZE, .stepper = *stepper } });
            world_step(&world, 10);
            Vec3 before = world_position(&world, "BAD");
            poisons[i].poison(&world, world_solid(&world, "BAD"));
            world_step(&world, 200);
            CHECK(physics_statistics(world.physics).frozen == poisons[i].freezes, poisons[i].name);
            if (poisons[i].freezes)
                CHECK_NEAR(vec3_distance(world_position(&world, "BAD"), before), 0, 1e-12,
                           "stays at its last finite place");
            CHECK_NEAR(world_position(&world, "GOOD").z, 0.1, 0.01, "the others go on");
            world_close(&world);
        }
}

static void poses_and_forces_from_outside_are_checked(void **state)
{
    (void)state;
    World world = world_open(two_boxes);
    int bad = world_solid(&world, "BAD");
    CHECK(!physics_solid_add_force(world.physics, bad, vec3(NAN, 0, 0)), "force");
    CHECK(!physics_solid_add_torque(world.physics, bad, vec3(0, INFINITY, 0)), "torque");
    Vec3 before = world_position(&world, "BAD");
    physics_solid_set_pose(world.physics, bad, (Pose){ vec3(NAN, 0, 0), QUAT_IDENTITY });
    physics_solid_set_pose(world.physics, bad, (Pose){ vec3(1e300, 0, 0), QUAT_IDENTITY });
    physics_solid_set_velocity(world.physics, bad, vec3(0, NAN, 0), VEC3_ZERO);
    CHECK(vec3_is_equal(world_position(&world, "BAD"), before), "stays");
    world_step(&world, 5);
    world_close(&world);
}

// Rows of reference/robustness.md 2.1 and 2.2 that are about motion: each loads and runs in bounded time, ending
// finite.
static const struct {
    const char *name, *nodes;
    bool complains, breaks_ode;
} hard_scenes[] = {
    // breaks_ode: its LDL' meets a zero and ends the program
    { "C03 odd solver parameters",
      "WorldInfo { CFM 0 ERP 0 } " FLOOR
      "Solid { name \"b\" translation 0 0 1 boundingObject Box { } physics Physics { } }",
      true },
    { "C03 odd solver parameters",
      "WorldInfo { CFM 1e300 ERP 1 } " FLOOR
      "Solid { name \"b\" translation 0 0 1 boundingObject Box { } physics Physics { } }",
      true },
    { "C05 too few heights",
      "WorldInfo { } Solid { name \"g\" boundingObject ElevationGrid { xDimension 4 yDimension 4 height [ 0 0 0 ] } } "
      "Solid { name \"b\" translation 1.5 1.5 1 boundingObject Sphere { radius 0.3 } physics Physics { } }",
      true },
    { "C05 too many heights",
      "WorldInfo { } Solid { name \"g\" boundingObject ElevationGrid { xDimension 2 yDimension 2 height [ 0 0 0 0 7 8 9 ] } } "
      "Solid { name \"b\" translation 0.5 0.5 1 boundingObject Sphere { radius 0.3 } physics Physics { } }",
      true },
    { "C07 shape without geometry",
      "WorldInfo { } Solid { name \"b\" boundingObject Shape { } physics Physics { density -1 mass 1 } }", true },
    { "C09 bounding object by USE",
      "WorldInfo { } Solid { name \"f\" children [ Group { children [ Solid { name \"floor\" boundingObject Plane { } } ] } ] } "
      "Robot { name \"r\" translation 0 0 1 boundingObject Box { size 0.1 0.1 0.1 } physics Physics { } children [ SliderJoint { jointParameters JointParameters { } endPoint Solid { name \"e\" "
      "children [ DEF S Shape { geometry Box { size 0.1 0.1 0.1 } } ] boundingObject USE S physics Physics { } } } ] }",
      false },
    { "C19 no size",
      "WorldInfo { } Solid { name \"b\" boundingObject Box { size 0 1 1 } physics Physics { density -1 mass 1 } }",
      true },
    { "C21 flat mesh with explicit mass",
      "WorldInfo { } " FLOOR
      "Solid { name \"b\" translation 0 0 1 boundingObject IndexedFaceSet { coord Coordinate { point [ 0 0 0, 1 0 0, 0 1 0 ] } "
      "coordIndex [ 0 1 2 -1 ] } physics Physics { density -1 mass 3 centerOfMass [ 0.3 0.3 0 ] inertiaMatrix [ 1 1 1, 0 0 0 ] } }",
      false },
    { "C25 strange rotations",
      "WorldInfo { } Solid { name \"b\" rotation 0 0 0 1e300 boundingObject Box { } physics Physics { } } "
      "Solid { name \"c\" translation 9 0 0 rotation 1e200 1e200 0 3 boundingObject Box { } physics Physics { } }",
      true },
    { "C37 grid with physics",
      "WorldInfo { } Solid { name \"b\" boundingObject ElevationGrid { xDimension 2 yDimension 2 height [ 0 0 0 0 ] } physics Physics { density -1 mass 1 } }",
      true },
    { "C51 huge grid",
      "WorldInfo { } Solid { name \"b\" boundingObject ElevationGrid { xDimension 2 yDimension 2 xSpacing 1e308 ySpacing 1e308 height [ 0 0 0 0 ] } } "
      "Solid { name \"c\" translation 0 0 1 boundingObject Sphere { } physics Physics { } }",
      true },
    { "C53 tiny mass",
      "WorldInfo { } Solid { name \"b\" boundingObject Box { } physics Physics { density -1 mass 1e-300 } }", true },
    { "C57 mesh of nothing",
      "WorldInfo { } " FLOOR
      "Solid { name \"b\" translation 0 0 1 boundingObject IndexedFaceSet { coord Coordinate { point [ 0 0 0, 1 0 0, 2 0 0 ] } "
      "coordIndex [ 0 1 2 -1 0 0 0 -1 7 8 9 -1 ] } physics Physics { density -1 mass 1 } }",
      true },
    { "C67 one by one grid",
      "WorldInfo { } Solid { name \"b\" boundingObject ElevationGrid { xDimension 1 yDimension 1 height [ 0 ] } }",
      true },
    { "C75 mass ratio",
      "WorldInfo { basicTimeStep 8 } " FLOOR
      "Solid { name \"light\" translation 0 0 0.5 boundingObject Box { size 1 1 1 } physics Physics { density -1 mass 1e-3 } } "
      "Solid { name \"heavy\" translation 0 0 1.5 boundingObject Box { size 1 1 1 } physics Physics { density -1 mass 1e6 } }",
      false },
    { "C75 coincident bodies",
      "WorldInfo { } " FLOOR
      "Solid { name \"a\" translation 0 0 1 boundingObject Box { size 1 1 1 } physics Physics { } } "
      "Solid { name \"b\" translation 0 0 1 boundingObject Box { size 1 1 1 } physics Physics { } } Solid { name \"c\" translation 0 0 1 boundingObject Sphere { radius 0.5 } physics Physics { } } "
      "Solid { name \"d\" translation 0 0 1 boundingObject Sphere { radius 0.5 } physics Physics { } }",
      false },
    { "C75 inside the terrain",
      "WorldInfo { } Solid { name \"g\" translation -2 -2 0 boundingObject ElevationGrid { xDimension 5 yDimension 5 height [ 1 2 1 2 1 2 1 2 1 2 1 2 1 2 1 2 1 2 1 2 1 2 1 2 1 ] thickness 5 } } "
      "Solid { name \"b\" boundingObject Sphere { radius 0.3 } physics Physics { } }",
      false },
    { "a tower at 1000 ms",
      "WorldInfo { basicTimeStep 1000 } " FLOOR
      "Solid { name \"a\" translation 0 0 0.1 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } } "
      "Solid { name \"b\" translation 0 0 0.3 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } }",
      false },
    { "a step of 0.1 ms",
      "WorldInfo { basicTimeStep 0.1 } " FLOOR
      "Solid { name \"a\" translation 0 0 0.1 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } }",
      false },
    { "gravity beyond its bound",
      "WorldInfo { gravity 1e12 } " FLOOR
      "Solid { name \"a\" translation 0 0 0.1 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } }",
      true },
    { "inertia almost singular",
      "WorldInfo { } " FLOOR
      "Solid { name \"a\" translation 0 0 1 rotation 1 1 0 0.5 boundingObject Box { size 0.2 0.2 0.2 } "
      "physics Physics { density -1 mass 1 centerOfMass [ 0 0 0 ] inertiaMatrix [ 1e-9 1 1, 0 0 0 ] } }",
      false },
    { "a motor, spring and damper of 1e12",
      "WorldInfo { } " FLOOR
      "Robot { controller \"<none>\" translation 0 0 1 boundingObject Box { size 0.3 0.3 0.3 } physics Physics { } children [ "
      "HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 position 0.5 springConstant 1e12 dampingConstant 1e12 } device RotationalMotor { maxTorque 1e12 maxVelocity 1000 } "
      "endPoint Solid { translation 0.4 0 0 rotation 0 1 0 0.5 name \"e\" boundingObject Box { size 0.5 0.1 0.1 } physics Physics { } } } ] }",
      false },
    { "an anchor 1 km away",
      "WorldInfo { } " FLOOR
      "Robot { controller \"<none>\" translation 0 0 1 boundingObject Box { size 0.3 0.3 0.3 } physics Physics { } children [ "
      "HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 anchor 1000 0 0 } endPoint Solid { translation 0.4 0 0 name \"e\" boundingObject Box { size 0.5 0.1 0.1 } "
      "physics Physics { } } } ] }",
      false },
    { "bodies of a tenth of a millimetre",
      "WorldInfo { basicTimeStep 8 } " FLOOR
      "Solid { name \"a\" translation 0 0 5e-5 boundingObject Box { size 1e-4 1e-4 1e-4 } physics Physics { density -1 mass 1e-9 } } "
      "Solid { name \"b\" translation 0 0 1.5e-4 boundingObject Box { size 1e-4 1e-4 1e-4 } physics Physics { density -1 mass 1e-9 } }",
      false, true },
    { "a step of a millionth",
      "WorldInfo { basicTimeStep 1e-9 } Solid { name \"b\" boundingObject Box { } physics Physics { } }", true },
    { "a solid far out",
      "WorldInfo { } Solid { name \"b\" translation 1e300 0 0 boundingObject Box { } physics Physics { } }", true },
    { "a solid in a bounding object",
      "WorldInfo { } Solid { name \"a\" physics Physics { } children [ DEF B Group { children [ Solid { name \"b\" physics Physics { } } ] } ] boundingObject USE B }",
      true },
};

static void hard_scenes_end_finite(void **state)
{
    (void)state;
    for (const char *const *stepper = physics_stepper_names(); *stepper; stepper++)
        for (int i = 0; i < COUNT_OF(hard_scenes); i++) {
            if (hard_scenes[i].breaks_ode && strcmp(*stepper, "talus"))
                continue;
            World world = world_open_with(
                hard_scenes[i].nodes,
                &(SimOptions){ .physics = { .nan_policy = PHYSICS_NAN_FREEZE, .stepper = *stepper } });
            bool has_complained = diag_total(world.diags, DIAG_WARNING) + diag_total(world.diags, DIAG_ERROR) > 0;
            if (has_complained != hard_scenes[i].complains)
                diag_print(world.diags, stderr, 0, DIAG_NOTE);
            CHECK(has_complained == hard_scenes[i].complains, hard_scenes[i].name);
            world_step(&world, 200);
            for (int k = 0; k < physics_solid_count(world.physics); k++)
                CHECK(pose_is_finite(physics_solid_pose(world.physics, k)), hard_scenes[i].name);
            world_close(&world);
        }
}

// An ODE library whose inside cannot be read: once somebody is given its objects, its own exact step is used, and said
// once.
static void an_unreadable_ode_steps_by_itself(void **state)
{
    (void)state;
    ode_layout_pretend("its lists of bodies and joints were not found");
    World world = world_open_with(two_boxes, NULL),
          exact = world_open_with(two_boxes, &(SimOptions){ .physics.stepper = "ode-exact" });
    CHECK(world_said(&world, "cannot work with this ODE library") == 0, "a plain world asks nothing of ODE");
    physics_ode_hand_out(world.physics, PHYSICS_REACHES_ALL);
    world_step(&world, 1);
    world_step(&exact, 1);
    CHECK(world_said(&world, "the stepper 'talus' cannot work with this ODE library") == 1, "the reason is told");
    world_step(&world, 60);
    world_step(&exact, 60);
    CHECK_NEAR(world_position(&world, "GOOD").z, world_position(&exact, "GOOD").z, 1e-12, "as with ode-exact");
    CHECK(sim_reset(world.sim), "reset");
    world_step(&world, 61);
    CHECK_NEAR(world_position(&world, "GOOD").z, world_position(&exact, "GOOD").z, 1e-12, "and after a reset");
    world_close(&world);
    world_close(&exact);
    ode_layout_pretend(NULL);
}

// A centre of mass that no number can carry is ignored, of a mass alone and beside an inertia; at the limit it counts.
static void centers_of_mass_have_a_limit(void **state)
{
    (void)state;
    static const char *const more[] = { "", "inertiaMatrix [ 1 1 1, 0 0 0 ]" };
    static const struct {
        double center[3];
        int said;
    } rows[] = {
        { { 0, 0, -1e308 }, 1 }, { { 0, 1.1e9, 0 }, 1 }, { { 1e300, 1e300, 1e300 }, 1 }, { { 0, 1e9, 0 }, 0 }
    };
    for (int i = 0; i < COUNT_OF(rows) * COUNT_OF(more); i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "WorldInfo { } DEF FAR Solid { name \"far\" boundingObject Box { } physics DEF PHYSICS Physics { "
                 "mass 2 density -1 centerOfMass [ 0 0 0 ] %s } }",
                 more[i % COUNT_OF(more)]);
        World world = world_open(text);
        SceneNode *physics = scene_find_def(sim_scene(world.sim), "PHYSICS");
        double center[3];
        memcpy(center, rows[i / COUNT_OF(more)].center, sizeof center);
        FieldList list = { .count = 1, .numbers = center };
        sim_set_value(world.sim, physics, schema_field(physics->type, "centerOfMass"), (FieldValue){ .list = &list });
        CHECK((world_said(&world, "centerOfMass of 'FAR' is more than 1e+09 m away") > 0)
                  == rows[i / COUNT_OF(more)].said,
              text);
        world_step(&world, 5);
        CHECK(pose_is_finite(physics_solid_pose(world.physics, world_solid(&world, "FAR"))), text);
        world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stopping_names_the_body_and_its_last_state),
        cmocka_unit_test(solids_that_start_inside_each_other_are_said),
        cmocka_unit_test(joints_that_start_beyond_their_stops_are_said),
        cmocka_unit_test(freezing_isolates_the_body),
        cmocka_unit_test(poses_and_forces_from_outside_are_checked),
        cmocka_unit_test(hard_scenes_end_finite),
        cmocka_unit_test(centers_of_mass_have_a_limit),
        cmocka_unit_test(an_unreadable_ode_steps_by_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
