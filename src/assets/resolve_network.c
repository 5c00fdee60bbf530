// resolve_network.c - URLs of the network: the cache of downloads, Webots' repository, and the same files on this
// machine.
#include "assets/resolve_internal.h"

#include "base/file.h"
#include "base/text.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define WEBOTS_REPOSITORY "raw.githubusercontent.com/cyberbotics/webots"

// The part of an https URL that names the file inside its project: without host, and for the raw file hosts without
// owner, repository and tag.
static const char *network_tail(const char *url)
{
    assert_debug(strstr(url, "://"));
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
    assert_debug(*search->resolver->cache);
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
        if (search_take(search, arena_printf(arena, "%s/%s/%s", folder, tags[i], tail), "cache", true))
            return true;
    return false;
}

// "host/owner/name" of a raw file URL, NULL for others.
static char *raw_repository(Arena *arena, const char *url)
{
    assert_debug(strstr(url, "://"));
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
    if (path && search_take(search, path, "cache", true))
        return true;
    char *repository = raw_repository(search->arena, url);
    if (repository && take_cached_tag(search, repository, network_tail(without_query(search->arena, url))))
        return true;
    search_note(search, arena_printf(search->arena, "the cache %s", cache));
    return false;
}

static bool find_by_tail(Search *search, const char *tail)
{
    const Resolver *resolver = search->resolver;
    RootList folders = { 0 };
    for (int i = 0; i < resolver->search.count; i++)
        resolve_add_root(&folders, resolver->search.items[i].path, "path");
    if (resolver->webots_home)
        resolve_add_root(&folders, resolver->webots_home, "webots");
    if (resolver->library)
        resolve_add_root(&folders, resolver->library, "library");
    bool found = search_take_tail(search, &folders, resolve_percent_decoded(search->arena, tail));
    free(folders.items);
    return found;
}

bool search_https(Search *search, const char *url)
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
    if (search_take_below(search, resolver->webots_home, tail, "webots", false))
        return true;
    if (*resolver->cache) {
        char *tag = naming_tag(search);
        if (tag
            && search_take(
                search,
                arena_printf(search->arena, "%s/tree/https/" WEBOTS_REPOSITORY "/%s/%s", resolver->cache, tag, tail),
                "cache", true))
            return true;
        if (take_cached_tag(search, WEBOTS_REPOSITORY, tail))
            return true;
        search_note(search, arena_printf(search->arena, "the cache %s", resolver->cache));
    }
    return find_by_tail(search, tail);
}

bool search_webots(Search *search, const char *rest) { return find_webots(search, without_query(search->arena, rest)); }

bool resolve_is_network(const char *url)
{
    return text_starts_with(url, "https://") || text_starts_with(url, "http://") || text_starts_with(url, "webots://");
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
    if (!base || strstr(url, "://") || url[0] == '$' || resolve_is_absolute(url) || !*url)
        return NULL;
    const char *host = strstr(base, "://");
    const char *path = host ? strchr(host + 3, '/') : NULL;
    if (!path)
        return NULL;
    char *clean = without_query(arena, path);
    char *joined = path_normalized(
        arena, arena_printf(arena, "%s/%s", path_directory(arena, clean), resolve_with_slashes(arena, url)));
    return arena_printf(arena, "%.*s%s", (int)(path - base), base, joined);
}

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
