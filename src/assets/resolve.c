// resolve.c - from a URL to a file: the roots that are searched, in their order.
#include "assets/resolve.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    LONGEST_URL = 4096,
    TRIED_MAX = 400,      // places kept for the message
    TAIL_PARTS_MAX = 32,  // folders of a URL that are tried as the start of a tail
    HIGHEST_CLIMB = 12,   // folders above the naming file that are looked into
    DEEPEST_PACKAGE = 4,  // levels below an entry of ROS_PACKAGE_PATH
    PACKAGE_FOLDERS_MAX = 20000,
};

#define WEBOTS_REPOSITORY "raw.githubusercontent.com/cyberbotics/webots"

typedef struct Root {
    const char *path;
    const char *origin;
} Root;

typedef struct RootList {
    Root *items;
    int count, capacity;
} RootList;

struct Resolver {
    Arena *arena;
    const char *main_file;
    const char *project;
    const char *cache;
    const char *library;
    const char *webots_home;
    const char *home;
    const char *share;
    RootList search;    // search folders, in order
    RootList packages;  // ROS_PACKAGE_PATH
    RootList prefixes;  // AMENT_PREFIX_PATH, with /share
    RootList models;
    bool is_untrusted;
};

static void add_root(RootList *list, const char *path, const char *origin)
{
    assert_debug(path && origin);
    *memory_push(list->items, list->count, list->capacity) = (Root){ path, origin };
}

static void add_roots_of_variable(Resolver *resolver, RootList *list, const char *variable, const char *tail,
                                  const char *origin)
{
    const char *value = getenv(variable);
    while (value && *value) {
        size_t length = strcspn(value, ":;");
        if (length > 0 && value[0] == '/')
            add_root(list, arena_printf(resolver->arena, "%.*s%s", (int)length, value, tail), origin);
        value += length + (value[length] != '\0');
    }
}

static const char *copy_or_null(Arena *arena, const char *text)
{
    return text && *text ? arena_string(arena, text) : NULL;
}

// The environment is read once: answers stay the same for the life of a world, whatever a plugin sets.
Resolver *resolve_create(const ResolveOptions *options)
{
    static const ResolveOptions none;
    if (!options)
        options = &none;
    Resolver *resolver = memory_alloc(sizeof *resolver);
    Arena *arena = resolver->arena = arena_create();
    resolver->main_file = options->main_file ? arena_string(arena, options->main_file) : "";
    if (options->project)
        resolver->project = arena_string(arena, options->project);
    else
        resolver->project = *resolver->main_file ? resolve_project(arena, resolver->main_file) : "";
    resolver->cache = options->cache ? arena_string(arena, options->cache) : resolve_default_cache(arena);
    resolver->library = copy_or_null(arena, options->library);
    resolver->webots_home = copy_or_null(arena, getenv("WEBOTS_HOME"));
    resolver->home = copy_or_null(arena, getenv("HOME"));
    resolver->share = copy_or_null(arena, getenv("CHOREONOID_SHARE"));
    resolver->is_untrusted = options->is_untrusted;
    for (int i = 0; options->search_paths && options->search_paths[i]; i++)
        add_root(&resolver->search, arena_string(arena, options->search_paths[i]), "path");
    add_roots_of_variable(resolver, &resolver->search, "TALUS_PATH", "", "path");
    add_roots_of_variable(resolver, &resolver->search, "WEBOTS_EXTRA_PROJECT_PATH", "", "path");
    add_roots_of_variable(resolver, &resolver->packages, "ROS_PACKAGE_PATH", "", "package");
    add_roots_of_variable(resolver, &resolver->prefixes, "AMENT_PREFIX_PATH", "/share", "package");
    add_roots_of_variable(resolver, &resolver->models, "GZ_SIM_RESOURCE_PATH", "", "package");
    add_roots_of_variable(resolver, &resolver->models, "IGN_GAZEBO_RESOURCE_PATH", "", "package");
    add_roots_of_variable(resolver, &resolver->models, "GAZEBO_MODEL_PATH", "", "package");
    add_roots_of_variable(resolver, &resolver->models, "SDF_PATH", "", "package");
    return resolver;
}

