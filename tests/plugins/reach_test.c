// What Talus leaves out for plugins that cannot notice: contact joints stand in ODE for every function that leads to
// them, from the first pass on, asleep too; without them motion, sleep and waking are as they are without a plugin, to
// the last bit.
#include "support/plugin_world.h"

#include "physics/ode/ode.h"

#include <math.h>
#include <string.h>

static const char *const stack =
    "DEF FLOOR Solid { name \"floor\" boundingObject Plane { } }\n"
    "DEF LOWER Solid { name \"lower\" translation 0 0 0.0999 boundingObject Box { size 0.4 0.4 0.2 } physics Physics { density -1 mass 2 } }\n"
    "DEF UPPER Solid { name \"upper\" translation 0 0 0.2498 boundingObject Box { size 0.2 0.2 0.1 } physics Physics { density -1 mass 1 } }\n";

static const char *const frame =
    "#include <plugins/physics.h>\n"
    "static dBodyID lower, upper; static dWorldID world; static int count;\n"
    "static void act(void);\n"
    "DLLEXPORT void webots_physics_init(void) { lower = dWebotsGetBodyFromDEF(\"LOWER\"); upper = dWebotsGetBodyFromDEF(\"UPPER\"); world = dBodyGetWorld(lower);\n"
    "  (void)upper; }\n"
    "DLLEXPORT void webots_physics_step(void) { count++; act(); }\n"
    "DLLEXPORT void webots_physics_cleanup(void) { (void)world; }\n";

static void build(const char *name, const char *before, const char *act)
{
    Text source = { 0 };
    text_printf(&source, "%s%sstatic void act(void)\n{\n%s\n}\n", before, frame, act);
    compile("gcc", name, source.data, false);
    text_free(&source);
}

static World start(const char *name, const char *nodes, const char *stepper)
{
    World world = world_open_with(name, nodes, &(SimOptions){ .physics = { .stepper = stepper } });
    assert_true(world_start(&world, NULL));
    return world;
}

static int solid_of(const World *world, const char *def)
{
    return physics_solid_of(sim_physics(world->sim), scene_find_def(sim_scene(world->sim), def));
}

// ---- who asks for contact joints finds them ----

#define SAY(VALUE) "  if (count == 2 || count == 100 || count == 190) dWebotsConsolePrintf(\"%d\", " VALUE ");"

// The lower box stands on four points and carries four.
static const struct {
    const char *name, *before, *act, *said;
} readers[] = {
    { "reads_number", "", SAY("dBodyGetNumJoints(lower)"), "8 8 8" },
    { "reads_joint", "",
      "  int found = 0;\n  for (int i = 0; i < (count > 1) * 8; i++) found += dJointGetType(dBodyGetJoint(lower, i)) == dJointTypeContact;\n" SAY(
          "found"),
      "8 8 8" },
    { "reads_connecting", "", SAY("dJointGetType(dConnectingJoint(lower, upper)) == dJointTypeContact"), "1 1 1" },
    { "reads_list", "", "  dJointID list[16];\n" SAY("dConnectingJointList(lower, upper, list)"), "4 4 4" },
    { "reads_connected", "", SAY("dAreConnected(lower, upper)"), "1 1 1" },
    { "reads_excluding", "", SAY("dAreConnectedExcluding(lower, upper, dJointTypeHinge)"), "1 1 1" },
    { "reads_by_name", "#define _GNU_SOURCE\n#include <dlfcn.h>\n",
      "  int (*number)(dBodyID);\n  *(void **)&number = dlsym(RTLD_DEFAULT, \"dBodyGetNumJoints\");\n" SAY(
          "number(lower)"),
      "8 8 8" },
};

