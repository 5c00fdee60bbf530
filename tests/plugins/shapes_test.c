// What a plugin does to the shapes of solids acts in the collision pass of the same step, with kernels of ours and with
// ODE's, awake and asleep: sizes, places, bits, on and off, in and out of the space, and whose body they are. Where
// things come to rest follows from sizes and places; without contact they fall as formulas say.
#include "support/plugin_world.h"

#include "physics/ode/ode.h"

#include <math.h>
#include <string.h>

#define BALL                                                                                                           \
    "DEF BALL Solid { name \"ball\" translation 0 0 0.1 boundingObject Sphere { radius 0.1 } physics Physics { density -1 mass 1 } }\n"
#define CRATE                                                                                                          \
    "DEF CRATE Solid { name \"crate\" translation 2 0 0.1 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { density -1 mass 1 } }\n"
#define FLOOR "DEF FLOOR Solid { name \"floor\" boundingObject Plane { } }\n"
#define TABLE "DEF TABLE Solid { name \"table\" translation 0 0 0.9 boundingObject Box { size 1 1 0.2 } }\n"
#define ROCK(HEIGHT)                                                                                                   \
    "IndexedFaceSet { coord Coordinate { point [ -0.1 -0.1 0, 0.1 -0.1 0, 0.1 0.1 0, -0.1 0.1 0, -0.1 -0.1 " HEIGHT    \
    ", 0.1 -0.1 " HEIGHT ", 0.1 0.1 " HEIGHT ", -0.1 0.1 " HEIGHT                                                      \
    " ] } coordIndex [ 3 2 1 0 -1 4 5 6 7 -1 0 1 5 4 -1 1 2 6 5 -1 2 3 7 6 -1 3 0 4 7 -1 ] }"

static const char *const frame =
    "#include <plugins/physics.h>\n"
    "enum { EARLY = 20, LATE = 220 };\n"  // awake, and asleep
    "static int count; static dSpaceID space; static dWorldID world;\n"
    "static dGeomID geom(const char *name) { return dWebotsGetGeomFromDEF(name); }\n"
    "static dBodyID body(const char *name) { return dWebotsGetBodyFromDEF(name); }\n"
    "DLLEXPORT void webots_physics_init(dWorldID w, dSpaceID s, dJointGroupID g) { (void)g; world = w; space = s; count = 0; (void)world; (void)space; (void)geom; (void)body; }\n"
    "static void act(void);\n"
    "DLLEXPORT void webots_physics_step(void) { count++; if (!IN_COLLIDE) act(); }\n"
    "DLLEXPORT int webots_physics_collide(dGeomID a, dGeomID b) { (void)a; (void)b; if (IN_COLLIDE) act(); return 0; }\n"
    "DLLEXPORT void webots_physics_cleanup(void) { }\n";

typedef struct Row {
    const char *name, *nodes, *act, *def;
    double z;  // where the solid rests at the end
} Row;

#define AT(WHEN, WHAT) "  if (count == " WHEN ") { " WHAT " }\n"

