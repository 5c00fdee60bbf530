// PROTO files without their templates. The input is the file that is opened; parts after a line "====" are A.proto,
// B.proto and C.proto beside it, so that PROTOs can use each other and themselves.
#include "base/file.h"
#include "formats/formats.h"
#include "formats/proto/proto.h"
#include "support/support.h"

#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char separator[] = "\n====\n";
static const char *const names[] = { "A.proto", "B.proto", "C.proto" };

static void write_part(const char *folder, int index, const char *text, size_t size)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, names[index]);
    FILE *file = fopen(path, "wb");
    if (!file)
        return;
    fwrite(text, 1, size, file);
    fclose(file);
}

// Returns the size of the first part; the others are written.
static size_t split(const char *folder, const char *text, size_t size)
{
    char path[600];
    for (int i = 0; i < COUNT_OF(names); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    const char *end = text + size;
    const char *next = memmem(text, size, separator, strlen(separator));
    size_t first = next ? (size_t)(next - text) : size;
    for (int i = 0; i < COUNT_OF(names) && next; i++) {
        const char *part = next + strlen(separator);
        next = memmem(part, (size_t)(end - part), separator, strlen(separator));
        write_part(folder, i, part, (size_t)((next ? next : end) - part));
    }
    return first;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char folder[512];
    if (!folder[0])
        snprintf(folder, sizeof folder, "%s", support_scratch("proto_fuzz"));
    Limits limits = limits_default;
    limits.nodes = 20000;
    limits.nesting = 64;
    limits.proto_depth = 16;
    char path[600];
    snprintf(path, sizeof path, "%s/P.proto", folder);
    size_t first = split(folder, (const char *)data, size);
    FormatsOptions options = { .limits = &limits, .without_templates = true };
    DiagSink *diags = diag_create();
    Scene *scene = formats_load_text(path, (const char *)data, first, &options, diags);
    if (scene) {
        Text text = { 0 };
        formats_write(scene, &text);
        text_free(&text);
        const FieldList *children = scene_list(scene_root(scene), "children");
        if (children->count > 0 && children->nodes[0])
            proto_regenerate(scene, children->nodes[0], diags);
    }
    scene_destroy(scene);
    diag_destroy(diags);
    return 0;
}
