// sim.c - a world that runs: the phases of a step in their order, time, what is told to those who listen.
#include "sim/sim_internal.h"

#include "base/hash.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

// ---- phases ----

static void phase_begin(Sim *sim) { physics_begin_step(sim->physics, sim->steps); }
static void phase_prestep(Sim *sim) { physics_prestep(sim->physics); }
static void phase_fluids(Sim *sim) { physics_fluids(sim->physics); }
static void phase_advance(Sim *sim) { physics_advance(sim->physics); }
static void phase_collide(Sim *sim) { physics_collide(sim->physics); }
static void phase_poststep(Sim *sim) { physics_poststep(sim->physics); }
static void phase_time(Sim *sim) { sim->steps++; }

// The step, in order. Phases without a function are places for hooks.
static const struct {
    const char *name;
    void (*run)(Sim *sim);
} phases[] = {
    [SIM_PHASE_BEGIN] = { "begin", phase_begin },
    [SIM_PHASE_COMMANDS] = { "commands", NULL },
    [SIM_PHASE_PRESTEP] = { "prestep", phase_prestep },
    [SIM_PHASE_PLUGIN_STEP] = { "plugin step", NULL },
    [SIM_PHASE_FLUIDS] = { "fluids", phase_fluids },
    [SIM_PHASE_ADVANCE] = { "advance", phase_advance },
    [SIM_PHASE_COLLIDE] = { "collide", phase_collide },
    [SIM_PHASE_PLUGIN_END] = { "plugin end", NULL },
    [SIM_PHASE_POSTSTEP] = { "poststep", phase_poststep },
    [SIM_PHASE_TIME] = { "time", phase_time },
    [SIM_PHASE_DEVICES] = { "devices", NULL },
    [SIM_PHASE_CONTROL] = { "control", NULL },
    [SIM_PHASE_OUTPUT] = { "output", NULL },
};
static_assert(COUNT_OF(phases) == SIM_PHASE_COUNT, "one row for every phase");

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool run_hooks(Sim *sim, HookList *list)
{
    assert_debug(list->count <= list->capacity);
    bool goes_on = true;
    for (int i = 0; i < list->count; i++) {
        assert_debug(list->items[i].hook);
        goes_on &= list->items[i].hook(sim, list->items[i].context);
    }
    return goes_on;
}

// The same phases where nobody listens and no clock is read.
static void step_alone(Sim *sim)
{
    assert_debug(!sim->hooked && !sim->is_timed && !sim->is_broken);
    sim->phase = SIM_PHASE_BEGIN;
    phase_begin(sim);
    sim->phase = SIM_PHASE_PRESTEP;
    phase_prestep(sim);
    sim->phase = SIM_PHASE_FLUIDS;
    phase_fluids(sim);
    sim->phase = SIM_PHASE_ADVANCE;
    phase_advance(sim);
    sim->phase = SIM_PHASE_COLLIDE;
    phase_collide(sim);
    sim->phase = SIM_PHASE_POSTSTEP;
    phase_poststep(sim);
    sim->phase = SIM_PHASE_TIME;
    phase_time(sim);
}

static bool step_phases(Sim *sim)
{
    bool goes_on = !sim->failure;
    double start = sim->is_timed ? now() : 0.0;
    for (int i = 0; i < SIM_PHASE_COUNT && !sim->is_broken; i++) {
        bool has_hooks = sim->hooked >> i & 1;
        if (!phases[i].run && !has_hooks)
            continue;
        sim->phase = (SimPhase)i;
        if (phases[i].run)
            phases[i].run(sim);
        if (has_hooks)
            goes_on &= run_hooks(sim, &sim->hooks[i]);
        if (sim->is_timed) {
            double end = now();
            sim->seconds[i] += end - start;
            start = end;
        }
        if (i == SIM_PHASE_COMMANDS && !goes_on)
            return false;  // whoever commands has ended the run: no time passes any more
    }
    return goes_on;
}

bool sim_step(Sim *sim)
{
    if (sim->failure)
        return false;
    sim_sweep(sim);
    if (sim->boundary.hook && !sim->boundary.hook(sim, sim->boundary.context))
        return false;
    bool goes_on = !sim->failure, is_alone = goes_on && !sim->hooked && !sim->is_timed && !sim->is_broken;
    if (is_alone)
        step_alone(sim);
    else
        goes_on = step_phases(sim);
    if (physics_has_failed(sim->physics))
        sim_stop(sim, "a state is not finite");
    return goes_on && !sim->failure;
}

void sim_time_phases(Sim *sim) { sim->is_timed = true; }

const double *sim_phase_seconds(const Sim *sim) { return sim->seconds; }

