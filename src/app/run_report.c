// run_report.c - what a run says of itself at its end, for people and as JSON.
#include "app/run.h"

#include "base/json.h"

#include <math.h>

// How many times faster than the clock, as a person writes it.
void run_format_speed(double speed, char text[static 32])
{
    snprintf(text, 32, speed < 99.95 ? "%.3g" : "%.0f", speed);
}

static const char *failure_of(const Run *run) { return run->last_failure ? run->last_failure : sim_failure(run->sim); }

// The report that ends the process, and where the state is, are in no sink.
static int total_of(const Run *run, DiagSeverity severity)
{
    return diag_total(run->diags, severity) + (run->last_failure != NULL);
}

// Every number of the summary under its own key; keys are never renamed, since scripts read them.
static void write_json(const Run *run, Text *out)
{
    assert_debug(run->sim && run->options->json);
    const Sim *sim = run->sim;
    PhysicsStatistics statistics = physics_statistics(sim_physics(sim));
    uint64_t steps = sim_steps(sim) - run->first_step;
    double seconds = fmax(run->ended - run->started, 1e-9);
    char hash[24];
    snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)sim_hash(sim));
    JsonWriter json = { .out = out };
    json_begin_object(&json, NULL);
    json_int(&json, "steps", (int64_t)sim_steps(sim));
    json_double(&json, "time", sim_time(sim));
    json_string(&json, "hash", hash);
    json_double(&json, "speed", (double)steps * sim_time_step(sim) / seconds);
    json_double(&json, "stepsPerSecond", (double)steps / seconds);
    json_double(&json, "seconds", seconds);
    json_int(&json, "solids", statistics.solids);
    json_int(&json, "bodies", statistics.bodies);
    json_int(&json, "awake", statistics.bodies_awake);
    json_int(&json, "joints", statistics.joints);
    json_int(&json, "contacts", statistics.contacts);
    json_int(&json, "contactsDropped", statistics.contacts_dropped);
    json_double(&json, "deepest", statistics.deepest);
    json_int(&json, "frozen", statistics.frozen);
    json_int(&json, "warnings", total_of(run, DIAG_WARNING));
    json_int(&json, "errors", total_of(run, DIAG_ERROR));
    json_string(&json, "stepper", physics_stepper_name(sim_physics(sim)));
    json_string(&json, "failure", failure_of(run));
    json_begin_object(&json, "phases");
    for (int i = 0; i < SIM_PHASE_COUNT; i++)
        if (sim_phase_seconds(sim)[i] > 0.0)
            json_double(&json, sim_phase_name((SimPhase)i), sim_phase_seconds(sim)[i]);
    json_end_object(&json);
    json_end_object(&json);
    text_add_char(out, '\n');
}

// A time as a person writes it: three figures and a unit that suits.
static void add_time(Text *out, double seconds)
{
    assert(seconds >= 0.0 || isnan(seconds));
    static const struct {
        double unit;
        const char *name;
    } units[] = { { 1.0, "s" }, { 1e-3, "ms" }, { 1e-6, "us" } };
    int i = 0;
    while (i < COUNT_OF(units) - 1 && seconds < units[i].unit)
        i++;
    text_printf(out, "%.3g %s", seconds / units[i].unit, units[i].name);
}

static void write_phases(const Run *run, uint64_t steps, Text *out)
{
    assert_debug(run->sim);
    const double *seconds = sim_phase_seconds(run->sim);
    double total = 0.0;
    for (int i = 0; i < SIM_PHASE_COUNT; i++)
        total += seconds[i];
    if (steps == 0 || !(total > 0.0))
        return;
    text_add_string(out, "  ");
    add_time(out, total / (double)steps);
    text_add_string(out, " a step:");
    for (int i = 0; i < SIM_PHASE_COUNT; i++)
        if (seconds[i] > 0.005 * total)
            text_printf(out, " %s %.0f%%", sim_phase_name((SimPhase)i), 100.0 * seconds[i] / total);
    text_add_char(out, '\n');
}

static void write_summary(const Run *run, Text *out)
{
    const Sim *sim = run->sim;
    PhysicsStatistics statistics = physics_statistics(sim_physics(sim));
    uint64_t steps = sim_steps(sim) - run->first_step;
    double seconds = fmax(run->ended - run->started, 1e-9);
    char speed[32];
    run_format_speed((double)steps * sim_time_step(sim) / seconds, speed);
    text_printf(out, "%g s simulated in %llu step%s of %g ms: %s x real time, %.0f step%s/s (%s)\n", sim_time(sim),
                (unsigned long long)steps, PLURAL(steps), 1000.0 * sim_time_step(sim), speed, (double)steps / seconds,
                PLURAL(round((double)steps / seconds)), physics_stepper_name(sim_physics(sim)));
    text_printf(out, "  %d solid%s, %d bod%s (%d awake), %d joint%s, %d contact%s", statistics.solids,
                PLURAL(statistics.solids), statistics.bodies, statistics.bodies == 1 ? "y" : "ies",
                statistics.bodies_awake, statistics.joints, PLURAL(statistics.joints), statistics.contacts,
                PLURAL(statistics.contacts));
    if (statistics.contacts > 0)
        text_printf(out, " (deepest %.2g mm)", 1000.0 * statistics.deepest);
    if (statistics.contacts_dropped > 0)
        text_printf(out, ", %d dropped", statistics.contacts_dropped);
    if (statistics.frozen > 0)
        text_printf(out, ", %d bod%s frozen", statistics.frozen, statistics.frozen == 1 ? "y" : "ies");
    text_add_char(out, '\n');
    write_phases(run, steps, out);
    int warnings = total_of(run, DIAG_WARNING), errors = total_of(run, DIAG_ERROR);
    text_printf(out, "  %d warning%s, %d error%s\n", warnings, PLURAL(warnings), errors, PLURAL(errors));
    if (failure_of(run))
        text_printf(out, "  stopped: %s\n", failure_of(run));
}

// For a process whose heap is damaged: there is room enough that nothing is allocated.
const char *run_sum_up(void *context, const char *failure)
{
    assert(context);
    static char room[1 << 16];
    Run *run = context;
    Text out = { .data = room, .capacity = sizeof room };
    run->last_failure = failure;
    run->ended = run_clock();
    if (run->options->json)
        write_json(run, &out);
    else if (!run->options->quiet)
        write_summary(run, &out);
    return room;
}

void run_report(const Run *run)
{
    assert_debug(run->sim && run->options);
    const RunOptions *options = run->options;
    Text out = { 0 };
    if (options->explain_contacts) {
        physics_explain_materials(sim_physics(run->sim), &out);
        physics_explain_contacts(sim_physics(run->sim), &out);
    }
    if (options->explain_solver)
        physics_explain_solver(sim_physics(run->sim), &out);
    if (options->json)
        write_json(run, &out);
    else if (!options->quiet)
        write_summary(run, &out);
    if (options->hash && !options->json)
        text_printf(&out, "hash %016llx\n", (unsigned long long)sim_hash(run->sim));
    if (out.length > 0 && run_records_to_output(options))
        fwrite(out.data, 1, out.length, stderr);
    if (out.length > 0 && !run_records_to_output(options))
        app_print(&out);
    else
        text_free(&out);
}
