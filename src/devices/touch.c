// touch.c - devices that touch and hold: touch sensors, connectors, vacuum grippers.
#include "devices/devices_internal.h"

#include "physics/fittings/fittings.h"

#include <webots/nodes.h>

#include <string.h>

// ---- touch sensors ----

enum { TOUCH_BUMPER, TOUCH_FORCE, TOUCH_FORCE3D };

static int touch_type(const SceneNode *node)
{
    const char *type = scene_string(node, "type");
    return !strcmp(type, "force") ? TOUCH_FORCE : !strcmp(type, "force-3d") ? TOUCH_FORCE3D : TOUCH_BUMPER;
}

// A bumper remembers a touch until it is read.
typedef struct TouchState {
    int32_t is_touched;
    int32_t reserved;
} TouchState;

static void touch_sensor_watch(DeviceContext *at)
{
    TouchState *state = at->state;
    state->is_touched |= physics_touch_is_touching(at->physics, at->info->solid);
}

static int touch_sensor_sample(DeviceContext *at, int channel, double *reading)
{
    (void)channel;
    const SceneNode *node = at->info->node;
    double resolution = scene_float(node, "resolution");
    Vec3 force = physics_touch_force(at->physics, at->info->solid);
    switch (touch_type(node)) {
    case TOUCH_BUMPER:
        reading[0] = ((TouchState *)at->state)->is_touched ? 1.0 : 0.0;
        ((TouchState *)at->state)->is_touched = 0;
        return 1;
    case TOUCH_FORCE:
        reading[0] = device_rounded(device_lookup(node, fmax(-force.x, 0.0), at->random), resolution);
        return 1;
    default: {
        const double components[3] = { force.x, force.y, force.z };
        for (int i = 0; i < 3; i++)
            reading[i] = device_rounded(device_lookup(node, components[i], at->random), resolution);
        return 3;
    }
    }
}

bool devices_press(Devices *devices, int robot, int tag)
{
    const DeviceInfo *info = devices_info(devices, robot, tag);
    if (info->kind != &touch_sensor_device || touch_type(info->node) != TOUCH_BUMPER)
        return false;
    if (devices_period(devices, robot, tag, 0) > 0)  // one that is off feels nothing
        ((TouchState *)device_state(devices, robot, tag))->is_touched = 1;
    return true;
}

// type, then the lookup table
static int touch_sensor_constants(DeviceContext *at, double *values, int capacity)
{
    if (capacity < 1)
        return 0;
    values[0] = touch_type(at->info->node);
    return 1 + device_lookup_constants(at->info->node, values + 1, capacity - 1);
}

const DeviceKind touch_sensor_device = {
    .type = "TouchSensor",
    .code = WB_NODE_TOUCH_SENSOR,
    .channels = 1,
    .state_size = sizeof(TouchState),
    .watch = touch_sensor_watch,
    .sample = touch_sensor_sample,
    .constants = touch_sensor_constants,
};

// ---- connectors ----

enum { CONNECTOR_LOCK, CONNECTOR_UNLOCK };

static int connector_sample(DeviceContext *at, int channel, double *reading)
{
    (void)channel;
    reading[0] = physics_connector_presence(at->physics, at->info->solid);
    return 1;
}

static const char *connector_command(DeviceContext *at, int command, const double *numbers, int count,
                                     const void *bytes, int byte_count)
{
    (void)numbers, (void)count, (void)bytes, (void)byte_count;
    if (command == CONNECTOR_LOCK)
        physics_connector_lock(at->physics, at->info->solid);
    else if (command == CONNECTOR_UNLOCK)
        physics_connector_unlock(at->physics, at->info->solid);
    else
        return "no such command";
    return NULL;
}

// is locked
static int connector_constants(DeviceContext *at, double *values, int capacity)
{
    if (capacity < 1)
        return 0;
    values[0] = physics_connector_is_locked(at->physics, at->info->solid);
    return 1;
}

const DeviceKind connector_device = {
    .type = "Connector",
    .code = WB_NODE_CONNECTOR,
    .channels = 1,
    .sample = connector_sample,
    .constants = connector_constants,
    .command = connector_command,
};

// ---- vacuum grippers ----

enum { GRIPPER_ON, GRIPPER_OFF };

static int vacuum_gripper_sample(DeviceContext *at, int channel, double *reading)
{
    (void)channel;
    reading[0] = physics_gripper_held(at->physics, at->info->solid) >= 0;
    return 1;
}

static const char *vacuum_gripper_command(DeviceContext *at, int command, const double *numbers, int count,
                                          const void *bytes, int byte_count)
{
    (void)numbers, (void)count, (void)bytes, (void)byte_count;
    if (command != GRIPPER_ON && command != GRIPPER_OFF)
        return "no such command";
    physics_gripper_turn(at->physics, at->info->solid, command == GRIPPER_ON);
    return NULL;
}

// is on
static int vacuum_gripper_constants(DeviceContext *at, double *values, int capacity)
{
    if (capacity < 1)
        return 0;
    values[0] = physics_gripper_is_on(at->physics, at->info->solid);
    return 1;
}

// The Holder of a body is told and asked the same.
const DeviceKind holder_device = {
    .type = "Holder",
    .code = WB_NODE_VACUUM_GRIPPER,
    .channels = 1,
    .sample = vacuum_gripper_sample,
    .constants = vacuum_gripper_constants,
    .command = vacuum_gripper_command,
};

const DeviceKind vacuum_gripper_device = {
    .type = "VacuumGripper",
    .code = WB_NODE_VACUUM_GRIPPER,
    .channels = 1,
    .sample = vacuum_gripper_sample,
    .constants = vacuum_gripper_constants,
    .command = vacuum_gripper_command,
};