SimPhase sim_phase(const Sim *sim) { return sim->phase; }

const char *sim_phase_name(SimPhase phase)
{
    assert(phase >= 0 && phase < SIM_PHASE_COUNT);
    return phases[phase].name;
}

// ---- life ----

// After edits the rows of physics stand otherwise than in one that is made anew, which a later reset may have to do: it
// then starts from what the scene says at this moment.
void sim_take_initial(Sim *sim)
{
    assert(!sim->is_writing);
    sim->starts_from_scene |= sim->is_edited;
    sim_forget_edits(sim);
    sim_start_release(sim->start);
    sim->start = NULL;
    sim_snapshot(sim, &sim->initial);
    sim_snapshot_pack(&sim->initial);
    if (sim->starts_from_scene)
        sim_keep_fields(sim);
}

bool sim_rebuild(Sim *sim)
{
    assert(sim->scene && !sim->is_writing);
    physics_destroy(sim->physics);
    sim->physics = physics_create(sim->scene, &sim->options.physics, sim->diags);
    sim->build_count++;
    if (!sim->physics)
        return false;
    physics_begin_step(sim->physics, sim->steps);
    physics_collide(sim->physics);
    return true;
}

static double read_step_ms(const Sim *sim)
{
    double dt = physics_time_step(sim->physics);
    assert(dt > 0.0);
    const FieldList *nodes = scene_list(scene_root(sim->scene), "children");
    for (int i = 0; i < nodes->count; i++) {
        const SceneNode *node = scene_list_node(nodes, i);
        if (node && scene_node_is(node, "WorldInfo") && 0.001 * scene_float(node, "basicTimeStep") == dt)
            return scene_float(node, "basicTimeStep");
    }
    return 1000.0 * dt;
}

Sim *sim_create(Scene *scene, const SimOptions *options, DiagSink *diags)
{
    assert_debug(scene && diags);
    Sim *sim = memory_alloc(sizeof(*sim));
    sim->scene = scene;
    sim->diags = diags;
    if (options)
        sim->options = *options;
    StoreOptions store = { .resolve = { .main_file = scene_path(scene),
                                        .search_paths = sim->options.formats.search_paths },
                           .limits = sim->options.formats.limits };
    store.resolve.is_untrusted = limits_or_default(store.limits)->is_untrusted;
    sim->assets = store_create(&store);
    sim->options.physics.assets = sim->assets;
    if (!sim_rebuild(sim)) {
        sim_destroy(sim);
        return NULL;
    }
    sim->options.physics.stepper = physics_stepper_name(sim->physics);  // the caller's string need not live on
    sim->step_ms = read_step_ms(sim);
    sim_take_initial(sim);
    sim_follow_begin(sim);
    sim_watch_scene(sim);
    return sim;
}

Sim *sim_load(const char *path, const SimOptions *options, DiagSink *diags)
{
    assert_debug(path && diags);
    Scene *scene = formats_load(path, options ? &options->formats : NULL, diags);
    return scene ? sim_create(scene, options, diags) : NULL;
}

Sim *sim_load_text(const char *name, const char *text, size_t size, const SimOptions *options, DiagSink *diags)
{
    assert_debug(name && diags && (text || size == 0));
    Scene *scene = formats_load_text(name, text, size, options ? &options->formats : NULL, diags);
    return scene ? sim_create(scene, options, diags) : NULL;
}

// The plugin ends while physics is whole, devices before physics, and the scene after all that points into it. A
// model that clones share goes with its last user.
void sim_destroy(Sim *sim)
{
    if (!sim)
        return;
    sim_end_plugin(sim);
    sim_drop_devices(sim);
    physics_destroy(sim->physics);
    store_destroy(sim->assets);
    scene_destroy(sim->scene);
    for (int i = 0; i < SIM_PHASE_COUNT; i++)
        free(sim->hooks[i].items);
    free(sim->reset_hooks.items);
    free(sim->parts);
    free(sim->edits);
    free(sim->fields);
    free(sim->changed);
    free(sim->written);
    free(sim->failure);
    free(sim->crash_path);
    free(sim->crash_file);
    sim_snapshot_free(&sim->initial);
    sim_snapshot_free(&sim->kept_parts);
    sim_snapshot_free(&sim->plugin_last);
    sim_start_release(sim->start);
    if (sim->owns_diags)
        diag_destroy(sim->diags);
    sim_model_release(sim->model);
    sim_model_release(sim->origin);
    free(sim);
}