static void test_readers(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(readers); i++) {
        build(readers[i].name, readers[i].before, readers[i].act);
        for (int exact = 0; exact < 2; exact++) {
            World world = start(readers[i].name, stack, exact ? "ode-exact" : "talus");
            steps(&world, 195);
            expect_no_errors(&world);
            assert_true(physics_solid_is_idle(sim_physics(world.sim), solid_of(&world, "LOWER")));
            char lines[64] = "", *at = lines;
            const char *rest = printed(&world);
            for (char prefix[32]; (rest = strstr(rest, "] ")); rest += strlen(prefix)) {
                rest += 2;
                snprintf(prefix, sizeof prefix, "%.*s", (int)strcspn(rest, "\n"), rest);
                at += snprintf(at, sizeof lines - (size_t)(at - lines), "%s%s", at > lines ? " " : "", prefix);
            }
            CHECK(!strcmp(lines, readers[i].said), readers[i].name);
            world_close(&world);
        }
    }
}

// A contact joint that was found gives the force that it carried: together the weight of what lies on the floor.
static void test_feedback(void **state)
{
    (void)state;
    build(
        "reads_feedback", "",
        "  static dJointFeedback forces[16];\n"
        "  if (count > 40) { double sum = 0.0; for (int i = 0; i < 8; i++) sum += forces[i].f1[2]; dWebotsConsolePrintf(\"%.3f\", sum); }\n"
        "  int found = 0, all = dBodyGetNumJoints(lower);\n"
        "  for (int i = 0; i < all && found < 8; i++) { dJointID joint = dBodyGetJoint(lower, i);\n"
        "    if (!dJointGetBody(joint, 0) || !dJointGetBody(joint, 1)) dJointSetFeedback(joint, &forces[found++]); }");
    for (int exact = 0; exact < 2; exact++) {
        World world = start("reads_feedback", stack, exact ? "ode-exact" : "talus");
        steps(&world, 42);
        char line[64];
        snprintf(line, sizeof line, "%.3f", 3 * 9.81);
        CHECK(strstr(printed(&world), line), world.out);
        world_close(&world);
    }
}

// A plugin that pushes bodies comes upon no joint: none is made for it.
static void test_left_out(void **state)
{
    (void)state;
    build("pushes", "", "  if (dBodyGetPosition(lower)[2] < 0.0) dBodyAddForce(lower, 1, 0, 0);");
    for (int exact = 0; exact < 2; exact++) {
        World world = start("pushes", stack, exact ? "ode-exact" : "talus");
        steps(&world, 5);
        assert_int_equal(dBodyGetNumJoints(physics_ode_body(sim_physics(world.sim), solid_of(&world, "LOWER"))),
                         exact ? 8 : 0);
        world_close(&world);
    }
}

// ---- and nobody else notices ----

static Text towers(void)
{
    Text nodes = { 0 };
    text_printf(&nodes, "Solid { name \"floor\" boundingObject Plane { } }\n");
    for (int i = 0; i < 12; i++)
        text_printf(
            &nodes,
            "%s Solid { name \"b%d\" translation %g %g %g rotation 0 0 1 %g boundingObject %s physics Physics { } }\n",
            i == 0   ? "DEF LOWER"
            : i == 4 ? "DEF UPPER"
                     : "",
            i, 0.2 * (i % 2), 0.25 * (i / 2 % 2), 0.199 + 0.398 * (i / 4), 0.1 * i,
            i % 3 ? "Box { size 0.4 0.4 0.4 }" : "Cylinder { radius 0.2 height 0.4 }");
    text_printf(
        &nodes,
        "Solid { name \"late\" translation 0.1 0.1 40 boundingObject Sphere { radius 0.2 } physics Physics { } }\n");
    return nodes;
}

