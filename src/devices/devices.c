// devices.c - the devices of a world: found once, commanded before a step, sampled after it.
#include "devices/devices_internal.h"

#include "base/hash.h"
#include "base/memory.h"
#include "physics/joints/motor.h"

#include <stdlib.h>
#include <string.h>

// ---- which there are ----

// That of its own type, else of the nearest one it descends from: the motor of a body is a motor.
static const DeviceKind *kind_of(const SceneNode *node)
{
    for (const NodeType *type = node->type; type; type = type->parent)
        for (int i = 0; device_kinds[i]; i++)
            if (!strcmp(type->name, device_kinds[i]->type))
                return device_kinds[i];
    return NULL;
}

static SceneNode *robot_above(const SceneNode *node)
{
    for (SceneNode *above = scene_parent(node); above; above = scene_parent(above))
        if (scene_node_is(above, "Robot"))
            return above;
    return NULL;
}

static int solid_at_or_above(const Physics *physics, const SceneNode *node)
{
    for (const SceneNode *at = node; at; at = scene_parent(at))
        if (scene_node_is(at, "Solid"))
            return physics_solid_of(physics, at);
    return -1;
}

static bool is_gone(const SceneNode *node)
{
    for (const SceneNode *at = node; at; at = at->parent)
        if (at->is_removed)
            return true;
    return false;
}

// Where physics has it.
static void bind_device(const Devices *devices, Device *device)
{
    device->info.joint = device->info.axis = device->info.solid = -1;
    device->is_gone = is_gone(device->info.node);
    if (device->is_gone)
        return;
    device->info.solid = solid_at_or_above(devices->physics, device->info.node);
    physics_axis_of(devices->physics, device->info.node, &device->info.joint, &device->info.axis);
}

static void name_device(Device *device, SceneNode *node)
{
    device->info.node = node;
    device->info.name = scene_string(node, "name");
    device->info.model = schema_field(node->type, "model") ? scene_string(node, "model") : "";
}

// Puts a device at a place of the list; those from there on move up.
static void add_device(Devices *devices, int index, SceneNode *node, const DeviceKind *kind)
{
    assert(index >= 0 && index <= devices->device_count);
    int behind = devices->device_count++ - index;
    memory_grow(&devices->devices, &devices->device_capacity, devices->device_count, sizeof *devices->devices);
    memory_grow(&devices->states, &devices->state_capacity, devices->device_count, sizeof *devices->states);
    memory_grow(&devices->readings, &devices->reading_capacity, devices->device_count, sizeof *devices->readings);
    memmove(&devices->devices[index + 1], &devices->devices[index], (size_t)behind * sizeof *devices->devices);
    memmove(&devices->states[index + 1], &devices->states[index], (size_t)behind * sizeof *devices->states);
    memmove(&devices->readings[index + 1], &devices->readings[index], (size_t)behind * sizeof *devices->readings);
    memset(devices->readings[index], 0, sizeof devices->readings[index]);
    Device *device = &devices->devices[index];
    *device = (Device){ .info = { .kind = kind, .joint = -1, .axis = -1 },
                        .state_offset = (uint32_t)devices->kind_state_size };
    name_device(device, node);
    devices->states[index] = (DeviceState){ 0 };
    bind_device(devices, device);
    int size = (int)((kind->state_size + 7) & ~(size_t)7);
    memory_grow(&devices->kind_states, &devices->kind_state_capacity, devices->kind_state_size + size, 1);
    if (size)
        memset(devices->kind_states + devices->kind_state_size, 0, (size_t)size);
    devices->kind_state_size += size;
}

typedef struct ScanContext {
    Devices *devices;
    int robot;
} ScanContext;

// The device of a robot that has this node; one whose node is gone waits for another of its kind and name (a PROTO made
// anew).
static Device *find_device(const Devices *devices, const DeviceRobot *robot, const SceneNode *node,
                           const DeviceKind *kind)
{
    Device *waiting = NULL;
    for (int i = 0; i < robot->device_count; i++) {
        Device *device = &devices->devices[robot->first_device + i];
        if (device->info.node == node)
            return device;
        if (!waiting && device->is_gone && device->info.kind == kind
            && !strcmp(device->info.name, scene_string(node, "name")))
            waiting = device;
    }
    return waiting;
}