static const Row rests[] = {
    { "radius", FLOOR BALL, AT("EARLY", "dGeomSphereSetRadius(geom(\"BALL\"), 0.15);"), "BALL", 0.15 },
    { "radius_asleep", FLOOR BALL, AT("LATE", "dGeomSphereSetRadius(geom(\"BALL\"), 0.05);"), "BALL", 0.05 },
    { "lengths", FLOOR CRATE, AT("EARLY", "dGeomBoxSetLengths(geom(\"CRATE\"), 0.2, 0.2, 0.3);"), "CRATE", 0.15 },
    { "capsule",
      FLOOR
      "DEF PILL Solid { translation 0 0 0.1 rotation 0 1 0 1.5707963267948966 boundingObject Capsule { radius 0.1 height 0.2 } physics Physics { density -1 mass 1 } }\n",
      AT("EARLY", "dGeomCapsuleSetParams(geom(\"PILL\"), 0.05, 0.2);"), "PILL", 0.05 },
    { "cylinder",
      FLOOR
      "DEF CAN Solid { translation 0 0 0.1 boundingObject Cylinder { radius 0.1 height 0.2 } physics Physics { } }\n",
      AT("EARLY", "dGeomCylinderSetParams(geom(\"CAN\"), 0.1, 0.3);"), "CAN", 0.15 },
    { "plane", FLOOR BALL, AT("EARLY", "dGeomPlaneSetParams(geom(\"FLOOR\"), 0, 0, 1, -0.5);"), "BALL", -0.4 },
    { "plane_asleep", FLOOR BALL, AT("LATE", "dGeomPlaneSetParams(geom(\"FLOOR\"), 0, 0, 1, -0.5);"), "BALL", -0.4 },
    { "table_down",
      FLOOR TABLE
      "DEF HIGH Solid { translation 0 0 1.1 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } }\n",
      AT("LATE", "dGeomSetPosition(geom(\"TABLE\"), 0, 0, 0.7);"), "HIGH", 0.9 },
    { "table_away",
      FLOOR TABLE
      "DEF HIGH Solid { translation 0 0 1.1 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } }\n",
      AT("LATE", "dGeomSetPosition(geom(\"TABLE\"), 3, 0, 0.9);"), "HIGH", 0.1 },
    { "offset", FLOOR CRATE, AT("EARLY", "dGeomSetOffsetPosition(geom(\"CRATE\"), 0, 0, -0.05);"), "CRATE", 0.15 },
    { "offset_asleep", FLOOR CRATE,
      AT("LATE", "dGeomSetOffsetWorldPosition(geom(\"CRATE\"), 2, 0, 0.15); dBodyEnable(body(\"CRATE\"));"), "CRATE",
      0.05 },
    { "offset_turned",
      FLOOR
      "DEF SLAB Solid { translation 0 0 0.1 boundingObject Box { size 0.4 0.4 0.2 } physics Physics { density -1 mass 1 } }\n",
      AT("EARLY", "dMatrix3 r; dRFromAxisAndAngle(r, 0, 1, 0, M_PI / 2); dGeomSetOffsetRotation(geom(\"SLAB\"), r);"),
      "SLAB", 0.2 },
    { "off_and_on",
      FLOOR TABLE
      "DEF HIGH Solid { translation 0 0 1.1 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } }\n",
      AT("EARLY", "dGeomDisable(geom(\"TABLE\"));") AT("200", "dGeomEnable(geom(\"TABLE\"));"), "HIGH", 0.1 },
    // The table lets pass what has not its bit: the ball, not the crate on it.
    { "bits",
      FLOOR TABLE
      "DEF HIGH Solid { name \"h\" translation 0.3 0 1.1 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } }\n"
      "DEF LOW Solid { name \"l\" translation -0.3 0 1.1 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } }\n",
      AT("1",
         "dGeomSetCategoryBits(geom(\"TABLE\"), 2); dGeomSetCollideBits(geom(\"TABLE\"), 4); dGeomSetCategoryBits(geom(\"HIGH\"), 4);\n"
         "dGeomSetCategoryBits(geom(\"LOW\"), 8); dGeomSetCollideBits(geom(\"LOW\"), ~2ul);"),
      "LOW", 0.1 },
    { "bits_stay",
      FLOOR TABLE
      "DEF HIGH Solid { name \"h\" translation 0.3 0 1.1 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } }\n",
      AT("1",
         "dGeomSetCategoryBits(geom(\"TABLE\"), 2); dGeomSetCollideBits(geom(\"TABLE\"), 4); dGeomSetCategoryBits(geom(\"HIGH\"), 4);"),
      "HIGH", 1.1 },
    // The whole space of a body's shapes is let through the table.
    { "bits_of_space",
      FLOOR TABLE
      "DEF TWO Solid { translation 0 0 1.1 physics Physics { density -1 mass 1 } boundingObject Group { children [\n"
      "  Pose { translation -0.2 0 0 children [ Sphere { radius 0.1 } ] } Pose { translation 0.2 0 0 children [ Sphere { radius 0.1 } ] } ] } }\n",
      AT("1",
         "dGeomSetCategoryBits(geom(\"TABLE\"), 2); dGeomSetCollideBits(geom(\"TABLE\"), 2); dGeomSetCategoryBits(geom(\"TWO\"), 1); dGeomSetCollideBits(geom(\"TWO\"), 1);"),
      "TWO", 0.1 },
    { "out_and_in",
      FLOOR TABLE
      "DEF HIGH Solid { translation 0 0 1.1 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } }\n",
      AT("EARLY", "dSpaceRemove(space, geom(\"TABLE\"));") AT("200", "dSpaceAdd(space, geom(\"TABLE\"));"), "HIGH",
      0.1 },
    // In a space of the plugin's within the world's it is still there.
    { "own_space",
      FLOOR TABLE
      "DEF HIGH Solid { translation 0 0 1.1 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } }\n",
      AT("EARLY",
         "dSpaceID own = dSimpleSpaceCreate(space); dSpaceSetCleanup(own, 0); dSpaceRemove(space, geom(\"TABLE\")); dSpaceAdd(own, geom(\"TABLE\"));"),
      "HIGH", 1.1 },
    // The ball's shape under the crate: the crate stands on it.
    { "to_other",
      FLOOR BALL
      "DEF CRATE Solid { name \"crate\" translation 2 0 0.6 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { density -1 mass 1\n"
      "  inertiaMatrix [ 1 1 1, 0 0 0 ] centerOfMass [ 0 0 0 ] } }\n",
      AT("1", "dGeomSetBody(geom(\"BALL\"), body(\"CRATE\")); dGeomSetOffsetPosition(geom(\"BALL\"), 0, 0, -0.2);"
              "dBodySetMaxAngularSpeed(body(\"CRATE\"), 0);"),
      "CRATE", 0.3 },
    { "to_other_asleep", FLOOR BALL CRATE,
      AT("LATE",
         "dGeomSetBody(geom(\"BALL\"), body(\"CRATE\")); dGeomSetOffsetPosition(geom(\"BALL\"), 0, 0, -0.05); dBodySetMaxAngularSpeed(body(\"CRATE\"), 0);\n"
         "dBodyEnable(body(\"CRATE\"));"),
      "CRATE", 0.15 },
    // The table's shape rides on the crate below it and carries the ball up there.
    { "static_to_body",
      FLOOR TABLE
      "DEF BASE Solid { name \"base\" translation 0 0 0.2 boundingObject Box { size 1 1 0.4 } physics Physics { density -1 mass 4 } }\n"
      "DEF HIGH Solid { name \"high\" translation 0 0 1.2 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { density -1 mass 1 } }\n",
      AT("1", "dGeomSetBody(geom(\"TABLE\"), body(\"BASE\")); dGeomSetOffsetPosition(geom(\"TABLE\"), 0, 0, 0.4);"),
      "HIGH", 0.8 },
    // The ball's shape stays where it is and holds what lies on it; the ball's body falls.
    { "to_nobody",
      FLOOR BALL
      "DEF PLATE Solid { name \"plate\" translation 0 0 0.21 boundingObject Box { size 0.2 0.2 0.02 } physics Physics { inertiaMatrix [ 1 1 1, 0 0 0 ] density -1 mass 1 } }\n",
      AT("EARLY", "dGeomSetBody(geom(\"BALL\"), 0); dBodySetMaxAngularSpeed(body(\"PLATE\"), 0);"), "PLATE", 0.21 },
    // A body of the plugin's gets the crate's shape, stands on the floor and carries the plate.
    { "to_plugin",
      FLOOR CRATE
      "DEF PLATE Solid { name \"plate\" translation 2 0 0.21 boundingObject Box { size 0.2 0.2 0.02 } physics Physics { density -1 mass 1 } }\n",
      AT("EARLY",
         "dBodyID own = dBodyCreate(world); dMass m; dMassSetBoxTotal(&m, 2, 0.2, 0.2, 0.2); dBodySetMass(own, &m); dBodySetPosition(own, 2, 0, 0.1);\n"
         "dGeomSetBody(geom(\"CRATE\"), own);"),
      "PLATE", 0.21 },
    { "to_plugin_asleep",
      FLOOR CRATE
      "DEF PLATE Solid { name \"plate\" translation 2 0 0.21 boundingObject Box { size 0.2 0.2 0.02 } physics Physics { density -1 mass 1 } }\n",
      AT("LATE",
         "dBodyID own = dBodyCreate(world); dMass m; dMassSetBoxTotal(&m, 2, 0.2, 0.2, 0.2); dBodySetMass(own, &m); dBodySetPosition(own, 2, 0, 0.4);\n"
         "dGeomSetBody(geom(\"CRATE\"), own);"),
      "PLATE", 0.01 },
    { "mesh_data",
      FLOOR "DEF ROCK Solid { name \"rock\" boundingObject " ROCK(
          "0.2") " physics Physics { } }\n"
                 "DEF TALL Solid { name \"tall\" translation 3 0 0 boundingObject " ROCK(
                     "0.5") " physics Physics { } }\n"
                            "DEF PLATE Solid { name \"plate\" translation 0 0 0.51 boundingObject Box { size 0.3 0.3 0.02 } physics Physics { density -1 mass 0.1 } }\n",
      AT("1", "dGeomTriMeshSetData(geom(\"ROCK\"), dGeomTriMeshGetTriMeshDataID(geom(\"TALL\")));"), "PLATE", 0.51 },
    { "box_on_mesh",
      FLOOR "DEF ROCK Solid { name \"rock\" boundingObject " ROCK(
          "0.2") " }\n"
                 "DEF CRATE Solid { name \"crate\" translation 0 0 0.3 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { density -1 mass 1 } }\n",
      AT("EARLY", "dGeomBoxSetLengths(geom(\"CRATE\"), 0.2, 0.2, 0.1);"), "CRATE", 0.25 },
    { "moved_asleep", FLOOR CRATE, AT("LATE", "dBodySetPosition(body(\"CRATE\"), 2, 1, 0.7);"), "CRATE",
      0.7 },  // asleep it stays, as in ODE
};

