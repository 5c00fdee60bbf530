// sweep.c - the words of a sweep file, and which rows it makes.
#include "many/sweep_internal.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "formats/yaml/yaml.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 10000000, MAX_VALUES = 100000, MAX_NAME_BYTES = 255 };
#define MAX_TIME 1e9  // s of simulation: thirty years

typedef struct SweepReader {
    Sweep *sweep;
    DiagSink *diags;
    bool is_fine;
} SweepReader;

static void refuse(SweepReader *reader, const YamlNode *node, const char *what)
{
    assert(what && *what);
    diag_error(reader->diags, node ? node->pos : (SourcePos){ 0 }, "%s", what);
    reader->is_fine = false;
}

static const char *text_of(SweepReader *reader, const YamlNode *node, const char *what)
{
    if (yaml_is_scalar(node) && *node->text)
        return arena_string(reader->sweep->arena, node->text);
    refuse(reader, node, what);
    return "";
}

static double number_of(SweepReader *reader, const YamlNode *node, const char *what)
{
    double value = 0.0;
    if (!yaml_double(node, &value))
        refuse(reader, node, what);
    return value;
}

// ---- worlds and seeds ----

static void read_worlds(SweepReader *reader, const YamlNode *node, const char *folder)
{
    Sweep *sweep = reader->sweep;
    sweep->world_count = yaml_is_list(node) ? node->count : 1;
    sweep->worlds = arena_alloc_array(sweep->arena, (size_t)sweep->world_count + 1, sizeof *sweep->worlds);
    for (int i = 0; i < sweep->world_count; i++) {
        const char *name = text_of(reader, yaml_is_list(node) ? node->items[i] : node, "a world is the path of a file");
        sweep->worlds[i] = !strcmp(folder, ".") ? name : path_join(sweep->arena, folder, name);
    }
    assert(sweep->world_count >= 0);
    if (sweep->world_count == 0)
        refuse(reader, node, "the list of worlds is empty");
}

static void read_seeds(SweepReader *reader, const YamlNode *node)
{
    Sweep *sweep = reader->sweep;
    int first = 0, count = yaml_is_list(node) ? node->count : 1;
    bool is_range = yaml_is_map(node);
    if (is_range && (!yaml_int(yaml_get(node, "count"), &count) || count < 1 || count > MAX_VALUES))
        refuse(reader, node, "seeds are a list, or { first: 1, count: 10 }");
    if (is_range && yaml_get(node, "first") && !yaml_int(yaml_get(node, "first"), &first))
        refuse(reader, node, "the first seed is a whole number");
    if (is_range && first > INT32_MAX - MAX_VALUES)
        refuse(reader, node, "the first seed is too large");
    if (!reader->is_fine)
        return;
    if (count == 0)
        refuse(reader, node, "the list of seeds is empty");
    assert(count >= 0 && first <= INT32_MAX - count);
    sweep->seed_count = count;
    sweep->seeds = arena_alloc_array(sweep->arena, (size_t)count + 1, sizeof *sweep->seeds);
    for (int i = 0; i < count; i++) {
        int seed = first + i;
        if (!is_range && node && !yaml_int(yaml_is_list(node) ? node->items[i] : node, &seed))
            refuse(reader, node, "a seed is a whole number");
        if (seed < 0)
            refuse(reader, node, "a seed is not negative");
        sweep->seeds[i] = (uint64_t)seed;
    }
}

// ---- parameters ----

// { from: 1, to: 10, count: 4, scale: log }
static void read_range(SweepReader *reader, const YamlNode *node, SweepParameter *parameter)
{
    const char *usage = "values are a number, a list of them, or { from: 1, to: 10, count: 4, scale: linear|log }";
    double from = number_of(reader, yaml_get(node, "from"), usage), to = number_of(reader, yaml_get(node, "to"), usage);
    const YamlNode *scale = yaml_get(node, "scale");
    bool is_log = yaml_is_scalar(scale) && !strcmp(scale->text, "log");
    int count = 0;
    if (!yaml_int(yaml_get(node, "count"), &count) || count < 1 || count > MAX_VALUES)
        refuse(reader, node, usage);
    if (scale && !is_log && strcmp(scale->text, "linear"))
        refuse(reader, scale, usage);
    if (is_log && !(from > 0.0 && to > 0.0))
        refuse(reader, node, "a range with a logarithmic scale is positive");
    if (!reader->is_fine)
        return;
    assert(count >= 1 && (!is_log || (from > 0.0 && to > 0.0)));
    parameter->count = count;
    parameter->values = arena_alloc_array(reader->sweep->arena, (size_t)count, sizeof *parameter->values);
    for (int i = 0; i < count; i++) {
        double share = count > 1 ? (double)i / (count - 1) : 0.0;
        parameter->values[i] = is_log ? from * pow(to / from, share) : from + share * (to - from);
    }
}

