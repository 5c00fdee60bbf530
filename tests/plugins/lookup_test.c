// Where a plugin is looked for, what its name may be, and what is said about files that are no plugin.
#include "support/plugin_world.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *scratch;

static const char *const where =
    "#include <plugins/physics.h>\n#include <unistd.h>\n#include <string.h>\n"
    "DLLEXPORT void webots_physics_init(void)\n"
    "{\n"
    "  char folder[4096];\n"
    "  const char *name = getcwd(folder, sizeof folder) ? strstr(folder, \"plugin_lookup/\") : 0;\n"
    "  dWebotsConsolePrintf(\"%s in %s\", WHICH, name ? name + 14 : folder);\n"
    "}\n"
    "DLLEXPORT void webots_physics_step(void) { }\n"
    "DLLEXPORT void webots_physics_cleanup(void) { }\n";

// Builds the plugin "where" below `project`, under the name of `file`, to say `which`.
static void put_where(const char *project, const char *file, const char *which)
{
    char command[8192];
    snprintf(command, sizeof command, "mkdir -p %s/%s/plugins/physics/where/$(dirname %s)", scratch, project, file);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "%s/where.c", scratch);
    support_write(command, where);
    snprintf(command, sizeof command,
             "gcc -DWHICH='\"%s\"' -fPIC -shared -Iinclude %s/where.c -o %s/%s/plugins/physics/where/%s", which,
             scratch, scratch, project, file);
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
    snprintf(command, sizeof command, "rm -r %s/%s/plugins/physics/where", scratch, project);
    assert_int_equal(system(command), 0);
}

static void test_lookup(void **state)
{
    (void)state;
    char path[1024], value[4096];
    snprintf(value, sizeof value, "%s/extra_a:%s/extra_b", scratch, scratch);
    setenv("TALUS_PATH", value, 1);
    snprintf(value, sizeof value, "%s/home", scratch);
    setenv("WEBOTS_HOME", value, 1);
    put_where("home/resources/projects", "libwhere.so", "resources");
    expect_where("resources", falling, "[where] resources in home/resources/projects/plugins/physics/where\n");
    put_where("home/projects/default", "where.so", "default");
    expect_where("default", falling, "[where] default in home/projects/default/plugins/physics/where\n");
    put_where("extra_b", "libwhere.so", "path");
    expect_where("path", falling, "[where] path in extra_b/plugins/physics/where\n");
    // The first folder decides: without a library in it the search ends there.
    snprintf(path, sizeof path, "mkdir -p %s/extra_a/plugins/physics/where", scratch);
    assert_int_equal(system(path), 0);
    World world = world_open("where", falling);
    assert_false(world_start(&world, NULL));
    world_close(&world);
    remove_where("extra_a");
    put_where(".", "where.so", "plain");
    expect_where("plain name", falling, "[where] plain in plugins/physics/where\n");
    put_where(".", "libwhere.so", "lib");
    expect_where("lib before plain", falling, "[where] lib in plugins/physics/where\n");
    snprintf(path, sizeof path, "touch -d '1 hour ago' %s/plugins/physics/where/libwhere.so", scratch);
    assert_int_equal(system(path), 0);
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
    snprintf(path, sizeof path, "mkdir -p %s/maker/protos", scratch);
    assert_int_equal(system(path), 0);
    snprintf(path, sizeof path, "%s/maker/protos/Thing.proto", scratch);
    support_write(path, "#VRML_SIM R2025a utf8\nPROTO Thing [ ] { Solid { boundingObject Box { } } }\n");
    put_where("maker", "libwhere.so", "maker");
    snprintf(path, sizeof path, "%s/worlds/beside.wbt", scratch);
    support_write(
        path,
        "#VRML_SIM R2025a utf8\nEXTERNPROTO \"../maker/protos/Thing.proto\"\nWorldInfo { physics \"where\" }\nThing { }\n");
    World world = { .diags = diag_create(), .stream = tmpfile() };
    world.sim = sim_load(path, NULL, world.diags);
    assert_non_null(world.sim);
    assert_true(world_start(&world, NULL));
    assert_string_equal(printed(&world), "[where] maker in maker/plugins/physics/where\n");
    world_close(&world);
    remove_where("maker");
}

// Old worlds name a file, for another system even; some names are none.
static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *name, *said;
        bool warns;
    } cases[] = {
        { "where", "[where] here in plugins/physics/where\n", false },
        { "where.dll", "[where] here in plugins/physics/where\n", true },
        { "libwhere.so", "[where] here in plugins/physics/where\n", true },
        { "libwhere.dylib", "[where] here in plugins/physics/where\n", true },
        { "plugins/physics/where/where.dll", "[where] here in plugins/physics/where\n", true },
        { "where\\\\where.dll", "[where] here in plugins/physics/where\n", true },
        { "<none>", "", false },
        { "void", "", false },
        { "", "", false },
        { ".", NULL, false },
        { "..", NULL, false },
        { "/", NULL, false },
        { ".so", NULL, false },
        { "where.c", NULL, false },
        { "Where", NULL, false },
        { "../../etc", NULL, true },
        { "lib.so", NULL, true },
    };
    put_where(".", "libwhere.so", "here");
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char path[1024];
        Text text = { 0 };
        text_printf(&text, "#VRML_SIM R2025a utf8\nWorldInfo { physics \"%s\" }\n%s", cases[i].name, falling);
        snprintf(path, sizeof path, "%s/worlds/names.wbt", scratch);
        support_write(path, text.data);
        text_free(&text);
        World world = { .diags = diag_create(), .stream = tmpfile() };
        world.sim = sim_load(path, NULL, world.diags);
        CHECK(world.sim, cases[i].name);
        CHECK(world_start(&world, NULL) == (cases[i].said != NULL), cases[i].name);
        CHECK(times_said(&world, DIAG_WARNING, "is read as the name of a plugin") == cases[i].warns, cases[i].name);
        CHECK(times_said(&world, DIAG_ERROR, "was not found") == (cases[i].said == NULL), cases[i].name);
        CHECK(!strcmp(printed(&world), cases[i].said ? cases[i].said : ""), cases[i].name);
        world_close(&world);
    }
    remove_where(".");
}

