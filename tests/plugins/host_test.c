// The plugin host through the C API: old and new signatures, C and C++ with both compilers, every function of the header,
// reset, messages, spaces, contact groups, several worlds in one process.
#include "support/support.h"

#include "sim/sim.h"
#include "talus/talus.h"

#include <pthread.h>
#include <ctype.h>
#include <dlfcn.h>
#include <unistd.h>

typedef struct World {
    Sim *sim;
    DiagSink *diags;
    FILE *stream;    // what the plugin prints
    char out[8192];
} World;

static const char *folder;

// Compiles a plugin into the scratch project. The source is C and C++ at once.
static void compile(const char *compiler, const char *name, const char *source, bool is_cpp)
{
    char path[1024], command[4096];
    snprintf(path, sizeof path, "%s/plugins/physics/%s", folder, name);
    snprintf(command, sizeof command, "mkdir -p %s", path);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/plugins/physics/%s/%s.%s", folder, name, name, is_cpp ? "cpp" : "c");
    support_write(path, source);
    snprintf(command, sizeof command, "%s -Wall -Wextra -Werror -g -fPIC -shared -Iinclude %s -o %s/plugins/physics/%s/lib%s.so", compiler, path,
             folder, name, name);
    CHECK(system(command) == 0, command);
}

static World world_open(const char *plugin, const char *nodes)
{
    World world = { .diags = diag_create() };
    char path[1024];
    Text text = { 0 };
    text_printf(&text, "#VRML_SIM R2025a utf8\nWorldInfo { physics \"%s\" basicTimeStep 10 }\n%s", plugin, nodes);
    snprintf(path, sizeof path, "%s/worlds/%s.wbt", folder, plugin);
    support_write(path, text.data);
    text_free(&text);
    world.sim = sim_load(path, NULL, world.diags);
    CHECK(world.sim, plugin);
    world.stream = tmpfile();
    assert_non_null(world.stream);
    return world;
}

static bool world_start(World *world, Devices *devices)
{
    SimPluginOptions options = { .plugin = { .out = world->stream, .devices = devices } };
    return sim_start_plugin(world->sim, &options);
}

static void world_close(World *world)
{
    sim_destroy(world->sim);
    fclose(world->stream);
    diag_destroy(world->diags);
}

static const char *printed(World *world)
{
    rewind(world->stream);
    size_t length = fread(world->out, 1, sizeof world->out - 1, world->stream);
    world->out[length] = '\0';
    fseek(world->stream, 0, SEEK_END);
    return world->out;
}

static void expect_no_errors(const World *world)
{
    diag_print(world->diags, stderr, 0, DIAG_ERROR);
    assert_false(diag_has_errors(world->diags));
}

static const char *const falling =
    "DEF FLOOR Solid { name \"floor\" boundingObject Plane { } }\n"
    "DEF BOX Solid { translation 0 0 0.5 boundingObject Box { size 1 1 1 } physics Physics { density -1 mass 2 } }\n";

static const char *const every_function =
    "#include <plugins/physics.h>\n"
    "#include <plugins/physics.h>\n"
    "#include <string.h>\n"
    "static int inits, steps, ends;\n"
    "DLLEXPORT void webots_physics_init(dWorldID world, dSpaceID space, dJointGroupID group)\n"
    "{\n"
    "  dBodyID box = dWebotsGetBodyFromDEF(\"BOX\");\n"
    "  dGeomID geom = dWebotsGetGeomFromDEF(\"BOX\");\n"
    "  dVector3 axis;\n"
    "  dJointID hinge = dJointCreateHinge(world, 0), hinge2 = dJointCreateHinge2(world, 0);\n"
    "  dBodyID other = dBodyCreate(world);\n"
    "  dJointAttach(hinge, box, 0);\n"
    "  dJointAttach(hinge2, box, other);\n"
    "  dJointSetHingeAxis(hinge, 0, 0, 1);\n"
    "  const dReal up[3] = { 0, 0, 1 }, side[3] = { 0, 1, 0 };\n"
    "  dJointSetHinge2Axes(hinge2, up, side);\n"
    "  dJointID motor = dJointCreateLMotor(world, 0);\n"
    "  dJointSetLMotorNumAxes(motor, 1);\n"
    "  dJointSetLMotorPosition(motor, 0, 0.5);\n"
    "  dJointSetHingeParam(hinge, dParamSuspensionERP, 0.4);\n"
    "  dJointSetHingeParam(hinge, dParamSuspensionCFM, 0.01);\n"
    "  if (dJointGetLMotorPosition(motor, 0) != 0.5 || dJointGetHingeParam(hinge, dParamSuspensionERP) != 0.4 ||\n"
    "      dJointGetHingeParam(hinge, dParamSuspensionCFM) != 0.01)\n"
    "    dWebotsConsolePrintf(\"wrong number\");\n"
    "  dJointDestroy(motor);\n"
    "  dJointSetHingeSuspensionAxis(hinge, 0, 0, 1);\n"
    "  dJointGetHingeSuspensionAxis(hinge, axis);\n"
    "  dJointSetHinge2SuspensionAxis(hinge2, 0, 0, 1);\n"
    "  dJointGetHinge2SuspensionAxis(hinge2, axis);\n"
    "  if (axis[2] != 1)\n"
    "    dWebotsConsolePrintf(\"wrong axis\");\n"
    "  dJointDestroy(hinge);\n"
    "  dJointDestroy(hinge2);\n"
    "  dBodyDestroy(other);\n"
    "  dGeomSetDynamicFlag(geom);\n"
    "  inits++;\n"
    "  dWebotsConsolePrintf(\"init %d %d %d\\n%s\", dBodyGetWorld(box) == world, dGeomGetSpace(geom) == space, group != 0,\n"
    "                       dAreGeomsSame(geom, dWebotsGetGeomFromDEF(\"BOX\")) ? \"same\" : \"other\");\n"
    "  if (dWebotsGetBodyFromDEF(\"FLOOR\") || dWebotsGetBodyFromDEF(\"NOWHERE\") || dWebotsGetGeomFromDEF(\"NOWHERE\"))\n"
    "    dWebotsConsolePrintf(\"found too much\");\n"
    "}\n"
    "DLLEXPORT void webots_physics_step(void)\n"
    "{\n"
    "  int size = -1;\n"
    "  if (dWebotsReceive(&size) || size != 0)\n"
    "    dWebotsConsolePrintf(\"received %d\", size);\n"
    "  dWebotsSend(1, \"x\", 1);\n"
    "  if (++steps == 3)\n"
    "    dWebotsConsolePrintf(\"gone\\fstep 3 at %g ms\\n\", dWebotsGetTime());\n"
    "}\n"
    "DLLEXPORT int webots_physics_collide(dGeomID a, dGeomID b)\n"
    "{\n"
    "  (void)a;\n"
    "  (void)b;\n"
    "  return dWebotsGetContactJointGroup() ? 0 : 1;\n"
    "}\n"
    "DLLEXPORT void webots_physics_step_end(void)\n"
    "{\n"
    "  ends++;\n"
    "}\n"
    "DLLEXPORT void webots_physics_draw(void)\n"
    "{\n"
    "}\n"
    "DLLEXPORT void webots_physics_cleanup(void)\n"
    "{\n"
    "  dWebotsConsolePrintf(\"cleanup after %d inits, %d steps, %d ends\", inits, steps, ends);\n"
    "}\n";

