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

// What is given to a program at its start is a few MB at most, and a line may hold what the lines before it made twice.
enum { RUNTIME_BYTES_MAX = 256 << 10 };

typedef struct RuntimeReader {
    Environment *environment;
    Runtime *runtime;
    const char *section;
    size_t room;  // bytes that variables may still take
    DiagSink *diags;
    SourcePos pos;
} RuntimeReader;

// $(NAME) stands for a variable. NULL: longer than `limit`.
static const char *expand(Environment *environment, const char *text, size_t limit)
{
    Text out = { 0 };
    text_add_string(&out, "");
    while (*text && out.length <= limit) {
        const char *end = text[0] == '$' && text[1] == '(' ? strchr(text, ')') : NULL;
        if (!end) {
            text_add_char(&out, *text++);
            continue;
        }
        const char *value = variable(environment, arena_text(environment->arena, text + 2, (size_t)(end - text - 2)));
        text_add_string(&out, value ? value : "");
        text = end + 1;
    }
    char *copy = out.length <= limit ? arena_string(environment->arena, out.data) : NULL;
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

// Beyond the room that is left a variable stays what it was.
static void set_variable(RuntimeReader *reader, const char *name, const char *value)
{
    size_t own = strlen(name) + sizeof "=" + sizeof(char *);  // as the system counts them
    const char *expanded = own <= reader->room ? expand(reader->environment, value, reader->room - own) : NULL;
    if (!expanded) {
        if (reader->room > 0)
            diag_warning(reader->diags, reader->pos,
                         "variables take more than %d bytes; this one and what follows is not set", RUNTIME_BYTES_MAX);
        reader->room = 0;
        return;
    }
    reader->room -= own + strlen(expanded);
    environment_set(reader->environment, name, expanded);
}

static void read_runtime_line(RuntimeReader *reader, char *line)
{
    char *value = strchr(line, '=');
    if (!value)
        return;
    *value++ = '\0';
    char *name = trimmed(line);
    value = value_of(value);
    if (!strcasecmp(reader->section, "python") && !strcmp(name, "COMMAND"))
        reader->runtime->command = value;
    else if (!strcasecmp(reader->section, "python") && !strcmp(name, "OPTIONS"))
        reader->runtime->options = value;
    else if (is_for_us(reader->section) && *name)
        set_variable(reader, name, value);
}

Runtime environment_take_runtime(Environment *environment, const char *path, const char *text, size_t size,
                                 DiagSink *diags)
{
    assert(environment && text);
    Runtime runtime = { 0 };
    RuntimeReader reader = { .environment = environment,
                             .runtime = &runtime,
                             .section = "",
                             .room = RUNTIME_BYTES_MAX,
                             .diags = diags,
                             .pos = { .file = diags ? diag_file(diags, path) : 0, .column = 1 } };
    char *rest = arena_text(environment->arena, text, size);
    for (char *line; (line = strsep(&rest, "\n"));) {
        reader.pos.line++;
        line = trimmed(line);
        if (*line == '[') {
            line[strcspn(line, "]")] = '\0';
            reader.section = line + 1;
        } else if (*line && *line != ';' && *line != '#') {
            read_runtime_line(&reader, line);
        }
    }
    return runtime;
}

Runtime environment_read_runtime(Environment *environment, const char *folder, DiagSink *diags)
{
    FileData file;
    const char *path = path_join(environment->arena, folder, "runtime.ini");
    if (!file_exists(path) || !file_read(path, 1 << 20, &file, diags, (SourcePos){ 0 }))
        return (Runtime){ 0 };
    Runtime runtime = environment_take_runtime(environment, path, file.data, file.size, diags);
    file_release(&file);
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
