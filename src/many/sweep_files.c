// sweep_files.c - the rows of a sweep as tables (.csv, .npz), as a plot (.svg) and in a few lines for people.
#include "many/sweep_internal.h"

#include "base/file.h"
#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static bool write_file(const Sweep *sweep, const char *ending, const Text *text, DiagSink *diags)
{
    assert(sweep->output && *ending == '.');
    char *path = arena_printf(sweep->arena, "%s%s", sweep->output, ending);
    return file_write_atomic(path, text->data, text->length, diags);
}

// ---- CSV ----

static void add_cell(Text *out, const char *text)
{
    if (!strpbrk(text, ",\"\n")) {
        text_add_string(out, text);
        return;
    }
    text_add_char(out, '"');
    for (const char *c = text; *c; c++) {
        if (*c == '"')
            text_add_char(out, '"');
        text_add_char(out, *c);
    }
    text_add_char(out, '"');
}

static void add_number(Text *out, double value)
{
    if (!isnan(value))
        text_printf(out, "%.17g", value);
}

// One line for each row, in their order; a number that there is not is an empty cell.
static void write_csv(const Sweep *sweep, const SweepResult *results, Text *out)
{
    text_add_string(out, "row,world");
    for (int i = 0; i < sweep->parameter_count; i++) {
        text_add_char(out, ',');
        add_cell(out, sweep->parameters[i].path);
    }
    text_add_string(out, ",seed,status,steps,time");
    for (int i = 0; i < sweep->measure_count; i++) {
        text_add_char(out, ',');
        add_cell(out, sweep->measures[i].name);
    }
    text_add_string(out, ",reason\n");
    for (int r = 0; r < sweep->row_count; r++) {
        SweepRow row = sweep_row(sweep, r);
        assert_debug(results[r].status < SWEEP_STATUS_COUNT);
        text_printf(out, "%d,", r);
        add_cell(out, sweep->worlds[row.world]);
        for (int i = 0; i < sweep->parameter_count; i++) {
            text_add_char(out, ',');
            add_number(out, sweep->parameters[i].values[row.values[i]]);
        }
        text_printf(out, ",%llu,%s,%llu,", (unsigned long long)sweep->seeds[row.seed],
                    sweep_status_name(results[r].status), (unsigned long long)results[r].steps);
        add_number(out, results[r].time);
        for (int i = 0; i < sweep->measure_count; i++) {
            text_add_char(out, ',');
            add_number(out, results[r].values[i]);
        }
        text_add_char(out, ',');
        add_cell(out, results[r].reason);
        text_add_char(out, '\n');
    }
}

// ---- NPZ: a zip file, stored as it is, with one .npy for each column ----

typedef struct Zip {
    Text body, directory;
    int count;
} Zip;

static void add_little(Text *out, uint64_t value, int bytes)
{
    assert_debug(bytes >= 1 && bytes <= 8);
    for (int i = 0; i < bytes; i++)
        text_add_char(out, (char)(value >> 8 * i & 0xff));
}

// The head of a file stands twice: before its bytes, and with more numbers in the directory at the end.
static void zip_add(Zip *zip, const char *name, const Text *data)
{
    uint32_t sum = (uint32_t)crc32(0, (const unsigned char *)data->data, (unsigned)data->length);
    size_t offset = zip->body.length, length = strlen(name);
    Text *const parts[] = { &zip->body, &zip->directory };
    for (int i = 0; i < 2; i++) {
        text_add(parts[i], i == 0 ? "PK\3\4" : "PK\1\2", 4);
        if (i == 1)
            add_little(parts[i], 20, 2);  // made by
        add_little(parts[i], 20, 2);      // needed to read it
        add_little(parts[i], 0x800, 2);   // names are UTF-8
        add_little(parts[i], 0, 2);       // stored
        add_little(parts[i], 0, 2);
        add_little(parts[i], 0x21, 2);  // 1980-01-01: the same bytes whenever it is written
        add_little(parts[i], sum, 4);
        add_little(parts[i], data->length, 4);
        add_little(parts[i], data->length, 4);
        add_little(parts[i], length, 2);
        add_little(parts[i], 0, 2);
        if (i == 1) {
            add_little(parts[i], 0, 2);
            add_little(parts[i], 0, 2);
            add_little(parts[i], 0, 2);
            add_little(parts[i], 0, 4);
            add_little(parts[i], offset, 4);
        }
        text_add(parts[i], name, length);
    }
    text_add(&zip->body, data->data, data->length);
    zip->count++;
}

