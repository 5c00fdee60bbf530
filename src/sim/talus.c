// The library's own interface (include/talus/talus.h) over Sim, Scene and Physics: node ids outside, indices inside.
#include "sim/library.h"

#include "base/memory.h"
#include "physics/fittings/fittings.h"
#include "physics/joints/motor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct TalusSnapshot {
    SimSnapshot data;
};

// ---- diagnostics ----

static void convert(const DiagSink *diags, const Diagnostic *from, TalusDiagnostic *to)
{
    static_assert((int)TALUS_ERROR == (int)DIAG_ERROR && (int)TALUS_NOTE == (int)DIAG_NOTE, "the same order");
    *to = (TalusDiagnostic){ (TalusSeverity)from->severity,
                             diag_file_name(diags, from->pos.file),
                             from->pos.line,
                             from->pos.column,
                             from->message,
                             from->hint,
                             from->count };
}

static _Thread_local char last_error[1024];

const char *talus_last_error(void) { return last_error; }

bool library_failed(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_error, sizeof last_error, format, arguments);
    va_end(arguments);
    return false;
}

// The newest error that the world has reported since it was last asked.
static void hear(TalusWorld *world)
{
    assert_debug(world->heard <= diag_count(world->diags));
    for (int count = diag_count(world->diags); world->heard < count; world->heard++) {
        const Diagnostic *item = diag_at(world->diags, world->heard);
        if (item->severity != DIAG_ERROR)
            continue;
        if (item->pos.line)
            library_failed("%s:%u:%u: %s", diag_file_name(world->diags, item->pos.file), item->pos.line,
                           item->pos.column, item->message);
        else
            library_failed("%s", item->message);
    }
}

// Whether anything was reported that was not yet heard or told.
static inline bool has_news(const TalusWorld *world)
{
    const int count = diag_count(world->diags);
    return world->heard < count || (world->handler && world->told < count);
}

static __attribute__((noinline)) void tell(TalusWorld *world)
{
    assert_debug(world->told <= diag_count(world->diags));
    hear(world);
    for (; world->handler && world->told < diag_count(world->diags); world->told++) {
        TalusDiagnostic diagnostic;
        convert(world->diags, diag_at(world->diags, world->told), &diagnostic);
        world->handler(&diagnostic, world->context);
    }
}

bool library_told(TalusWorld *world, bool result)
{
    if (world && has_news(world))
        tell(world);
    return result;
}

bool library_given(const TalusWorld *world, const void *argument, const char *what)
{
    if (!world)
        return library_failed("there is no world: it is NULL");
    if (argument)
        return true;
    diag_error(world->diags, (SourcePos){ 0 }, "a call of the library was given NULL as its %s", what);
    library_failed("a call of the library was given NULL as its %s", what);
    return library_told((TalusWorld *)world, false);
}

int talus_diagnostic_count(const TalusWorld *world) { return world ? diag_count(world->diags) : 0; }

bool talus_diagnostic_at(const TalusWorld *world, int index, TalusDiagnostic *diagnostic)
{
    if (!world || index < 0 || index >= diag_count(world->diags))
        return false;
    if (diagnostic)
        convert(world->diags, diag_at(world->diags, index), diagnostic);
    return true;
}

int talus_diagnostic_total(const TalusWorld *world, TalusSeverity severity)
{
    bool is_known = severity >= TALUS_NOTE && severity <= TALUS_ERROR;
    return world && is_known ? diag_total(world->diags, (DiagSeverity)severity) : 0;
}

// ---- life ----

void library_options(void *to, size_t size, const void *from)
{
    assert_debug(to && size > 0);
    memset(to, 0, size);
    size_t given = 0;
    if (from)
        memcpy(&given, from, sizeof given);  // every options struct begins with its size
    if (from)
        memcpy(to, from, given == 0 || given > size ? size : given);
}

