// sweep_row.c - one row of a sweep: a clone of its world with the row's parameters and seed, run to its end and
// measured.
#include "many/sweep_internal.h"

#include "base/memory.h"
#include "sim/library.h"
#include "talus/batch.h"
#include "talus/controllers.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const status_names[] = {
    [SWEEP_OK] = "ok",           [SWEEP_STOPPED] = "stopped", [SWEEP_FAILED] = "failed",
    [SWEEP_REFUSED] = "refused", [SWEEP_CRASHED] = "crashed", [SWEEP_TIMEOUT] = "timeout",
};
static_assert(COUNT_OF(status_names) == SWEEP_STATUS_COUNT, "a name for each");

const char *sweep_status_name(SweepStatus status)
{
    assert((int)status >= 0 && status < SWEEP_STATUS_COUNT);
    return status_names[status];
}

SweepResult sweep_result_create(const Sweep *sweep, int row)
{
    assert(row >= 0 && row < sweep->row_count);
    SweepResult result = { .row = row };
    result.values = memory_alloc_array((size_t)sweep->measure_count + 1, sizeof *result.values);
    for (int i = 0; i < sweep->measure_count; i++)
        result.values[i] = NAN;
    return result;
}

void sweep_result_free(SweepResult *result)
{
    free(result->values);
    result->values = NULL;
}