void resolve_destroy(Resolver *resolver)
{
    if (!resolver)
        return;
    free(resolver->search.items);
    free(resolver->packages.items);
    free(resolver->prefixes.items);
    free(resolver->models.items);
    arena_destroy(resolver->arena);
    free(resolver);
}

const char *resolve_project_folder(const Resolver *resolver) { return resolver->project; }

char *resolve_default_cache(Arena *arena)
{
    const char *cache = getenv("TALUS_CACHE"), *user = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && *cache)
        return arena_string(arena, cache);
    if (user && user[0] == '/')
        return arena_printf(arena, "%s/talus", user);
    if (home && home[0] == '/')
        return arena_printf(arena, "%s/.cache/talus", home);
    return arena_string(arena, "");
}

static char *parent_folder(Arena *arena, const char *folder)
{
    return path_normalized(arena, arena_printf(arena, "%s/..", folder));
}

char *resolve_project(Arena *arena, const char *file)
{
    char *own = path_directory(arena, file);
    char *folder = path_real(arena, own);
    if (!folder)
        return own;
    for (char *above = folder; above[1]; above = parent_folder(arena, above))
        if (!strcmp(path_name(above), "worlds") || !strcmp(path_name(above), "protos"))
            return parent_folder(arena, above);
    char *above = folder;
    for (int i = 0; i < HIGHEST_CLIMB && above[1]; i++, above = parent_folder(arena, above))
        if (file_exists(path_join(arena, above, "package.xml")))
            return above;
    return folder;
}

// One look-up under way.
typedef struct Search {
    const Resolver *resolver;
    Arena *arena;
    Resolved *result;
    const char *from;  // the naming file
    const char *from_folder;
} Search;

static void note_tried(Search *search, const char *place)
{
    assert_debug(place);
    Resolved *result = search->result;
    if (result->tried_count >= TRIED_MAX)
        return;
    for (int i = 0; i < result->tried_count; i++)
        if (!strcmp(result->tried[i], place))
            return;
    if ((result->tried_count & (result->tried_count - 1)) == 0) {
        int capacity = result->tried_count ? 2 * result->tried_count : 1;
        const char **grown = arena_alloc_array(search->arena, (size_t)capacity, sizeof *grown);
        if (result->tried_count)
            memcpy(grown, result->tried, (size_t)result->tried_count * sizeof *grown);
        result->tried = grown;
    }
    result->tried[result->tried_count++] = place;
}

static bool is_inside(Arena *arena, const char *real, const char *folder)
{
    if (!folder || !*folder)
        return false;
    char *real_folder = path_real(arena, folder);
    return real_folder && path_is_inside(real, real_folder);
}

static bool is_inside_any(Arena *arena, const char *real, const RootList *list)
{
    for (int i = 0; i < list->count; i++)
        if (is_inside(arena, real, list->items[i].path))
            return true;
    return false;
}

static bool is_allowed(const Resolver *resolver, const char *path, Arena *arena)
{
    if (!resolver->is_untrusted)
        return true;
    char *real = path_real(arena, path);
    return real
           && (is_inside(arena, real, resolver->project) || is_inside(arena, real, resolver->cache)
               || is_inside(arena, real, resolver->library) || is_inside(arena, real, resolver->webots_home)
               || is_inside(arena, real, resolver->share) || is_inside_any(arena, real, &resolver->search)
               || is_inside_any(arena, real, &resolver->packages) || is_inside_any(arena, real, &resolver->prefixes)
               || is_inside_any(arena, real, &resolver->models));
}

bool resolve_is_allowed(const Resolver *resolver, const char *path)
{
    Arena *arena = arena_create();
    bool allowed = is_allowed(resolver, path, arena);
    arena_destroy(arena);
    return allowed;
}

