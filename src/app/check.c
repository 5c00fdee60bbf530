// check.c - `talus check`: diagnoses files without running any code that they name. What a run would say before its
// first step is said here: the file and its PROTOs, the physics made of it, its meshes, pictures and sounds, its plugin
// and its programs.
#include "app/app.h"

#include "base/budget.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "control/control.h"
#include "formats/shape/shape.h"
#include "sim/sim.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct CheckOptions {
    bool quiet;
    bool json;
    bool untrusted;
    const char *limit_changes;
    Limits limits;
    bool strict;
    bool quick;
} CheckOptions;

// ---- output ----

// Places are file, line and column apart, for editors.
static void write_json(JsonWriter *json, const char *path, const Scene *scene, const DiagSink *diags)
{
    char release[24];
    json_begin_object(json, NULL);
    json_string(json, "file", path);
    json_string(json, "version",
                scene && scene_release(scene) ? schema_release_name(scene_release(scene), release) : NULL);
    json_int(json, "nodes", scene ? scene_node_count(scene) : 0);
    json_int(json, "errors", diag_total(diags, DIAG_ERROR));
    json_int(json, "warnings", diag_total(diags, DIAG_WARNING));
    json_begin_array(json, "diagnostics");
    for (int i = 0; i < diag_count(diags); i++) {
        const Diagnostic *item = diag_at(diags, i);
        const char *file = diag_file_name(diags, item->pos.file);
        json_begin_object(json, NULL);
        json_string(json, "file", *file ? file : path);
        json_int(json, "line", item->pos.line);
        json_int(json, "column", item->pos.column);
        json_string(json, "severity", diag_severity_name(item->severity));
        json_string(json, "node", item->node);
        json_string(json, "message", item->message);
        if (item->hint)
            json_string(json, "hint", item->hint);
        json_int(json, "count", item->count);
        json_end_object(json);
    }
    json_end_array(json);
    json_end_object(json);
}

static void print_summary(const char *path, const Scene *scene, const DiagSink *diags)
{
    char release[24];
    int errors = diag_total(diags, DIAG_ERROR), warnings = diag_total(diags, DIAG_WARNING);
    printf("%s: ", path);
    if (scene && scene_release(scene))
        printf("%s, ", schema_release_name(scene_release(scene), release));
    if (scene)
        printf("%d node%s, ", scene_node_count(scene), scene_node_count(scene) == 1 ? "" : "s");
    printf("%d error%s, %d warning%s\n", errors, errors == 1 ? "" : "s", warnings, warnings == 1 ? "" : "s");
}

// ---- what is seen and heard ----

typedef struct Assets {
    ShapeSource source;
    Resolver *resolver;
    Arena *arena;
} Assets;

static void check_sound(Assets *assets, const SceneNode *node, const SceneField *field)
{
    size_t length = strlen(field->type->name);
    bool is_sound = field->type->kind == FIELD_SF_STRING && length >= 5
                    && !strcasecmp(field->type->name + length - 5, "sound");
    if (!is_sound || !*field->value.s || resolve_is_network(field->value.s))
        return;
    Resolved resolved;
    FileData file;
    const Limits *limits = store_limits(assets->source.assets);
    const char *from = shape_naming_file(&assets->source, node, field->type->name);
    if (!resolve_url(assets->resolver, field->value.s, from, assets->arena, &resolved))
        resolve_report_missing(&resolved, "sound", field->value.s, assets->source.diags, field->pos);
    else if (file_read(resolved.path, (size_t)limits->file_bytes, &file, assets->source.diags, field->pos))
        file_release(&file);
}

static bool check_node_assets(SceneNode *node, void *context)
{
    Assets *assets = context;
    if (scene_node_is(node, "CadShape") || (scene_node_is(node, "Geometry") && schema_field(node->type, "url")))
        shape_mesh(&assets->source, node);
    else if (scene_node_is(node, "ImageTexture"))
        shape_texture(&assets->source, node);
    for (int i = 0; i < node->field_count; i++)
        check_sound(assets, node, &node->fields[i]);
    return true;
}

static void check_assets(Sim *sim, const CheckOptions *options, DiagSink *diags)
{
    ResolveOptions resolve = { .main_file = scene_path(sim_scene(sim)), .is_untrusted = options->untrusted };
    Assets assets = { { sim_scene(sim), sim_assets(sim), diags }, resolve_create(&resolve), arena_create() };
    scene_walk(scene_root(sim_scene(sim)), false, check_node_assets, &assets);
    resolve_destroy(assets.resolver);
    arena_destroy(assets.arena);
}

// ---- one file ----

static bool is_mesh_file(const char *path)
{
    return !strcasecmp(path_extension(path), ".wrl") || !strcasecmp(path_extension(path), ".vrml");
}

// Everything that is made of a scene before it runs. Takes the scene; it is that of the result, if there is one.
static Sim *check_whole(Scene *scene, const CheckOptions *options, DiagSink *diags)
{
    SimOptions make = { 0 };
    make.physics.limits = make.formats.limits = &options->limits;
    Sim *sim = sim_create(scene, &make, diags);
    if (!sim)
        return NULL;
    sim_devices(sim);  // what is wrong with them is said as they are made
    check_assets(sim, options, diags);
    plugin_look(scene, diags);
    control_look(sim, diags);
    return sim;
}

