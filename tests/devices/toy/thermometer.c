// thermometer.c - a toy sensor: the air is 20 degrees warm at the origin and cools by 6.5 a kilometre upwards.
#include "devices/devices_internal.h"

static int thermometer_sample(DeviceContext *at, int channel, double *reading)
{
    (void)channel;
    double warmth = 20.0 - 0.0065 * device_pose(at).t.z + scene_float(at->info->node, "offset");
    reading[0] = device_lookup(at->info->node, warmth, at->random);
    return 1;
}

static int thermometer_constants(DeviceContext *at, double *values, int capacity)
{
    return device_lookup_constants(at->info->node, values, capacity);
}

const DeviceKind thermometer_device = {
    .type = "Thermometer",
    .code = WB_NODE_THERMOMETER,
    .channels = 1,
    .sample = thermometer_sample,
    .constants = thermometer_constants,
};
