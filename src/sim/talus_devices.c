// Devices in the library's own interface (include/talus/talus.h). They are made with the first call that asks for one,
// and are part of the state (hash, snapshots) from then on.
#include "sim/library.h"

#include "base/memory.h"

#include <string.h>

static bool sample(Sim *sim, void *context)
{
    devices_sample(context, sim_steps(sim));
    return true;
}

static bool drive(Sim *sim, void *context)
{
    (void)sim;
    devices_drive(context);
    return true;
}

void library_devices_hook(TalusWorld *world, bool is_on)
{
    if (!world->devices)
        return;
    assert_debug(world->devices == sim_devices(world->sim));
    sim_remove_hooks(world->sim, world->devices);
    sim_devices_in_state(world->sim, is_on);
    if (!is_on)
        return;
    sim_add_hook(world->sim, SIM_PHASE_COMMANDS, drive, world->devices);
    sim_add_hook(world->sim, SIM_PHASE_DEVICES, sample, world->devices);
}

Devices *library_devices(TalusWorld *world)
{
    if (world->devices)
        return world->devices;
    world->devices = sim_devices(world->sim);
    devices_sample(world->devices, sim_steps(world->sim));  // nothing is enabled yet: tells it the time
    library_devices_hook(world, true);
    return world->devices;
}

void library_devices_reset(TalusWorld *world)
{
    if (world->devices)
        devices_reset(world->devices, sim_physics(world->sim));
}

void library_devices_changed(TalusWorld *world)
{
    if (world->devices)
        devices_rescan(world->devices);
}

void library_devices_free(TalusWorld *world)
{
    if (!world->devices)
        return;
    sim_remove_hooks(world->sim, world->devices);
    sim_drop_devices(world->sim);
    world->devices = NULL;
}

typedef struct LightSearch {
    const char *name;
    SceneNode *found;
} LightSearch;

// Lights of a body have their name as DEF: a Light has no field for it.
static bool find_light(SceneNode *node, void *context)
{
    LightSearch *search = context;
    if (scene_node_is(node, "Light") && node->def && !strcmp(node->def, search->name))
        search->found = node;
    return !search->found;
}

TalusNode talus_device(TalusWorld *world, TalusNode robot_id, const char *name)
{
    if (!library_given(world, name, "name"))
        return TALUS_NONE;
    Devices *devices = library_devices(world);
    const SceneNode *wanted = robot_id == TALUS_NONE ? NULL : scene_actual(library_node(world, robot_id));
    for (int robot = 0; robot < devices_robot_count(devices); robot++) {
        if (!devices_robot_exists(devices, robot)
            || (robot_id != TALUS_NONE && devices_robot_node(devices, robot) != wanted))
            continue;
        int tag = devices_find(devices, robot, name);
        if (tag > 0)
            return library_told(world, true) ? devices_info(devices, robot, tag)->node->id : TALUS_NONE;
        LightSearch search = { .name = name };
        scene_walk(devices_robot_node(devices, robot), false, find_light, &search);
        if (search.found)
            return search.found->id;
    }
    return TALUS_NONE;
}

static bool find(TalusWorld *world, TalusNode id, int *robot, int *tag)
{
    const SceneNode *node = scene_actual(library_node(world, id));
    return node && devices_of_node(library_devices(world), node, robot, tag);
}

bool talus_device_enable(TalusWorld *world, TalusNode device, int period_ms)
{
    int robot, tag;
    if (period_ms < 0 || !find(world, device, &robot, &tag))
        return false;
    devices_enable(world->devices, robot, tag, 0, period_ms);
    return library_told(world, true);
}

int talus_device_read(TalusWorld *world, TalusNode device, double *values, int capacity)
{
    int robot, tag, count;
    uint32_t serial;
    if (!find(world, device, &robot, &tag))
        return -1;
    const double *reading = devices_reading(world->devices, robot, tag, 0, &count, &serial);
    if (serial == 0 || !reading)
        return 0;
    if (values && capacity > 0)
        memcpy(values, reading, sizeof *values * (size_t)(count < capacity ? count : capacity));
    return count;
}

bool talus_device_switch(TalusWorld *world, TalusNode device, bool on)
{
    int robot, tag;
    SceneNode *node = scene_actual(library_node(world, device));
    if (node && scene_node_is(node, "Light"))
        return talus_set_bool(world, device, "on", on);
    return find(world, device, &robot, &tag) && library_told(world, devices_switch(world->devices, robot, tag, on));
}

bool talus_device_is_on(TalusWorld *world, TalusNode device, bool *on)
{
    int robot, tag;
    SceneNode *node = scene_actual(library_node(world, device));
    if (node && scene_node_is(node, "Light"))
        return talus_get_bool(world, device, "on", on);
    if (!find(world, device, &robot, &tag))
        return false;
    if (on)
        *on = devices_is_on(world->devices, robot, tag);
    return true;
}

bool talus_signal_set(TalusWorld *world, TalusNode device, bool is_input, int line, bool on)
{
    int robot, tag;
    return find(world, device, &robot, &tag)
           && library_told(world, devices_signal_set(world->devices, robot, tag, is_input, line, on));
}

bool talus_signal_get(TalusWorld *world, TalusNode device, bool is_input, int line, bool *on)
{
    int robot, tag;
    bool ignored;
    return find(world, device, &robot, &tag)
           && devices_signal(world->devices, robot, tag, is_input, line, on ? on : &ignored);
}
