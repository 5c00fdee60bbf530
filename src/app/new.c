// new.c - `talus new`: a project, controller or plugin to start from, which builds and runs at once.
#include "app/app.h"

#include "base/arena.h"
#include "base/file.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct NewOptions {
    bool cpp, cmake;
    const char *project;
} NewOptions;

static const AppOption rows[] = {
    { "cpp", OPTION_FLAG, offsetof(NewOptions, cpp), NULL, "a plugin in C++ rather than C" },
    { "cmake", OPTION_FLAG, offsetof(NewOptions, cmake), NULL, "with a CMakeLists.txt rather than a Makefile" },
    { "project", OPTION_STRING, offsetof(NewOptions, project), "FOLDER", "the project it goes into (here otherwise)" },
};

static const char makefile[] =
    "# `talus build` or `make` with WEBOTS_HOME set. Further sources: C_SOURCES or CXX_SOURCES; libraries: LIBRARIES = -l...\n"
    "\n"
    "null :=\n"
    "space := $(null) $(null)\n"
    "ifeq ($(strip $(WEBOTS_HOME)),)\n"
    "$(error WEBOTS_HOME is not set: use `talus build`, or name the folder in which Talus has its resources)\n"
    "endif\n"
    "WEBOTS_HOME_PATH ?= $(subst $(space),\\ ,$(strip $(subst \\,/,$(WEBOTS_HOME))))\n"
    "include $(WEBOTS_HOME_PATH)/resources/Makefile.include\n";

// @ stands for the name.
#define CMAKE_HEAD \
    "# `talus build`, or cmake with WEBOTS_HOME set. The target has the folder's name: so it is found.\n" \
    "cmake_minimum_required(VERSION 3.10)\n"
#define CMAKE_TAIL \
    "add_custom_command(TARGET @ POST_BUILD COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_FILE:@> ${CMAKE_SOURCE_DIR})\n"
static const char plugin_cmake[] = CMAKE_HEAD
    "project(@)\n"
    "include_directories($ENV{WEBOTS_HOME}/include)\n"
    "file(GLOB SOURCES *.c *.cpp)\n"
    "add_library(@ MODULE ${SOURCES})\n" CMAKE_TAIL;
static const char controller_cmake[] = CMAKE_HEAD
    "project(@)\n"
    "include_directories($ENV{WEBOTS_HOME}/include/controller/c)\n"
    "link_directories($ENV{WEBOTS_HOME}/lib/controller)\n"
    "file(GLOB SOURCES *.c *.cpp)\n"
    "add_executable(@ ${SOURCES})\n"
    "target_link_libraries(@ Controller m)\n" CMAKE_TAIL;

static const char plugin_source[] =
    "/* @: a physics plugin. Named by the field `physics` of a world's WorldInfo. */\n"
    "#include <plugins/physics.h>\n"
    "\n"
    "static dBodyID body;\n"
    "\n"
    "/* When the world is loaded and after a reset. Look up bodies and geoms here; what is not found is NULL. */\n"
    "DLLEXPORT void webots_physics_init(void)\n"
    "{\n"
    "  body = dWebotsGetBodyFromDEF(\"BOX\");\n"
    "  if (!body)\n"
    "    dWebotsConsolePrintf(\"there is no Solid DEF BOX with Physics\");\n"
    "}\n"
    "\n"
    "/* Before every step: forces that are added here act in this step. */\n"
    "DLLEXPORT void webots_physics_step(void)\n"
    "{\n"
    "  if (body)\n"
    "    dBodyAddForce(body, 100.0, 0.0, 0.0);\n"
    "}\n"
    "\n"
    "/* For every pair of geoms whose boxes overlap. 0: the simulator goes on as always. 1: handled here (make contact joints\n"
    " * with dCollide() and dWebotsGetContactJointGroup()). 2: handled, and shown as colliding. */\n"
    "DLLEXPORT int webots_physics_collide(dGeomID g1, dGeomID g2)\n"
    "{\n"
    "  (void)g1;\n"
    "  (void)g2;\n"
    "  return 0;\n"
    "}\n"
    "\n"
    "/* After every step. */\n"
    "DLLEXPORT void webots_physics_step_end(void)\n"
    "{\n"
    "}\n"
    "\n"
    "/* Before a reset and at the end: undo what init did. */\n"
    "DLLEXPORT void webots_physics_cleanup(void)\n"
    "{\n"
    "  body = NULL;\n"
    "}\n";

