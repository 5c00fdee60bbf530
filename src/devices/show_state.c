// show_state.c - displays and paint as part of a simulation's state: infra-red sensors see them, so what comes depends
// on them. One entry after the other: what it is, how large, its pixels.
#include "devices/devices_internal.h"

#include "base/hash.h"

#include <string.h>

enum { ENTRY_DISPLAY, ENTRY_PAINT };

typedef struct EntryHead {
    int32_t kind;
    int32_t width, height;
    int32_t number;  // index of the device, id of the shape
} EntryHead;

static size_t pixel_bytes(const EntryHead *head)
{
    assert_debug(head->width > 0 && head->height > 0);
    size_t each = head->kind == ENTRY_PAINT ? 4 * sizeof(float) : 8;  // a display: what is drawn, what is seen
    return (size_t)head->width * (size_t)head->height * each;
}

static EntryHead head_of_display(const Devices *devices, int index)
{
    assert_debug(index >= 0 && index < devices->device_count && devices->devices[index].layer);
    const RaysLayer *layer = devices->devices[index].layer;
    return (EntryHead){ ENTRY_DISPLAY, layer->width, layer->height, index };
}

static EntryHead head_of_paint(const ShownPaint *paint)
{
    return (EntryHead){ ENTRY_PAINT, paint->paint.width, paint->paint.height,
                        (int32_t)scene_instance(paint->shape)->id };
}

// Calls nothing for displays that were never drawn on, and paint that never was: a state without them is as small as
// before.
size_t show_state_size(const Devices *devices)
{
    size_t size = 0;
    for (int i = 0; i < devices->device_count; i++)
        if (devices->devices[i].is_drawn) {
            EntryHead head = head_of_display(devices, i);
            size += sizeof head + pixel_bytes(&head);
        }
    for (int i = 0; i < devices->paint_count; i++) {
        EntryHead head = head_of_paint(devices->paints[i]);
        size += sizeof head + pixel_bytes(&head);
    }
    return size;
}

void show_state_save(const Devices *devices, char *to)
{
    for (int i = 0; i < devices->device_count; i++) {
        const Device *device = &devices->devices[i];
        if (!device->is_drawn)
            continue;
        EntryHead head = head_of_display(devices, i);
        size_t half = pixel_bytes(&head) / 2;
        memcpy(to, &head, sizeof head);
        memcpy(to + sizeof head, device->canvas, half);
        memcpy(to + sizeof head + half, device->screen, half);
        to += sizeof head + 2 * half;
    }
    for (int i = 0; i < devices->paint_count; i++) {
        EntryHead head = head_of_paint(devices->paints[i]);
        memcpy(to, &head, sizeof head);
        memcpy(to + sizeof head, devices->paints[i]->pixels, pixel_bytes(&head));
        to += sizeof head + pixel_bytes(&head);
    }
}

uint64_t show_state_hash(const Devices *devices, uint64_t hash)
{
    for (int i = 0; i < devices->device_count; i++)
        if (devices->devices[i].is_drawn) {
            EntryHead head = head_of_display(devices, i);
            hash = hash_bytes(devices->devices[i].screen, pixel_bytes(&head) / 2, hash);
        }
    for (int i = 0; i < devices->paint_count; i++) {
        EntryHead head = head_of_paint(devices->paints[i]);
        hash = hash_bytes(devices->paints[i]->pixels, pixel_bytes(&head), hash);
    }
    return hash;
}

static bool read_head(const char **at, size_t *left, EntryHead *head)
{
    enum { SIDE_MAX = 16384 };
    if (*left < sizeof *head)
        return false;
    memcpy(head, *at, sizeof *head);
    *at += sizeof *head;
    *left -= sizeof *head;
    return (head->kind == ENTRY_DISPLAY || head->kind == ENTRY_PAINT) && head->width > 0 && head->height > 0
           && head->width <= SIDE_MAX && head->height <= SIDE_MAX && pixel_bytes(head) <= *left;
}

static bool fits(const Devices *devices, const EntryHead *head)
{
    if (head->kind == ENTRY_DISPLAY) {
        const Device *device = head->number >= 0 && head->number < devices->device_count
                                   ? &devices->devices[head->number]
                                   : NULL;
        return device && device->info.kind == &display_device && scene_int(device->info.node, "width") == head->width
               && scene_int(device->info.node, "height") == head->height;
    }
    const SceneNode *node = scene_find_id(devices->scene, (uint32_t)head->number);
    return node && scene_actual(node) && scene_actual(node)->type
           && (scene_node_is(scene_actual(node), "Shape") || scene_node_is(scene_actual(node), "CadShape"));
}

bool show_state_is_sound(const Devices *devices, const char *from, size_t size)
{
    while (size > 0) {
        EntryHead head;
        if (!read_head(&from, &size, &head) || !fits(devices, &head))
            return false;
        from += pixel_bytes(&head);
        size -= pixel_bytes(&head);
    }
    return true;
}

void show_state_restore(Devices *devices, const char *from, size_t size)
{
    show_clear(devices);
    while (size > 0) {
        EntryHead head;
        if (!read_head(&from, &size, &head))
            return;
        if (head.kind == ENTRY_DISPLAY)
            display_restore(devices, head.number, from);
        else
            paint_restore(devices, scene_actual(scene_find_id(devices->scene, (uint32_t)head.number)), head.width,
                          head.height, from);
        from += pixel_bytes(&head);
        size -= pixel_bytes(&head);
    }
}