static bool scan_device(SceneNode *node, void *context)
{
    ScanContext *scan = context;
    Devices *devices = scan->devices;
    DeviceRobot *robot = &devices->robots[scan->robot];
    const DeviceKind *kind = kind_of(node);
    if (!kind || robot_above(node) != robot->node)
        return true;
    Device *device = find_device(devices, robot, node, kind);
    if (device) {
        name_device(device, node);
        return true;
    }
    int place = robot->first_device + robot->device_count;
    add_device(devices, place, node, kind);
    robot->device_count++;
    for (int i = 0; i < devices->robot_count; i++)
        if (i != scan->robot && devices->robots[i].first_device >= place)
            devices->robots[i].first_device++;
    return true;
}

static void start_devices(Devices *devices, int robot, int first_tag)
{
    const DeviceRobot *row = &devices->robots[robot];
    for (int tag = first_tag; tag <= row->device_count; tag++) {
        Device *device = device_at(devices, robot, tag);
        DeviceState *state = &devices->states[row->first_device + tag - 1];
        char name[512];
        snprintf(name, sizeof name, "%s/%s/%s", scene_string(row->node, "name"), device->info.name,
                 device->info.kind->type);
        random_seed(&state->random, physics_seed(devices->physics), name);
        DeviceContext at = device_context(devices, robot, tag);
        if (device->info.kind->start)
            device->info.kind->start(&at);
    }
}

static double battery_value(const SceneNode *robot, int index)
{
    const FieldList *battery = scene_list(robot, "battery");
    return index < battery->count ? battery->numbers[index] : -1.0;
}

bool robot_has_battery(const Devices *devices, int robot)
{
    assert(robot >= 0 && robot < devices->robot_count);
    return battery_value(devices->robots[robot].node, 0) >= 0.0;
}

// A robot without energy has motors without power; while it is empty, those that come in have none either.
static void update_power(Devices *devices, int robot)
{
    const DeviceRobot *row = &devices->robots[robot];
    RobotState *state = &devices->robot_states[robot];
    bool is_empty = robot_has_battery(devices, robot) && state->energy <= 0.0;
    if (!is_empty && !state->is_empty)
        return;
    state->is_empty = is_empty;
    for (int tag = 1; tag <= row->device_count; tag++) {
        const DeviceInfo *info = devices_info(devices, robot, tag);
        if (info->joint >= 0)
            physics_motor_set_power(devices->physics, info->joint, info->axis, !is_empty);
    }
}

// ---- robots in the place of others ----

typedef struct DeviceMatch {
    Devices *devices;
    const SceneNode *robot;
    int index;  // of the place that is tried
    int seen;
    bool takes;  // the place
} DeviceMatch;

static bool match_device(SceneNode *node, void *context)
{
    DeviceMatch *match = context;
    const DeviceKind *kind = kind_of(node);
    if (!kind || robot_above(node) != match->robot)
        return true;
    const DeviceRobot *row = &match->devices->robots[match->index];
    int tag = ++match->seen;
    if (tag > row->device_count)
        return false;
    Device *device = device_at(match->devices, match->index, tag);
    if (!match->takes)
        return device->info.kind == kind && !device->canvas && !strcmp(device->info.name, scene_string(node, "name"));
    name_device(device, node);
    return true;
}

static bool is_place_free(const Devices *devices, int index, const SceneNode *robot)
{
    const DeviceRobot *row = &devices->robots[index];
    if (row->is_alive || row->is_held || !scene_node_is_lost(devices->scene, row->node))
        return false;
    for (int i = 0; i < devices->packet_count; i++)
        if (devices->packets[i].robot == index)
            return false;
    DeviceMatch match = { (Devices *)devices, robot, index, 0, false };
    return scene_walk((SceneNode *)robot, false, match_device, &match) && match.seen == row->device_count;
}

// All as in a place that nobody had, but for the memory of pictures.
static void renew_device(Devices *devices, int index, int tag)
{
    Device *device = device_at(devices, index, tag);
    int place = devices->robots[index].first_device + tag - 1;
    device->is_shown = false;
    device->shown_value = device->eye = device->trail_count = 0;
    free(device->picture);
    device->picture = NULL;
    devices->states[place] = (DeviceState){ 0 };
    memset(devices->readings[place], 0, sizeof devices->readings[place]);
    if (device->info.kind->state_size)
        memset(devices->kind_states + device->state_offset, 0, device->info.kind->state_size);
    bind_device(devices, device);
}