static const char controller_source[] =
    "/* @: a robot's program. Named by the field `controller` of a Robot. */\n"
    "#include <stdio.h>\n"
    "#include <webots/robot.h>\n"
    "\n"
    "int main(int argc, char **argv)\n"
    "{\n"
    "  (void)argc;\n"
    "  (void)argv;\n"
    "  wb_robot_init();\n"
    "  const int time_step = (int)wb_robot_get_basic_time_step();\n"
    "  printf(\"%s starts\\n\", wb_robot_get_name());\n"
    "  while (wb_robot_step(time_step) != -1) {\n"
    "    /* Read sensors, command actuators. */\n"
    "  }\n"
    "  wb_robot_cleanup();\n"
    "  return 0;\n"
    "}\n";

static const char world_source[] =
    "#VRML_SIM R2025a utf8\n"
    "WorldInfo {\n"
    "  title \"@\"\n"
    "  physics \"@\"\n"
    "  basicTimeStep 16\n"
    "}\n"
    "Viewpoint {\n"
    "  orientation -0.2 0.2 0.96 1.6\n"
    "  position 0 -5 2\n"
    "}\n"
    "Background {\n"
    "}\n"
    "DirectionalLight {\n"
    "  direction -1 1 -2\n"
    "}\n"
    "DEF FLOOR Solid {\n"
    "  children [\n"
    "    Shape { geometry Plane { size 10 10 } }\n"
    "  ]\n"
    "  name \"floor\"\n"
    "  boundingObject Plane { size 10 10 }\n"
    "}\n"
    "DEF BOX Robot {\n"
    "  translation 0 0 0.5\n"
    "  children [\n"
    "    Shape { geometry DEF BOX_SHAPE Box { size 0.2 0.2 0.2 } }\n"
    "  ]\n"
    "  name \"box\"\n"
    "  boundingObject USE BOX_SHAPE\n"
    "  physics Physics { }\n"
    "  controller \"@\"\n"
    "}\n";

typedef struct NewFile { const char *path, *text; } NewFile;  // @ in both stands for the name

static char *with_name(Arena *arena, const char *pattern, const char *name)
{
    Text text = { 0 };
    for (const char *c = pattern; *c; c++)
        *c == '@' ? text_add_string(&text, name) : text_add_char(&text, *c);
    char *result = arena_string(arena, text.data);
    text_free(&text);
    return result;
}

// A plugin or controller is made of all sources in its folder, so nothing may be in it already.
static bool is_free(Arena *arena, const char *path, const char *name, DiagSink *diags)
{
    const char *folder = path_directory(arena, path);
    const char *taken = file_exists(path) ? path : !strcmp(path_name(folder), name) && file_is_directory(folder) ? folder : NULL;
    if (taken)
        diag_error(diags, (SourcePos){ 0 }, "%s is already there and stays as it is", taken);
    return !taken;
}

static bool write_file(Arena *arena, const char *path, const char *text, DiagSink *diags)
{
    if (!file_make_directories(path_directory(arena, path))) {
        diag_error(diags, (SourcePos){ 0 }, "the folder of %s cannot be made", path);
        return false;
    }
    bool is_fine = file_write_atomic(path, text, strlen(text), diags);
    if (is_fine)
        printf("%s\n", path);
    return is_fine;
}

