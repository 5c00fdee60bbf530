// What a plugin gives ODE that is no number is told in the step in which it acts, with every stepper; and a report
// names what a plugin's function called last when the compiler has left out the function itself.
#include "support/plugin_world.h"

#include <stdlib.h>

static const char *const steppers[] = { "talus", "ode-exact", "ode-quick" };

// Each is done once, in the third step or in the pass after it. `b` is the box.
static const struct {
    const char *step, *contact, *said;
} cases[] = {
    { "dWorldSetGravity(w, NAN, 0, 0)", "", "gravity, ERP or CFM" },
    { "dWorldSetERP(w, NAN)", "", "gravity, ERP or CFM" },
    { "dWorldSetCFM(w, NAN)", "", "gravity, ERP or CFM" },
    { "dMass m; dBodyGetMass(b, &m); m.mass = NAN; dBodySetMass(b, &m)", "", "'BOX'" },
    { "dBodySetLinearVel(b, 0, INFINITY, 0)", "", "'BOX'" },
    { "dBodySetPosition(b, 0, 0, NAN)", "", "'BOX'" },
    { "", "c.geom.depth = NAN", "'BOX'" },
    { "", "c.geom.normal[0] = NAN", "'BOX'" },
    { "", "c.geom.pos[1] = INFINITY", "'BOX'" },
    { "", "c.surface.mu = NAN", "'BOX'" },
};

static void compile_cases(void)
{
    Text source = { 0 };
    text_printf(
        &source,
        "#include <plugins/physics.h>\n#include <math.h>\n#include <stdlib.h>\n#include <string.h>\nstatic int step, which;\n"
        "DLLEXPORT void webots_physics_init(void) { step = 0; which = atoi(getenv(\"FAULT\")); }\nDLLEXPORT void webots_physics_cleanup(void) { }\n"
        "DLLEXPORT void webots_physics_step(void)\n{\n  dBodyID b = dWebotsGetBodyFromDEF(\"BOX\");\n  dWorldID w = dBodyGetWorld(b);\n  (void)w;\n"
        "  if (++step != 3)\n    return;\n  switch (which) {\n");
    for (int i = 0; i < COUNT_OF(cases); i++)
        text_printf(&source, "  case %d: { %s; } break;\n", i, cases[i].step);
    text_printf(
        &source,
        "  }\n}\nDLLEXPORT int webots_physics_collide(dGeomID a, dGeomID b)\n{\n  dContact c;\n  dBodyID body = dGeomGetBody(a);\n  (void)b;\n"
        "  if (step != 3 || !body)\n    return 0;\n  memset(&c, 0, sizeof c);\n  c.geom.normal[2] = 1;\n  c.geom.depth = 0.001;\n  c.surface.mu = 1;\n  switch (which) {\n");
    for (int i = 0; i < COUNT_OF(cases); i++)
        text_printf(&source, "  case %d: %s; break;\n", i, *cases[i].contact ? cases[i].contact : "return 0");
    text_printf(
        &source,
        "  }\n  dJointAttach(dJointCreateContact(dBodyGetWorld(body), dWebotsGetContactJointGroup(), &c), body, 0);\n  return 1;\n}\n");
    compile("gcc", "nonsense", source.data, false);
    text_free(&source);
}

static void test_numbers(void **state)
{
    (void)state;
    compile_cases();
    for (int i = 0; i < COUNT_OF(cases) * COUNT_OF(steppers); i++) {
        int which = i % COUNT_OF(cases);
        const char *what = *cases[which].step ? cases[which].step : cases[which].contact;
        char number[16];
        snprintf(number, sizeof number, "%d", which);
        setenv("FAULT", number, 1);
        World world = world_open_with("nonsense", falling,
                                      &(SimOptions){ .physics.stepper = steppers[i / COUNT_OF(cases)] });
        assert_true(world_start(&world, NULL));
        steps(&world, 2);
        bool goes_on = sim_step(world.sim) && sim_step(world.sim);
        CHECK(!goes_on && times_said(&world, DIAG_ERROR, cases[which].said) == 1, what);
        Physics *physics = sim_physics(world.sim);
        Vec3 at = physics_solid_pose(physics, physics_solid_of(physics, scene_find_def(sim_scene(world.sim), "BOX"))).t;
        CHECK(vec3_is_finite(at) && fabs(at.z - 0.5) < 0.1, what);
        world_close(&world);
    }
}

// With optimisation the plugin's frame is gone when dBodySetGravityMode() is reached.
static void test_last_call(void **state)
{
    (void)state;
    compile("gcc -O2", "ending",
            "#include <plugins/physics.h>\n"
            "DLLEXPORT void webots_physics_step(void) { dBodySetGravityMode(dWebotsGetBodyFromDEF(\"NOBODY\"), 0); }\n"
            "DLLEXPORT void webots_physics_cleanup(void) { }\n",
            false);
    World world = world_open("ending", falling);
    assert_true(world_start(&world, NULL));
    assert_false(sim_step(world.sim));
    assert_int_equal(times_said(&world, DIAG_ERROR, "in dBodySetGravityMode"), 1);
    const Diagnostic *error = NULL;
    for (int i = 0; i < diag_count(world.diags) && !error; i++)
        error = strstr(diag_at(world.diags, i)->message, "dBodySetGravityMode") ? diag_at(world.diags, i) : NULL;
    assert_non_null(error);
    assert_non_null(strstr(error->hint, "a NULL body, geom or joint was given to dBodySetGravityMode"));
    world_close(&world);
}

int main(void)
{
    plugin_scratch("plugin_faults");
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_numbers), cmocka_unit_test(test_last_call) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
