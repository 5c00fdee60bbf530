// Who sleeps and who wakes: the awake set of awake bodies says what the states say, waking reaches all that it must and
// nothing else, and what slept goes on as if it had not.
#include "physics/contacts/sleep.h"
#include "physics/joints/motor.h"
#include "physics/ode/ode.h"
#include "physics/world.h"

#include <math.h>

#define HEAD "WorldInfo { basicTimeStep 8 physicsDisableTime 0.3 } Solid { name \"floor\" boundingObject Plane { } }\n"

// Towers of two boxes on a grid, and a ball that comes along when it is pushed.
static World open_towers(int side, int threads)
{
    Text text = { 0 };
    text_add_string(&text, HEAD);
    for (int i = 0; i < side * side; i++)
        text_printf(
            &text,
            "DEF A%d Solid { name \"a%d\" translation %g %g 0.05 boundingObject Box { size 0.1 0.1 0.1 } physics Physics { density 200 } }\n"
            "DEF B%d Solid { name \"b%d\" translation %g %g 0.15 boundingObject Box { size 0.1 0.1 0.1 } physics Physics { density 200 } }\n",
            i, i, 0.3 * (i % side), 0.3 * (i / side), i, i, 0.3 * (i % side), 0.3 * (i / side));
    text_add_string(
        &text,
        "DEF BALL Solid { name \"ball\" translation -1 0.3 0.15 boundingObject Sphere { radius 0.15 } physics Physics { density 3000 } }\n");
    World world = world_open_with(text.data, &(SimOptions){ .physics.threads = threads });
    text_free(&text);
    return world;
}

static int awake_count(const World *world)
{
    int count = 0;
    for (int i = 0; i < physics_body_count(world->physics); i++)
        count += !physics_body_is_idle(world->physics, i);
    return count;
}

static void check_book(const World *world)
{
    const Physics *physics = world->physics;
    const Sleep *sleep = physics->sleep;
    sleep_refresh(world->physics);
    int listed = 0, linked = 0;
    for (int i = 0; i < sleep->awake_count; i++)
        listed += !physics->body_states[sleep->awake[i]].is_disabled;
    CHECK(listed == awake_count(world), "all that are awake are listed");
    for (int i = 1; i < sleep->awake_count; i++)
        CHECK(sleep->awake[i - 1] < sleep->awake[i], "once, rising");
    for (int i = 0; i < physics->sleeping_contact_count; i++)
        for (int side = 0; side < 2; side++)
            linked += physics->contacts[i].body[side] >= 0;
    for (int i = 0; i < physics->body_count; i++)
        for (int at = sleep->kept[i]; at >= 0; at = sleep->links[at / 2].next[at % 2]) {
            CHECK(physics->contacts[at / 2].body[at % 2] == i, "links lead to contacts of the body");
            linked--;
        }
    CHECK(linked == 0, "every kept contact is linked");
}

static void the_book_is_right_at_every_step(void **state)
{
    (void)state;
    World world = open_towers(6, 1);
    world_step(&world, 80);
    CHECK(awake_count(&world) == 0, "all asleep");
    physics_solid_set_velocity(world.physics, world_solid(&world, "BALL"), vec3(3, 0.2, 0), VEC3_ZERO);
    int most = 0;
    for (int i = 0; i < 300; i++) {
        world_step(&world, 1);
        most = int_max(most, awake_count(&world));
        check_book(&world);
    }
    CHECK(most >= 6 && most < 60, "what is struck wakes, the far ones sleep on");
    world_close(&world);
}

static void a_run_through_sleepers_repeats(void **state)
{
    (void)state;
    World first = open_towers(6, 1), second = open_towers(6, 2);
    world_step(&first, 80);
    physics_solid_set_velocity(first.physics, world_solid(&first, "BALL"), vec3(3, 0.2, 0), VEC3_ZERO);
    world_step(&first, 60);
    SimSnapshot snapshot = { 0 };
    sim_snapshot(first.sim, &snapshot);
    world_step(&first, 300);
    CHECK(sim_restore(second.sim, &snapshot), "restore");
    world_step(&second, 300);
    CHECK(sim_hash(first.sim) == sim_hash(second.sim), "the same future, with other threads");
    sim_snapshot_free(&snapshot);
    world_close(&first);
    world_close(&second);
}

