// When the physics plugin is called: the one place that ties its callbacks to the phases of a step.
#include "sim/sim_internal.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

// ---- failure ----

static void write_last_state(Sim *sim)
{
    SimSnapshot *last = &sim->plugin_last;
    if (!last->data)
        return;
    Arena *arena = arena_create();
    const char *path = sim->plugin_options.crash_snapshot;
    if (!path)
        path = arena_printf(arena, "%s.crash.snap", path_stem(arena, scene_path(sim->scene)));
    uint64_t hash = hash_bytes(last->data, last->size, 0);
    char *data = arena_alloc(arena, last->size + sizeof(hash));
    memcpy(data, last->data, last->size);
    memcpy(data + last->size, &hash, sizeof(hash));
    if (file_write_atomic(path, data, last->size + sizeof(hash), sim->diags))
        diag_warning(sim->diags, (SourcePos){ 0 }, "the state before the failing step is in %s; `talus run WORLD --from %s` goes on from it", path, path);
    arena_destroy(arena);
}

static bool check(Sim *sim)
{
    if (!plugin_is_failed(sim->plugin))
        return true;
    if (!sim->is_broken)
        write_last_state(sim);
    sim->is_broken = true;
    sim_stop(sim, plugin_failure(sim->plugin));
    return false;
}

// ---- phases ----

static bool before_step(Sim *sim, void *context)
{
    (void)context;
    sim_snapshot(sim, &sim->plugin_last);
    return true;
}

static bool step(Sim *sim, void *context)
{
    (void)context;
    plugin_step(sim->plugin, sim_time(sim));
    return check(sim);
}

static bool advanced(Sim *sim, void *context)
{
    (void)context;
    return plugin_advanced(sim->plugin);
}

static bool collided(Sim *sim, void *context)
{
    (void)context;
    plugin_collided(sim->plugin);
    return check(sim);
}

static bool step_end(Sim *sim, void *context)
{
    (void)context;
    plugin_step_end(sim->plugin, sim_time(sim));
    return check(sim);
}

static const struct { SimPhase phase; SimHook hook; } hooks[] = {
    { SIM_PHASE_BEGIN, before_step },  { SIM_PHASE_PRESTEP, collided }, { SIM_PHASE_PLUGIN_STEP, step }, { SIM_PHASE_ADVANCE, advanced },
    { SIM_PHASE_COLLIDE, collided },   { SIM_PHASE_PLUGIN_END, step_end },
};

// ---- life ----

// Init, then the collision pass in which the plugin takes part for the first time.
static bool start(Sim *sim)
{
    sim_snapshot(sim, &sim->plugin_last);
    bool is_fine = plugin_init(sim->plugin, sim_time(sim));
    if (is_fine)
        physics_collide(sim->physics);
    plugin_collided(sim->plugin);
    return check(sim) && is_fine;
}

bool sim_start_plugin(Sim *sim, const SimPluginOptions *options)
{
    assert(!sim->plugin);
    bool is_missing;
    if (options)
        sim->plugin_options = *options;
    sim->plugin = plugin_open(sim->scene, sim->physics, &sim->plugin_options.plugin, sim->diags, &is_missing);
    if (!sim->plugin)
        return !is_missing;
    for (int i = 0; i < COUNT_OF(hooks); i++)
        sim_add_hook(sim, hooks[i].phase, hooks[i].hook, &sim->plugin);
    start(sim);
    return true;
}

PluginHost *sim_plugin(const Sim *sim)
{
    return sim->plugin;
}

void sim_plugin_will_draw(Sim *sim)
{
    if (sim->plugin && !plugin_is_failed(sim->plugin))
        sim_snapshot(sim, &sim->plugin_last);
}

bool sim_plugin_drew(Sim *sim)
{
    return !sim->plugin || check(sim);
}

void sim_plugin_before_reset(Sim *sim)
{
    if (!sim->plugin)
        return;
    if (!plugin_is_failed(sim->plugin))
        sim_snapshot(sim, &sim->plugin_last);
    plugin_cleanup(sim->plugin, sim_time(sim));
    check(sim);
}

bool sim_plugin_after_reset(Sim *sim)
{
    if (!sim->plugin)
        return true;
    if (!check(sim))
        return false;
    plugin_set_physics(sim->plugin, sim->physics);
    return start(sim);
}

bool sim_end_plugin(Sim *sim)
{
    if (!sim->plugin)
        return true;
    if (!plugin_is_failed(sim->plugin))
        sim_snapshot(sim, &sim->plugin_last);
    plugin_cleanup(sim->plugin, sim_time(sim));
    bool is_fine = check(sim);
    sim_remove_hooks(sim, &sim->plugin);
    plugin_close(sim->plugin);
    sim->plugin = NULL;
    sim_snapshot_free(&sim->plugin_last);
    return is_fine;
}