static void build(const char *name, const char *act, bool is_in_collide)
{
    Text source = { 0 };
    text_printf(&source, "#define IN_COLLIDE %d\n%sstatic void act(void)\n{\n%s}\n", is_in_collide, frame, act);
    compile("gcc", name, source.data, false);
    text_free(&source);
}

static Vec3 place(const World *world, const char *def)
{
    Physics *physics = sim_physics(world->sim);
    return physics_solid_pose(physics, physics_solid_of(physics, scene_find_def(sim_scene(world->sim), def))).t;
}

// 2 mm: contacts let things sink in by a part of it under ODE's softness.
static void test_rests(void **state)
{
    (void)state;
    static const char *const steppers[] = { "talus", "ode-exact" };
    bool is_fine = true;
    for (int i = 0; i < COUNT_OF(rests); i++)
        for (int late = 0; late < 2; late++) {
            char name[64];
            snprintf(name, sizeof name, "%s_%s", rests[i].name, late ? "collide" : "step");
            build(name, rests[i].act, late);
            for (int k = 0; k < 2; k++) {
                World world = world_open_with(name, rests[i].nodes,
                                              &(SimOptions){ .physics = { .stepper = steppers[k] } });
                assert_true(world_start(&world, NULL));
                steps(&world, 400);
                double z = place(&world, rests[i].def).z;
                if (fabs(z - rests[i].z) > 2e-3) {
                    print_message("%s, %s: %s at %.4f, not %.4f\n", name, steppers[k], rests[i].def, z, rests[i].z);
                    is_fine = false;
                }
                expect_no_errors(&world);
                world_close(&world);
            }
        }
    assert_true(is_fine);
}

