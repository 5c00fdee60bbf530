// build.c - `talus build`: makes the controllers, plugins and libraries of a project with make or CMake and the
// compilers of this machine. What folders without a Makefile need is in resources/Makefile.include, what a
// CMakeLists.txt needs in resources/talus.cmake.
#include "app/app.h"
#include "app/build_hints.h"

#include "assets/resolve.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "control/environment.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

typedef struct BuildOptions {
    bool clean, debug, json, verbose, quiet;
} BuildOptions;

#define ROW(name, kind, member, value, help)                                                                           \
    {                                                                                                                  \
        name, kind, offsetof(BuildOptions, member), value, help                                                        \
    }
static const AppOption rows[] = {
    ROW("clean", OPTION_FLAG, clean, NULL, "remove what was built"),
    ROW("debug", OPTION_FLAG, debug, NULL, "without optimisation, for a debugger"),
    ROW("verbose|v", OPTION_FLAG, verbose, NULL, "show the commands"),
    ROW("quiet|q", OPTION_FLAG, quiet, NULL, "print failures alone"),
    ROW("json", OPTION_FLAG, json, NULL, "print the results as one JSON object"),
};

// What is looked for below a project, in the order in which it is built.
static const struct {
    const char *folder, *kind;
} places[] = {
    { "libraries", "library" },
    { "plugins/physics", "plugin" },
    { "controllers", "controller" },
};

typedef struct Build {
    const BuildOptions *options;
    Arena *arena;
    const char *home;  // folder with resources/Makefile.include
    const char *include, *library;
    JsonWriter json;
    int built, failed, skipped;
    const char *hint;  // for what the folder at hand lacks; NULL when nothing is known
    Progress progress;
} Build;

// ---- where our own files lie ----

static const char *first_existing(Arena *arena, const char *base, const char *const *tails, int count,
                                  const char *holds)
{
    assert_debug(tails && count > 0);
    for (int i = 0; i < count; i++) {
        char *path = path_normalized(arena, arena_printf(arena, "%s/%s", base, tails[i]));
        if (file_exists(arena_printf(arena, "%s/%s", path, holds)))
            return path;
    }
    return NULL;
}

static bool find_home(Build *build)
{
    assert_debug(build->arena && !build->home);
    static const char *const includes[] = { "../include/talus-api", "../include" };
    static const char *const libraries[] = { ".", "../lib/talus", "../lib", "../lib/x86_64-linux-gnu",
                                             "../lib/aarch64-linux-gnu" };
    char program[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return false;
    const char *base = path_directory(build->arena, arena_text(build->arena, program, (size_t)length));
    build->home = environment_home(build->arena);
    build->include = first_existing(build->arena, base, includes, COUNT_OF(includes), "plugins/physics.h");
    build->library = first_existing(build->arena, base, libraries, COUNT_OF(libraries), "libController.so");
    return build->home && build->include;
}

// ---- one folder ----

static bool has_ending(const char *folder, const char *const *endings, int count)
{
    assert_debug(endings && count > 0);
    DIR *directory = opendir(folder);
    bool found = false;
    for (struct dirent *entry; directory && !found && (entry = readdir(directory));)
        for (int i = 0; i < count; i++)
            found |= entry->d_name[0] != '.' && text_ends_with(entry->d_name, endings[i]);
    if (directory)
        closedir(directory);
    return found;
}

static const char *const source_endings[] = { ".c", ".cpp", ".cc", ".cxx", ".c++" };

static bool file_has(const char *path, const char *word)
{
    FileData file;
    if (!file_read(path, (size_t)limits_default.file_bytes, &file, NULL, (SourcePos){ 0 }))
        return false;
    bool found = memmem(file.data, file.size, word, strlen(word)) != NULL;
    file_release(&file);
    return found;
}

// One that CMake left, when somebody ran it right there, is no Makefile of the project's.
static bool has_makefile(Arena *arena, const char *folder)
{
    static const char *const names[] = { "Makefile", "makefile", "GNUmakefile" };
    for (int i = 0; i < COUNT_OF(names); i++) {
        const char *path = path_join(arena, folder, names[i]);
        if (file_exists(path) && !file_has(path, "# CMAKE generated file"))
            return true;
    }
    return false;
}

// Hands on what a tool says, and remembers the first hint that a line of it gives.
static void pass_on(Build *build, FILE *from, FILE *to)
{
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, from) > 0) {
        if (to)
            fputs(line, to);
        if (!build->hint)
            build->hint = build_hint_for_line(build->arena, line);
    }
    free(line);
}

