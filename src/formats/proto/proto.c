// proto.c - which PROTO a name means: declarations, search, placeholders.
#include "formats/proto/proto_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FIRST_RELEASE_WITH_DECLARATIONS = 2022100 };

// ---- library ----

static void library_destroy(void *data)
{
    ProtoLibrary *library = data;
    assert_debug(library->chain_count == 0);  // nothing is being made
    for (int i = 0; i < library->proto_count; i++) {
        Definition *definition = library->protos[i]->definition;
        if (!definition)
            continue;
        file_release(&definition->file);
        name_map_free(&definition->scope->resolved);
        name_map_free(&definition->scope->own_project.files);
        free(definition->scope->declarations);
    }
    for (int i = 0; i < library->index_count; i++)
        name_map_free(&library->indexes[i].files);
    free(library->indexes);
    free(library->protos);
    free(library->chain);
    template_files_free(&library->files);
    name_map_free(&library->by_path);
    name_map_free(&library->placeholders);
    resolve_destroy(library->resolver);
    scene_destroy(library->definitions);
    arena_destroy(library->arena);
    pthread_mutex_destroy(&library->lock);
    free(library);
}

static void scope_destroy(void *data)
{
    ProtoScope *scope = data;
    name_map_free(&scope->resolved);
    free(scope->declarations);
}

ProtoLibrary *proto_library(const Scene *scene) { return scene_attached(scene, library_destroy); }

void proto_lock(const Scene *scene)
{
    ProtoLibrary *library = proto_library(scene);
    if (library)
        pthread_mutex_lock(&library->lock);
}

void proto_unlock(const Scene *scene)
{
    ProtoLibrary *library = proto_library(scene);
    if (library)
        pthread_mutex_unlock(&library->lock);
}

void proto_library_add(ProtoLibrary *library, SceneProto *proto)
{
    assert_debug(proto);
    *memory_push(library->protos, library->proto_count, library->proto_capacity) = proto;
}

int proto_count(const Scene *scene)
{
    const ProtoLibrary *library = proto_library(scene);
    return library ? library->proto_count : 0;
}

const SceneProto *proto_at(const Scene *scene, int index)
{
    assert(index >= 0 && index < proto_count(scene));
    return proto_library(scene)->protos[index];
}

static void add_index(ProtoLibrary *library, const char *folder, const char *origin)
{
    assert_debug(folder && origin);
    *memory_push(library->indexes, library->index_count, library->index_capacity) = (FolderIndex){ .folder = folder,
                                                                                                   .origin = origin };
}

// A search folder is a project with a `protos` folder, or a folder of PROTOs or projects itself.
static void add_search_folder(ProtoLibrary *library, const char *folder)
{
    char *protos = path_join(library->arena, folder, "protos");
    add_index(library, file_is_directory(protos) ? protos : arena_string(library->arena, folder), "path");
}

static void add_search_variable(ProtoLibrary *library, const char *variable)
{
    const char *value = getenv(variable);
    while (value && *value) {
        size_t length = strcspn(value, ":;");
        if (length > 0)
            add_search_folder(library, arena_text(library->arena, value, length));
        value += length + (value[length] != '\0');
    }
}

// The project's `protos` folder, and those of folders above, for files that lie deeper than `worlds`.
static void add_project_folders(ProtoLibrary *library)
{
    enum { HIGHEST_CLIMB = 3 };
    Arena *arena = library->arena;
    const char *project = resolve_project_folder(library->resolver);
    if (!*project)
        return;
    add_index(library, path_join(arena, project, "protos"), "project");
    char *real = path_real(arena, project);
    const char *above = real ? real : project;
    for (int i = 0; i < HIGHEST_CLIMB && strlen(above) > 1; i++) {
        above = path_directory(arena, above);
        char *protos = path_join(arena, above, "protos");
        if (file_is_directory(protos))
            add_index(library, protos, "project");
    }
}

static void find_folders(ProtoLibrary *library, const FormatsOptions *options, const char *talus_library)
{
    add_project_folders(library);
    for (int i = 0; options->search_paths && options->search_paths[i]; i++)
        add_search_folder(library, options->search_paths[i]);
    add_search_variable(library, "TALUS_PATH");
    add_search_variable(library, "WEBOTS_EXTRA_PROJECT_PATH");
    library->search_count = library->index_count;
    if (talus_library)
        add_index(library, path_join(library->arena, talus_library, "protos"), "library");
}

