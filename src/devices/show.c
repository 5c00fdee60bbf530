// show.c - what devices show to eyes at some moment: LEDs that glow, what motors drive, bones, the spots of lasers, and
// what is hidden from whom. Displays (display.c) and paint (pen.c) are pixels that change while pictures of earlier
// moments may still be wanted: what a change overwrites is logged, and a picture of an earlier moment is made with the
// log undone.
#include "devices/devices_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { LOG_BYTES_MAX = 64 << 20, EYE_OF_ALL = 63 };

// ---- the log ----
// One entry after the other: a head, then the bytes that stood there.
typedef struct LogHead {
    uint8_t *place;
    size_t size;  // of the entry before, then of this one: it is walked both ways
    size_t previous;
} LogHead;

static size_t entry_bytes(size_t size) { return sizeof(LogHead) + ((size + 7) & ~(size_t)7); }

static size_t show_mark(const Devices *devices) { return (size_t)devices->log_size; }

static void swap_bytes(uint8_t *a, uint8_t *b, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        uint8_t kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

static void undo_to(Devices *devices, size_t mark)
{
    assert_debug(mark <= (size_t)devices->log_size);
    size_t at = (size_t)devices->log_size, size = devices->log_last;
    while (at > mark) {
        assert_debug(at >= entry_bytes(size));
        at -= entry_bytes(size);
        LogHead head;
        memcpy(&head, devices->log + at, sizeof head);
        swap_bytes(head.place, devices->log + at + sizeof head, head.size);
        size = head.previous;
    }
}

static void redo_from(Devices *devices, size_t mark)
{
    for (size_t at = mark; at < (size_t)devices->log_size;) {
        LogHead head;
        memcpy(&head, devices->log + at, sizeof head);
        swap_bytes(head.place, devices->log + at + sizeof head, head.size);
        at += entry_bytes(head.size);
    }
}

// Before `size` bytes at `place` change.
void show_will_change(Devices *devices, void *place, size_t size)
{
    assert_debug(place && size > 0);
    if (devices->due_count == 0) {
        devices->log_size = 0;
        return;
    }
    if ((size_t)devices->log_size + entry_bytes(size) > LOG_BYTES_MAX) {
        due_make_all(devices);
        devices->log_size = 0;
        return;
    }
    LogHead head = { place, size, devices->log_size > 0 ? devices->log_last : 0 };
    memory_grow(&devices->log, &devices->log_capacity, devices->log_size + (int)entry_bytes(size), 1);
    memcpy(devices->log + devices->log_size, &head, sizeof head);
    memcpy(devices->log + (size_t)devices->log_size + sizeof head, place, size);
    devices->log_size += (int)entry_bytes(size);
    devices->log_last = size;
}

// ---- LEDs ----

static Vec3 led_color(const SceneNode *node, int value)
{
    const FieldList *colors = scene_list(node, "color");
    if (!scene_bool(node, "gradual"))
        return value > 0 && value <= colors->count ? vec3(
                   colors->numbers[3 * value - 3], colors->numbers[3 * value - 2], colors->numbers[3 * value - 1])
                                                   : VEC3_ZERO;
    if (colors->count > 0)
        return vec3_scale(vec3(colors->numbers[0], colors->numbers[1], colors->numbers[2]),
                          double_clamp(value / 255.0, 0.0, 1.0));
    return vec3((value >> 16 & 255) / 255.0, (value >> 8 & 255) / 255.0, (value & 255) / 255.0);
}

// Where the colour of an LED goes: `node` is a Light, a Material or a PBRAppearance.
typedef struct LampVisit {
    void (*tell)(const struct LampVisit *visit, const SceneNode *node);
    Rays *rays;
    Vec3 color;
    bool is_on;
    DeviceGlow *glows;
    int *count, capacity;
} LampVisit;

// All Shapes and Lights in the first child.
static void each_lamp(const LampVisit *visit, const SceneNode *node, int depth)
{
    if (!node || !node->type || depth > 64)
        return;
    if (scene_node_is(node, "Light")) {
        visit->tell(visit, node);
    } else if (scene_node_is(node, "Shape")) {
        const SceneNode *look = scene_child(node, "appearance");
        const SceneNode *holder = look && scene_node_is(look, "Appearance") ? scene_child(look, "material") : look;
        if (holder)
            visit->tell(visit, scene_actual(holder));
    } else if (scene_node_is(node, "Group")) {
        const FieldList *children = scene_list(node, "children");
        for (int i = 0; i < children->count; i++)
            each_lamp(visit, scene_list_node(children, i), depth + 1);
    }
}

static void visit_led(LampVisit *visit, const SceneNode *led, int value)
{
    const FieldList *children = scene_list(led, "children");
    visit->color = led_color(led, value);
    visit->is_on = value != 0;
    if (children->count > 0)
        each_lamp(visit, scene_list_node(children, 0), 0);
}

static void light_up(const LampVisit *visit, const SceneNode *node)
{
    rays_set_lamp(visit->rays, node, visit->color, visit->is_on);
}

static void show_led(Devices *devices, Device *device, int value)
{
    assert_debug(device->info.kind == &led_device && devices->rays);
    if (device->is_shown && device->shown_value == value)
        return;
    visit_led(&(LampVisit){ .tell = light_up, .rays = devices->rays }, device->info.node, value);
    device->is_shown = true;
    device->shown_value = value;
}

static void note_glow(const LampVisit *visit, const SceneNode *node)
{
    bool is_light = scene_node_is(node, "Light");
    Vec3 light = is_light && !visit->is_on         ? VEC3_ZERO
                 : scene_node_is(node, "Material") ? rays_linear_color(visit->color)
                                                   : visit->color;
    if (*visit->count < visit->capacity)
        visit->glows[*visit->count] = (DeviceGlow){ node->id, light };
    ++*visit->count;
}

int devices_glows(const Devices *devices, DeviceGlow *glows, int capacity)
{
    int count = 0;
    LampVisit visit = { .tell = note_glow, .glows = glows, .count = &count, .capacity = capacity };
    for (int robot = 0; robot < devices->robot_count; robot++)
        for (int tag = 1; devices->robots[robot].is_alive && tag <= devices->robots[robot].device_count; tag++) {
            const DeviceInfo *info = devices_info(devices, robot, tag);
            if (info->kind == &led_device && !device_at(devices, robot, tag)->is_gone)
                visit_led(&visit, info->node, ((const LedState *)device_state(devices, robot, tag))->value);
        }
    return count;
}

// ---- drives ----

// The Track or Propeller that a motor drives; NULL: neither.
static const SceneNode *driven_by(const Device *device)
{
    const SceneNode *node = device->info.joint >= 0 ? scene_parent(device->info.node) : NULL;
    return node && (scene_node_is(node, "Track") || scene_node_is(node, "Propeller")) ? node : NULL;
}

static double drive_of(const Devices *devices, const Device *device)
{
    const SceneNode *node = driven_by(device);
    if (!node || !physics_joint_exists(devices->physics, device->info.joint))
        return 0.0;
    return scene_node_is(node, "Track")
               ? physics_joint_position(devices->physics, device->info.joint, device->info.axis)
               : physics_joint_velocity(devices->physics, device->info.joint, device->info.axis);
}

static void show_drive(Devices *devices, Device *device, double value)
{
    const SceneNode *node = driven_by(device);
    if (node)
        rays_set_drive(devices->rays, node, value);
}

// ---- bones ----

static int keep_bones(Devices *devices, int robot, int tag, Moment *moment)
{
    DeviceContext at = device_context(devices, robot, tag);
    Pose bones[MESH_BONES_MAX];
    int count = skin_bones(&at, bones);
    memory_grow(&moment->bones, &moment->bone_capacity, moment->bone_count + count, sizeof *moment->bones);
    if (count > 0)
        memcpy(moment->bones + moment->bone_count, bones, (size_t)count * sizeof *bones);
    moment->bone_count += count;
    return count;
}

static void show_bones(Devices *devices, const Moment *moment)
{
    int before = 0;
    for (int i = 0; i < devices->device_count && i < moment->lamp_count; i++)
        if (devices->devices[i].info.kind == &skin_device) {
            assert_debug(before + moment->lamps[i] <= moment->bone_count);
            const Pose *bones = moment->lamps[i] > 0 ? moment->bones + before : NULL;  // there may be none at all
            rays_set_bones(devices->rays, devices->devices[i].info.node, bones, moment->lamps[i]);
            before += moment->lamps[i];
        }
}

// ---- spots ----

static void show_spots(Devices *devices, const Moment *moment)
{
    rays_clear_spots(devices->rays);
    for (int i = 0; i < moment->spot_count; i++)
        rays_add_spot(devices->rays, moment->spots[i].place, moment->spots[i].radius, vec3(1, 0, 0));
}

void show_keep(Devices *devices, Moment *moment)
{
    moment->lamp_count = devices->device_count;
    memory_grow(&moment->lamps, &moment->lamp_capacity, moment->lamp_count, sizeof *moment->lamps);
    memory_grow(&moment->drives, &moment->drive_capacity, moment->lamp_count, sizeof *moment->drives);
    if (devices->due_count == 0)
        devices->log_size = 0;
    moment->log_mark = show_mark(devices);
    moment->spot_count = moment->bone_count = 0;
    for (int robot = 0; robot < devices->robot_count; robot++)
        for (int tag = 1; tag <= devices->robots[robot].device_count; tag++) {
            const Device *device = device_at(devices, robot, tag);
            int index = devices->robots[robot].first_device + tag - 1;
            assert_debug(index >= 0 && index < moment->lamp_count);
            ShownSpot spot;
            moment->lamps[index] = device->info.kind == &led_device
                                       ? ((const LedState *)device_state(devices, robot, tag))->value
                                   : device->info.kind == &skin_device ? keep_bones(devices, robot, tag, moment)
                                                                       : 0;
            moment->drives[index] = drive_of(devices, device);
            if (!devices->robots[robot].is_alive || !distance_spot(devices, robot, tag, &spot))
                continue;
            *memory_push(moment->spots, moment->spot_count, moment->spot_capacity) = spot;
        }
}

// ---- for a picture ----

void show_static(Devices *devices)
{
    for (int i = 0; i < devices->device_count; i++)
        if (devices->devices[i].info.kind == &display_device)
            display_show(devices, &devices->devices[i]);
}

void show_begin(Devices *devices, const Moment *moment)
{
    assert_debug(devices->rays);
    for (int i = 0; i < devices->device_count && i < moment->lamp_count; i++)
        if (devices->devices[i].info.kind == &led_device)
            show_led(devices, &devices->devices[i], moment->lamps[i]);
        else if (devices->devices[i].info.joint >= 0)
            show_drive(devices, &devices->devices[i], moment->drives[i]);
    show_bones(devices, moment);
    show_spots(devices, moment);
    undo_to(devices, moment->log_mark);
}

void show_end(Devices *devices, const Moment *moment) { redo_from(devices, moment->log_mark); }

// ---- what is hidden ----

static int eye_of(Devices *devices, const SceneNode *from)
{
    int robot, tag, max = 0;
    if (scene_node_is(from, "Viewpoint"))
        return 0;
    if (!devices_of_node(devices, from, &robot, &tag))
        return -1;
    Device *device = device_at(devices, robot, tag);
    for (int i = 0; i < devices->device_count; i++)
        max = int_max(max, devices->devices[i].eye);
    if (device->eye == 0 && max + 1 < EYE_OF_ALL)
        device->eye = max + 1;
    return device->eye > 0 ? device->eye : -1;
}

bool devices_set_visible(Devices *devices, SceneNode *node, const SceneNode *from, bool is_visible)
{
    int eye = eye_of(devices, scene_actual(from));
    if (eye < 0)
        return false;
    rays_hide(due_rays(devices), scene_actual(node), eye, !is_visible);
    return true;
}

int device_eye(const DeviceContext *at)
{
    int eye = device_at(at->devices, at->robot, at->tag)->eye;
    return eye > 0 ? eye : EYE_OF_ALL;
}

// ---- life ----

void show_clear(Devices *devices)
{
    for (int i = 0; i < devices->device_count; i++)
        if (devices->devices[i].is_drawn)
            display_clear(devices, &devices->devices[i]);
    paint_clear(devices);
}

// Displays stay as they are: the programs that drew on them go on.
void show_reset(Devices *devices)
{
    paint_clear(devices);
    if (devices->rays)
        rays_unhide_all(devices->rays);
}

void show_free(Devices *devices)
{
    for (int i = 0; i < devices->paint_count; i++) {
        free(devices->paints[i]->pixels);
        free(devices->paints[i]->changes);
        free(devices->paints[i]);
    }
    for (int i = 0; i < devices->device_count; i++) {
        free(devices->devices[i].canvas);
        free(devices->devices[i].screen);
        free(devices->devices[i].layer);
    }
    free(devices->paints);
    free(devices->log);
}
