// More of a world that was loaded, for those who embed Talus: many copies that share what does not move.
#include "sim/library.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static TalusWorld *world_around(Sim *sim, const TalusWorld *like)
{
    assert_debug(sim && sim_is_shared(sim));
    TalusWorld *world = memory_alloc(sizeof *world);
    world->sim = sim;
    world->diags = sim_diags(sim);
    world->is_clone = true;
    if (like->devices) {
        library_devices(world);
        if (!sim_restore(sim, sim_start_state(sim)))
            library_devices_free(world);
    }
    return world;
}

bool talus_clone_many(TalusWorld *world, int count, TalusWorld **clones)
{
    if (!library_given(world, clones, "clones"))
        return false;
    if (count < 0)
        return library_failed("there cannot be %d clones", count);
    Sim **sims = memory_alloc_array((size_t)count + 1, sizeof *sims);
    bool is_fine = sim_clone(world->sim, count, sims);
    for (int i = 0; i < count; i++) {
        clones[i] = is_fine ? world_around(sims[i], world) : NULL;
        is_fine = is_fine && (!world->devices || clones[i]->devices);
    }
    for (int i = 0; i < count && !is_fine; i++) {
        if (clones[i])
            talus_free(clones[i]);
        else
            sim_destroy(sims[i]);
        clones[i] = NULL;
    }
    free(sims);
    return library_told(world, is_fine);
}

TalusWorld *talus_clone(TalusWorld *world)
{
    TalusWorld *clone = NULL;
    return talus_clone_many(world, 1, &clone) ? clone : NULL;
}

bool library_own(TalusWorld *world)
{
    if (!library_given(world, world, "world"))
        return false;
    if (!sim_is_shared(world->sim))
        return true;
    SimSnapshot now = { 0 };
    bool has_devices = world->devices;
    sim_snapshot(world->sim, &now);
    library_devices_free(world);
    bool is_own = sim_own_scene(world->sim);
    if (is_own && has_devices) {
        library_devices(world);
        is_own = sim_restore(world->sim, &now);
    }
    sim_snapshot_free(&now);
    return library_told(world, is_own);
}