// The values of a parameter are a number, a list of them, or a range.
static void read_parameters(SweepReader *reader, const YamlNode *node)
{
    Sweep *sweep = reader->sweep;
    if (!node)
        return;
    if (!yaml_is_map(node) || node->count > SWEEP_PARAMETERS) {
        refuse(reader, node, "parameters are paths of fields with their values, 64 of them at most");
        return;
    }
    sweep->parameters = arena_alloc_array(sweep->arena, (size_t)node->count, sizeof *sweep->parameters);
    for (int i = 0; i < node->count && reader->is_fine; i++) {
        const YamlNode *values = node->pairs[i].value;
        assert(sweep->parameter_count < SWEEP_PARAMETERS);
        SweepParameter *parameter = &sweep->parameters[sweep->parameter_count++];
        parameter->path = arena_string(sweep->arena, node->pairs[i].key);
        if (yaml_is_map(values)) {
            read_range(reader, values, parameter);
            continue;
        }
        parameter->count = yaml_is_list(values) ? values->count : 1;
        parameter->values = arena_alloc_array(sweep->arena, (size_t)parameter->count + 1, sizeof *parameter->values);
        for (int k = 0; k < parameter->count; k++)
            parameter->values[k] = number_of(reader, yaml_is_list(values) ? values->items[k] : values,
                                             "the value of a parameter is a number");
        if (parameter->count == 0)
            refuse(reader, values, "a parameter has one value at least");
    }
}

// ---- measures, stops, commands ----

// "position BALL[2]": the item without its index, which stays as it is when there is none.
static const char *split_index(SweepReader *reader, const YamlNode *node, const char *text, int *index)
{
    const char *bracket = strrchr(text, '[');
    if (!bracket)
        return text;
    char *end;
    long value = strtol(bracket + 1, &end, 10);
    if (end == bracket + 1 || strcmp(end, "]") || value < 0 || value > INT32_MAX)
        refuse(reader, node, "the index of a number is [0], [1], ...");
    *index = (int)value;
    return arena_text(reader->sweep->arena, text, (size_t)(bracket - text));
}

// Each is a word for what is kept of the number over the run, and the item that it is read from.
static void read_measures(SweepReader *reader, const YamlNode *node)
{
    static const char *const words[] = { [SWEEP_LAST] = "last", [SWEEP_FIRST] = "first", [SWEEP_MIN] = "min",
                                         [SWEEP_MAX] = "max",   [SWEEP_MEAN] = "mean",   [SWEEP_SUM] = "sum" };
    Sweep *sweep = reader->sweep;
    if (!yaml_is_map(node) || node->count == 0 || node->count > SWEEP_ITEMS) {
        refuse(reader, node,
               "measures are names with what is measured, 256 of them at most: height: max position BALL[2]");
        return;
    }
    sweep->measures = arena_alloc_array(sweep->arena, (size_t)node->count, sizeof *sweep->measures);
    for (int i = 0; i < node->count; i++) {
        const YamlNode *value = node->pairs[i].value;
        const char *text = text_of(reader, value, "a measure is written as: max position BALL[2]");
        SweepMeasure *measure = &sweep->measures[sweep->measure_count++];
        size_t length = strcspn(text, " ");
        int of = COUNT_OF(words) - 1;
        while (of >= 0 && (strlen(words[of]) != length || strncmp(words[of], text, length)))
            of--;
        if (of < 0)
            refuse(reader, value, "a measure begins with last, first, min, max, mean or sum");
        assert_debug(sweep->measure_count <= node->count);
        if (strlen(node->pairs[i].key) > MAX_NAME_BYTES)
            refuse(reader, value, "the name of a measure has at most 255 bytes");
        measure->name = arena_string(sweep->arena, node->pairs[i].key);
        measure->of = of < 0 ? SWEEP_LAST : (SweepOf)of;
        measure->index = 0;
        measure->item = split_index(reader, value, text + length + strspn(text + length, " "), &measure->index);
    }
}

