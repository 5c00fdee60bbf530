// scene_fuzz.h - what the fuzz targets of scene files do with their bytes: load, save, and see that saving is a fixed
// point.
#ifndef TALUS_TESTS_SCENE_FUZZ_H
#define TALUS_TESTS_SCENE_FUZZ_H

#include "base/diag.h"
#include "formats/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Small limits keep each run short, and their errors within reach.
static inline Limits scene_fuzz_limits(void)
{
    Limits limits = limits_untrusted;
    limits.nodes = 20000;
    limits.string_bytes = 4096;
    limits.array_items = 20000;
    limits.nesting = 64;
    return limits;
}

static inline Text scene_fuzz_pass(const char *name, const char *text, size_t size)
{
    const Limits limits = scene_fuzz_limits();
    const FormatsOptions options = { .limits = &limits, .without_templates = true };
    DiagSink *diags = diag_create();
    Scene *scene = formats_load_text(name, text, size, &options, diags);
    Text out = { 0 };
    if (scene)
        formats_write(scene, &out);
    scene_destroy(scene);
    diag_destroy(diags);
    return out;
}

static inline int scene_fuzz_run(const char *name, const char *saved_name, const uint8_t *data, size_t size)
{
    Text once = scene_fuzz_pass(name, (const char *)data, size);
    if (once.data && saved_name) {
        Text twice = scene_fuzz_pass(saved_name, once.data, once.length);
        if (twice.length != once.length || memcmp(once.data, twice.data, once.length) != 0) {
            fprintf(stderr, "saving twice differs\n--- once\n%s\n--- twice\n%s\n", once.data,
                    twice.data ? twice.data : "");
            abort();
        }
        text_free(&twice);
    }
    text_free(&once);
    return 0;
}

#endif