// The far half of the world does not change what happens in this one: it costs and matters nothing.
static void sleepers_elsewhere_change_nothing(void **state)
{
    (void)state;
    World alone = world_open(
        HEAD
        "DEF S Solid { name \"s\" translation 0 0 0.3 rotation 1 0 0 0.3 boundingObject Box { size 0.1 0.2 0.1 } physics Physics { } }");
    World crowd = world_open(
        HEAD
        "DEF S Solid { name \"s\" translation 0 0 0.3 rotation 1 0 0 0.3 boundingObject Box { size 0.1 0.2 0.1 } physics Physics { } }"
        "Solid { name \"x\" translation 5 0 0.05 boundingObject Box { size 0.1 0.1 0.1 } physics Physics { } }"
        "Solid { name \"y\" translation 6 0 0.05 boundingObject Box { size 0.1 0.1 0.1 } physics Physics { } }");
    world_step(&alone, 60);
    world_step(&crowd, 60);
    Vec3 a = world_position(&alone, "S"), b = world_position(&crowd, "S");
    CHECK(vec3_is_equal(a, b), "the same bits");
    world_close(&alone);
    world_close(&crowd);
}

static void push(World *world) { physics_solid_add_force(world->physics, world_solid(world, "A0"), vec3(50, 0, 0)); }
static void lift(World *world)
{
    physics_solid_set_pose(world->physics, world_solid(world, "A0"), (Pose){ vec3(0, 0, 3), QUAT_IDENTITY });
}
static void move_floor(World *world)
{
    physics_solid_set_pose(world->physics, world_solid(world, "floor"), (Pose){ vec3(0, 0, -1), QUAT_IDENTITY });
}
static void weigh_less(World *world)
{
    SceneNode *info = NULL;
    const FieldList *nodes = scene_list(scene_root(sim_scene(world->sim)), "children");
    for (int i = 0; i < nodes->count && !info; i++)
        if (scene_node_is(scene_list_node(nodes, i), "WorldInfo"))
            info = scene_list_node(nodes, i);
    scene_set_float(sim_scene(world->sim), info, "gravity", -3.0);
    physics_field_changed(world->physics, info, "gravity");
}
static void spin(World *world)
{
    physics_solid_set_velocity(world->physics, world_solid(world, "A0"), VEC3_ZERO, vec3(0, 0, 40));
}
static void twist(World *world) { physics_solid_add_torque(world->physics, world_solid(world, "A0"), vec3(0, 0, 5)); }
static void take_away(World *world)
{
    CHECK(sim_remove(world->sim, physics_solid_node(world->physics, world_solid(world, "A0"))), "removed");
}

// As a plugin does it, through ODE.
static dBodyID body_of(World *world, const char *label)
{
    return physics_ode_body(world->physics, world_solid(world, label));
}
static void plugin_throw(World *world)
{
    dBodyEnable(body_of(world, "A0"));
    dBodySetLinearVel(body_of(world, "A0"), 1, 0, 0);
}
static void plugin_push(World *world)
{
    dBodyEnable(body_of(world, "A0"));
    dBodyAddForce(body_of(world, "A0"), 80, 0, 0);
}
static void plugin_lift(World *world)
{
    dBodyEnable(body_of(world, "A0"));
    dBodySetPosition(body_of(world, "A0"), 0, 0, 3);
}
static void plugin_join(World *world)
{
    dJointID joint = dJointCreateBall(dBodyGetWorld(body_of(world, "A0")), NULL);
    dBodyEnable(body_of(world, "BALL"));
    dBodySetLinearVel(body_of(world, "BALL"), 0, 0, 2);
    dJointAttach(joint, body_of(world, "A0"), body_of(world, "BALL"));
    dJointSetBallAnchor(joint, -0.05, 0, 0.05);
}
static void strike(World *world)
{
    physics_solid_set_pose(world->physics, world_solid(world, "BALL"), (Pose){ vec3(0, 0, 0.4), QUAT_IDENTITY });
    physics_solid_set_velocity(world->physics, world_solid(world, "BALL"), vec3(0, 0, -2), VEC3_ZERO);
}

// What a support does, the box upon it feels, although it slept.
static void every_cause_wakes_what_leans_on_it(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        void (*act)(World *world);
        bool wakes_all;
    } causes[] = {
        { "a force", push, false },
        { "a support taken away", lift, false },
        { "a static solid moved", move_floor, true },
        { "gravity changed", weigh_less, true },
        { "a strike", strike, false },
        { "a velocity", spin, false },
        { "a torque", twist, false },
        { "a support removed from the world", take_away, true },
        { "a velocity by a plugin", plugin_throw, false },
        { "a force by a plugin", plugin_push, false },
        { "a pose by a plugin", plugin_lift, false },
        { "a joint by a plugin", plugin_join, false },
    };
    for (int i = 0; i < COUNT_OF(causes); i++) {
        World world = open_towers(2, 1);
        world_step(&world, 120);
        CHECK(awake_count(&world) == 0, "all asleep");
        Pose before = physics_solid_pose(world.physics, world_solid(&world, "B0"));
        causes[i].act(&world);
        bool was_awake = false, others_awake = false;
        for (int k = 0; k < 30; k++) {
            world_step(&world, 1);
            was_awake |= !physics_solid_is_idle(world.physics, world_solid(&world, "B0"));
            others_awake |= !physics_solid_is_idle(world.physics, world_solid(&world, "B3"));
        }
        CHECK(was_awake, causes[i].name);
        CHECK(others_awake == causes[i].wakes_all, causes[i].name);
        Pose after = physics_solid_pose(world.physics, world_solid(&world, "B0"));
        double turned = fabs(before.q.x * after.q.w - before.q.w * after.q.x)
                        + fabs(before.q.z * after.q.w - before.q.w * after.q.z);
        CHECK(vec3_distance(before.t, after.t) > 1e-6 || turned > 1e-6, causes[i].name);
        world_close(&world);
    }
}

