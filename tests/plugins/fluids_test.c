// Fluids that a plugin makes: its links act like a Fluid node, and its geoms tell their sizes.
#include "support/support.h"

#include "sim/sim.h"

static const char *folder;

// Two pools beside each other: what floats in the plugin's fluid moves as what floats in the node's.
static const char *const source =
    "#include <plugins/physics.h>\n"
    "#include <ode/fluid_dynamics/ode_fluid_dynamics.h>\n"
    "#include <string.h>\n"
    "static dFluidID fluid;\n"
    "static dGeomID pool, boat;\n"
    "static dBodyID body;\n"
    "static dImmersionLinkGroupID group;\n"
    "static int near(dReal a, dReal b) { return a - b < 1e-5 && b - a < 1e-5; }\n"
    "static void expect(int is_true, const char *what) { if (!is_true) dWebotsConsolePrintf(\"wrong: %s\", what); }\n"
    "static void check_sizes(dGeomID g, const char *name, dReal area, dReal volume)\n"
    "{\n"
    "  dGeomSetPosition(g, 1, 2, 3);\n"
    "  if (!near(dGeomGetArea(g), area) || !near(dGeomGetVolume(g), volume)) dWebotsConsolePrintf(\"%s: %.9g %.9g\", name, dGeomGetArea(g), dGeomGetVolume(g));\n"
    "  expect(dGeomIsInside(g, 1, 2, 3) && !dGeomIsInside(g, 1, 2, 9), name);\n"
    "  dGeomDestroy(g);\n"
    "}\n"
    "static void check_everything(dWorldID world)\n"
    "{\n"
    "  dReal pi = 3.14159265358979;\n"
    "  dGeomID round = dCreateCylinder(0, 0.5, 2);\n"
    "  expect(near(dGeomCylinderGetArea(round), 2.5 * pi) && near(dGeomCylinderGetVolume(round), 0.5 * pi), \"of its class\");\n"
    "  dGeomDestroy(round);\n"
    "  check_sizes(dCreateBox(0, 1, 2, 3), \"box\", 22, 6);\n"
    "  check_sizes(dCreateSphere(0, 2), \"sphere\", 16 * pi, 32 * pi / 3);\n"
    "  check_sizes(dCreateCylinder(0, 0.5, 2), \"cylinder\", 2.5 * pi, 0.5 * pi);\n"
    "  check_sizes(dCreateCapsule(0, 0.5, 2), \"capsule\", 3 * pi, 2 * pi / 3);\n"
    "  static const double vertices[] = { -1, -1, -1, 3, -1, -1, -1, 3, -1, -1, -1, 3 };\n"
    "  static const dTriIndex indices[] = { 0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3 };\n"
    "  dTriMeshDataID mesh = dGeomTriMeshDataCreate();\n"
    "  dGeomTriMeshDataBuildDouble(mesh, vertices, 3 * sizeof(double), 4, indices, 12, 3 * sizeof(dTriIndex));\n"
    "  check_sizes(dCreateTriMesh(0, mesh, 0, 0, 0), \"mesh\", 24 + 13.8564064606, 64.0 / 6);\n"
    "  dGeomTriMeshDataDestroy(mesh);\n"
    "  const dReal stream[3] = { 1, 2, 3 };\n"
    "  dVector4 plane;\n"
    "  dFluidID f = dFluidCreate(world);\n"
    "  dGeomID a = dCreateBox(0, 2, 2, 2), b = dCreateSphere(0, 1);\n"
    "  dFluidSetDensity(f, 900); dFluidSetViscosity(f, 0.5); dFluidSetStreamVel(f, stream); dFluidSetData(f, a);\n"
    "  expect(dFluidGetDensity(f) == 900 && dFluidGetViscosity(f) == 0.5 && dFluidGetStreamVel(f)[2] == 3 && dFluidGetData(f) == a, \"numbers\");\n"
    "  dFluidDisable(f); expect(!dFluidIsEnabled(f), \"disabled\"); dFluidEnable(f); expect(dFluidIsEnabled(f) && dFluidGetWorld(f) == world, \"enabled\");\n"
    "  dGeomSetFluid(a, f); dGeomSetFluid(b, f);\n"
    "  expect(dGeomGetFluid(b) == f && dFluidGetFirstGeom(f) == a && dFluidGetNextGeom(a) == b && !dFluidGetNextGeom(b), \"geoms\");\n"
    "  dGeomSetFluid(b, 0); expect(!dGeomGetFluid(b) && !dFluidGetNextGeom(a), \"one geom\");\n"
    "  dGeomGetImmersionPlane(a, plane); expect(near(plane[2], 1) && near(plane[3], 1), \"plane\");\n"
    "  expect(dGeomIsBelowImmersionPlane(a, 5, 5, 0.9) && !dGeomIsBelowImmersionPlane(a, 0, 0, 1.1), \"below\");\n"
    "  dImmersion i; memset(&i, 0, sizeof i);\n"
    "  dGeomSetPosition(b, 0, 0, 1);\n"
    "  expect(dImmerse(a, b, 0, &i.geom) == 1 && i.geom.g1 == b && i.geom.g2 == a, \"half a ball\");\n"
    "  expect(near(i.geom.volume, 2 * pi / 3) && near(i.geom.area, 2 * pi) && near(i.geom.buoyancyCenter[2], 1 - 0.375), \"its numbers\");\n"
    "  dGeomSetPosition(b, 0, 0, 9); expect(dImmerse(b, a, 0, &i.geom) == 0, \"in the air\");\n"
    "  dImmersionLinkID l = dImmersionLinkCreate(world, 0, &i);\n"
    "  dImmersionLinkAttach(l, body, f); dImmersionLinkSetData(l, b);\n"
    "  expect(dImmersionLinkGetBody(l) == body && dImmersionLinkGetFluid(l) == f && dImmersionLinkGetData(l) == b, \"link\");\n"
    "  expect(dAreLinked(body, f) && dLinkingImmersionLink(body, f) == l && dBodyGetNumImmersionLinks(body) == 1 && dBodyGetImmersionLink(body, 0) == l, \"body\");\n"
    "  expect(dFluidGetNumImmersionLinks(f) == 1 && dFluidGetImmersionLink(f, 0) == l && !dFluidGetImmersionLink(f, 1), \"fluid\");\n"
    "  dImmersionLinkDisable(l); expect(!dImmersionLinkIsEnabled(l), \"off\"); dImmersionLinkEnable(l); expect(dImmersionLinkIsEnabled(l), \"on\");\n"
    "  dFluidDestroy(f); expect(!dImmersionLinkGetFluid(l) && !dGeomGetFluid(a), \"limbo\");\n"
    "  dImmersionLinkDestroy(l); expect(dBodyGetNumImmersionLinks(body) == 0, \"no link\");\n"
    "  expect(dFluidDynamicsStep(world) == 1, \"step\");\n"
    "  dGeomDestroy(a); dGeomDestroy(b);\n"
    "}\n"
    "DLLEXPORT void webots_physics_init(void)\n"
    "{\n"
    "  const dReal stream[3] = { 0.2, 0, 0 };\n"
    "  body = dWebotsGetBodyFromDEF(\"BOAT\");\n"
    "  boat = dWebotsGetGeomFromDEF(\"BOAT\");\n"
    "  check_everything(dBodyGetWorld(body));\n"
    "  fluid = dFluidCreate(dBodyGetWorld(body));\n"
    "  dFluidSetStreamVel(fluid, stream);\n"
    "  pool = dCreateBox(0, 10, 10, 2);\n"
    "  dGeomSetPosition(pool, 0, 20, 0);\n"
    "  dGeomSetFluid(pool, fluid);\n"
    "  group = dImmersionLinkGroupCreate();\n"
    "}\n"
    "DLLEXPORT void webots_physics_step(void)\n"
    "{\n"
    "  dImmersion immersion;\n"
    "  memset(&immersion, 0, sizeof immersion);\n"
    "  dImmersionLinkGroupEmpty(group);\n"
    "  if (!dImmerse(boat, pool, 0, &immersion.geom)) return;\n"
    "  immersion.surface.mode = MODE;\n"
    "  for (int i = 0; i < 3; i++) immersion.surface.dragForceCoefficients[i] = 0.5, immersion.surface.dragTorqueCoefficients[i] = 0.1;\n"
    "  immersion.surface.viscousResistanceForceCoefficient = 40;\n"
    "  immersion.surface.viscousResistanceTorqueCoefficient = 5;\n"
    "  dImmersionLinkAttach(dImmersionLinkCreate(dBodyGetWorld(body), group, &immersion), body, fluid);\n"
    "}\n"
    "DLLEXPORT void webots_physics_cleanup(void)\n"
    "{\n"
    "  dImmersionLinkGroupDestroy(group);\n"
    "  dFluidDestroy(fluid);\n"
    "  dGeomDestroy(pool);\n"
    "}\n";

