// launch.c - which program runs a robot: lookup in the project, kinds of programs, runtime.ini, environment.
#include "control/control_internal.h"

#include "base/file.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

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

static const char *controller_folder(Control *control, const char *project, const char *name)
{
    if (!project)
        return NULL;
    char *folder = path_join(control->arena, path_join(control->arena, project, "controllers"), name);
    return file_is_directory(folder) ? folder : NULL;
}

static const char *find_folder(Control *control, const Controller *controller)
{
    const SceneNode *robot = devices_robot_node(control->devices, controller->robot);
    const char *folder = controller_folder(control, launch_project(control), controller->program);
    if (!folder)
        folder = controller_folder(control, proto_project(control, robot), controller->program);
    static const char *const variables[] = { "TALUS_PATH", "WEBOTS_EXTRA_PROJECT_PATH" };
    for (int i = 0; i < COUNT_OF(variables) && !folder; i++) {
        const char *value = getenv(variables[i]);
        char *list = value ? arena_string(control->arena, value) : NULL;
        for (char *rest = list, *part; !folder && (part = strsep(&rest, ":"));)
            folder = controller_folder(control, *part ? part : NULL, controller->program);
    }
    return folder;
}

// ---- runtime.ini ----

typedef struct Environment {
    char **items;
    int count, capacity;
    Arena *arena;
} Environment;

static void set_variable(Environment *environment, const char *name, const char *value)
{
    size_t length = strlen(name);
    char *text = arena_printf(environment->arena, "%s=%s", name, value);
    for (int i = 0; i < environment->count; i++) {
        if (!strncmp(environment->items[i], name, length) && environment->items[i][length] == '=') {
            environment->items[i] = text;
            return;
        }
    }
    memory_grow(&environment->items, &environment->capacity, environment->count + 2, sizeof *environment->items);
    environment->items[environment->count++] = text;
    environment->items[environment->count] = NULL;
}

static const char *variable(const Environment *environment, const char *name)
{
    size_t length = strlen(name);
    for (int i = 0; i < environment->count; i++)
        if (!strncmp(environment->items[i], name, length) && environment->items[i][length] == '=')
            return environment->items[i] + length + 1;
    return NULL;
}

static void prepend_path(Environment *environment, const char *name, const char *path)
{
    const char *old = variable(environment, name);
    set_variable(environment, name, old && *old ? arena_printf(environment->arena, "%s:%s", path, old) : path);
}

// $(NAME) stands for a variable.
static const char *expand(Environment *environment, const char *text)
{
    Text out = { 0 };
    text_add_string(&out, "");
    while (*text) {
        const char *end = text[0] == '$' && text[1] == '(' ? strchr(text, ')') : NULL;
        if (!end) {
            text_add_char(&out, *text++);
            continue;
        }
        const char *value = variable(environment, arena_text(environment->arena, text + 2, (size_t)(end - text - 2)));
        text_add_string(&out, value ? value : "");
        text = end + 1;
    }
    char *copy = arena_string(environment->arena, out.data);
    text_free(&out);
    return copy;
}

static char *trimmed(char *text)
{
    while (*text == ' ' || *text == '\t')
        text++;
    size_t length = strlen(text);
    while (length && strchr(" \t\r\n", text[length - 1]))
        text[--length] = '\0';
    return text;
}

typedef struct Runtime {
    const char *command, *options;  // of [python] and the like
} Runtime;

static void read_runtime_line(Environment *environment, const char *folder, const char *section, char *line, Runtime *runtime)
{
    char *value = strchr(line, '=');
    if (!value)
        return;
    *value++ = '\0';
    char *name = trimmed(line);
    value = trimmed(value);
    size_t length = strlen(value);
    if (length >= 2 && value[0] == '"' && value[length - 1] == '"') {
        value[length - 1] = '\0';
        value++;
    }
    if (!strcmp(section, "python") && !strcmp(name, "COMMAND")) {
        runtime->command = value;
    } else if (!strcmp(section, "python") && !strcmp(name, "OPTIONS")) {
        runtime->options = value;
    } else if (!strcmp(section, "environment variables with paths")) {
        Text paths = { 0 };
        for (char *rest = arena_string(environment->arena, expand(environment, value)), *part; (part = strsep(&rest, ":"));)
            text_printf(&paths, "%s%s", paths.length ? ":" : "", path_join(environment->arena, folder, part));
        set_variable(environment, name, paths.data ? paths.data : "");
        text_free(&paths);
    } else if (!strcmp(section, "environment variables") || !strcmp(section, "environment variables for linux") ||
               !strcmp(section, "environment variables for linux 64")) {
        set_variable(environment, name, expand(environment, value));
    }
}

