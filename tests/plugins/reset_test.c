// What a plugin changed of ODE's objects is taken back by a reset; what a restore brings and what it leaves.
#include "support/plugin_world.h"

#include <stdlib.h>

// Each is done in the tenth step, so that nothing but a reset takes it back. `b` is a box in the air, `j` the hinge of
// an arm.
static const char *const changes[] = {
    "dWorldSetGravity(w, 1, 0, -5)",
    "dWorldSetERP(w, 0.6)",
    "dWorldSetCFM(w, 0.01)",
    "dWorldSetContactMaxCorrectingVel(w, 0.1)",
    "dWorldSetContactSurfaceLayer(w, 0.01)",
    "dWorldSetQuickStepNumIterations(w, 3)",
    "dWorldSetLinearDampingThreshold(w, 3); dBodySetDampingDefaults(b)",
    "dMass m; dMassSetSphereTotal(&m, 5, 0.6); dBodySetMass(b, &m)",
    "dMass m; dBodyGetMass(b, &m); m.I[0] *= 5; dBodySetMass(b, &m)",
    "dBodySetGravityMode(b, 0)",
    "dBodySetGyroscopicMode(b, 0)",
    "dBodySetKinematic(b)",
    "dBodySetLinearDamping(b, 0.1)",
    "dBodySetAngularDamping(b, 0.1)",
    "dBodySetDamping(b, 0.1, 0.1); dBodySetLinearDampingThreshold(b, 5)",
    "dBodySetMaxAngularSpeed(b, 0.1)",
    "dBodySetAutoDisableFlag(b, 1); dBodySetAutoDisableLinearThreshold(b, 9); dBodySetAutoDisableAngularThreshold(b, 9); dBodySetAutoDisableSteps(b, 2)",
    "dBodySetFiniteRotationMode(b, 1)",
    "dBodySetFiniteRotationMode(b, 1); dBodySetFiniteRotationAxis(b, 1, 0, 0)",
    "dJointSetHingeParam(j, dParamLoStop, -0.1); dJointSetHingeParam(j, dParamHiStop, 0.1); dJointSetHingeParam(j, dParamBounce, 0.5)",
    "dJointSetHingeParam(j, dParamCFM, 0.1); dJointSetHingeParam(j, dParamStopCFM, 0.1); dJointSetHingeParam(j, dParamFudgeFactor, 0.3)",
    "dJointSetHingeAnchor(j, 0.6, 3, 1.8)",
    "dJointSetHingeAxis(j, 0.3, 1, 0)",
    "dJointDisable(j)",
    "dJointAttach(j, arm, b)",
    "static int n; dBodySetMovedCallback(b, moved); dBodySetData(b, &n); n = 0",
};
static const char *const nodes =
    "Solid { name \"floor\" boundingObject Plane { } }\n"
    "DEF BOX Solid { translation 0.2 0 0.6 rotation 1 1 0 0.3 angularVelocity 9 1 1 boundingObject Box { size 0.6 0.3 0.5 } physics Physics { density -1 mass 1 } }\n"
    "DEF R Robot { name \"r\" translation 0 3 1 boundingObject Box { size 0.4 0.4 2 } physics Physics { density -1 mass 50 } children [\n"
    "  HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 anchor 0.4 0 0.8 } device RotationalMotor { maxTorque 3 }\n"
    "    endPoint DEF ARM Solid { translation 0.8 0 0.8 boundingObject Box { size 0.6 0.1 0.1 } physics Physics { density -1 mass 1 } } } ] }\n";

