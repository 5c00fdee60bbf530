// The plugin host through the C API: old and new signatures, C and C++ with both compilers, what functions of the
// header do, reset, spaces, contact groups, several worlds in one process.
#include "support/plugin_world.h"

#include "talus/talus.h"

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static const char *scratch;

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
    static const struct {
        const char *compiler;
        bool is_cpp;
    } cases[] = {
        { "gcc", false }, { "clang", false }, { "g++", true }, { "clang++", true }, { "gcc -std=gnu99 -lode", false },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char name[32];
        if (!has_compiler(cases[i].compiler))
            continue;
        snprintf(name, sizeof name, "every%d", i);
        compile(cases[i].compiler, name, every_function, cases[i].is_cpp);
        World world = world_open(name, falling);
        CHECK(world_start(&world, NULL), cases[i].compiler);
        for (int k = 0; k < 5; k++)
            CHECK(sim_step(world.sim), cases[i].compiler);
        CHECK(sim_end_plugin(world.sim), cases[i].compiler);
        char expected[400];
        snprintf(expected, sizeof expected,
                 "[%s] init 1 1 1\n[%s] same\n[%s] step 3 at 20 ms\n[%s] cleanup after 1 inits, 5 steps, 5 ends\n",
                 name, name, name, name);
        assert_string_equal(printed(&world), expected);
        expect_no_errors(&world);
        world_close(&world);
    }
}

// Names without extern "C" are found too.
static void test_mangled_names(void **state)
{
    (void)state;
    compile("g++", "mangled",
            "#include <plugins/physics.h>\nvoid webots_physics_init() { dWebotsConsolePrintf(\"init\"); }\n"
            "void webots_physics_step() { }\nvoid webots_physics_cleanup() { }\n",
            true);
    World world = world_open("mangled", falling);
    assert_true(world_start(&world, NULL));
    assert_string_equal(printed(&world), "[mangled] init\n");
    world_close(&world);
}

// Old plugins draw without including OpenGL or being linked with it.
static void test_old_drawing(void **state)
{
    (void)state;
    compile("g++", "drawing",
            "#include <ode/ode.h>\n#include <plugins/physics.h>\n"
            "void webots_physics_init(dWorldID, dSpaceID, dJointGroupID) { dWebotsConsolePrintf(\"init\\r\\n\"); }\n"
            "void webots_physics_step() { }\n"
            "void webots_physics_draw() { glDisable(GL_LIGHTING); glBegin(GL_LINES); glVertex3f(0, 0, 0); glEnd(); }\n"
            "void webots_physics_cleanup() { }\n",
            true);
    World world = world_open("drawing", falling);
    assert_true(world_start(&world, NULL));
    assert_string_equal(printed(&world), "[drawing] init\n");
    assert_true(plugin_has_draw(sim_plugin(world.sim)));
    world_close(&world);
}

// Both passes of both views for the new kind; once under and once over the 3D view for the old kinds.
static void test_drawing_calls(void **state)
{
    (void)state;
    static const struct {
        const char *name, *source, *said;
    } cases[] = {
        { "passes",
          "DLLEXPORT void webots_physics_draw(int pass, const char *view) { dWebotsConsolePrintf(\"%d%s\", pass, view ? view : \"-\"); }\n",
          "[passes] 0-\n[passes] 1-\n[passes] 0eye\n[passes] 1eye\n" },
        { "olddraw", "DLLEXPORT void webots_physics_draw(void) { dWebotsConsolePrintf(\"over\"); }\n",
          "[olddraw] over\n" },
        { "predraw", "DLLEXPORT void webots_physics_predraw(void) { dWebotsConsolePrintf(\"under\"); }\n",
          "[predraw] under\n" },
        { "bothdraw",
          "DLLEXPORT void webots_physics_predraw(void) { dWebotsConsolePrintf(\"under\"); }\n"
          "DLLEXPORT void webots_physics_draw(void) { dWebotsConsolePrintf(\"over\"); }\n",
          "[bothdraw] under\n[bothdraw] over\n" },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char source[1024];
        snprintf(source, sizeof source,
                 "#include <plugins/physics.h>\n%sDLLEXPORT void webots_physics_step(void) { }\n"
                 "DLLEXPORT void webots_physics_cleanup(void) { }\n",
                 cases[i].source);
        compile("gcc", cases[i].name, source, false);
        World world = world_open(cases[i].name, falling);
        assert_true(world_start(&world, NULL));
        PluginHost *host = sim_plugin(world.sim);
        CHECK(plugin_has_draw(host), cases[i].name);
        for (int k = 0; k < 4; k++)
            CHECK(plugin_draw(host, 0.0, k % 2, k < 2 ? NULL : "eye"), cases[i].name);
        assert_string_equal(printed(&world), cases[i].said);
        world_close(&world);
    }
}

