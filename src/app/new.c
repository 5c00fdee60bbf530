// new.c - `talus new`: a project, controller or plugin to start from, which builds and runs at once. What is written
// lies below resources/new/: one folder for each template, with @ in names and texts where the new name goes.
#include "app/app.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "control/environment.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct NewOptions {
    bool cpp, cmake, quiet, json;
    const char *project, *template, *language;
} NewOptions;

static const AppOption rows[] = {
    { "template", OPTION_STRING, offsetof(NewOptions, template), "rover|arm|drone|quadruped|empty|body",
      "what the project begins with (rover)" },
    { "language", OPTION_STRING, offsetof(NewOptions, language), "c|cpp|python",
      "of the robot's program (c); a plugin is C or C++" },
    { "cpp", OPTION_FLAG, offsetof(NewOptions, cpp), NULL, "the same as --language cpp" },
    { "cmake", OPTION_FLAG, offsetof(NewOptions, cmake), NULL, "with a CMakeLists.txt rather than a Makefile" },
    { "project", OPTION_STRING, offsetof(NewOptions, project), "FOLDER", "the project it goes into (here otherwise)" },
    { "quiet|q", OPTION_FLAG, offsetof(NewOptions, quiet), NULL, "print errors alone" },
    { "json", OPTION_FLAG, offsetof(NewOptions, json), NULL, "print what was made as one JSON object" },
};

typedef enum Kind { KIND_PROJECT, KIND_CONTROLLER, KIND_PLUGIN, KIND_NONE } Kind;
static const char *const kind_names[] = { "project", "controller", "plugin" };

typedef struct Language {
    const char *name, *ending, *title;
    bool is_built;
} Language;
static const Language languages[] = { { "c", "c", "C", true },
                                      { "cpp", "cpp", "C++", true },
                                      { "python", "py", "Python", false } };

// A file to write: where its text comes from (below resources/new) and goes to (below the project).
typedef struct NewFile {
    const char *from, *to;
} NewFile;

typedef struct New {
    const NewOptions *options;
    Arena *arena;
    DiagSink *diags;
    Kind kind;
    const char *name, *project, *home;
    const Language *language;
    NewFile files[8];
    int file_count;
} New;

static void add_file(New *new, const char *from, const char *to)
{
    assert(new->file_count < COUNT_OF(new->files));
    new->files[new->file_count++] = (NewFile){ from, to };
}

static char *with_name(Arena *arena, const char *pattern, const char *name)
{
    Text text = { 0 };
    text_add_string(&text, "");
    for (const char *c = pattern; *c; c++)
        *c == '@' ? text_add_string(&text, name) : text_add_char(&text, *c);
    char *result = arena_string(arena, text.data);
    text_free(&text);
    return result;
}

// ---- what is written ----

static void add_controller(New *new, const char *template)
{
    const Language *language = new->language;
    add_file(new, arena_printf(new->arena, "%s/controllers/@/@.%s", template, language->ending),
             arena_printf(new->arena, "controllers/@/@.%s", language->ending));
    if (!language->is_built)
        return;
    if (new->options->cmake)
        add_file(new, "common/controller.cmake", "controllers/@/CMakeLists.txt");
    else
        add_file(new, "common/Makefile", "controllers/@/Makefile");
}

static void add_plugin(New *new)
{
    add_file(new, "common/plugin.c", arena_printf(new->arena, "plugins/physics/@/@.%s", new->language->ending));
    if (new->options->cmake)
        add_file(new, "common/plugin.cmake", "plugins/physics/@/CMakeLists.txt");
    else
        add_file(new, "common/Makefile", "plugins/physics/@/Makefile");
}

static void add_project(New *new)
{
    const char *template = new->options->template ? new->options->template : "rover";
    add_file(new, arena_printf(new->arena, "%s/worlds/@.wbt", template), "worlds/@.wbt");
    if (!strcmp(template, "body"))
        add_file(new, "body/models/@.body", "models/@.body");
    add_controller(new, template);
    add_file(new, arena_printf(new->arena, "%s/README.md", template), "README.md");
}

// ---- what comes next ----

static bool has_verb(const char *name)
{
    for (int i = 0; app_commands[i]; i++)
        if (!strcmp(app_commands[i]->name, name))
            return true;
    return false;
}

