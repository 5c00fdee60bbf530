// simple.c - devices with little inside: LEDs, pens, displays, skins.
#include "devices/devices_internal.h"

#include <webots/nodes.h>

#include <string.h>

// ---- LED ----

typedef struct LedState {
    int32_t value;
    int32_t reserved;
} LedState;

static const char *led_command(DeviceContext *at, int command, const double *numbers, int count, const void *bytes, int byte_count)
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
    .type = "LED", .code = WB_NODE_LED, .state_size = sizeof(LedState), .constants = led_constants, .command = led_command,
};

// ---- pen ----

enum { PEN_WRITE, PEN_INK };
typedef struct PenState {
    int32_t writes;
    int32_t color;
    double density;
} PenState;

static void pen_start(DeviceContext *at)
{
    Vec3 ink = scene_vec3(at->info->node, "inkColor");
    int color = (int)(ink.x * 255) << 16 | (int)(ink.y * 255) << 8 | (int)(ink.z * 255);
    *(PenState *)at->state = (PenState){ scene_bool(at->info->node, "write"), color, scene_float(at->info->node, "inkDensity") };
}

static const char *pen_command(DeviceContext *at, int command, const double *numbers, int count, const void *bytes, int byte_count)
{
    (void)bytes, (void)byte_count;
    PenState *state = at->state;
    if (command == PEN_WRITE && count >= 1) {
        state->writes = numbers[0] != 0.0;
    } else if (command == PEN_INK && count >= 2) {
        if (!(numbers[1] >= 0.0 && numbers[1] <= 1.0))
            return "the density must be between 0 and 1";
        state->color = (int32_t)double_clamp(numbers[0], 0, 0xffffff);
        state->density = numbers[1];
    } else {
        return "no such command";
    }
    return NULL;
}

const DeviceKind pen_device = { .type = "Pen", .code = WB_NODE_PEN, .state_size = sizeof(PenState), .start = pen_start, .command = pen_command };

// ---- devices that see ----

static int display_constants(DeviceContext *at, double *values, int capacity)
{
    static const char *const names[] = { "width", "height" };
    return device_field_constants(at->info->node, names, COUNT_OF(names), values, capacity);
}
const DeviceKind display_device = { .type = "Display", .code = WB_NODE_DISPLAY, .constants = display_constants };

// ---- devices that are heard or only drawn ----
const DeviceKind skin_device = { .type = "Skin", .code = WB_NODE_SKIN };
const DeviceKind microphone_device = { .type = "Microphone", .code = WB_NODE_MICROPHONE };
const DeviceKind radio_device = { .type = "Radio", .code = WB_NODE_RADIO };
