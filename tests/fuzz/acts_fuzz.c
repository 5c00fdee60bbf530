// Any bytes as a log of what people did in the window: refused with the lines that are no acts, or told act by act.
#include "viewer/viewer_internal.h"

#include "memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    DiagSink *diags = diag_create();
    MemoryFile file = memory_file_open(data, size);
    Journal *journal = journal_read(file.path, diags);
    for (uint64_t step = 0; journal && step < 64; step++) {
        const char *text;
        size_t length;
        journal_wants_snapshot(journal, step, 0);
        while (journal_next(journal, step, &text, &length))
            assert(length > 0 && text[length] == '\0');
    }
    if (journal)
        journal_has_more(journal);
    else
        assert(diag_has_errors(diags));
    journal_destroy(journal);
    memory_file_close(&file);
    diag_destroy(diags);
    return 0;
}
