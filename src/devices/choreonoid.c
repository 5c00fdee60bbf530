// choreonoid.c - devices that only bodies have: force and torque sensors, things that are on or off, digital lines.
// A controller knows them as the Webots devices nearest to them: a TouchSensor, a VacuumGripper (touch.c), LEDs.
#include "devices/devices_internal.h"

#include "physics/fittings/fittings.h"

#include <webots/nodes.h>

#include <stdlib.h>
#include <string.h>

// ---- force and torque sensors ----

// Force in N, then torque in N m about the sensor's origin, both in the sensor's frame.
static int force_torque_sample(DeviceContext *at, int channel, double *reading)
{
    (void)channel;
    Vec3 force, torque;
    physics_force_sensor(at->physics, at->info->solid, &force, &torque);
    const double values[6] = { force.x, force.y, force.z, torque.x, torque.y, torque.z };
    memcpy(reading, values, sizeof values);
    return 6;
}

// The type of a TouchSensor, force-3d, and no lookup table.
static int force_torque_constants(DeviceContext *at, double *values, int capacity)
{
    (void)at;
    if (capacity < 1)
        return 0;
    values[0] = 2;
    return 1;
}

const DeviceKind force_torque_sensor_device = {
    .type = "ForceTorqueSensor",
    .code = WB_NODE_TOUCH_SENSOR,
    .channels = 1,
    .sample = force_torque_sample,
    .constants = force_torque_constants,
};

// ---- on or off ----

static const char *switch_command(DeviceContext *at, int command, const double *numbers, int count, const void *bytes,
                                  int byte_count)
{
    (void)command, (void)bytes, (void)byte_count;
    if (count < 1)
        return "a number is missing";
    physics_switch_turn(at->physics, at->info->solid, numbers[0] != 0.0);
    return NULL;
}

// Those of an LED with one colour.
static int switch_constants(DeviceContext *at, double *values, int capacity)
{
    (void)at;
    if (capacity < 2)
        return 0;
    values[0] = 0;
    values[1] = 1;
    return 2;
}

#define SWITCH(name, node_type)                                                                                        \
    const DeviceKind name = {                                                                                          \
        .type = node_type, .code = WB_NODE_LED, .constants = switch_constants, .command = switch_command               \
    }
SWITCH(conveyor_device, "Conveyor");
SWITCH(attachment_device, "Attachment");
SWITCH(marker_device, "Marker");

static bool is_switch(const DeviceKind *kind)
{
    return kind == &conveyor_device || kind == &attachment_device || kind == &marker_device;
}

static bool is_gripper(const DeviceKind *kind) { return kind == &holder_device || kind == &vacuum_gripper_device; }

bool devices_switch(Devices *devices, int robot, int tag, bool on)
{
    const DeviceInfo *info = devices_info(devices, robot, tag);
    if (device_at(devices, robot, tag)->is_gone)
        return false;
    if (is_switch(info->kind))
        physics_switch_turn(devices->physics, info->solid, on);
    else if (is_gripper(info->kind))
        physics_gripper_turn(devices->physics, info->solid, on);
    else
        return false;
    return true;
}

bool devices_is_on(const Devices *devices, int robot, int tag)
{
    const DeviceInfo *info = devices_info(devices, robot, tag);
    if (device_at(devices, robot, tag)->is_gone)
        return false;
    return is_gripper(info->kind) ? physics_gripper_is_on(devices->physics, info->solid)
                                  : is_switch(info->kind) && physics_switch_is_on(devices->physics, info->solid);
}

bool devices_of_node(const Devices *devices, const SceneNode *node, int *robot, int *tag)
{
    assert_debug(node && robot && tag);
    for (*robot = 0; *robot < devices->robot_count; ++*robot)
        for (*tag = 1; devices_robot_exists(devices, *robot) && *tag <= devices_count(devices, *robot); ++*tag)
            if (devices_info(devices, *robot, *tag)->node == node)
                return true;
    return false;
}

// ---- digital lines ----

enum { LINES_MAX = 1024 };

typedef struct DigitalState {
    uint64_t lines[2][LINES_MAX / 64];  // output, input
} DigitalState;

static bool has_line(const DeviceInfo *info, int line)
{
    return info->kind == &digital_io_device && line >= 0 && line < LINES_MAX
           && line < scene_int(info->node, "signalLines");
}

static void put_line(DigitalState *state, bool is_input, int line, bool on)
{
    assert_debug(line >= 0 && line < LINES_MAX);
    uint64_t *word = &state->lines[is_input][line / 64], bit = (uint64_t)1 << (line % 64);
    *word = on ? *word | bit : *word & ~bit;
}

static void digital_start(DeviceContext *at)
{
    if (scene_int(at->info->node, "signalLines") > LINES_MAX)
        diag_warning(at->devices->diags, at->info->node->pos, "'%s' has %d lines; the first %d work", at->info->name,
                     scene_int(at->info->node, "signalLines"), LINES_MAX);
}

// A controller writes the output lines 0 to 30 as the bits of a number.
static const char *digital_command(DeviceContext *at, int command, const double *numbers, int count, const void *bytes,
                                   int byte_count)
{
    (void)command, (void)bytes, (void)byte_count;
    if (count < 1 || !(numbers[0] >= 0.0 && numbers[0] <= INT32_MAX))
        return "the lines are the bits of a number that is not negative";
    for (int line = 0; line < 31; line++)
        if (has_line(at->info, line))
            put_line(at->state, false, line, ((uint32_t)numbers[0] >> line) & 1u);
    return NULL;
}

// Those of an LED whose value is free.
static int digital_constants(DeviceContext *at, double *values, int capacity)
{
    (void)at;
    if (capacity < 2)
        return 0;
    values[0] = 1;
    values[1] = 0;
    return 2;
}

const DeviceKind digital_io_device = {
    .type = "DigitalIO",
    .code = WB_NODE_LED,
    .state_size = sizeof(DigitalState),
    .start = digital_start,
    .constants = digital_constants,
    .command = digital_command,
};

static void switch_connected(Devices *devices, int robot, const SceneNode *node, int line, bool on)
{
    assert(line >= 0);
    const FieldList *connections = scene_list(node, "connections");
    for (int i = 0; i < connections->count; i++) {
        char *name;
        long number = strtol(connections->strings[i], &name, 10);
        if (*name != ':' || number != line)
            continue;
        name += 1 + strspn(name + 1, " ");
        int tag = devices_find(devices, robot, name);
        if (tag < 1 || !devices_switch(devices, robot, tag, on))
            diag_warning(devices->diags, node->pos,
                         "input line %d is connected to '%.60s', which is no device that can be switched", line, name);
    }
}

bool devices_signal_set(Devices *devices, int robot, int tag, bool is_input, int line, bool on)
{
    const DeviceInfo *info = devices_info(devices, robot, tag);
    if (!has_line(info, line))
        return false;
    put_line(device_state(devices, robot, tag), is_input, line, on);
    if (is_input)
        switch_connected(devices, robot, info->node, line, on);
    return true;
}

bool devices_signal(const Devices *devices, int robot, int tag, bool is_input, int line, bool *on)
{
    if (!has_line(devices_info(devices, robot, tag), line))
        return false;
    const DigitalState *state = device_state(devices, robot, tag);
    *on = (state->lines[is_input][line / 64] >> (line % 64)) & 1u;
    return true;
}
