#include "support/plugin_world.h"

#include <stdlib.h>
#include <string.h>

static const char *folder;

void compile(const char *compiler, const char *name, const char *source, bool is_cpp)
{
    char path[1024], command[4096];
    snprintf(path, sizeof path, "%s/plugins/physics/%s", folder, name);
    snprintf(command, sizeof command, "mkdir -p %s", path);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/plugins/physics/%s/%s.%s", folder, name, name, is_cpp ? "cpp" : "c");
    support_write(path, source);
    snprintf(command, sizeof command,
             "%s -Wall -Wextra -Werror -g -fPIC -shared -Iinclude %s -o %s/plugins/physics/%s/lib%s.so", compiler, path,
             folder, name, name);
    CHECK(system(command) == 0, command);
}

World world_open(const char *plugin, const char *nodes) { return world_open_with(plugin, nodes, NULL); }

World world_open_with(const char *plugin, const char *nodes, const SimOptions *options)
{
    World world = { .diags = diag_create() };
    char path[1024];
    Text text = { 0 };
    text_printf(&text, "#VRML_SIM R2025a utf8\nWorldInfo { physics \"%s\" basicTimeStep 10 }\n%s", plugin, nodes);
    snprintf(path, sizeof path, "%s/worlds/%s.wbt", folder, plugin);
    support_write(path, text.data);
    text_free(&text);
    world.sim = sim_load(path, options, world.diags);
    CHECK(world.sim, plugin);
    world.stream = tmpfile();
    assert_non_null(world.stream);
    return world;
}

bool world_start(World *world, Devices *devices)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/crash.snap", folder);
    SimPluginOptions options = { .plugin = { .out = world->stream, .devices = devices }, .crash_snapshot = path };
    return sim_start_plugin(world->sim, &options);
}

void world_close(World *world)
{
    sim_destroy(world->sim);
    fclose(world->stream);
    diag_destroy(world->diags);
}

const char *printed(World *world)
{
    rewind(world->stream);
    size_t length = fread(world->out, 1, sizeof world->out - 1, world->stream);
    world->out[length] = '\0';
    fseek(world->stream, 0, SEEK_END);
    return world->out;
}

void expect_no_errors(const World *world)
{
    diag_print(world->diags, stderr, 0, DIAG_ERROR);
    assert_false(diag_has_errors(world->diags));
}

const char *const falling =
    "DEF FLOOR Solid { name \"floor\" boundingObject Plane { } }\n"
    "DEF BOX Solid { translation 0 0 0.5 boundingObject Box { size 1 1 1 } physics Physics { density -1 mass 2 } }\n";

void steps(World *world, int count)
{
    for (int i = 0; i < count; i++)
        assert_true(sim_step(world->sim));
}

const char *plugin_scratch(const char *name)
{
    folder = support_scratch(name);
    char command[1024];
    snprintf(command, sizeof command, "mkdir -p %s/worlds", folder);
    assert_int_equal(system(command), 0);
    return folder;
}

bool has_compiler(const char *command)
{
    char check[256];
    snprintf(check, sizeof check, "command -v %.*s >/dev/null", (int)strcspn(command, " "), command);
    if (system(check) == 0)
        return true;
    printf("%s is not there: not tried\n", command);
    return false;
}

int times_said(const World *world, DiagSeverity severity, const char *part)
{
    int count = 0;
    for (int i = 0; i < diag_count(world->diags); i++) {
        const Diagnostic *found = diag_at(world->diags, i);
        count += found->severity == severity && strstr(found->message, part) ? found->count : 0;
    }
    return count;
}