// Takes the file at `path` as the answer if it is one. `quietly` leaves it out of the places tried.
static bool take(Search *search, const char *path, const char *origin, bool quietly)
{
    struct stat info;
    char *normal = path_normalized(search->arena, path);
    // ".." by text alone would be wrong behind a symbolic link, so the path is asked for as it stands.
    if (stat(path, &info) < 0) {
        if (!quietly)
            note_tried(search, normal);
        return false;
    }
    if (!S_ISREG(info.st_mode)) {
        note_tried(search, arena_printf(search->arena, "%s (%s)", normal,
                                        S_ISDIR(info.st_mode) ? "a folder" : "not a regular file"));
        return false;
    }
    if (!is_allowed(search->resolver, path, search->arena)) {
        search->result->is_refused = true;
        note_tried(search,
                   arena_printf(search->arena, "%s (outside of the project and search folders: refused)", normal));
        return false;
    }
    struct stat same;
    bool is_plain = stat(normal, &same) == 0 && same.st_ino == info.st_ino && same.st_dev == info.st_dev;
    search->result->path = is_plain ? normal : arena_string(search->arena, path);
    search->result->origin = origin;
    return true;
}

static bool take_below(Search *search, const char *folder, const char *name, const char *origin, bool quietly)
{
    if (!folder || !*folder)
        return false;
    while (*name == '/')
        name++;
    return take(search, path_join(search->arena, folder, name), origin, quietly);
}

// The parts of a path that could start a tail, longest tail first.
static int split_tails(const char *path, const char *tails[TAIL_PARTS_MAX])
{
    int count = 0;
    for (const char *p = path; *p && count < TAIL_PARTS_MAX;) {
        while (*p == '/')
            p++;
        if (*p)
            tails[count++] = p;
        p += strcspn(p, "/");
    }
    return count;
}

// Looks for the longest tail of `path` below each folder; among equals the first folder wins.
static bool take_tail(Search *search, const RootList *folders, const char *path)
{
    const char *tails[TAIL_PARTS_MAX];
    int count = split_tails(path, tails);
    if (count == 0)
        return false;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < folders->count; k++)
            if (take_below(search, folders->items[k].path, tails[i], folders->items[k].origin, true))
                return true;
    for (int k = 0; k < folders->count; k++)
        note_tried(search, arena_printf(search->arena, count > 1 ? "%s (every tail of %s)" : "%s/%s",
                                        folders->items[k].path, tails[0]));
    return false;
}

static char *percent_decoded(Arena *arena, const char *text)
{
    char *out = arena_string(arena, text), *end = out;
    for (const char *p = text; *p; p++) {
        if (p[0] == '%' && isxdigit((unsigned char)p[1]) && isxdigit((unsigned char)p[2])) {
            char digits[3] = { p[1], p[2], '\0' };
            long value = strtol(digits, NULL, 16);
            if (value > 0) {
                *end++ = (char)value;
                p += 2;
                continue;
            }
        }
        *end++ = *p;
    }
    *end = '\0';
    return out;
}

static char *with_slashes(Arena *arena, const char *text)
{
    char *out = arena_string(arena, text);
    for (char *p = out; *p; p++)
        if (*p == '\\')
            *p = '/';
    return out;
}

static bool find_relative(Search *search, const char *url)
{
    const Resolver *resolver = search->resolver;
    if (take_below(search, search->from_folder, url, "file", false)
        || take_below(search, resolver->project, url, "project", false))
        return true;
    if (*resolver->main_file
        && take_below(search, path_directory(search->arena, resolver->main_file), url, "project", false))
        return true;
    for (int i = 0; i < resolver->search.count; i++)
        if (take_below(search, resolver->search.items[i].path, url, "path", false))
            return true;
    if (resolver->webots_home
        && take_below(search, path_join(search->arena, resolver->webots_home, "projects/default/worlds"), url, "webots",
                      false))
        return true;
    return take_below(search, resolver->library, url, "library", false);
}