static void test_every_function(void **state)
{
    (void)state;
    static const struct { const char *compiler; bool is_cpp; } cases[] = {
        { "gcc", false }, { "clang", false }, { "g++", true }, { "clang++", true }, { "gcc -std=gnu99 -lode", false },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char name[32];
        snprintf(name, sizeof name, "every%d", i);
        compile(cases[i].compiler, name, every_function, cases[i].is_cpp);
        World world = world_open(name, falling);
        CHECK(world_start(&world, NULL), cases[i].compiler);
        for (int k = 0; k < 5; k++)
            CHECK(sim_step(world.sim), cases[i].compiler);
        CHECK(sim_end_plugin(world.sim), cases[i].compiler);
        char expected[400];
        snprintf(expected, sizeof expected, "[%s] init 1 1 1\n[%s] same\n[%s] step 3 at 20 ms\n[%s] cleanup after 1 inits, 5 steps, 5 ends\n", name,
                 name, name, name);
        assert_string_equal(printed(&world), expected);
        expect_no_errors(&world);
        world_close(&world);
    }
}

// Whatever the headers declare is there for a plugin to call.
static void test_every_declaration(void **state)
{
    (void)state;
    static const char *const headers[] = { "include/plugins/physics.h", "include/plugins/fluid.h" };
    int count = 0;
    for (int i = 0; i < COUNT_OF(headers); i++) {
        FILE *file = fopen(headers[i], "r");
        CHECK(file, headers[i]);
        char line[400], name[100];
        while (fgets(line, sizeof line, file)) {
            const char *open = strchr(line, '('), *start = open;
            while (start && start > line && (isalnum((unsigned char)start[-1]) || start[-1] == '_'))
                start--;
            // A declaration starts at the line's first column; comments and fields do not.
            if (!open || !isalpha((unsigned char)line[0]) || start == line || start[0] != 'd' || !isupper((unsigned char)start[1]))
                continue;
            snprintf(name, sizeof name, "%.*s", (int)(open - start), start);
            CHECK(dlsym(RTLD_DEFAULT, name), name);
            count++;
        }
        fclose(file);
    }
    assert_true(count > 50);
}

// Names without extern "C" are found too.
static void test_mangled_names(void **state)
{
    (void)state;
    compile("g++", "mangled", "#include <plugins/physics.h>\nvoid webots_physics_init() { dWebotsConsolePrintf(\"init\"); }\n"
                              "void webots_physics_step() { }\nvoid webots_physics_cleanup() { }\n", true);
    World world = world_open("mangled", falling);
    assert_true(world_start(&world, NULL));
    assert_string_equal(printed(&world), "[mangled] init\n");
    world_close(&world);
}

// Old plugins draw without including OpenGL or being linked with it.
static void test_old_drawing(void **state)
{
    (void)state;
    compile("g++", "drawing", "#include <ode/ode.h>\n#include <plugins/physics.h>\n"
                              "void webots_physics_init(dWorldID, dSpaceID, dJointGroupID) { dWebotsConsolePrintf(\"init\\r\\n\"); }\n"
                              "void webots_physics_step() { }\n"
                              "void webots_physics_draw() { glDisable(GL_LIGHTING); glBegin(GL_LINES); glVertex3f(0, 0, 0); glEnd(); }\n"
                              "void webots_physics_cleanup() { }\n", true);
    World world = world_open("drawing", falling);
    assert_true(world_start(&world, NULL));
    assert_string_equal(printed(&world), "[drawing] init\n");
    assert_true(plugin_has_draw(sim_plugin(world.sim)));
    world_close(&world);
}

