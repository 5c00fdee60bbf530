// A recording is read as bytes from a stranger: whatever they are, every block is read or left out, and every export is
// written or refused.
#include "recording_fuzz.h"
#include "record/export.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = recording_fuzz_copy(data, size);
    Limits limits = limits_untrusted;
    limits.file_bytes = 1 << 20;
    limits.bodies = 10000;
    DiagSink *diags = diag_create();
    Recording *recording = recording_open_bytes("fuzz", copy, size, &limits, diags);
    if (!recording && !diag_has_errors(diags))
        abort();
    if (recording) {
        Text block = { 0 };
        for (int i = 0; i < recording_block_count(recording); i++)
            recording_read(recording, i, &block);
        text_free(&block);
        bool (*const write[])(Recording *, const char *, const ExportOptions *, DiagSink *) = { export_csv, export_mcap,
                                                                                                export_glb };
        for (int i = 0; i < COUNT_OF(write); i++)
            write[i](recording, "/dev/null", &(ExportOptions){ 0 }, diags);
    }
    recording_close(recording);
    diag_destroy(diags);
    free(copy);
    return 0;
}
