// Destroying by plugins, in the middle of a pass too: their own objects are theirs at any time, with the same motion
// under every stepper; an object of the world's is refused with a report that names plugin, function and solid.
#include "support/plugin_world.h"

#include "physics/fittings/fittings.h"
#include "physics/ode/ode.h"

#include <math.h>
#include <string.h>

static const char *const scene =
    "DEF FLOOR Solid { name \"floor\" boundingObject Plane { } }\n"
    "DEF BOX Solid { name \"box\" translation 0 0 0.0998 boundingObject Box { size 0.2 0.3 0.2 } physics Physics { density -1 mass 2 } }\n"
    "DEF OTHER Solid { name \"other\" translation 1 0 0.3 boundingObject Sphere { radius 0.1 } physics Physics { density -1 mass 1 } }\n"
    "DEF ARM Robot { name \"arm\" translation 0 2 1 children [ HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 }\n"
    "  endPoint DEF LINK Solid { name \"link\" translation 0.2 0 0 boundingObject Box { size 0.2 0.1 0.1 } physics Physics { density -1 mass 1 } } } ]\n"
    "  boundingObject Box { size 0.1 0.1 0.1 } physics Physics { density -1 mass 1 } }\n";

static const char *const frame =
    "#include <plugins/physics.h>\n"
    "static dBodyID box, other, load; static dGeomID geom; static dWorldID world; static dSpaceID space, own; static dJointGroupID group; static dJointID tie;\n"
    "static int passes, done;\n"
    "static void act(void);\n"
    "DLLEXPORT void webots_physics_init(void) { box = dWebotsGetBodyFromDEF(\"BOX\"); other = dWebotsGetBodyFromDEF(\"OTHER\");\n"
    "  world = dBodyGetWorld(box); space = dGeomGetSpace(dWebotsGetGeomFromDEF(\"BOX\")); group = dJointGroupCreate(0);\n"
    "  (void)other; (void)load; (void)geom; (void)own; (void)tie; (void)space; }\n"
    "DLLEXPORT void webots_physics_step(void) { passes++; done = 0; if (!LATE) act(); }\n"
    "DLLEXPORT int webots_physics_collide(dGeomID a, dGeomID b) { (void)a; (void)b; if (LATE && !done) { done = 1; act(); } return 0; }\n"
    "DLLEXPORT void webots_physics_cleanup(void) { if (group) dJointGroupDestroy(group); }\n";

static void build(const char *name, const char *act, bool is_late)
{
    Text source = { 0 };
    text_printf(&source, "#define LATE %d\n%sstatic void act(void)\n{\n%s\n}\n", is_late, frame, act);
    compile("gcc", name, source.data, false);
    text_free(&source);
}

// ---- what is the plugin's ----