static void compile_changes(void)
{
    Text source = { 0 };
    text_printf(
        &source,
        "#include <plugins/physics.h>\n#include <stdlib.h>\nstatic int step;\n"
        "static void moved(dBodyID body) { dBodySetLinearVel(body, 1, 0, 0); }\n"
        "DLLEXPORT void webots_physics_init(void) { step = 0; }\nDLLEXPORT void webots_physics_cleanup(void) { }\n"
        "DLLEXPORT void webots_physics_step(void)\n{\n  dBodyID b = dWebotsGetBodyFromDEF(\"BOX\"), arm = dWebotsGetBodyFromDEF(\"R.ARM\");\n"
        "  dJointID j = dBodyGetJoint(arm, 0);\n  dWorldID w = dBodyGetWorld(b);\n  (void)j, (void)w;\n  if (++step != 10)\n    return;\n"
        "  switch (atoi(getenv(\"CHANGE\"))) {\n");
    for (int i = 0; i < COUNT_OF(changes); i++)
        text_printf(&source, "  case %d: { %s; } break;\n", i, changes[i]);
    text_printf(&source, "  }\n}\n");
    compile("gcc", "changing", source.data, false);
    text_free(&source);
}

static void choose_change(int i)
{
    char number[16];
    snprintf(number, sizeof number, "%d", i);
    setenv("CHANGE", number, 1);
}

// The run after a reset is the run after a load to the last bit, and what was to be taken back had made a difference.
static void test_settings(void **state)
{
    (void)state;
    static const char *const steppers[] = { "talus", "ode-quick" };
    compile_changes();
    int effects = 0;
    for (int i = 0; i < COUNT_OF(changes) * COUNT_OF(steppers); i++) {
        SimOptions options = { .physics.stepper = steppers[i / COUNT_OF(changes)] };
        uint64_t plain, hash;
        World world = world_open_with("changing", nodes, &options);
        choose_change(-1);
        assert_true(world_start(&world, NULL));
        steps(&world, 60);
        plain = sim_hash(world.sim);
        world_close(&world);
        choose_change(i % COUNT_OF(changes));
        world = world_open_with("changing", nodes, &options);
        assert_true(world_start(&world, NULL));
        steps(&world, 60);
        hash = sim_hash(world.sim);
        effects += hash != plain;
        assert_true(sim_reset(world.sim));
        steps(&world, 60);
        CHECK(sim_hash(world.sim) == hash, changes[i % COUNT_OF(changes)]);
        choose_change(-1);
        assert_true(sim_reset(world.sim));
        steps(&world, 60);
        CHECK(sim_hash(world.sim) == plain, changes[i % COUNT_OF(changes)]);
        world_close(&world);
    }
    assert_true(effects >= COUNT_OF(changes));
}

// There are no contact joints in init, and those of the pass at load are there in the first step, after a load and
// after a reset.
static void test_first_contacts(void **state)
{
    (void)state;
    static const char *const collides[] = {
        "", "DLLEXPORT int webots_physics_collide(dGeomID a, dGeomID b) { (void)a; (void)b; return 0; }\n"
    };
    for (int i = 0; i < 2; i++) {
        char source[900];
        snprintf(
            source, sizeof source,
            "#include <plugins/physics.h>\nstatic int has_said;\n"
            "static void say(void) { dWebotsConsolePrintf(\"%%d joints\", dBodyGetNumJoints(dWebotsGetBodyFromDEF(\"BOX\"))); }\n"
            "DLLEXPORT void webots_physics_init(void) { has_said = 0; say(); }\n"
            "DLLEXPORT void webots_physics_step(void) { if (!has_said++) say(); }\n%s"
            "DLLEXPORT void webots_physics_cleanup(void) { }\n",
            collides[i]);
        const char *name = i ? "looking" : "counting";
        compile("gcc", name, source, false);
        World world = world_open(name, falling);
        assert_true(world_start(&world, NULL));
        steps(&world, 2);
        assert_true(sim_reset(world.sim));
        steps(&world, 2);
        char said[160];
        snprintf(said, sizeof said, "[%s] 0 joints\n[%s] 4 joints\n[%s] 0 joints\n[%s] 4 joints\n", name, name, name,
                 name);
        assert_string_equal(printed(&world), said);
        world_close(&world);
    }
}

