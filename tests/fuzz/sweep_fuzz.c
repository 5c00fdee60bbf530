// Any bytes as a sweep file and, behind a line "====", as what its journal has: rows that are said, and results that
// are read, written and read again as the same. No row runs: worlds have a target of their own.
#include "many/sweep_internal.h"

#include "memory_file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_line(const Sweep *sweep, const char *line, SweepResult *kept)
{
    SweepResult read = sweep_result_create(sweep, 0), again = sweep_result_create(sweep, 0);
    if (sweep_read_line(sweep, line, &read)) {
        Text written = { 0 }, twice = { 0 };
        assert(read.row >= 0 && read.row < sweep_row_count(sweep) && read.status < SWEEP_STATUS_COUNT);
        sweep_write_line(sweep, &read, &written);
        bool is_read = sweep_read_line(sweep, written.data, &again);
        assert(is_read);
        sweep_write_line(sweep, &again, &twice);
        assert(!strcmp(written.data, twice.data));
        text_free(&written);
        text_free(&twice);
        sweep_result_free(kept);
        *kept = read;
    } else {
        sweep_result_free(&read);
    }
    sweep_result_free(&again);
}

static void use(const Sweep *sweep, char *lines)
{
    enum { ROWS_MAX = 1000 };
    int rows = sweep_row_count(sweep);
    Text out = { 0 };
    sweep_describe(sweep, 0, &out);
    sweep_describe(sweep, rows - 1, &out);
    SweepResult kept = sweep_result_create(sweep, 0);
    for (char *line; lines && (line = strsep(&lines, "\n"));) {
        text_clear(&out);
        text_printf(&out, "%s\n", line);
        take_line(sweep, out.data, &kept);
    }
    if (rows <= ROWS_MAX) {
        SweepResult *results = malloc((size_t)rows * sizeof *results);
        for (int i = 0; i < rows; i++)
            results[i] = kept;
        sweep_write_summary(sweep, results, &out);
        for (int i = 0; i < SWEEP_FILES; i++) {
            Text table = { 0 };
            sweep_files[i].write(sweep, results, &table);
            text_free(&table);
        }
        free(results);
    }
    sweep_result_free(&kept);
    text_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char mark[] = "\n====\n";
    DiagSink *diags = diag_create();
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    char *journal = memmem(text, size, mark, strlen(mark));
    MemoryFile file = memory_file_open(text, journal ? (size_t)(journal - text) : size);
    Sweep *sweep = sweep_load(file.path, diags);
    if (sweep)
        use(sweep, journal ? journal + strlen(mark) : NULL);
    else
        assert(diag_has_errors(diags));
    sweep_destroy(sweep);
    memory_file_close(&file);
    free(text);
    diag_destroy(diags);
    return 0;
}