// Without a shape a body falls; n (n + 1) / 2 dt^2 g is how far in n steps. The pass of the step in which the shape
// goes finds no contact any more; those of the pass before act in it still.
static void test_free_fall(void **state)
{
    (void)state;
    static const struct {
        const char *name, *act;
    } rows[] = {
        { "falls_off", AT("EARLY", "dGeomDisable(geom(\"CRATE\"));") },
        { "falls_out", AT("EARLY", "dSpaceRemove(space, geom(\"CRATE\"));") },
        { "falls_by_bits",
          AT("EARLY", "dGeomSetCategoryBits(geom(\"CRATE\"), 0); dGeomSetCollideBits(geom(\"CRATE\"), 0);") },
        { "falls_alone", AT("EARLY", "dGeomSetBody(geom(\"CRATE\"), 0);") },
        { "falls_given", AT("EARLY", "dGeomSetBody(geom(\"CRATE\"), dBodyCreate(world));") },
    };
    enum { ACT = 20, STEPS = 30 };
    const double dt = 0.01, g = 9.81;
    for (int i = 0; i < COUNT_OF(rows); i++) {
        build(rows[i].name, rows[i].act, false);
        for (int exact = 0; exact < 2; exact++) {
            World world = world_open_with(rows[i].name, FLOOR CRATE,
                                          &(SimOptions){ .physics = { .stepper = exact ? "ode-exact" : "talus" } });
            assert_true(world_start(&world, NULL));
            steps(&world, ACT);
            double before = place(&world, "CRATE").z;
            steps(&world, STEPS);
            double fallen = before - place(&world, "CRATE").z;
            // What speed is left at rest goes along: less than 1e-4 m/s for 0.3 s.
            CHECK(fabs(fallen - 0.5 * g * dt * dt * STEPS * (STEPS + 1)) < 3e-5, rows[i].name);
            world_close(&world);
        }
    }
}

