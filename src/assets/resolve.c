// resolve.c - from a URL to a file: the roots that are searched, and who searches for which kind of URL.
#include "assets/resolve_internal.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static void add_roots_of_variable(Resolver *resolver, RootList *list, const char *variable, const char *tail,
                                  const char *origin)
{
    const char *value = getenv(variable);
    while (value && *value) {
        size_t length = strcspn(value, ":;");
        if (length > 0 && value[0] == '/')
            resolve_add_root(list, arena_printf(resolver->arena, "%.*s%s", (int)length, value, tail), origin);
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
        resolve_add_root(&resolver->search, arena_string(arena, options->search_paths[i]), "path");
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

char *resolve_parent_folder(Arena *arena, const char *folder)
{
    return path_normalized(arena, arena_printf(arena, "%s/..", folder));
}

char *resolve_project(Arena *arena, const char *file)
{
    char *own = path_directory(arena, file);
    char *folder = path_real(arena, own);
    if (!folder)
        return own;
    for (char *above = folder; above[1]; above = resolve_parent_folder(arena, above))
        if (!strcmp(path_name(above), "worlds") || !strcmp(path_name(above), "protos"))
            return resolve_parent_folder(arena, above);
    char *above = folder;
    for (int i = 0; i < HIGHEST_CLIMB && above[1]; i++, above = resolve_parent_folder(arena, above))
        if (file_exists(path_join(arena, above, "package.xml")))
            return above;
    return folder;
}

static const struct {
    const char *prefix;
    bool (*find)(Search *search, const char *rest);
} schemes[] = {
    { "webots://", search_webots }, { "package://", search_package },
    { "model://", search_model },   { "file://", search_file },
    { "${SHARE}", search_share },   { "${PROGRAM_TOP}", search_program_top },
    { "${HOME}", search_home },     { "${PROJECT_DIR}", search_project_dir },
};

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
        return search_https(&search, url);
    return search_plain(&search, url);
}

void resolve_report_missing(const Resolved *result, const char *what, const char *url, DiagSink *diags, SourcePos pos)
{
    assert_debug(!result->path && what && url);
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