static bool take_place(Devices *devices, SceneNode *node)
{
    int index = 0;
    while (index < devices->robot_count && !is_place_free(devices, index, node))
        index++;
    if (index == devices->robot_count)
        return false;
    due_make_all(devices);  // pictures of the one before are still to be had by whoever took them
    DeviceRobot *row = &devices->robots[index];
    row->node = node;
    row->solid = physics_solid_of(devices->physics, node);
    row->is_alive = true;
    row->is_held = devices->holds_robots;
    row->serial++;
    devices->robot_states[index] = (RobotState){ .energy = battery_value(node, 0) };
    devices->cursor.is_valid = false;
    DeviceMatch match = { devices, node, index, 0, true };
    scene_walk(node, false, match_device, &match);
    for (int tag = 1; tag <= row->device_count; tag++)
        renew_device(devices, index, tag);
    start_devices(devices, index, 1);
    update_power(devices, index);
    return true;
}

static void add_robot(Devices *devices, SceneNode *node)
{
    if (take_place(devices, node))
        return;
    int index = devices->robot_count++;
    memory_grow(&devices->robots, &devices->robot_capacity, devices->robot_count, sizeof *devices->robots);
    memory_grow(&devices->robot_states, &devices->robot_state_capacity, devices->robot_count,
                sizeof *devices->robot_states);
    devices->robots[index] = (DeviceRobot){ .node = node,
                                            .solid = physics_solid_of(devices->physics, node),
                                            .is_alive = true,
                                            .is_held = devices->holds_robots,
                                            .first_device = devices->device_count };
    devices->robot_states[index] = (RobotState){ .energy = battery_value(node, 0) };
    ScanContext scan = { devices, index };
    scene_walk(node, false, scan_device, &scan);
    start_devices(devices, index, 1);
    update_power(devices, index);
}

// After the world was changed: devices that came in get the tags behind the others, and all are looked up in physics
// again.
static void scan_again(Devices *devices, int robot)
{
    DeviceRobot *row = &devices->robots[robot];
    int known = row->device_count;
    row->solid = physics_solid_of(devices->physics, row->node);
    for (int i = 0; i < known; i++)
        bind_device(devices, &devices->devices[row->first_device + i]);
    ScanContext scan = { devices, robot };
    scene_walk(row->node, false, scan_device, &scan);
    for (int tag = 1; tag <= known; tag++) {
        Device *device = device_at(devices, robot, tag);
        bind_device(devices, device);
        for (int channel = 0; channel < DEVICE_CHANNELS; channel++) {
            ChannelState *sampling = &devices->states[row->first_device + tag - 1].channels[channel];
            DeviceContext at = device_context(devices, robot, tag);
            if (device->is_gone)
                sampling->period = sampling->period_ms = 0;
            else if (sampling->period > 0 && at.info->kind->enabled)
                at.info->kind->enabled(&at, channel, true);
        }
    }
    start_devices(devices, robot, known + 1);
    update_power(devices, robot);
}

static void add_charger(Devices *devices, SceneNode *node)
{
    for (int i = 0; i < devices->charger_count; i++)
        if (devices->chargers[i] == node)
            return;
    memory_grow(&devices->chargers, &devices->charger_capacity, devices->charger_count + 1, sizeof *devices->chargers);
    memory_grow(&devices->charger_energy, &devices->charger_energy_capacity, devices->charger_count + 1,
                sizeof *devices->charger_energy);
    devices->charger_energy[devices->charger_count] = battery_value(node, 0);
    devices->chargers[devices->charger_count++] = node;
}

static bool scan_robot(SceneNode *node, void *context)
{
    Devices *devices = context;
    if (scene_node_is(node, "Charger"))
        add_charger(devices, node);
    if (scene_node_is(node, "Robot") && devices_robot_of(devices, node) < 0)
        add_robot(devices, node);
    return true;
}

void devices_rescan(Devices *devices)
{
    if (devices->tree == physics_tree_count(devices->physics))
        return;
    devices->tree = physics_tree_count(devices->physics);
    for (int i = 0; i < devices->robot_count; i++) {
        if (is_gone(devices->robots[i].node))
            devices->robots[i].is_alive = false;
        if (devices->robots[i].is_alive)
            scan_again(devices, i);
    }
    const FieldList *top = scene_list(scene_root(devices->scene), "children");
    for (int i = 0; i < top->count; i++)
        if (scene_list_node(top, i))
            scene_walk(scene_list_node(top, i), false, scan_robot, devices);
}

