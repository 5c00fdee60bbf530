// resolve_search.c - one look-up under way: is this file the answer, and if not, what was tried; and plain paths.
#include "assets/resolve_internal.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    TRIED_MAX = 400,      // places kept for the message
    TAIL_PARTS_MAX = 32,  // folders of a URL that are tried as the start of a tail
};

void resolve_add_root(RootList *list, const char *path, const char *origin)
{
    assert_debug(path && origin);
    *memory_push(list->items, list->count, list->capacity) = (Root){ path, origin };
}

void search_note(Search *search, const char *place)
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

bool search_take(Search *search, const char *path, const char *origin, bool quietly)
{
    assert_debug(path && origin);
    struct stat info;
    char *normal = path_normalized(search->arena, path);
    // ".." by text alone would be wrong behind a symbolic link, so the path is asked for as it stands.
    if (stat(path, &info) < 0) {
        if (!quietly)
            search_note(search, normal);
        return false;
    }
    if (!S_ISREG(info.st_mode)) {
        search_note(search, arena_printf(search->arena, "%s (%s)", normal,
                                         S_ISDIR(info.st_mode) ? "a folder" : "not a regular file"));
        return false;
    }
    if (!is_allowed(search->resolver, path, search->arena)) {
        search->result->is_refused = true;
        search_note(search,
                    arena_printf(search->arena, "%s (outside of the project and search folders: refused)", normal));
        return false;
    }
    struct stat same;
    bool is_plain = stat(normal, &same) == 0 && same.st_ino == info.st_ino && same.st_dev == info.st_dev;
    search->result->path = is_plain ? normal : arena_string(search->arena, path);
    search->result->origin = origin;
    return true;
}

bool search_take_below(Search *search, const char *folder, const char *name, const char *origin, bool quietly)
{
    assert_debug(name && origin);
    if (!folder || !*folder)
        return false;
    while (*name == '/')
        name++;
    return search_take(search, path_join(search->arena, folder, name), origin, quietly);
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
    assert(count <= TAIL_PARTS_MAX);
    return count;
}

bool search_take_tail(Search *search, const RootList *folders, const char *path)
{
    assert_debug(path);
    const char *tails[TAIL_PARTS_MAX];
    int count = split_tails(path, tails);
    if (count == 0)
        return false;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < folders->count; k++)
            if (search_take_below(search, folders->items[k].path, tails[i], folders->items[k].origin, true))
                return true;
    for (int k = 0; k < folders->count; k++)
        search_note(search, arena_printf(search->arena, count > 1 ? "%s (every tail of %s)" : "%s/%s",
                                         folders->items[k].path, tails[0]));
    return false;
}

char *resolve_percent_decoded(Arena *arena, const char *text)
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

char *resolve_with_slashes(Arena *arena, const char *text)
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
    if (search_take_below(search, search->from_folder, url, "file", false)
        || search_take_below(search, resolver->project, url, "project", false))
        return true;
    if (*resolver->main_file
        && search_take_below(search, path_directory(search->arena, resolver->main_file), url, "project", false))
        return true;
    for (int i = 0; i < resolver->search.count; i++)
        if (search_take_below(search, resolver->search.items[i].path, url, "path", false))
            return true;
    if (resolver->webots_home
        && search_take_below(search, path_join(search->arena, resolver->webots_home, "projects/default/worlds"), url,
                             "webots", false))
        return true;
    return search_take_below(search, resolver->library, url, "library", false);
}

static bool find_absolute(Search *search, const char *path)
{
    if (search_take(search, path, "file", false))
        return true;
    RootList near = { 0 };
    resolve_add_root(&near, search->from_folder, "file");
    if (*search->resolver->project)
        resolve_add_root(&near, search->resolver->project, "project");
    bool found = search_take_tail(search, &near, path);
    free(near.items);
    return found;
}

bool resolve_is_absolute(const char *path)
{
    return path[0] == '/' || (isalpha((unsigned char)path[0]) && path[1] == ':' && (path[2] == '/' || path[2] == '\\'));
}

bool search_plain(Search *search, const char *url)
{
    const char *spellings[3] = { url, NULL, NULL };
    int count = 1;
    if (strchr(url, '\\'))
        spellings[count++] = resolve_with_slashes(search->arena, url);
    if (strchr(url, '%'))
        spellings[count++] = resolve_percent_decoded(search->arena, url);
    for (int i = 0; i < count; i++) {
        const char *path = spellings[i];
        if (resolve_is_absolute(path) ? find_absolute(search, path[0] == '/' ? path : path + 2)
                                      : find_relative(search, path))
            return true;
    }
    return false;
}

bool search_home(Search *search, const char *rest)
{
    return search_take_below(search, search->resolver->home, rest, "file", false);
}

bool search_project_dir(Search *search, const char *rest)
{
    const char *main_file = search->resolver->main_file;
    return (*main_file && search_take_below(search, path_directory(search->arena, main_file), rest, "project", false))
           || search_take_below(search, search->resolver->project, rest, "project", false);
}

bool search_file(Search *search, const char *rest)
{
    if (rest[0] != '/') {  // file://host/path
        const char *slash = strchr(rest, '/');
        if (slash && text_starts_with(rest, "localhost/"))
            rest = slash;
    }
    char *path = resolve_percent_decoded(search->arena, rest);
    return (rest[0] == '/' && search_take(search, rest, "file", true))
           || (path[0] == '/' ? find_absolute(search, path) : find_relative(search, path));
}