// The three commands that a newcomer wants, one in each line.
static char *next_commands(const New *new, const char *project, const char *indent)
{
    Text out = { 0 };
    bool can_view = has_verb("view");
    if (new->language->is_built)
        text_printf(&out, "%stalus build %s\n", indent, project);
    text_printf(&out, "%stalus run %s --until 10\n", indent, project);
    if (can_view)
        text_printf(&out, "%stalus view %s\n", indent, project);
    if (!can_view || !new->language->is_built)
        text_printf(&out, "%stalus render %s %s.png --at 3\n", indent, project, new->name);
    assert(out.length > 0);
    out.data[out.length - 1] = '\0';
    char *result = arena_string(new->arena, out.data);
    text_free(&out);
    return result;
}

// ---- writing ----

// A plugin or controller is made of all sources in its folder, so nothing may be in it already.
static bool is_free(const New *new, const char *path)
{
    const char *folder = path_directory(new->arena, path);
    const char *taken = file_exists(path)                                                    ? path
                        : !strcmp(path_name(folder), new->name) && file_is_directory(folder) ? folder
                                                                                             : NULL;
    if (taken)
        diag_error(new->diags, (SourcePos){ 0 }, "%s is already there and stays as it is", taken);
    return !taken;
}

static const char *replaced(const New *new, const char *text, const char *what, const char *by)
{
    const char *at = strstr(text, what);
    return at ? arena_printf(new->arena, "%.*s%s%s", (int)(at - text), text, by, at + strlen(what)) : text;
}

static bool write_file(const New *new, const char *from, const char *path)
{
    FileData file;
    const char *source = arena_printf(new->arena, "%s/resources/new/%s", new->home, from);
    if (!file_read(source, 1 << 20, &file, new->diags, (SourcePos){ 0 }))
        return false;
    const char *text = with_name(new->arena, arena_text(new->arena, file.data, file.size), new->name);
    file_release(&file);
    text = replaced(new, text, "%COMMANDS%", next_commands(new, ".", ""));
    if (!file_make_directories(path_directory(new->arena, path))) {
        diag_output_error(new->diags, path, file_write_error(errno));
        return false;
    }
    return file_write_atomic(path, text, strlen(text), new->diags);
}

static const char *path_of(const New *new, int file)
{
    assert(file >= 0 && file < new->file_count);
    return path_join(new->arena, new->project, with_name(new->arena, new->files[file].to, new->name));
}

// Takes back the first files, and their folders up to the project's as far as nothing else is in them.
static void remove_files(const New *new, int count)
{
    size_t project_length = strlen(new->project);
    for (int i = 0; i < count; i++) {
        const char *path = path_of(new, i);
        remove(path);
        for (path = path_directory(new->arena, path); strlen(path) >= project_length && rmdir(path) == 0;)
            path = path_directory(new->arena, path);
    }
}

// All or nothing: what is in the way of one file is so of all.
static bool write_files(const New *new)
{
    assert(new->file_count > 0);
    for (int i = 0; i < new->file_count; i++)
        if (!is_free(new, path_of(new, i)))
            return false;
    for (int i = 0; i < new->file_count; i++)
        if (!write_file(new, new->files[i].from, path_of(new, i))) {
            remove_files(new, i + 1);
            return false;
        }
    return true;
}

// What was made and what to type next: commands stand as they are typed from where the user is.
static void report(const New *new)
{
    assert_debug((int)new->kind >= 0 && (int)new->kind < COUNT_OF(kind_names));
    const NewOptions *options = new->options;
    Text out = { 0 };
    JsonWriter json = { .out = &out };
    if (options->json) {
        json_begin_object(&json, NULL);
        json_string(&json, "kind", kind_names[new->kind]);
        json_string(&json, "project", new->project);
        json_begin_array(&json, "files");
    }
    for (int i = 0; i < new->file_count; i++) {
        if (options->json)
            json_string(&json, NULL, path_of(new, i));
        else if (!options->quiet)
            text_printf(&out, "%s\n", path_of(new, i));
    }
    if (options->json) {
        json_end_array(&json);
        json_end_object(&json);
        text_add_char(&out, '\n');
    } else if (!options->quiet && new->kind == KIND_PROJECT) {
        text_printf(&out, "next:\n%s\n", next_commands(new, new->project, "  "));
    } else if (!options->quiet && new->kind == KIND_PLUGIN) {
        text_printf(&out, "next:\n  talus build %s\n  and WorldInfo { physics \"%s\" } in a world of it\n",
                    new->project, new->name);
    } else if (!options->quiet) {
        text_printf(&out, "next:\n%s  controller \"%s\" in a Robot of a world\n",
                    new->language->is_built ? arena_printf(new->arena, "  talus build %s\n", new->project) : "",
                    new->name);
    }
    app_print(&out);
}