static void reset_channel(ChannelState *channel)
{
    channel->since = 0;
    channel->has_read = 0;
}

static void reset_robot(Devices *devices, int robot)
{
    DeviceRobot *row = &devices->robots[robot];
    row->is_alive = !is_gone(row->node);
    if (!row->is_alive)
        return;
    row->solid = physics_solid_of(devices->physics, row->node);
    RobotState *state = &devices->robot_states[robot];
    state->energy = battery_value(row->node, 0);
    state->is_empty = state->is_free = 0;
    memset(state->wheel_speeds, 0, sizeof state->wheel_speeds);
    memset(state->wheel_angles, 0, sizeof state->wheel_angles);
    reset_channel(&state->battery);
    for (int tag = 1; tag <= row->device_count; tag++) {
        Device *device = device_at(devices, robot, tag);
        bind_device(devices, device);
        if (device->info.kind->state_size)
            memset(devices->kind_states + device->state_offset, 0, device->info.kind->state_size);
    }
    start_devices(devices, robot, 1);
    update_power(devices, robot);
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

Devices *devices_create(Scene *scene, Physics *physics, DiagSink *diags)
{
    Devices *devices = memory_alloc(sizeof *devices);
    devices->scene = scene;
    devices->physics = physics;
    devices->diags = diags;
    devices->tree = UINT64_MAX;
    if (!scene_is_frozen(scene))
        scene_add_keeper(scene, keep_nodes, devices);
    devices_rescan(devices);
    return devices;
}

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

static DeviceState *state_at(const Devices *devices, int robot, int tag)
{
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
                            .random = &state_at(devices, robot, tag)->random,
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
    assert(channel >= 0 && channel < DEVICE_CHANNELS);
    return tag == 0 ? &devices->robot_states[robot].battery : &state_at(devices, robot, tag)->channels[channel];
}

void devices_enable(Devices *devices, int robot, int tag, int channel, int period_ms)
{
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
    state->serial++;
}

static void watch(Devices *devices, int robot, int tag)
{
    if (!device_at(devices, robot, tag)->info.kind->watch || channel_at(devices, robot, tag, 0)->period == 0)
        return;
    DeviceContext at = device_context(devices, robot, tag);
    at.info->kind->watch(&at);
}

// Processor and motors draw from the battery; a robot without energy has motors without power and sensors that keep
// their last value.
static void drain_battery(Devices *devices, int robot)
{
    DeviceRobot *row = &devices->robots[robot];
    RobotState *state = &devices->robot_states[robot];
    if (battery_value(row->node, 0) < 0.0 && state->energy < 0.0)
        return;
    double power = scene_float(row->node, "cpuConsumption");
    for (int tag = 1; tag <= row->device_count; tag++) {
        const DeviceInfo *info = devices_info(devices, robot, tag);
        if (info->joint < 0 || !scene_node_is(info->node, "Motor"))
            continue;
        PhysicsMotor motor = physics_motor(devices->physics, info->joint, info->axis);
        power += fabs(motor.feedback) * scene_float(info->node, "consumptionFactor");
    }
    state->energy = fmax(state->energy - power * physics_time_step(devices->physics), 0.0);
    update_power(devices, robot);
}

// A robot whose centre is within a charger's radius is loaded at the lower of both rates, from what the charger has
// left.
static void charge(Devices *devices, int charger)
{
    const SceneNode *node = devices->chargers[charger];
    int solid = physics_solid_of(devices->physics, node);
    if (solid < 0 || devices->charger_energy[charger] <= 0.0 || is_gone(node))
        return;
    Vec3 place = physics_solid_pose(devices->physics, solid).t;
    for (int robot = 0; robot < devices->robot_count; robot++) {
        const DeviceRobot *row = &devices->robots[robot];
        RobotState *state = &devices->robot_states[robot];
        double most = battery_value(row->node, 1);
        if (!row->is_alive || row->solid < 0 || most <= 0.0 || state->energy >= most)
            continue;
        if (vec3_distance(physics_solid_pose(devices->physics, row->solid).t, place) > scene_float(node, "radius"))
            continue;
        double power = fmin(battery_value(row->node, 2), battery_value(node, 2));
        double energy = fmin(fmax(power, 0.0) * physics_time_step(devices->physics),
                             fmin(devices->charger_energy[charger], most - state->energy));
        state->energy += energy;
        devices->charger_energy[charger] -= energy;
    }
}

static void keep_energy(Devices *devices, SceneNode *node, double energy)
{
    if (battery_value(node, 0) < 0.0 || battery_value(node, 0) == energy)
        return;
    const FieldType *type = schema_field(node->type, "battery");
    FieldList kept = *scene_list(node, "battery");
    double numbers[3] = { energy, battery_value(node, 1), battery_value(node, 2) };
    kept.count = int_min(kept.count, COUNT_OF(numbers));
    kept.numbers = numbers;
    scene_set_value(devices->scene, node, type, (FieldValue){ .list = &kept });
}

void devices_keep(Devices *devices)
{
    for (int i = 0; i < devices->robot_count; i++)
        if (devices->robots[i].is_alive)
            keep_energy(devices, devices->robots[i].node, devices->robot_states[i].energy);
    for (int i = 0; i < devices->charger_count; i++)
        if (!is_gone(devices->chargers[i]))
            keep_energy(devices, devices->chargers[i], devices->charger_energy[i]);
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
        charge(devices, i);
    devices->step = step;
    radio_deliver(devices, step);
    forget_replaced(devices);
    for (int robot = 0; robot < devices->robot_count; robot++) {
        DeviceRobot *row = &devices->robots[robot];
        if (!row->is_alive)
            continue;
        drain_battery(devices, robot);
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
    const ChannelState *state = channel_at(devices, robot, tag, channel);
    *count = state->count;
    *serial = state->serial;
    if (tag == 0)
        return &devices->robot_states[robot].energy;
    return devices->readings[devices->robots[robot].first_device + tag - 1][channel];
}

int devices_constants(const Devices *devices, int robot, int tag, double *values, int capacity)
{
    DeviceContext at = device_context((Devices *)devices, robot, tag);
    return at.info->kind->constants ? at.info->kind->constants(&at, values, capacity) : 0;
}

const char *devices_command(Devices *devices, int robot, int tag, int command, const double *numbers, int number_count,
                            const void *bytes, int byte_count)
{
    assert(robot >= 0 && robot < devices->robot_count && number_count >= 0 && byte_count >= 0);
    devices_rescan(devices);
    DeviceContext at = device_context(devices, robot, tag);
    if (device_at(devices, robot, tag)->is_gone)
        return NULL;  // its controller may not know yet
    if (!at.info->kind->command)
        return "this device takes no commands";
    return at.info->kind->command(&at, command, numbers, number_count, bytes, byte_count);
}

void devices_key(Devices *devices, int key, bool is_down)
{
    int place = 0;
    while (place < devices->key_count && devices->keys[place] != key)
        place++;
    bool is_there = place < devices->key_count;
    if (is_down && !is_there && devices->key_count < COUNT_OF(devices->keys))
        devices->keys[devices->key_count++] = key;
    if (!is_down && is_there)
        memmove(&devices->keys[place], &devices->keys[place + 1], (size_t)(--devices->key_count - place) * sizeof(int));
}

// ---- shared by sensors ----

double device_rounded(double value, double resolution)
{
    return resolution > 0.0 ? resolution * round(value / resolution) : value;
}

double device_lookup(const SceneNode *node, double value, Random *random)
{
    const FieldList *table = scene_list(node, "lookupTable");
    if (table->count == 0)
        return value;
    const double *rows = table->numbers;
    int last = table->count - 1, above = 0;
    while (above <= last && rows[3 * above] < value)
        above++;
    double output, noise;
    if (above == 0 || above > last) {
        const double *row = &rows[3 * (above == 0 ? 0 : last)];
        output = row[1];
        noise = row[2];
    } else {
        const double *low = &rows[3 * (above - 1)], *high = &rows[3 * above];
        double width = high[0] - low[0], share = width > 0.0 ? (value - low[0]) / width : 1.0;
        output = low[1] + share * (high[1] - low[1]);
        noise = low[2] + share * (high[2] - low[2]);
    }
    return noise > 0.0 ? output * (1.0 + noise * random_gaussian(random)) : output;
}

Setting setting_of(double field) { return (Setting){ field, field }; }

void setting_follow(Setting *setting, double field)
{
    if (field != setting->field)
        *setting = setting_of(field);
}

int device_lookup_constants(const SceneNode *node, double *values, int capacity)
{
    const FieldList *table = scene_list(node, "lookupTable");
    int count = int_min(table->count * 3, capacity);
    if (count > 0)
        memcpy(values, table->numbers, (size_t)count * sizeof *values);
    return count;
}

int device_field_constants(const SceneNode *node, const char *const *names, int count, double *values, int capacity)
{
    if (capacity < count)
        return 0;
    for (int i = 0; i < count; i++) {
        const FieldType *field = schema_field(node->type, names[i]);
        values[i] = !field                          ? 0.0
                    : field->kind == FIELD_SF_INT32 ? scene_int(node, names[i])
                                                    : scene_float(node, names[i]);
    }
    return count;
}

void *device_image(const DeviceContext *at, int channel, int size)
{
    assert(channel >= 0 && channel < DEVICE_IMAGES && size >= 0);
    DeviceImage *image = &device_at(at->devices, at->robot, at->tag)->images[channel];
    memory_grow(&image->bytes, &image->capacity, size, 1);
    image->size = size;
    return image->bytes;
}

Rays *device_rays(const DeviceContext *at)
{
    Devices *devices = at->devices;
    Rays *rays = due_rays(devices);
    if (devices->looked != devices->step)
        rays_update(rays);
    devices->looked = devices->step;
    return rays;
}

bool devices_ball(Devices *devices, const SceneNode *node, Vec3 *centre, double *radius)
{
    Vec3 low, high;
    Rays *rays = due_rays(devices);
    due_make_all(devices);
    rays_update(rays);
    devices->looked = UINT64_MAX;
    if (!rays_bounds_below(rays, node, &low, &high))
        return false;
    *centre = vec3_scale(vec3_add(low, high), 0.5);
    *radius = 0.5 * vec3_distance(low, high);
    return true;
}

Pose device_pose(const DeviceContext *at)
{
    return at->info->solid >= 0 ? physics_solid_pose(at->physics, at->info->solid) : scene_world_pose(at->info->node);
}

Pose device_frame(const DeviceContext *at, const SceneNode *node)
{
    Pose pose = POSE_IDENTITY;
    for (const SceneNode *above = node; above; above = scene_parent(above)) {
        int solid = scene_node_is(above, "Solid") ? physics_solid_of(at->physics, above) : -1;
        if (solid >= 0)
            return pose_mul(physics_solid_pose(at->physics, solid), pose);
        pose = pose_mul(scene_pose(above), pose);
    }
    return pose;
}

void device_finish_vector(const DeviceContext *at, double reading[3])
{
    static const char *const axes[3] = { "xAxis", "yAxis", "zAxis" };
    double resolution = scene_float(at->info->node, "resolution");
    for (int i = 0; i < 3; i++)
        reading[i] = scene_bool(at->info->node, axes[i]) ? device_rounded(reading[i], resolution) : NAN;
}

// ---- state ----

typedef struct Section {
    const void *data;
    size_t size;
} Section;
enum { SECTIONS = 9 };

static void sections_of(const Devices *devices, Section sections[SECTIONS])
{
    Section all[SECTIONS] = {
        { devices->robot_states, (size_t)devices->robot_count * sizeof *devices->robot_states },
        { devices->states, (size_t)devices->device_count * sizeof *devices->states },
        { devices->readings, (size_t)devices->device_count * sizeof *devices->readings },
        { devices->kind_states, (size_t)devices->kind_state_size },
        { devices->packets, (size_t)devices->packet_count * sizeof *devices->packets },
        { devices->pool, (size_t)devices->pool_size },
        { devices->plugin_inbox, devices->plugin_is_read ? 0 : (size_t)devices->plugin_size },
        { devices->keys, (size_t)devices->key_count * sizeof *devices->keys },
        { devices->charger_energy, (size_t)devices->charger_count * sizeof *devices->charger_energy },
    };
    memcpy(sections, all, sizeof all);
}

uint64_t devices_hash(const Devices *devices)
{
    Section sections[SECTIONS];
    sections_of(devices, sections);
    uint64_t hash = devices->step;
    for (int i = 0; i < SECTIONS; i++)
        if (sections[i].size)
            hash = hash_bytes(sections[i].data, sections[i].size, hash);
    return microphones_state_hash(devices, show_state_hash(devices, hash));
}

typedef struct SnapshotHead {
    uint64_t step;
    uint64_t sizes[SECTIONS];
    uint64_t shown;  // what displays and pens left to be seen
    uint64_t heard;  // what microphones hear
} SnapshotHead;

size_t devices_snapshot_size(const Devices *devices)
{
    Section sections[SECTIONS];
    sections_of(devices, sections);
    size_t size = sizeof(SnapshotHead);
    for (int i = 0; i < SECTIONS; i++)
        size += sections[i].size;
    return size + show_state_size(devices) + microphones_state_size(devices);
}

void devices_snapshot(const Devices *devices, void *buffer)
{
    Section sections[SECTIONS];
    sections_of(devices, sections);
    SnapshotHead head = { .step = devices->step,
                          .shown = show_state_size(devices),
                          .heard = microphones_state_size(devices) };
    char *place = (char *)buffer + sizeof head;
    for (int i = 0; i < SECTIONS; i++) {
        head.sizes[i] = sections[i].size;
        if (sections[i].size)
            memcpy(place, sections[i].data, sections[i].size);
        place += sections[i].size;
    }
    show_state_save(devices, place);
    microphones_state_save(devices, place + head.shown);
    memcpy(buffer, &head, sizeof head);
}

// Sizes are checked against each other and against the devices that there are before anything is written.
bool devices_restore(Devices *devices, const void *buffer, size_t size)
{
    SnapshotHead head;
    if (size < sizeof head)
        return false;
    memcpy(&head, buffer, sizeof head);
    size_t total = sizeof head;
    for (int i = 0; i < SECTIONS; i++) {
        if (head.sizes[i] > size - total)
            return false;
        total += head.sizes[i];
    }
    const char *shown = (const char *)buffer + total;
    if (head.shown > size - total || head.heard != size - total - head.shown
        || !show_state_is_sound(devices, shown, head.shown)
        || !microphones_state_is_sound(devices, shown + head.shown, head.heard))
        return false;
    total = size;
    Section sections[SECTIONS];
    sections_of(devices, sections);
    for (int i = 0; i < SECTIONS; i++)
        if ((i < 4 || i == 8) && head.sizes[i] != sections[i].size)
            return false;
    size_t before_packets = sizeof head;
    for (int i = 0; i < 4; i++)
        before_packets += head.sizes[i];
    int packets = (int)(head.sizes[4] / sizeof *devices->packets);
    if (total != size || head.sizes[4] % sizeof *devices->packets || head.sizes[7] > sizeof devices->keys
        || head.sizes[7] % sizeof(int)
        || !radio_is_sound(devices, (const char *)buffer + before_packets, packets, head.sizes[5]))
        return false;
    memory_grow(&devices->packets, &devices->packet_capacity, packets, sizeof *devices->packets);
    memory_grow(&devices->pool, &devices->pool_capacity, (int)head.sizes[5], 1);
    memory_grow(&devices->plugin_inbox, &devices->plugin_capacity, (int)head.sizes[6], 1);
    void *targets[SECTIONS] = { devices->robot_states, devices->states,  devices->readings,
                                devices->kind_states,  devices->packets, devices->pool,
                                devices->plugin_inbox, devices->keys,    devices->charger_energy };
    const char *place = (const char *)buffer + sizeof head;
    for (int i = 0; i < SECTIONS; i++) {
        if (head.sizes[i])
            memcpy(targets[i], place, head.sizes[i]);
        place += head.sizes[i];
    }
    devices->packet_count = packets;
    devices->cursor.is_valid = false;
    devices->pool_size = (int)head.sizes[5];
    devices->plugin_size = (int)head.sizes[6];
    devices->plugin_is_read = false;
    devices->key_count = (int)(head.sizes[7] / sizeof(int));
    devices->step = head.step;
    devices->looked = UINT64_MAX;
    devices->present = NULL;
    show_state_restore(devices, shown, head.shown);
    speakers_restored(devices);
    microphones_state_restore(devices, shown + head.shown, head.heard);
    return true;
}
