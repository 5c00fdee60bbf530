// A plugin's own hinges on a suspension: deflection against the formula in every stepper, what the getters give, reset
// and snapshots.
#include "support/support.h"

#include "sim/sim.h"

static const char *folder;

static const char *const source =
    "#include <plugins/physics.h>\n"
    "static dJointID joint, motor;\n"
    "static dBodyID weight;\n"
    "static const dReal dt = 0.01, k = 400, d = 40, x = AXIS_X, z = AXIS_Z;\n"
    "DLLEXPORT void webots_physics_init(void)\n"
    "{\n"
    "  dBodyID chassis = dWebotsGetBodyFromDEF(\"CHASSIS\"), wheel = dWebotsGetBodyFromDEF(\"WHEEL\");\n"
    "  const dReal *p = dBodyGetPosition(wheel);\n"
    "  dVector3 axis;\n"
    "#if IS_HINGE2\n"
    "  const dReal up[3] = { 0, 0, 1 }, side[3] = { 0, 1, 0 };\n"
    "  joint = dJointCreateHinge2(dBodyGetWorld(wheel), 0);\n"
    "  dJointAttach(joint, chassis, wheel);\n"
    "  dJointSetHinge2Anchor(joint, p[0], p[1], p[2]);\n"
    "  dJointSetHinge2Axes(joint, up, side);\n"
    "  dJointSetHinge2SuspensionAxis(joint, x, 0, z);\n"
    "  dJointSetHinge2Param(joint, dParamSuspensionERP, dt * k / (dt * k + d));\n"
    "  dJointSetHinge2Param(joint, dParamSuspensionCFM, 1 / (dt * k + d));\n"
    "  dJointGetHinge2SuspensionAxis(joint, axis);\n"
    "  dReal erp = dJointGetHinge2Param(joint, dParamSuspensionERP), cfm = dJointGetHinge2Param(joint, dParamSuspensionCFM);\n"
    "#else\n"
    "  joint = dJointCreateHinge(dBodyGetWorld(wheel), 0);\n"
    "  dJointAttach(joint, chassis, wheel);\n"
    "  dJointSetHingeAnchor(joint, p[0], p[1], p[2]);\n"
    "  dJointSetHingeAxis(joint, 0, 1, 0);\n"
    "  dJointSetHingeSuspensionAxis(joint, x, 0, z);\n"
    "  dJointSetHingeParam(joint, dParamSuspensionERP, dt * k / (dt * k + d));\n"
    "  dJointSetHingeParam(joint, dParamSuspensionCFM, 1 / (dt * k + d));\n"
    "  dJointSetHingeParam(joint, dParamFMax, 0.125);\n"
    "  dJointGetHingeSuspensionAxis(joint, axis);\n"
    "  dReal erp = dJointGetHingeParam(joint, dParamSuspensionERP), cfm = dJointGetHingeParam(joint, dParamSuspensionCFM);\n"
    "  if (dJointGetHingeParam(joint, dParamFMax) != 0.125) dWebotsConsolePrintf(\"lost FMax\");\n"
    "#endif\n"
    "  dWebotsConsolePrintf(\"%.3f %.3f %.3f %.6f %.6f\", axis[0], axis[1], axis[2], erp, cfm);\n"
    "  weight = dWebotsGetBodyFromDEF(\"WEIGHT\");\n"
    "  motor = dJointCreateLMotor(dBodyGetWorld(weight), 0);\n"
    "  dJointAttach(motor, weight, 0);\n"
    "  dJointSetLMotorNumAxes(motor, 1);\n"
    "  dJointSetLMotorAxis(motor, 0, 0, 0, 0, 1);\n"
    "  dJointSetLMotorParam(motor, dParamLoStop, 0);\n"
    "  dJointSetLMotorParam(motor, dParamHiStop, 0);\n"
    "  dJointSetLMotorParam(motor, dParamStopERP, erp);\n"
    "  dJointSetLMotorParam(motor, dParamStopCFM, cfm);\n"
    "}\n"
    "DLLEXPORT void webots_physics_step(void)\n"
    "{\n"
    "  dJointSetLMotorPosition(motor, 0, dBodyGetPosition(weight)[2] - 2);\n"
    "  if (dJointGetLMotorPosition(motor, 0) != dBodyGetPosition(weight)[2] - 2) dWebotsConsolePrintf(\"lost position\");\n"
    "}\n"
    "DLLEXPORT void webots_physics_cleanup(void) { dJointDestroy(joint); dJointDestroy(motor); }\n";

static const char *const nodes =
    "DEF FLOOR Solid { name \"floor\" boundingObject Plane { } }\n"
    "DEF CHASSIS Solid { name \"chassis\" translation 0 0 0.5 boundingObject Box { size 1 1 1 } physics Physics { density -1 mass 200 } }\n"
    "DEF WHEEL Solid { name \"wheel\" translation 0.9 0 0.6 boundingObject Sphere { radius 0.2 } physics Physics { density -1 mass 2 } }\n"
    "DEF WEIGHT Solid { name \"weight\" translation 5 0 2 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { density -1 mass 3 } }\n";