// Paths go through joints; a name that other nodes have too means the Solid; one without Physics has no body.
static void test_paths(void **state)
{
    (void)state;
    compile(
        "gcc", "paths",
        "#include <plugins/physics.h>\n"
        "static void show(const char *path) { dBodyID b = dWebotsGetBodyFromDEF(path); dGeomID g = dWebotsGetGeomFromDEF(path);\n"
        "  dWebotsConsolePrintf(\"%s %g %d\", path, b ? dBodyGetPosition(b)[1] : -1, g ? dGeomGetClass(g) == dBoxClass : -1); }\n"
        "DLLEXPORT void webots_physics_init(void)\n"
        "{\n"
        "  show(\"A.J.ARM\"); show(\"B.J.ARM\"); show(\"B.ARM\"); show(\"B.J\"); show(\"ARM\"); show(\"A.HAND\"); show(\"B.HAND\");\n"
        "  dWebotsGetBodyFromDEF(\"\");\n"
        "}\n"
        "DLLEXPORT void webots_physics_step(void) { }\n"
        "DLLEXPORT void webots_physics_cleanup(void) { }\n",
        false);
    Text nodes = { 0 };
    text_add_string(&nodes, "DEF ARM Group { }\n");
    for (int i = 0; i < 2; i++)
        text_printf(
            &nodes,
            "DEF %c Robot { name \"%d\" translation 0 %d 0 boundingObject Sphere { } physics Physics { } children [\n"
            "DEF J HingeJoint { endPoint DEF ARM Solid { translation 3 1 0 boundingObject Box { } physics Physics { } } }\n"
            "%s ] }\n",
            'A' + i, i, 10 * i, i ? "DEF HAND Solid { name \"hand\" boundingObject Box { } }" : "");
    World world = world_open("paths", nodes.data);
    text_free(&nodes);
    assert_true(world_start(&world, NULL));
    assert_string_equal(
        printed(&world),
        "[paths] A.J.ARM 1 1\n[paths] B.J.ARM 11 1\n[paths] B.ARM 11 1\n[paths] B.J -1 -1\n[paths] ARM 1 1\n"
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

static Vec3 box_at(const World *world)
{
    Physics *physics = sim_physics(world->sim);
    return physics_solid_pose(physics, physics_solid_of(physics, scene_find_def(sim_scene(world->sim), "BOX"))).t;
}

static double box_x(const World *world) { return box_at(world).x; }

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
    compile(
        "gcc", "spaces",
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
        "DLLEXPORT void webots_physics_cleanup(void) { }\n",
        false);
    World world = world_open(
        "spaces", "DEF FLOOR Solid { name \"floor\" boundingObject Plane { } }\n"
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
    compile(
        "gcc", "oldgroup",
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
        "DLLEXPORT void webots_physics_cleanup(void) { }\n",
        false);
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

typedef struct Runner {
    World *world;
    int steps;
    bool is_fine;
} Runner;

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

// Waits until the text is written to `from`. The end is for what is broken, not for a slow machine.
static bool is_said(int from, const char *text)
{
    char said[4096];
    size_t length = 0;
    struct pollfd ready = { from, POLLIN, 0 };
    while (length < sizeof said - 1 && poll(&ready, 1, 100000) > 0) {
        ssize_t got = read(from, said + length, sizeof said - 1 - length);
        if (got <= 0)
            return false;
        length += (size_t)got;
        said[length] = '\0';
        if (strstr(said, text))
            return true;
    }
    return false;
}

// Threads that a plugin leaves behind keep its library, which a next world loads a copy of; even one that crashes then
// ends alone. They keep the handlers of signals too: what the program sets in their place is no fault of the next
// plugin.
static void test_threads_left(void **state)
{
    (void)state;
    Dl_info maker, ours;
    assert_true(dladdr(dlsym(RTLD_DEFAULT, "pthread_create"), &maker) && dladdr((void *)sim_step, &ours));
    if (maker.dli_fbase != ours.dli_fbase)
        skip();  // a sanitizer makes threads before Talus can see it
    compile(
        "gcc", "leaving",
        "#include <plugins/physics.h>\n"
        "#include <unistd.h>\n"
        "static volatile int is_over;\n"
        "static void *run(void *crashes) { while (!is_over || !crashes) usleep(100); usleep(2000); *(volatile int *)8 = 1; return 0; }\n"
        "DLLEXPORT void webots_physics_init(void)\n"
        "{\n"
        "  for (long i = 0; i < 2; i++) { pthread_t thread; pthread_create(&thread, 0, run, (void *)i); pthread_detach(thread); }\n"
        "}\n"
        "DLLEXPORT void webots_physics_step(void) { }\n"
        "DLLEXPORT void webots_physics_cleanup(void) { is_over = 1; dWebotsConsolePrintf(\"end\"); }\n",
        false);
    for (int i = 0; i < 2; i++) {
        int pipes[2], old = dup(STDERR_FILENO);
        assert_true(pipe(pipes) == 0 && dup2(pipes[1], STDERR_FILENO) >= 0);
        signal(SIGFPE, SIG_DFL);
        World world = world_open("leaving", falling);
        assert_true(world_start(&world, NULL));
        steps(&world, 3);
        assert_int_equal(diag_total(world.diags, DIAG_WARNING), 0);
        assert_true(sim_end_plugin(world.sim));
        assert_string_equal(printed(&world), "[leaving] end\n");
        expect_no_errors(&world);
        world_close(&world);
        bool has_crashed = is_said(pipes[0], "has crashed");
        dup2(old, STDERR_FILENO);
        close(old), close(pipes[0]), close(pipes[1]);
        assert_true(has_crashed);
    }
}

// Time in which a busy machine does not let a plugin run is not its own: here a child makes it as unimportant as can be
// and has its processor for a second, twice the limit. The plugin's own time is some milliseconds. The last test, since
// not everybody may become important again.
static void test_starved(void **state)
{
    (void)state;
    compile("gcc", "starved",
            "#define _GNU_SOURCE\n"
            "#include <plugins/physics.h>\n"
            "#include <sched.h>\n"
            "#include <sys/mman.h>\n"
            "#include <sys/wait.h>\n"
            "#include <time.h>\n"
            "#include <unistd.h>\n"
            "static double now(clockid_t clock)\n"
            "{\n"
            "  struct timespec t;\n"
            "  clock_gettime(clock, &t);\n"
            "  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;\n"
            "}\n"
            "static pid_t child;\n"
            "static int set_policy(pid_t process, int policy)\n"
            "{\n"
            "  struct sched_param none = { 0 };\n"
            "  return sched_setscheduler(process, policy, &none);\n"
            "}\n"
            "static void starve(pid_t parent, double end, volatile int *answer)\n"
            "{\n"
            "  int refused = set_policy(parent, SCHED_IDLE) != 0;\n"
            "  *answer = refused ? 2 : 1;\n"
            "  while (!refused && now(CLOCK_MONOTONIC) < end)\n"
            "    ;\n"
            "  set_policy(parent, SCHED_OTHER);\n"
            "  _exit(0);\n"
            "}\n"
            "DLLEXPORT void webots_physics_init(void) { }\n"
            "DLLEXPORT void webots_physics_step(void)\n"
            "{\n"
            "  cpu_set_t all, one;\n"
            "  pid_t parent = getpid();\n"
            "  volatile int *answer = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);\n"
            "  double end = now(CLOCK_MONOTONIC) + 1.0, used = now(CLOCK_THREAD_CPUTIME_ID);\n"
            "  sched_getaffinity(0, sizeof all, &all);\n"
            "  CPU_ZERO(&one);\n"
            "  CPU_SET(sched_getcpu(), &one);\n"
            "  sched_setaffinity(0, sizeof one, &one);\n"
            "  child = fork();\n"
            "  if (child == 0)\n"
            "    starve(parent, end, answer);\n"
            "  while (!*answer || (*answer == 1 && now(CLOCK_MONOTONIC) < end))\n"
            "    ;\n"
            "  sched_setaffinity(0, sizeof all, &all);\n"
            "  if (*answer == 2)\n"
            "    dWebotsConsolePrintf(\"refused\");\n"
            "  else\n"
            "    dWebotsConsolePrintf(\"own %d\", now(CLOCK_THREAD_CPUTIME_ID) < used + 0.4);\n"
            "}\n"
            "DLLEXPORT void webots_physics_cleanup(void)\n"
            "{\n"
            "  if (child > 0)\n"
            "    waitpid(child, 0, 0);\n"
            "}\n",
            false);
    World world = world_open("starved", falling);
    SimPluginOptions options = { .plugin = { .out = world.stream, .timeout_ms = 500 } };
    assert_true(sim_start_plugin(world.sim, &options));
    steps(&world, 1);
    expect_no_errors(&world);
    bool is_refused = strcmp(printed(&world), "[starved] refused\n") == 0;
    CHECK(is_refused || !strcmp(printed(&world), "[starved] own 1\n"), printed(&world));
    world_close(&world);
    if (is_refused)
        skip();  // the system lets nobody be unimportant
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
            "DLLEXPORT void webots_physics_cleanup(void) { pthread_mutex_destroy(&mutex); }\n",
            false);
    Text nodes = { 0 };
    text_printf(&nodes, "Solid { name \"floor\" boundingObject Plane { } }\n");
    for (int i = 0; i < 60; i++)
        text_printf(&nodes,
                    "DEF B%d Solid { name \"b%d\" translation %g %g %g boundingObject %s physics Physics { } }\n", i, i,
                    0.3 * (i % 4), 0.31 * (i / 4 % 4), 0.3 + 0.45 * (i / 16),
                    i % 2 ? "Box { size 0.4 0.4 0.4 }" : "Sphere { radius 0.2 }");
    uint64_t hash = 0;
    char said[8192] = "";
    static const int thread_counts[] = { 1, 2, 4, 8 };
    for (int i = 0; i < COUNT_OF(thread_counts); i++) {
        World world = world_open("mutexed", nodes.data);
        sim_destroy(world.sim);
        char path[1024];
        snprintf(path, sizeof path, "%s/worlds/mutexed.wbt", scratch);
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

// What moves comes first in a pair, whatever the file's order: contacts attached as (body, 0) push it out of the floor.
static void test_order_of_geoms(void **state)
{
    (void)state;
    compile("gcc", "attached",
            "#include <plugins/physics.h>\n"
            "DLLEXPORT void webots_physics_step(void) { }\n"
            "DLLEXPORT int webots_physics_collide(dGeomID a, dGeomID b)\n"
            "{\n"
            "  dContact c[8];\n"
            "  if (!dGeomGetBody(a) || dGeomGetBody(b)) dWebotsConsolePrintf(\"the floor is the first\");\n"
            "  int n = dCollide(a, b, 8, &c[0].geom, sizeof(dContact));\n"
            "  for (int i = 0; i < n; i++) {\n"
            "    c[i].surface.mode = 0;\n"
            "    c[i].surface.mu = dInfinity;\n"
            "    dBodyID box = dWebotsGetBodyFromDEF(\"BOX\");\n"
            "    dJointAttach(dJointCreateContact(dBodyGetWorld(box), dWebotsGetContactJointGroup(), &c[i]), box, 0);\n"
            "  }\n"
            "  return 1;\n"
            "}\n"
            "DLLEXPORT void webots_physics_cleanup(void) { }\n",
            false);
    static const char *const floors[] = { "Plane { }", "Box { size 4 4 0.0001 }" };
    for (int i = 0; i < 4; i++) {
        char nodes[600], floor[200];
        snprintf(floor, sizeof floor, "DEF FLOOR Solid { name \"floor\" boundingObject %s }\n", floors[i / 2]);
        snprintf(
            nodes, sizeof nodes,
            "%sDEF BOX Solid { translation 0 0 0.5 boundingObject Box { size 1 1 1 } physics Physics { density -1 mass 2 } }\n%s",
            i % 2 ? "" : floor, i % 2 ? floor : "");
        World world = world_open("attached", nodes);
        assert_true(world_start(&world, NULL));
        steps(&world, 50);
        CHECK_NEAR(box_at(&world).z, 0.5, 1e-3, nodes);
        assert_string_equal(printed(&world), "");
        world_close(&world);
    }
}

// Two groups in turn: joints of the pass before are there in step_end and gone in the next one; none is left when no
// pair is.
static void test_contact_groups(void **state)
{
    (void)state;
    compile(
        "gcc", "groups",
        "#include <plugins/physics.h>\n"
        "static dJointGroupID last, seen;\n"
        "static int same, passes;\n"
        "DLLEXPORT void webots_physics_init(void) { last = seen = 0; if (!dWebotsGetContactJointGroup()) dWebotsConsolePrintf(\"none\"); }\n"
        "DLLEXPORT void webots_physics_step(void) { if (dWebotsGetContactJointGroup() != seen) dWebotsConsolePrintf(\"changed before the step\"); }\n"
        "DLLEXPORT int webots_physics_collide(dGeomID a, dGeomID b)\n"
        "{\n"
        "  dContact c = { 0 };\n"
        "  seen = dWebotsGetContactJointGroup();\n"
        "  same += seen == last;\n"
        "  passes++;\n"
        "  last = seen;\n"
        "  c.geom.normal[2] = 1;\n"
        "  dJointAttach(dJointCreateContact(dBodyGetWorld(dGeomGetBody(a)), seen, &c), dGeomGetBody(a), 0);\n"
        "  (void)b;\n"
        "  return 1;\n"
        "}\n"
        "DLLEXPORT void webots_physics_step_end(void)\n"
        "{\n"
        "  dBodyID box = dWebotsGetBodyFromDEF(\"BOX\");\n"
        "  dWebotsConsolePrintf(\"%d of %d, %d joints\", same, passes, dBodyGetNumJoints(box));\n"
        "}\n"
        "DLLEXPORT void webots_physics_cleanup(void) { }\n",
        false);
    World world = world_open("groups", falling);
    assert_true(world_start(&world, NULL));
    steps(&world, 3);
    // In step_end the joint that acted and the one that will are both there.
    assert_string_equal(printed(&world),
                        "[groups] 0 of 2, 2 joints\n[groups] 0 of 3, 2 joints\n[groups] 0 of 4, 2 joints\n");
    world_close(&world);
}

// Lines of any length and ending; what \\f clears is gone; nothing is nothing.
static void test_console(void **state)
{
    (void)state;
    compile("gcc", "console",
            "#include <plugins/physics.h>\n"
            "#include <string.h>\n"
            "DLLEXPORT void webots_physics_init(void)\n"
            "{\n"
            "  static char text[5001];\n"
            "  memset(text, 'x', 5000);\n"
            "  dWebotsConsolePrintf(\"%s|%d\", text, 7);\n"
            "  dWebotsConsolePrintf(\"%s\", \"\");\n"
            "  dWebotsConsolePrintf(\"a\\r\\nb\\n\\nc\");\n"
            "  dWebotsConsolePrintf(\"gone\\fkept\\n\");\n"
            "  dWebotsConsolePrintf(\"\\f\");\n"
            "}\n"
            "DLLEXPORT void webots_physics_step(void) { }\n"
            "DLLEXPORT void webots_physics_cleanup(void) { }\n",
            false);
    World world = world_open("console", falling);
    assert_true(world_start(&world, NULL));
    const char *text = printed(&world), *line = strchr(text, '\n');
    assert_int_equal(line - text, strlen("[console] ") + 5000 + 2);
    assert_string_equal(line - 2, "|7\n[console] a\n[console] b\n[console] \n[console] c\n[console] kept\n");
    world_close(&world);
}

// Through PROTO instances, slots and joints; names that lead nowhere, twice or around in circles.
static void test_hostile_paths(void **state)
{
    (void)state;
    compile(
        "gcc", "lost",
        "#include <plugins/physics.h>\n"
        "#include <string.h>\n"
        "DLLEXPORT void webots_physics_init(void)\n"
        "{\n"
        "  static char name[100000];\n"
        "  const char *const found[] = { \"ARM\", \"R.ARM\", \"R.J.ARM\", \"IN\", \"R.IN\", \"SLOTTED\", \"R.SLOTTED\", \"TWICE\" };\n"
        "  const char *const lost[] = { \"\", \".\", \"..\", \"R.\", \".R\", \"R..ARM\", \"ARM.R\", \"R.R\", \"arm\", \"R ARM\", \"SHAPE\", \"J\", \"R.%s\", \"R/ARM\", name };\n"
        "  memset(name, '.', sizeof name - 1);\n"
        "  for (unsigned i = 0; i < sizeof found / sizeof found[0]; i++)\n"
        "    if (!dWebotsGetBodyFromDEF(found[i]) || !dWebotsGetGeomFromDEF(found[i])) dWebotsConsolePrintf(\"no %s\", found[i]);\n"
        "  for (unsigned i = 0; i < sizeof lost / sizeof lost[0]; i++)\n"
        "    if (dWebotsGetBodyFromDEF(lost[i]) || dWebotsGetGeomFromDEF(lost[i])) dWebotsConsolePrintf(\"there is %.20s\", lost[i]);\n"
        "  dWebotsGetGeomFromDEF(0);\n"
        "  dGeomSetDynamicFlag(0);\n"
        "  dWebotsConsolePrintf(\"%g\", dBodyGetPosition(dWebotsGetBodyFromDEF(\"TWICE\"))[1]);\n"  // the first of two
        "}\n"
        "DLLEXPORT void webots_physics_step(void) { }\n"
        "DLLEXPORT void webots_physics_cleanup(void) { }\n",
        false);
    char path[1024];
    snprintf(path, sizeof path, "mkdir -p %s/protos", scratch);
    assert_int_equal(system(path), 0);
    snprintf(path, sizeof path, "%s/protos/Inner.proto", scratch);
    support_write(
        path,
        "#VRML_SIM R2025a utf8\nPROTO Inner [ ] { DEF ROOT Solid { name \"inner\" translation 5 0 0 boundingObject Box { } physics Physics { } } }\n");
    World world = world_open(
        "lost",
        "DEF R Robot { boundingObject DEF SHAPE Box { } physics Physics { } children [\n"
        "  DEF J HingeJoint { endPoint DEF ARM Solid { translation 0 2 0 boundingObject Box { } physics Physics { }\n"
        "    children [ SliderJoint { endPoint DEF IN Inner { } } ] } }\n"
        "  Slot { type \"a+\" endPoint Slot { type \"a-\" endPoint DEF SLOTTED Solid { name \"s\" translation 0 0 3 boundingObject Box { } physics Physics { } } } }\n"
        "] }\n"
        "DEF TWICE Solid { name \"t1\" translation 0 20 0 boundingObject Box { } physics Physics { } }\n"
        "DEF TWICE Solid { name \"t2\" translation 0 40 0 boundingObject Box { } physics Physics { } }\n");
    assert_true(world_start(&world, NULL));
    assert_string_equal(printed(&world), "[lost] 20\n");
    assert_int_equal(times_said(&world, DIAG_WARNING, "wants a DEF name"), 3);  // "" of two functions, and NULL
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

// A plugin that answers 0 about every pair changes no bit, from shapes that touch at the start until all sleep and one
// is woken.
static void test_idle_collide(void **state)
{
    (void)state;
    compile("gcc", "idle",
            "#include <plugins/physics.h>\n"
            "DLLEXPORT void webots_physics_step(void) { }\n"
            "DLLEXPORT int webots_physics_collide(dGeomID a, dGeomID b) { (void)a; (void)b; return 0; }\n"
            "DLLEXPORT void webots_physics_cleanup(void) { }\n",
            false);
    Text nodes = { 0 };
    text_printf(&nodes, "Solid { name \"floor\" boundingObject Plane { } }\n");
    for (int i = 0; i < 12; i++)
        text_printf(
            &nodes,
            "Solid { name \"b%d\" translation %g %g %g rotation 0 0 1 %g boundingObject %s physics Physics { } }\n", i,
            0.2 * (i % 2), 0.25 * (i / 2 % 2), 0.199 + 0.398 * (i / 4), 0.1 * i,
            i % 3 ? "Box { size 0.4 0.4 0.4 }" : "Cylinder { radius 0.2 height 0.4 }");
    text_printf(
        &nodes,
        "Solid { name \"late\" translation 0.1 0.1 40 boundingObject Sphere { radius 0.2 } physics Physics { } }\n");
    uint64_t hashes[2][8];
    for (int with = 0; with < 2; with++) {
        World world = world_open("idle", nodes.data);
        assert_true(!with || world_start(&world, NULL));
        for (int i = 0; i < 8; i++) {
            steps(&world, i == 0 ? 1 : 25);
            hashes[with][i] = sim_hash(world.sim);
        }
        world_close(&world);
    }
    assert_memory_equal(hashes[0], hashes[1], sizeof hashes[0]);
    text_free(&nodes);
}

int main(void)
{
    scratch = plugin_scratch("plugin_host");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_function),
        cmocka_unit_test(test_mangled_names),
        cmocka_unit_test(test_old_drawing),
        cmocka_unit_test(test_drawing_calls),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_hostile_paths),
        cmocka_unit_test(test_console),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_two_worlds),
        cmocka_unit_test(test_spaces),
        cmocka_unit_test(test_order_of_geoms),
        cmocka_unit_test(test_contact_groups),
        cmocka_unit_test(test_old_contact_group),
        cmocka_unit_test(test_same_plugin_twice),
        cmocka_unit_test(test_worlds_on_threads),
        cmocka_unit_test(test_threads_left),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_restore),
        cmocka_unit_test(test_idle_collide),
        cmocka_unit_test(test_starved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