ProtoScope *proto_scope_for(ProtoLibrary *library, const char *path, int release)
{
    assert_debug(library && path);
    ProtoScope *scope = arena_alloc(library->arena, sizeof *scope);
    scope->library = library;
    scope->path = arena_string(library->arena, path);
    scope->release = release;
    return scope;
}

// The library hangs on the scene and goes with it. Its lock is recursive: making an instance reads definitions,
// which make instances.
ProtoScope *proto_scope_create(Scene *scene, const char *path, const FormatsOptions *options, DiagSink *diags)
{
    assert_debug(scene && path && options);
    (void)diags;
    ProtoLibrary *library = memory_alloc(sizeof *library);
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&library->lock, &kind);
    pthread_mutexattr_destroy(&kind);
    library->scene = scene;
    library->definitions = scene_create();
    library->arena = arena_create();
    library->limits = *limits_or_default(options->limits);
    library->template_budget = (WorkerBudget){ .total_ms = library->limits.templates_ms, .limit = "templates_ms" };
    library->without_templates = options->without_templates;
    library->without_upgrade = options->without_upgrade;
    char *real = path_real(library->arena, path);
    library->world_path = real ? real : arena_string(library->arena, path);
    char *talus_library = proto_library_folder(library->arena);
    ResolveOptions resolve_options = {
        .main_file = path,
        .search_paths = options->search_paths,
        .library = talus_library,
        .is_untrusted = library->limits.is_untrusted,
    };
    library->resolver = resolve_create(&resolve_options);
    find_folders(library, options, talus_library);
    scene_attach(scene, library, library_destroy);
    ProtoScope *scope = proto_scope_for(library, path, scene_release(scene));
    scene_attach(scene, scope, scope_destroy);
    return scope;
}

// What a declaration cannot be. It stays one all the same, as far as it means something.
static void check_declaration(const ProtoScope *scope, const char *url, const char *name, SourcePos pos,
                              DiagSink *diags)
{
    assert_debug(scope && url && name);
    const NodeType *type = schema_type(name);
    if (strcasecmp(path_extension(url), ".proto"))
        diag_error(diags, pos, "EXTERNPROTO \"%.200s\" does not end with .proto", url);
    else if (type && !(type->flags & (NODE_TALUS | NODE_VRML97 | NODE_REMOVED)))
        diag_error(diags, pos,
                   "the PROTO '%s' cannot have the name of a base node; the node is meant wherever the name stands",
                   name);
    for (int i = 0; i < scope->declaration_count; i++) {
        if (strcmp(scope->declarations[i].name, name))
            continue;
        if (strcmp(scope->declarations[i].url, url))
            diag_warning(diags, pos, "the PROTO '%s' is declared already, as \"%.200s\"; that one is used", name,
                         scope->declarations[i].url);
        else
            diag_warning(diags, pos, "the PROTO '%s' is declared already", name);
        return;
    }
}

void proto_scope_declare(ProtoScope *scope, const SceneExtern *declaration, DiagSink *diags)
{
    assert_debug(declaration->url);
    Arena *arena = scope->library->arena;
    check_declaration(scope, declaration->url, path_stem(arena, declaration->url), declaration->pos, diags);
    if (strcasecmp(path_extension(declaration->url), ".proto"))
        return;
    memory_grow(&scope->declarations, &scope->declaration_capacity, scope->declaration_count + 1,
                sizeof *scope->declarations);
    const char *url = arena_string(arena, declaration->url);
    scope->declarations[scope->declaration_count].url = url;
    scope->declarations[scope->declaration_count].name = path_stem(arena, url);
    scope->declarations[scope->declaration_count++].pos = declaration->pos;
}

bool proto_needs_declaration(const ProtoScope *scope, const char *name, size_t length)
{
    assert(scope && name);
    for (int i = 0; i < scope->declaration_count; i++)
        if (!strncmp(scope->declarations[i].name, name, length) && !scope->declarations[i].name[length])
            return false;
    return scope->release >= FIRST_RELEASE_WITH_DECLARATIONS;
}

// ---- finding ----

