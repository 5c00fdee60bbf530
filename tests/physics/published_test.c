// Small published scenes of solids without joints, driven through the C API: order of events and numbers as documented.
#include "physics/world.h"

#include <math.h>

// damping: four balls fall; the default, a smaller, an equal and a larger damping of their own. The less damped one
// lands first, those with equal damping in the same step, the most damped one last.
static void damped_balls_land_in_order(void **state)
{
    (void)state;
    World world = world_open(
        "WorldInfo { basicTimeStep 32 defaultDamping Damping { linear 0.5 angular 0.5 } }"
        "Solid { name \"floor\" boundingObject Plane { } }"
        "DEF A Solid { name \"a\" translation 0 0 40 boundingObject Sphere { radius 0.5 } physics Physics { } }"
        "DEF B Solid { name \"b\" translation 3 0 40 boundingObject Sphere { radius 0.5 } physics Physics { damping Damping { linear 0.1 angular 0.5 } } }"
        "DEF C Solid { name \"c\" translation 6 0 40 boundingObject Sphere { radius 0.5 } physics Physics { damping Damping { linear 0.5 angular 0.5 } } }"
        "DEF D Solid { name \"d\" translation 9 0 40 boundingObject Sphere { radius 0.5 } physics Physics { damping Damping { linear 0.8 angular 0.5 } } }");
    static const char *const names[] = { "A", "B", "C", "D" };
    int landed[4] = { 0 };
    world_step(&world, 1);
    for (int i = 0; i < 4; i++)
        CHECK(!physics_solid_is_colliding(world.physics, world_solid(&world, names[i])), "in flight");
    for (int step = 1; step < 1000; step++) {
        world_step(&world, 1);
        for (int i = 0; i < 4; i++)
            if (!landed[i] && physics_solid_is_colliding(world.physics, world_solid(&world, names[i])))
                landed[i] = step;
    }
    CHECK(landed[1] > 0 && landed[1] < landed[0], "the least damped first");
    CHECK(landed[0] == landed[2], "equal damping, equal step");
    CHECK(landed[3] > landed[0], "the most damped last");
    world_close(&world);
}

// kinematic_geometry_update: a body sleeps on a box without physics; the box shrinks; within 512 ms the body has moved.
static void a_changed_support_wakes(void **state)
{
    (void)state;
    World world = world_open(
        "WorldInfo { basicTimeStep 32 }"
        "DEF TABLE Solid { name \"table\" boundingObject DEF TOP Box { size 1 1 1 } }"
        "DEF B Solid { name \"b\" translation 0 0 0.7 boundingObject Sphere { radius 0.2 } physics Physics { density -1 mass 1 } }");
    world_step(&world, 125);
    int b = world_solid(&world, "B");
    CHECK(physics_solid_is_idle(world.physics, b), "asleep");
    Vec3 before = world_position(&world, "B");
    SceneNode *top = scene_find_def(sim_scene(world.sim), "TOP");
    scene_set_vec3(sim_scene(world.sim), top, "size", vec3(1, 1, 0.5));
    sim_field_changed(world.sim, top, "size");
    world_step(&world, 16);
    CHECK(vec3_distance(world_position(&world, "B"), before) > 0.01, "moved");
    world_close(&world);
}

// robot_nested: a robot without physics moves at 1 m/s for one step of 16 ms and takes the robot in it along.
static void nested_robots_move_along(void **state)
{
    (void)state;
    World world = world_open(
        "WorldInfo { basicTimeStep 16 } DEF OUTER Robot { name \"outer\" children [ DEF INNER Robot { name \"inner\" translation 0 1 0 children [ "
        "DEF WELDED Solid { name \"w\" translation 0 0 1 boundingObject Sphere { radius 0.1 } physics Physics { } } ] } ] }");
    physics_solid_set_velocity(world.physics, world_solid(&world, "OUTER"), vec3(1, 0, 0), VEC3_ZERO);
    world_step(&world, 1);
    CHECK_NEAR(world_position(&world, "INNER").x, 0.016, 1e-15, "inner");
    CHECK_NEAR(world_position(&world, "WELDED").x, 0.016, 1e-6, "a body that is welded to it");
    world_step(&world, 99);
    CHECK_NEAR(world_position(&world, "INNER").x, 1.6, 1e-12, "inner, later");
    CHECK_NEAR(world_position(&world, "WELDED").x, 1.6, 1e-4, "welded, later");
    CHECK_NEAR(world_position(&world, "WELDED").z, 1, 1e-3, "welded, not fallen");
    world_close(&world);
}

// hidden_parameter_single: a hidden velocity acts from the first step.
static void hidden_velocities_act_at_once(void **state)
{
    (void)state;
    World world = world_open(
        "WorldInfo { basicTimeStep 32 gravity 0 } DEF B Solid { translation 0.1 0.1 0.23 rotation 1 0 0 0.47 linearVelocity 0 0.5 0 angularVelocity 0 0 2 "
        "boundingObject Box { size 0.1 0.1 0.1 } physics Physics { } }");
    Pose pose = physics_solid_pose(world.physics, world_solid(&world, "B"));
    CHECK(pose.t.x == 0.1 && pose.t.y == 0.1 && pose.t.z == 0.23, "exact at load");
    CHECK_NEAR(quat_to_rotation(pose.q).angle, 0.47, 1e-15, "rotation at load");
    world_step(&world, 1);
    CHECK_NEAR(world_position(&world, "B").y, 0.116, 1e-12, "moved");
    world_close(&world);
}

// hinge_joint_damping: a door hinged at the top of a static robot falls against a bumper at its foot; the first contact
// comes in exactly the published step for each damping constant.
static void doors_fall_in_their_time(void **state)
{
    (void)state;
    static const struct {
        double damping, time;
    } cases[] = { { 0, 0.48 }, { 1, 0.672 }, { 2, 1.024 } };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char text[2048];
        snprintf(
            text, sizeof text,
            "WorldInfo { basicTimeStep 32 coordinateSystem \"NUE\" }"
            "Robot { controller \"<none>\" selfCollision TRUE boundingObject Box { size 0.2 1 0.2 } children ["
            "  DEF BUMPER TouchSensor { translation 0 -0.45 -0.106 type \"bumper\" boundingObject Box { size 0.1 0.1 0.01 } physics Physics { } }"
            "  HingeJoint { jointParameters HingeJointParameters { axis -1 0 0 anchor 0 0.5 -0.1 dampingConstant %g }"
            "    endPoint DEF DOOR Solid { name \"door\" translation 0 0.55 -0.6 boundingObject Box { size 0.2 0.1 1 } physics Physics { density -1 mass 1 } } } ] }",
            cases[i].damping);
        World world = world_open(text);
        int bumper = world_solid(&world, "BUMPER"), first = 0;
        for (int step = 1; step <= 40 && !first; step++) {
            world_step(&world, 1);
            if (physics_solid_is_colliding(world.physics, bumper))
                first = step;
        }
        CHECK_NEAR(first * 0.032, cases[i].time, 1e-9, "first contact");
        world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doors_fall_in_their_time),      cmocka_unit_test(damped_balls_land_in_order),
        cmocka_unit_test(a_changed_support_wakes),       cmocka_unit_test(nested_robots_move_along),
        cmocka_unit_test(hidden_velocities_act_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
