// sweep.h - worlds times parameters times seeds: what a sweep file asks for, one row of it run, and all rows as files.
// Belongs here: the file's words, the order of rows, running one, the journal, tables and plots. Not here: processes
// and their pipes (app/sweep.c), MPI (mpi/).
//
// Rows are numbered from 0: worlds outermost, then parameters in the file's order, the last one fastest, seeds
// innermost. A row depends on its number alone, so who runs it and when changes nothing.
#ifndef TALUS_MANY_SWEEP_H
#define TALUS_MANY_SWEEP_H

#include "base/diag.h"
#include "base/text.h"

typedef struct Sweep Sweep;

typedef enum SweepStatus {
    SWEEP_OK,       // ran to its end
    SWEEP_STOPPED,  // a stop condition held
    SWEEP_FAILED,   // its state became not finite, or a controller or the plugin ended it
    SWEEP_REFUSED,  // a parameter or the world was refused
    SWEEP_CRASHED,  // the process that ran it died
    SWEEP_TIMEOUT,  // it took longer than the file allows
    SWEEP_STATUS_COUNT
} SweepStatus;
const char *sweep_status_name(SweepStatus status);

// What became of a row. Texts are the arena's of whoever made it.
typedef struct SweepResult {
    int row;
    SweepStatus status;
    char reason[256];
    uint64_t steps;
    double time;
    double *values;  // one for each measure; NaN: nothing was measured
} SweepResult;

// NULL when the file is no sweep; the sink says why.
Sweep *sweep_load(const char *path, DiagSink *diags);
void sweep_destroy(Sweep *sweep);  // NULL is fine
int sweep_row_count(const Sweep *sweep);
double sweep_timeout(const Sweep *sweep);                     // s for one row, 0: none
const char *sweep_output(const Sweep *sweep);                 // path without an ending, from where the program stands
uint64_t sweep_hash(const Sweep *sweep);                      // of all that decides what the rows are
void sweep_describe(const Sweep *sweep, int row, Text *out);  // "a.wbt mass=2 seed=3"

SweepResult sweep_result_create(const Sweep *sweep, int row);
void sweep_result_free(SweepResult *result);
// Runs one row in this process. The worlds that rows begin with are kept for the next ones.
void sweep_run_row(Sweep *sweep, SweepResult *result);

// A result as one line of text, and back. False: it is no such line.
void sweep_write_line(const Sweep *sweep, const SweepResult *result, Text *out);
bool sweep_read_line(const Sweep *sweep, const char *line, SweepResult *result);

// All rows, in their order, as OUTPUT.csv, OUTPUT.npz and OUTPUT.svg. False: reported.
bool sweep_write_files(const Sweep *sweep, const SweepResult *results, DiagSink *diags);
void sweep_write_summary(const Sweep *sweep, const SweepResult *results, Text *out);

#endif