// A shape on a body of the plugin's hits a sleeping crate: it wakes and is pushed along, with every stepper alike.
static void test_hit(void **state)
{
    (void)state;
    build(
        "hits",
        AT("LATE",
           "dBodyID own = dBodyCreate(world); dMass m; dMassSetSphereTotal(&m, 2, 0.1); dBodySetMass(own, &m); dBodySetGravityMode(own, 0);\n"
           "dBodySetPosition(own, 1, 0, 0.1); dBodySetLinearVel(own, 3, 0, 0); dGeomSetBody(geom(\"BALL\"), own);"),
        false);
    double x[2];
    for (int exact = 0; exact < 2; exact++) {
        World world = world_open_with("hits", FLOOR BALL CRATE,
                                      &(SimOptions){ .physics = { .stepper = exact ? "ode-exact" : "talus" } });
        assert_true(world_start(&world, NULL));
        steps(&world, 219);
        Physics *physics = sim_physics(world.sim);
        int crate = physics_solid_of(physics, scene_find_def(sim_scene(world.sim), "CRATE"));
        assert_true(physics_solid_is_idle(physics, crate));
        steps(&world, 60);
        assert_false(physics_solid_is_idle(physics, crate));
        x[exact] = place(&world, "CRATE").x;
        world_close(&world);
    }
    print_message("hit: crate at %.9f and %.9f m\n", x[0], x[1]);
    assert_true(x[0] > 2.1 && fabs(x[0] - x[1]) < 1e-6);
}

// A shape that was given away is the solid's again after a snapshot, wherever the plugin has it then.
static void test_snapshot(void **state)
{
    (void)state;
    build("lends",
          AT("15", "dGeomSetBody(geom(\"BALL\"), body(\"CRATE\"));")
              AT("40", "dGeomSetBody(geom(\"BALL\"), body(\"BALL\"));"),
          false);
    World world = world_open("lends", FLOOR BALL CRATE);
    assert_true(world_start(&world, NULL));
    SimSnapshot snapshot = { 0 };
    steps(&world, 30);
    sim_snapshot(world.sim, &snapshot);
    steps(&world, 30);
    assert_true(sim_restore(world.sim, &snapshot));
    steps(&world, 30);
    assert_true(sim_reset(world.sim));
    steps(&world, 60);
    expect_no_errors(&world);
    sim_snapshot_free(&snapshot);
    world_close(&world);
}

// dGeomSetBody forgets the offset of a shape that changes its body; and what a plugin makes and leaves is not ours to
// free.
const char *__lsan_default_suppressions(void);
__attribute__((visibility("default"), used)) const char *__lsan_default_suppressions(void)
{
    return "leak:dGeomCreateOffset\nleak:dSimpleSpaceCreate\nleak:dxGeom::dxGeom\n";
}

int main(void)
{
    plugin_scratch("plugin_shapes");
    if (!has_compiler("gcc"))
        return 77;
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_rests), cmocka_unit_test(test_free_fall),
                                        cmocka_unit_test(test_hit), cmocka_unit_test(test_snapshot) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