// One search for a name, with the places it went to.
typedef struct Find {
    ProtoScope *scope;
    const char *name;
    const char *url;  // declared; NULL: not declared
    SourcePos url_pos;
    const char *path, *origin;
    Text tried;
    int tried_count;
} Find;

static void note_tried(Find *find, const char *place)
{
    enum { SHOWN_MAX = 12 };
    if (++find->tried_count <= SHOWN_MAX)
        text_printf(&find->tried, "%s%s", find->tried.length ? ", " : "", place);
}

static bool find_url(Find *find, const char *url)
{
    assert_debug(url && !find->path);
    ProtoLibrary *library = find->scope->library;
    Resolved resolved = { 0 };
    if (resolve_url(library->resolver, url, find->scope->path, library->arena, &resolved)) {
        find->path = resolved.path;
        find->origin = !strcmp(resolved.origin, "file") ? "declared" : resolved.origin;
        return true;
    }
    for (int i = 0; i < resolved.tried_count; i++)
        note_tried(find, resolved.tried[i]);
    return false;
}

static bool find_in(Find *find, FolderIndex *index)
{
    assert_debug(find->name && !find->path);
    ProtoLibrary *library = find->scope->library;
    if (!index->folder)
        return false;
    const char *path = folder_index_find(index, find->name, library->arena);
    if (path && resolve_is_allowed(library->resolver, path)) {
        find->path = path;
        find->origin = index->origin;
        return true;
    }
    note_tried(find, arena_printf(library->arena, "%s/**", index->folder));
    return false;
}

// Beside the file that uses it: where people put PROTOs who keep no `protos` folder.
static bool find_beside(Find *find)
{
    assert_debug(find->name && !find->path);
    ProtoLibrary *library = find->scope->library;
    static const char *const endings[] = { ".proto", ".PROTO" };
    const char *folder = path_directory(library->arena, find->scope->path);
    for (int i = 0; i < COUNT_OF(endings); i++) {
        char *path = path_join(library->arena, folder, arena_printf(library->arena, "%s%s", find->name, endings[i]));
        if (file_exists(path) && resolve_is_allowed(library->resolver, path)) {
            find->path = path;
            find->origin = "project";
            return true;
        }
        if (i == 0)
            note_tried(find, path);
    }
    return false;
}

static bool find_by_name(Find *find)
{
    ProtoLibrary *library = find->scope->library;
    if (find_beside(find) || find_in(find, &find->scope->own_project))
        return true;
    for (int i = 0; i < library->index_count; i++)
        if (find_in(find, &library->indexes[i]))
            return true;
    return false;
}

static bool is_network(const char *url) { return url && resolve_is_network(url); }

static bool find_file(Find *find)
{
    assert_debug(find->scope && find->name);
    for (int i = 0; i < find->scope->declaration_count; i++) {
        if (strcmp(find->scope->declarations[i].name, find->name))
            continue;
        find->url = find->scope->declarations[i].url;
        find->url_pos = find->scope->declarations[i].pos;
        if (find_url(find, find->url))
            return true;
    }
    if (!find_by_name(find))
        return false;
    return true;
}

static void report_how(const Find *find, SourcePos pos, DiagSink *diags)
{
    if (find->url && !is_network(find->url) && strcmp(find->origin, "declared") && strcmp(find->origin, "file")) {
        diag_warning(diags, find->url_pos, "there is no file '%s'; the PROTO '%s' of '%s' is used", find->url,
                     find->name, find->path);
    } else if (!find->url && find->scope->release >= FIRST_RELEASE_WITH_DECLARATIONS) {
        diag_warning(diags, pos, "missing declaration for '%s'; the PROTO of '%s' is used", find->name, find->path);
        diag_hint(diags, "declare it at the top of the file: EXTERNPROTO \"%s\"", find->path);
    }
}

