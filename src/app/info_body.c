// info_body.c - `talus info` of a body: its tree of links for people, its tables for programs.
#include "app/app.h"

#include "base/file.h"
#include "formats/body/body.h"

#include <string.h>
#include <strings.h>

bool info_is_body(const char *path) { return !strcasecmp(path_extension(path), ".body"); }

int info_body(const char *path, const char *csv, const Limits *limits)
{
    assert_debug(info_is_body(path));
    DiagSink *diags = diag_create();
    BodyOptions options = { .limits = limits, .is_untrusted = limits->is_untrusted };
    BodyModel *model = body_load(path, &options, diags);
    Text out = { 0 };
    if (model && csv) {
        BodyCsv kind = !strcmp(csv, "links")     ? BODY_CSV_LINKS
                       : !strcmp(csv, "devices") ? BODY_CSV_DEVICES
                                                 : BODY_CSV_SUMMARY;
        body_write_csv(model, kind, path, true, &out);
    } else if (model) {
        body_write_tree(model, &out);
        text_printf(&out, "%d errors, %d warnings%s\n", diag_total(diags, DIAG_ERROR), diag_total(diags, DIAG_WARNING),
                    diag_count(diags) ? " (talus check lists them)" : "");
    }
    app_print(&out);
    diag_print(diags, stderr, 0, DIAG_ERROR);
    int status = model && !diag_has_errors(diags) ? EXIT_OK : EXIT_INPUT;
    body_destroy(model);
    diag_destroy(diags);
    return status;
}