static void zip_end(Zip *zip)
{
    size_t offset = zip->body.length;
    assert(zip->count > 0);
    text_add(&zip->body, zip->directory.data, zip->directory.length);
    text_add(&zip->body, "PK\5\6", 4);
    add_little(&zip->body, 0, 4);
    add_little(&zip->body, (uint64_t)zip->count, 2);
    add_little(&zip->body, (uint64_t)zip->count, 2);
    add_little(&zip->body, zip->directory.length, 4);
    add_little(&zip->body, offset, 4);
    add_little(&zip->body, 0, 2);
    text_free(&zip->directory);
}

static void npy_header(Text *out, const char *type, int count)
{
    char header[128];
    int length = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }", type,
                          count);
    assert(length > 0 && length < (int)sizeof header);
    int padded = (10 + length + 1 + 63) / 64 * 64 - 10;
    text_add(out, "\x93NUMPY\1\0", 8);
    add_little(out, (uint64_t)padded, 2);
    text_add(out, header, (size_t)length);
    for (int i = length; i < padded - 1; i++)
        text_add_char(out, ' ');
    text_add_char(out, '\n');
}

typedef double (*NumberOf)(const Sweep *sweep, const SweepResult *results, int row, int column);
typedef const char *(*WordsOf)(const Sweep *sweep, const SweepResult *results, int row);

static void add_numbers(Zip *zip, const Sweep *sweep, const SweepResult *results, const char *name, NumberOf number,
                        int column)
{
    Text data = { 0 };
    npy_header(&data, "<f8", sweep->row_count);
    for (int r = 0; r < sweep->row_count; r++) {
        double value = number(sweep, results, r, column);
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        add_little(&data, bits, 8);
    }
    zip_add(zip, arena_printf(sweep->arena, "%s.npy", name), &data);
    text_free(&data);
}

// Bytes of UTF-8, padded with zeros to the longest.
static void add_words(Zip *zip, const Sweep *sweep, const SweepResult *results, const char *name, WordsOf words)
{
    size_t longest = 1;
    for (int r = 0; r < sweep->row_count; r++) {
        size_t length = strlen(words(sweep, results, r));
        longest = length > longest ? length : longest;
    }
    Text data = { 0 };
    npy_header(&data, arena_printf(sweep->arena, "|S%zu", longest), sweep->row_count);
    for (int r = 0; r < sweep->row_count; r++) {
        const char *text = words(sweep, results, r);
        text_add_string(&data, text);
        for (size_t i = strlen(text); i < longest; i++)
            text_add_char(&data, '\0');
    }
    zip_add(zip, arena_printf(sweep->arena, "%s.npy", name), &data);
    text_free(&data);
}

static double parameter_of(const Sweep *sweep, const SweepResult *results, int row, int column)
{
    (void)results;
    assert(column >= 0 && column < sweep->parameter_count);
    return sweep->parameters[column].values[sweep_row(sweep, row).values[column]];
}

static double measure_of(const Sweep *sweep, const SweepResult *results, int row, int column)
{
    assert(column >= 0 && column < sweep->measure_count && row >= 0 && row < sweep->row_count);
    return results[row].values[column];
}

static double seed_of(const Sweep *sweep, const SweepResult *results, int row, int column)
{
    (void)results, (void)column;
    return (double)sweep->seeds[sweep_row(sweep, row).seed];
}

static double steps_of(const Sweep *sweep, const SweepResult *results, int row, int column)
{
    (void)sweep, (void)column;
    return (double)results[row].steps;
}

static double time_of(const Sweep *sweep, const SweepResult *results, int row, int column)
{
    (void)sweep, (void)column;
    return results[row].time;
}

static const char *world_of(const Sweep *sweep, const SweepResult *results, int row)
{
    (void)results;
    return sweep->worlds[sweep_row(sweep, row).world];
}

static const char *status_of(const Sweep *sweep, const SweepResult *results, int row)
{
    (void)sweep;
    return sweep_status_name(results[row].status);
}

static const char *reason_of(const Sweep *sweep, const SweepResult *results, int row)
{
    (void)sweep;
    return results[row].reason;
}

static void write_npz(const Sweep *sweep, const SweepResult *results, Text *out)
{
    Zip zip = { 0 };
    add_words(&zip, sweep, results, "world", world_of);
    for (int i = 0; i < sweep->parameter_count; i++)
        add_numbers(&zip, sweep, results, sweep->parameters[i].path, parameter_of, i);
    add_numbers(&zip, sweep, results, "seed", seed_of, 0);
    add_words(&zip, sweep, results, "status", status_of);
    add_numbers(&zip, sweep, results, "steps", steps_of, 0);
    add_numbers(&zip, sweep, results, "time", time_of, 0);
    for (int i = 0; i < sweep->measure_count; i++)
        add_numbers(&zip, sweep, results, sweep->measures[i].name, measure_of, i);
    add_words(&zip, sweep, results, "reason", reason_of);
    zip_end(&zip);
    *out = zip.body;
}

// ---- SVG: one measure over one parameter, a dot for each row and a line through the means ----

