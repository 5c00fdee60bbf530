// Weak stand-ins so that everything links until each part is there. Whoever adds the real one deletes its stand-in here:
// in a static library the linker is content with a weak definition and never looks for the strong one.
#include "formats/formats_internal.h"

#define WEAK __attribute__((weak))

WEAK bool body_read_scene(Scene *scene, const char *name, const char *text, size_t size, const FormatsOptions *options,
                          DiagSink *diags)
{
    (void)scene; (void)text; (void)size; (void)options;
    diag_error(diags, (SourcePos){ .file = diag_file(diags, name) }, "bodies cannot be read yet");
    return false;
}