// Paths go through joints; a name that other nodes have too means the Solid; one without Physics has no body.
static void test_paths(void **state)
{
    (void)state;
    compile("gcc", "paths", "#include <plugins/physics.h>\n"
                            "static void show(const char *path) { dBodyID b = dWebotsGetBodyFromDEF(path); dGeomID g = dWebotsGetGeomFromDEF(path);\n"
                            "  dWebotsConsolePrintf(\"%s %g %d\", path, b ? dBodyGetPosition(b)[1] : -1, g ? dGeomGetClass(g) == dBoxClass : -1); }\n"
                            "DLLEXPORT void webots_physics_init(void)\n"
                            "{\n"
                            "  show(\"A.J.ARM\"); show(\"B.J.ARM\"); show(\"B.ARM\"); show(\"B.J\"); show(\"ARM\"); show(\"A.HAND\"); show(\"B.HAND\");\n"
                            "  dWebotsGetBodyFromDEF(\"\");\n"
                            "}\n"
                            "DLLEXPORT void webots_physics_step(void) { }\n"
                            "DLLEXPORT void webots_physics_cleanup(void) { }\n", false);
    Text nodes = { 0 };
    text_add_string(&nodes, "DEF ARM Group { }\n");
    for (int i = 0; i < 2; i++)
        text_printf(&nodes, "DEF %c Robot { name \"%d\" translation 0 %d 0 boundingObject Sphere { } physics Physics { } children [\n"
                            "DEF J HingeJoint { endPoint DEF ARM Solid { translation 3 1 0 boundingObject Box { } physics Physics { } } }\n"
                            "%s ] }\n", 'A' + i, i, 10 * i, i ? "DEF HAND Solid { name \"hand\" boundingObject Box { } }" : "");
    World world = world_open("paths", nodes.data);
    text_free(&nodes);
    assert_true(world_start(&world, NULL));
    assert_string_equal(printed(&world), "[paths] A.J.ARM 1 1\n[paths] B.J.ARM 11 1\n[paths] B.ARM 11 1\n[paths] B.J -1 -1\n[paths] ARM 1 1\n"
                                         "[paths] A.HAND -1 -1\n[paths] B.HAND -1 1\n");
    assert_true(diag_total(world.diags, DIAG_WARNING) >= 1);  // about the empty name
    world_close(&world);
}

static const char *const pushing =
    "#include <plugins/physics.h>\n"
    "static dBodyID box;\n"
    "static int count;\n"
    "DLLEXPORT void webots_physics_init(void) { box = dWebotsGetBodyFromDEF(\"BOX\"); count = 0; dWebotsConsolePrintf(\"init\"); }\n"
    "DLLEXPORT void webots_physics_step(void) { dBodyAddForce(box, PUSH * ++count, 0, 60); }\n"
    "DLLEXPORT void webots_physics_cleanup(void) { dWebotsConsolePrintf(\"cleanup\"); box = 0; }\n";

static double box_x(const World *world)
{
    Physics *physics = sim_physics(world->sim);
    return physics_solid_pose(physics, physics_solid_of(physics, scene_find_def(sim_scene(world->sim), "BOX"))).t.x;
}

static void steps(World *world, int count)
{
    for (int i = 0; i < count; i++)
        assert_true(sim_step(world->sim));
}

// A run after a reset is the run after a load, and the plugin was cleaned up and started in between.
static void test_reset(void **state)
{
    (void)state;
    compile("gcc -DPUSH=3", "pushing", pushing, false);
    World world = world_open("pushing", falling);
    assert_true(world_start(&world, NULL));
    steps(&world, 20);
    uint64_t hash = sim_hash(world.sim);
    double x = box_x(&world);
    assert_true(x > 0.01);
    assert_true(sim_reset(world.sim));
    assert_true(box_x(&world) == 0.0);
    steps(&world, 20);
    assert_true(sim_hash(world.sim) == hash);
    assert_string_equal(printed(&world), "[pushing] init\n[pushing] cleanup\n[pushing] init\n");
    world_close(&world);
    // Loaded again in the same process: the same again.
    world = world_open("pushing", falling);
    assert_true(world_start(&world, NULL));
    steps(&world, 20);
    assert_true(sim_hash(world.sim) == hash);
    world_close(&world);
}

// Two worlds with different plugins, stepped in turns: each plugin has its own world.
static void test_two_worlds(void **state)
{
    (void)state;
    compile("gcc -DPUSH=3", "pushing", pushing, false);
    compile("clang -DPUSH=-6", "pulling", pushing, false);
    World one = world_open("pushing", falling), two = world_open("pulling", falling);
    assert_true(world_start(&one, NULL));
    assert_true(world_start(&two, NULL));
    for (int i = 0; i < 20; i++) {
        steps(&one, 1);
        steps(&two, 1);
    }
    CHECK_NEAR(box_x(&two), -2.0 * box_x(&one), 1e-9, "twice as far to the other side");
    assert_string_equal(printed(&one), "[pushing] init\n");
    assert_string_equal(printed(&two), "[pulling] init\n");
    world_close(&one);
    world_close(&two);
}

