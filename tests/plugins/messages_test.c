// Messages of plugins: to Receivers, from Emitters, to and from the program that hosts the world, and to nobody.
#include "support/plugin_world.h"

#include "talus/talus.h"

#include <stdlib.h>
#include <string.h>

static const char *scratch;

// From the plugin to a receiver; the other way round is in the examples.
static void test_messages(void **state)
{
    (void)state;
    compile(
        "gcc", "sending",
        "#include <plugins/physics.h>\n"
        "DLLEXPORT void webots_physics_init(void) { }\n"
        "DLLEXPORT void webots_physics_step(void) { dWebotsSend(7, \"hello\", 6); dWebotsSend(8, \"others\", 7); dWebotsSend(7, 0, 1); }\n"
        "DLLEXPORT void webots_physics_cleanup(void) { }\n",
        false);
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
    compile(
        "gcc", "talking",
        "#include <plugins/physics.h>\n"
        "DLLEXPORT void webots_physics_init(void) { }\n"
        "DLLEXPORT void webots_physics_step(void)\n"
        "{\n"
        "  int size;\n"
        "  const char *text = (const char *)dWebotsReceive(&size);\n"
        "  if (text) { dWebotsSend(3, text, size); dWebotsSend(4, &size, sizeof size); dWebotsSend(3, \"end\", 4); }\n"
        "}\n"
        "DLLEXPORT void webots_physics_cleanup(void) { }\n",
        false);
    World unused = world_open("talking", falling);
    world_close(&unused);
    char path[1024];
    snprintf(path, sizeof path, "%s/worlds/talking.wbt", scratch);
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

// A world with an Emitter and a Receiver, both on channel 0, and its devices.
static World open_radio(const char *plugin, Devices **devices)
{
    World world = world_open(
        plugin,
        "Robot { name \"a\" children [ Emitter { } ] }\n"
        "Robot { name \"b\" children [ Receiver { name \"r0\" } Receiver { name \"r5\" channel 5 } Receiver { name \"all\" channel -1 } ] }\n");
    *devices = devices_create(sim_scene(world.sim), sim_physics(world.sim), world.diags);
    for (int tag = 1; tag <= 3; tag++)
        devices_enable(*devices, 1, tag, 0, 10);
    return world;
}

static void emit(Devices *devices, const char *text)
{
    assert_null(devices_command(devices, 0, 1, &(DeviceCommand){ 0, NULL, 0, text, (int)strlen(text) }));
}

static void close_radio(World *world, Devices *devices)
{
    sim_end_plugin(world->sim);
    devices_destroy(devices);
    world_close(world);
}

// What comes in one step is one run of bytes; it is given as often as it is asked for in that step; what is not asked
// for waits.
static void test_received(void **state)
{
    (void)state;
    compile("gcc", "hearing",
            "#include <plugins/physics.h>\n"
            "static int step;\n"
            "static void hear(const char *when)\n"
            "{\n"
            "  int size = -1;\n"
            "  const char *text = (const char *)dWebotsReceive(&size);\n"
            "  dWebotsConsolePrintf(\"%s %d %.*s\", when, size, size, text ? text : \"\");\n"
            "}\n"
            "DLLEXPORT void webots_physics_step(void)\n"
            "{\n"
            "  if (++step == 1 || step == 2 || step == 5) { hear(\"step\"); hear(\"again\"); }\n"
            "  if (step == 6) dWebotsReceive(0);\n"
            "}\n"
            "DLLEXPORT void webots_physics_step_end(void) { if (step == 1) hear(\"end\"); }\n"
            "DLLEXPORT void webots_physics_cleanup(void) { }\n",
            false);
    Devices *devices;
    World world = open_radio("hearing", &devices);
    assert_true(world_start(&world, devices));
    static const char *const sent[][2] = { { "one", "two" }, { NULL }, { "3" }, { "4", "5" }, { "6" }, { "7" } };
    for (int i = 0; i < COUNT_OF(sent); i++) {
        for (int k = 0; k < 2 && sent[i][k]; k++)
            emit(devices, sent[i][k]);
        steps(&world, 1);
        devices_sample(devices, (uint64_t)i + 1);
    }
    assert_string_equal(printed(&world),
                        "[hearing] step 6 onetwo\n[hearing] again 6 onetwo\n[hearing] end 6 onetwo\n"
                        "[hearing] step 0 \n[hearing] again 0 \n[hearing] step 4 3456\n[hearing] again 4 3456\n");
    close_radio(&world, devices);
}

// A channel, all of them with -1, one that nobody has; too little and too much.
static void test_channels_and_sizes(void **state)
{
    (void)state;
    compile("gcc", "shouting",
            "#include <plugins/physics.h>\n"
            "#include <stdlib.h>\n"
            "DLLEXPORT void webots_physics_step(void)\n"
            "{\n"
            "  enum { MUCH = 16 * 1024 * 1024 };\n"
            "  char *much = (char *)calloc(MUCH + 1, 1);\n"
            "  dWebotsSend(5, \"five\", 5);\n"
            "  dWebotsSend(-1, \"every\", 6);\n"
            "  dWebotsSend(77, \"nobody\", 7);\n"
            "  dWebotsSend(5, much, MUCH);\n"
            "  dWebotsSend(5, much, MUCH + 1);\n"
            "  dWebotsSend(5, much, 2147483647);\n"
            "  dWebotsSend(5, much, 0);\n"
            "  dWebotsSend(5, much, -3);\n"
            "  dWebotsSend(-2, much, 1);\n"
            "  free(much);\n"
            "}\n"
            "DLLEXPORT void webots_physics_cleanup(void) { }\n",
            false);
    Devices *devices;
    World world = open_radio("shouting", &devices);
    assert_true(world_start(&world, devices));
    steps(&world, 1);
    devices_sample(devices, 1);
    static const int counts[] = { 1, 3, 4 };
    for (int tag = 1; tag <= 3; tag++)
        CHECK(devices_packet_count(devices, 1, tag) == counts[tag - 1], devices_info(devices, 1, tag)->name);
    assert_string_equal(devices_packet(devices, 1, 1, 0).data, "every");
    assert_string_equal(devices_packet(devices, 1, 2, 0).data, "five");
    assert_int_equal(devices_packet(devices, 1, 2, 2).size, 16 * 1024 * 1024);
    assert_int_equal(times_said(&world, DIAG_WARNING, "dWebotsSend() wants"), 5);
    // Nobody reads: the queues have an end, and that is said.
    for (int i = 2; i < 20; i++) {
        steps(&world, 1);
        devices_sample(devices, (uint64_t)i);
    }
    assert_true(times_said(&world, DIAG_WARNING, "packets that no controller reads") > 0);
    close_radio(&world, devices);
}

// Without controllers nobody hears and nothing comes: said once, however often it is tried, and only to those that
// talk.
static void test_alone(void **state)
{
    (void)state;
    static const struct {
        const char *plugin;
        bool has_devices;
        int said;
    } cases[] = {
        { "sending", false, 1 }, { "sending", true, 1 }, { "hearing", false, 1 },
        { "hearing", true, 0 },  { "silent", false, 0 },
    };
    compile(
        "gcc", "silent",
        "#include <plugins/physics.h>\nDLLEXPORT void webots_physics_step(void) { }\nDLLEXPORT void webots_physics_cleanup(void) { }\n",
        false);
    for (int i = 0; i < COUNT_OF(cases); i++) {
        World world = world_open(cases[i].plugin, "Robot { children [ Receiver { channel 7 } ] }\n");
        Devices *devices = cases[i].has_devices
                               ? devices_create(sim_scene(world.sim), sim_physics(world.sim), world.diags)
                               : NULL;
        SimPluginOptions options = { .plugin = { .out = world.stream, .is_alone = true, .devices = devices } };
        assert_true(sim_start_plugin(world.sim, &options));
        steps(&world, 5);
        assert_true(sim_reset(world.sim));
        steps(&world, 2);
        CHECK(times_said(&world, DIAG_WARNING, "talks with controllers, and none runs") == cases[i].said,
              cases[i].plugin);
        sim_end_plugin(world.sim);
        devices_destroy(devices);
        world_close(&world);
    }
}

int main(void)
{
    scratch = plugin_scratch("plugin_messages");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages), cmocka_unit_test(test_messages_of_host),
        cmocka_unit_test(test_received), cmocka_unit_test(test_channels_and_sizes),
        cmocka_unit_test(test_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