// Changes one byte of the library, or cuts it off there.
static void damage(const char *path, long place, int value)
{
    if (value < 0) {
        assert_int_equal(truncate(path, place), 0);
        return;
    }
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, place, SEEK_SET), 0);
    fputc(value, file);
    fclose(file);
}

// Every file that is no library for this machine is refused with the reason, and the process goes on.
static void test_files(void **state)
{
    (void)state;
    static const struct {
        const char *make, *said;
        long place;
        int value;
    } cases[] = {
        { NULL, "built for ARM with 32 bits, and this machine", 18, 40 },  // EM_ARM
        { NULL, "built for 32 bits", 4, 1 },                               // ELFCLASS32
        { NULL, "is cut off", 5000, -1 },
        { NULL, "is cut off", 100, -1 },
        { NULL, "is no library at all", 10, -1 },
        { NULL, "is empty", 0, -1 },
        { "echo MZ and more than enough bytes for a head of any kind, sixty-four of them >%s",
          "is a library for Windows", -1, 0 },
        { "printf '\\317\\372\\355\\376 and more than enough bytes for a head of any kind' >%s",
          "is a library for macOS", -1, 0 },
        { "echo text >%s", "is no library at all", -1, 0 },
        { "echo 'int a;' | gcc -xc -c - -o %s", "is no shared library", -1, 0 },
        { "echo 'int a;' | gcc -xc -shared -fPIC - -o %s", "has no function webots_physics_step", -1, 0 },
        { "echo 'void webots_physics_step() { } void webots_physics_init() { }' | gcc -xc -shared -fPIC - -o %s",
          "has no function webots_physics_cleanup", -1, 0 },
        { "echo 'void gone(); void webots_physics_step() { gone(); } void webots_physics_cleanup() { }' | gcc -xc -shared -fPIC -w - -o %s",
          "needs the function 'gone'", -1, 0 },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char path[1024], command[2048];
        put_where(".", "libwhere.so", "whole");
        snprintf(path, sizeof path, "%s/plugins/physics/where/libwhere.so", scratch);
        if (cases[i].make) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(command, sizeof command, cases[i].make, path);
#pragma GCC diagnostic pop
            assert_int_equal(system(command), 0);
        } else {
            damage(path, cases[i].place, cases[i].value);
        }
        World world = world_open("where", falling);
        CHECK(!world_start(&world, NULL), cases[i].said);
        CHECK(times_said(&world, DIAG_ERROR, cases[i].said) == 1, cases[i].said);
        CHECK(times_said(&world, DIAG_ERROR, "libwhere.so") >= 1, cases[i].said);
        world_close(&world);
    }
    remove_where(".");
}

// A folder with what another system needs, and a plugin that needs a library that is not there.
static void test_other_systems(void **state)
{
    (void)state;
    char command[4096];
    snprintf(command, sizeof command,
             "mkdir -p %s/plugins/physics/where && echo MZ >%s/plugins/physics/where/where.dll", scratch, scratch);
    assert_int_equal(system(command), 0);
    World world = world_open("where", falling);
    assert_false(world_start(&world, NULL));
    assert_int_equal(times_said(&world, DIAG_ERROR, "has where.dll, which is for Windows"), 1);
    world_close(&world);
    snprintf(
        command, sizeof command,
        "cd %s && echo 'int gone() { return 1; }' | gcc -xc -shared -fPIC -Wl,-soname,libgone.so.3 - -o libgone.so && "
        "echo 'int gone(); void webots_physics_step() { gone(); } void webots_physics_cleanup() { }' | "
        "gcc -xc -w -shared -fPIC - -L. -lgone -o plugins/physics/where/where.so",
        scratch);
    assert_int_equal(system(command), 0);
    world = world_open("where", falling);
    assert_false(world_start(&world, NULL));
    assert_int_equal(times_said(&world, DIAG_ERROR, "needs the library libgone.so.3, which is not found"), 1);
    world_close(&world);
    remove_where(".");
}

int main(void)
{
    scratch = plugin_scratch("plugin_lookup");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lookup), cmocka_unit_test(test_lookup_beside_proto), cmocka_unit_test(test_names),
        cmocka_unit_test(test_files),  cmocka_unit_test(test_other_systems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
