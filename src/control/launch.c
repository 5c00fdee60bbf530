// launch.c - which program runs a robot: lookup in the project, kinds of programs, and what to say when there is none.
#include "control/control_internal.h"

#include "base/file.h"
#include "base/memory.h"
#include "control/environment.h"
#include "formats/proto/proto.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *launch_project(const Control *control)
{
    const char *world = scene_path(sim_scene(control->sim));
    char *real = path_real(control->arena, world);
    char *folder = path_directory(control->arena, real ? real : world);
    return !strcmp(path_name(folder), "worlds") ? path_directory(control->arena, folder) : folder;
}

// ---- where ----

// Folder of the PROTO that made the robot, if one did: its project's controllers come after the world's.
static const char *proto_project(const Control *control, const SceneNode *robot)
{
    const SceneNode *instance = scene_instance(robot);
    if (!instance || instance == robot || !instance->proto || !instance->proto->path)
        return NULL;
    char *folder = path_directory(control->arena, instance->proto->path);
    for (int i = 0; i < 6; i++) {
        if (!strcmp(path_name(folder), "protos"))
            return path_directory(control->arena, folder);
        folder = path_directory(control->arena, folder);
    }
    return NULL;
}

static const char *folder_in(Control *control, const char *project, const char *kind, const char *name)
{
    assert_debug(kind && name);
    if (!project)
        return NULL;
    char *folder = path_join(control->arena, path_join(control->arena, project, kind), name);
    return file_is_directory(folder) ? folder : NULL;
}

const char *launch_folder(Control *control, const SceneNode *robot, const char *kind, const char *name)
{
    assert_debug(robot);
    const char *folder = folder_in(control, launch_project(control), kind, name);
    if (!folder)
        folder = folder_in(control, proto_project(control, robot), kind, name);
    static const char *const variables[] = { "TALUS_PATH", "WEBOTS_EXTRA_PROJECT_PATH" };
    for (int i = 0; i < COUNT_OF(variables) && !folder; i++) {
        const char *value = getenv(variables[i]);
        char *list = value ? arena_string(control->arena, value) : NULL;
        for (char *rest = list, *part; !folder && (part = strsep(&rest, ":"));)
            folder = folder_in(control, *part ? part : NULL, kind, name);
    }
    return folder;
}

static const char *find_folder(Control *control, const Controller *controller)
{
    return launch_folder(control, devices_robot_node(control->devices, controller->robot), "controllers",
                         controller->program);
}

// ---- which program ----

typedef struct Arguments {
    char **items;
    int count, capacity;
} Arguments;

static void add_argument(Arguments *arguments, const char *text)
{
    assert(text);
    memory_grow(&arguments->items, &arguments->capacity, arguments->count + 2, sizeof *arguments->items);
    arguments->items[arguments->count++] = (char *)text;
    arguments->items[arguments->count] = NULL;
}

// Programs of other systems lie about in projects; a shell would take them for text.
static bool is_program(const char *path)
{
    char magic[4] = "";
    FILE *file = file_exists(path) && access(path, X_OK) == 0 ? fopen(path, "rb") : NULL;
    size_t got = file ? fread(magic, 1, sizeof magic, file) : 0;
    if (file)
        fclose(file);
    return got == sizeof magic && (!memcmp(magic, "\177ELF", 4) || !memcmp(magic, "#!", 2));
}

static bool find_program(Control *control, const Controller *controller, const char *folder, const Runtime *runtime,
                         Arguments *arguments)
{
    assert_debug(folder && arguments->count == 0);
    char *program = path_join(control->arena, folder, controller->program);
    char *script = arena_printf(control->arena, "%s.py", program);
    if (is_program(program)) {
        add_argument(arguments, program);
        return true;
    }
    if (file_exists(script)) {
        add_argument(arguments, runtime->command ? runtime->command : "python3");
        add_argument(arguments, "-u");
        char *rest = runtime->options ? arena_string(control->arena, runtime->options) : NULL;
        for (char *part; (part = strsep(&rest, " "));)
            if (*part)
                add_argument(arguments, part);
        add_argument(arguments, script);
        return true;
    }
    return false;
}