static void test_bits(void **state)
{
    (void)state;
    static const char *const kinds[][2] = {
        { "none", "" },
        { "bits_body", "  if (count < 0) dBodyAddForce(lower, 1, 0, 0);" },
        { "bits_shape", "  if (count < 0) dGeomSetPosition(0, 1, 0, 0);" },
        { "bits_collide", "  if (count < 0) dBodyAddForce(lower, 1, 0, 0);\n}\n"
                          "DLLEXPORT int webots_physics_collide(dGeomID a, dGeomID b) { (void)a; (void)b; return 0;" },
    };
    enum { TIMES = 16 };
    uint64_t hashes[COUNT_OF(kinds)][TIMES];
    Text nodes = towers();
    int sleepers = 0;
    for (int k = 0; k < COUNT_OF(kinds); k++) {
        if (k > 0)
            build(kinds[k][0], "", kinds[k][1]);
        World world = world_open(kinds[k][0], nodes.data);
        assert_true(k == 0 || world_start(&world, NULL));
        for (int i = 0; i < TIMES; i++) {
            steps(&world, i == 0 ? 1 : 20);
            hashes[k][i] = sim_hash(world.sim);
            PhysicsStatistics now = physics_statistics(sim_physics(world.sim));
            sleepers += now.bodies_awake < now.bodies;
        }
        CHECK(!memcmp(hashes[0], hashes[k], sizeof hashes[0]), kinds[k][0]);
        world_close(&world);
    }
    assert_true(sleepers >= 4 && sleepers < TIMES * COUNT_OF(kinds));
    text_free(&nodes);
}

// ---- who sleeps when a plugin wakes and puts to sleep ----

static const struct {
    const char *name, *act;
} wakers[] = {
    // A weight of the plugin's own hangs at the lower box; it is pushed when all sleep, and wakes the box by its joint
    // and the upper one
    // by the contact with that.
    { "wakes_by_joint",
      "  static dBodyID load;\n"
      "  if (count == 1) { load = dBodyCreate(world); dMass mass; dMassSetSphereTotal(&mass, 0.3, 0.05); dBodySetMass(load, &mass);\n"
      "    dBodySetAutoDisableFlag(load, 1); dBodySetAutoDisableTime(load, 0.1);\n"
      "    dBodySetPosition(load, 0.3, 0, 0.1); dJointID tie = dJointCreateFixed(world, 0); dJointAttach(tie, lower, load); dJointSetFixed(tie); }\n"
      "  if (count == 250) { dBodyEnable(load); dBodySetLinearVel(load, 0, 0, 2); }" },
    { "wakes_upper", "  if (count == 250) { dBodyEnable(upper); dBodyAddForce(upper, 300, 0, 100); }" },
    { "sleeps",
      "  if (count == 5) dBodyDisable(lower);\n  if (count == 9) { dBodyEnable(lower); dBodySetLinearVel(lower, 0.4, 0, 0.1); }\n"
      "  if (count == 20) { dBodyDisable(lower); dBodyDisable(upper); }" },
};

static void test_wakers(void **state)
{
    (void)state;
    static const char *const names[] = { "LOWER", "UPPER" };
    for (int i = 0; i < COUNT_OF(wakers); i++) {
        build(wakers[i].name, "", wakers[i].act);
        World ours = start(wakers[i].name, stack, "talus"), exact = start(wakers[i].name, stack, "ode-exact");
        int differ = 0;
        double apart = 0.0;
        for (int step = 0; step < 280; step++) {
            steps(&ours, 1);
            steps(&exact, 1);
            for (int k = 0; k < 2; k++) {
                Physics *a = sim_physics(ours.sim), *b = sim_physics(exact.sim);
                int solid = solid_of(&ours, names[k]);
                differ += physics_solid_is_idle(a, solid) != physics_solid_is_idle(b, solid);
                apart = fmax(apart, vec3_distance(physics_solid_pose(a, solid).t, physics_solid_pose(b, solid).t));
            }
        }
        print_message("%s: %d steps asleep in one alone, %.1e m apart\n", wakers[i].name, differ, apart);
        CHECK(differ == 0 && apart < 1e-5, wakers[i].name);
        expect_no_errors(&ours);
        world_close(&ours);
        world_close(&exact);
    }
}

int main(void)
{
    plugin_scratch("plugin_reach");
    if (!has_compiler("gcc"))
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readers), cmocka_unit_test(test_feedback), cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_bits),    cmocka_unit_test(test_wakers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
