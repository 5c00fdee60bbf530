// environment.c - the environment of a robot program: where libraries are, and what runtime.ini beside it sets.
#include "control/environment.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

extern char **environ;

// ---- variables ----

static void add(Environment *environment, char *item)
{
    assert_debug(item && environment->count >= 0);
    memory_grow(&environment->items, &environment->capacity, environment->count + 2, sizeof *environment->items);
    environment->items[environment->count++] = item;
    environment->items[environment->count] = NULL;
}

void environment_set(Environment *environment, const char *name, const char *value)
{
    assert_debug(name && value);
    size_t length = strlen(name);
    char *text = arena_printf(environment->arena, "%s=%s", name, value);
    for (int i = 0; i < environment->count; i++) {
        if (!strncmp(environment->items[i], name, length) && environment->items[i][length] == '=') {
            environment->items[i] = text;
            return;
        }
    }
    add(environment, text);
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
    environment_set(environment, name, old && *old ? arena_printf(environment->arena, "%s:%s", path, old) : path);
}

// ---- runtime.ini ----

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

// Of a value: blanks around it, a comment behind it and quotes are not part of it; inside quotes a semicolon is.
static char *value_of(char *text)
{
    text = trimmed(text);
    char *end = *text == '"' ? strchr(text + 1, '"') : NULL;
    if (end) {
        *end = '\0';
        return text + 1;
    }
    text[strcspn(text, ";")] = '\0';
    return trimmed(text);
}

// Sections whose variables are set on this system. Those "with paths" differ on other systems alone, by the sign
// between paths.
static bool is_for_us(const char *section)
{
    static const char *const names[] = { "environment variables", "environment variables with paths",
                                         "environment variables for linux",
                                         sizeof(void *) == 8 ? "environment variables for linux 64"
                                                             : "environment variables for linux 32" };
    for (int i = 0; i < COUNT_OF(names); i++)
        if (!strcasecmp(section, names[i]))
            return true;
    return false;
}

static void read_runtime_line(Environment *environment, const char *section, char *line, Runtime *runtime)
{
    char *value = strchr(line, '=');
    if (!value)
        return;
    *value++ = '\0';
    char *name = trimmed(line);
    value = value_of(value);
    if (!strcasecmp(section, "python") && !strcmp(name, "COMMAND"))
        runtime->command = value;
    else if (!strcasecmp(section, "python") && !strcmp(name, "OPTIONS"))
        runtime->options = value;
    else if (is_for_us(section))
        environment_set(environment, name, expand(environment, value));
}

Runtime environment_read_runtime(Environment *environment, const char *folder)
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
            read_runtime_line(environment, section, line, &runtime);
        }
    }
    return runtime;
}

// ---- libraries ----

static char *own_folder(Arena *arena)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    return length > 0 ? path_directory(arena, arena_text(arena, path, (size_t)length)) : arena_string(arena, ".");
}

const char *environment_home(Arena *arena)
{
    static const char *const homes[] = { "../share/talus", "webots-home", ".." };
    const char *base = own_folder(arena);
    for (int i = 0; i < COUNT_OF(homes); i++) {
        char *home = path_normalized(arena, path_join(arena, base, homes[i]));
        if (file_exists(path_join(arena, home, "resources/Makefile.include")))
            return home;
    }
    return NULL;
}

// In a program of others, libtalus knows where it lies: parts of Talus are beside it (in a build), in talus/, or in
// ../talus (installed in a folder of the machine's kind). Those that are not there are left out.
static void add_places_of_library(Environment *environment)
{
    static const char *const places[] = { "", "/talus", "/../talus" };
    Dl_info library;
    char file[PATH_MAX];
    if (!dladdr((const void *)(uintptr_t)environment_make, &library) || !library.dli_fname
        || !realpath(library.dli_fname, file))
        return;
    char *folder = path_directory(environment->arena, file);
    for (int i = COUNT_OF(places) - 1; i >= 0; i--) {
        char *place = path_normalized(environment->arena, arena_printf(environment->arena, "%s%s", folder, places[i]));
        if (access(arena_printf(environment->arena, "%s/libController.so", place), F_OK) != 0)
            continue;
        prepend_path(environment, "LD_LIBRARY_PATH", place);
        prepend_path(environment, "PYTHONPATH", arena_printf(environment->arena, "%s/python", place));
    }
}

// libController and the Python module lie beside the program (in a build) or in ../lib/talus (installed).
static void add_library_paths(Environment *environment, const char *folder, const char *project)
{
    const char *home = getenv("TALUS_CONTROLLER_PATH");
    char *beside = own_folder(environment->arena);
    char *installed = path_normalized(environment->arena, arena_printf(environment->arena, "%s/../lib/talus", beside));
    if (project)
        prepend_path(environment, "LD_LIBRARY_PATH", arena_printf(environment->arena, "%s/libraries", project));
    prepend_path(environment, "LD_LIBRARY_PATH", folder);
    add_places_of_library(environment);
    prepend_path(environment, "LD_LIBRARY_PATH", installed);
    prepend_path(environment, "LD_LIBRARY_PATH", beside);
    prepend_path(environment, "PYTHONPATH", arena_printf(environment->arena, "%s/python", installed));
    prepend_path(environment, "PYTHONPATH", arena_printf(environment->arena, "%s/python", beside));
    if (home) {
        prepend_path(environment, "LD_LIBRARY_PATH", home);
        prepend_path(environment, "PYTHONPATH", arena_printf(environment->arena, "%s/python", home));
    }
}

Environment environment_make(Arena *arena, const char *folder, const char *project)
{
    assert_debug(arena && folder);
    static const char *const not_passed_on[] = { "WEBOTS_CONTROLLER_URL=", "TALUS_CHANNEL=", "TALUS_CONTROLLER=" };
    Environment environment = { .arena = arena };
    for (char **item = environ; *item; item++) {
        bool is_passed_on = true;
        for (int i = 0; i < COUNT_OF(not_passed_on); i++)
            is_passed_on &= strncmp(*item, not_passed_on[i], strlen(not_passed_on[i])) != 0;
        if (is_passed_on)
            add(&environment, *item);
    }
    add_library_paths(&environment, folder, project);
    environment_set(&environment, "PYTHONIOENCODING", "UTF-8");
    const char *home = getenv("WEBOTS_HOME");
    if (!home || !*home)
        home = environment_home(arena);
    if (home)
        environment_set(&environment, "WEBOTS_HOME", home);  // programs look for their helpers below it
    return environment;
}