// ---- what stands in the way ----

// Files that say in which language a program is; the first that is there decides.
static const struct {
    const char *ending, *language;
    bool can_be_built;
} languages[] = {
    { ".c", "C", true },          { ".cpp", "C++", true },
    { ".cc", "C++", true },       { ".cxx", "C++", true },
    { ".c++", "C++", true },      { ".java", "Java", false },
    { ".jar", "Java", false },    { ".class", "Java", false },
    { ".m", "MATLAB", false },    { ".bsg", "BotStudio", false },
    { ".exe", "Windows", false },
};

// A C source of any name beside a Makefile can be built too.
static bool has_makefile(Arena *arena, const char *folder)
{
    return file_exists(path_join(arena, folder, "Makefile")) || file_exists(path_join(arena, folder, "CMakeLists.txt"));
}

// The file itself may be there and be no program: made for another system, or without the right to run.
static void report_file(Control *control, SourcePos pos, const Controller *controller, const char *program)
{
    bool may_run = access(program, X_OK) == 0;
    diag_error(control->diags, pos, "%s %s; robot '%s' has no controller", program,
               may_run ? "is no program of this system" : "may not be executed", controller->name);
    if (may_run)
        diag_hint(control->diags, "talus build %s makes it anew from its sources", launch_project(control));
    else
        diag_hint(control->diags, "chmod +x '%s'", program);
}

// Most missing controllers are sources that nobody built or programs in a language that is not run: both are told
// with what to do.
static void report_missing(Control *control, const Controller *controller, const char *folder)
{
    SourcePos pos = scene_field_pos(devices_robot_node(control->devices, controller->robot), "controller");
    char *program = path_join(control->arena, folder, controller->program);
    for (int i = 0; i < COUNT_OF(languages); i++) {
        if (!file_exists(arena_printf(control->arena, "%s%s", program, languages[i].ending)))
            continue;
        if (languages[i].can_be_built) {
            diag_error(control->diags, pos, "controller '%s' of robot '%s' is not built: %s has %s%s alone",
                       controller->program, controller->name, folder, controller->program, languages[i].ending);
            diag_hint(control->diags, "talus build %s", launch_project(control));
        } else {
            diag_error(
                control->diags, pos, "controller '%s' of robot '%s' is a %s program (%s%s), which Talus cannot run",
                controller->program, controller->name, languages[i].language, controller->program, languages[i].ending);
            diag_hint(control->diags, "programs in C, C++ and Python can be run; with controller \"<extern>\" one of "
                                      "them is attached from outside by `talus controller`");
        }
        return;
    }
    if (file_exists(program)) {
        report_file(control, pos, controller, program);
    } else if (has_makefile(control->arena, folder)) {
        diag_error(control->diags, pos, "controller '%s' of robot '%s' is not built", controller->program,
                   controller->name);
        diag_hint(control->diags, "talus build %s", launch_project(control));
    } else {
        diag_error(
            control->diags, pos,
            "%s has neither a program '%s' nor '%s.py' nor a source to build it from; robot '%s' has no controller",
            folder, controller->program, controller->program, controller->name);
    }
}

// A robot of the library asks by default for a program of Webots' own. Nobody who uses the robot wrote that name, so it
// is no mistake of theirs.
static bool is_named_by_library(const Control *control, SourcePos pos)
{
    const char *folder = proto_library_folder(control->arena), *file = diag_file_name(control->diags, pos.file);
    return folder && text_starts_with(file, folder);
}

