// devices.c - the devices of a world: found once (scan.c), commanded before a step, sampled after it.
#include "devices/devices_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

// ---- life ----

static void reset_channel(ChannelState *channel)
{
    channel->since = 0;
    channel->has_read = 0;
}

// All as at the start, but sampling goes on: the program that enabled a sensor is not told of the reset.
static void reset_robot(Devices *devices, int robot)
{
    assert(robot >= 0 && robot < devices->robot_count);
    DeviceRobot *row = &devices->robots[robot];
    row->is_alive = !device_node_is_gone(row->node);
    if (!row->is_alive)
        return;
    row->solid = physics_solid_of(devices->physics, row->node);
    RobotState *state = &devices->robot_states[robot];
    state->energy = battery_of(row->node, 0);
    state->is_empty = state->is_free = 0;
    memset(state->wheel_speeds, 0, sizeof state->wheel_speeds);
    memset(state->wheel_angles, 0, sizeof state->wheel_angles);
    reset_channel(&state->battery);
    for (int tag = 1; tag <= row->device_count; tag++) {
        Device *device = device_at(devices, robot, tag);
        device_bind(devices, device);
        if (device->info.kind->state_size)
            memset(devices->kind_states + device->state_offset, 0, device->info.kind->state_size);
    }
    devices_start(devices, robot, 1);
    battery_update_power(devices, robot);
    for (int tag = 1; tag <= row->device_count; tag++)
        for (int channel = 0; channel < DEVICE_CHANNELS; channel++) {
            ChannelState *sampling = &devices->states[row->first_device + tag - 1].channels[channel];
            reset_channel(sampling);
            DeviceContext at = device_context(devices, robot, tag);
            if (sampling->period > 0 && at.info->kind->enabled)
                at.info->kind->enabled(&at, channel, true);
        }
}

void devices_reset(Devices *devices, Physics *physics)
{
    assert(physics);
    devices->physics = physics;
    devices->tree = physics_tree_count(physics);
    devices->step = 0;
    devices->looked = UINT64_MAX;
    devices->present = NULL;
    show_reset(devices);
    if (devices->rays)
        rays_rebind(devices->rays, physics);
    devices->packet_count = devices->pool_size = devices->plugin_size = 0;
    devices->cursor.is_valid = devices->plugin_is_read = false;
    for (int robot = 0; robot < devices->robot_count; robot++)
        reset_robot(devices, robot);
    devices->tree = UINT64_MAX;  // robots that came with the reset are found when it is asked for next
}

static void keep_nodes(void *context, Scene *scene)
{
    const Devices *devices = context;
    assert(devices->robot_count >= 0);
    for (int i = 0; i < devices->robot_count; i++)
        scene_keep(scene, devices->robots[i].node);
    for (int i = 0; i < devices->device_count; i++) {
        const DeviceInfo *info = &devices->devices[i].info;
        scene_keep(scene, info->node);
        scene_keep(scene, info->name);
        scene_keep(scene, info->model);
    }
    for (int i = 0; i < devices->charger_count; i++)
        scene_keep(scene, devices->chargers[i]);
    for (int i = 0; i < devices->paint_count; i++)
        scene_keep(scene, devices->paints[i]->shape);
    if (devices->rays)
        rays_keep_nodes(devices->rays, scene);
}

// A Skin and the solids that move its bones belong together as the file has them. Later the scene may have been told
// where all is now, so they are tied to each other before anything moves, though nobody looks yet.
static void tie_skins(Devices *devices)
{
    for (int i = 0; i < devices->device_count; i++)
        if (devices->devices[i].info.kind == &skin_device) {
            due_rays(devices);
            return;
        }
}

Devices *devices_create(Scene *scene, Physics *physics, DiagSink *diags)
{
    assert_debug(scene && physics && diags);
    Devices *devices = memory_alloc(sizeof *devices);
    devices->scene = scene;
    devices->physics = physics;
    devices->diags = diags;
    devices->tree = UINT64_MAX;
    if (!scene_is_frozen(scene))
        scene_add_keeper(scene, keep_nodes, devices);
    devices_rescan(devices);
    tie_skins(devices);
    return devices;
}

// The keeper leaves the scene first: a sweep must not ask devices that are half gone.
void devices_destroy(Devices *devices)
{
    if (!devices)
        return;
    if (!scene_is_frozen(devices->scene))
        scene_remove_keeper(devices->scene, devices);
    for (int i = 0; i < devices->device_count; i++)
        for (int number = 0; number < DEVICE_IMAGES; number++)
            free(devices->devices[i].images[number].bytes);
    for (int i = 0; i < devices->device_count; i++) {
        free(devices->devices[i].trail);
        free(devices->devices[i].heard.samples);
        free(devices->devices[i].picture);
    }
    devices_set_hearing(devices, NULL);
    due_free(devices);
    show_free(devices);
    free(devices->robots);
    free(devices->robot_states);
    free(devices->devices);
    free(devices->states);
    free(devices->readings);
    free(devices->kind_states);
    free(devices->chargers);
    free(devices->charger_energy);
    free(devices->packets);
    free(devices->pool);
    free(devices->plugin_inbox);
    rays_destroy(devices->rays);
    free(devices);
}