Scene *sim_scene(const Sim *sim) { return sim->scene; }
Physics *sim_physics(const Sim *sim) { return sim->physics; }
void sim_prefetch(const Sim *sim) { memory_prefetch(sim, offsetof(Sim, options)); }
uint64_t sim_tree_version(const Sim *sim) { return (sim->build_count << 32) + physics_tree_count(sim->physics); }
AssetStore *sim_assets(const Sim *sim) { return sim->assets; }
DiagSink *sim_diags(const Sim *sim) { return sim->diags; }
uint64_t sim_steps(const Sim *sim) { return sim->steps; }
double sim_time(const Sim *sim) { return (double)sim->steps * sim->step_ms / 1000.0; }
double sim_time_step(const Sim *sim) { return physics_time_step(sim->physics); }

void sim_stop(Sim *sim, const char *reason)
{
    assert(reason);
    if (!sim->failure)
        sim->failure = memory_string(reason);
}

const char *sim_failure(const Sim *sim) { return sim->failure; }

static void add_hook(HookList *list, SimHook hook, void *context)
{
    *memory_push(list->items, list->count, list->capacity) = (HookEntry){ hook, context };
}

void sim_add_hook(Sim *sim, SimPhase phase, SimHook hook, void *context)
{
    assert(phase >= 0 && phase < SIM_PHASE_COUNT && hook);
    add_hook(&sim->hooks[phase], hook, context);
    sim->hooked |= 1u << phase;
}

// Returns how many are left.
static int drop_hooks(HookList *list, const void *context)
{
    assert(context);
    int kept = 0;
    for (int i = 0; i < list->count; i++)
        if (list->items[i].context != context)
            list->items[kept++] = list->items[i];
    return list->count = kept;
}

void sim_set_boundary(Sim *sim, SimHook boundary, void *context)
{
    assert(!boundary || !sim->boundary.hook);
    sim->boundary = (HookEntry){ boundary, context };
}

void sim_remove_hooks(Sim *sim, void *context)
{
    assert(context);
    for (int i = 0; i < SIM_PHASE_COUNT; i++)
        if (drop_hooks(&sim->hooks[i], context) == 0)
            sim->hooked &= ~(1u << i);
    drop_hooks(&sim->reset_hooks, context);
}

void sim_add_state(Sim *sim, const SimStatePart *part)
{
    assert_debug(part->context);
    assert(part->name && part->size && part->save && part->restore);
    *memory_push(sim->parts, sim->part_count, sim->part_capacity) = *part;
}

void sim_remove_state(Sim *sim, const void *context)
{
    assert(context);
    int kept = 0;
    for (int i = 0; i < sim->part_count; i++)
        if (sim->parts[i].context != context)
            sim->parts[kept++] = sim->parts[i];
    sim->part_count = kept;
}

uint64_t sim_hash(const Sim *sim)
{
    uint64_t hash = hash_combine(physics_state_hash(sim->physics), sim->steps);
    for (int i = 0; i < sim->part_count; i++)
        if (sim->parts[i].hash)
            hash = hash_combine(hash, sim->parts[i].hash(sim->parts[i].context));
    return hash;
}

uint64_t sim_model_hash(const Sim *sim) { return physics_model_hash(sim->physics); }

// ---- reset ----

bool sim_reset(Sim *sim)
{
    bool is_edited = sim_is_edited(sim), is_of_scene = is_edited && sim->starts_from_scene;
    sim_plugin_before_reset(sim);
    sim->ignores_own_writes = true;
    if (is_edited)
        physics_rest_wheels(sim->physics);
    sim_undo_edits(sim);
    assert_debug(sim->edit_count == 0 && sim->changed_count == 0 && sim->field_count == 0);
    sim->steps = 0;
    bool is_built = !is_edited || sim_rebuild(sim);
    // Words outlive a reset, and some say what the world is made of, as contactMaterial does.
    if (is_built && !is_of_scene && !sim_start_fits(sim)) {
        is_of_scene = true;
        is_built = is_edited || sim_rebuild(sim);
    }
    sim->ignores_own_writes = false;
    if (!is_built)
        return false;
    free(sim->failure);
    sim->failure = NULL;
    sim_plugin_take_back(sim);
    if (is_of_scene) {  // from now on its rows are those of a physics that was made anew
        sim->starts_from_scene = false;
        sim_take_initial(sim);
    } else if (!sim_restore_start(sim)) {
        return false;
    }
    if (!sim->start)
        sim->steps = 0;  // a clone goes back to the time at which it was made
    sim_follow_begin(sim);
    physics_begin_step(sim->physics, sim->steps);
    bool goes_on = run_hooks(sim, &sim->reset_hooks);
    return sim_plugin_after_reset(sim) && goes_on;
}
