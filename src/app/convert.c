// convert.c - `talus convert`: reads one format and writes another, or the same one in its newest form.
#include "app/app.h"

#include "base/file.h"
#include "formats/body.h"
#include "formats/formats.h"

#include <stdio.h>
#include <string.h>

typedef struct ConvertOptions {
    const char *to;
    bool quiet;
    bool untrusted;
} ConvertOptions;

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
    DiagSink *diags = diag_create();
    FormatsOptions load = { .limits = options.untrusted ? &limits_untrusted : NULL };
    bool is_body;
    bool ok = body_convert(argv[1], argv[2], &load, diags, &is_body) && !diag_has_errors(diags);
    if (!is_body) {
        Scene *scene = formats_load(argv[1], &load, diags);
        ok = scene && !diag_has_errors(diags);
        if (scene)
            ok = formats_save(scene, argv[2], diags) && ok;
        scene_destroy(scene);
    }
    diag_print(diags, stderr, 0, options.quiet ? DIAG_ERROR : DIAG_NOTE);
    diag_destroy(diags);
    return ok ? EXIT_OK : EXIT_INPUT;
}

static const AppOption convert_options[] = {
    { "to", OPTION_STRING, offsetof(ConvertOptions, to), "RELEASE", "release to write (R2025a)" },
    { "quiet|q", OPTION_FLAG, offsetof(ConvertOptions, quiet), NULL, "print errors alone" },
    { "untrusted", OPTION_FLAG, offsetof(ConvertOptions, untrusted), NULL, "lower limits, for files from strangers" },
};
const AppCommand command_convert = {
    .name = "convert", .arguments = "IN OUT [--to RELEASE]", .summary = "write a file in the newest form or in another format",
    .details = "The format of OUT follows its ending. Old worlds are written as their modern equivalent; what the target cannot\n"
               "express is listed. OUT is written whole or not at all.",
    .examples = "  talus convert old.wbt new.wbt --to R2025a\n  talus convert object.wbo object.wbt\n"
                "  talus convert robot.body Robot.proto\n  talus convert arena.wbt arena.body",
    .options = convert_options, .option_count = COUNT_OF(convert_options), .run = run_convert,
};