// Words that fit a line of the journal and a cell of a table.
static bool end_with(SweepResult *result, SweepStatus status, const char *reason)
{
    result->status = status;
    snprintf(result->reason, sizeof result->reason, "%s", reason);
    for (char *c = result->reason; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    return false;
}

// What a row looks at and tells while it runs.
typedef struct RowViews {
    TalusView *measures[SWEEP_ITEMS], *stops[SWEEP_ITEMS], *commands[SWEEP_ITEMS];
    double *scratch;
    double sums[SWEEP_ITEMS];
    uint64_t looks[SWEEP_ITEMS];
} RowViews;

static TalusView *view_of(TalusWorld *world, const char *item, SweepResult *result)
{
    TalusView *view = talus_view_create(world, &item, 1);
    if (!view)
        end_with(result, SWEEP_REFUSED, talus_last_error());
    return view;
}

static bool make_views(const Sweep *sweep, TalusWorld *world, RowViews *views, SweepResult *result)
{
    int most = 1;
    assert(sweep->measure_count <= SWEEP_ITEMS && sweep->stop_count <= SWEEP_ITEMS
           && sweep->command_count <= SWEEP_ITEMS);
    for (int i = 0; i < sweep->measure_count; i++) {
        if (!(views->measures[i] = view_of(world, sweep->measures[i].item, result)))
            return false;
        if (sweep->measures[i].index >= talus_view_count(views->measures[i]))
            return end_with(result, SWEEP_REFUSED, "the item of a measure has fewer numbers than its index");
        most = int_max(most, talus_view_count(views->measures[i]));
    }
    for (int i = 0; i < sweep->stop_count; i++) {
        if (!(views->stops[i] = view_of(world, sweep->stops[i].item, result)))
            return false;
        most = int_max(most, talus_view_count(views->stops[i]));
    }
    for (int i = 0; i < sweep->command_count; i++) {
        if (!(views->commands[i] = view_of(world, sweep->commands[i].item, result)))
            return false;
        most = int_max(most, talus_view_count(views->commands[i]));
    }
    assert(most >= 1);
    views->scratch = memory_alloc_array((size_t)most, sizeof(double));
    return true;
}

static void free_views(RowViews *views)
{
    for (int i = 0; i < SWEEP_ITEMS; i++) {
        talus_view_free(views->measures[i]);
        talus_view_free(views->stops[i]);
        talus_view_free(views->commands[i]);
    }
    free(views->scratch);
}

static double joined(SweepOf of, double before, double now, bool is_first)
{
    if (is_first || of == SWEEP_LAST)
        return now;
    switch (of) {
    case SWEEP_FIRST: return before;
    case SWEEP_MIN: return fmin(before, now);
    case SWEEP_MAX: return fmax(before, now);
    default: return before + now;
    }
}

// A sensor that has no reading yet is left out.
static bool measure(const Sweep *sweep, TalusWorld *world, RowViews *views, SweepResult *result)
{
    for (int i = 0; i < sweep->measure_count; i++) {
        if (!talus_view_read(world, views->measures[i], views->scratch))
            return end_with(result, SWEEP_REFUSED, talus_last_error());
        assert_debug(sweep->measures[i].index < talus_view_count(views->measures[i]));  // make_views
        double now = views->scratch[sweep->measures[i].index];
        if (isnan(now))
            continue;
        views->sums[i] = joined(sweep->measures[i].of, views->sums[i], now, views->looks[i] == 0);
        views->looks[i]++;
        result->values[i] = sweep->measures[i].of == SWEEP_MEAN ? views->sums[i] / (double)views->looks[i]
                                                                : views->sums[i];
    }
    return true;
}

static bool stops(const Sweep *sweep, TalusWorld *world, RowViews *views, SweepResult *result)
{
    for (int i = 0; i < sweep->stop_count; i++) {
        if (!talus_view_read(world, views->stops[i], views->scratch))
            return !end_with(result, SWEEP_REFUSED, talus_last_error());
        for (int k = 0; k < talus_view_count(views->stops[i]); k++)
            if ((sweep->stops[i].index < 0 || sweep->stops[i].index == k)
                && (views->scratch[k] < sweep->stops[i].low || views->scratch[k] > sweep->stops[i].high))
                return !end_with(result, SWEEP_STOPPED, sweep->stops[i].item);
    }
    return false;
}

static bool command(const Sweep *sweep, TalusWorld *world, RowViews *views, SweepResult *result)
{
    for (int i = 0; i < sweep->command_count; i++) {
        for (int k = 0; k < talus_view_count(views->commands[i]); k++)
            views->scratch[k] = sweep->commands[i].value;
        if (!talus_view_write(world, views->commands[i], views->scratch))
            return end_with(result, SWEEP_REFUSED, talus_last_error());
    }
    return true;
}

static void run_world(const Sweep *sweep, TalusWorld *world, SweepResult *result)
{
    RowViews views = { 0 };
    uint64_t steps = sweep->steps ? sweep->steps : (uint64_t)llround(ceil(sweep->time / talus_time_step(world) - 1e-9));
    bool goes_on = make_views(sweep, world, &views, result) && measure(sweep, world, &views, result);
    for (uint64_t i = 0; i < steps && goes_on; i++) {
        goes_on = command(sweep, world, &views, result);
        if (goes_on && !talus_step(world, 1)) {
            bool is_ended = !talus_failure(world) && talus_controllers_quit_status(world) == 0;
            goes_on = is_ended ? end_with(result, SWEEP_STOPPED, "a supervisor ended the run")
                               : end_with(result, SWEEP_FAILED, talus_last_error());
        }
        result->steps = talus_steps(world);
        result->time = talus_time(world);
        goes_on = goes_on && measure(sweep, world, &views, result) && !stops(sweep, world, &views, result);
    }
    free_views(&views);
}

static bool prepare(const Sweep *sweep, const SweepRow *row, TalusWorld *world, SweepResult *result)
{
    for (int i = 0; i < sweep->parameter_count; i++)
        if (!talus_set_path(world, sweep->parameters[i].path, sweep->parameters[i].values[row->values[i]]))
            return end_with(result, SWEEP_REFUSED, talus_last_error());
    physics_set_seed(sim_physics(world->sim), sweep->seeds[row->seed]);
    library_devices_reset(world);
    if (sweep->runs_plugin && !talus_plugin_start(world, NULL))
        return end_with(result, SWEEP_REFUSED, talus_last_error());
    TalusControllerOptions options = talus_controller_options_defaults();
    options.is_quiet = true;
    options.stops_on_failure = true;
    if (sweep->runs_controllers && !talus_controllers_start(world, &options))
        return end_with(result, SWEEP_REFUSED, talus_last_error());
    return true;
}

void sweep_run_row(Sweep *sweep, SweepResult *result)
{
    SweepRow row = sweep_row(sweep, result->row);
    assert(row.world >= 0 && row.world < sweep->world_count && row.seed >= 0 && row.seed < sweep->seed_count);
    TalusWorld **base = &sweep->loaded[row.world];
    if (!*base)
        *base = talus_load(sweep->worlds[row.world], NULL);
    TalusWorld *world = *base ? talus_clone(*base) : NULL;
    if (!world) {
        end_with(result, SWEEP_REFUSED, talus_last_error());
        return;
    }
    if (prepare(sweep, &row, world, result))
        run_world(sweep, world, result);
    talus_free(world);
}

// ---- as text: "ROW status steps time value... | reason" with tabs between ----

void sweep_write_line(const Sweep *sweep, const SweepResult *result, Text *out)
{
    text_printf(out, "%d\t%s\t%llu\t%.17g", result->row, status_names[result->status],
                (unsigned long long)result->steps, result->time);
    for (int i = 0; i < sweep->measure_count; i++)
        text_printf(out, "\t%.17g", result->values[i]);
    text_printf(out, "\t%s\n", result->reason);
}

static bool next_number(const char **at, double *value)
{
    char *end;
    *value = strtod(*at, &end);
    bool is_fine = end != *at && *end == '\t';
    *at = end + is_fine;
    return is_fine;
}

// What sweep_write_line() wrote, perhaps cut short by a kill: false where anything of it is missing.
bool sweep_read_line(const Sweep *sweep, const char *line, SweepResult *result)
{
    double row, steps;
    const char *at = line;
    if (!next_number(&at, &row) || row < 0 || row >= sweep->row_count || row != floor(row))
        return false;
    size_t length = strcspn(at, "\t");
    int status = 0;
    while (status < SWEEP_STATUS_COUNT
           && (strlen(status_names[status]) != length || strncmp(at, status_names[status], length)))
        status++;
    if (status == SWEEP_STATUS_COUNT || at[length] != '\t')
        return false;
    at += length + 1;
    static const double steps_max = (double)(INT64_C(1) << 53);
    if (!next_number(&at, &steps) || !(steps >= 0.0 && steps <= steps_max) || !next_number(&at, &result->time))
        return false;
    for (int i = 0; i < sweep->measure_count; i++)
        if (!next_number(&at, &result->values[i]))
            return false;
    assert(status >= 0 && row < sweep->row_count);
    result->row = (int)row;
    result->status = (SweepStatus)status;
    result->steps = (uint64_t)steps;
    snprintf(result->reason, sizeof result->reason, "%.*s", (int)strcspn(at, "\n"), at);
    return at[strcspn(at, "\n")] == '\n';
}