// A body of several shapes is asked about as a space first; what is handled there is not asked about in parts.
static void test_spaces(void **state)
{
    (void)state;
    compile("gcc", "spaces",
            "#include <plugins/physics.h>\n"
            "static int spaces, parts;\n"
            "DLLEXPORT void webots_physics_init(void) { if (!dGeomIsSpace(dWebotsGetGeomFromDEF(\"TABLE\"))) dWebotsConsolePrintf(\"no space\"); }\n"
            "DLLEXPORT void webots_physics_step(void) { spaces = parts = 0; }\n"
            "DLLEXPORT int webots_physics_collide(dGeomID a, dGeomID b)\n"
            "{\n"
            "  if (dGeomIsSpace(a) || dGeomIsSpace(b)) { spaces++; return 1; }\n"
            "  parts++;\n"
            "  return 0;\n"
            "}\n"
            "DLLEXPORT void webots_physics_step_end(void) { dWebotsConsolePrintf(\"%d %d\", spaces, parts); }\n"
            "DLLEXPORT void webots_physics_cleanup(void) { }\n", false);
    World world = world_open("spaces", "DEF FLOOR Solid { name \"floor\" boundingObject Plane { } }\n"
                                       "DEF TABLE Solid { translation 0 0 0.5 boundingObject Group { children [ Box { size 1 1 1 }\n"
                                       "Pose { translation 2 0 0 children [ Box { size 1 1 1 } ] } ] } physics Physics { } }\n");
    assert_true(world_start(&world, NULL));
    steps(&world, 2);
    assert_string_equal(printed(&world), "[spaces] 1 0\n[spaces] 1 0\n");
    int count;
    physics_contacts(sim_physics(world.sim), &count);
    assert_int_equal(count, 0);  // the plugin handled the pair and made none: the table falls through
    world_close(&world);
}

// Contact joints that go to the group that init gave act for one step as well.
static void test_old_contact_group(void **state)
{
    (void)state;
    compile("gcc", "oldgroup",
            "#include <plugins/physics.h>\n"
            "static dWorldID world;\n"
            "static dJointGroupID group;\n"
            "DLLEXPORT void webots_physics_init(dWorldID w, dSpaceID s, dJointGroupID g) { (void)s; world = w; group = g; }\n"
            "DLLEXPORT void webots_physics_step(void) { }\n"
            "DLLEXPORT int webots_physics_collide(dGeomID a, dGeomID b)\n"
            "{\n"
            "  dContact c[8];\n"
            "  int n = dCollide(a, b, 8, &c[0].geom, sizeof(dContact));\n"
            "  for (int i = 0; i < n; i++) {\n"
            "    c[i].surface.mode = 0;\n"
            "    c[i].surface.mu = dInfinity;\n"
            "    dJointAttach(dJointCreateContact(world, group, &c[i]), dGeomGetBody(a), dGeomGetBody(b));\n"
            "  }\n"
            "  return 2;\n"
            "}\n"
            "DLLEXPORT void webots_physics_step_end(void)\n"
            "{\n"
            "  dWebotsConsolePrintf(\"%d\", dBodyGetNumJoints(dWebotsGetBodyFromDEF(\"BOX\")));\n"
            "}\n"
            "DLLEXPORT void webots_physics_cleanup(void) { }\n", false);
    World world = world_open("oldgroup", falling);
    assert_true(world_start(&world, NULL));
    steps(&world, 4);
    assert_string_equal(printed(&world), "[oldgroup] 4\n[oldgroup] 4\n[oldgroup] 4\n[oldgroup] 4\n");
    Physics *physics = sim_physics(world.sim);
    int box = physics_solid_of(physics, scene_find_def(sim_scene(world.sim), "BOX"));
    assert_true(physics_solid_is_colliding(physics, box));
    CHECK_NEAR(physics_solid_pose(physics, box).t.z, 0.5, 1e-3, "it rests on the plugin's contacts");
    world_close(&world);
}

// From the plugin to a receiver; the other way round is in the examples.
static void test_messages(void **state)
{
    (void)state;
    compile("gcc", "sending",
            "#include <plugins/physics.h>\n"
            "DLLEXPORT void webots_physics_init(void) { }\n"
            "DLLEXPORT void webots_physics_step(void) { dWebotsSend(7, \"hello\", 6); dWebotsSend(8, \"others\", 7); dWebotsSend(7, 0, 1); }\n"
            "DLLEXPORT void webots_physics_cleanup(void) { }\n", false);
    World world = world_open("sending", "Robot { children [ Receiver { channel 7 } ] }\n");
    Devices *devices = devices_create(sim_scene(world.sim), sim_physics(world.sim), world.diags);
    devices_enable(devices, 0, 1, 0, 10);
    assert_true(world_start(&world, devices));
    steps(&world, 1);
    devices_sample(devices, 1);
    assert_int_equal(devices_packet_count(devices, 0, 1), 1);
    assert_string_equal(devices_packet(devices, 0, 1, 0).data, "hello");
    assert_int_equal(diag_total(world.diags, DIAG_WARNING) >= 1, 1);  // about the NULL
    sim_end_plugin(world.sim);
    devices_destroy(devices);
    world_close(&world);
}

