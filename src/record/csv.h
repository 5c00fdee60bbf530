// csv.h - a run as a table of numbers: one row per step, first the state at the start.
// Columns: time (s); S.x S.y S.z S.qw S.qx S.qy S.qz S.vx S.vy S.vz S.wx S.wy S.wz of every solid's origin in the world
// frame; S.position S.velocity (S.position2 ...) of every joint axis, S being its end point. Numbers read back exactly.
#ifndef TALUS_RECORD_CSV_H
#define TALUS_RECORD_CSV_H

#include "base/text.h"
#include "sim/sim.h"

typedef struct CsvRecorder CsvRecorder;

typedef struct CsvOptions {
    const char *columns;  // globs separated by commas; NULL: all. `time` is always there.
    int every;            // rows only of every N-th step; 0: every one
} CsvOptions;

// Writes the first row and hooks into the simulation. NULL when the file cannot be made (reported).
CsvRecorder *csv_open(Sim *sim, const char *path, const CsvOptions *options);
// Whether a column of that name is among the globs; and a name as a field of the first row, with its comma in front.
bool csv_is_chosen(const char *name, const char *globs);
void csv_add_name(Text *row, const char *name);
bool csv_close(CsvRecorder *recorder);  // false when something could not be written (reported); NULL is fine

#endif
