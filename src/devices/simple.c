// simple.c - devices with little inside: LEDs.
#include "devices/devices_internal.h"

#include <webots/nodes.h>

#include <string.h>

// ---- LED ----

static const char *led_command(DeviceContext *at, int command, const double *numbers, int count, const void *bytes,
                               int byte_count)
{
    (void)command, (void)bytes, (void)byte_count;
    if (count < 1 || !(fabs(numbers[0]) <= INT32_MAX))
        return "a number is missing";
    int value = (int)numbers[0], colors = scene_list(at->info->node, "color")->count;
    bool is_gradual = scene_bool(at->info->node, "gradual");
    if (!is_gradual && (value < 0 || value > colors)) {
        ((LedState *)at->state)->value = value < 0 ? 0 : colors;
        return "the LED has fewer colours";
    }
    ((LedState *)at->state)->value = value;
    return NULL;
}

static int led_constants(DeviceContext *at, double *values, int capacity)
{
    if (capacity < 2)
        return 0;
    values[0] = scene_bool(at->info->node, "gradual");
    values[1] = scene_list(at->info->node, "color")->count;
    return 2;
}

const DeviceKind led_device = {
    .type = "LED",
    .code = WB_NODE_LED,
    .state_size = sizeof(LedState),
    .constants = led_constants,
    .command = led_command,
};

// ---- devices that do nothing yet ----
const DeviceKind radio_device = { .type = "Radio", .code = WB_NODE_RADIO };