// Without a robot or any device: the hosting program and the plugin talk through the library's own interface.
static void test_messages_of_host(void **state)
{
    (void)state;
    compile("gcc", "talking",
            "#include <plugins/physics.h>\n"
            "DLLEXPORT void webots_physics_init(void) { }\n"
            "DLLEXPORT void webots_physics_step(void)\n"
            "{\n"
            "  int size;\n"
            "  const char *text = (const char *)dWebotsReceive(&size);\n"
            "  if (text) { dWebotsSend(3, text, size); dWebotsSend(4, &size, sizeof size); dWebotsSend(3, \"end\", 4); }\n"
            "}\n"
            "DLLEXPORT void webots_physics_cleanup(void) { }\n", false);
    World unused = world_open("talking", falling);
    world_close(&unused);
    char path[1024];
    snprintf(path, sizeof path, "%s/worlds/talking.wbt", folder);
    TalusWorld *world = talus_load(path, NULL);
    assert_non_null(world);
    size_t size;
    assert_false(talus_plugin_send(world, "early", 5));  // there is no plugin yet
    assert_null(talus_plugin_receive(world, 3, &size));
    assert_true(talus_plugin_start(world, NULL));
    assert_true(talus_step(world, 1));
    assert_null(talus_plugin_receive(world, 3, &size));
    assert_true(talus_plugin_send(world, "one ", 4) && talus_plugin_send(world, "two", 4));
    assert_false(talus_plugin_send(world, "", 0));
    assert_true(talus_step(world, 2));
    const int *number = talus_plugin_receive(world, 4, &size);
    assert_true(number && size == sizeof(int) && *number == 8);
    assert_string_equal(talus_plugin_receive(world, 3, &size), "one two");
    assert_int_equal(size, 8);
    assert_string_equal(talus_plugin_receive(world, 3, &size), "end");
    assert_null(talus_plugin_receive(world, 3, &size));  // given once, in one step alone
    assert_null(talus_plugin_receive(world, 4, &size));
    assert_true(talus_plugin_stop(world));
    talus_free(world);
}

// ---- one library, several worlds ----

// The same plugin in two worlds counts for each by itself; a third world after them starts from nothing, too.
static void test_same_plugin_twice(void **state)
{
    (void)state;
    static const char *const counting =
        "#include <plugins/physics.h>\n"
        "static int count = 100;\n"
        "static int *singleton(void) { static int steps; return &steps; }\n"
        "DLLEXPORT void webots_physics_init(void) { dWebotsConsolePrintf(\"init %d\", count); }\n"
        "DLLEXPORT void webots_physics_step(void) { count++; ++*singleton(); }\n"
        "DLLEXPORT void webots_physics_cleanup(void) { dWebotsConsolePrintf(\"end %d %d\", count, *singleton()); }\n";
    compile("g++", "counting", counting, true);
    for (int round = 0; round < 2; round++) {
        World one = world_open("counting", falling), two = world_open("counting", falling);
        assert_true(world_start(&one, NULL) && world_start(&two, NULL));
        steps(&one, 3);
        steps(&two, 5);
        steps(&one, 1);
        assert_true(sim_end_plugin(one.sim) && sim_end_plugin(two.sim));
        assert_string_equal(printed(&one), "[counting] init 100\n[counting] end 104 4\n");
        assert_string_equal(printed(&two), "[counting] init 100\n[counting] end 105 5\n");
        world_close(&one);
        world_close(&two);
    }
}

typedef struct Runner { World *world; int steps; bool is_fine; } Runner;

static void *run_steps(void *context)
{
    Runner *runner = context;
    runner->is_fine = world_start(runner->world, NULL);
    for (int i = 0; runner->is_fine && i < runner->steps; i++)
        runner->is_fine = sim_step(runner->world->sim);
    runner->is_fine = runner->is_fine && sim_end_plugin(runner->world->sim);
    return NULL;
}