static Runtime read_runtime(Environment *environment, const char *folder)
{
    Runtime runtime = { 0 };
    FileData file;
    if (!file_read(path_join(environment->arena, folder, "runtime.ini"), 1 << 20, &file, NULL, (SourcePos){ 0 }))
        return runtime;
    char *rest = arena_text(environment->arena, file.data, file.size);
    file_release(&file);
    const char *section = "";
    for (char *line; (line = strsep(&rest, "\n"));) {
        line = trimmed(line);
        if (*line == '[') {
            line[strcspn(line, "]")] = '\0';
            section = line + 1;
        } else if (*line && *line != ';' && *line != '#') {
            read_runtime_line(environment, folder, section, line, &runtime);
        }
    }
    return runtime;
}

// ---- putting it together ----

static char *own_folder(Arena *arena)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    return length > 0 ? path_directory(arena, arena_text(arena, path, (size_t)length)) : arena_string(arena, ".");
}

// libController and the Python module lie beside the program (in a build) or in ../lib/talus (installed).
static void add_library_paths(Environment *environment, const char *folder, const char *project)
{
    const char *home = getenv("TALUS_CONTROLLER_PATH");
    char *beside = own_folder(environment->arena);
    char *installed = path_normalized(environment->arena, arena_printf(environment->arena, "%s/../lib/talus", beside));
    prepend_path(environment, "LD_LIBRARY_PATH", arena_printf(environment->arena, "%s/libraries", project));
    prepend_path(environment, "LD_LIBRARY_PATH", folder);
    prepend_path(environment, "LD_LIBRARY_PATH", installed);
    prepend_path(environment, "LD_LIBRARY_PATH", beside);
    prepend_path(environment, "PYTHONPATH", arena_printf(environment->arena, "%s/python", installed));
    prepend_path(environment, "PYTHONPATH", arena_printf(environment->arena, "%s/python", beside));
    if (home) {
        prepend_path(environment, "LD_LIBRARY_PATH", home);
        prepend_path(environment, "PYTHONPATH", arena_printf(environment->arena, "%s/python", home));
    }
}

typedef struct Arguments {
    char **items;
    int count, capacity;
} Arguments;

static void add_argument(Arguments *arguments, const char *text)
{
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

static bool find_program(Control *control, const Controller *controller, const char *folder, const Runtime *runtime, Arguments *arguments)
{
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

bool launch_find(Control *control, const Controller *controller, Launch *launch)
{
    const SceneNode *robot = devices_robot_node(control->devices, controller->robot);
    const char *folder = find_folder(control, controller);
    if (!folder) {
        diag_warning(control->diags, scene_field_pos(robot, "controller"), "controller '%s' of robot '%s' is not in %s/controllers; the robot has none",
                     controller->program, controller->name, launch_project(control));
        diag_hint(control->diags, "talus build builds the controllers of a project");
        return false;
    }
    Environment environment = { .arena = control->arena };
    for (char **item = environ; *item; item++) {
        memory_grow(&environment.items, &environment.capacity, environment.count + 2, sizeof *environment.items);
        environment.items[environment.count++] = *item;
        environment.items[environment.count] = NULL;
    }
    add_library_paths(&environment, folder, launch_project(control));
    set_variable(&environment, "WEBOTS_ROBOT_NAME", controller->name);
    set_variable(&environment, "PYTHONIOENCODING", "UTF-8");
    Runtime runtime = read_runtime(&environment, folder);
    Arguments arguments = { 0 };
    bool found = find_program(control, controller, folder, &runtime, &arguments);
    if (found) {
        const FieldList *given = scene_list(robot, "controllerArgs");
        for (int i = 0; i < given->count; i++)
            add_argument(&arguments, given->strings[i]);
        launch->folder = folder;
        launch->arguments = arena_copy(control->arena, arguments.items, (size_t)(arguments.count + 1) * sizeof *arguments.items);
        launch->environment = arena_copy(control->arena, environment.items, (size_t)(environment.count + 1) * sizeof *environment.items);
    } else {
        diag_warning(control->diags, scene_field_pos(robot, "controller"), "%s has no executable '%s' and no '%s.py'; robot '%s' has no controller",
                     folder, controller->program, controller->program, controller->name);
        diag_hint(control->diags, "talus build %s", launch_project(control));
    }
    free(arguments.items);
    free(environment.items);
    return found;
}