const Physics *devices_physics(const Devices *devices) { return devices->physics; }

int devices_robot_count(const Devices *devices) { return devices->robot_count; }

uint32_t devices_robot_serial(const Devices *devices, int robot)
{
    assert(robot >= 0 && robot < devices->robot_count);
    return devices->robots[robot].serial;
}

void devices_hold_robots(Devices *devices, bool are_held)
{
    devices->holds_robots = are_held;
    for (int i = 0; i < devices->robot_count; i++)
        devices->robots[i].is_held = are_held;
}

void devices_release_robot(Devices *devices, int robot)
{
    assert(robot >= 0 && robot < devices->robot_count && !devices->robots[robot].is_alive);
    devices->robots[robot].is_held = false;
}

bool devices_robot_exists(const Devices *devices, int robot)
{
    return robot >= 0 && robot < devices->robot_count && devices->robots[robot].is_alive;
}

SceneNode *devices_robot_node(const Devices *devices, int robot)
{
    assert(robot >= 0 && robot < devices->robot_count);
    return devices->robots[robot].node;
}

int devices_robot_of(const Devices *devices, const SceneNode *robot)
{
    for (int i = 0; i < devices->robot_count; i++)
        if (devices->robots[i].node == robot)
            return i;
    return -1;
}

Device *device_at(const Devices *devices, int robot, int tag)
{
    assert(robot >= 0 && robot < devices->robot_count && tag >= 1 && tag <= devices->robots[robot].device_count);
    return &devices->devices[devices->robots[robot].first_device + tag - 1];
}

void *device_state(const Devices *devices, int robot, int tag)
{
    return devices->kind_states ? devices->kind_states + device_at(devices, robot, tag)->state_offset : NULL;
}

DeviceState *device_sampling(const Devices *devices, int robot, int tag)
{
    assert(robot >= 0 && robot < devices->robot_count && tag >= 1 && tag <= devices->robots[robot].device_count);
    return &devices->states[devices->robots[robot].first_device + tag - 1];
}

// All that a device does goes through here, so no index of solids or joints is used after an edit that may have moved
// it. Whoever goes through all devices has looked them up before.
DeviceContext device_context(Devices *devices, int robot, int tag)
{
    devices_rescan(devices);
    assert(devices->tree == physics_tree_count(devices->physics));
    return (DeviceContext){ .devices = devices,
                            .physics = devices->physics,
                            .info = &device_at(devices, robot, tag)->info,
                            .random = &device_sampling(devices, robot, tag)->random,
                            .state = device_state(devices, robot, tag),
                            .time = (double)devices->step * physics_time_step(devices->physics),
                            .robot = robot,
                            .tag = tag };
}

int devices_count(const Devices *devices, int robot)
{
    assert(robot >= 0 && robot < devices->robot_count);
    return devices->robots[robot].device_count;
}

const DeviceInfo *devices_info(const Devices *devices, int robot, int tag)
{
    return &device_at(devices, robot, tag)->info;
}

int devices_find(const Devices *devices, int robot, const char *name)
{
    assert(robot >= 0 && robot < devices->robot_count && name);
    for (int tag = 1; tag <= devices->robots[robot].device_count; tag++)
        if (!strcmp(device_at(devices, robot, tag)->info.name, name))
            return tag;
    return 0;
}

// ---- sampling ----

static ChannelState *channel_at(const Devices *devices, int robot, int tag, int channel)
{
    assert_debug(robot >= 0 && robot < devices->robot_count && tag >= 0);
    assert(channel >= 0 && channel < DEVICE_CHANNELS);
    return tag == 0 ? &devices->robot_states[robot].battery : &device_sampling(devices, robot, tag)->channels[channel];
}

void devices_enable(Devices *devices, int robot, int tag, int channel, int period_ms)
{
    assert(channel >= 0);
    devices_rescan(devices);
    if (tag > 0 && device_at(devices, robot, tag)->is_gone)
        period_ms = 0;
    ChannelState *state = channel_at(devices, robot, tag, channel);
    double step_ms = physics_time_step(devices->physics) * 1000.0;
    bool was_on = state->period > 0;
    if (period_ms <= 0) {
        state->period = state->period_ms = 0;
    } else {
        state->period_ms = period_ms;
        state->period = (int32_t)fmax(ceil(period_ms / step_ms - 1e-9), 1.0);
        if (!was_on) {
            state->since = devices->step;
            state->has_read = 0;
        }
    }
    if (tag > 0 && device_at(devices, robot, tag)->info.kind->enabled && was_on != (state->period > 0)) {
        DeviceContext at = device_context(devices, robot, tag);
        at.info->kind->enabled(&at, channel, state->period > 0);
    }
}