// Each comes, acts and goes every few steps: a load beside the box tied to it, and one that is pushed by contacts of
// its own group.
static const struct {
    const char *name, *act;
} legal[] = {
    { "own_objects",
      "  int phase = passes % 8;\n"
      "  const dReal *p = dBodyGetPosition(box);\n"
      "  if (phase == 1) { dMass mass; dMassSetSphereTotal(&mass, 0.5, 0.05); load = dBodyCreate(world); dBodySetMass(load, &mass);\n"
      "    dBodySetPosition(load, p[0], p[1] + 0.1, p[2] + 0.4); geom = dCreateSphere(space, 0.05); dGeomSetBody(geom, load); }\n"
      "  if (phase == 2) { tie = dJointCreateHinge(world, 0); dJointAttach(tie, load, box); dJointSetHingeAnchor(tie, p[0], p[1], p[2] + 0.2);\n"
      "    dJointSetHingeAxis(tie, 0, 1, 0); dBodyAddForce(load, 6, 1, 0); }\n"
      "  if (phase == 4) dJointDestroy(tie);\n"
      "  if (phase == 5) dGeomDestroy(geom);\n"
      "  if (phase == 6) dBodyDestroy(load);" },
    { "body_first",  // its joint and its geom are left with nobody
      "  int phase = passes % 6;\n"
      "  const dReal *p = dBodyGetPosition(box);\n"
      "  if (phase == 1) { load = dBodyCreate(world); dBodySetPosition(load, p[0] + 0.3, p[1], p[2] + 0.3); geom = dCreateBox(space, 0.1, 0.1, 0.1);\n"
      "    dGeomSetBody(geom, load); tie = dJointCreateSlider(world, 0); dJointAttach(tie, box, load); dJointSetSliderAxis(tie, 1, 0, 0); }\n"
      "  if (phase == 3) dBodyDestroy(load);\n"
      "  if (phase == 4) { dJointDestroy(tie); dGeomDestroy(geom); }" },
    { "own_space",
      "  int phase = passes % 6;\n"
      "  if (phase == 1) { own = dSimpleSpaceCreate(space); load = dBodyCreate(world); dBodySetPosition(load, 0, 0, 0.9 + 0.001 * passes);\n"
      "    for (int i = 0; i < 3; i++) { geom = dCreateSphere(own, 0.05); dGeomSetBody(geom, load); dGeomSetOffsetPosition(geom, 0.1 * i, 0, 0); } }\n"
      "  if (phase == 4) { dSpaceDestroy(own); dBodyDestroy(load); }" },
    { "own_group",
      "  int phase = passes % 6;\n"
      "  if (phase == 1 && !group) group = dJointGroupCreate(0);\n"
      "  if (phase == 2) { tie = dJointCreateBall(world, group); dJointAttach(tie, box, other); dJointSetBallAnchor(tie, 0.5, 0, 0.3); }\n"
      "  if (phase == 4) dJointGroupEmpty(group);\n"
      "  if (phase == 5) { dJointGroupDestroy(group); group = 0; }" },
};

static Vec3 place(const World *world, const char *def)
{
    Physics *physics = sim_physics(world->sim);
    return physics_solid_pose(physics, physics_solid_of(physics, scene_find_def(sim_scene(world->sim), def))).t;
}

static World run(const char *name, const char *stepper, int count)
{
    World world = world_open_with(name, scene, &(SimOptions){ .physics = { .stepper = stepper } });
    assert_true(world_start(&world, NULL));
    steps(&world, count);
    expect_no_errors(&world);
    return world;
}

static void test_own(void **state)
{
    (void)state;
    static const char *const solids[] = { "BOX", "OTHER", "LINK" };
    for (int i = 0; i < 2 * COUNT_OF(legal); i++) {
        const char *name = legal[i / 2].name;
        build(name, legal[i / 2].act, i % 2);
        World ours = run(name, "talus", 60), exact = run(name, "ode-exact", 60);
        double worst = 0.0;
        for (int k = 0; k < COUNT_OF(solids); k++) {
            Vec3 a = place(&ours, solids[k]), b = place(&exact, solids[k]);
            worst = fmax(worst, fmax(fabs(a.x - b.x), fmax(fabs(a.y - b.y), fabs(a.z - b.z))));
        }
        print_message("%s in %s: %.1e m apart\n", name, i % 2 ? "collide" : "step", worst);
        CHECK(worst < 1e-6, name);
        assert_true(sim_reset(ours.sim));  // cleaned up and started again in the middle of it
        world_close(&ours);
        world_close(&exact);
    }
}

// ---- what is the world's ----

