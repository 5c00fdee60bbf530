// check.c - `talus check`: diagnoses files without running any code that they name.
#include "app/app.h"

#include "base/json.h"
#include "formats/formats.h"

#include <stdio.h>

typedef struct CheckOptions {
    bool quiet;
    bool json;
    bool untrusted;
    bool strict;
} CheckOptions;

static void write_json(JsonWriter *json, const char *path, const Scene *scene, const DiagSink *diags)
{
    char release[24];
    json_begin_object(json, NULL);
    json_string(json, "file", path);
    json_string(json, "version", scene && scene_release(scene) ? schema_release_name(scene_release(scene), release) : NULL);
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
    printf("%s: ", path);
    if (scene && scene_release(scene))
        printf("%s, ", schema_release_name(scene_release(scene), release));
    if (scene)
        printf("%d nodes, ", scene_node_count(scene));
    printf("%d errors, %d warnings\n", diag_total(diags, DIAG_ERROR), diag_total(diags, DIAG_WARNING));
}

static bool check_file(const char *path, const CheckOptions *options, JsonWriter *json)
{
    DiagSink *diags = diag_create();
    FormatsOptions load = { .limits = options->untrusted ? &limits_untrusted : NULL };
    Scene *scene = formats_load(path, &load, diags);
    if (options->json) {
        write_json(json, path, scene, diags);
    } else {
        diag_print(diags, stdout, 0, options->quiet ? DIAG_ERROR : DIAG_NOTE);
        if (!options->quiet)
            print_summary(path, scene, diags);
    }
    bool ok = scene && !diag_has_errors(diags) && !(options->strict && diag_total(diags, DIAG_WARNING));
    scene_destroy(scene);
    diag_destroy(diags);
    return ok;
}

static int run_check(const AppCommand *command, int argc, char **argv)
{
    CheckOptions options = { 0 };
    int files;
    int status = app_parse(command, argc, argv, &options, &files);
    if (status >= 0)
        return status;
    if (files == 0)
        return app_usage_error(command, "which file?");
    Text out = { 0 };
    JsonWriter json = { .out = &out };
    if (options.json) {
        json_begin_object(&json, NULL);
        json_begin_array(&json, "files");
    }
    bool ok = true;
    for (int i = 1; i <= files; i++)
        ok = check_file(argv[i], &options, &json) && ok;
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
    { "untrusted", OPTION_FLAG, offsetof(CheckOptions, untrusted), NULL, "lower limits, for files from strangers" },
};
const AppCommand command_check = {
    .name = "check", .arguments = "FILE... [--quiet] [--json]",
    .summary = "diagnose worlds, PROTOs, bodies and meshes without running any code",
    .details = "Reads each file as `run` would, with its PROTOs, and prints what is wrong as file:line:column: severity: message.\n"
               "Exit code 0: no error (warnings are allowed), 3: some error.",
    .examples = "  talus check worlds/arena.wbt\n"
                "  talus check --quiet worlds/*.wbt protos/*.proto\n"
                "  talus check --json model/robot.body | python3 -m json.tool",
    .options = check_options, .option_count = COUNT_OF(check_options), .run = run_check,
};
