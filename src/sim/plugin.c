// When the physics plugin is called: the one place that ties its callbacks to the phases of a step.
#include "sim/sim_internal.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// ---- failure ----
// What is saved is the last completed step. Copying the state in every step would cost more than an empty plugin does,
// so it is looked for when the plugin fails: before the solver ran it is still there, after it the step is brought to
// its end. Only calls outside of a step (init, cleanup, draw) are preceded by a copy.

static void take_state(Sim *sim) { sim_snapshot_light(sim, sim_model_hash(sim), &sim->plugin_last); }

// Before the copy: a step in which the solver has run is brought to its end.
static void end_step(Sim *sim, SimPhase phase)
{
    assert_debug(phase >= 0 && phase < SIM_PHASE_COUNT);
    if (phase >= SIM_PHASE_COLLIDE) {
        physics_poststep(sim->physics);
        sim->steps++;
    }
    physics_drop_forces(sim->physics);  // of a call that did not come to its end
}

static bool write_state(const Sim *sim, SimSnapshot *state, DiagSink *diags)
{
    assert_debug(sim->crash_file);
    assert_debug(state->data && state->size > 0);
    uint64_t hash = hash_bytes(state->data, state->size, 0);
    memcpy((char *)state->data + state->size, &hash, sizeof hash);
    return file_write_atomic(sim->crash_file, state->data, state->size + sizeof hash, diags);
}

static void write_last_state(Sim *sim)
{
    assert_debug(sim->plugin_last.size > 0 && sim->crash_path);
    SimSnapshot file = { .size = sim->plugin_last.size };
    file.data = memory_alloc_raw(file.size + sizeof(uint64_t));
    memcpy(file.data, sim->plugin_last.data, file.size);
    if (write_state(sim, &file, sim->diags))
        diag_warning(sim->diags, (SourcePos){ 0 },
                     "the state of the last completed step is in %s; `talus run WORLD --from %s` goes on from it",
                     sim->crash_path, sim->crash_path);
    sim_snapshot_free(&file);
}

// For a process whose heap is damaged: what is written lies in pages of its own.
static const char *save_last(void *context)
{
    Sim *sim = context;
    enum { ROOM = 1 << 30 };  // pages that nothing is written to cost nothing
    SimSnapshot state = { .data = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                                       -1, 0),
                          .capacity = ROOM };
    if (state.data == MAP_FAILED)
        return NULL;
    if (sim->plugin_last.size > 0) {
        memcpy(state.data, sim->plugin_last.data, sim->plugin_last.size);
        state.size = sim->plugin_last.size;
    } else {
        end_step(sim, sim->phase);
        sim_snapshot_light(sim, sim_model_hash(sim), &state);
    }
    return write_state(sim, &state, NULL) ? sim->crash_path : NULL;
}

static bool check(Sim *sim, SimPhase phase)
{
    assert(sim->plugin);
    if (!plugin_is_failed(sim->plugin))
        return true;
    if (!sim->is_broken) {
        if (sim->plugin_last.size == 0) {
            end_step(sim, phase);
            take_state(sim);
        }
        write_last_state(sim);
        plugin_is_saved(sim->plugin);
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

static const struct {
    SimPhase phase;
    SimHook hook;
} hooks[] = {
    { SIM_PHASE_BEGIN, before_step }, { SIM_PHASE_PRESTEP, before_plugin }, { SIM_PHASE_PLUGIN_STEP, step },
    { SIM_PHASE_ADVANCE, advanced },  { SIM_PHASE_COLLIDE, collided },      { SIM_PHASE_PLUGIN_END, step_end },
};

// ---- life ----

// Init, then the collision pass in which the plugin takes part for the first time.
static bool start(Sim *sim)
{
    assert(sim->plugin && !sim->is_writing);
    take_state(sim);
    bool is_fine = plugin_init(sim->plugin, sim_time(sim));
    // Without a collide function the contacts are what they were. A run that starts in its middle has a restored state.
    if (is_fine && plugin_has_collide(sim->plugin)) {
        if (sim->steps > 0)
            physics_collide_restored(sim->physics);
        else
            physics_collide(sim->physics);
    }
    plugin_collided(sim->plugin);
    return check(sim, SIM_PHASE_BEGIN) && is_fine;
}

static void name_crash_file(Sim *sim)
{
    const char *given = sim->plugin_options.crash_snapshot;
    Arena *arena = arena_create();
    char *path = memory_string(given ? given
                                     : arena_printf(arena, "%s.crash.snap", path_stem(arena, scene_path(sim->scene))));
    free(sim->crash_path);
    free(sim->crash_file);
    sim->crash_path = path;
    if (given)
        sim->plugin_options.crash_snapshot = path;  // a later start must not ask the caller's string again
    char *folder = getcwd(NULL, 0);
    sim->crash_file = memory_string(folder ? path_join(arena, folder, sim->crash_path) : sim->crash_path);
    free(folder);
    arena_destroy(arena);
}

bool sim_start_plugin(Sim *sim, const SimPluginOptions *options)
{
    assert(!sim->plugin);
    bool is_missing;
    if (options)
        sim->plugin_options = *options;
    sim->plugin_options.plugin.save_last = save_last;
    sim->plugin_options.plugin.save_context = sim;
    if (plugin_name(sim->scene)) {
        name_crash_file(sim);
        take_state(sim);
    }
    sim->plugin = plugin_open(sim->scene, sim->physics, &sim->plugin_options.plugin, sim->diags, &is_missing);
    if (!sim->plugin)
        return !is_missing;
    for (int i = 0; i < COUNT_OF(hooks); i++)
        sim_add_hook(sim, hooks[i].phase, hooks[i].hook, &sim->plugin);
    start(sim);
    return true;
}

PluginHost *sim_plugin(const Sim *sim) { return sim->plugin; }

void sim_plugin_will_draw(Sim *sim)
{
    if (sim->plugin)
        settle(sim);
}

bool sim_plugin_drew(Sim *sim) { return !sim->plugin || check(sim, SIM_PHASE_BEGIN); }

void sim_plugin_before_reset(Sim *sim)
{
    if (!sim->plugin)
        return;
    settle(sim);
    plugin_cleanup(sim->plugin, sim_time(sim));
    check(sim, SIM_PHASE_BEGIN);
}

void sim_plugin_take_back(Sim *sim)
{
    if (sim->plugin)
        plugin_take_back(sim->plugin, sim->physics);
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
    assert_debug(sim);
    if (!sim->plugin)
        return true;
    settle(sim);
    plugin_cleanup(sim->plugin, sim_time(sim));
    plugin_unload(sim->plugin);
    bool is_fine = check(sim, SIM_PHASE_BEGIN);
    sim_remove_hooks(sim, &sim->plugin);
    plugin_close(sim->plugin);
    sim->plugin = NULL;
    sim_snapshot_free(&sim->plugin_last);
    return is_fine;
}