// Runs a program and waits for it. What it prints goes to `log` if there is one, else it is shown; its errors are read
// for hints.
static bool run_tool(Build *build, const char *const *arguments, FILE *log)
{
    assert_debug(arguments[0]);
    pid_t pid;
    int errors[2];
    if (pipe2(errors, O_CLOEXEC) < 0)
        return false;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (log || build->options->json)
        posix_spawn_file_actions_adddup2(&actions, log ? fileno(log) : STDERR_FILENO, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, log ? fileno(log) : errors[1], STDERR_FILENO);
    int error = posix_spawnp(&pid, arguments[0], &actions, NULL, (char *const *)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(errors[1]);
    FILE *said = fdopen(errors[0], "r");
    if (error)
        fprintf(stderr, "talus build: %s cannot be started: %s\n", arguments[0], strerror(error));
    else if (said)
        pass_on(build, said, stderr);
    if (said)
        fclose(said);
    else
        close(errors[0]);
    int status;
    while (!error && waitpid(pid, &status, 0) < 0)
        ;
    return !error && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool run_make(Build *build, const char *folder, bool has_own)
{
    // A Makefile may name a WEBOTS_HOME of its own. Those of Webots define a blank by appending to nothing, which make
    // does without a blank since 4.3.
    const char *arguments[16] = { "make",
                                  "--no-print-directory",
                                  "-C",
                                  folder,
                                  "space=$() $()",
                                  arena_printf(build->arena, "WEBOTS_HOME=%s", build->home),
                                  arena_printf(build->arena, "WEBOTS_HOME_PATH=%s", build->home) };
    int count = 7;
    if (!has_own) {
        arguments[count++] = "-f";
        arguments[count++] = arena_printf(build->arena, "%s/resources/Makefile.include", build->home);
        arguments[count++] = "TALUS_NO_MAKEFILE=1";
    }
    if (build->options->verbose)
        arguments[count++] = "VERBOSE=1";
    if (build->options->clean || build->options->debug)
        arguments[count++] = build->options->clean ? "clean" : "debug";
    assert(count < COUNT_OF(arguments));
    return run_tool(build, arguments, NULL);
}

// Sources that controllers share lie beside them now and then: nothing there is a program.
static bool has_main(Arena *arena, const char *folder)
{
    DIR *directory = opendir(folder);
    bool found = false;
    for (struct dirent *entry; directory && !found && (entry = readdir(directory));)
        for (int i = 0; i < COUNT_OF(source_endings); i++)
            if (entry->d_name[0] != '.' && text_ends_with(entry->d_name, source_endings[i]))
                found |= file_has(path_join(arena, folder, entry->d_name), "main");
    if (directory)
        closedir(directory);
    return found;
}

// ---- one folder with a CMakeLists.txt ----

// CMake says much about what goes well: it is shown when something does not.
static bool run_cmake(Build *build, const char *const *arguments)
{
    assert_debug(!strcmp(arguments[0], "cmake"));
    FILE *log = build->options->verbose ? NULL : tmpfile();
    bool is_fine = run_tool(build, arguments, log);
    if (log) {
        rewind(log);
        if (!is_fine)
            pass_on(build, log, stderr);
        fclose(log);
    }
    return is_fine;
}

// The file of this name in a folder or below, the one least deep, then the first by name.
static const char *find_below(Arena *arena, const char *folder, const char *name, int depth)
{
    assert(depth >= 0);
    const char *path = path_join(arena, folder, name), *found = NULL;
    if (file_exists(path) || depth == 0)
        return file_exists(path) ? path : NULL;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        path = path_join(arena, folder, entry->d_name);
        if (entry->d_name[0] == '.' || !strcmp(entry->d_name, "CMakeFiles") || !file_is_directory(path))
            continue;
        const char *below = find_below(arena, path, name, depth - 1);
        bool is_better = below
                         && (!found || strlen(below) < strlen(found)
                             || (strlen(below) == strlen(found) && strcmp(below, found) < 0));
        found = is_better ? below : found;
    }
    if (directory)
        closedir(directory);
    return found;
}

// Puts what CMake made in a folder of its own where a world looks for it, unless the project's own rules have done so.
static bool take_product(Build *build, const char *folder, const char *kind, const char *made_in)
{
    assert_debug(!strcmp(kind, "controller") || !strcmp(kind, "plugin"));
    enum { DEPTH = 8 };
    bool is_program = !strcmp(kind, "controller");
    const char *name = path_name(folder);
    const char *wanted[] = { is_program ? name : arena_printf(build->arena, "lib%s.so", name),
                             arena_printf(build->arena, "%s.so", name) };
    for (int i = 0; i < (is_program ? 1 : 2); i++) {
        const char *target = path_join(build->arena, folder, wanted[i]),
                   *made = find_below(build->arena, made_in, wanted[i], DEPTH);
        if (made)
            return run_cmake(build, (const char *[]){ "cmake", "-E", "copy_if_different", made, target, NULL });
        if (file_exists(target))
            return true;
    }
    if (!strcmp(kind, "library"))
        return true;  // it may have headers alone, or be linked into others
    fprintf(stderr,
            "talus build: %s/CMakeLists.txt makes no %s, as the %s's file must be called: %s(%s %s...) in it does\n",
            folder, wanted[0], kind, is_program ? "add_executable" : "add_library", name, is_program ? "" : "MODULE ");
    return false;
}

static bool clean_cmake(Build *build, const char *folder)
{
    Arena *arena = build->arena;
    const char *name = path_name(folder);
    return run_cmake(build,
                     (const char *[]){ "cmake", "-E", "rm", "-rf", path_join(arena, folder, "build"),
                                       path_join(arena, folder, name), arena_printf(arena, "%s/lib%s.so", folder, name),
                                       arena_printf(arena, "%s/%s.so", folder, name), NULL });
}

static bool build_with_cmake(Build *build, const char *folder, const char *kind)
{
    Arena *arena = build->arena;
    if (build->options->clean)
        return clean_cmake(build, folder);
    const char *made_in = path_join(arena, folder,
                                    build->options->debug ? "build/talus-cmake-debug" : "build/talus-cmake-release");
    const char *cache = path_join(arena, made_in, "CMakeCache.txt");
    // CMake refuses a folder that was moved along with its project.
    if (file_exists(cache) && !file_has(cache, arena_printf(arena, "CMAKE_HOME_DIRECTORY:INTERNAL=%s\n", folder)))
        run_cmake(build, (const char *[]){ "cmake", "-E", "rm", "-rf", made_in, NULL });
    const char *const configure[] = {
        "cmake",
        "-S",
        folder,
        "-B",
        made_in,
        build->options->debug ? "-DCMAKE_BUILD_TYPE=Debug" : "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
        arena_printf(arena, "-DCMAKE_PROJECT_INCLUDE=%s/resources/talus.cmake", build->home),
        NULL
    };
    const char *const make[] = {
        "cmake", "--build", made_in, "--parallel", build->options->verbose ? "--verbose" : NULL, NULL
    };
    return run_cmake(build, configure) && run_cmake(build, make) && take_product(build, folder, kind, made_in);
}

// ---- any folder ----

// What became of a folder: `said` stands for "built" and the like.
static void report(Build *build, const char *folder, const char *kind, const char *said, bool is_fine)
{
    if (build->options->json) {
        json_begin_object(&build->json, NULL);
        json_string(&build->json, "folder", folder);
        json_string(&build->json, "kind", kind);
        json_bool(&build->json, "ok", is_fine);
        json_string(&build->json, "result", said);
        json_end_object(&build->json);
    } else if (!build->options->quiet || !is_fine) {
        progress_clear(&build->progress);
        printf("%s %s: %s\n", kind, path_name(folder), said);
        fflush(stdout);
    }
}

// Why a folder without a Makefile or CMakeLists.txt is not built, or NULL when it is. An empty text: there is nothing
// to say.
static const char *reason_to_skip(Build *build, const char *folder, const char *kind)
{
    const char *language = build_hint_unsupported_language(build->arena, folder);
    if (!has_ending(folder, source_endings, COUNT_OF(source_endings)))
        return !language ? ""  // Python and other languages need no building
                         : arena_printf(
                             build->arena,
                             "not built: programs in %s are not supported; one in C, C++ or Python can take its place",
                             language);
    if (!strcmp(kind, "controller") && !has_main(build->arena, folder))
        return "not built: none of its sources has a main()";
    return NULL;
}

static void build_folder(Build *build, const char *folder, const char *kind)
{
    assert_debug(build->home);
    bool has_own = has_makefile(build->arena, folder),
         has_cmake = !has_own && file_exists(path_join(build->arena, folder, "CMakeLists.txt"));
    const char *reason = has_own || has_cmake ? NULL : reason_to_skip(build, folder, kind);
    if (reason) {
        if (*reason && !build->options->clean) {
            build->skipped++;
            report(build, folder, kind, reason, true);
        }
        return;
    }
    build->hint = NULL;
    bool is_fine = has_cmake ? build_with_cmake(build, folder, kind) : run_make(build, folder, has_own);
    build->built += is_fine;
    build->failed += !is_fine;
    if (!is_fine && build->hint)
        fprintf(stderr, "talus build: %s\n", build->hint);
    report(build, folder, kind, !is_fine ? "FAILED" : build->options->clean ? "cleaned" : "built", is_fine);
}

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static void build_all_in(Build *build, const char *folder, const char *kind)
{
    DIR *directory = opendir(folder);
    const char **names = NULL;
    int count = 0, capacity = 0;
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char *path = path_join(build->arena, folder, entry->d_name);
        if (entry->d_name[0] == '.' || !file_is_directory(path))
            continue;
        *memory_push(names, count, capacity) = path;
    }
    if (directory)
        closedir(directory);
    if (count > 0)
        qsort(names, (size_t)count, sizeof *names, by_name);
    for (int i = 0; i < count; i++) {
        if (build->progress.is_terminal)
            progress_show(&build->progress, i, count, "%s %s, %d of %d", kind, path_name(names[i]), i + 1, count);
        build_folder(build, names[i], kind);
    }
    progress_clear(&build->progress);
    free(names);
}