// By real path: one file that two worlds name differently is one PROTO. It is entered before it is read, so that one
// which names itself finds itself.
static Definition *definition_for(ProtoLibrary *library, const Find *find, DiagSink *diags, SourcePos pos)
{
    assert_debug(find->path);
    char *real = path_real(library->arena, find->path);
    const char *key = real ? real : find->path;
    Definition *definition = name_map_find(&library->by_path, key, strlen(key));
    if (definition)
        return definition;
    definition = arena_alloc(library->arena, sizeof *definition);
    definition->library = library;
    definition->proto.definition = definition;
    definition->proto.path = find->path;
    definition->proto.origin = find->origin;
    definition->proto.name = find->name;
    definition->scope = proto_scope_for(library, find->path, 0);
    char *project = resolve_project(library->arena, find->path);
    if (strcmp(project, resolve_project_folder(library->resolver)))
        definition->scope->own_project = (FolderIndex){ .folder = path_join(library->arena, project, "protos"),
                                                        .origin = "project" };
    name_map_put(&library->by_path, key, definition);
    proto_library_add(library, &definition->proto);
    if (!file_read(find->path, (size_t)library->limits.file_bytes, &definition->file, diags, pos)) {
        definition->state = DEFINITION_BROKEN;
        return definition;
    }
    definition->text = definition->file.data;
    definition->size = definition->file.size;
    definition->state = DEFINITION_LOADING;
    bool ok = proto_read_definition(definition, find->name, diags);
    definition->state = ok ? DEFINITION_READY : DEFINITION_BROKEN;
    return definition;
}

// ---- placeholders ----

// What nearly every PROTO of an object has; further parameters are kept as they are written.
static const FieldType placeholder_fields[] = {
    { .name = "translation", .kind = FIELD_SF_VEC3F, .preset = "0 0 0" },
    { .name = "rotation", .kind = FIELD_SF_ROTATION, .preset = "0 0 1 0", .value = { .v = { 0, 0, 1, 0 } } },
    { .name = "name", .kind = FIELD_SF_STRING, .preset = "\"\"", .value = { .s = "" } },
    { .name = "children", .kind = FIELD_MF_NODE, .preset = "[]" },
    { .name = "controller", .kind = FIELD_SF_STRING, .preset = "\"\"", .value = { .s = "" } },
};

static SceneProto *placeholder_for(ProtoLibrary *library, const char *name)
{
    assert_debug(name && *name);
    static const FieldList nothing;
    SceneProto *proto = name_map_find(&library->placeholders, name, strlen(name));
    if (proto)
        return proto;
    proto = arena_alloc(library->arena, sizeof *proto);
    proto->name = arena_string(library->arena, name);
    proto->path = "";
    proto->origin = "missing";
    proto->is_placeholder = true;
    proto->parameter_count = COUNT_OF(placeholder_fields);
    proto->parameters = arena_copy(library->arena, placeholder_fields, sizeof placeholder_fields);
    for (int i = 0; i < proto->parameter_count; i++) {
        proto->parameters[i].index = (uint16_t)i;
        if (field_kind_is_list(proto->parameters[i].kind))
            proto->parameters[i].value.list = &nothing;
    }
    name_map_put(&library->placeholders, proto->name, proto);
    proto_library_add(library, proto);
    return proto;
}

// The base node that may have been meant. A guess for the message alone: `Door`, `Floor` and `Sink` are close to base
// nodes, and PROTOs all the same.
static const char *closest_base_node(const char *name)
{
    int count = schema_type_count(), used = 0;
    const char **candidates = memory_alloc_array((size_t)count + 1, sizeof *candidates);
    for (int i = 0; i < count; i++)
        if (!(schema_type_at(i)->flags & (NODE_ABSTRACT | NODE_VRML97)))
            candidates[used++] = schema_type_at(i)->name;
    const char *closest = text_closest(name, candidates, used);
    free(candidates);
    return closest;
}

static SceneProto *report_missing(const Find *find, SourcePos pos, DiagSink *diags)
{
    ProtoLibrary *library = find->scope->library;
    bool is_known = name_map_find(&library->placeholders, find->name, strlen(find->name)) != NULL;
    if (!is_known) {
        diag_warning(diags, pos, "the PROTO '%s' was not found; an empty placeholder stands for it", find->name);
        const char *closest = find->url ? NULL : closest_base_node(find->name);
        if (is_network(find->url))
            diag_hint(diags, "`talus fetch %s` gets it from %.200s", scene_path(library->scene), find->url);
        else
            diag_hint(diags, "%s%s%slooked for %s%s%s%s", closest ? "did you mean the node '" : "",
                      closest ? closest : "", closest ? "'? Otherwise: " : "", find->url ? find->url : find->name,
                      find->tried.length ? " in " : "", find->tried.data ? find->tried.data : "",
                      find->tried_count > 12 ? " ..." : "");
    }
    return placeholder_for(library, find->name);
}

