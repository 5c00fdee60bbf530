// convert.c - `talus convert`: reads one format and writes another, or the same one in its newest form.
#include "app/app.h"

#include "base/file.h"
#include "control/control.h"
#include "formats/body/body.h"
#include "formats/formats.h"
#include "record/glb.h"
#include "sim/sim.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef struct ConvertOptions {
    const char *to;
    bool quiet, json;
    bool untrusted;
    const char *limits;
} ConvertOptions;

static bool ends_with(const char *path, const char *ending) { return !strcasecmp(path_extension(path), ending); }

static bool can_write(const char *path)
{
    static const char *const endings[] = { ".wbt", ".wbo", ".proto", ".body", ".urdf", ".glb" };
    for (int i = 0; i < COUNT_OF(endings); i++)
        if (ends_with(path, endings[i]))
            return true;
    return false;
}

static bool are_same_file(const char *a, const char *b)
{
    Arena *arena = arena_create();
    const char *first = path_real(arena, a), *second = path_real(arena, b);
    bool are_same = first && second && !strcmp(first, second);
    arena_destroy(arena);
    return are_same;
}

static const SceneNode *find_robot(const SceneNode *node)
{
    const FieldList *children = scene_list(node, "children");
    for (int i = 0; i < children->count; i++) {
        const SceneNode *child = scene_list_node(children, i);
        const SceneNode *found = !child                                                            ? NULL
                                 : scene_node_is(child, "Robot")                                   ? child
                                 : scene_node_is(child, "Group") && !scene_node_is(child, "Solid") ? find_robot(child)
                                                                                                   : NULL;
        if (found)
            return found;
    }
    return NULL;
}

// The first robot as URDF, with masses as the simulation has them.
static bool save_urdf(const char *from, const char *to, const FormatsOptions *load, DiagSink *diags)
{
    SimOptions options = { .formats = *load, .physics.limits = load->limits };
    Sim *sim = sim_load(from, &options, diags);
    const SceneNode *robot = sim ? find_robot(scene_root(sim_scene(sim))) : NULL;
    bool ok = robot != NULL;
    if (sim && !robot)
        diag_error(diags, (SourcePos){ 0 }, "there is no Robot in %s to write as URDF", from);
    if (ok) {
        Text text = { 0 };
        control_write_urdf(sim_physics(sim), robot, "", &text);
        ok = file_write_atomic(to, text.data, text.length, diags);
        text_free(&text);
    }
    sim_destroy(sim);
    return ok;
}

// What is seen of it, as glTF.
static bool save_glb(const char *from, const char *to, const FormatsOptions *load, DiagSink *diags)
{
    SimOptions options = { .formats = *load, .physics.limits = load->limits };
    Sim *sim = sim_load(from, &options, diags);
    if (!sim)
        return false;
    Text file = { 0 };
    glb_write(sim, NULL, &file);
    bool ok = file_write_atomic(to, file.data, file.length, diags);
    text_free(&file);
    sim_destroy(sim);
    return ok;
}

// What is written must be read back without a mistake that the input does not have.
static bool reads_back(const char *to, const Text *text, int errors_before, DiagSink *diags)
{
    assert(to && errors_before >= 0);
    DiagSink *again = diag_create();
    Scene *scene = formats_load_text(to, text->data, text->length, NULL, again);
    bool is_read = scene && diag_total(again, DIAG_ERROR) <= errors_before;
    const char *why = "";
    for (int i = 0; !is_read && i < diag_count(again) && !*why; i++)
        if (diag_at(again, i)->severity == DIAG_ERROR)
            why = diag_at(again, i)->message;
    if (!is_read)
        diag_error(diags, (SourcePos){ 0 }, "'%s' is not written: it could not be read back (%s)", to, why);
    scene_destroy(scene);
    diag_destroy(again);
    return is_read;
}