static void read_stops(SweepReader *reader, const YamlNode *node)
{
    Sweep *sweep = reader->sweep;
    if (node && (!yaml_is_map(node) || node->count > SWEEP_ITEMS))
        refuse(reader, node, "stop conditions are items with a range, 256 of them at most: position BALL: [-1, 5]");
    sweep->stops = arena_alloc_array(sweep->arena, yaml_is_map(node) ? (size_t)node->count : 1, sizeof *sweep->stops);
    for (int i = 0; yaml_is_map(node) && i < node->count; i++) {
        const YamlNode *range = node->pairs[i].value;
        SweepStop *stop = &sweep->stops[sweep->stop_count++];
        stop->index = -1;
        stop->item = split_index(reader, range, arena_string(sweep->arena, node->pairs[i].key), &stop->index);
        if (!yaml_is_list(range) || range->count != 2 || !yaml_double(range->items[0], &stop->low)
            || !yaml_double(range->items[1], &stop->high) || stop->low > stop->high)
            refuse(reader, range, "a stop condition has a range of two numbers, [low, high]");
    }
}

static void read_commands(SweepReader *reader, const YamlNode *node)
{
    Sweep *sweep = reader->sweep;
    if (node && (!yaml_is_map(node) || node->count > SWEEP_ITEMS))
        refuse(reader, node,
               "commands are items that can be written, with a number, 256 of them at most: motor_velocity *: 3");
    sweep->commands = arena_alloc_array(sweep->arena, yaml_is_map(node) ? (size_t)node->count : 1,
                                        sizeof *sweep->commands);
    for (int i = 0; yaml_is_map(node) && i < node->count; i++)
        sweep->commands[sweep->command_count++] = (SweepCommand){ arena_string(sweep->arena, node->pairs[i].key),
                                                                  number_of(reader, node->pairs[i].value,
                                                                            "a command is a number") };
}

// ---- the file ----

static void read_end(SweepReader *reader, const YamlNode *root)
{
    Sweep *sweep = reader->sweep;
    const YamlNode *steps = yaml_get(root, "steps"), *time = yaml_get(root, "time");
    int count = 0;
    if ((steps != NULL) == (time != NULL))
        refuse(reader, root, "a sweep has either steps or time (in s of simulation) for each row");
    if (steps && (!yaml_int(steps, &count) || count < 1))
        refuse(reader, steps, "steps are a positive whole number");
    sweep->steps = (uint64_t)count;
    if (time && (!yaml_double(time, &sweep->time) || !(sweep->time > 0.0) || sweep->time > MAX_TIME))
        refuse(reader, time, "time is a positive number of s, 1e9 at most");
    const YamlNode *timeout = yaml_get(root, "timeout");
    if (timeout && (!yaml_double(timeout, &sweep->timeout) || !(sweep->timeout > 0.0)))
        refuse(reader, timeout, "timeout is a positive number of s");
}

static void read_switch(SweepReader *reader, const YamlNode *root, const char *key, bool *to)
{
    const YamlNode *node = yaml_get(root, key);
    if (node && !yaml_bool(node, to))
        refuse(reader, node, "yes or no");
}

static void refuse_unknown(SweepReader *reader, const YamlNode *root)
{
    static const char *const known[] = { "world", "worlds",  "parameters", "seeds",      "steps",
                                         "time",  "stop",    "measures",   "commands",   "output",
                                         "plot",  "timeout", "plugin",     "controllers" };
    for (int i = 0; i < root->count; i++) {
        bool is_known = false;
        for (int k = 0; k < COUNT_OF(known); k++)
            is_known = is_known || !strcmp(root->pairs[i].key, known[k]);
        if (is_known)
            continue;
        diag_error(reader->diags, root->pairs[i].pos, "a sweep has no '%s'", root->pairs[i].key);
        reader->is_fine = false;
    }
}

static void count_rows(SweepReader *reader)
{
    Sweep *sweep = reader->sweep;
    assert(sweep->world_count >= 1 && sweep->seed_count >= 1);
    int64_t rows = (int64_t)sweep->world_count * sweep->seed_count;
    for (int i = 0; i < sweep->parameter_count && rows <= MAX_ROWS; i++)
        rows *= sweep->parameters[i].count;
    if (rows > MAX_ROWS)
        refuse(reader, NULL, "the sweep has more than ten million rows");
    sweep->row_count = rows > MAX_ROWS ? 0 : (int)rows;
}