static SimOptions sim_options(const TalusWorld *world, const TalusOptions *options)
{
    SimOptions result = { 0 };
    if (!options)
        return result;
    const Limits *limits = options->is_untrusted ? &limits_untrusted : NULL;
    result.physics = (PhysicsOptions){ .stepper = options->stepper,
                                       .threads = options->threads,
                                       .seed = options->seed,
                                       .has_seed = options->has_seed,
                                       .limits = limits,
                                       .nan_policy = options->freezes_on_nan ? PHYSICS_NAN_FREEZE : PHYSICS_NAN_STOP };
    result.formats = (FormatsOptions){ .limits = limits, .search_paths = (const char *const *)world->search_paths };
    return result;
}

static char **copied_paths(const char *const *paths)
{
    int count = 0;
    while (paths && paths[count])
        count++;
    char **copies = count > 0 ? memory_alloc_array((size_t)count + 1, sizeof *copies) : NULL;
    for (int i = 0; i < count; i++)
        copies[i] = memory_string(paths[i]);
    return copies;
}

static TalusWorld *world_create(const TalusOptions *options)
{
    TalusWorld *world = memory_alloc(sizeof(*world));
    world->diags = diag_create();
    if (options) {
        world->handler = options->on_diagnostic;
        world->context = options->context;
        world->search_paths = copied_paths(options->search_paths);
    }
    return world;
}

static TalusWorld *world_or_nothing(TalusWorld *world)
{
    tell(world);
    if (world->sim)
        return world;
    talus_free(world);
    return NULL;
}

TalusWorld *talus_load(const char *path, const TalusOptions *from)
{
    TalusOptions given, *options = &given;
    library_options(options, sizeof given, from);
    TalusWorld *world = world_create(options);
    SimOptions how = sim_options(world, options);
    if (library_given(world, path, "path"))
        world->sim = sim_load(path, &how, world->diags);
    return world_or_nothing(world);
}

TalusWorld *talus_load_text(const char *name, const char *text, size_t size, const TalusOptions *from)
{
    TalusOptions given, *options = &given;
    library_options(options, sizeof given, from);
    TalusWorld *world = world_create(options);
    SimOptions how = sim_options(world, options);
    if (library_given(world, name, "name") && (library_given(world, size > 0 ? text : "", "text")))
        world->sim = sim_load_text(name, size > 0 ? text : "", size, &how, world->diags);
    return world_or_nothing(world);
}

void library_guest(TalusWorld *world, void *guest, void (*end)(void *guest))
{
    assert(!guest || end);
    if (world->guest)
        world->guest_end(world->guest);
    world->guest = guest;
    world->guest_end = end;
}

void talus_free(TalusWorld *world)
{
    if (!world)
        return;
    library_guest(world, NULL, NULL);
    if (world->end_tape)
        world->end_tape(world);
    if (world->end_controllers)
        world->end_controllers(world);
    library_events_free(world);
    library_devices_free(world);
    bool is_clone = world->is_clone;
    sim_destroy(world->sim);
    if (!is_clone)  // else the sim has them
        diag_destroy(world->diags);
    for (int i = 0; world->search_paths && world->search_paths[i]; i++)
        free(world->search_paths[i]);
    free(world->search_paths);
    free(world);
}

int talus_check(const char *path, const TalusOptions *from)
{
    TalusOptions given, *options = &given;
    library_options(options, sizeof given, from);
    TalusWorld *world = world_create(options);
    SimOptions how = sim_options(world, options);
    Scene *scene = library_given(world, path, "path") ? formats_load(path, &how.formats, world->diags) : NULL;
    tell(world);
    int errors = scene ? diag_total(world->diags, DIAG_ERROR) : -1;
    scene_destroy(scene);
    talus_free(world);
    return errors;
}

// ---- time ----