static bool find_absolute(Search *search, const char *path)
{
    if (take(search, path, "file", false))
        return true;
    RootList near = { 0 };
    add_root(&near, search->from_folder, "file");
    if (*search->resolver->project)
        add_root(&near, search->resolver->project, "project");
    bool found = take_tail(search, &near, path);
    free(near.items);
    return found;
}

static bool is_absolute(const char *path)
{
    return path[0] == '/' || (isalpha((unsigned char)path[0]) && path[1] == ':' && (path[2] == '/' || path[2] == '\\'));
}

static bool find_plain(Search *search, const char *url)
{
    const char *spellings[3] = { url, NULL, NULL };
    int count = 1;
    if (strchr(url, '\\'))
        spellings[count++] = with_slashes(search->arena, url);
    if (strchr(url, '%'))
        spellings[count++] = percent_decoded(search->arena, url);
    for (int i = 0; i < count; i++) {
        const char *path = spellings[i];
        if (is_absolute(path) ? find_absolute(search, path[0] == '/' ? path : path + 2) : find_relative(search, path))
            return true;
    }
    return false;
}

// The part of an https URL that names the file inside its project: without host, and for the raw file hosts without
// owner, repository and tag.
static const char *network_tail(const char *url)
{
    const char *rest = strstr(url, "://") + 3;
    bool is_raw = text_starts_with(rest, "raw.githubusercontent.com/");
    int skip = is_raw ? 4 : 1;
    for (int i = 0; i < skip; i++) {
        const char *slash = strchr(rest, '/');
        if (!slash)
            return rest;
        rest = slash + 1;
    }
    return rest;
}

static char *without_query(Arena *arena, const char *url) { return arena_text(arena, url, strcspn(url, "?#")); }

static int newest_first(const void *a, const void *b)
{
    return strcmp(*(const char *const *)b, *(const char *const *)a);
}

// Looks for `tail` below every tag that the cache holds of a repository ("host/owner/name"), the newest first.
static bool take_cached_tag(Search *search, const char *repository, const char *tail)
{
    Arena *arena = search->arena;
    char *folder = arena_printf(arena, "%s/tree/https/%s", search->resolver->cache, repository);
    DIR *directory = opendir(folder);
    if (!directory)
        return false;
    enum { TAGS_MAX = 256 };
    const char *tags[TAGS_MAX];
    int count = 0;
    for (struct dirent *entry; count < TAGS_MAX && (entry = readdir(directory));)
        if (entry->d_name[0] != '.')
            tags[count++] = arena_string(arena, entry->d_name);
    closedir(directory);
    qsort(tags, (size_t)count, sizeof tags[0], newest_first);
    for (int i = 0; i < count; i++)
        if (take(search, arena_printf(arena, "%s/%s/%s", folder, tags[i], tail), "cache", true))
            return true;
    return false;
}

// "host/owner/name" of a raw file URL, NULL for others.
static char *raw_repository(Arena *arena, const char *url)
{
    const char *rest = strstr(url, "://") + 3;
    if (!text_starts_with(rest, "raw.githubusercontent.com/"))
        return NULL;
    const char *end = rest;
    for (int i = 0; i < 3; i++) {
        end = strchr(end, '/');
        if (!end)
            return NULL;
        end += i < 2;
    }
    return arena_text(arena, rest, (size_t)(end - rest));
}

static bool find_in_cache(Search *search, const char *url)
{
    const char *cache = search->resolver->cache;
    if (!*cache)
        return false;
    char *path = resolve_cache_path(search->arena, cache, url);
    if (path && take(search, path, "cache", true))
        return true;
    char *repository = raw_repository(search->arena, url);
    if (repository && take_cached_tag(search, repository, network_tail(without_query(search->arena, url))))
        return true;
    note_tried(search, arena_printf(search->arena, "the cache %s", cache));
    return false;
}

