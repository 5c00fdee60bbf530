// sweep_internal.h - the struct behind a Sweep, for the files of this folder alone.
#ifndef TALUS_MANY_SWEEP_INTERNAL_H
#define TALUS_MANY_SWEEP_INTERNAL_H

#include "many/sweep.h"

#include "base/arena.h"
#include "talus/talus.h"

typedef struct SweepParameter {
    const char *path;
    double *values;
    int count;
} SweepParameter;

typedef enum SweepOf { SWEEP_LAST, SWEEP_FIRST, SWEEP_MIN, SWEEP_MAX, SWEEP_MEAN, SWEEP_SUM } SweepOf;

typedef struct SweepMeasure {
    const char *name;
    const char *item;
    int index;  // of the item's numbers
    SweepOf of;
} SweepMeasure;

typedef struct SweepStop {
    const char *item;
    int index;  // of the item's numbers, -1: each of them
    double low, high;
} SweepStop;

typedef struct SweepCommand {
    const char *item;
    double value;
} SweepCommand;

struct Sweep {
    Arena *arena;
    const char **worlds;  // paths from where the program stands
    TalusWorld **loaded;  // NULL: not yet
    int world_count;
    SweepParameter *parameters;
    int parameter_count;
    uint64_t *seeds;
    int seed_count;
    SweepMeasure *measures;
    int measure_count;
    SweepStop *stops;
    int stop_count;
    SweepCommand *commands;
    int command_count;
    uint64_t steps;  // 0: `time` says
    double time, timeout;
    bool runs_controllers, runs_plugin;
    const char *output;
    const char *plot_parameter, *plot_measure;  // NULL: the first of each
    int row_count;
    uint64_t hash;
};

// A file that is made of all rows.
typedef struct SweepFile {
    const char *ending;
    void (*write)(const Sweep *sweep, const SweepResult *results, Text *out);
    size_t size_max;  // what its format can hold
} SweepFile;
enum { SWEEP_FILES = 3 };
extern const SweepFile sweep_files[SWEEP_FILES];

// What makes a row.
typedef struct SweepRow {
    int world;
    int seed;
    int values[64];  // index of each parameter's value
} SweepRow;
SweepRow sweep_row(const Sweep *sweep, int row);
enum { SWEEP_PARAMETERS = 64, SWEEP_ITEMS = 256 };  // of measures, stops and commands each

#endif