// ODE's rule of falling asleep, which asks for a joint at the body, acts on bodies that rest on contacts of ours with
// every stepper.
static void test_auto_disable(void **state)
{
    (void)state;
    compile(
        "gcc", "drowsy",
        "#include <plugins/physics.h>\n"
        "DLLEXPORT void webots_physics_init(void)\n"
        "{\n"
        "  dBodyID b = dWebotsGetBodyFromDEF(\"BOX\");\n"
        "  dBodySetAutoDisableFlag(b, 1);\n"
        "  dBodySetAutoDisableLinearThreshold(b, 0.1);\n"
        "  dBodySetAutoDisableAngularThreshold(b, 0.1);\n"
        "  dBodySetAutoDisableSteps(b, 5);\n"
        "}\n"
        "DLLEXPORT void webots_physics_step(void) { }\n"
        "DLLEXPORT void webots_physics_step_end(void) { if (!dBodyIsEnabled(dWebotsGetBodyFromDEF(\"BOX\"))) dWebotsConsolePrintf(\"asleep\"); }\n"
        "DLLEXPORT void webots_physics_cleanup(void) { }\n",
        false);
    static const char *const steppers[] = { "talus", "ode-exact", "ode-quick" };
    for (int i = 0; i < COUNT_OF(steppers); i++) {
        World world = world_open_with("drowsy", falling, &(SimOptions){ .physics.stepper = steppers[i] });
        assert_true(world_start(&world, NULL));
        steps(&world, 8);
        CHECK(!strcmp(printed(&world), ""), steppers[i]);  // ten idle steps were ODE's preset when the body was made
        steps(&world, 5);
        CHECK(strstr(printed(&world), "asleep"), steppers[i]);
        world_close(&world);
    }
}

// Forces that collide added are in a snapshot, so the pass after a restore does not add them again; a body that the
// plugin made kinematic stays so.
static void test_restore(void **state)
{
    (void)state;
    static const struct {
        const char *name, *source;
    } cases[] = {
        { "pressing",
          "DLLEXPORT int webots_physics_collide(dGeomID a, dGeomID b) { (void)b; if (dGeomGetBody(a)) dBodyAddForce(dGeomGetBody(a), 30, 0, 9); return 0; }\n"
          "DLLEXPORT void webots_physics_init(void) { }\n" },
        { "holding",
          "DLLEXPORT void webots_physics_init(void) { dBodySetKinematic(dWebotsGetBodyFromDEF(\"BOX\")); }\n" },
    };
    const char *const scenes[] = {
        falling, "DEF BOX Solid { linearVelocity 1 0 0 boundingObject Box { } physics Physics { } }\n"
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char source[600];
        snprintf(
            source, sizeof source,
            "#include <plugins/physics.h>\n%sDLLEXPORT void webots_physics_step(void) { }\nDLLEXPORT void webots_physics_cleanup(void) { }\n",
            cases[i].source);
        compile("gcc", cases[i].name, source, false);
        World world = world_open(cases[i].name, scenes[i]);
        assert_true(world_start(&world, NULL));
        steps(&world, 7);
        SimSnapshot snapshot = { 0 };
        sim_snapshot(world.sim, &snapshot);
        steps(&world, 20);
        uint64_t hash = sim_hash(world.sim);
        assert_true(sim_restore(world.sim, &snapshot));
        steps(&world, 20);
        CHECK(sim_hash(world.sim) == hash, cases[i].name);
        world_close(&world);
        // A run that starts from it.
        world = world_open(cases[i].name, scenes[i]);
        assert_true(sim_restore(world.sim, &snapshot));
        assert_true(world_start(&world, NULL));
        steps(&world, 20);
        CHECK(sim_hash(world.sim) == hash, cases[i].name);
        sim_snapshot_free(&snapshot);
        world_close(&world);
    }
}

int main(void)
{
    plugin_scratch("plugin_reset");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_auto_disable),
        cmocka_unit_test(test_first_contacts),
        cmocka_unit_test(test_restore),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
