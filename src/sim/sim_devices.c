// sim_devices.c - the devices of a world: made when somebody asks for them, part of its state when somebody drives
// them.
#include "sim/sim_internal.h"

#include "sound/sound.h"

Devices *sim_devices(Sim *sim)
{
    if (!sim->devices) {
        sim->devices = devices_create(sim->scene, sim->physics, sim->diags);
        sound_give_hearing(sim->devices, sim->diags);
    }
    return sim->devices;
}

static size_t size_of(void *context) { return devices_snapshot_size(context); }
static void save(void *context, void *buffer) { devices_snapshot(context, buffer); }
static bool restore(void *context, const void *buffer, size_t size) { return devices_restore(context, buffer, size); }
static uint64_t hash_of(void *context) { return devices_hash(context); }
static void keep(void *context) { devices_keep(context); }

void sim_devices_in_state(Sim *sim, bool are_in)
{
    assert(sim->devices);
    sim_remove_state(sim, sim->devices);
    if (are_in)
        sim_add_state(sim, &(SimStatePart){ "devices", sim->devices, size_of, save, restore, hash_of, keep });
}

void sim_drop_devices(Sim *sim)
{
    if (!sim->devices)
        return;
    sim_devices_in_state(sim, false);
    devices_destroy(sim->devices);
    sim->devices = NULL;
}