// A tower that slept and was struck ends where one ends that never slept, as far as a strike can be repeated: the
// sleeper has lost its last tremble (below the thresholds of sleep), nothing else.
static void a_woken_tower_behaves_as_one_that_never_slept(void **state)
{
    (void)state;
    static const char tower[] =
        "Solid { name \"floor\" boundingObject Plane { } }"
        "DEF LOW Solid { name \"low\" translation 0 0 0.1 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } }"
        "DEF TOP Solid { name \"top\" translation 0 0 0.3 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } }";
    World worlds[2];
    for (int i = 0; i < 2; i++) {
        char text[1024];
        snprintf(text, sizeof text, "WorldInfo { basicTimeStep 8 physicsDisableTime %g } %s", i ? 0.2 : 0.0, tower);
        worlds[i] = world_open(text);
        world_step(&worlds[i], 200);
        CHECK(physics_solid_is_idle(worlds[i].physics, world_solid(&worlds[i], "TOP")) == (i == 1),
              "one of them sleeps");
        physics_solid_set_velocity(worlds[i].physics, world_solid(&worlds[i], "TOP"), vec3(0.8, 0, 0), VEC3_ZERO);
        world_step(&worlds[i], 20);
    }
    CHECK(vec3_distance(world_position(&worlds[0], "TOP"), world_position(&worlds[1], "TOP")) < 1e-5, "the struck one");
    CHECK(vec3_distance(world_position(&worlds[0], "LOW"), world_position(&worlds[1], "LOW")) < 1e-5, "the one below");
    for (int i = 0; i < 2; i++)
        world_close(&worlds[i]);
}

static void a_motor_command_wakes_its_robot(void **state)
{
    (void)state;
    World world = world_open(
        HEAD
        "DEF R Robot { controller \"<none>\" translation 0 0 0.05 boundingObject Box { size 0.4 0.4 0.1 } physics Physics { density -1 mass 5 } children [ "
        "DEF J HingeJoint { jointParameters HingeJointParameters { axis 0 0 1 } device RotationalMotor { maxTorque 5 } endPoint DEF E Solid { translation 0 0 0.1 "
        "boundingObject Box { size 0.3 0.1 0.05 } physics Physics { density -1 mass 1 } } } ] }");
    world_step(&world, 150);
    CHECK(awake_count(&world) == 0, "asleep");
    CHECK(!physics_motor_set_position(world.physics, 0, 0, 0.5), "commanded");
    world_step(&world, 1);
    CHECK(awake_count(&world) == 2, "awake in the next step");
    world_step(&world, 150);
    CHECK_NEAR(quat_to_rotation(physics_solid_pose(world.physics, world_solid(&world, "E")).q).angle, 0.5, 0.02,
               "and there");
    world_close(&world);
}

static void another_surface_wakes_what_stood_on_a_slope(void **state)
{
    (void)state;
    World world = world_open(
        "WorldInfo { basicTimeStep 8 physicsDisableTime 0.3 contactProperties ContactProperties { coulombFriction 1 } } "
        "Solid { name \"slope\" rotation 0 1 0 0.3 boundingObject Plane { } } "
        "DEF B Solid { name \"b\" rotation 0 1 0 0.3 translation 0 0 0.052 boundingObject Box { size 0.1 0.1 0.1 } physics Physics { } }");
    world_step(&world, 150);
    CHECK(awake_count(&world) == 0, "it stands");
    Vec3 before = world_position(&world, "B");
    SceneNode *info = scene_list_node(scene_list(scene_root(sim_scene(world.sim)), "children"), 0);
    SceneNode *surface = scene_list_node(scene_list(info, "contactProperties"), 0);
    scene_set_float(sim_scene(world.sim), surface, "softCFM", 0.002);
    physics_field_changed(world.physics, surface, "softCFM");
    world_step(&world, 2);
    CHECK(awake_count(&world) == 1, "another surface wakes it");
    CHECK(vec3_distance(before, world_position(&world, "B")) < 0.01, "which is no push");
    world_close(&world);
}