// Four worlds on four threads, two with one plugin and two with another: each gives what it gives alone.
static void test_worlds_on_threads(void **state)
{
    (void)state;
    static const char *const names[] = { "pushing", "pulling", "pushing", "pulling" };
    uint64_t alone[2], hashes[4];
    for (int i = 0; i < 2; i++) {
        World world = world_open(names[i], falling);
        assert_true(world_start(&world, NULL));
        steps(&world, 200);
        alone[i] = sim_hash(world.sim);
        world_close(&world);
    }
    World worlds[4];
    Runner runners[4];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        worlds[i] = world_open(names[i], falling);
    for (int i = 0; i < 4; i++) {
        runners[i] = (Runner){ &worlds[i], 200, false };
        assert_int_equal(pthread_create(&threads[i], NULL, run_steps, &runners[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++) {
        CHECK(runners[i].is_fine, names[i]);
        hashes[i] = sim_hash(worlds[i].sim);
        CHECK(hashes[i] == alone[i % 2], names[i]);
        world_close(&worlds[i]);
    }
}

// A plugin with the documented mutex, in worlds with several threads: the same bytes with every number of them.
static void test_threads(void **state)
{
    (void)state;
    compile("gcc", "mutexed",
            "#include <plugins/physics.h>\n"
            "static pthread_mutex_t mutex;\n"
            "static dWorldID world;\n"
            "static int count;\n"
            "DLLEXPORT void webots_physics_init(void)\n"
            "{\n"
            "  pthread_mutex_init(&mutex, NULL);\n"
            "  world = dBodyGetWorld(dWebotsGetBodyFromDEF(\"B0\"));\n"
            "}\n"
            "DLLEXPORT void webots_physics_step(void) { count = 0; }\n"
            "DLLEXPORT int webots_physics_collide(dGeomID a, dGeomID b)\n"
            "{\n"
            "  dContact c[4];\n"
            "  int n = dCollide(a, b, 4, &c[0].geom, sizeof(dContact));\n"
            "  if (n == 0)\n"
            "    return 0;\n"
            "  pthread_mutex_lock(&mutex);\n"
            "  dJointGroupID group = dWebotsGetContactJointGroup();\n"
            "  for (int i = 0; i < n; i++, count++) {\n"
            "    c[i].surface.mode = dContactBounce | dContactSoftCFM;\n"
            "    c[i].surface.mu = 0.3;\n"
            "    c[i].surface.bounce = 0.1;\n"
            "    c[i].surface.bounce_vel = 0.01;\n"
            "    c[i].surface.soft_cfm = 0.0001;\n"
            "    dJointAttach(dJointCreateContact(world, group, &c[i]), dGeomGetBody(a), dGeomGetBody(b));\n"
            "  }\n"
            "  pthread_mutex_unlock(&mutex);\n"
            "  return 1;\n"
            "}\n"
            "DLLEXPORT void webots_physics_step_end(void) { dWebotsConsolePrintf(\"%d\", count); }\n"
            "DLLEXPORT void webots_physics_cleanup(void) { pthread_mutex_destroy(&mutex); }\n", false);
    Text nodes = { 0 };
    text_printf(&nodes, "Solid { name \"floor\" boundingObject Plane { } }\n");
    for (int i = 0; i < 60; i++)
        text_printf(&nodes, "DEF B%d Solid { name \"b%d\" translation %g %g %g boundingObject %s physics Physics { } }\n", i, i, 0.3 * (i % 4), 0.31 * (i / 4 % 4),
                    0.3 + 0.45 * (i / 16), i % 2 ? "Box { size 0.4 0.4 0.4 }" : "Sphere { radius 0.2 }");
    uint64_t hash = 0;
    char said[8192] = "";
    static const int thread_counts[] = { 1, 2, 4, 8 };
    for (int i = 0; i < COUNT_OF(thread_counts); i++) {
        World world = world_open("mutexed", nodes.data);
        sim_destroy(world.sim);
        char path[1024];
        snprintf(path, sizeof path, "%s/worlds/mutexed.wbt", folder);
        world.sim = sim_load(path, &(SimOptions){ .physics = { .threads = thread_counts[i] } }, world.diags);
        assert_true(world_start(&world, NULL));
        steps(&world, 150);
        if (i == 0) {
            hash = sim_hash(world.sim);
            snprintf(said, sizeof said, "%s", printed(&world));
            assert_true(strlen(said) > 500);
        }
        CHECK(sim_hash(world.sim) == hash, "hash");
        CHECK(!strcmp(printed(&world), said), "contacts");
        world_close(&world);
    }
    text_free(&nodes);
}

// ---- where it lies ----

static const char *const where =
    "#include <plugins/physics.h>\n#include <unistd.h>\n#include <string.h>\n"
    "DLLEXPORT void webots_physics_init(void)\n"
    "{\n"
    "  char folder[4096];\n"
    "  const char *name = getcwd(folder, sizeof folder) ? strstr(folder, \"plugin_host/\") : 0;\n"
    "  dWebotsConsolePrintf(\"%s in %s\", WHICH, name ? name + 12 : folder);\n"
    "}\n"
    "DLLEXPORT void webots_physics_step(void) { }\n"
    "DLLEXPORT void webots_physics_cleanup(void) { }\n";

// Builds the plugin "where" below `project`, under the name of `file`, to say `which`.
static void put_where(const char *project, const char *file, const char *which)
{
    char command[8192];
    snprintf(command, sizeof command, "mkdir -p %s/%s/plugins/physics/where/$(dirname %s)", folder, project, file);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "%s/where.c", folder);
    support_write(command, where);
    snprintf(command, sizeof command, "gcc -DWHICH='\"%s\"' -fPIC -shared -Iinclude %s/where.c -o %s/%s/plugins/physics/where/%s", which, folder, folder,
             project, file);
    CHECK(system(command) == 0, command);
}

static void expect_where(const char *case_name, const char *nodes, const char *said)
{
    World world = world_open("where", nodes);
    char before[4096], after[4096];
    assert_non_null(getcwd(before, sizeof before));
    CHECK(world_start(&world, NULL), case_name);
    if (strcmp(printed(&world), said))
        fail_msg("%s: it says %s, not %s", case_name, printed(&world), said);
    assert_non_null(getcwd(after, sizeof after));
    assert_string_equal(before, after);
    world_close(&world);
}

static void remove_where(const char *project)
{
    char command[4096];
    snprintf(command, sizeof command, "rm -r %s/%s/plugins/physics/where", folder, project);
    assert_int_equal(system(command), 0);
}

static void test_lookup(void **state)
{
    (void)state;
    char path[1024], value[4096];
    snprintf(value, sizeof value, "%s/extra_a:%s/extra_b", folder, folder);
    setenv("TALUS_PATH", value, 1);
    snprintf(value, sizeof value, "%s/home", folder);
    setenv("WEBOTS_HOME", value, 1);
    put_where("home/resources/projects", "libwhere.so", "resources");
    expect_where("resources", falling, "[where] resources in home/resources/projects/plugins/physics/where\n");
    put_where("home/projects/default", "where.so", "default");
    expect_where("default", falling, "[where] default in home/projects/default/plugins/physics/where\n");
    put_where("extra_b", "libwhere.so", "path");
    expect_where("path", falling, "[where] path in extra_b/plugins/physics/where\n");
    // The first folder decides: without a library in it the search ends there.
    snprintf(path, sizeof path, "mkdir -p %s/extra_a/plugins/physics/where", folder);
    assert_int_equal(system(path), 0);
    World world = world_open("where", falling);
    assert_false(world_start(&world, NULL));
    world_close(&world);
    remove_where("extra_a");
    put_where(".", "where.so", "plain");
    expect_where("plain name", falling, "[where] plain in plugins/physics/where\n");
    put_where(".", "libwhere.so", "lib");
    expect_where("lib before plain", falling, "[where] lib in plugins/physics/where\n");
    sleep(1);
    put_where(".", "build/release/libwhere.so", "newer");
    expect_where("a newer build", falling, "[where] newer in plugins/physics/where\n");
    remove_where(".");
    unsetenv("TALUS_PATH");
    unsetenv("WEBOTS_HOME");
}

// Of the project of a PROTO that the world uses.
static void test_lookup_beside_proto(void **state)
{
    (void)state;
    char path[1024];
    snprintf(path, sizeof path, "mkdir -p %s/maker/protos", folder);
    assert_int_equal(system(path), 0);
    snprintf(path, sizeof path, "%s/maker/protos/Thing.proto", folder);
    support_write(path, "#VRML_SIM R2025a utf8\nPROTO Thing [ ] { Solid { boundingObject Box { } } }\n");
    put_where("maker", "libwhere.so", "maker");
    snprintf(path, sizeof path, "%s/worlds/beside.wbt", folder);
    support_write(path, "#VRML_SIM R2025a utf8\nEXTERNPROTO \"../maker/protos/Thing.proto\"\nWorldInfo { physics \"where\" }\nThing { }\n");
    World world = { .diags = diag_create(), .stream = tmpfile() };
    world.sim = sim_load(path, NULL, world.diags);
    assert_non_null(world.sim);
    assert_true(world_start(&world, NULL));
    assert_string_equal(printed(&world), "[where] maker in maker/plugins/physics/where\n");
    world_close(&world);
    remove_where("maker");
}

static char *page(void)
{
    char *text = support_read("docs/plugins.md");
    assert_non_null(text);
    return text;
}

// The order of callbacks is the one that docs/plugins.md shows.
static void test_order(void **state)
{
    (void)state;
    compile("gcc", "order",
            "#include <plugins/physics.h>\n"
            "#include <string.h>\n"
            "static char last[20];\n"
            "static void say(const char *what) { if (strcmp(last, what)) dWebotsConsolePrintf(\"%s\", what); strcpy(last, what); }\n"
            "DLLEXPORT void webots_physics_init(void) { say(\"init\"); }\n"
            "DLLEXPORT void webots_physics_step(void) { say(\"step\"); }\n"
            "DLLEXPORT int webots_physics_collide(dGeomID a, dGeomID b) { (void)a; (void)b; say(\"collide\"); return 0; }\n"
            "DLLEXPORT void webots_physics_step_end(void) { say(\"step_end\"); }\n"
            "DLLEXPORT void webots_physics_cleanup(void) { say(\"cleanup\"); }\n", false);
    World world = world_open("order", falling);
    assert_true(world_start(&world, NULL));
    steps(&world, 2);
    assert_true(sim_reset(world.sim));
    steps(&world, 1);
    assert_true(sim_end_plugin(world.sim));
    Text order = { 0 };
    for (const char *at = printed(&world); *at; at += strcspn(at, "\n") + 1) {
        at += strlen("[order] ");
        text_printf(&order, "%s%.*s", order.length ? " " : "    ", (int)strcspn(at, "\n"), at);
    }
    text_add_char(&order, '\n');
    char *text = page();
    CHECK(strstr(text, order.data), order.data);
    free(text);
    text_free(&order);
    world_close(&world);
}

// The objects behind nodes are those of the tables in docs/plugins.md.
static void test_structure(void **state)
{
    (void)state;
    compile("gcc", "structure",
            "#include <plugins/physics.h>\n"
            "static const char *geom(dGeomID g)\n"
            "{\n"
            "  switch (g ? dGeomGetClass(g) : -1) {\n"
            "  case dBoxClass: return \"dBoxClass\";\n"
            "  case dSphereClass: return \"dSphereClass\";\n"
            "  case dCapsuleClass: return \"dCapsuleClass\";\n"
            "  case dCylinderClass: return \"dCylinderClass\";\n"
            "  case dPlaneClass: return \"dPlaneClass\";\n"
            "  case dHeightfieldClass: return \"dHeightfieldClass\";\n"
            "  case dTriMeshClass: return \"dTriMeshClass\";\n"
            "  case dSimpleSpaceClass: return \"dSimpleSpaceClass\";\n"
            "  default: return \"none\";\n"
            "  }\n"
            "}\n"
            "static const char *joint(dBodyID b)\n"
            "{\n"
            "  for (int i = 0; b && i < dBodyGetNumJoints(b); i++)\n"
            "    switch (dJointGetType(dBodyGetJoint(b, i))) {\n"
            "    case dJointTypeHinge: return \"dJointTypeHinge\";\n"
            "    case dJointTypeSlider: return \"dJointTypeSlider\";\n"
            "    case dJointTypeBall: return \"dJointTypeBall\";\n"
            "    case dJointTypePU: return \"dJointTypePU\";\n"
            "    default: break;\n"
            "    }\n"
            "  return \"none\";\n"
            "}\n"
            "DLLEXPORT void webots_physics_init(void)\n"
            "{\n"
            "  static const char *const geoms[] = { \"Box\", \"Sphere\", \"Capsule\", \"Cylinder\", \"Plane\", \"ElevationGrid\", \"IndexedFaceSet\", \"Group\" };\n"
            "  static const char *const joints[] = { \"HingeJoint\", \"Hinge2Joint\", \"SliderJoint\", \"BallJoint\" };\n"
            "  for (int i = 0; i < 8; i++)\n"
            "    dWebotsConsolePrintf(\"| `%s` | `%s` |\", geoms[i], geom(dWebotsGetGeomFromDEF(geoms[i])));\n"
            "  for (int i = 0; i < 4; i++)\n"
            "    dWebotsConsolePrintf(\"| `%s` | `%s` |\", joints[i], joint(dWebotsGetBodyFromDEF(joints[i])));\n"
            "}\n"
            "DLLEXPORT void webots_physics_step(void) { }\n"
            "DLLEXPORT void webots_physics_cleanup(void) { }\n", false);
    static const char *const solids[][2] = {
        { "Box", "Box { }" }, { "Sphere", "Sphere { }" }, { "Capsule", "Capsule { }" }, { "Cylinder", "Cylinder { }" },
        { "Plane", "Plane { }" }, { "ElevationGrid", "ElevationGrid { xDimension 2 yDimension 2 height [ 0 0 0 0 ] }" },
        { "IndexedFaceSet", "IndexedFaceSet { coord Coordinate { point [ 0 0 0, 1 0 0, 0 1 0, 0 0 1 ] } coordIndex [ 0 2 1 -1 0 1 3 -1 1 2 3 -1 0 3 2 -1 ] }" },
        { "Group", "Group { children [ Box { } Sphere { } ] }" },
    };
    static const char *const joints[] = { "HingeJoint", "Hinge2Joint", "SliderJoint", "BallJoint" };
    Text nodes = { 0 };
    for (int i = 0; i < COUNT_OF(solids); i++)
        text_printf(&nodes, "DEF %s Solid { name \"%s\" translation %d 0 50 boundingObject %s %s }\n", solids[i][0], solids[i][0], 10 * i, solids[i][1],
                    i == 4 || i == 5 ? "" : "physics Physics { }");
    for (int i = 0; i < COUNT_OF(joints); i++)
        text_printf(&nodes, "Solid { name \"p%d\" translation 0 %d 50 boundingObject Box { } physics Physics { } children [ %s { endPoint DEF %s Solid {\n"
                            "name \"e\" translation 2 0 0 boundingObject Box { } physics Physics { } } } ] }\n", i, 10 + 10 * i, joints[i], joints[i]);
    World world = world_open("structure", nodes.data);
    text_free(&nodes);
    assert_true(world_start(&world, NULL));
    char *text = page();
    int rows = 0;
    for (const char *at = printed(&world); *at; at += strcspn(at, "\n") + 1, rows++) {
        at += strlen("[structure] ");
        char row[200];
        snprintf(row, sizeof row, "%.*s", (int)strcspn(at, "\n"), at);
        CHECK(strstr(text, row), row);
    }
    assert_int_equal(rows, 12);
    free(text);
    world_close(&world);
}

// Contacts of the plugin's making are there again after a restore: the body does not fall through.
static void test_restore(void **state)
{
    (void)state;
    World world = world_open("oldgroup", falling);
    assert_true(world_start(&world, NULL));
    steps(&world, 10);
    SimSnapshot snapshot = { 0 };
    sim_snapshot(world.sim, &snapshot);
    steps(&world, 10);
    Physics *physics = sim_physics(world.sim);
    int box = physics_solid_of(physics, scene_find_def(sim_scene(world.sim), "BOX"));
    double z = physics_solid_pose(physics, box).t.z;
    assert_true(sim_restore(world.sim, &snapshot));
    steps(&world, 10);
    assert_true(physics_solid_pose(physics, box).t.z == z);
    sim_snapshot_free(&snapshot);
    world_close(&world);
}

int main(void)
{
    folder = support_scratch("plugin_host");
    char path[1024];
    snprintf(path, sizeof path, "mkdir -p %s/worlds", folder);
    if (system(path))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_function), cmocka_unit_test(test_every_declaration), cmocka_unit_test(test_mangled_names), cmocka_unit_test(test_old_drawing), cmocka_unit_test(test_paths),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_two_worlds), cmocka_unit_test(test_spaces), cmocka_unit_test(test_old_contact_group),
        cmocka_unit_test(test_messages), cmocka_unit_test(test_messages_of_host),
        cmocka_unit_test(test_same_plugin_twice), cmocka_unit_test(test_worlds_on_threads), cmocka_unit_test(test_threads), cmocka_unit_test(test_lookup),
        cmocka_unit_test(test_lookup_beside_proto), cmocka_unit_test(test_order), cmocka_unit_test(test_structure), cmocka_unit_test(test_restore),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