// ---- resolving ----

static SceneProto *resolve_name(Reader *reader, ProtoScope *scope, const char *name, SourcePos pos)
{
    assert_debug(scope->library);
    ProtoLibrary *library = scope->library;
    Find find = { .scope = scope, .name = name };
    SceneProto *proto = NULL;
    if (!find_file(&find)) {
        proto = report_missing(&find, pos, reader->diags);
        text_free(&find.tried);
        return proto;
    }
    Definition *definition = definition_for(library, &find, reader->diags, pos);
    report_how(&find, pos, reader->diags);
    text_free(&find.tried);
    if (definition->state == DEFINITION_READY)
        return &definition->proto;
    if (definition->state == DEFINITION_LOADING)
        diag_error(reader->diags, pos, "the PROTO '%s' needs itself for the default of one of its parameters", name);
    return placeholder_for(library, name);
}

SceneProto *proto_resolve(Reader *reader, const char *name, size_t length, SourcePos pos)
{
    assert(name);
    ProtoScope *scope = reader->protos;
    if (!scope || length == 0 || length > 255 || memchr(name, '/', length) || name[0] == '.')
        return NULL;
    if (reader->release && !scope->release)
        scope->release = reader->release;
    SceneProto *proto = name_map_find(&scope->resolved, name, length);
    if (proto)
        return proto;
    char *copy = arena_text(scope->library->arena, name, length);
    proto = resolve_name(reader, scope, copy, pos);
    if (proto)
        name_map_put(&scope->resolved, copy, proto);
    return proto;
}

bool proto_exists(Reader *reader, const char *name, size_t length)
{
    ProtoScope *scope = reader->protos;
    if (!scope || length == 0 || length > 255 || memchr(name, '/', length) || name[0] == '.')
        return false;
    if (reader->release && !scope->release)
        scope->release = reader->release;
    const SceneProto *proto = name_map_find(&scope->resolved, name, length);
    if (proto)
        return !proto->is_placeholder;
    Find find = { .scope = scope, .name = arena_text(scope->library->arena, name, length) };
    bool is_found = find_file(&find);
    text_free(&find.tried);
    return is_found;
}

const char *proto_text(const SceneProto *proto, size_t *size)
{
    assert(proto && size);
    const Definition *definition = proto->definition;
    *size = definition ? definition->size : 0;
    return definition ? definition->text : NULL;
}

void proto_instantiate(Reader *reader, SceneNode *instance)
{
    assert_debug(instance->kind == SCENE_NODE_INSTANCE);
    if (!reader->protos)
        return;
    int before = scene_node_count(reader->scene);
    proto_make(reader->protos->library, reader->scene, instance, reader->diags);
    proto_apply_hidden(reader->scene, instance, reader->diags);
    reader->expanded += scene_node_count(reader->scene) - before;
}

// It enters the library as if somebody had named it, so that what it uses may name it too (and is told of the cycle).
bool proto_read_file(Reader *reader, const char *path)
{
    assert_debug(reader->protos);
    ProtoLibrary *library = reader->protos->library;
    Definition *definition = arena_alloc(library->arena, sizeof *definition);
    definition->library = library;
    definition->proto.definition = definition;
    definition->proto.path = arena_string(library->arena, path);
    definition->proto.origin = "file";
    definition->proto.name = path_stem(library->arena, path);
    definition->size = (size_t)(reader->lexer.end - reader->lexer.start);
    definition->text = arena_text(library->arena, reader->lexer.start, definition->size);
    definition->scope = proto_scope_for(library, path, 0);
    definition->proto.release = reader->release;
    definition->is_header_read = true;
    definition->state = DEFINITION_LOADING;
    char *real = path_real(library->arena, path);
    name_map_put(&library->by_path, real ? real : definition->proto.path, definition);
    proto_library_add(library, &definition->proto);
    if (!proto_read_definition(definition, definition->proto.name, reader->diags)) {
        definition->state = DEFINITION_BROKEN;
        return false;
    }
    definition->state = DEFINITION_READY;
    SceneNode *instance = scene_node_create_instance(reader->scene, &definition->proto, definition->pos);
    scene_list_insert_node(reader->scene, scene_root(reader->scene), "children", 0, instance);
    proto_instantiate(reader, instance);
    return true;
}