static bool find_by_tail(Search *search, const char *tail)
{
    const Resolver *resolver = search->resolver;
    RootList folders = { 0 };
    for (int i = 0; i < resolver->search.count; i++)
        add_root(&folders, resolver->search.items[i].path, "path");
    if (resolver->webots_home)
        add_root(&folders, resolver->webots_home, "webots");
    if (resolver->library)
        add_root(&folders, resolver->library, "library");
    bool found = take_tail(search, &folders, percent_decoded(search->arena, tail));
    free(folders.items);
    return found;
}

static bool find_https(Search *search, const char *url)
{
    return find_in_cache(search, url) || find_by_tail(search, network_tail(without_query(search->arena, url)));
}

// The tag of Webots' repository that the naming file was downloaded from, NULL when it was not.
static char *naming_tag(Search *search)
{
    const char *cache = search->resolver->cache;
    char *url = *cache ? resolve_cache_url(search->arena, cache, search->from) : NULL;
    const char *prefix = "https://" WEBOTS_REPOSITORY "/";
    if (!url || !text_starts_with(url, prefix))
        return NULL;
    const char *tag = url + strlen(prefix);
    return arena_text(search->arena, tag, strcspn(tag, "/"));
}

static bool find_webots(Search *search, const char *tail)
{
    const Resolver *resolver = search->resolver;
    if (take_below(search, resolver->webots_home, tail, "webots", false))
        return true;
    if (*resolver->cache) {
        char *tag = naming_tag(search);
        if (tag
            && take(
                search,
                arena_printf(search->arena, "%s/tree/https/" WEBOTS_REPOSITORY "/%s/%s", resolver->cache, tag, tail),
                "cache", true))
            return true;
        if (take_cached_tag(search, WEBOTS_REPOSITORY, tail))
            return true;
        note_tried(search, arena_printf(search->arena, "the cache %s", resolver->cache));
    }
    return find_by_tail(search, tail);
}

// A folder called `name` somewhere below `folder`, as ROS crawls for packages; in sorted order, bounded.
static char *crawl_for_package(Arena *arena, const char *folder, const char *name, int depth, int *budget)
{
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
        if (take_below(search, path_join(arena, root, name), rest, "package", false))
            return true;
        if (!strcmp(path_name(root), name) && take_below(search, root, rest, "package", false))
            return true;
        int budget = PACKAGE_FOLDERS_MAX;
        char *package = crawl ? crawl_for_package(arena, root, name, DEEPEST_PACKAGE, &budget) : NULL;
        if (package && take_below(search, package, rest, "package", false))
            return true;
    }
    return false;
}

// Folders above the naming file: one called `name`, or one that holds a folder of that name.
static bool take_above(Search *search, const char *name, const char *rest, const char *origin)
{
    Arena *arena = search->arena;
    char *above = path_real(arena, search->from_folder);
    for (int i = 0; above && i < HIGHEST_CLIMB; i++) {
        if (!strcmp(path_name(above), name) && take_below(search, above, rest, origin, true))
            return true;
        if (take_below(search, path_join(arena, above, name), rest, origin, true))
            return true;
        if (!above[1])
            break;
        above = parent_folder(arena, above);
    }
    note_tried(search, arena_printf(arena, "folders '%s' above %s", name, search->from_folder));
    return false;
}

static bool find_package(Search *search, const char *url_rest, bool is_model)
{
    const Resolver *resolver = search->resolver;
    Arena *arena = search->arena;
    size_t length = strcspn(url_rest, "/");
    const char *name = percent_decoded(arena, arena_text(arena, url_rest, length));
    const char *rest = percent_decoded(arena, url_rest + length);
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
                found = take_below(search, path_join(search->arena, prefixes[i], entries[k]->d_name), rest, "package",
                                   false);
            free(entries[k]);
        }
        if (count >= 0)
            free(entries);
        if (found)
            return true;
    }
    return false;
}

static bool find_share(Search *search, const char *rest)
{
    const Resolver *resolver = search->resolver;
    for (int i = 0; i < resolver->search.count; i++) {
        const char *root = resolver->search.items[i].path;
        if (take_below(search, root, rest, "path", false)
            || take_below(search, path_join(search->arena, root, "share"), rest, "path", false))
            return true;
    }
    return take_below(search, resolver->share, rest, "package", false) || take_above(search, "share", rest, "project")
           || take_installed_share(search, rest);
}