// ---- the verb ----

// In a folder of a project, such as plugins/physics, its project is meant.
static const char *project_here(Arena *arena)
{
    static const char *const inner[] = { "/plugins/physics/*", "/plugins/physics", "/plugins",
                                         "/controllers/*",     "/controllers",     "/worlds" };
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

static Kind kind_of(const char *word)
{
    for (int i = 0; i < COUNT_OF(kind_names); i++)
        if (!strcmp(word, kind_names[i]))
            return (Kind)i;
    return KIND_NONE;
}

static const Language *language_of(const NewOptions *options)
{
    const char *name = options->language ? options->language : options->cpp ? "cpp" : "c";
    for (int i = 0; i < COUNT_OF(languages); i++)
        if (!strcmp(languages[i].name, name))
            return &languages[i];
    return NULL;
}

static int make(New *new)
{
    assert_debug(new->arena && !new->home);
    new->home = environment_home(new->arena);
    if (!new->home) {
        fputs("talus new: resources/new is not beside the program; is it installed?\n", stderr);
        return EXIT_INTERNAL;
    }
    switch (new->kind) {
    case KIND_PROJECT: add_project(new); break;
    case KIND_CONTROLLER: add_controller(new, "empty"); break;
    default: add_plugin(new); break;
    }
    bool is_fine = write_files(new);
    diag_print(new->diags, stderr, 0, DIAG_WARNING);
    if (is_fine)
        report(new);
    return is_fine ? EXIT_OK : diag_has_output_errors(new->diags) ? EXIT_SIMULATION : EXIT_INPUT;
}

static int new_verb(const AppCommand *command, int argc, char **argv)
{
    NewOptions options = { 0 };
    int files;
    int code = app_parse(command, argc, argv, &options, &files);
    if (code >= 0)
        return code;
    // `talus new my_rover` is short for `talus new project my_rover`.
    bool is_short = files == 1 && kind_of(argv[1]) == KIND_NONE;
    if (files != 2 && !is_short)
        return app_usage_error(command, "say what to make and its name");
    Kind kind = is_short ? KIND_PROJECT : kind_of(argv[1]);
    const char *name = argv[files];
    if (kind == KIND_NONE)
        return app_usage_error(command, "'%s' is not one of project, controller, plugin", argv[1]);
    if (!name_is_good(name))
        return app_usage_error(command, "'%s' is no good name: use letters, digits, _ and -", name);
    if (options.template && kind != KIND_PROJECT)
        return app_usage_error(command, "--template is for projects");
    const Language *language = language_of(&options);
    if (options.cpp && strcmp(language->name, "cpp") != 0)
        return app_usage_error(command, "give --cpp or --language %s, not both", language->name);
    if (!language->is_built && (kind == KIND_PLUGIN || options.cmake))
        return app_usage_error(command,
                               kind == KIND_PLUGIN ? "a physics plugin is C or C++" : "Python needs no --cmake");
    Arena *arena = arena_create();
    const char *project = options.project ? options.project : kind == KIND_PROJECT ? "." : project_here(arena);
    if (kind == KIND_PROJECT)
        project = strcmp(project, ".") ? path_join(arena, project, name) : name;
    New new = { .options = &options,
                .arena = arena,
                .diags = diag_create(),
                .kind = kind,
                .name = name,
                .project = project,
                .language = language };
    code = make(&new);
    diag_destroy(new.diags);
    arena_destroy(arena);
    return code;
}

const AppCommand command_new = {
    .name = "new",
    .arguments = "[project|controller|plugin] NAME [--template NAME] [--language NAME]",
    .summary = "start a project, controller or physics plugin",
    .details =
        "Writes commented files that build and run at once, and prints the commands that come next. A project has a world, a robot\n"
        "with motors and sensors, its program and a README. Controllers and plugins go into the project in whose folder (or\n"
        "plugins/physics, controllers, worlds of it) you are. Nothing that exists is overwritten.",
    .examples = "talus new my_rover --template rover --language python && talus run my_rover --until 10\n"
                "talus new my_drone --template drone && talus build my_drone && talus run my_drone --until 10\n"
                "talus new controller second --language cpp\n"
                "talus new plugin flight --project my_project\n"
                "talus new plugin water --cpp --cmake",
    .options = rows,
    .option_count = COUNT_OF(rows),
    .run = new_verb,
};