static Pose place(Sim *sim, const char *def)
{
    Physics *physics = sim_physics(sim);
    return physics_solid_pose(physics, physics_solid_of(physics, scene_find_def(sim_scene(sim), def)));
}

static void check(const char *name, bool is_projected, const char *shape)
{
    Text text = { 0 };
    char path[1024];
    snprintf(path, sizeof path, "mkdir -p %s/worlds %s/plugins/physics/%s", folder, folder, name);
    assert_int_equal(system(path), 0);
    snprintf(path, sizeof path, "%s/plugins/physics/%s/%s.c", folder, name, name);
    support_write(path, source);
    text_printf(&text,
                "gcc -Wall -Wextra -Werror -g -fPIC -shared -Iinclude -DMODE=%s %s -o %s/plugins/physics/%s/lib%s.so",
                is_projected ? "dImmersionProjectedAreas" : "dImmersionImmersedArea", path, folder, name, name);
    CHECK(system(text.data) == 0, text.data);
    text_free(&text);
    text_printf(&text,
                "#VRML_SIM R2025a utf8\nWorldInfo { physics \"%s\" basicTimeStep 10 }\n"
                "Fluid { streamVelocity 0.2 0 0 boundingObject Box { size 10 10 2 } }\n",
                name);
    for (int i = 0; i < 2; i++)
        text_printf(
            &text,
            "DEF %s Solid { name \"%d\" translation 0 %d 1.2 rotation 1 2 3 0.4 %s boundingObject %s physics Physics { density -1 mass 60 } }\n",
            i ? "BOAT" : "TWIN", i, 20 * i,
            i ? ""
            : is_projected
                ? "immersionProperties ImmersionProperties { fluidName \"fluid\" referenceArea \"xyz-projected area\" "
                  "dragForceCoefficients 0.5 0.5 0.5 dragTorqueCoefficients 0.1 0.1 0.1 "
                  "viscousResistanceForceCoefficient 40 viscousResistanceTorqueCoefficient 5 }"
                : "immersionProperties ImmersionProperties { fluidName \"fluid\" dragForceCoefficients 0.5 0 0 "
                  "dragTorqueCoefficients 0.1 0 0 viscousResistanceForceCoefficient 40 viscousResistanceTorqueCoefficient 5 }",
            shape);
    snprintf(path, sizeof path, "%s/worlds/%s.wbt", folder, name);
    support_write(path, text.data);
    text_free(&text);
    DiagSink *diags = diag_create();
    FILE *out = tmpfile();
    Sim *sim = sim_load(path, NULL, diags);
    CHECK(sim, name);
    SimPluginOptions options = { .plugin = { .out = out } };
    CHECK(sim_start_plugin(sim, &options), name);
    uint64_t hash = 0;
    for (int run = 0; run < 2; run++) {
        for (int i = 0; i < 300; i++)
            CHECK(sim_step(sim), name);
        Pose twin = place(sim, "TWIN"), boat = place(sim, "BOAT");
        CHECK_NEAR(vec3_length(vec3_sub(vec3_sub(boat.t, twin.t), vec3(0, 20, 0))), 0.0, 1e-6, name);
        CHECK_NEAR(fabs(boat.q.w * twin.q.w + boat.q.x * twin.q.x + boat.q.y * twin.q.y + boat.q.z * twin.q.z), 1.0,
                   1e-9, name);
        CHECK(boat.t.z > 0.5 && boat.t.z < 1.2 && boat.t.x > 0.01, "it floats and drifts");
        if (run == 1)
            CHECK(sim_hash(sim) == hash, "the same after a reset");
        hash = sim_hash(sim);
        assert_true(sim_reset(sim));
    }
    rewind(out);
    char line[200] = "";
    while (fgets(line, sizeof line, out))
        fputs(line, stderr);
    assert_string_equal(line, "");
    diag_print(diags, stderr, 0, DIAG_WARNING);
    assert_int_equal(diag_total(diags, DIAG_WARNING), 0);
    sim_destroy(sim);
    fclose(out);
    diag_destroy(diags);
}

static void test_floating(void **state)
{
    (void)state;
    check("floatbox", false, "Box { size 0.5 0.5 0.5 }");
    check("floatboxprojected", true, "Box { size 0.5 0.5 0.5 }");
    check("floatcapsule", true, "Capsule { radius 0.3 height 0.4 }");
    check("floatball", false, "Sphere { radius 0.35 }");
}

int main(void)
{
    folder = support_scratch("plugin_fluids");
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_floating) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