static void report_no_folder(Control *control, const Controller *controller)
{
    SourcePos pos = scene_field_pos(devices_robot_node(control->devices, controller->robot), "controller");
    if (!strcmp(controller->program, "ros")) {  // the program with which Webots speaks to ROS
        diag_error(control->diags, pos, "controller 'ros' of robot '%s' is a ROS node, which Talus cannot run",
                   controller->name);
        diag_hint(control->diags, "programs in C, C++ and Python can be run; with controller \"<extern>\" one of them, "
                                  "a node of ROS too, is attached from outside");
        return;
    }
    if (is_named_by_library(control, pos)) {
        // Without the robot's name, so that a crowd of pedestrians is told of once.
        const SceneNode *robot = devices_robot_node(control->devices, controller->robot);
        diag_warning(
            control->diags, scene_instance(robot)->pos,
            "controller '%s', the default of this robot, comes with Webots and not with Talus; the robot has none",
            controller->program);
        diag_hint(control->diags, "name a program of %s/controllers, or controller \"<none>\"",
                  launch_project(control));
        return;
    }
    diag_error(control->diags, pos, "controller '%s' of robot '%s' is not in %s/controllers; the robot has none",
               controller->program, controller->name, launch_project(control));
    diag_hint(control->diags, "--no-controllers runs the world without any; TALUS_PATH names more projects to look in");
}

// Python 2 has no place here; its programs fail at once with a SyntaxError, which few read as what it is.
bool launch_is_python2(const char *script)
{
    FileData file;
    bool is_old = false;
    if (!file_read(script, 1 << 20, &file, NULL, (SourcePos){ 0 }))
        return false;
    for (size_t i = 0; i + 8 < file.size && !is_old; i++) {
        bool begins = i == 0 || strchr("\n \t;:", file.data[i - 1]);
        is_old = begins && !memcmp(file.data + i, "print ", 6) && strchr("\"'", file.data[i + 6]);
    }
    file_release(&file);
    return is_old;
}

bool launch_find(Control *control, const Controller *controller, Launch *launch)
{
    assert_debug(launch && controller->program);
    const SceneNode *robot = devices_robot_node(control->devices, controller->robot);
    // The name is that of a folder in the project, so that no world names programs elsewhere.
    if (strchr(controller->program, '/') || !strcmp(controller->program, "..") || !strcmp(controller->program, ".")) {
        diag_error(control->diags, scene_field_pos(robot, "controller"),
                   "controller '%s' of robot '%s' is a path, not the name of a program in %s/controllers",
                   controller->program, controller->name, launch_project(control));
        return false;
    }
    const char *folder = find_folder(control, controller);
    if (!folder) {
        report_no_folder(control, controller);
        return false;
    }
    Environment environment = environment_make(control->arena, folder, launch_project(control));
    environment_set(&environment, "WEBOTS_ROBOT_NAME", controller->name);
    Runtime runtime = environment_read_runtime(&environment, folder, control->diags);
    Arguments arguments = { 0 };
    bool found = find_program(control, controller, folder, &runtime, &arguments);
    if (found) {
        const FieldList *given = scene_list(robot, "controllerArgs");
        for (int i = 0; i < given->count; i++)
            add_argument(&arguments, given->strings[i]);
        assert(arguments.count > given->count && !arguments.items[arguments.count]);
        launch->folder = folder;
        launch->script = NULL;
        for (int i = 0; i < arguments.count - given->count && !launch->script; i++)
            launch->script = i > 0 && text_ends_with(arguments.items[i], ".py") ? arguments.items[i] : NULL;
        launch->arguments = arena_copy(control->arena, arguments.items,
                                       (size_t)(arguments.count + 1) * sizeof *arguments.items);
        launch->environment = arena_copy(control->arena, environment.items,
                                         (size_t)(environment.count + 1) * sizeof *environment.items);
    } else {
        report_missing(control, controller, folder);
    }
    free(arguments.items);
    free(environment.items);
    return found;
}

// The same questions as at a start, asked for a robot of a Control that starts nothing.
void control_look(Sim *sim, DiagSink *diags)
{
    Devices *devices = sim_devices(sim);
    Control control = { .sim = sim, .devices = devices, .diags = diags, .arena = arena_create() };
    for (int i = 0; i < devices_robot_count(devices); i++) {
        const SceneNode *robot = devices_robot_node(devices, i);
        const char *program = scene_string(robot, "controller");
        if (!devices_robot_exists(devices, i) || !*program || *program == '<' || !strcmp(program, "void"))
            continue;
        Controller controller = { .robot = i, .name = scene_string(robot, "name"), .program = program };
        Launch launch;
        launch_find(&control, &controller, &launch);
    }
    arena_destroy(control.arena);
}