static bool save_scene(const char *from, const char *to, const FormatsOptions *load, DiagSink *diags)
{
    Scene *scene = formats_load(from, load, diags);
    if (!scene)
        return false;
    Text text = { 0 };
    formats_write(scene, &text);
    bool ok = reads_back(to, &text, diag_total(diags, DIAG_ERROR), diags)
              && file_write_atomic(to, text.data ? text.data : "", text.length, diags);
    text_free(&text);
    scene_destroy(scene);
    return ok;
}

// The endings decide: models for other programs have writers of their own, bodies go both ways, and all else is one
// scene that is written as its ending says.
static int run_convert(const AppCommand *command, int argc, char **argv)
{
    ConvertOptions options = { .to = "R2025a" };
    int files;
    int status = app_parse(command, argc, argv, &options, &files);
    if (status >= 0)
        return status;
    if (files != 2)
        return app_usage_error(command, "an input and an output file, please");
    if (schema_release(options.to, strlen(options.to)) != schema_release("R2025a", 6))
        return app_usage_error(command, "only R2025a can be written, not '%s'", options.to);
    if (!can_write(argv[2]))
        return app_usage_error(
            command, "'%s' has an ending that names no format; written are .wbt, .wbo, .proto, .body, .urdf and .glb",
            argv[2]);
    if (are_same_file(argv[1], argv[2]))
        return app_usage_error(command, "'%s' and '%s' are the same file, which would be lost", argv[1], argv[2]);
    Limits limits;
    status = app_take_limits(command, options.untrusted, options.limits, &limits, NULL);
    if (status >= 0)
        return status;
    DiagSink *diags = diag_create();
    FormatsOptions load = { .limits = &limits };
    bool is_body = false, ok;
    if (ends_with(argv[2], ".urdf"))
        ok = save_urdf(argv[1], argv[2], &load, diags);
    else if (ends_with(argv[2], ".glb"))
        ok = save_glb(argv[1], argv[2], &load, diags);
    else
        ok = body_convert(argv[1], argv[2], &load, diags, &is_body)
             || (!is_body && save_scene(argv[1], argv[2], &load, diags));
    ok = ok && !diag_has_errors(diags);
    diag_print(diags, stderr, 0, options.quiet ? DIAG_ERROR : DIAG_NOTE);
    if (options.json)
        app_print_outcome(argv[1], argv[2], ok, diags);
    status = ok ? EXIT_OK : diag_has_output_errors(diags) ? EXIT_SIMULATION : EXIT_INPUT;
    diag_destroy(diags);
    return status;
}

static const AppOption convert_options[] = {
    { "to", OPTION_STRING, offsetof(ConvertOptions, to), "RELEASE", "release to write (R2025a)" },
    { "quiet|q", OPTION_FLAG, offsetof(ConvertOptions, quiet), NULL, "print errors alone" },
    { "json", OPTION_FLAG, offsetof(ConvertOptions, json), NULL, "print what became of it as one JSON object" },
    { "untrusted", OPTION_FLAG, offsetof(ConvertOptions, untrusted), NULL, "lower limits, for files from strangers" },
    { "limits", OPTION_STRING, offsetof(ConvertOptions, limits), "NAME=N,...", APP_LIMITS_HELP },
};
const AppCommand command_convert = {
    .name = "convert",
    .arguments = "IN OUT [--to RELEASE]",
    .summary = "write a file in the newest form or in another format",
    .details =
        "The format of OUT follows its ending. Old worlds are written as their modern equivalent; what the target cannot\n"
        "express is listed. OUT is written whole or not at all.",
    .examples =
        "  talus convert old.wbt new.wbt --to R2025a\n  talus convert object.wbo object.wbt\n"
        "  talus convert robot.body Robot.proto\n  talus convert arena.wbt arena.body\n  talus convert robot.wbt robot.urdf\n  talus convert world.wbt world.glb",
    .options = convert_options,
    .option_count = COUNT_OF(convert_options),
    .run = run_convert,
};
