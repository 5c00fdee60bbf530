// scan.c - which robots and devices there are: found by a walk of the scene, again after each edit of its tree, and
// bound to the solids and joints that physics has for them. A device has its tag for ever: what comes in later gets the
// tags behind the others, and a robot that comes takes the place of a lost one with the same devices.
#include "devices/devices_internal.h"

#include "base/memory.h"
#include "physics/joints/motor.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// ---- which there are ----

// The kind of each node type, NULL: no device. Written once, like the schema itself: every node of a robot is asked for
// its kind after each edit.
static const DeviceKind **kinds_of_types;
static pthread_once_t kinds_once = PTHREAD_ONCE_INIT;

// That of its own type, else of the nearest one it descends from: the motor of a body is a motor.
static const DeviceKind *find_kind(const NodeType *type)
{
    for (; type; type = type->parent)
        for (int i = 0; device_kinds[i]; i++)
            if (!strcmp(type->name, device_kinds[i]->type))
                return device_kinds[i];
    return NULL;
}

static void find_kinds(void)
{
    kinds_of_types = memory_alloc_array((size_t)schema_type_count(), sizeof *kinds_of_types);
    for (int i = 0; i < schema_type_count(); i++)
        kinds_of_types[i] = find_kind(schema_type_at(i));
}

static const DeviceKind *kind_of(const SceneNode *node)
{
    pthread_once(&kinds_once, find_kinds);
    assert_debug(node->type->index >= 0 && node->type->index < schema_type_count());
    return kinds_of_types[node->type->index];
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

// Some solids are only shown: those in the rotating head of a Lidar. Physics does not have them, so nothing in them
// acts.
static bool is_simulated(const Devices *devices, const SceneNode *node)
{
    const SceneNode *solid = node;
    while (solid && !scene_node_is(solid, "Solid"))
        solid = scene_parent(solid);
    return !solid || physics_solid_of(devices->physics, solid) >= 0;
}

bool device_node_is_gone(const SceneNode *node)
{
    for (const SceneNode *at = node; at; at = at->parent)
        if (at->is_removed)
            return true;
    return false;
}

// Where physics has it.
void device_bind(const Devices *devices, Device *device)
{
    assert_debug(device->info.node);
    device->info.joint = device->info.axis = device->info.solid = -1;
    device->is_gone = device_node_is_gone(device->info.node) || !is_simulated(devices, device->info.node);
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
    assert_debug(node && kind);
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
    device_bind(devices, device);
    int size = (int)((kind->state_size + 7) & ~(size_t)7);
    memory_grow(&devices->kind_states, &devices->kind_state_capacity, devices->kind_state_size + size, 1);
    if (size)
        memset(devices->kind_states + devices->kind_state_size, 0, (size_t)size);
    devices->kind_state_size += size;
}

typedef struct ScanContext {
    Devices *devices;
    int robot;
    bool is_new;  // the robot: what is wrong with its devices is said once
} ScanContext;

// The device of a robot that has this node; one whose node is gone waits for another of its kind and name (a PROTO made
// anew).
static Device *find_device(const Devices *devices, const DeviceRobot *robot, const SceneNode *node,
                           const DeviceKind *kind)
{
    assert_debug(robot->first_device >= 0 && robot->first_device + robot->device_count <= devices->device_count);
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
    if (!is_simulated(devices, node)) {
        if (scan->is_new)
            diag_warning(devices->diags, node->pos, "the %s '%s' is in a Solid that is only shown: no device of '%s'",
                         node->type->name, scene_string(node, "name"), scene_string(robot->node, "name"));
        return true;
    }
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

void devices_start(Devices *devices, int robot, int first_tag)
{
    assert_debug(robot >= 0 && robot < devices->robot_count && first_tag >= 1);
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
    if (!kind || robot_above(node) != match->robot || !is_simulated(match->devices, node))
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
    assert_debug(index >= 0 && index < devices->robot_count);
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
    assert_debug(place >= 0 && place < devices->device_count);
    device->is_shown = false;
    device->shown_value = device->eye = device->trail_count = 0;
    free(device->picture);
    device->picture = NULL;
    devices->states[place] = (DeviceState){ 0 };
    memset(devices->readings[place], 0, sizeof devices->readings[place]);
    if (device->info.kind->state_size)
        memset(devices->kind_states + device->state_offset, 0, device->info.kind->state_size);
    device_bind(devices, device);
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
    devices->robot_states[index] = (RobotState){ .energy = battery_of(node, 0) };
    devices->cursor.is_valid = false;
    DeviceMatch match = { devices, node, index, 0, true };
    scene_walk(node, false, match_device, &match);
    assert_debug(match.seen == row->device_count);
    for (int tag = 1; tag <= row->device_count; tag++)
        renew_device(devices, index, tag);
    devices_start(devices, index, 1);
    battery_update_power(devices, index);
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
    devices->robot_states[index] = (RobotState){ .energy = battery_of(node, 0) };
    ScanContext scan = { devices, index, true };
    scene_walk(node, false, scan_device, &scan);
    devices_start(devices, index, 1);
    battery_update_power(devices, index);
}

// After the world was changed: devices that came in get the tags behind the others, and all are looked up in physics
// again.
static void scan_again(Devices *devices, int robot)
{
    assert_debug(devices->robots[robot].is_alive);
    DeviceRobot *row = &devices->robots[robot];
    int known = row->device_count;
    row->solid = physics_solid_of(devices->physics, row->node);
    for (int i = 0; i < known; i++)
        device_bind(devices, &devices->devices[row->first_device + i]);
    ScanContext scan = { devices, robot, false };
    scene_walk(row->node, false, scan_device, &scan);
    for (int tag = 1; tag <= known; tag++) {
        Device *device = device_at(devices, robot, tag);
        device_bind(devices, device);
        for (int channel = 0; channel < DEVICE_CHANNELS; channel++) {
            ChannelState *sampling = &devices->states[row->first_device + tag - 1].channels[channel];
            DeviceContext at = device_context(devices, robot, tag);
            if (device->is_gone)
                sampling->period = sampling->period_ms = 0;
            else if (sampling->period > 0 && at.info->kind->enabled)
                at.info->kind->enabled(&at, channel, true);
        }
    }
    devices_start(devices, robot, known + 1);
    battery_update_power(devices, robot);
}

static bool scan_robot(SceneNode *node, void *context)
{
    Devices *devices = context;
    if (scene_node_is(node, "Charger"))
        battery_add_charger(devices, node);
    if (scene_node_is(node, "Robot") && devices_robot_of(devices, node) < 0 && is_simulated(devices, node))
        add_robot(devices, node);
    return true;
}

void devices_rescan(Devices *devices)
{
    if (devices->tree == physics_tree_count(devices->physics))
        return;
    devices->tree = physics_tree_count(devices->physics);
    for (int i = 0; i < devices->robot_count; i++) {
        if (device_node_is_gone(devices->robots[i].node))
            devices->robots[i].is_alive = false;
        if (devices->robots[i].is_alive)
            scan_again(devices, i);
    }
    const FieldList *top = scene_list(scene_root(devices->scene), "children");
    for (int i = 0; i < top->count; i++)
        if (scene_list_node(top, i))
            scene_walk(scene_list_node(top, i), false, scan_robot, devices);
}