static bool find_program_top(Search *search, const char *rest)
{
    const Resolver *resolver = search->resolver;
    for (int i = 0; i < resolver->search.count; i++)
        if (take_below(search, resolver->search.items[i].path, rest, "path", false))
            return true;
    char *above = path_real(search->arena, search->from_folder);
    for (int i = 0; above && above[1] && i < HIGHEST_CLIMB; i++, above = parent_folder(search->arena, above))
        if (take_below(search, above, rest, "project", true))
            return true;
    note_tried(search, arena_printf(search->arena, "folders above %s", search->from_folder));
    return false;
}

static bool find_home(Search *search, const char *rest)
{
    return take_below(search, search->resolver->home, rest, "file", false);
}

static bool find_project_dir(Search *search, const char *rest)
{
    const char *main_file = search->resolver->main_file;
    return (*main_file && take_below(search, path_directory(search->arena, main_file), rest, "project", false))
           || take_below(search, search->resolver->project, rest, "project", false);
}

static bool find_file(Search *search, const char *rest)
{
    if (rest[0] != '/') {  // file://host/path
        const char *slash = strchr(rest, '/');
        if (slash && text_starts_with(rest, "localhost/"))
            rest = slash;
    }
    char *path = percent_decoded(search->arena, rest);
    return (rest[0] == '/' && take(search, rest, "file", true))
           || (path[0] == '/' ? find_absolute(search, path) : find_relative(search, path));
}

static bool find_package_url(Search *search, const char *rest) { return find_package(search, rest, false); }

static bool find_model_url(Search *search, const char *rest) { return find_package(search, rest, true); }

static bool find_webots_url(Search *search, const char *rest)
{
    return find_webots(search, without_query(search->arena, rest));
}

static const struct {
    const char *prefix;
    bool (*find)(Search *search, const char *rest);
} schemes[] = {
    { "webots://", find_webots_url }, { "package://", find_package_url },
    { "model://", find_model_url },   { "file://", find_file },
    { "${SHARE}", find_share },       { "${PROGRAM_TOP}", find_program_top },
    { "${HOME}", find_home },         { "${PROJECT_DIR}", find_project_dir },
};

bool resolve_is_network(const char *url)
{
    return text_starts_with(url, "https://") || text_starts_with(url, "http://") || text_starts_with(url, "webots://");
}

bool resolve_url(const Resolver *resolver, const char *url, const char *from, Arena *arena, Resolved *result)
{
    assert_debug(resolver && url && arena && result);
    *result = (Resolved){ .is_network = resolve_is_network(url) };
    if (!from || !*from)
        from = resolver->main_file;
    Search search = { resolver, arena, result, from, path_directory(arena, from) };
    if (!*url || strlen(url) > LONGEST_URL)
        return false;
    for (int i = 0; i < COUNT_OF(schemes); i++)
        if (text_starts_with(url, schemes[i].prefix))
            return schemes[i].find(&search, url + strlen(schemes[i].prefix));
    if (result->is_network)
        return find_https(&search, url);
    return find_plain(&search, url);
}

void resolve_report_missing(const Resolved *result, const char *what, const char *url, DiagSink *diags, SourcePos pos)
{
    Text places = { 0 };
    for (int i = 0; i < result->tried_count; i++)
        text_printf(&places, "%s%s", i ? ", " : "", result->tried[i]);
    enum { LONGEST_SHOWN = 200 };
    bool is_long = strlen(url) > LONGEST_SHOWN;
    diag_warning(diags, pos, "%s '%.*s%s' %s%s%s", what, LONGEST_SHOWN, url, is_long ? "..." : "",
                 result->is_refused ? "is refused" : "is not found", places.length ? "; tried: " : "",
                 places.length ? places.data : "");
    if (result->is_refused)
        diag_hint(
            diags,
            "files outside of the project are not read from untrusted worlds; add their folder to the search path");
    else if (result->is_network)
        diag_hint(diags, "'talus fetch' downloads what a world names on the network");
    text_free(&places);
}