// ---- the verb ----

static bool is_inside_of(const char *folder, const char *place)
{
    char tail[64];
    snprintf(tail, sizeof tail, "/%s/", place);
    const char *found = strstr(folder, tail);
    return found && !strchr(found + strlen(tail), '/');
}

static void build_project(Build *build, const char *path)
{
    assert_debug(path && build->home);
    for (int i = 0; i < COUNT_OF(places); i++)
        if (is_inside_of(path, places[i].folder)) {  // one controller or plugin alone
            build_folder(build, path, places[i].kind);
            return;
        }
    for (int i = 0; i < COUNT_OF(places); i++)
        build_all_in(build, path_join(build->arena, path, places[i].folder), places[i].kind);
}

// A project, a folder of it or one program: what is named decides, and everything that can be built is tried
// although something before it failed.
static int run_build(Build *build, const char *argument)
{
    const char *path = path_real(build->arena, argument);
    if (!path) {
        fprintf(stderr, "talus build: there is no '%s'\n", argument);
        return EXIT_INPUT;
    }
    if (!file_is_directory(path))
        path = resolve_project(build->arena, path);
    if (!find_home(build)) {
        fprintf(
            stderr,
            "talus build: the headers or resources/Makefile.include are not beside the program; is it installed?\n");
        return EXIT_INTERNAL;
    }
    setenv("WEBOTS_HOME", build->home, 1);
    setenv("TALUS_INCLUDE", build->include, 1);
    if (build->library)
        setenv("TALUS_LIB", build->library, 1);
    Text out = { 0 };
    build->json = (JsonWriter){ .out = &out };
    json_begin_object(&build->json, NULL);
    json_begin_array(&build->json, "folders");
    build_project(build, path);
    json_end_array(&build->json);
    json_int(&build->json, "failed", build->failed);
    json_end_object(&build->json);
    text_add_char(&out, '\n');
    if (build->options->json)
        app_print(&out);
    else
        text_free(&out);
    if (build->built + build->failed + build->skipped == 0 && !build->options->json && !build->options->quiet)
        printf("nothing to build in %s: no sources in controllers/, plugins/physics/ or libraries/\n", path);
    return build->failed ? EXIT_INPUT : EXIT_OK;
}