// All words of the file, so that every mistake in it is told at once; paths in it are seen from its folder.
static void read_sweep(SweepReader *reader, const char *path, const YamlNode *root)
{
    Sweep *sweep = reader->sweep;
    if (!yaml_is_map(root)) {
        refuse(reader, root, "a sweep is a map: world, parameters, seeds, steps, measures");
        return;
    }
    refuse_unknown(reader, root);
    const YamlNode *worlds = yaml_get(root, "worlds"), *world = yaml_get(root, "world");
    if ((worlds != NULL) == (world != NULL))
        refuse(reader, root, "a sweep has either a world or a list of worlds");
    else
        read_worlds(reader, worlds ? worlds : world, path_directory(sweep->arena, path));
    read_parameters(reader, yaml_get(root, "parameters"));
    read_seeds(reader, yaml_get(root, "seeds"));
    read_end(reader, root);
    read_measures(reader, yaml_get(root, "measures"));
    read_stops(reader, yaml_get(root, "stop"));
    read_commands(reader, yaml_get(root, "commands"));
    read_switch(reader, root, "controllers", &sweep->runs_controllers);
    read_switch(reader, root, "plugin", &sweep->runs_plugin);
    const YamlNode *output = yaml_get(root, "output"), *plot = yaml_get(root, "plot");
    assert(strlen(path_extension(path)) <= strlen(path));
    size_t length = strlen(path) - strlen(path_extension(path));
    const char *own = arena_text(sweep->arena, path, length);
    const char *given = output ? text_of(reader, output, "output is the path of a file, without its ending") : own;
    const char *folder = path_directory(sweep->arena, path);
    sweep->output = !output || !strcmp(folder, ".") ? given : path_join(sweep->arena, folder, given);
    if (plot) {
        sweep->plot_parameter = yaml_get(plot, "x") ? text_of(reader, yaml_get(plot, "x"), "x is a parameter") : NULL;
        sweep->plot_measure = yaml_get(plot, "y") ? text_of(reader, yaml_get(plot, "y"), "y is a measure") : NULL;
    }
    if (reader->is_fine)
        count_rows(reader);
}

Sweep *sweep_load(const char *path, DiagSink *diags)
{
    FileData file;
    if (!file_read(path, (size_t)limits_default.file_bytes, &file, diags, (SourcePos){ 0 }))
        return NULL;
    Sweep *sweep = memory_alloc(sizeof *sweep);
    sweep->arena = arena_create();
    sweep->runs_controllers = sweep->runs_plugin = true;
    SweepReader reader = { sweep, diags, true };
    YamlDocument *document = yaml_parse(path, (const char *)file.data, file.size, NULL, diags);
    if (document)
        read_sweep(&reader, path, yaml_root(document));
    sweep->hash = hash_bytes(file.data, file.size, 0);
    bool is_fine = document && reader.is_fine;
    yaml_destroy(document);
    file_release(&file);
    if (!is_fine) {
        sweep_destroy(sweep);
        return NULL;
    }
    assert(sweep->row_count >= 1 && sweep->row_count <= MAX_ROWS);
    sweep->loaded = memory_alloc_array((size_t)sweep->world_count, sizeof *sweep->loaded);
    return sweep;
}

void sweep_destroy(Sweep *sweep)
{
    if (!sweep)
        return;
    for (int i = 0; sweep->loaded && i < sweep->world_count; i++)
        talus_free(sweep->loaded[i]);
    free(sweep->loaded);
    arena_destroy(sweep->arena);
    free(sweep);
}

int sweep_row_count(const Sweep *sweep) { return sweep->row_count; }
double sweep_timeout(const Sweep *sweep) { return sweep->timeout; }
const char *sweep_output(const Sweep *sweep) { return sweep->output; }
uint64_t sweep_hash(const Sweep *sweep) { return sweep->hash; }

SweepRow sweep_row(const Sweep *sweep, int row)
{
    assert(row >= 0 && row < sweep->row_count);
    SweepRow result;
    result.seed = row % sweep->seed_count;
    row /= sweep->seed_count;
    for (int i = sweep->parameter_count - 1; i >= 0; i--) {
        result.values[i] = row % sweep->parameters[i].count;
        row /= sweep->parameters[i].count;
    }
    assert(row < sweep->world_count);  // what is left of it
    result.world = row;
    return result;
}

void sweep_describe(const Sweep *sweep, int index, Text *out)
{
    SweepRow row = sweep_row(sweep, index);
    text_add_string(out, sweep->worlds[row.world]);
    for (int i = 0; i < sweep->parameter_count; i++)
        text_printf(out, " %s=%g", sweep->parameters[i].path, sweep->parameters[i].values[row.values[i]]);
    text_printf(out, " seed=%llu", (unsigned long long)sweep->seeds[row.seed]);
}