static const struct {
    const char *name, *act, *said;
} refused[] = {
    { "body", "  dBodyDestroy(box);", "called dBodyDestroy() with an object that is not its own but part of 'BOX'" },
    { "geom", "  dGeomDestroy(dWebotsGetGeomFromDEF(\"FLOOR\"));",
      "called dGeomDestroy() with an object that is not its own but part of 'FLOOR'" },
    { "joint", "  dJointDestroy(dBodyGetJoint(dWebotsGetBodyFromDEF(\"LINK\"), 0));",
      "called dJointDestroy() with an object that is not its own but part of 'LINK'" },
    { "group", "  dJointGroupDestroy(dWebotsGetContactJointGroup());",
      "called dJointGroupDestroy() with an object that is not its own but part of 'the world'" },
    { "space", "  dSpaceDestroy(space);",
      "called dSpaceDestroy() with an object that is not its own but part of 'the world'" },
    { "world", "  dWorldDestroy(world);",
      "called dWorldDestroy() with an object that is not its own but part of 'the world'" },
    // With the plugin's own space what was put into it would go.
    { "in_own_space",
      "  own = dSimpleSpaceCreate(space); geom = dWebotsGetGeomFromDEF(\"OTHER\"); dSpaceRemove(space, geom); dSpaceAdd(own, geom); dSpaceDestroy(own);",
      "called dGeomDestroy() with an object that is not its own but part of 'OTHER'" },
};

static void test_not_its_own(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * COUNT_OF(refused); i++) {
        char name[64];
        snprintf(name, sizeof name, "not_its_%s", refused[i / 2].name);
        Text act = { 0 };
        text_printf(&act, "  if (passes == 3) {\n%s\n  }", refused[i / 2].act);
        build(name, act.data, i % 2);
        text_free(&act);
        for (int k = 0; k < 2; k++) {
            World world = world_open_with(name, scene,
                                          &(SimOptions){ .physics = { .stepper = k ? "ode-exact" : "talus" } });
            assert_true(world_start(&world, NULL));
            for (int step = 0; step < 5 && sim_step(world.sim); step++)
                ;
            CHECK(times_said(&world, DIAG_ERROR, refused[i / 2].said) == 1, name);
            CHECK(times_said(&world, DIAG_ERROR, name) == 1, name);
            CHECK(times_said(&world, DIAG_ERROR, i % 2 ? "webots_physics_collide called" : "webots_physics_step called")
                      == 1,
                  name);
            world_close(&world);
        }
    }
}

// ---- all that Talus makes ----

// Every kind of joint, motor, spring, weld, pin, loop and hold, and geoms of all kinds, some asleep.
static const char *const rich =
    "DEF FLOOR Solid { name \"floor\" boundingObject Plane { } }\n"
    "DEF BOX Solid { name \"box\" translation 0 0 0.0999 boundingObject Box { size 0.2 0.3 0.2 } physics Physics { density -1 mass 2 } }\n"
    "DEF OTHER Solid { name \"other\" translation 0 0 0.2498 boundingObject Box { size 0.1 0.1 0.1 } physics Physics { density -1 mass 1 } }\n"
    "DEF ROCK Solid { name \"rock\" translation 0 -3 3 boundingObject IndexedFaceSet { coord Coordinate { point [ 0 0 0, 1 0 0, 0 1 0, 0 0 1 ] }\n"
    "  coordIndex [ 0 2 1 -1 0 1 3 -1 1 2 3 -1 0 3 2 -1 ] } physics Physics { } }\n"
    "DEF HILL Solid { name \"hill\" translation 5 5 0 boundingObject ElevationGrid { xDimension 2 yDimension 2 height [ 0 0 0 0 ] } }\n"
    "DEF ARM Robot { name \"arm\" translation 0 2 2 boundingObject Box { size 0.1 0.1 0.1 } physics Physics { density -1 mass 1 } children [\n"
    "  DEF LOOP ExtraJoint { type \"ball\" solidName \"slid\" anchor 0 0.2 0 anchor2 0 0 0 }\n"
    "  TouchSensor { name \"bumper\" type \"force\" translation 0.3 0 0 boundingObject Sphere { radius 0.02 } physics Physics { density -1 mass 0.1 } }\n"
    "  HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 springConstant 1 } device RotationalMotor { name \"m\" }\n"
    "    endPoint DEF LINK Solid { name \"link\" translation 0.2 0 0 boundingObject Box { size 0.2 0.1 0.1 } physics Physics { density -1 mass 1 } } }\n"
    "  Hinge2Joint { jointParameters HingeJointParameters { suspensionSpringConstant 10 suspensionAxis 0 0 1 } jointParameters2 JointParameters { dampingConstant 1 }\n"
    "    endPoint Solid { name \"turned\" translation -0.2 0 0 boundingObject Sphere { radius 0.05 } physics Physics { density -1 mass 1 } } }\n"
    "  SliderJoint { jointParameters JointParameters { axis 0 1 0 springConstant 1 dampingConstant 1 } device LinearMotor { name \"l\" }\n"
    "    endPoint DEF SLID Solid { name \"slid\" translation 0 0.2 0 boundingObject Capsule { radius 0.05 height 0.1 } physics Physics { density -1 mass 1 } } }\n"
    "  BallJoint { jointParameters BallJointParameters { springConstant 1 } endPoint Solid { name \"balled\" translation 0 0 -0.2 boundingObject Group { children [ Cylinder { radius 0.05 height 0.1 } Sphere { radius 0.06 } ] }\n"
    "    physics Physics { density -1 mass 1 } } } ] }\n"
    "Robot { name \"hand\" translation 3 0 1 children [ Connector { name \"c\" translation 0.05 0 0 isLocked TRUE autoLock TRUE type \"symmetric\" } ] boundingObject Box { size 0.1 0.1 0.1 } physics Physics { } }\n"
    "Robot { name \"held\" translation 3.1 0 1 rotation 0 0 1 3.14159265 children [ Connector { name \"d\" translation 0.05 0 0 isLocked TRUE autoLock TRUE type \"symmetric\" } ] boundingObject Box { size 0.1 0.1 0.1 } physics Physics { } }\n";