// A wall of boxes that slept and one that did not are struck by the same ball, in the middle of a box. The one that
// stayed awake crept on by a fifth of a millimetre meanwhile, of which the strike would make any number of millimetres:
// it is put back to where the other one sleeps, so that they differ by what they remember alone.
static void a_woken_wall_gives_way_as_one_that_never_slept(void **state)
{
    (void)state;
    enum { WIDE = 8, HIGH = 6 };
    World worlds[2];
    double deepest[2], apart = 0.0;
    Pose asleep[WIDE * HIGH];
    Vec3 speed[WIDE * HIGH];
    int boxes[WIDE * HIGH];
    for (int i = 0; i < 2; i++) {
        Text text = { 0 };
        text_printf(
            &text,
            "WorldInfo { basicTimeStep 8 physicsDisableTime %g } Solid { name \"floor\" boundingObject Plane { } }\n",
            i ? 0.0 : 0.3);
        for (int k = 0; k < WIDE * HIGH; k++) {
            bool hangs_over = k % WIDE == WIDE - 1 && k / WIDE % 2;  // and would fall off: it lies behind the wall
            text_printf(
                &text,
                "DEF W%d Solid { name \"w%d\" translation %g %g %g boundingObject Box { size 0.2 0.2 0.2 } physics Physics { density 500 } }\n",
                k, k, hangs_over ? 3.0 : 0.0,
                0.2 * (k % WIDE) + 0.1 * (k / WIDE % 2) + (hangs_over ? 0.3 * (k / WIDE) : 0.0),
                hangs_over ? 0.1 : 0.1 + 0.2 * (k / WIDE));
        }
        text_add_string(
            &text,
            "DEF BALL Solid { name \"ball\" translation -2 0.8 0.7 boundingObject Sphere { radius 0.15 } physics Physics { density 2000 } }\n");
        worlds[i] = world_open(text.data);
        text_free(&text);
        world_step(&worlds[i], 250);
        int ball = world_solid(&worlds[i], "BALL");
        for (int k = 0; k < WIDE * HIGH; k++) {
            char name[16];
            snprintf(name, sizeof name, "W%d", k);
            boxes[k] = world_solid(&worlds[i], name);
            if (i == 0) {
                asleep[k] = physics_solid_pose(worlds[i].physics, boxes[k]);
                continue;
            }
            physics_solid_set_pose(worlds[i].physics, boxes[k], asleep[k]);
            physics_solid_set_velocity(worlds[i].physics, boxes[k], VEC3_ZERO, VEC3_ZERO);
        }
        physics_solid_set_pose(worlds[i].physics, ball, (Pose){ vec3(-0.4, 0.9, 0.7), QUAT_IDENTITY });
        physics_solid_set_velocity(worlds[i].physics, ball, vec3(4, 0, 0), VEC3_ZERO);
        world_step(&worlds[i], 5);
        CHECK(awake_count(&worlds[i]) == (i ? WIDE * HIGH + 1 : 1), "until it is struck");
        world_step(&worlds[i], 1);
        for (int k = 0; k < WIDE * HIGH; k++) {
            Vec3 now = physics_solid_linear_velocity(worlds[i].physics, boxes[k]);
            apart = i ? fmax(apart, vec3_distance(now, speed[k])) : 0.0;
            speed[k] = now;
        }
        deepest[i] = 0.0;
        for (int k = 0; k < 15; k++) {
            world_step(&worlds[i], 1);
            deepest[i] = fmax(deepest[i], physics_statistics(worlds[i].physics).deepest);
        }
        CHECK(awake_count(&worlds[i]) > WIDE * HIGH / 2, "then what hangs together");
    }
    print_message("woken wall: apart by %.2e m/s when struck, deepest %.2e and %.2e m\n", apart, deepest[0],
                  deepest[1]);
    // Weight gives a box 78 mm/s in a step. Less than a thirtieth of it may show; a tenth does where they begin without
    // the impulses they carried.
    CHECK(apart < 78e-3 / 30.0, "boxes");
    CHECK_NEAR(deepest[1], deepest[0], 0.002, "as deep");
    for (int i = 0; i < 2; i++)
        world_close(&worlds[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_book_is_right_at_every_step),
        cmocka_unit_test(a_run_through_sleepers_repeats),
        cmocka_unit_test(sleepers_elsewhere_change_nothing),
        cmocka_unit_test(every_cause_wakes_what_leans_on_it),
        cmocka_unit_test(a_woken_tower_behaves_as_one_that_never_slept),
        cmocka_unit_test(a_motor_command_wakes_its_robot),
        cmocka_unit_test(another_surface_wakes_what_stood_on_a_slope),
        cmocka_unit_test(a_woken_wall_gives_way_as_one_that_never_slept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