static void compile(const char *name, bool is_hinge2, double x, double z)
{
    Text command = { 0 };
    char path[1024];
    snprintf(path, sizeof path, "mkdir -p %s/worlds %s/plugins/physics/%s", folder, folder, name);
    assert_int_equal(system(path), 0);
    snprintf(path, sizeof path, "%s/plugins/physics/%s/%s.c", folder, name, name);
    support_write(path, source);
    text_printf(
        &command,
        "gcc -Wall -Wextra -Werror -g -fPIC -shared -Iinclude -DIS_HINGE2=%d -DAXIS_X=%.17g -DAXIS_Z=%.17g %s -o %s/plugins/physics/%s/lib%s.so",
        is_hinge2, x, z, path, folder, name, name);
    CHECK(system(command.data) == 0, command.data);
    text_free(&command);
}

typedef struct World {
    Sim *sim;
    DiagSink *diags;
    FILE *stream;
} World;

static World open_world(const char *name, const char *stepper)
{
    World world = { .diags = diag_create(), .stream = tmpfile() };
    SimOptions options = { .physics.stepper = stepper };
    char path[1024];
    Text text = { 0 };
    text_printf(&text, "#VRML_SIM R2025a utf8\nWorldInfo { physics \"%s\" basicTimeStep 10 }\n%s", name, nodes);
    snprintf(path, sizeof path, "%s/worlds/%s.wbt", folder, name);
    support_write(path, text.data);
    text_free(&text);
    world.sim = sim_load(path, &options, world.diags);
    CHECK(world.sim, stepper);
    SimPluginOptions plugin = { .plugin = { .out = world.stream } };
    CHECK(sim_start_plugin(world.sim, &plugin), stepper);
    return world;
}

static void close_world(World *world)
{
    diag_print(world->diags, stderr, 0, DIAG_WARNING);
    assert_int_equal(diag_total(world->diags, DIAG_WARNING), 0);
    sim_destroy(world->sim);
    fclose(world->stream);
    diag_destroy(world->diags);
}

static void steps(World *world, int count)
{
    for (int i = 0; i < count; i++)
        assert_true(sim_step(world->sim));
}

static Pose place(const World *world, const char *def)
{
    Physics *physics = sim_physics(world->sim);
    return physics_solid_pose(physics, physics_solid_of(physics, scene_find_def(sim_scene(world->sim), def)));
}

static void check_reset_and_restore(World *world)
{
    assert_true(sim_reset(world->sim));
    steps(world, 30);
    SimSnapshot snapshot = { 0 };
    sim_snapshot(world->sim, &snapshot);
    steps(world, 30);
    uint64_t hash = sim_hash(world->sim);
    assert_true(sim_restore(world->sim, &snapshot));
    steps(world, 30);
    assert_true(sim_hash(world->sim) == hash);
    sim_snapshot_free(&snapshot);
    assert_true(sim_reset(world->sim));
    steps(world, 60);
    assert_true(sim_hash(world->sim) == hash);
}

static void check(const char *name, const char *stepper, double x, double z)
{
    World world = open_world(name, stepper);
    char line[200] = "", expected[200];
    steps(&world, 400);
    rewind(world.stream);
    assert_non_null(fgets(line, sizeof line, world.stream));
    snprintf(expected, sizeof expected, "[%s] %.3f %.3f %.3f %.6f %.6f\n", name, x, 0.0, z, 4.0 / 44.0, 1.0 / 44.0);
    assert_string_equal(line, expected);
    assert_null(fgets(line, sizeof line, world.stream));
    // k = erp / (dt cfm) holds the part of the weight that lies along the axis. The chassis leans a little on its soft
    // contacts.
    Pose chassis = place(&world, "CHASSIS");
    Vec3 moved = vec3_sub(quat_unrotate(chassis.q, vec3_sub(place(&world, "WHEEL").t, chassis.t)), vec3(0.9, 0, 0.1));
    double along = -2.0 * 9.81 * z / 400.0;
    CHECK_NEAR(moved.x, along * x, 1e-4, stepper);
    CHECK_NEAR(moved.z, along * z, 1e-4, stepper);
    CHECK_NEAR(place(&world, "WEIGHT").t.z - 2.0, -3.0 * 9.81 / 400.0, 1e-4, stepper);
    check_reset_and_restore(&world);
    close_world(&world);
}

static void test_suspension(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool is_hinge2;
        double x, z;
    } cases[] = {
        { "upright", false, 0.0, 1.0 },
        { "oblique", false, 0.6, 0.8 },
        { "upright2", true, 0.0, 1.0 },
        { "oblique2", true, 0.6, 0.8 },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        compile(cases[i].name, cases[i].is_hinge2, cases[i].x, cases[i].z);
        for (const char *const *stepper = physics_stepper_names(); *stepper; stepper++)
            check(cases[i].name, *stepper, cases[i].x, cases[i].z);
    }
}

int main(void)
{
    folder = support_scratch("plugin_suspension");
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_suspension) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