static int build_verb(const AppCommand *command, int argc, char **argv)
{
    BuildOptions options = { 0 };
    int files;
    int code = app_parse(command, argc, argv, &options, &files);
    if (code >= 0)
        return code;
    if (files > 1)
        return app_usage_error(command, "give one project, world or folder");
    Build build = { .options = &options, .arena = arena_create() };
    progress_start(&build.progress, options.quiet || options.json || options.verbose);
    code = run_build(&build, files ? argv[1] : ".");
    arena_destroy(build.arena);
    return code;
}

const AppCommand command_build = {
    .name = "build",
    .arguments = "[PROJECT | WORLD | FOLDER]",
    .summary = "build a project's controllers and plugins",
    .details =
        "Every folder of controllers/, plugins/physics/ and libraries/ is built with its Makefile, or, when it has none, with its\n"
        "CMakeLists.txt, or from its C and C++ sources. Makefiles that include $(WEBOTS_HOME)/resources/Makefile.include get\n"
        "Talus's own, whatever they say WEBOTS_HOME is. When a header or library is missing, the Debian package that has it is\n"
        "named. CMake works in build/ of the folder; the library or program is put beside the CMakeLists.txt. A failed one\n"
        "does not stop the others; then the exit code is 3.",
    .examples = "talus build my_project\n"
                "talus build my_project/worlds/arena.wbt && talus run my_project/worlds/arena.wbt\n"
                "talus build my_project/plugins/physics/flight --debug",
    .options = rows,
    .option_count = COUNT_OF(rows),
    .run = build_verb,
};
