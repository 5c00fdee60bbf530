// The library's own interface (include/talus/talus.h) over Sim, Scene and Physics: node ids outside, indices inside.
#include "sim/talus_internal.h"

#include "base/memory.h"
#include "physics/fittings/machine.h"
#include "physics/joints/motor.h"

#include <stdlib.h>
#include <string.h>

struct TalusSnapshot { SimSnapshot data; };

// ---- diagnostics ----

static void convert(const DiagSink *diags, const Diagnostic *from, TalusDiagnostic *to)
{
    static_assert((int)TALUS_ERROR == (int)DIAG_ERROR && (int)TALUS_NOTE == (int)DIAG_NOTE, "the same order");
    *to = (TalusDiagnostic){ (TalusSeverity)from->severity, diag_file_name(diags, from->pos.file), from->pos.line, from->pos.column,
                             from->message, from->hint, from->count };
}

static void tell(TalusWorld *world)
{
    for (; world->handler && world->told < diag_count(world->diags); world->told++) {
        TalusDiagnostic diagnostic;
        convert(world->diags, diag_at(world->diags, world->told), &diagnostic);
        world->handler(&diagnostic, world->context);
    }
}

bool talus_told(TalusWorld *world, bool result)
{
    if (world)
        tell(world);
    return result;
}

bool talus_given(const TalusWorld *world, const void *argument, const char *what)
{
    if (!world)
        return false;
    if (argument)
        return true;
    diag_error(world->diags, (SourcePos){ 0 }, "a call of the library was given NULL as its %s", what);
    return talus_told((TalusWorld *)world, false);
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

static SimOptions sim_options(const TalusWorld *world, const TalusOptions *options)
{
    SimOptions result = { 0 };
    if (!options)
        return result;
    const Limits *limits = options->is_untrusted ? &limits_untrusted : NULL;
    result.physics = (PhysicsOptions){ .stepper = options->stepper, .threads = options->threads, .seed = options->seed,
                                       .has_seed = options->has_seed, .limits = limits,
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

TalusWorld *talus_load(const char *path, const TalusOptions *options)
{
    TalusWorld *world = world_create(options);
    SimOptions how = sim_options(world, options);
    if (talus_given(world, path, "path"))
        world->sim = sim_load(path, &how, world->diags);
    return world_or_nothing(world);
}

TalusWorld *talus_load_text(const char *name, const char *text, size_t size, const TalusOptions *options)
{
    TalusWorld *world = world_create(options);
    SimOptions how = sim_options(world, options);
    if (talus_given(world, name, "name") && (talus_given(world, size > 0 ? text : "", "text")))
        world->sim = sim_load_text(name, size > 0 ? text : "", size, &how, world->diags);
    return world_or_nothing(world);
}

void talus_free(TalusWorld *world)
{
    if (!world)
        return;
    talus_devices_free(world);
    sim_destroy(world->sim);
    diag_destroy(world->diags);
    for (int i = 0; world->search_paths && world->search_paths[i]; i++)
        free(world->search_paths[i]);
    free(world->search_paths);
    free(world);
}

int talus_check(const char *path, const TalusOptions *options)
{
    TalusWorld *world = world_create(options);
    SimOptions how = sim_options(world, options);
    Scene *scene = talus_given(world, path, "path") ? formats_load(path, &how.formats, world->diags) : NULL;
    tell(world);
    int errors = scene ? diag_total(world->diags, DIAG_ERROR) : -1;
    scene_destroy(scene);
    talus_free(world);
    return errors;
}

// ---- time ----

bool talus_step(TalusWorld *world, int steps)
{
    if (!world || steps < 0)
        return false;
    bool goes_on = !sim_failure(world->sim);
    for (int i = 0; i < steps && goes_on; i++)
        goes_on = sim_step(world->sim);
    return talus_told(world, goes_on);
}

const char *talus_failure(const TalusWorld *world) { return world ? sim_failure(world->sim) : NULL; }
uint64_t talus_steps(const TalusWorld *world) { return world ? sim_steps(world->sim) : 0; }
double talus_time(const TalusWorld *world) { return world ? sim_time(world->sim) : 0.0; }
double talus_time_step(const TalusWorld *world) { return world ? sim_time_step(world->sim) : 0.0; }

bool talus_reset(TalusWorld *world)
{
    if (!world)
        return false;
    bool is_back = sim_reset(world->sim);
    talus_devices_reset(world);
    return talus_told(world, is_back);
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
    if (talus_given(world, snapshot, "snapshot"))
        sim_snapshot(world->sim, &snapshot->data);
}

// The devices are there afterwards if they were when it was taken: an instance that never asked for one fits too.
static bool restore(TalusWorld *world, const SimSnapshot *snapshot)
{
    bool had_devices = world->devices;
    bool has_devices = sim_snapshot_part_count(snapshot) > 0;
    if (has_devices)
        talus_devices_make(world);
    bool is_restored = sim_restore(world->sim, snapshot);
    if (is_restored ? !has_devices : !had_devices)
        talus_devices_free(world);
    return is_restored;
}

bool talus_snapshot_restore(TalusWorld *world, const TalusSnapshot *snapshot)
{
    return talus_given(world, snapshot, "snapshot") && talus_told(world, restore(world, &snapshot->data));
}

bool talus_snapshot_write(TalusWorld *world, const char *path) 
{
    return talus_given(world, path, "path") && talus_told(world, sim_snapshot_write(world->sim, path));
}

bool talus_snapshot_read(TalusWorld *world, const char *path)
{
    if (!talus_given(world, path, "path"))
        return false;
    SimSnapshot snapshot = { 0 };
    bool is_restored = sim_snapshot_load(world->sim, path, &snapshot) && restore(world, &snapshot);
    sim_snapshot_free(&snapshot);
    return talus_told(world, is_restored);
}

bool talus_save(TalusWorld *world, const char *path) { return talus_given(world, path, "path") && talus_told(world, sim_save(world->sim, path)); }

TalusStatistics talus_statistics(const TalusWorld *world)
{
    if (!world)
        return (TalusStatistics){ 0 };
    PhysicsStatistics s = physics_statistics(sim_physics(world->sim));
    return (TalusStatistics){ s.solids, s.bodies, s.bodies_awake, s.joints, s.contacts, s.contacts_dropped, s.frozen, s.deepest };
}
