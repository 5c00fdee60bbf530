// Where a plugin lies: the first folder plugins/physics/NAME that exists decides.
#include "plugins/plugins_internal.h"

#include "assets/resolve.h"
#include "base/file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct Search {
    const char *name;
    Arena *arena;
    PluginPlace place;
    Text tried;
} Search;

static double modified(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? (double)status.st_mtim.tv_sec + 1e-9 * (double)status.st_mtim.tv_nsec : -1.0;
}

// The library in the folder itself, unless a build folder has a newer one.
static const char *library_in(const char *folder, const char *name, Arena *arena)
{
    assert_debug(folder && *name);
    static const char *const forms[] = { "%s/lib%s.so",
                                         "%s/%s.so",
                                         "%s/build/release/lib%s.so",
                                         "%s/build/release/%s.so",
                                         "%s/build/debug/lib%s.so",
                                         "%s/build/debug/%s.so" };
    const char *best = NULL;
    for (int i = 0; i < COUNT_OF(forms); i++) {
        char path[4096];
        // The forms are constants above.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        int length = snprintf(path, sizeof path, forms[i], folder, name);
#pragma GCC diagnostic pop
        bool is_release = i == 2 || i == 3;
        if (length < (int)sizeof path && file_exists(path)
            && (!best || (is_release && modified(path) > modified(best))))
            best = arena_string(arena, path);
    }
    return best;
}

// What another system would load.
static const char *foreign_in(const char *folder, const char *name, Arena *arena)
{
    const char *const names[] = { arena_printf(arena, "%s.dll", name), arena_printf(arena, "lib%s.dylib", name),
                                  arena_printf(arena, "%s.dylib", name),
                                  arena_printf(arena, "build/release/%s.dll", name) };
    for (int i = 0; i < COUNT_OF(names); i++)
        if (file_exists(path_join(arena, folder, names[i])))
            return names[i];
    return NULL;
}

static bool has_sources(const char *folder, const char *name)
{
    static const char *const endings[] = { ".c", ".cpp", ".cc", ".cxx", ".c++" };
    char path[4096];
    for (int i = 0; i < COUNT_OF(endings); i++) {
        snprintf(path, sizeof path, "%s/%s%s", folder, name, endings[i]);
        if (file_exists(path))
            return true;
    }
    snprintf(path, sizeof path, "%s/Makefile", folder);
    return file_exists(path);
}

// True when the search is over.
static bool look_in(Search *search, const char *project)
{
    assert_debug(search->arena && search->name);
    if (search->place.folder || !project || !*project)
        return search->place.folder != NULL;
    const char *folder = path_normalized(search->arena,
                                         arena_printf(search->arena, "%s/plugins/physics/%s", project, search->name));
    if (!search->tried.data || !strstr(search->tried.data, folder))
        text_printf(&search->tried, "%s%s", search->tried.length ? ", " : "", folder);
    if (!file_is_directory(folder))
        return false;
    search->place.folder = folder;
    search->place.library = library_in(folder, search->name, search->arena);
    search->place.foreign = foreign_in(folder, search->name, search->arena);
    search->place.has_sources = has_sources(folder, search->name);
    return true;
}

static bool look_beside_proto(SceneNode *node, void *context)
{
    Search *search = context;
    for (const SceneNode *root = node, *above = node->parent;
         above && above->kind == SCENE_NODE_INSTANCE && above->target == root; root = above, above = above->parent)
        if (above->proto && above->proto->path && *above->proto->path
            && look_in(search, arena_printf(search->arena, "%s/..", path_directory(search->arena, above->proto->path))))
            return false;
    return true;
}

static void look_in_list(Search *search, const char *list)
{
    for (const char *at = list; at && *at && !search->place.folder;) {
        size_t length = strcspn(at, ":");
        if (length > 0)
            look_in(search, arena_text(search->arena, at, length));
        at += length + (at[length] == ':');
    }
}

PluginPlace plugin_find(const Scene *scene, const char *name, const char *const *search_paths, Arena *arena)
{
    assert_debug(scene && name && arena);
    Search search = { .name = name, .arena = arena };
    const char *project = resolve_project(arena, scene_path(scene));
    const char *real = path_real(arena, project);
    look_in(&search, real ? real : project);
    if (!search.place.folder)
        scene_walk(scene_root(scene), false, look_beside_proto, &search);
    for (int i = 0; search_paths && search_paths[i]; i++)
        look_in(&search, search_paths[i]);
    look_in_list(&search, getenv("TALUS_PATH"));
    look_in_list(&search, getenv("WEBOTS_EXTRA_PROJECT_PATH"));
    const char *home = getenv("WEBOTS_HOME");
    if (home && *home) {
        look_in(&search, arena_printf(arena, "%s/projects/default", home));
        look_in(&search, arena_printf(arena, "%s/resources/projects", home));
    }
    search.place.tried = search.tried.data ? arena_string(arena, search.tried.data) : "";
    text_free(&search.tried);
    return search.place;
}