bool talus_step(TalusWorld *world, int steps)
{
    if (!library_given(world, world, "world"))
        return false;
    if (steps < 0)
        return library_failed("a world cannot make %d steps", steps);
    bool goes_on = !sim_failure(world->sim);
    for (int i = 0; i < steps && goes_on; i++)
        goes_on = sim_step(world->sim);
    library_told(world, goes_on);
    return goes_on || library_failed("%s", sim_failure(world->sim) ? sim_failure(world->sim) : "the run was stopped");
}

const char *talus_failure(const TalusWorld *world) { return world ? sim_failure(world->sim) : NULL; }
uint64_t talus_steps(const TalusWorld *world) { return world ? sim_steps(world->sim) : 0; }
double talus_time(const TalusWorld *world) { return world ? sim_time(world->sim) : 0.0; }
double talus_time_step(const TalusWorld *world) { return world ? sim_time_step(world->sim) : 0.0; }

// The devices are there afterwards if they were when it was taken: an instance that never asked for one fits too.
static bool restore(TalusWorld *world, const SimSnapshot *snapshot)
{
    bool had_devices = world->devices;
    bool has_devices = sim_snapshot_part_count(snapshot) > 0;
    if (has_devices)
        library_devices(world);
    bool is_restored = sim_restore(world->sim, snapshot);
    if (is_restored ? !has_devices : !had_devices)
        library_devices_free(world);
    library_events_forget(world);
    return is_restored;
}

bool talus_reset(TalusWorld *world)
{
    if (!world)
        return false;
    // A clone that had devices when it was made gets them back as they were; others start anew.
    bool has_start = world->is_clone && sim_snapshot_part_count(sim_start_state(world->sim)) > 0;
    bool is_remade = sim_is_edited(world->sim);
    if (has_start && is_remade)
        library_devices_free(world);
    bool is_back = sim_reset(world->sim);
    if (!has_start)
        library_devices_reset(world);
    else if (is_back && (is_remade || !world->devices))
        is_back = restore(world, sim_start_state(world->sim));
    library_events_forget(world);
    return library_told(world, is_back);
}

uint64_t talus_hash(const TalusWorld *world) { return world ? sim_hash(world->sim) : 0; }
TalusSnapshot *talus_snapshot_create(void) { return memory_alloc(sizeof(TalusSnapshot)); }

void talus_snapshot_free(TalusSnapshot *snapshot)
{
    if (!snapshot)
        return;
    sim_snapshot_free(&snapshot->data);
    free(snapshot);
}

void talus_snapshot_take(TalusWorld *world, TalusSnapshot *snapshot)
{
    if (library_given(world, snapshot, "snapshot"))
        sim_snapshot(world->sim, &snapshot->data);
}

bool talus_snapshot_restore(TalusWorld *world, const TalusSnapshot *snapshot)
{
    return library_given(world, snapshot, "snapshot") && library_told(world, restore(world, &snapshot->data));
}

bool talus_snapshot_write(TalusWorld *world, const char *path)
{
    return library_given(world, path, "path") && library_told(world, sim_snapshot_write(world->sim, path));
}

bool talus_snapshot_read(TalusWorld *world, const char *path)
{
    if (!library_given(world, path, "path"))
        return false;
    SimSnapshot snapshot = { 0 };
    bool is_restored = sim_snapshot_load(world->sim, path, &snapshot) && restore(world, &snapshot);
    sim_snapshot_free(&snapshot);
    return library_told(world, is_restored);
}

bool talus_save(TalusWorld *world, const char *path)
{
    return library_given(world, path, "path") && library_own(world) && library_told(world, sim_save(world->sim, path));
}

TalusStatistics talus_statistics(const TalusWorld *world)
{
    if (!world)
        return (TalusStatistics){ 0 };
    PhysicsStatistics s = physics_statistics(sim_physics(world->sim));
    return (TalusStatistics){ s.solids,   s.bodies,           s.bodies_awake, s.joints,
                              s.contacts, s.contacts_dropped, s.frozen,       s.deepest };
}