static bool check_file(const char *path, const CheckOptions *options, JsonWriter *json)
{
    budget_begin_load();
    DiagSink *diags = diag_create();
    FormatsOptions load = { .limits = &options->limits };
    Scene *scene = formats_load(path, &load, diags);
    bool is_read = scene != NULL, is_whole = is_read && !options->quick && !is_mesh_file(path);
    Sim *sim = is_whole ? check_whole(scene, options, diags) : NULL;
    budget_end_load();
    if (is_whole)
        scene = sim ? sim_scene(sim) : NULL;
    if (options->json) {
        write_json(json, path, scene, diags);
    } else {
        diag_print(diags, stdout, 0, options->quiet ? DIAG_ERROR : DIAG_NOTE);
        if (!options->quiet)
            print_summary(path, scene, diags);
    }
    bool ok = is_read && !diag_has_errors(diags) && !(options->strict && diag_total(diags, DIAG_WARNING));
    if (sim)
        sim_destroy(sim);
    else
        scene_destroy(scene);
    diag_destroy(diags);
    return ok;
}

// ---- projects ----

typedef struct FileNames {
    char **items;
    int count, capacity;
} FileNames;

static bool is_checked(const char *name)
{
    static const char *const endings[] = { ".wbt", ".proto", ".body", ".cnoid" };
    for (int i = 0; i < COUNT_OF(endings); i++)
        if (!strcasecmp(path_extension(name), endings[i]))
            return true;
    return false;
}

// Files below a folder, without hidden ones (".main.wbproj" and such) and without what a build left.
static void find_files(const char *folder, int depth, FileNames *names)
{
    assert_debug(folder && depth >= 0);
    enum { DEEPEST = 12, FILES_MAX = 100000 };
    DIR *directory = depth <= DEEPEST ? opendir(folder) : NULL;
    for (struct dirent *entry; directory && (entry = readdir(directory)) && names->count < FILES_MAX;) {
        if (entry->d_name[0] == '.' || !strcmp(entry->d_name, "build"))
            continue;
        size_t length = strlen(folder) + strlen(entry->d_name) + 2;
        char *path = memory_alloc_raw(length);
        snprintf(path, length, "%s%s%s", folder, text_ends_with(folder, "/") ? "" : "/", entry->d_name);
        if (file_is_directory(path) && entry->d_type != DT_LNK) {
            find_files(path, depth + 1, names);
        } else if (is_checked(entry->d_name) && file_exists(path)) {
            *memory_push(names->items, names->count, names->capacity) = path;
            continue;
        }
        free(path);
    }
    if (directory)
        closedir(directory);
}

static int compare_names(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static bool check_folder(const char *folder, const CheckOptions *options, JsonWriter *json)
{
    FileNames names = { 0 };
    find_files(folder, 0, &names);
    if (names.count)
        qsort(names.items, (size_t)names.count, sizeof *names.items, compare_names);
    bool ok = names.count > 0;
    if (names.count == 0)
        fprintf(stderr, "talus check: %s has no world, PROTO or body\n", folder);
    int bad = 0;
    for (int i = 0; i < names.count; i++) {
        bad += !check_file(names.items[i], options, json);
        free(names.items[i]);
    }
    free(names.items);
    if (names.count > 0 && !options->json && !options->quiet)
        printf("%s: %d file%s, %d with errors\n", folder, names.count, names.count == 1 ? "" : "s", bad);
    return ok && bad == 0;
}

// All files are looked at although one is bad; the exit code tells of any.
static int run_check(const AppCommand *command, int argc, char **argv)
{
    CheckOptions options = { 0 };
    int files;
    int status = app_parse(command, argc, argv, &options, &files);
    if (status >= 0)
        return status;
    if (files == 0)
        return app_usage_error(command, "which file?");
    status = app_take_limits(command, options.untrusted, options.limit_changes, &options.limits, NULL);
    if (status >= 0)
        return status;
    Text out = { 0 };
    JsonWriter json = { .out = &out };
    if (options.json) {
        json_begin_object(&json, NULL);
        json_begin_array(&json, "files");
    }
    bool ok = true;
    for (int i = 1; i <= files; i++)
        ok = (file_is_directory(argv[i]) ? check_folder(argv[i], &options, &json)
                                         : check_file(argv[i], &options, &json))
             && ok;
    if (options.json) {
        json_end_array(&json);
        json_end_object(&json);
        text_add_char(&out, '\n');
    }
    app_print(&out);
    return ok ? EXIT_OK : EXIT_INPUT;
}

static const AppOption check_options[] = {
    { "quiet|q", OPTION_FLAG, offsetof(CheckOptions, quiet), NULL, "print errors alone" },
    { "json", OPTION_FLAG, offsetof(CheckOptions, json), NULL, "one JSON object with every diagnostic" },
    { "strict", OPTION_FLAG, offsetof(CheckOptions, strict), NULL, "warnings count as errors" },
    { "quick", OPTION_FLAG, offsetof(CheckOptions, quick), NULL,
      "the file and its PROTOs alone: no meshes, pictures, physics, programs" },
    { "untrusted", OPTION_FLAG, offsetof(CheckOptions, untrusted), NULL, "lower limits, for files from strangers" },
    { "limits", OPTION_STRING, offsetof(CheckOptions, limit_changes), "NAME=N,...", APP_LIMITS_HELP },
};
const AppCommand command_check = {
    .name = "check",
    .arguments = "FILE|FOLDER... [--quiet] [--json]",
    .summary = "diagnose worlds, PROTOs, bodies and meshes without running any code",
    .details =
        "Reads each file as `run` would, with its PROTOs, meshes, pictures and sounds, builds its physics, looks for its plugin and\n"
        "programs, and prints what is wrong as file:line:column: severity: message. Of a folder all worlds, PROTOs and bodies in it.\n"
        "Exit code 0: no error (warnings are allowed), 3: some error.",
    .examples = "  talus check worlds/arena.wbt\n"
                "  talus check --quiet worlds/*.wbt protos/*.proto\n"
                "  talus check .\n"
                "  talus check --json model/robot.body | python3 -m json.tool",
    .options = check_options,
    .option_count = COUNT_OF(check_options),
    .run = run_check,
};
