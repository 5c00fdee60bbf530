// When the physics plugin is called: the one place that ties its callbacks to the phases of a step.
#include "sim/sim_internal.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

// ---- failure ----
// What is saved is the last completed step. Copying the state in every step would cost more than an empty plugin does, so
// it is looked for when the plugin fails: before the solver ran it is still there, after it the step is brought to its end.
// Only calls outside of a step (init, cleanup, draw) are preceded by a copy.

static void take_state(Sim *sim)
{
    sim_snapshot_light(sim, sim_model_hash(sim), &sim->plugin_last);
}

static void find_last_state(Sim *sim, SimPhase phase)
{
    if (sim->plugin_last.size > 0)
        return;
    if (phase >= SIM_PHASE_COLLIDE) {
        physics_poststep(sim->physics);
        sim->steps++;
    }
    physics_drop_forces(sim->physics);  // of a call that did not come to its end
    take_state(sim);
}

static void write_last_state(Sim *sim)
{
    SimSnapshot *last = &sim->plugin_last;
    Arena *arena = arena_create();
    const char *path = sim->plugin_options.crash_snapshot;
    if (!path)
        path = arena_printf(arena, "%s.crash.snap", path_stem(arena, scene_path(sim->scene)));
    uint64_t hash = hash_bytes(last->data, last->size, 0);
    char *data = arena_alloc(arena, last->size + sizeof(hash));
    memcpy(data, last->data, last->size);
    memcpy(data + last->size, &hash, sizeof(hash));
    if (file_write_atomic(path, data, last->size + sizeof(hash), sim->diags))
        diag_warning(sim->diags, (SourcePos){ 0 }, "the state of the last completed step is in %s; `talus run WORLD --from %s` goes on from it", path, path);
    arena_destroy(arena);
}

static bool check(Sim *sim, SimPhase phase)
{
    if (!plugin_is_failed(sim->plugin))
        return true;
    if (!sim->is_broken) {
        find_last_state(sim, phase);
        write_last_state(sim);
    }
    sim->is_broken = true;
    sim_stop(sim, plugin_failure(sim->plugin));
    return false;
}

// Before a call outside of a step. What step_end did to forces shows only now.
static bool settle(Sim *sim)
{
    sim->plugin_last.size = 0;
    if (plugin_settle(sim->plugin))
        take_state(sim);
    return check(sim, SIM_PHASE_BEGIN);
}

// ---- phases ----

static bool before_step(Sim *sim, void *context)
{
    (void)context;
    sim->plugin_last.size = 0;
    plugin_settle(sim->plugin);
    return check(sim, SIM_PHASE_BEGIN);
}

static bool before_plugin(Sim *sim, void *context)
{
    (void)context;
    plugin_collided(sim->plugin);  // when something was moved by hand a pass was made
    return check(sim, SIM_PHASE_PRESTEP);
}

static bool step(Sim *sim, void *context)
{
    (void)context;
    plugin_step(sim->plugin, sim_time(sim));
    return check(sim, SIM_PHASE_PLUGIN_STEP);
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
    return check(sim, SIM_PHASE_COLLIDE);
}

static bool step_end(Sim *sim, void *context)
{
    (void)context;
    plugin_step_end(sim->plugin, sim_time(sim));
    return check(sim, SIM_PHASE_PLUGIN_END);
}

static const struct { SimPhase phase; SimHook hook; } hooks[] = {
    { SIM_PHASE_BEGIN, before_step },  { SIM_PHASE_PRESTEP, before_plugin }, { SIM_PHASE_PLUGIN_STEP, step }, { SIM_PHASE_ADVANCE, advanced },
    { SIM_PHASE_COLLIDE, collided },   { SIM_PHASE_PLUGIN_END, step_end },
};

// ---- life ----

// Init, then the collision pass in which the plugin takes part for the first time.
static bool start(Sim *sim)
{
    take_state(sim);
    bool is_fine = plugin_init(sim->plugin, sim_time(sim));
    // Without a collide function the contacts are what they were.
    if (is_fine && plugin_has_collide(sim->plugin))
        physics_collide(sim->physics);
    plugin_collided(sim->plugin);
    return check(sim, SIM_PHASE_BEGIN) && is_fine;
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
    if (sim->plugin)
        settle(sim);
}

bool sim_plugin_drew(Sim *sim)
{
    return !sim->plugin || check(sim, SIM_PHASE_BEGIN);
}

void sim_plugin_before_reset(Sim *sim)
{
    if (!sim->plugin)
        return;
    settle(sim);
    plugin_cleanup(sim->plugin, sim_time(sim));
    check(sim, SIM_PHASE_BEGIN);
}

bool sim_plugin_after_reset(Sim *sim)
{
    if (!sim->plugin)
        return true;
    if (!check(sim, SIM_PHASE_BEGIN))
        return false;
    plugin_set_physics(sim->plugin, sim->physics);
    return start(sim);
}

bool sim_end_plugin(Sim *sim)
{
    if (!sim->plugin)
        return true;
    settle(sim);
    plugin_cleanup(sim->plugin, sim_time(sim));
    bool is_fine = check(sim, SIM_PHASE_BEGIN);
    sim_remove_hooks(sim, &sim->plugin);
    plugin_close(sim->plugin);
    sim->plugin = NULL;
    sim_snapshot_free(&sim->plugin_last);
    return is_fine;
}
