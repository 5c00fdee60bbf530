// shown.c - what LEDs and Pens show as plain values, to be told again where nobody runs the programs: in movies of
// recordings.
#include "devices/devices_internal.h"

#include <string.h>

// LEDs and Pens that are there, in their order. False ends the walk.
static bool next_shown(const Devices *devices, int *robot, int *tag)
{
    for (; *robot < devices->robot_count; ++*robot, *tag = 0)
        while (devices->robots[*robot].is_alive && *tag < devices->robots[*robot].device_count) {
            const Device *device = device_at(devices, *robot, ++*tag);
            if (!device->is_gone && (device->info.kind == &led_device || device->info.kind == &pen_device))
                return true;
        }
    return false;
}

int devices_shown(const Devices *devices, DeviceShown *shown, int capacity)
{
    assert_debug(shown || capacity == 0);
    int count = 0;
    for (int robot = 0, tag = 0; next_shown(devices, &robot, &tag); count++) {
        const DeviceInfo *info = devices_info(devices, robot, tag);
        if (count >= capacity)
            continue;
        if (info->kind == &led_device) {
            const LedState *led = device_state(devices, robot, tag);
            shown[count] = (DeviceShown){ .node = info->node->id, .value = led->value };
        } else {
            const PenState *pen = device_state(devices, robot, tag);
            shown[count] = (DeviceShown){ info->node->id, pen->writes, pen->color, (float)pen->density };
        }
    }
    return count;
}

void devices_show(Devices *devices, const DeviceShown *shown)
{
    for (int robot = 0, tag = 0; next_shown(devices, &robot, &tag);) {
        const DeviceInfo *info = devices_info(devices, robot, tag);
        if (info->node->id != shown->node)
            continue;
        if (info->kind == &led_device)
            ((LedState *)device_state(devices, robot, tag))->value = shown->value;
        else
            *(PenState *)device_state(devices, robot, tag) =
                (PenState){ shown->value != 0, shown->color & 0xffffff,
                            shown->density >= 0.0f && shown->density <= 1.0f ? (double)shown->density : 0.0 };
        return;
    }
}

bool devices_pen_writes(const Devices *devices)
{
    for (int robot = 0, tag = 0; next_shown(devices, &robot, &tag);)
        if (devices_info(devices, robot, tag)->kind == &pen_device
            && ((const PenState *)device_state(devices, robot, tag))->writes)
            return true;
    return false;
}
