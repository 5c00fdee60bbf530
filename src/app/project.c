// project.c - the world of a project, and what stands in its folders.
#include "app/project.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// ---- the world of a project ----

typedef struct Worlds {
    const char **items;
    int count, capacity;
} Worlds;

static int compare_texts(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void find_worlds(Arena *arena, const char *folder, const char *ending, Worlds *worlds)
{
    assert_debug(folder && ending);
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        if (entry->d_name[0] == '.' || strcasecmp(path_extension(entry->d_name), ending) != 0)
            continue;
        char *path = path_join(arena, folder, entry->d_name);
        if (!file_exists(path))
            continue;
        *memory_push(worlds->items, worlds->count, worlds->capacity) = path;
    }
    if (directory)
        closedir(directory);
    if (worlds->count > 0)
        qsort(worlds->items, (size_t)worlds->count, sizeof *worlds->items, compare_texts);
}

// Every place where a project may have what can be opened; the first that has any counts.
static void find_in_project(Arena *arena, const char *project, Worlds *worlds)
{
    static const struct {
        const char *folder, *ending;
    } places[] = { { "worlds", ".wbt" }, { ".", ".wbt" },      { ".", ".cnoid" },    { "project", ".cnoid" },
                   { ".", ".body" },     { "model", ".body" }, { "models", ".body" } };
    for (int i = 0; i < COUNT_OF(places) && worlds->count == 0; i++) {
        bool is_here = !strcmp(places[i].folder, ".");
        find_worlds(arena, is_here ? project : path_join(arena, project, places[i].folder), places[i].ending, worlds);
    }
}

static const char *named_as_folder(Arena *arena, const char *project, const Worlds *worlds)
{
    const char *real = path_real(arena, project), *name = path_name(real ? real : project);
    for (int i = 0; i < worlds->count; i++)
        if (!strcmp(path_stem(arena, worlds->items[i]), name))
            return worlds->items[i];
    return NULL;
}

static void refuse(const char *argument, const char *verb, const Worlds *worlds)
{
    enum { SHOWN = 12 };
    if (worlds->count == 0) {
        fprintf(stderr, "talus %s: %s has no world (worlds/*.wbt), project (*.cnoid) or body (*.body)\n", verb,
                argument);
        return;
    }
    fprintf(stderr, "talus %s: %s has %d worlds; name one of them:\n", verb, argument, worlds->count);
    for (int i = 0; i < worlds->count && i < SHOWN; i++)
        fprintf(stderr, "  talus %s %s\n", verb, worlds->items[i]);
    if (worlds->count > SHOWN)
        fprintf(stderr, "  and %d more\n", worlds->count - SHOWN);
}

const char *project_world(Arena *arena, const char *argument, const char *verb)
{
    if (!*argument) {
        fprintf(stderr, "talus %s: the name of the file is empty\n", verb);
        return NULL;
    }
    if (!file_is_directory(argument))
        return argument;
    Worlds worlds = { 0 };
    find_in_project(arena, argument, &worlds);
    const char *world = worlds.count == 1 ? worlds.items[0] : named_as_folder(arena, argument, &worlds);
    if (!world)
        refuse(argument, verb, &worlds);
    free(worlds.items);
    return world;
}
