// resolve_package.c - what stands for a folder of this machine: package:// and model:// of ROS and Gazebo, ${SHARE} and
// ${PROGRAM_TOP} of Choreonoid.
#include "assets/resolve_internal.h"

#include "base/file.h"
#include "base/text.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEEPEST_PACKAGE = 4,  // levels below an entry of ROS_PACKAGE_PATH
    PACKAGE_FOLDERS_MAX = 20000,
};

// A folder called `name` somewhere below `folder`, as ROS crawls for packages; in sorted order, bounded.
static char *crawl_for_package(Arena *arena, const char *folder, const char *name, int depth, int *budget)
{
    assert(depth >= 0);
    struct dirent **entries;
    int count = depth > 0 && *budget > 0 ? scandir(folder, &entries, NULL, alphasort) : -1;
    char *found = NULL;
    for (int i = 0; i < count; i++) {
        const char *entry = entries[i]->d_name;
        if (!found && entry[0] != '.' && --*budget > 0
            && (entries[i]->d_type == DT_DIR || entries[i]->d_type == DT_LNK)) {
            char *path = path_join(arena, folder, entry);
            if (!strcmp(entry, name) && file_is_directory(path))
                found = path;
            else if (entries[i]->d_type == DT_DIR && !file_exists(path_join(arena, path, "package.xml")))
                found = crawl_for_package(arena, path, name, depth - 1, budget);
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return found;
}

static bool take_in_packages(Search *search, const RootList *roots, const char *name, const char *rest, bool crawl)
{
    Arena *arena = search->arena;
    for (int i = 0; i < roots->count; i++) {
        const char *root = roots->items[i].path;
        if (search_take_below(search, path_join(arena, root, name), rest, "package", false))
            return true;
        if (!strcmp(path_name(root), name) && search_take_below(search, root, rest, "package", false))
            return true;
        int budget = PACKAGE_FOLDERS_MAX;
        char *package = crawl ? crawl_for_package(arena, root, name, DEEPEST_PACKAGE, &budget) : NULL;
        if (package && search_take_below(search, package, rest, "package", false))
            return true;
    }
    return false;
}

// Folders above the naming file: one called `name`, or one that holds a folder of that name.
static bool take_above(Search *search, const char *name, const char *rest, const char *origin)
{
    assert_debug(origin);
    Arena *arena = search->arena;
    char *above = path_real(arena, search->from_folder);
    for (int i = 0; above && i < HIGHEST_CLIMB; i++) {
        if (!strcmp(path_name(above), name) && search_take_below(search, above, rest, origin, true))
            return true;
        if (search_take_below(search, path_join(arena, above, name), rest, origin, true))
            return true;
        if (!above[1])
            break;
        above = resolve_parent_folder(arena, above);
    }
    search_note(search, arena_printf(arena, "folders '%s' above %s", name, search->from_folder));
    return false;
}

static bool find_package(Search *search, const char *url_rest, bool is_model)
{
    assert_debug(url_rest);
    const Resolver *resolver = search->resolver;
    Arena *arena = search->arena;
    size_t length = strcspn(url_rest, "/");
    const char *name = resolve_percent_decoded(arena, arena_text(arena, url_rest, length));
    const char *rest = resolve_percent_decoded(arena, url_rest + length);
    if (!*name || !strcmp(name, "..") || !strcmp(name, ".") || !*rest)
        return false;
    if (is_model && take_in_packages(search, &resolver->models, name, rest, false))
        return true;
    return take_in_packages(search, &resolver->packages, name, rest, true)
           || take_in_packages(search, &resolver->prefixes, name, rest, false)
           || take_above(search, name, rest, "package")
           || take_in_packages(search, &resolver->search, name, rest, true);
}

// Installed Choreonoids keep their share folder as PREFIX/share/choreonoid-VERSION.
static bool take_installed_share(Search *search, const char *rest)
{
    static const char *const prefixes[] = { "/usr/local/share", "/usr/share" };
    for (int i = 0; i < COUNT_OF(prefixes); i++) {
        struct dirent **entries;
        int count = scandir(prefixes[i], &entries, NULL, alphasort);
        bool found = false;
        for (int k = count - 1; k >= 0; k--) {
            if (!found && text_starts_with(entries[k]->d_name, "choreonoid"))
                found = search_take_below(search, path_join(search->arena, prefixes[i], entries[k]->d_name), rest,
                                          "package", false);
            free(entries[k]);
        }
        if (count >= 0)
            free(entries);
        if (found)
            return true;
    }
    return false;
}

bool search_share(Search *search, const char *rest)
{
    const Resolver *resolver = search->resolver;
    for (int i = 0; i < resolver->search.count; i++) {
        const char *root = resolver->search.items[i].path;
        if (search_take_below(search, root, rest, "path", false)
            || search_take_below(search, path_join(search->arena, root, "share"), rest, "path", false))
            return true;
    }
    return search_take_below(search, resolver->share, rest, "package", false)
           || take_above(search, "share", rest, "project") || take_installed_share(search, rest);
}

bool search_program_top(Search *search, const char *rest)
{
    const Resolver *resolver = search->resolver;
    for (int i = 0; i < resolver->search.count; i++)
        if (search_take_below(search, resolver->search.items[i].path, rest, "path", false))
            return true;
    char *above = path_real(search->arena, search->from_folder);
    for (int i = 0; above && above[1] && i < HIGHEST_CLIMB; i++, above = resolve_parent_folder(search->arena, above))
        if (search_take_below(search, above, rest, "project", true))
            return true;
    search_note(search, arena_printf(search->arena, "folders above %s", search->from_folder));
    return false;
}

bool search_package(Search *search, const char *rest) { return find_package(search, rest, false); }

bool search_model(Search *search, const char *rest) { return find_package(search, rest, true); }