static bool is_safe_in_path(char c) { return isalnum((unsigned char)c) || strchr("._-+@=,~()!'", c); }

// A part of a URL as a file name: what a path or a shell could misread is percent-encoded.
static bool add_part(Text *out, const char *part, size_t length)
{
    assert_debug(part || length == 0);
    if (length == 0 || (length == 1 && part[0] == '.'))
        return true;
    if ((length == 2 && part[0] == '.' && part[1] == '.') || length > 200)
        return false;
    text_add_char(out, '/');
    for (size_t i = 0; i < length; i++) {
        if (part[i] && (is_safe_in_path(part[i]) || part[i] == '%'))
            text_add_char(out, part[i]);
        else
            text_printf(out, "%%%02X", (unsigned)(unsigned char)part[i]);
    }
    return true;
}

char *resolve_cache_path(Arena *arena, const char *cache, const char *url)
{
    const char *scheme_end = strstr(url, "://");
    bool is_web = text_starts_with(url, "https://") || text_starts_with(url, "http://");
    if (!is_web || strlen(url) > LONGEST_URL)
        return NULL;
    Text out = { 0 };
    text_printf(&out, "%s/tree/%.*s", cache, (int)(scheme_end - url), url);
    const char *part = scheme_end + 3;
    const char *end = part + strcspn(part, "#");
    const char *path_end = part + strcspn(part, "?#");
    int parts = 0;
    bool ok = true;
    while (ok && part < end) {
        size_t length = part < path_end ? strcspn(part, "/?#") : (size_t)(end - part);
        if (part + length == path_end && end > path_end && length > 0)
            length = (size_t)(end - part);  // the query belongs to the file's name
        ok = add_part(&out, part, length);
        parts += length > 0;
        part += length;
        while (part < end && *part == '/')
            part++;
    }
    ok = ok && parts >= 2 && path_end[-1] != '/';
    char *path = ok ? arena_text(arena, out.data, out.length) : NULL;
    text_free(&out);
    return path;
}

char *resolve_cache_url(Arena *arena, const char *cache, const char *path)
{
    size_t length = strlen(cache);
    if (length == 0 || strncmp(path, cache, length))
        return NULL;
    const char *rest = path + length;
    while (*rest == '/')
        rest++;
    if (text_starts_with(rest, "tree/https/"))
        return arena_printf(arena, "https://%s", rest + strlen("tree/https/"));
    if (text_starts_with(rest, "tree/http/"))
        return arena_printf(arena, "http://%s", rest + strlen("tree/http/"));
    return NULL;
}

char *resolve_network_url(Arena *arena, const char *url, const char *base, const char *release)
{
    if (text_starts_with(url, "https://") || text_starts_with(url, "http://"))
        return arena_string(arena, url);
    if (text_starts_with(url, "webots://")) {
        const char *prefix = "https://" WEBOTS_REPOSITORY "/";
        if (base && text_starts_with(base, prefix)) {
            const char *tag = base + strlen(prefix);
            return arena_printf(arena, "%s%.*s/%s", prefix, (int)strcspn(tag, "/"), tag, url + strlen("webots://"));
        }
        return arena_printf(arena, "%s%s/%s", prefix, release && *release ? release : "released",
                            url + strlen("webots://"));
    }
    if (!base || strstr(url, "://") || url[0] == '$' || is_absolute(url) || !*url)
        return NULL;
    const char *host = strstr(base, "://");
    const char *path = host ? strchr(host + 3, '/') : NULL;
    if (!path)
        return NULL;
    char *clean = without_query(arena, path);
    char *joined = path_normalized(
        arena, arena_printf(arena, "%s/%s", path_directory(arena, clean), with_slashes(arena, url)));
    return arena_printf(arena, "%.*s%s", (int)(path - base), base, joined);
}