enum { PLOT_WIDTH = 640, PLOT_HEIGHT = 400, PLOT_LEFT = 80, PLOT_BOTTOM = 60, PLOT_TOP = 40, PLOT_RIGHT = 20 };

typedef struct Plot {
    double low[2], high[2];
    Text *out;
} Plot;

static int find_parameter(const Sweep *sweep, const char *name)
{
    for (int i = 0; i < sweep->parameter_count; i++)
        if (name ? !strcmp(sweep->parameters[i].path, name) : sweep->parameters[i].count > 1)
            return i;
    return sweep->parameter_count > 0 && !name ? 0 : -1;
}

static int find_measure(const Sweep *sweep, const char *name)
{
    for (int i = 0; name && i < sweep->measure_count; i++)
        if (!strcmp(sweep->measures[i].name, name))
            return i;
    return 0;
}

static double plot_x(const Plot *plot, double x)
{
    assert_debug(plot->high[0] > plot->low[0]);
    return PLOT_LEFT + (PLOT_WIDTH - PLOT_LEFT - PLOT_RIGHT) * (x - plot->low[0]) / (plot->high[0] - plot->low[0]);
}

static double plot_y(const Plot *plot, double y)
{
    assert_debug(plot->high[1] > plot->low[1]);
    return PLOT_HEIGHT - PLOT_BOTTOM
           - (PLOT_HEIGHT - PLOT_TOP - PLOT_BOTTOM) * (y - plot->low[1]) / (plot->high[1] - plot->low[1]);
}

static void add_xml(Text *out, const char *text)
{
    for (const char *c = text; *c; c++)
        switch (*c) {
        case '<': text_add_string(out, "&lt;"); break;
        case '&': text_add_string(out, "&amp;"); break;
        default: text_add_char(out, *c);
        }
}

static void widen(Plot *plot, int axis, double value)
{
    assert_debug(axis == 0 || axis == 1);
    plot->low[axis] = fmin(plot->low[axis], value);
    plot->high[axis] = fmax(plot->high[axis], value);
}

static void add_frame(const Plot *plot, const char *x_name, const char *y_name)
{
    Text *out = plot->out;
    text_printf(out, "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n", PLOT_WIDTH, PLOT_HEIGHT);
    for (int i = 0; i <= 4; i++) {
        double x = plot->low[0] + 0.25 * i * (plot->high[0] - plot->low[0]);
        double y = plot->low[1] + 0.25 * i * (plot->high[1] - plot->low[1]);
        text_printf(out, "<path d=\"M%.1f %dV%dM%d %.1fH%d\" stroke=\"#ddd\"/>\n", plot_x(plot, x), PLOT_TOP,
                    PLOT_HEIGHT - PLOT_BOTTOM, PLOT_LEFT, plot_y(plot, y), PLOT_WIDTH - PLOT_RIGHT);
        text_printf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.3g</text>\n", plot_x(plot, x),
                    PLOT_HEIGHT - PLOT_BOTTOM + 18, x);
        text_printf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.3g</text>\n", PLOT_LEFT - 6,
                    plot_y(plot, y) + 4, y);
    }
    text_printf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", PLOT_WIDTH / 2, PLOT_HEIGHT - 16);
    add_xml(out, x_name);
    text_printf(out, "</text>\n<text x=\"%d\" y=\"%d\">", PLOT_LEFT, PLOT_TOP - 14);
    add_xml(out, y_name);
    text_add_string(out, "</text>\n");
}

// What the plot shows: a measure across a parameter, or across seeds where there is none.
typedef struct PlotOf {
    int x, y;  // parameter, -1: none; measure
    NumberOf across;
} PlotOf;

// The rows' ranges; one that holds a single number, or none, gets room around it.
static void find_ranges(Plot *plot, const PlotOf *of, const Sweep *sweep, const SweepResult *results)
{
    for (int r = 0; r < sweep->row_count; r++)
        if (isfinite(results[r].values[of->y])) {
            widen(plot, 0, of->across(sweep, results, r, of->x));
            widen(plot, 1, results[r].values[of->y]);
        }
    for (int axis = 0; axis < 2; axis++)
        if (!(plot->high[axis] > plot->low[axis])) {
            double middle = isfinite(plot->low[axis]) ? plot->low[axis] : 0.0;
            plot->low[axis] = middle - 1.0;
            plot->high[axis] = middle + 1.0;
        }
}

static void add_dots(const Plot *plot, const PlotOf *of, const Sweep *sweep, const SweepResult *results)
{
    for (int r = 0; r < sweep->row_count; r++)
        if (isfinite(results[r].values[of->y]))
            text_printf(plot->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\" fill-opacity=\"0.4\"/>\n",
                        plot_x(plot, of->across(sweep, results, r, of->x)), plot_y(plot, results[r].values[of->y]),
                        results[r].status <= SWEEP_STOPPED ? "#1f77b4" : "#d62728");
}