static World rich_world(const char *name)
{
    World world = world_open_with(name, rich, &(SimOptions){ 0 });
    Physics *physics = sim_physics(world.sim);
    physics_robot_pin(physics, physics_solid_of(physics, scene_find_def(sim_scene(world.sim), "ARM")), true);
    return world;
}

static void test_all_are_known(void **state)
{
    (void)state;
    World world = rich_world("none");
    Physics *physics = sim_physics(world.sim);
    physics_ode_hand_out(physics, PHYSICS_REACHES_ALL);
    steps(&world, 300);
    expect_no_errors(&world);
    int joints = 0, geoms = 0, kinds[32] = { 0 };
    for (int solid = 0; solid < physics_solid_count(physics); solid++) {
        dBodyID body = physics_ode_body(physics, solid);
        for (int i = 0; body && i < dBodyGetNumJoints(body); i++) {
            dJointID joint = dBodyGetJoint(body, i);
            bool is_in_group = dJointGetType(joint) == dJointTypeContact && !physics_solid_is_idle(physics, solid);
            CHECK(is_in_group || physics_ode_owner(physics, joint), physics_solid_label(physics, solid));
            kinds[dJointGetType(joint)]++;
            joints++;
        }
        for (dGeomID geom = body ? dBodyGetFirstGeom(body) : NULL; geom; geom = dBodyGetNextGeom(geom), geoms++) {
            CHECK(physics_ode_owner(physics, geom), physics_solid_label(physics, solid));
            CHECK(physics_ode_owner(physics, dGeomGetSpace(geom)), physics_solid_label(physics, solid));
        }
        CHECK(!body || physics_ode_owner(physics, body), physics_solid_label(physics, solid));
    }
    static const int wanted[] = { dJointTypeHinge, dJointTypePU,     dJointTypeSlider, dJointTypeBall,
                                  dJointTypeFixed, dJointTypeAMotor, dJointTypeContact };
    for (int i = 0; i < COUNT_OF(wanted); i++)
        assert_true(kinds[wanted[i]] > 0);
    assert_true(kinds[dJointTypeFixed] >= 5);  // a pin, a sensor from both sides, a hold from both sides
    print_message("%d joints and %d geoms seen\n", joints, geoms);
    world_close(&world);
}