// All or nothing: what is in the way of one file is so of all.
static bool write_files(const char *project, const NewFile *files, int count, const char *name, DiagSink *diags)
{
    Arena *arena = arena_create();
    bool is_fine = true;
    for (int writes = 0; writes < 2; writes++)
        for (int i = 0; i < count && is_fine; i++) {
            if (!files[i].text)
                continue;
            const char *path = arena_printf(arena, "%s/%s", project, with_name(arena, files[i].path, name));
            is_fine = writes ? write_file(arena, path, with_name(arena, files[i].text, name), diags) : is_free(arena, path, name, diags);
        }
    arena_destroy(arena);
    return is_fine;
}

// In a folder of a project, such as plugins/physics, its project is meant.
static const char *project_here(Arena *arena)
{
    static const char *const inner[] = { "/plugins/physics/*", "/plugins/physics", "/plugins", "/controllers/*", "/controllers", "/worlds" };
    const char *here = path_real(arena, ".");
    for (int i = 0; here && i < COUNT_OF(inner); i++) {
        const char *folder = here;
        size_t length = strlen(inner[i]);
        if (inner[i][length - 1] == '*') {
            length -= 2;
            folder = path_directory(arena, here);
        }
        size_t rest = strlen(folder) > length ? strlen(folder) - length : 0;
        if (rest > 0 && !strncmp(folder + rest, inner[i], length))
            return arena_text(arena, folder, rest);
    }
    return ".";
}

static bool name_is_good(const char *name)
{
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_' && *c != '-')
            return false;
    return *name && strlen(name) < 100 && name[0] != '-';
}

static int new_verb(const AppCommand *command, int argc, char **argv)
{
    NewOptions options = { 0 };
    int files;
    int code = app_parse(command, argc, argv, &options, &files);
    if (code >= 0)
        return code;
    if (files != 2)
        return app_usage_error(command, "say what to make and its name");
    const char *what = argv[1], *name = argv[2];
    bool is_project = !strcmp(what, "project"), is_plugin = !strcmp(what, "plugin"), is_controller = !strcmp(what, "controller");
    if (!is_project && !is_plugin && !is_controller)
        return app_usage_error(command, "'%s' is not one of project, controller, plugin", what);
    if (!name_is_good(name))
        return app_usage_error(command, "'%s' is no good name: use letters, digits, _ and -", name);
    Arena *arena = arena_create();
    DiagSink *diags = diag_create();
    const char *project = options.project ? options.project : is_project ? "." : project_here(arena);
    if (is_project)
        project = path_join(arena, project, name);
    const NewFile all[] = {
        { "worlds/@.wbt", is_project ? world_source : NULL },
        { options.cpp ? "plugins/physics/@/@.cpp" : "plugins/physics/@/@.c", is_controller ? NULL : plugin_source },
        { options.cmake ? "plugins/physics/@/CMakeLists.txt" : "plugins/physics/@/Makefile", is_controller ? NULL : options.cmake ? plugin_cmake : makefile },
        { "controllers/@/@.c", is_plugin ? NULL : controller_source },
        { options.cmake ? "controllers/@/CMakeLists.txt" : "controllers/@/Makefile", is_plugin ? NULL : options.cmake ? controller_cmake : makefile },
    };
    bool is_fine = write_files(project, all, COUNT_OF(all), name, diags);
    diag_print(diags, stderr, 0, DIAG_WARNING);
    diag_destroy(diags);
    arena_destroy(arena);
    return is_fine ? EXIT_OK : EXIT_INPUT;
}

const AppCommand command_new = {
    .name = "new",
    .arguments = "project|controller|plugin NAME",
    .summary = "start a project, controller or physics plugin",
    .details = "Writes commented files that build and run at once, into the project in whose folder (or plugins/physics, controllers,\n"
               "worlds of it) you are. Nothing that exists is overwritten.",
    .examples = "talus new project rover && talus build rover && talus run rover/worlds/rover.wbt --until 5\n"
                "talus new plugin flight --project my_project\n"
                "talus new plugin water --cpp --cmake",
    .options = rows,
    .option_count = COUNT_OF(rows),
    .run = new_verb,
};