static void add_means(const Plot *plot, const PlotOf *of, const Sweep *sweep, const SweepResult *results)
{
    assert(of->x >= 0 && of->x < sweep->parameter_count);
    const SweepParameter *parameter = &sweep->parameters[of->x];
    struct Mean {
        double sum;
        int count;
    } *means = memory_alloc_array((size_t)parameter->count, sizeof *means);
    for (int r = 0; r < sweep->row_count; r++)
        if (isfinite(results[r].values[of->y])) {
            struct Mean *mean = &means[sweep_row(sweep, r).values[of->x]];
            mean->sum += results[r].values[of->y];
            mean->count++;
        }
    bool is_first = true;
    text_add_string(plot->out, "<path fill=\"none\" stroke=\"#1f77b4\" stroke-width=\"2\" d=\"");
    for (int k = 0; k < parameter->count; k++) {
        if (means[k].count == 0)
            continue;
        text_printf(plot->out, "%c%.1f %.1f", is_first ? 'M' : 'L', plot_x(plot, parameter->values[k]),
                    plot_y(plot, means[k].sum / means[k].count));
        is_first = false;
    }
    free(means);
    text_add_string(plot->out, "\"/>\n");
}

static void write_svg(const Sweep *sweep, const SweepResult *results, Text *out)
{
    int x = find_parameter(sweep, sweep->plot_parameter), y = find_measure(sweep, sweep->plot_measure);
    assert(x < sweep->parameter_count && y >= 0 && y < sweep->measure_count);
    const PlotOf of = { x, y, x >= 0 ? parameter_of : seed_of };
    Plot plot = { { INFINITY, INFINITY }, { -INFINITY, -INFINITY }, out };
    find_ranges(&plot, &of, sweep, results);
    text_printf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n",
        PLOT_WIDTH, PLOT_HEIGHT);
    add_frame(&plot, x >= 0 ? sweep->parameters[x].path : "seed", sweep->measures[y].name);
    add_dots(&plot, &of, sweep, results);
    if (x >= 0)
        add_means(&plot, &of, sweep, results);
    text_add_string(out, "</svg>\n");
}

const SweepFile sweep_files[] = { { ".csv", write_csv, SIZE_MAX },
                                  { ".npz", write_npz, UINT32_MAX },
                                  { ".svg", write_svg, SIZE_MAX } };

bool sweep_write_files(const Sweep *sweep, const SweepResult *results, DiagSink *diags)
{
    bool is_fine = true;
    for (int i = 0; i < SWEEP_FILES; i++) {
        const SweepFile *file = &sweep_files[i];
        Text text = { 0 };
        file->write(sweep, results, &text);
        if (text.length > file->size_max)
            diag_error(diags, (SourcePos){ 0 }, "these rows are more than a %s file can hold; %s.csv has them",
                       file->ending, sweep->output);
        is_fine = text.length <= file->size_max && write_file(sweep, file->ending, &text, diags) && is_fine;
        text_free(&text);
    }
    return is_fine;
}

// ---- for people ----

// How many rows ended how, and of each measure its spread over those that have it.
void sweep_write_summary(const Sweep *sweep, const SweepResult *results, Text *out)
{
    int counts[SWEEP_STATUS_COUNT] = { 0 };
    for (int r = 0; r < sweep->row_count; r++)
        counts[results[r].status]++;
    text_printf(out, "%d row%s:", sweep->row_count, sweep->row_count == 1 ? "" : "s");
    for (int i = 0; i < SWEEP_STATUS_COUNT; i++)
        if (counts[i] > 0)
            text_printf(out, " %d %s", counts[i], sweep_status_name((SweepStatus)i));
    text_printf(out, "\n%-24s %12s %12s %12s %12s\n", "measure", "min", "mean", "max", "deviation");
    for (int m = 0; m < sweep->measure_count; m++) {
        double low = INFINITY, high = -INFINITY, sum = 0.0, squares = 0.0;
        int count = 0;
        for (int r = 0; r < sweep->row_count; r++) {
            double value = results[r].values[m];
            if (!isfinite(value))
                continue;
            low = fmin(low, value);
            high = fmax(high, value);
            sum += value;
            count++;
        }
        double mean = count > 0 ? sum / count : NAN;
        for (int r = 0; r < sweep->row_count; r++)
            if (isfinite(results[r].values[m]))
                squares += (results[r].values[m] - mean) * (results[r].values[m] - mean);
        if (count == 0)
            text_printf(out, "%-24s nothing was measured\n", sweep->measures[m].name);
        else
            text_printf(out, "%-24s %12.6g %12.6g %12.6g %12.6g\n", sweep->measures[m].name, low, mean, high,
                        sqrt(squares / count));
    }
}