void devices_switch_off(Devices *devices, int robot)
{
    assert(robot >= 0 && robot < devices->robot_count);
    for (int tag = 0; tag <= devices->robots[robot].device_count; tag++)
        for (int channel = 0; channel < (tag ? DEVICE_CHANNELS : 1); channel++)
            devices_enable(devices, robot, tag, channel, 0);
    radio_forget(devices, robot);
}

int devices_period(const Devices *devices, int robot, int tag, int channel)
{
    return channel_at(devices, robot, tag, channel)->period_ms;
}

static bool is_due(const ChannelState *state, uint64_t step)
{
    return state->period > 0 && step - state->since >= (uint64_t)state->period;
}

// The battery's own meter works without power.
static bool has_power(const Devices *devices, int robot) { return !devices->robot_states[robot].is_empty; }

bool device_is_due(const Devices *devices, int robot, int tag, int channel, uint64_t step)
{
    return has_power(devices, robot) && is_due(channel_at(devices, robot, tag, channel), step);
}

static void sample_channel(Devices *devices, int robot, int tag, int channel)
{
    ChannelState *state = channel_at(devices, robot, tag, channel);
    DeviceContext at = device_context(devices, robot, tag);
    at.since_last = (double)(devices->step - state->since) * physics_time_step(devices->physics);
    at.is_first = !state->has_read;
    at.period_ms = state->period_ms;
    double *reading = devices->readings[devices->robots[robot].first_device + tag - 1][channel];
    state->since = devices->step;
    state->has_read = 1;
    if (!at.info->kind->sample)
        return;
    state->count = at.info->kind->sample(&at, channel, reading);
    assert_debug(state->count >= 0 && state->count <= READING_MAX);
    state->serial++;
}

static void watch(Devices *devices, int robot, int tag)
{
    if (!device_at(devices, robot, tag)->info.kind->watch || channel_at(devices, robot, tag, 0)->period == 0)
        return;
    DeviceContext at = device_context(devices, robot, tag);
    at.info->kind->watch(&at);
}

// Pictures that nobody looked at, of devices that get another one now.
static void forget_replaced(Devices *devices)
{
    for (int robot = 0; devices->due_count > 0 && robot < devices->robot_count; robot++)
        for (int tag = 1; devices->robots[robot].is_alive && tag <= devices->robots[robot].device_count; tag++)
            for (int channel = 0; channel < device_at(devices, robot, tag)->info.kind->channels; channel++)
                if (is_due(channel_at(devices, robot, tag, channel), devices->step))
                    due_forget(devices, robot, tag, channel == 1 ? IMAGE_SEGMENTED : channel);
}

void devices_sample(Devices *devices, uint64_t step)
{
    devices_rescan(devices);
    for (int i = 0; i < devices->charger_count; i++)
        battery_charge(devices, i);
    devices->step = step;
    radio_deliver(devices, step);
    forget_replaced(devices);
    for (int robot = 0; robot < devices->robot_count; robot++) {
        DeviceRobot *row = &devices->robots[robot];
        if (!row->is_alive)
            continue;
        battery_drain(devices, robot);
        RobotState *state = &devices->robot_states[robot];
        if (is_due(&state->battery, step)) {
            state->battery.since = step;
            state->battery.serial++;
            state->battery.count = 1;
        }
        for (int tag = 1; tag <= row->device_count; tag++)
            watch(devices, robot, tag);
        for (int tag = 1; tag <= row->device_count; tag++)
            for (int channel = 0; channel < device_at(devices, robot, tag)->info.kind->channels; channel++)
                if (device_is_due(devices, robot, tag, channel, step))
                    sample_channel(devices, robot, tag, channel);
    }
}

const double *devices_reading(const Devices *devices, int robot, int tag, int channel, int *count, uint32_t *serial)
{
    assert_debug(count && serial);
    const ChannelState *state = channel_at(devices, robot, tag, channel);
    *count = state->count;
    *serial = state->serial;
    if (tag == 0)
        return &devices->robot_states[robot].energy;
    return devices->readings[devices->robots[robot].first_device + tag - 1][channel];
}

int devices_constants(const Devices *devices, int robot, int tag, double *values, int capacity)
{
    assert_debug(values && capacity >= 0);
    DeviceContext at = device_context((Devices *)devices, robot, tag);
    if (device_at(devices, robot, tag)->is_gone)
        return 0;
    return at.info->kind->constants ? at.info->kind->constants(&at, values, capacity) : 0;
}

const char *devices_command(Devices *devices, int robot, int tag, const DeviceCommand *command)
{
    assert_debug(command->numbers || command->number_count == 0);
    assert_debug(command->bytes || command->byte_count == 0);
    assert(robot >= 0 && robot < devices->robot_count && command->number_count >= 0 && command->byte_count >= 0);
    devices_rescan(devices);
    DeviceContext at = device_context(devices, robot, tag);
    if (device_at(devices, robot, tag)->is_gone)
        return NULL;  // its controller may not know yet
    if (!at.info->kind->command)
        return "this device takes no commands";
    return at.info->kind->command(&at, command->row, command->numbers, command->number_count, command->bytes,
                                  command->byte_count);
}