static const struct {
    const char *name, *act, *said;
} also_refused[] = {
    { "pin",
      "  for (int i = 0; i < dBodyGetNumJoints(arm); i++)\n"
      "    if (dJointGetType(dBodyGetJoint(arm, i)) == dJointTypeFixed && !dJointGetBody(dBodyGetJoint(arm, i), 0)) dJointDestroy(dBodyGetJoint(arm, i));",
      "dJointDestroy() with an object that is not its own but part of 'ARM'" },
    { "loop",
      "  for (int i = 0; i < dBodyGetNumJoints(arm); i++)\n"
      "    if (dJointGetType(dBodyGetJoint(arm, i)) == dJointTypeBall && dJointGetBody(dBodyGetJoint(arm, i), 1) == slid) dJointDestroy(dBodyGetJoint(arm, i));",
      "dJointDestroy() with an object that is not its own but part of 'ARM'" },
    { "mesh", "  dGeomTriMeshDataDestroy(dGeomTriMeshGetTriMeshDataID(dWebotsGetGeomFromDEF(\"ROCK\")));",
      "dGeomTriMeshDataDestroy() with an object that is not its own but part of 'ROCK'" },
    { "heights", "  dGeomHeightfieldDataDestroy(dGeomHeightfieldGetHeightfieldData(dWebotsGetGeomFromDEF(\"HILL\")));",
      "dGeomHeightfieldDataDestroy() with an object that is not its own but part of 'HILL'" },
    { "kept", "  for (int i = 0; i < dBodyGetNumJoints(box); i++) dJointDestroy(dBodyGetJoint(box, i));",
      "dJointDestroy() with an object that is not its own but part of 'BOX'" },
};

static void test_also_refused(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(also_refused); i++) {
        char name[64];
        snprintf(name, sizeof name, "also_%s", also_refused[i].name);
        Text act = { 0 };
        text_printf(
            &act,
            "  dBodyID arm = dWebotsGetBodyFromDEF(\"ARM\"), slid = dWebotsGetBodyFromDEF(\"SLID\"); (void)arm; (void)slid;\n"
            "  if (passes == 250) {\n%s\n  }",
            also_refused[i].act);
        build(name, act.data, false);
        text_free(&act);
        World world = rich_world(name);
        assert_true(world_start(&world, NULL));
        for (int step = 0; step < 251 && sim_step(world.sim); step++)
            ;
        CHECK(times_said(&world, DIAG_ERROR, also_refused[i].said) == 1, name);
        world_close(&world);
    }
}

// As a program would: ODE is there for the next world all the same.
static void test_close(void **state)
{
    (void)state;
    compile("gcc", "closing",
            "#include <plugins/physics.h>\n"
            "DLLEXPORT void webots_physics_init(void) { dInitODE2(0); dAllocateODEDataForThread(dAllocateMaskAll); }\n"
            "DLLEXPORT void webots_physics_step(void) { }\n"
            "DLLEXPORT void webots_physics_cleanup(void) { dCloseODE(); dCloseODE(); }\n",
            false);
    for (int i = 0; i < 3; i++) {
        World world = world_open("closing", rich);
        assert_true(world_start(&world, NULL));
        steps(&world, 3);
        assert_true(sim_reset(world.sim));
        steps(&world, 3);
        expect_no_errors(&world);
        world_close(&world);
    }
}

// What a refused plugin left half done is not freed.
const char *__asan_default_options(void);
__attribute__((visibility("default"), used)) const char *__asan_default_options(void) { return "detect_leaks=0"; }

int main(void)
{
    plugin_scratch("plugin_destroy");
    if (!has_compiler("gcc"))
        return 77;
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_own), cmocka_unit_test(test_not_its_own),
                                        cmocka_unit_test(test_all_are_known), cmocka_unit_test(test_also_refused),
                                        cmocka_unit_test(test_close) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
